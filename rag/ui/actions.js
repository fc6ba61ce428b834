// Buttons inside a rendered piece: whatever is named in data-do happens on the page, and "copy" in the browser.
element.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const row = button.closest("tr[data-id]");
  const what = button.dataset.do;
  if (what === "reread") trigger("reread", { id: Number(row.dataset.id) });
  if (what === "remove") trigger("remove", { id: Number(row.dataset.id) });
  if (what === "root") trigger("root", { root: button.dataset.root });
  if (what === "pull") trigger("pull", { model: button.dataset.model });
  if (what === "copy") {
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      const label = button.textContent;
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }
});
