"""What a person decides for the next questions: what the search is held to, and how it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.engine import Engine
from rag.types import Filters, LibrarySettings, SearchOptions, Stance
from rag.ui import render_search, texts
from rag.ui.desk import script
from rag.ui.render import escape

_AS_SET, _ON, _OFF = "as set", "on", "off"
_CHOICES: dict[str, bool | None] = {_AS_SET: None, _ON: True, _OFF: False}
_STANCES: dict[str, Stance] = {"all": "", "normative": "normative", "informative": "informative"}


@dataclass
class SearchBox:
    """The box's components."""

    chosen: gr.HTML
    box: gr.Accordion
    file: gr.Textbox
    folder: gr.Textbox
    section: gr.Textbox
    after: gr.Textbox
    before: gr.Textbox
    phrase: gr.Textbox
    without: gr.Textbox
    stance: gr.Dropdown
    hyde: gr.Dropdown
    rerank: gr.Dropdown
    missing: gr.HTML

    @property
    def fields(self) -> list[Any]:
        """What a person fills in, in the order that :func:`typed` takes it."""
        return [
            self.file, self.folder, self.section, self.after, self.before, self.phrase, self.without, self.stance,
            self.hyde, self.rerank,
        ]  # fmt: skip


def search_box() -> SearchBox:
    """Builds the box, closed."""
    chosen = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="chosen")
    with gr.Accordion(texts.SEARCH_OPTIONS, open=False, elem_id="search-options") as box:
        gr.HTML(f'<p class="fn-hint">{_hint()}</p>', apply_default_css=False)
        with gr.Row(elem_classes="fn-fields"):
            file = _field(texts.HELD_FILE, "heron, *.pdf", "held-file")
            folder = _field(texts.HELD_FOLDER, "standards", "held-folder")
            section = _field(texts.HELD_SECTION, "8.3, Annex C", "held-section")
            after = _field(texts.HELD_AFTER, "2024, 2024-05", "held-after")
            before = _field(texts.HELD_BEFORE, "2024-05-31", "held-before")
            phrase = _field(texts.HELD_PHRASE, "optical window", "held-phrase")
            without = _field(texts.HELD_WITHOUT, "draft, obsolete", "held-without")
            stance = _choice(texts.HELD_STANCE, [*zip(texts.HELD_STANCES, _STANCES, strict=True)], "all", "held-stance")
        with gr.Row(elem_classes="fn-fields fn-switches"):
            hyde = _choice(texts.USE_HYDE, _switch(on=False), _AS_SET, "use-hyde", texts.USE_HYDE_INFO)
            rerank = _choice(texts.USE_RERANK, _switch(on=False), _AS_SET, "use-rerank", texts.USE_RERANK_INFO)
        missing = gr.HTML(apply_default_css=False, elem_id="missing")
    return SearchBox(
        chosen, box, file, folder, section, after, before, phrase, without, stance, hyde, rerank, missing
    )  # fmt: skip


def _field(label: str, placeholder: str, name: str) -> gr.Textbox:
    return gr.Textbox("", label=label, placeholder=placeholder, max_lines=1, min_width=150, elem_id=name)


def _choice(label: str, choices: list[tuple[str, str]], value: str, name: str, info: str = "") -> gr.Dropdown:
    return gr.Dropdown(
        label=label, info=info or None, choices=choices, value=value, filterable=False, min_width=150, elem_id=name
    )


def _switch(on: bool) -> list[tuple[str, str]]:
    as_set = texts.AS_LIBRARY_ON if on else texts.AS_LIBRARY_OFF
    return [(as_set, _AS_SET), (texts.SWITCH_ON, _ON), (texts.SWITCH_OFF, _OFF)]


def _hint() -> str:
    """How the same is typed in the question."""
    typed = " ".join(f"<code>{escape(example)}</code>" for example in texts.HELD_EXAMPLES)
    return f"{escape(texts.HELD_HINT)} {typed}"


def switches(box: SearchBox, engine: Engine, settings: LibrarySettings) -> dict[Any, Any]:
    """The switches with the library's own settings named; none for a model that is not there, but why."""
    writes = engine.status().chat is not None
    sorts, why = engine.reranker()
    lines = [] if writes else [texts.NOT_THERE.format(what=texts.USE_HYDE, why=texts.NO_MODEL_WRITES)]
    lines += [] if sorts else [texts.NOT_THERE.format(what=texts.USE_RERANK, why=why)]
    return {
        box.hyde: gr.update(choices=_switch(settings.hyde), visible=writes),
        box.rerank: gr.update(choices=_switch(settings.rerank), visible=sorts),
        box.missing: "".join(f'<p class="fn-quiet">{escape(line)}</p>' for line in lines),
    }


def cleared(box: SearchBox) -> dict[Any, Any]:
    """Nothing set: every question searches everything, as the library's settings say."""
    values = ["", "", "", "", "", "", "", "all", _AS_SET, _AS_SET]
    return {box.chosen: "", **dict(zip(box.fields, values, strict=True))}


def typed(
    file: str,
    folder: str,
    section: str,
    after: str,
    before: str,
    phrase: str,
    without: str,
    stance: str,
    hyde: str,
    rerank: str,
) -> SearchOptions:
    """The options that the fields say."""
    phrase = phrase.strip().strip('"“”„«»').strip()
    filters = Filters(
        files=_several(file),
        folders=_several(folder),
        after=after.strip(),
        before=before.strip(),
        sections=_several(section),
        stance=_STANCES[stance],
        phrases=(phrase,) if phrase else (),
        without=_several(without),
    )
    return SearchOptions(filters, hyde=_CHOICES[hyde], rerank=_CHOICES[rerank])


def _several(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def wire_search_box(engine: Engine, box: SearchBox, library: gr.State) -> None:
    """Shows what is set while the box is closed, lets it be cleared, and names the library's settings on opening."""
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

    def show(*fields: Any) -> str:
        return render_search.chosen(typed(*fields))

    def clear() -> dict[Any, Any]:
        return cleared(box)

    def opened(in_library: str) -> dict[Any, Any]:
        return switches(box, engine, engine.library_settings(in_library))

    gr.on(
        [field.change for field in box.fields],
        show,
        box.fields,
        box.chosen,
        trigger_mode="always_last",
        **quiet,
    )
    box.chosen.clear(clear, None, [box.chosen, *box.fields], **quiet)
    box.box.expand(opened, library, [box.hyde, box.rerank, box.missing], **quiet)
