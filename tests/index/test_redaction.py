from dataclasses import replace

from material import make_chunk

from rag.index.redaction import REMOVED, redacted
from rag.types import (
    Answer,
    Citation,
    EmbedderIdentity,
    Evidence,
    Flag,
    Hit,
    Message,
    Passage,
    Prompt,
    Retrieval,
    Span,
    Stage,
    Trace,
    Verdict,
    Window,
)

GONE = make_chunk("The valve opens at 16 bar, see Table 4.", "lib.1.1.0", title="Boilers")
STAYS = make_chunk("Table 4. Roses are cut in March.", "lib.2.1.0", title="Garden")
CITED = "Roses are cut in March."
TRANSLATED = "Das Sicherheitsventil öffnet bei 16 bar."


def _trace() -> Trace:
    """An answer over two files, of which one is cited and the other told in another language."""
    gone, stays = Hit(GONE, 0.9, 1), Hit(STAYS, 0.5, 2, note="“see Table 4” in passage 1")
    stages = (
        Stage("clause", "match", (gone,), 0.0, note="The question names Section 4 of “Boilers”."),
        Stage("rerank", "reranker", (stays,), 0.0, note="It read 2 passages."),
    )
    retrieval = Retrieval("L", "When?", ("When?",), "", (gone, stays), stages, Evidence(Verdict.ENOUGH, "why"), {})
    prompt = Prompt(
        (Message("user", "…"),), (Passage(1, gone, 9), Passage(2, stays, 9)), Window(9, 1, 1, 1, 1, 1, True)
    )
    text = f"{CITED} [2] {TRANSLATED} Ja."
    begin = text.index(TRANSLATED)
    citation = Citation(2, STAYS, STAYS.span, Span(0, len(CITED)), "model", 1.0)
    flags = (Flag(Span(17, 22), "date"), Flag(Span(text.index("16 bar"), text.index("16 bar") + 6), "number"))
    answer = Answer(text, "answered", (citation,), unsupported=(Span(begin, begin + len(TRANSLATED)),), flags=flags)
    return Trace("t", 1.0, retrieval, prompt, None, EmbedderIdentity("p", "m", "r", 3, True, "", "", 9), answer)


def test_notes_and_uncited_sentences_go_with_the_file_that_they_may_quote() -> None:
    kept = redacted(_trace(), {"lib.1"})
    assert [stage.note for stage in kept.retrieval.stages] == ["", "It read 2 passages."]
    assert [hit.note for hit in kept.retrieval.hits] == ["", ""]
    assert kept.answer.text == f"{CITED} [2] {REMOVED.ljust(len(TRANSLATED))} Ja."
    assert kept.answer.unsupported == _trace().answer.unsupported
    assert [flag.kind for flag in kept.answer.flags] == ["date"], "marks go with the words they are on"
    for words in ("Table 4” in", "16 bar", "Boilers", "Sicherheitsventil"):
        assert words not in repr(kept)


def test_what_the_model_did_not_read_it_did_not_tell() -> None:
    trace = _trace()
    assert trace.prompt is not None
    left_out = tuple(replace(passage, number=0, reason="no room") for passage in trace.prompt.passages)
    kept = redacted(replace(trace, prompt=replace(trace.prompt, passages=left_out)), {"lib.1"})
    assert kept.answer.text == trace.answer.text


def test_a_sentence_that_takes_from_the_file_what_its_citation_lacks_goes_with_it() -> None:
    told = "Roses are cut at 16 bar."
    place = Span(0, len(told))
    flag = Flag(Span(told.index("16 bar"), told.index("16 bar") + 6), "number")
    citation = Citation(2, STAYS, STAYS.span, place, "model", 1.0, missing=("16 bar",))
    answer = Answer(f"{told} [2]", "answered", (citation,), flags=(flag,))
    kept = redacted(replace(_trace(), answer=answer), {"lib.1"}).answer
    assert kept.text == f"{REMOVED.ljust(len(told))} [2]"
    assert "16 bar" not in repr(kept)
    assert kept.citations[0].chunk == STAYS


def test_what_another_file_lacks_of_a_removed_sentence_is_not_kept_either() -> None:
    told = "The valve opens at 16 bar."
    place = Span(0, len(told))
    citations = (
        Citation(1, GONE, GONE.span, place, "model", 1.0),
        Citation(2, STAYS, STAYS.span, place, "model", 0.5, missing=("16 bar",)),
    )
    kept = redacted(replace(_trace(), answer=Answer(f"{told} [1] [2]", "answered", citations)), {"lib.1"})
    assert "16 bar" not in repr(kept)


def test_an_answer_without_the_file_keeps_its_notes() -> None:
    kept = redacted(_trace(), {"lib.3"})
    assert kept.retrieval.stages == _trace().retrieval.stages
    assert (kept.retrieval.hits, kept.answer) == (_trace().retrieval.hits, _trace().answer)
