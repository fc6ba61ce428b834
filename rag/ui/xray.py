"""The X-ray: a panel over the page that shows what was read from one file, and lets it be read differently.

The panel fetches what it shows when it shows it, a page's picture with the page, so that a file of 300 pages opens as
fast as one of three. A password goes from the field to the engine's memory and nowhere else.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradio as gr

from rag.engine import Engine
from rag.errors import RagError, SourceError
from rag.types import FileXray
from rag.ui import render_xray, texts
from rag.ui.desk import Desk, script
from rag.ui.render import escape, notice

Asked = dict[str, Any]

_PANEL = f"""
<dialog class="fn-xray" aria-label="{escape(texts.XRAY_LABEL)}" data-loading="{escape(texts.XRAY_LOADING)}"
  data-working="{escape(texts.XRAY_WORKING)}" data-lost="{escape(texts.XRAY_LOST)}"
  data-page="{escape(texts.XRAY_PAGE)}" data-part="{escape(texts.XRAY_PART)}"
  data-go-page="{escape(texts.XRAY_GO)}" data-go-part="{escape(texts.XRAY_GO_PART)}"
  data-problems="{escape(texts.XRAY_PROBLEMS_ONLY)}">
  <header class="fn-xray-bar">
    <h3 class="fn-xray-path"></h3>
    <button type="button" data-do="close">{escape(texts.XRAY_CLOSE)}</button>
  </header>
  <div class="fn-xray-body" tabindex="-1">
    <div class="fn-xray-told" role="status"></div>
    <div class="fn-xray-head"></div>
    <div class="fn-xray-tools"></div>
    <nav class="fn-xray-pager" hidden>
      <button type="button" data-do="previous">‹ {escape(texts.XRAY_PREVIOUS)}</button>
      <span class="fn-xray-at" aria-live="polite"></span>
      <button type="button" data-do="next">{escape(texts.XRAY_NEXT)} ›</button>
      <label class="fn-xray-goto"><span></span> <input type="number" min="1" inputmode="numeric"></label>
      <label class="fn-xray-only"><input type="checkbox"> <span></span></label>
    </nav>
    <div class="fn-xray-leaf"></div>
  </div>
</dialog>
"""


def xray_panel(desk: Desk) -> gr.HTML:
    """Builds the panel. It opens on the document event ``footnote-xray``, and triggers ``reread`` after a change."""
    return gr.HTML(
        value="",
        html_template=_PANEL,
        js_on_load=script("xray.js"),
        server_functions=_functions(desk.engine),
        apply_default_css=False,
        elem_id="xray",
        render=False,
        library="",
    )


def _functions(engine: Engine) -> list[Callable[[Asked], Asked]]:
    """What the panel asks of Python; a failure comes back as the words to show."""

    def look(asked: Asked) -> Asked:
        try:
            return _whole(engine, engine.xray(asked["library"], asked["id"]))
        except RagError as error:
            return {"error": notice(error.message, error.hint, "error")}

    def turn(asked: Asked) -> Asked:
        try:
            return {"leaf": render_xray.leaf(engine.xray(asked["library"], asked["id"]), asked["number"])}
        except RagError as error:
            return {"error": notice(error.message, error.hint, "error")}

    def picture(asked: Asked) -> Asked:
        try:
            image = engine.file_page_image(asked["library"], asked["id"], asked["page"])
        except RagError as error:
            return {"error": str(error)}
        return {"image": f"data:image/png;base64,{base64.b64encode(image).decode()}"}

    def again(asked: Asked) -> Asked:
        try:
            return _again(engine, asked)
        except RagError as error:
            return {"error": notice(error.message, error.hint, "error")}

    return [look, turn, picture, again]


def _whole(engine: Engine, xray: FileXray) -> Asked:
    """Everything that the panel shows of a file at first."""
    return {
        "path": xray.record.path,
        "head": render_xray.head(xray),
        "tools": render_xray.tools(xray, engine.ocr_engine()),
        "leaves": render_xray.leaves(xray),
        "paged": bool(xray.pages),
        "problems": render_xray.problem_pages(xray),
        "leaf": render_xray.leaf(xray, 1),
    }


def _again(engine: Engine, asked: Asked) -> Asked:
    """Reads the file again, as asked, and shows how that ended."""
    library, number = asked["library"], asked["id"]
    options = engine.xray(library, number).record.options
    if "encoding" in asked:
        options = replace(options, encoding=encoding_named(asked["encoding"]))
    if "ocr" in asked:
        options = replace(options, ocr=bool(asked["ocr"]))
    if "password" in asked:
        if not asked["password"]:
            raise SourceError(texts.XRAY_PASSWORD_EMPTY)
        engine.give_password(asked["password"])
    report = engine.reread_file(library, number, options)
    return {"told": render_xray.outcome(report), **_whole(engine, engine.xray(library, number))}


def encoding_named(typed: str) -> str:
    """An encoding that a person typed, by Python's name; empty for none.

    Raises:
        SourceError: There is no such text encoding.
    """
    name = "_".join(typed.split()).replace("-", "_").lower()
    if not name:
        return ""
    try:
        "".encode(name)
    except (LookupError, ValueError) as error:
        raise SourceError(texts.XRAY_ENCODING_UNKNOWN.format(name=typed), texts.XRAY_ENCODING_HINT) from error
    return name
