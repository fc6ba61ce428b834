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
    profile: gr.Dropdown
    chunk: gr.Number
    overlap: gr.Number
    minimum: gr.Number
    layout: gr.Checkbox
    ocr: gr.Checkbox
    watch: gr.Checkbox
    hyde: gr.Checkbox
    rerank: gr.Checkbox
    save: gr.Button
    saved: gr.HTML

    @property
    def fields(self) -> list[Any]:
        """What a person fills in."""
        return [
            self.include, self.exclude, self.profile, self.chunk, self.overlap, self.minimum, self.layout, self.ocr,
            self.watch, self.hyde, self.rerank,
        ]  # fmt: skip


def settings_box(engine: Engine) -> SettingsBox:
    """Builds the box."""
    as_set = engine.settings
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
        profile = gr.Dropdown(
            label=texts.SETTINGS_PROFILE,
            info=texts.SETTINGS_PROFILE_INFO,
            choices=[
                (texts.SETTINGS_AS_SET.format(value=texts.SETTINGS_PROFILES[as_set.chunk_profile]), ""),
                *((label, value) for value, label in texts.SETTINGS_PROFILES.items()),
            ],
            value="",
            filterable=False,
            elem_id="chunk-profile",
        )
        with gr.Row(elem_classes="fn-columns"):
            chunk = _tokens(texts.SETTINGS_CHUNK, as_set.chunk_tokens, "chunk-tokens")
            overlap = _tokens(texts.SETTINGS_OVERLAP, as_set.chunk_overlap, "chunk-overlap")
            minimum = _tokens(texts.SETTINGS_MINIMUM, as_set.chunk_minimum, "chunk-minimum")
        layout = gr.Checkbox(label=texts.SETTINGS_LAYOUT, info=texts.SETTINGS_LAYOUT_INFO, elem_id="layout")
        ocr = gr.Checkbox(label=texts.SETTINGS_OCR, info=ocr_info, elem_id="ocr")
        watch = gr.Checkbox(label=texts.SETTINGS_WATCH, info=texts.SETTINGS_WATCH_INFO, elem_id="watch")
        hyde = gr.Checkbox(label=texts.USE_HYDE, info=texts.USE_HYDE_INFO, elem_id="hyde")
        rerank = gr.Checkbox(label=texts.USE_RERANK, info=texts.USE_RERANK_INFO, elem_id="rerank")
        with gr.Row(elem_classes="fn-buttons"):
            save = gr.Button(texts.SETTINGS_SAVE, min_width=140, elem_id="save-settings")
        saved = gr.HTML(js_on_load=script("actions.js"), apply_default_css=False, elem_id="saved")
    return SettingsBox(
        include, exclude, profile, chunk, overlap, minimum, layout, ocr, watch, hyde, rerank, save, saved
    )  # fmt: skip


def _tokens(label: str, as_set: int, name: str) -> gr.Number:
    placeholder = texts.SETTINGS_AS_SET.format(value=as_set)
    return gr.Number(label=label, value=None, placeholder=placeholder, precision=0, min_width=160, elem_id=name)


def shown(box: SettingsBox, engine: Engine, settings: LibrarySettings) -> dict[Any, Any]:
    """The fields filled with a library's settings."""
    sorts, why = engine.reranker()
    return {
        box.include: "\n".join(settings.include),
        box.exclude: "\n".join(settings.exclude),
        box.profile: settings.chunk_profile,
        box.chunk: settings.chunk_tokens,
        box.overlap: settings.chunk_overlap,
        box.minimum: settings.chunk_minimum,
        box.layout: settings.layout,
        box.ocr: settings.ocr,
        box.watch: settings.watch,
        box.hyde: settings.hyde,
        box.rerank: gr.update(value=settings.rerank, info=texts.USE_RERANK_INFO if sorts else why),
        box.saved: "",
    }


def typed(
    include: str,
    exclude: str,
    profile: str,
    chunk: int | None,
    overlap: int | None,
    minimum: int | None,
    layout: bool,
    ocr: bool,
    watch: bool,
    hyde: bool,
    rerank: bool,
) -> LibrarySettings:
    """The settings that the fields say."""
    return LibrarySettings(
        include=_patterns(include),
        exclude=_patterns(exclude),
        chunk_profile=profile,
        chunk_tokens=chunk,
        chunk_overlap=overlap,
        chunk_minimum=minimum,
        layout=layout,
        ocr=ocr,
        watch=watch,
        hyde=hyde,
        rerank=rerank,
    )


def _patterns(lines: str) -> tuple[str, ...]:
    """One pattern a line; a space at the end may belong to it, where it is escaped."""
    return tuple(line for line in lines.splitlines() if line.strip())
