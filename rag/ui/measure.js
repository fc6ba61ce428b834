// A library's own questions: look closer, drop, take in a file that the browser reads, export as one that it makes.
const library = () => element.querySelector("[data-library]")?.dataset.library;

element.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const what = button.dataset.do;
  const row = button.closest("tr[data-question]");
  if (what === "look") trigger("look", { question: row.dataset.question });
  if (what === "drop") trigger("drop", { question: row.dataset.question });
  if (what === "sample") trigger("sample", {});
  if (what === "export") {
    const lines = await server.export({ library: library() });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines], { type: "application/x-ndjson" }));
    link.download = library().replace(/[\\/:*?"<>|]+/g, " ").trim().slice(0, 80) + " questions.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
});

element.addEventListener("change", async (event) => {
  const field = event.target.closest('input[data-do="import"]');
  if (!field || !field.files.length) return;
  trigger("take_in", { text: await field.files[0].text() });
  field.value = "";
});

// What is shown may have changed meanwhile in Chat or on the command line: it is looked up when it comes into view.
let hidden = true;
new IntersectionObserver(([entry]) => {
  const now = entry.target.offsetParent === null;
  if (hidden && !now && library()) trigger("seen", {});
  hidden = now;
}).observe(element);
