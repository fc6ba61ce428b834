// A replay bundle: saved as a file that the browser makes, and read from one that it opens. Nothing is uploaded.
element.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-do=save]");
  if (!button) return;
  const saved = await server.save({ key: button.dataset.key, kind: button.dataset.kind });
  if (!saved.text) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([saved.text], { type: saved.type }));
  link.download = saved.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});

element.addEventListener("change", async (event) => {
  const field = event.target.closest("input[type=file]");
  if (!field || !field.files.length) return;
  const text = await field.files[0].text();
  field.value = "";
  trigger("opened", { text });
});
