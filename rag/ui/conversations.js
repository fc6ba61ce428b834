// The list of conversations: open, new, rename in place, delete after asking, export as a file that the browser makes.
const library = () => element.querySelector("[data-library]").dataset.library;

element.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const row = button.closest("li[data-id]");
  const id = row ? Number(row.dataset.id) : null;
  const what = button.dataset.do;
  if (what === "new") { trigger("fresh", {}); closeOnPhone(); }
  if (what === "open") { trigger("open", { id }); closeOnPhone(); }
  if (what === "rename") {
    const field = row.querySelector(".fn-rename");
    field.hidden = false;
    field.focus();
    field.select();
  }
  if (what === "ask-delete") {
    row.querySelector(".fn-sure").hidden = false;
    row.querySelector('[data-do="keep"]').focus();
  }
  if (what === "keep") row.querySelector(".fn-sure").hidden = true;
  if (what === "delete") trigger("remove", { id });
  if (what === "export") {
    const markdown = await server.export_conversation({ library: library(), conversation: id });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([markdown], { type: "text/markdown" }));
    link.download = row.dataset.title.replace(/[\\/:*?"<>|]+/g, " ").trim().slice(0, 80) + ".md";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
});

element.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!field.matches(".fn-rename")) return;
  if (event.key === "Escape") field.hidden = true;
  if (event.key === "Enter" && field.value.trim()) {
    field.hidden = true;
    trigger("rename", { id: Number(field.closest("li").dataset.id), title: field.value.trim() });
  }
});

// On a phone the side bar covers the page: it starts closed, and closes once something was chosen.
function closeOnPhone() {
  if (window.matchMedia("(max-width: 768px)").matches) document.querySelector("#side.open .toggle-button")?.click();
}
closeOnPhone();
