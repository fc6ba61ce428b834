// The X-ray panel. It asks Python for one leaf at a time, and for a page's picture once the page is shown.
const panel = element.querySelector("dialog");
const part = (name) => panel.querySelector(".fn-xray-" + name);
const words = panel.dataset;
const [told, pager, leaf] = [part("told"), part("pager"), part("leaf")];
const goTo = part("goto").querySelector("input");
const only = part("only").querySelector("input");
let file = null; // {library, id, leaves, paged, problems}
let at = 1;

async function ask(name, more) {
  const answer = await server[name]({ library: file.library, id: file.id, ...more }).catch(() => null);
  return answer || { lost: words.lost }; // no answer: the server is gone, or the request failed in it
}

function tell(answer) {
  told.replaceChildren();
  if (answer.lost) told.textContent = answer.lost;
  else told.innerHTML = answer.error || answer.told || "";
}

function show(answer) {
  tell(answer);
  if (!("leaves" in answer)) return;
  Object.assign(file, { leaves: answer.leaves, paged: answer.paged, problems: answer.problems });
  part("path").textContent = answer.path;
  part("head").innerHTML = answer.head;
  part("tools").innerHTML = answer.tools;
  only.checked = false;
  part("only").hidden = !file.problems.length || file.problems.length === file.leaves;
  part("only").querySelector("span").textContent = words.problems.replace("{count}", file.problems.length);
  part("goto").hidden = file.leaves < 4;
  part("goto").querySelector("span").textContent = file.paged ? words.goPage : words.goPart;
  goTo.max = file.leaves;
  pager.hidden = file.leaves < 2;
  at = 1;
  put(answer.leaf);
}

function steps() {
  return only.checked ? file.problems : Array.from({ length: file.leaves }, (_, index) => index + 1);
}

function put(html) {
  const before = leaf.querySelector("figure");
  const height = before ? before.offsetHeight : 0;
  leaf.innerHTML = html;
  const label = (file.paged ? words.page : words.part).replace("{page}", at).replace("{count}", file.leaves);
  part("at").textContent = label;
  panel.querySelector('[data-do="previous"]').disabled = !steps().some((number) => number < at);
  panel.querySelector('[data-do="next"]').disabled = !steps().some((number) => number > at);
  const figure = leaf.querySelector("figure.fn-leaf");
  if (figure) draw(figure, height);
}

async function draw(figure, height) {
  if (height) figure.style.minHeight = height + "px";
  const answer = await ask("picture", { page: Number(figure.dataset.page) });
  if (!figure.isConnected) return;
  const content = document.createElement(answer.image ? "img" : "p");
  if (answer.image) {
    content.alt = figure.dataset.alt;
    content.src = answer.image;
    await content.decode().catch(() => {});
  } else {
    content.textContent = answer.error || answer.lost;
  }
  figure.replaceChildren(content);
  figure.style.minHeight = "";
}

async function turn(number) {
  at = Math.min(Math.max(1, number), file.leaves);
  const wanted = at;
  const answer = await ask("turn", { number: wanted });
  if (wanted !== at) return;
  if (answer.leaf === undefined) tell(answer); else put(answer.leaf);
}

function step(by) {
  const beyond = steps().filter((number) => (by > 0 ? number > at : number < at));
  if (beyond.length) turn(by > 0 ? beyond[0] : beyond.at(-1));
}

async function again(how) {
  const here = file;
  panel.setAttribute("aria-busy", "true");
  told.textContent = words.working;
  told.scrollIntoView({ block: "nearest" });
  const answer = await ask("again", how);
  if (here === file) {
    panel.removeAttribute("aria-busy");
    show(answer);
    if (!panel.contains(document.activeElement)) part("body").focus();
  }
  trigger("reread", {});
}

async function open(id) {
  file = { library: props.library, id, leaves: 0, paged: false, problems: [] };
  const here = file;
  for (const name of ["path", "head", "tools", "leaf"]) part(name).replaceChildren();
  panel.removeAttribute("aria-busy");
  pager.hidden = true;
  told.textContent = words.loading;
  if (!panel.open) panel.showModal();
  part("body").scrollTop = 0;
  const answer = await ask("look", {});
  if (here === file) show(answer);
}

function opened(event) {
  if (!element.isConnected) document.removeEventListener("footnote-xray", opened);
  else open(event.detail.id);
}
document.addEventListener("footnote-xray", opened);

panel.addEventListener("click", (event) => {
  if (event.target === panel) { panel.close(); return; }
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const what = button.dataset.do;
  if (what === "close") panel.close();
  if (panel.getAttribute("aria-busy")) return;
  if (what === "previous") step(-1);
  if (what === "next") step(1);
  if (what === "again") again({});
  if (what === "ocr") again({ ocr: true });
  if (what === "no-ocr") again({ ocr: false });
});

panel.addEventListener("submit", (event) => {
  event.preventDefault();
  if (panel.getAttribute("aria-busy")) return;
  const field = event.target.elements[event.target.dataset.do];
  again({ [field.name]: field.value });
  if (field.type === "password") field.value = "";
});

goTo.addEventListener("change", () => {
  const number = Number(goTo.value);
  goTo.value = "";
  if (number) { only.checked = false; turn(number); }
});

only.addEventListener("change", () => {
  turn(only.checked && !file.problems.includes(at) ? file.problems[0] : at);
});

panel.addEventListener("keydown", (event) => {
  if (event.target.matches("input") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft") step(-1);
  if (event.key === "ArrowRight") step(1);
});

watch("library", () => { if (panel.open) panel.close(); });
