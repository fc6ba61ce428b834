"""One calm theme, light and dark, from system fonts: nothing is fetched for it."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
from gradio.themes.utils import colors, sizes

ASSETS = Path(__file__).parents[2] / "assets"
STYLE = ASSETS / "style.css"
ICON = ASSETS / "icon.svg"

_TEAL = colors.Color(
    c50="#eef5f4", c100="#dcebe9", c200="#bcd8d5", c300="#93bfba", c400="#66a19b", c500="#40837d",
    c600="#2c6c67", c700="#235854", c800="#1d4643", c900="#163735", c950="#0d2423", name="footnote-teal",
)  # fmt: skip
_STONE = colors.Color(
    c50="#faf9f6", c100="#f3f1ec", c200="#e6e3db", c300="#d2cec4", c400="#a5a096", c500="#78746b",
    c600="#5a564f", c700="#413e39", c800="#2a2825", c900="#1c1b19", c950="#141312", name="footnote-stone",
)  # fmt: skip


def theme() -> gr.themes.Base:
    """The theme of the page; ``assets/style.css`` continues it for our own HTML."""
    return gr.themes.Base(
        primary_hue=_TEAL,
        secondary_hue=_TEAL,
        neutral_hue=_STONE,
        text_size=sizes.text_md,
        radius_size=sizes.radius_md,
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif"],
        font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"],
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        body_text_color="*neutral_900",
        body_text_color_dark="*neutral_100",
        body_text_color_subdued="*neutral_500",
        body_text_color_subdued_dark="*neutral_400",
        background_fill_primary="#ffffff",
        background_fill_primary_dark="*neutral_900",
        background_fill_secondary="*neutral_100",
        background_fill_secondary_dark="*neutral_900",
        border_color_primary="*neutral_200",
        border_color_primary_dark="*neutral_800",
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_border_width="0px",
        block_shadow="none",
        block_label_background_fill="transparent",
        block_label_background_fill_dark="transparent",
        block_label_border_width="0px",
        block_title_text_weight="500",
        block_title_text_color="*neutral_600",
        block_title_text_color_dark="*neutral_400",
        block_padding="0px",
        input_border_width="1px",
        input_shadow="none",
        input_shadow_focus="none",
        button_large_text_weight="500",
        button_medium_text_weight="500",
        button_small_text_weight="500",
        button_large_text_size="*text_md",
        button_large_padding="0.5rem 1.1rem",
        input_background_fill="#ffffff",
        input_background_fill_dark="*neutral_900",
        input_border_color="*neutral_300",
        input_border_color_dark="*neutral_700",
        input_border_color_focus="*primary_500",
        input_border_color_focus_dark="*primary_400",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover_dark="*primary_500",
        button_primary_text_color="#ffffff",
        button_secondary_background_fill="*neutral_100",
        button_secondary_background_fill_hover="*neutral_200",
        button_secondary_background_fill_dark="*neutral_800",
        button_secondary_background_fill_hover_dark="*neutral_700",
        button_transition="none",
        slider_color="*primary_500",
    )
