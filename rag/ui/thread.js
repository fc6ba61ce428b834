// The conversation. The value is {library, items: [{key, live, question, answer, sources}]}; only what changed is put into the
// document, so that nothing moves and open cards stay open while an answer streams in.
const thread = element.querySelector(".fn-thread");
const shown = new Map();

function cardsOf(section) {
  return section.querySelectorAll("details.fn-card");
}

function put(part, html) {
  if (part.dataset.html === html.length + ":" + html) return false;
  const open = new Set([...part.querySelectorAll("details.fn-card[open]")].map((card) => card.dataset.key));
  part.innerHTML = html;
  part.dataset.html = html.length + ":" + html;
  part.querySelectorAll("details.fn-card").forEach((card) => { card.open = open.has(card.dataset.key); });
  return true;
}

function show() {
  const value = props.value || { library: "", items: [] };
  const wanted = new Set(value.items.map((item) => item.key));
  for (const [key, section] of shown) {
    if (!wanted.has(key)) { section.remove(); shown.delete(key); }
  }
  const goesOn = shown.size > 0;
  let arrived = null;
  for (const item of value.items) {
    let section = shown.get(item.key);
    if (!section) {
      section = document.createElement("section");
      section.className = "fn-exchange";
      for (const name of ["asked", "answered", "sources"]) {
        const part = document.createElement("div");
        part.className = "fn-part fn-" + name;
        section.append(part);
      }
      thread.append(section);
      shown.set(item.key, section);
      if (item.live || goesOn) arrived = section;
    }
    section.classList.toggle("fn-live", Boolean(item.live));
    section.classList.toggle("fn-blank", !item.question);
    section.querySelector(".fn-answered").setAttribute("aria-busy", item.live ? "true" : "false");
    put(section.children[0], item.question);
    put(section.children[1], item.answer);
    put(section.children[2], item.sources);
  }
  if (arrived && arrived.previousElementSibling) arrived.scrollIntoView({ block: "start", behavior: "smooth" });
}

async function drawPage(card) {
  const figure = card.querySelector("figure.fn-page:not([data-drawn])");
  if (!figure) return;
  figure.dataset.drawn = "yes";
  const answer = await server.page_image({
    library: figure.dataset.library || props.value.library, chunk: figure.dataset.chunk, spans: figure.dataset.spans,
  });
  const content = document.createElement(answer.image ? "img" : "p");
  if (answer.image) { content.src = answer.image; content.alt = figure.dataset.alt; } else { content.textContent = answer.error; }
  figure.replaceChildren(content);
}

element.addEventListener("toggle", (event) => {
  if (event.target.matches("details.fn-card") && event.target.open) drawPage(event.target);
}, true);

element.addEventListener("click", (event) => {
  const chip = event.target.closest("button[data-cite]");
  if (chip) {
    const section = chip.closest(".fn-exchange");
    const card = [...cardsOf(section)].find((each) => each.dataset.number === chip.dataset.cite);
    if (!card) return;
    cardsOf(section).forEach((each) => each.classList.toggle("fn-chosen", each === card));
    card.open = true;
    card.scrollIntoView({ block: "nearest", behavior: "smooth" });
    card.querySelector("summary").focus({ preventScroll: true });
    return;
  }
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const what = button.dataset.do;
  if (what === "retry") trigger("ask", { question: button.dataset.question, index: button.dataset.index ?? null });
  if (what === "edit") {
    const field = document.querySelector("#question textarea");
    field.value = button.dataset.question;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }
  if (what === "anyway") trigger("again", { index: Number(button.dataset.index), rewrite: "", anyway: true });
  if (what === "sample") trigger("sample", {});
  if (what === "ingest") trigger("ingest", {});
  if (what === "inspect") trigger("inspect", { index: Number(button.dataset.index) });
  if (what === "answers" || what === "nowhere") {
    const asked = button.closest(".fn-exchange").querySelector("[data-do=inspect]");
    const card = button.closest("details.fn-card");
    if (!asked) return;
    trigger("point", { index: Number(asked.dataset.index), chunk: card ? card.dataset.key : "" });
    button.textContent = button.dataset.done;
    button.disabled = true;
  }
  if (what === "copy") {
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      const label = button.textContent;
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = label; }, 1500);
    });
  }
});

element.addEventListener("submit", (event) => {
  const form = event.target.closest("form.fn-instead");
  if (!form) return;
  event.preventDefault();
  const rewrite = form.elements.rewrite.value.trim();
  if (rewrite) trigger("again", { index: Number(form.dataset.index), rewrite, anyway: false });
});

element.addEventListener("keydown", (event) => {
  const form = event.target.closest("form.fn-instead");
  if (!form || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

watch("value", show);
show();
