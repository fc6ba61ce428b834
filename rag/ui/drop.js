// Drop zone: files and folders, sub-folder names kept. Each file is uploaded and at once moved into the library's own folder.
const zone = element.querySelector(".fn-drop");
const line = element.querySelector(".fn-drop-line");

async function under(entry, prefix) {
  if (entry.name.startsWith(".")) return [];
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ file, name: prefix + entry.name }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return found;
    for (const child of batch) found.push(...await under(child, prefix + entry.name + "/"));
  }
}

async function take(files) {
  const wanted = files.filter(({ name }) => !name.split("/").some((part) => part.startsWith(".")));
  if (!wanted.length) { line.textContent = zone.dataset.nothing; return; }
  zone.setAttribute("aria-busy", "true");
  let done = 0;
  const problems = [];
  for (const { file, name } of wanted) {
    line.textContent = zone.dataset.progress.replace("{done}", done).replace("{total}", wanted.length);
    try {
      const { path } = await upload(file);
      const answer = await server.keep_dropped({ path, name, library: props.library });
      if (answer.error) problems.push(answer.error); else done += 1;
    } catch (problem) {
      problems.push(`${name}: ${problem.message || problem}`);
    }
  }
  zone.removeAttribute("aria-busy");
  line.textContent = [done === 1 ? zone.dataset.one : zone.dataset.many.replace("{count}", done), ...problems].join(" ");
  if (done) trigger("dropped", { count: done });
}

element.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
element.addEventListener("dragleave", () => zone.classList.remove("over"));
element.addEventListener("drop", async (event) => {
  event.preventDefault();
  zone.classList.remove("over");
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const found = [];
  for (const entry of entries) found.push(...await under(entry, ""));
  await take(found);
});
element.addEventListener("change", async (event) => {
  const input = event.target;
  const files = [...input.files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));
  await take(files);
  input.value = "";
});
element.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-input]");
  if (button) element.querySelector("#" + button.dataset.input).click();
});
