import re
import time
from dataclasses import replace

from page_values import HOSTILE, make_chunk, make_prompt, make_retrieval, make_trace, parse

from rag.inspection.ledger import Checkpoint, Fact, Reading, Rendered, State, Step, checkpoints, open_ledger
from rag.types import (
    Answer,
    Citation,
    FileRecord,
    FileState,
    Generation,
    Hit,
    Message,
    Passage,
    Prompt,
    Span,
    Stage,
    Window,
)
from rag.ui import render_ledger, texts


def words(html: str) -> str:
    return " ".join(parse(html).text.split())


def record(path: str, state: FileState = FileState.INDEXED, reason: str = "") -> FileRecord:
    return FileRecord(1, "/notes", path, 1, 1, "", state, reason, "T", 0, 1, 0.0)


def test_each_step_says_how_it_went_and_leads_to_its_section() -> None:
    steps = [
        Checkpoint("read", (Fact("files", State.GOOD, 3), Fact("failed", State.LOOK, 4, ("a", HOSTILE, "c", "d")))),
        Checkpoint("found", (Fact("found", State.GOOD, 1),)),
        Checkpoint("kept", (Fact("kept", State.GOOD, 1), Fact("folded", count=2))),
        Checkpoint("fitted", (Fact("sent", State.GOOD, 1, ("10", "100")), Fact("cut", State.BAD, 0, ("10", "90")))),
        Checkpoint("used", ()),
    ]
    html = render_ledger.steps(steps)
    tree = parse(html)
    shown = " ".join(tree.text.split())
    assert "Look first at “Fitted”: the model read only 10 of about 90 tokens." in shown
    assert "Before that, see “Read”." in shown
    assert f"4 not read: a, {' '.join(HOSTILE.split())}, c, …" in shown
    assert "1 passage found" in shown
    assert "It did not come so far." in shown
    assert [name for tag, key, name in tree.attributes if tag == "button" and key == "data-step"] == list(texts.STEPS)
    assert re.findall(r"fn-tile (\w+)", html) == ["look", "good", "good", "bad", "none"]


def test_where_nothing_went_wrong_it_says_so() -> None:
    steps = [Checkpoint(name, (Fact("files", State.GOOD, 1),)) for name in texts.STEPS]
    assert "Nothing stands out: the text was read, found" in words(render_ledger.steps(steps))
    steps[-1] = Checkpoint("used", ())
    assert "Nothing stands out so far." in words(render_ledger.steps(steps))


def test_every_fact_that_can_be_told_has_its_sentence() -> None:
    for kind, (one, more) in texts.FACTS.items():
        for count in (0, 1, 5):
            phrase = render_ledger.told(Fact(kind, State.BAD, count, ("first", "second")))
            assert phrase, kind
            assert "{" not in phrase
        assert more
        assert one or "{count}" not in more or kind == "length"
    assert texts.FACT_HINTS.keys() <= texts.FACTS.keys()


def test_files_that_were_not_read_are_listed_with_the_reason() -> None:
    assert render_ledger.reading(Reading(3)) == ""
    failed = record(HOSTILE, FileState.FAILED, f"no text: a scan {HOSTILE}")
    changed = tuple(record(f"n{number}.md") for number in range(20))
    tree = parse(render_ledger.reading(Reading(30, failed=(failed,), changed=changed)))
    assert tree.text.count(HOSTILE) == 2
    assert tree.text.count("changed") == 12
    assert "8 more" in tree.text
    assert ("button", "data-do", "ingest") in tree.attributes


def test_every_passage_has_its_scores_ranks_way_and_reason() -> None:
    retrieval = make_retrieval(make_chunk(1), make_chunk(2, HOSTILE, HOSTILE), make_chunk(3))
    trace = make_trace(retrieval, make_prompt(retrieval, 1, 365), Answer("Text", "answered"))
    html = render_ledger.ledger(open_ledger(retrieval, trace), trace)
    tree = parse(html)
    shown = " ".join(tree.text.split())
    assert tree.tags.count("tr") == 4
    assert "0.890 1." in shown
    assert "7.25 1." in shown
    assert "in the prompt as [1]" in shown
    assert shown.count("below the top") == 2
    assert "3 found" in shown
    assert "1 read by the model" in shown
    assert "0 cited" in shown
    assert HOSTILE in tree.text
    assert ("button", "data-chunk", "c2") in tree.attributes
    assert [row.count('class="on"') for row in html.split("<tr")[2:]] == [4, 2, 2]


def test_a_search_without_an_answer_counts_no_tokens() -> None:
    retrieval = make_retrieval(make_chunk(1))
    shown = words(render_ledger.ledger(open_ledger(retrieval, None), None))
    assert "Tokens" not in shown
    assert "not wanted" not in shown
    assert "not sent" not in shown
    assert "No passage" in words(render_ledger.ledger(open_ledger(make_retrieval(), None), None))


def test_folded_followed_and_joined_passages_say_so() -> None:
    first, second, third = make_chunk(1), make_chunk(2), make_chunk(3)
    fused = Hit(first, 0.016, 1, copies=(second,))
    followed = Hit(third, 0.0, 2, note=f"“see {HOSTILE}” in [1]")
    retrieval = make_retrieval(first, second)
    retrieval = replace(
        retrieval,
        hits=(fused, followed),
        stages=(*retrieval.stages, Stage("fold", "rrf", (fused,), 0.01), Stage("follow", "rrf", (followed,), 0.01)),
    )
    html = render_ledger.ledger(open_ledger(retrieval, None), None)
    assert [tag for tag in parse(html).tags if tag == "th"] == ["th"] * 5, "fold and follow have no scores of their own"
    tree = parse(html)
    assert "nearly the same as number 1: folded into it" in tree.text
    assert f"followed from “see {HOSTILE}” in [1]" in tree.text
    assert "1 copy folded into it" in tree.text

    whole = Hit(replace(first, text="Both.", span=Span(first.span.start, second.span.end)), 0.9, 1)
    joined = Passage(1, whole, 20, joined=(first, second))
    prompt = make_prompt(retrieval, 0, 365)
    passages = (joined, Passage(0, followed, 9, "beyond the 1 passages wanted"))
    trace = make_trace(
        replace(retrieval, hits=(Hit(first, 1.0, 1), Hit(second, 0.9, 2), replace(followed, rank=3))),
        replace(prompt, passages=passages),
        Answer("T", "answered"),
    )
    shown = words(render_ledger.ledger(open_ledger(trace.retrieval, trace), trace))
    assert shown.count("in the prompt as [1], joined with its neighbours (2 passages)") == 2
    assert shown.count("beyond the 1 passages wanted") == 1


def test_five_hundred_passages_are_drawn_at_once_and_shown_in_part() -> None:
    retrieval = make_retrieval(*(make_chunk(number, "Many words of a passage. " * 60) for number in range(500)))
    trace = make_trace(retrieval, make_prompt(retrieval, 20, 365), Answer("T", "answered"))
    started = time.perf_counter()
    html = render_ledger.ledger(open_ledger(retrieval, trace), trace)
    print(f"500 passages: {time.perf_counter() - started:.3f} s, {len(html):,} characters")
    tree = parse(html)
    assert tree.tags.count("tr") == 501
    assert html.count('<tr class="more') == 480, "what is in the prompt is never hidden"
    assert "Show all 500" in tree.text


def window_of(window: Window, *, over: int = 0, tokens: int | None = None) -> str:
    retrieval = make_retrieval(make_chunk(1))
    passage = Passage(0, retrieval.hits[0], 80, "does not fit", over=over)
    trace = make_trace(retrieval, Prompt((), (passage,), window), Answer("T", "answered"))
    return render_ledger.window(replace(trace, generation=Generation("T", tokens=tokens)))


def test_the_window_adds_up_and_shows_both_counts() -> None:
    html = window_of(Window(1000, 100, 50, 200, 20, 130, False, 365), tokens=41)
    assert abs(sum(float(width) for width in re.findall(r"width:([\d.]+)%", html)) - 100) < 0.1
    shown = words(html)
    assert "free 500" in shown
    assert "370 tokens by our cautious estimate. The model itself read 365." in shown
    assert "The answer took 41 tokens" in shown
    assert "not read by the model" not in shown
    overfull = window_of(Window(100, 90, 0, 50, 0, 10, True))
    assert sum(float(width) for width in re.findall(r"width:([\d.]+)%", overfull)) <= 100.01


def test_what_was_cut_is_red() -> None:
    html = window_of(Window(1000, 100, 0, 500, 20, 130, True, 310, forgotten=4), over=60)
    shown = words(html)
    assert "About 310 tokens of the prompt were not read by the model." in shown
    assert "1 passage that was wanted did not fit." in shown
    assert "did not fit 60" in shown
    assert "4 earlier turns" in shown
    assert 'class="fn-unread"' in html
    assert 'class="over"' in html


def test_the_prompt_is_shown_exactly_with_its_tokens_and_can_be_copied() -> None:
    window = Window(1000, 100, 0, 500, 20, 130, True)
    sent = Prompt((Message("system", HOSTILE, 1200), Message("user", "a\n b", 3)), (), window)
    tree = parse(render_ledger.prompt(sent))
    assert ("button", "data-copy", f"[system]\n{HOSTILE}\n\n[user]\na\n b") in tree.attributes
    assert HOSTILE in tree.text
    assert "2 messages · 1,203 tokens" in tree.text
    assert "1,200 tokens" in tree.text
    assert ("button", "data-do", "rendered") in tree.attributes
    read = parse(render_ledger.prompt(sent, Rendered(f"<|im_start|>{HOSTILE}", 1210, True)))
    assert ("button", "data-copy", f"<|im_start|>{HOSTILE}") in read.attributes
    assert "1,210 tokens by our count with its tokenizer" in read.text
    assert ("button", "data-do", "rendered") not in read.attributes
    assert HOSTILE in parse(render_ledger.prompt(sent, problem=HOSTILE)).text
    assert "Nothing was sent" in parse(render_ledger.prompt(None)).text


def test_the_waterfall_has_each_step_where_it_began() -> None:
    work = (
        Step("search", 0.0, 1.0),
        Step("dense: hypothetical", 0.25, 0.5, inside=True),
        Step("prompt", 1.0, 0.0),
        Step("generation", 1.0, 3.0, tokens=60),
    )
    html = render_ledger.waterfall(work)
    assert re.findall(r"margin-left:([\d.]+)%;width:([\d.]+)%", html) == [
        ("0.00", "25.00"),
        ("6.25", "12.50"),
        ("25.00", "75.00"),
    ]
    shown = words(html)
    assert "60 tokens, 20/s" in shown
    assert "4.0 s in all" in shown
    assert render_ledger.waterfall(()) == ""


def test_the_steps_of_a_whole_answer() -> None:
    retrieval = make_retrieval(make_chunk(1), make_chunk(2))
    prompt = make_prompt(retrieval, 1, 365)
    chunk = make_chunk(1)
    citation = Citation(1, chunk, chunk.span, Span(0, 4), "model", 1.0)
    trace = make_trace(retrieval, prompt, Answer("Text [1].", "answered", (citation,)))
    found = checkpoints(retrieval, trace, open_ledger(retrieval, trace), Reading(2))
    shown = words(render_ledger.steps(found))
    for part in ("Nothing stands out", "2 passages found", "1 in the prompt, 370 of 1,000", "1 passage cited"):
        assert part in shown
