// Buttons inside a rendered piece: whatever is named in data-do happens on the page, and "copy" in the browser.
const look = (row) => document.dispatchEvent(new CustomEvent("footnote-xray", { detail: { id: Number(row.dataset.id) } }));

// The number of a citation leads to its passage in the ledger.
function cited(number) {
  const passage = element.querySelector('tr[data-number="' + number + '"]');
  if (!passage) return;
  passage.querySelector("details").open = true;
  passage.scrollIntoView({ block: "center", behavior: "smooth" });
}

element.addEventListener("click", (event) => {
  const chip = event.target.closest("button[data-cite]");
  if (chip) { cited(chip.dataset.cite); return; }
  const button = event.target.closest("button[data-do]");
  const row = event.target.closest("[data-id]");
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
  if (what === "chat") trigger("chat", {});
  if (what === "rendered") { button.disabled = true; trigger("rendered", {}); }
  if (what === "all") button.closest("section").classList.add("all");
  if (what === "go") {
    const part = element.querySelector('[data-step="' + button.dataset.step + '"]:not(button)');
    if (part) part.scrollIntoView({ block: "start", behavior: "smooth" });
  }
  if (what === "copy") {
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      const label = button.textContent;
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }
});
