"""The settings that a library has of its own: what is read, how, and whether its folders are watched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.engine import Engine
from rag.types import LibrarySettings
from rag.ui import texts
from rag.ui.desk import script


@dataclass
class SettingsBox:
    """The box's components, in the order of ``fields``."""

    include: gr.Textbox
    exclude: gr.Textbox
    chunk: gr.Number
    overlap: gr.Number
    layout: gr.Checkbox
    ocr: gr.Checkbox
    watch: gr.Checkbox
    save: gr.Button
    saved: gr.HTML

    @property
    def fields(self) -> list[Any]:
        """What a person fills in."""
        return [self.include, self.exclude, self.chunk, self.overlap, self.layout, self.ocr, self.watch]


def settings_box(engine: Engine) -> SettingsBox:
    """Builds the box."""
    chunk_tokens, overlap_tokens = engine.settings.chunk_tokens, engine.settings.chunk_overlap
    engine_name = engine.ocr_engine()
    if engine_name:
        ocr_info = texts.SETTINGS_OCR_INFO.format(engine=engine_name)
    else:
        ocr_info = texts.SETTINGS_OCR_NONE.format(command=texts.XRAY_OCR_COMMAND)
    with gr.Accordion(texts.LIBRARY_SETTINGS, open=False, elem_id="settings"):
        with gr.Row(elem_classes="fn-columns"):
            include = gr.Textbox(
                label=texts.SETTINGS_INCLUDE,
                info=texts.SETTINGS_INCLUDE_INFO,
                placeholder=texts.SETTINGS_INCLUDE_PLACEHOLDER,
                lines=3,
                max_lines=10,
                elem_id="include",
            )
            exclude = gr.Textbox(
                label=texts.SETTINGS_EXCLUDE,
                info=texts.SETTINGS_EXCLUDE_INFO,
                placeholder=texts.SETTINGS_EXCLUDE_PLACEHOLDER,
                lines=3,
                max_lines=10,
                elem_id="exclude",
            )
        with gr.Row(elem_classes="fn-columns"):
            chunk = gr.Number(
                label=texts.SETTINGS_CHUNK,
                value=None,
                placeholder=texts.SETTINGS_AS_SET.format(value=chunk_tokens),
                precision=0,
                min_width=160,
                elem_id="chunk-tokens",
            )
            overlap = gr.Number(
                label=texts.SETTINGS_OVERLAP,
                value=None,
                placeholder=texts.SETTINGS_AS_SET.format(value=overlap_tokens),
                precision=0,
                min_width=160,
                elem_id="chunk-overlap",
            )
        layout = gr.Checkbox(label=texts.SETTINGS_LAYOUT, info=texts.SETTINGS_LAYOUT_INFO, elem_id="layout")
        ocr = gr.Checkbox(label=texts.SETTINGS_OCR, info=ocr_info, elem_id="ocr")
        watch = gr.Checkbox(label=texts.SETTINGS_WATCH, info=texts.SETTINGS_WATCH_INFO, elem_id="watch")
        with gr.Row(elem_classes="fn-buttons"):
            save = gr.Button(texts.SETTINGS_SAVE, min_width=140, elem_id="save-settings")
        saved = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="saved")
    return SettingsBox(include, exclude, chunk, overlap, layout, ocr, watch, save, saved)


def shown(box: SettingsBox, settings: LibrarySettings) -> dict[Any, Any]:
    """The fields filled with a library's settings."""
    return {
        box.include: "\n".join(settings.include),
        box.exclude: "\n".join(settings.exclude),
        box.chunk: settings.chunk_tokens,
        box.overlap: settings.chunk_overlap,
        box.layout: settings.layout,
        box.ocr: settings.ocr,
        box.watch: settings.watch,
        box.saved: "",
    }


def typed(
    include: str, exclude: str, chunk: int | None, overlap: int | None, layout: bool, ocr: bool, watch: bool
) -> LibrarySettings:
    """The settings that the fields say."""
    return LibrarySettings(
        include=_patterns(include),
        exclude=_patterns(exclude),
        chunk_tokens=chunk,
        chunk_overlap=overlap,
        layout=layout,
        ocr=ocr,
        watch=watch,
    )


def _patterns(lines: str) -> tuple[str, ...]:
    """One pattern a line; a space at the end may belong to it, where it is escaped."""
    return tuple(line for line in lines.splitlines() if line.strip())
