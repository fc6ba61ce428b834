import re
from dataclasses import replace

from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.types import Answer, Filters, HealthCheck, Hit, Message, Passage, Prompt, Stage, Window
from rag.ui import render_diagnostics


def test_every_candidate_has_its_scores_ranks_and_fate() -> None:
    retrieval = make_retrieval(make_chunk(1), make_chunk(2, HOSTILE, HOSTILE), make_chunk(3))
    tree = parse(render_diagnostics.candidates(retrieval, make_prompt(retrieval, 1)))
    words = " ".join(tree.text.split())
    assert tree.tags.count("tr") == 4
    assert "0.890 1." in words
    assert "7.25 1." in words
    assert "[1]" in words
    assert words.count("below the top") == 2
    assert HOSTILE in tree.text


def test_a_search_without_an_answer_has_no_prompt_columns() -> None:
    retrieval = make_retrieval(make_chunk(1))
    tree = parse(render_diagnostics.report(retrieval, None))
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
    tree = parse(render_diagnostics.candidates(retrieval, make_prompt(retrieval, 1)))
    assert [tag for tag in tree.tags if tag == "th"] == ["th"] * 6, "fold and follow have no scores of their own"
    words = " ".join(tree.text.split())
    assert "nearly the same as number 1: folded into it" in words
    assert f"followed from “see {HOSTILE}” in [1]" in tree.text
    assert "1 copies folded" not in words
    query = parse(render_diagnostics.report(retrieval, None)).text
    assert HOSTILE in query
    assert "file heron" in query
    assert "word for word" not in query
    loosened = replace(retrieval, loosened=("steam valve", HOSTILE))
    said = f"no passage holds “steam valve” and “{HOSTILE}” word for word: searched without that"
    assert said in parse(render_diagnostics.report(loosened, None)).text


def test_chunks_that_were_joined_say_in_which_passage_they_are() -> None:
    retrieval = make_retrieval(make_chunk(1), make_chunk(2), make_chunk(3))
    prompt = make_prompt(retrieval, 0)
    whole = Hit(replace(make_chunk(1), text="Both.", id="c1+c2"), 0.9, 1)
    joined = Passage(1, whole, 20, joined=(make_chunk(1), make_chunk(2)))
    text = parse(
        render_diagnostics.candidates(retrieval, replace(prompt, passages=(joined, *prompt.passages[1:])))
    ).text
    assert text.count("in the prompt as [1], joined with its neighbours (2 passages)") == 2
    assert text.count("below the top") == 1


def test_sixty_candidates_stay_one_table() -> None:
    retrieval = make_retrieval(*(make_chunk(number) for number in range(60)))
    assert parse(render_diagnostics.candidates(retrieval, None)).tags.count("tr") == 61
    assert "No passage" in parse(render_diagnostics.candidates(make_retrieval(), None)).text


def test_the_window_adds_up_and_shows_both_counts() -> None:
    html = render_diagnostics.window(Window(1000, 100, 50, 200, 20, 130, False, 365))
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", html)]
    assert sum(widths) == 100
    text = " ".join(parse(html).text.split())
    assert "free 500" in text
    assert "370 tokens by our cautious estimate; the model itself read 365" in text
    overfull = render_diagnostics.window(Window(100, 90, 0, 50, 0, 10, True))
    assert sum(float(width) for width in re.findall(r"width:([\d.]+)%", overfull)) <= 100.01


def test_the_prompt_is_shown_exactly_and_can_be_copied() -> None:
    retrieval = make_retrieval(make_chunk(1))
    sent = Prompt((Message("system", HOSTILE), Message("user", "a\n b")), (), make_prompt(retrieval, 1).window)
    tree = parse(render_diagnostics.prompt(sent))
    assert ("button", "data-copy", f"[system]\n{HOSTILE}\n\n[user]\na\n b") in tree.attributes
    assert HOSTILE in tree.text
    assert "Nothing was sent" in parse(render_diagnostics.prompt(None)).text


def test_a_prompt_that_was_not_sent_is_not_shown_as_sent() -> None:
    retrieval = make_retrieval(make_chunk(1))
    trace = make_trace(retrieval, make_prompt(retrieval, 1), Answer("Not there.", "not_in_notes"), asked=False)
    text = parse(render_diagnostics.report(retrieval, trace)).text
    assert "Nothing was sent" in text
    assert "in the prompt as" not in text


def test_the_report_of_an_answer_has_everything() -> None:
    retrieval = make_retrieval(make_chunk(1), question=HOSTILE, query="rewritten")
    trace = make_trace(retrieval, make_prompt(retrieval, 1, 300), Answer("Text", "answered"))
    tree = parse(render_diagnostics.report(retrieval, trace))
    for part in ("typed", HOSTILE, "rewritten", "enough", "The window", "generation", "2.0 s", "embed", "qwen3:8b"):
        assert part in tree.text


def test_health_checks_come_worst_first() -> None:
    checks = (HealthCheck("A", "ok", "fine"), HealthCheck("B", "error", HOSTILE, HOSTILE), HealthCheck("C", "off", "-"))
    text = parse(render_diagnostics.health(checks)).text
    assert text.index("B") < text.index("C") < text.index("fine")
    assert text.count(HOSTILE) == 2
