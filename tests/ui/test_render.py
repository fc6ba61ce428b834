from dataclasses import replace

import pytest
from page_values import CHAT, EMBEDDER, HOSTILE, parse

from rag.types import Span, Status
from rag.ui import render


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 KB"),
        (1_117_320_768, "1.1 GB"),
        (250_000_000, "250 MB"),
        (10**16, "10000 TB"),
    ],
)
def test_size(count: int, shown: str) -> None:
    assert render.size(count) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0312, "0.031 s"), (2.34, "2.3 s"), (12.4, "12 s"), (59.9, "60 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_duration(seconds: float, shown: str) -> None:
    assert render.duration(seconds) == shown


def test_scores_keep_the_digits_of_their_kind() -> None:
    assert render.score("cosine", 0.91234) == "0.912"
    assert render.score("bm25", 14.2) == "14.20"
    assert render.score("rrf", 0.016393) == "0.0164"


def test_marked_escapes_and_survives_spans_that_overlap_or_reach_out() -> None:
    html = render.marked("a<b> c & d", [Span(2, 6), Span(-5, 1), Span(4, 99)])
    assert html == "<mark>a</mark>&lt;<mark>b&gt; c</mark><mark> &amp; d</mark>"
    assert parse(html).text == "a<b> c & d"


def test_status_line_says_what_runs_and_what_fell_back() -> None:
    tree = parse(render.status_line(Status(CHAT, HOSTILE, EMBEDDER, "bundled", "cpu", ("No card.", HOSTILE))))
    assert "qwen3:8b (ollama)" in tree.text
    assert "8,192 tokens" in tree.text
    assert "No card." in tree.text
    assert HOSTILE in tree.text


def test_status_line_is_short_where_footnote_itself_runs_the_model() -> None:
    own = replace(CHAT, provider="embedded", name=f"Qwen2.5 {HOSTILE}")
    tree = parse(render.status_line(Status(own, HOSTILE, EMBEDDER, "it is there.", "cpu")))
    assert "(embedded)" not in tree.text
    assert "(bundled)" not in tree.text
    titles = [value for _, name, value in tree.attributes if name == "title"]
    assert f"Qwen2.5 {HOSTILE} (embedded): {HOSTILE}" in titles
    assert "e5-small (bundled): it is there." in titles


def test_status_line_without_a_chat_model_says_search_only() -> None:
    tree = parse(render.status_line(Status(None, "none set", None, "missing", "")))
    assert "search only" in tree.text
    assert "Window" not in tree.text


def test_notices_and_progress_escape() -> None:
    assert HOSTILE in parse(render.notice(HOSTILE, HOSTILE, "error")).text
    assert HOSTILE in parse(render.progress(1, 3, HOSTILE)).text
    assert "value=" not in render.progress(0, 0, "waiting")
