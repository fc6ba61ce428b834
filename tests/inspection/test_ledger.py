from dataclasses import replace

import pytest
from page_values import make_chunk, make_prompt, make_retrieval, make_trace

from rag.inspection.ledger import (
    Checkpoint,
    Gate,
    Reading,
    State,
    Stop,
    checkpoints,
    first_trouble,
    look_at_files,
    open_ledger,
    timeline,
)
from rag.types import (
    Answer,
    Citation,
    Evidence,
    FileRecord,
    FileState,
    Generation,
    Hit,
    Passage,
    Span,
    Stage,
    Trace,
    Verdict,
)

WELL_READ = Reading(3)


def answered(inside: int = 2, read: int | None = 365, cites: tuple[int, ...] = (1,), **changed: object) -> Trace:
    """An answer over four passages of which some are in the prompt (370 tokens by our count) and some are cited."""
    retrieval = make_retrieval(*(make_chunk(number) for number in range(1, 5)))
    citations = tuple(
        Citation(number, make_chunk(number), make_chunk(number).span, Span(0, 4), "model", 1.0) for number in cites
    )
    trace = make_trace(retrieval, make_prompt(retrieval, inside, read), Answer("Text.", "answered", citations))
    return replace(trace, **changed)


def gates(trace: Trace) -> list[tuple[Gate, Stop]]:
    return [(entry.reached, entry.stop) for entry in open_ledger(trace.retrieval, trace).entries]


def test_each_passage_stops_where_it_stopped() -> None:
    assert gates(answered()) == [
        (Gate.CITED, Stop.CITED),
        (Gate.READ, Stop.UNCITED),
        (Gate.KEPT, Stop.NOT_WANTED),
        (Gate.KEPT, Stop.NOT_WANTED),
    ]
    assert gates(answered(read=100))[1] == (Gate.SENT, Stop.CUT)
    assert gates(answered(read=None))[1] == (Gate.SENT, Stop.NOT_TOLD)
    unasked = answered(cites=(), answer=Answer("Not there.", "not_in_notes"), seconds={})
    assert gates(unasked)[0] == (Gate.KEPT, Stop.NOT_ASKED)
    trace = answered()
    assert trace.prompt is not None
    short = replace(trace.prompt.passages[2], over=30)
    prompt = replace(trace.prompt, passages=(*trace.prompt.passages[:2], short, trace.prompt.passages[3]))
    assert gates(replace(trace, prompt=prompt))[2] == (Gate.KEPT, Stop.NO_ROOM)
    assert [entry.stop for entry in open_ledger(trace.retrieval, None).entries] == [Stop.NO_MODEL] * 4


def test_what_was_folded_or_lost_is_in_the_ledger_behind_the_ranking() -> None:
    first, twin, lost = make_chunk(1), make_chunk(2), make_chunk(3)
    hits = (Hit(first, 0.9, 1, copies=(twin,)),)
    retrieval = replace(
        make_retrieval(first, twin, lost),
        hits=hits,
        stages=(Stage("dense", "cosine", tuple(Hit(c, 0.5, n) for n, c in enumerate((first, twin, lost), 1)), 0.1),),
    )
    opened = open_ledger(retrieval, None)
    assert [(entry.chunk.id, entry.rank, entry.stop, entry.into) for entry in opened.entries] == [
        ("c1", 1, Stop.NO_MODEL, 0),
        ("c2", None, Stop.FOLDED, 1),
        ("c3", None, Stop.LOST, 0),
    ]
    assert [opened.count(gate) for gate in Gate] == [3, 1, 0, 0, 0]
    assert opened.entries[0].copies == 1
    assert [hit and hit.rank for entry in opened.entries for hit in entry.hits] == [1, 2, 3]


def test_of_joined_chunks_the_one_with_the_cited_words_is_cited() -> None:
    trace = answered()
    assert trace.prompt is not None
    first, second = make_chunk(1), make_chunk(2)
    whole = replace(first, span=Span(first.span.start, second.span.end))
    passage = Passage(1, Hit(whole, 0.9, 1), 20, joined=(first, second))
    other = Passage(0, Hit(second, 0.8, 2), 12, "joined with [1]")
    citation = replace(trace.answer.citations[0], chunk=whole, span=second.span)
    trace = replace(
        trace,
        prompt=replace(trace.prompt, passages=(passage, other, *trace.prompt.passages[2:])),
        answer=replace(trace.answer, citations=(citation,)),
    )
    assert gates(trace)[:2] == [(Gate.READ, Stop.UNCITED), (Gate.CITED, Stop.CITED)]


def steps(trace: Trace, reading: Reading = WELL_READ) -> dict[str, Checkpoint]:
    found = checkpoints(trace.retrieval, trace, open_ledger(trace.retrieval, trace), reading)
    return {step.name: step for step in found}


def kinds(step: Checkpoint) -> set[str]:
    return {fact.kind for fact in step.facts}


def test_a_good_answer_is_good_at_each_step() -> None:
    found = steps(answered())
    assert list(found) == ["read", "found", "kept", "fitted", "used"]
    assert {step.state for step in found.values()} == {State.GOOD}
    assert first_trouble(tuple(found.values())) is None


def record(path: str, state: FileState = FileState.INDEXED, number: int = 9) -> FileRecord:
    return FileRecord(number, "/notes", path, 1, 1, "", state, "", "T", 0, 1, 0.0)


@pytest.mark.parametrize(
    ("step", "kind", "trace", "reading"),
    [
        ("read", "failed", answered(), Reading(3, failed=(record("scan.pdf", FileState.FAILED),))),
        ("read", "partly", answered(), Reading(3, partly=(record("scan.pdf", FileState.PARTLY),))),
        ("read", "changed", answered(), Reading(3, changed=(record("other.md"),))),
        ("read", "stale", answered(), Reading(3, changed=(record("notes/1.md", number=1),))),
        ("read", "files", answered(), Reading(0)),
        ("fitted", "cut", answered(read=100), Reading(3)),
        ("used", "uncited", answered(cites=()), Reading(3)),
        ("used", "unknown", answered(answer=Answer("A [7].", "answered", (), (7,))), Reading(3)),
        ("used", "refused", answered(answer=Answer("No.", "not_in_notes")), Reading(3)),
        ("used", "failed_answer", answered(answer=Answer("Te", "failed")), Reading(3)),
        ("used", "length", answered(generation=Generation("Text", ended="length")), Reading(3)),
    ],
)
def test_what_went_wrong_is_named_at_its_step(step: str, kind: str, trace: Trace, reading: Reading) -> None:
    found = steps(trace, reading)
    assert kind in kinds(found[step])
    assert found[step].state in (State.LOOK, State.BAD)
    trouble = first_trouble(tuple(found.values()))
    assert trouble is not None
    assert trouble.name == step


def test_what_is_wrong_comes_before_what_is_only_worth_a_look() -> None:
    found = steps(answered(read=100), Reading(3, failed=(record("scan.pdf", FileState.FAILED),)))
    trouble = first_trouble(tuple(found.values()))
    assert (found["read"].state, trouble and trouble.name) == (State.LOOK, "fitted")


def test_the_search_says_how_much_the_notes_have_and_which_leg_was_silent() -> None:
    trace = answered()
    evidence = Evidence(Verdict.NONE, "", {"across languages": 1.0})
    found = steps(replace(trace, retrieval=replace(trace.retrieval, evidence=evidence, loosened=("steam valve",))))
    assert {"verdict_none", "across", "no_vote", "loosened"} <= kinds(found["found"])
    assert found["found"].state is State.BAD
    nothing = make_retrieval(evidence=evidence)
    alone = checkpoints(nothing, None, open_ledger(nothing, None), Reading(3))
    assert [step.state for step in alone] == [State.GOOD, State.BAD, State.NONE, State.NONE, State.NONE]


def test_the_time_of_each_step_begins_where_the_one_before_ended() -> None:
    seconds = {"condense": 0.5, "search": 1.0, "prompt": 0.25, "first token": 4.0, "generation": 2.0, "citations": 0.1}
    trace = answered(seconds=seconds, generation=Generation("Text", tokens=50, loading=3.0))
    work = timeline(trace.retrieval, trace)
    assert [(step.name, step.start, step.inside) for step in work] == [
        ("condense", 0.0, False),
        ("search", 0.5, False),
        ("embed", 0.5, True),
        ("dense", 0.6, True),
        ("the rest", 0.62, True),
        ("prompt", 1.5, False),
        ("first token", 1.75, False),
        ("loading", 1.75, True),
        ("generation", 5.75, False),
        ("citations", 7.75, False),
    ]
    speeds = {step.name: step.speed for step in work if step.speed}
    assert speeds == {"first token": 365 / 4.0, "generation": 25.0}
    assert [step.name for step in timeline(trace.retrieval, None)] == ["embed", "dense"]


def test_files_are_compared_with_the_disk(library, tmp_path, embedder, readers) -> None:
    from rag.index.chunking.chunks import ChunkProfile
    from rag.index.plan import make_plan
    from rag.index.sync import apply_plan

    for name in ("kept.md", "edited.md", "gone.md"):
        (tmp_path / name).write_text(f"# {name}\n\nA pump runs here.\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_bytes(b"")
    profile = ChunkProfile(200, 20, "sections", 1)
    for _ in apply_plan(library, make_plan(library, tmp_path, profile), embedder, readers, profile):
        pass
    (tmp_path / "edited.md").write_text("# Edited\n\nNo pump runs here any more.\n", encoding="utf-8")
    (tmp_path / "gone.md").unlink()
    reading = look_at_files([library.catalog])
    assert reading.files == 4
    assert [record.path for record in reading.failed] == ["empty.txt"]
    assert [record.path for record in reading.changed] == ["edited.md", "gone.md"]
