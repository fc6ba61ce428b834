"""What a conversation keeps of a file that was taken out of the library: where it was from, and none of its words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from rag.types import Chunk, Hit, Passage, Span, Stage, Trace

REMOVED = "[removed with its file]"
"""Stands where words of a removed file stood."""


def sources_of(trace: Trace) -> set[str]:
    """The files that a trace holds text of, as :meth:`rag.index.catalog.Catalog.source` names them."""
    return {_source(chunk) for chunk in _chunks(trace)}


def libraries_of(trace: Trace) -> set[str]:
    """The libraries that a trace holds text of, by name, where several were searched."""
    return {chunk.library for chunk in _chunks(trace)} - {""}


def redacted(trace: Trace, sources: Collection[str]) -> Trace:
    """The trace without the text of some files.

    Emptied are the files' chunks, the answer's sentences that they support, notes that may quote them, and the prompt
    with the rewritten question, which repeat passages and earlier answers of the conversation. So are the sentences
    that nothing supports where the model read one of the files, which may be its words in another language, and those
    that take from it what their citations lack. Paths and pages stay, as does what was typed.

    Args:
        trace: What was kept of one answer, that of a later question of the same conversation included.
        sources: The files, as :meth:`rag.index.catalog.Catalog.source` names them.
    """

    def without(chunk: Chunk) -> Chunk:
        if _source(chunk) not in sources:
            return chunk
        return replace(chunk, title=REMOVED, text="", heading_path=(), context="")

    quoted = not sources_of(trace).isdisjoint(sources)

    def hits(some: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return tuple(
            replace(
                hit,
                chunk=without(hit.chunk),
                copies=tuple(without(copy) for copy in hit.copies),
                note="" if quoted else hit.note,  # the words of another passage, which may be one of the files'
            )
            for hit in some
        )

    def stage(one: Stage) -> Stage:
        found = {_source(chunk) for hit in one.hits for chunk in (hit.chunk, *hit.copies)}
        return replace(one, hits=hits(one.hits), note=one.note if found.isdisjoint(sources) else "")

    def passage(one: Passage) -> Passage:
        # A passage may hold more of its file than its chunk did, but of no other file.
        return replace(one, hit=hits((one.hit,))[0], joined=tuple(without(chunk) for chunk in one.joined))

    retrieval = replace(
        trace.retrieval,
        queries=(trace.retrieval.question,),
        hypothetical="",
        hits=hits(trace.retrieval.hits),
        stages=tuple(stage(one) for one in trace.retrieval.stages),
    )
    prompt = trace.prompt and replace(
        trace.prompt,
        messages=tuple(replace(message, content=REMOVED) for message in trace.prompt.messages),
        passages=tuple(passage(one) for one in trace.prompt.passages),
    )
    passages = trace.prompt.passages if trace.prompt else ()
    was_read = any(one.in_prompt and _source(one.hit.chunk) in sources for one in passages)
    text = trace.answer.text
    gone = "\n".join(one.hit.chunk.text for one in passages if one.in_prompt and _source(one.hit.chunk) in sources)
    from_there = [
        flag.span for flag in trace.answer.flags if text[flag.span.start : flag.span.end].casefold() in gone.casefold()
    ]
    emptied = (
        *(
            citation.answer_span
            for citation in trace.answer.citations
            if _source(citation.chunk) in sources or _is_in(citation.answer_span, from_there)
        ),
        *(trace.answer.unsupported if was_read else ()),
    )
    for span in emptied:
        # As long as the sentence, so that the spans of the others still point at them.
        text = text[: span.start] + _filling(span.end - span.start) + text[span.end :]
    citations = tuple(
        # A sentence may cite another file beside: what that one lacks of it are words of the sentence too.
        replace(citation, chunk=without(citation.chunk), missing=())
        if _is_in(citation.answer_span, emptied)
        else citation
        for citation in trace.answer.citations
    )
    flags = tuple(flag for flag in trace.answer.flags if not _is_in(flag.span, emptied))
    return replace(
        trace,
        retrieval=retrieval,
        prompt=prompt,
        answer=replace(trace.answer, text=text, citations=citations, flags=flags),
        generation=trace.generation and replace(trace.generation, text=REMOVED, thinking=""),
    )


def _is_in(place: Span, spans: Sequence[Span]) -> bool:
    return any(place.overlaps(span) for span in spans)


def _filling(length: int) -> str:
    return REMOVED[:length].ljust(length)


def _source(chunk: Chunk) -> str:
    return chunk.id.rsplit(".", 2)[0]


def _chunks(trace: Trace) -> Iterator[Chunk]:
    for hits in (trace.retrieval.hits, *(stage.hits for stage in trace.retrieval.stages)):
        for hit in hits:
            yield from (hit.chunk, *hit.copies)
    yield from (passage.hit.chunk for passage in (trace.prompt.passages if trace.prompt else ()))
    yield from (citation.chunk for citation in trace.answer.citations)
