// Buttons inside a rendered piece: whatever is named in data-do happens on the page, and "copy" in the browser.
const look = (row) => document.dispatchEvent(new CustomEvent("footnote-xray", { detail: { id: Number(row.dataset.id) } }));

element.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  const row = event.target.closest("tr[data-id]");
  if (!button) {
    if (row && !String(window.getSelection())) look(row);
    return;
  }
  const what = button.dataset.do;
  if (what === "xray") look(row);
  if (what === "reread") trigger("reread", { id: Number(row.dataset.id) });
  if (what === "remove") trigger("remove", { id: Number(row.dataset.id) });
  if (what === "root") trigger("root", { root: button.dataset.root });
  if (what === "index") trigger("index", { root: button.dataset.root, verified: button.dataset.verified === "yes" });
  if (what === "verify") trigger("verify", { root: button.dataset.root });
  if (what === "forget") trigger("forget", { root: button.dataset.root });
  if (what === "clear") trigger("clear", {});
  if (what === "why") trigger("why", { chunk: button.dataset.chunk });
  if (what === "sync") trigger("sync", {});
  if (what === "pull") trigger("pull", { model: button.dataset.model });
  if (what === "ingest") trigger("ingest", {});
  if (what === "rendered") { button.disabled = true; trigger("rendered", {}); }
  if (what === "all") button.closest("section").classList.add("all");
  if (what === "go") {
    const section = document.querySelector('#report section[data-step="' + button.dataset.step + '"], #prompt section[data-step="' + button.dataset.step + '"]');
    if (section) section.scrollIntoView({ block: "start", behavior: "smooth" });
  }
  if (what === "copy") {
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      const label = button.textContent;
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }
});
