from dataclasses import replace

from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.inspection.ledger import Reading
from rag.types import Answer, Filters, Hit, Stage
from rag.ui import render_diagnostics

READING = Reading(3)


def test_a_search_without_an_answer_has_no_prompt_columns() -> None:
    retrieval = make_retrieval(make_chunk(1))
    tree = parse(render_diagnostics.report(retrieval, None, READING))
    assert "Tokens" not in tree.text
    assert "not in the prompt" not in tree.text
    assert "cosine 0.890" in tree.text


def test_every_step_tells_what_it_found_and_why_it_weighed_so() -> None:
    first, second = make_chunk(1), make_chunk(2)
    fused = Hit(first, 0.016, 1, copies=(second,))
    followed = Hit(make_chunk(3), 0.0, 2, note=f"“see {HOSTILE}” in [1]")
    retrieval = make_retrieval(
        first, second, query="rewritten", hypothetical=HOSTILE, filters=Filters(files=("heron",))
    )
    retrieval = replace(
        retrieval,
        hits=(fused, followed),
        stages=(
            *retrieval.stages,
            Stage("dense: hypothetical", "cosine", (Hit(second, 0.8, 1),), 0.01, 0.5, HOSTILE),
            Stage("fold", "rrf", (fused,), 0.01, note="Folded: 1."),
            Stage("follow", "rrf", (fused, followed), 0.01),
        ),
    )
    words = " ".join(parse(render_diagnostics.stages(retrieval)).text.split())
    for part in ("no voteabstained", "dense: hypotheticalcosine10.50", "1 + 1 folded", "Folded: 1."):
        assert part in words
    assert words.count("folded") == 1
    query = parse(render_diagnostics.report(retrieval, None, READING)).text
    assert HOSTILE in query
    assert "file heron" in query
    assert "word for word" not in query
    loosened = replace(retrieval, loosened=("steam valve", HOSTILE))
    said = f"no passage holds “steam valve” and “{HOSTILE}” word for word: searched without that"
    assert said in parse(render_diagnostics.report(loosened, None, READING)).text


def test_a_prompt_that_was_not_sent_is_not_shown_as_sent() -> None:
    retrieval = make_retrieval(make_chunk(1))
    trace = make_trace(retrieval, make_prompt(retrieval, 1), Answer("Not there.", "not_in_notes"), asked=False)
    text = parse(render_diagnostics.report(retrieval, trace, READING)).text
    assert "no model was asked" in text
    assert "The window" not in text
    assert "in the prompt as" not in text


def test_the_report_of_an_answer_has_everything() -> None:
    retrieval = make_retrieval(make_chunk(1), question=HOSTILE, query="rewritten")
    trace = make_trace(retrieval, make_prompt(retrieval, 1, 300), Answer("Text", "answered"))
    tree = parse(render_diagnostics.report(retrieval, trace, READING))
    for part in ("typed", HOSTILE, "rewritten", "enough", "The window", "generation", "2.0 s", "embed", "qwen3:8b"):
        assert part in tree.text
