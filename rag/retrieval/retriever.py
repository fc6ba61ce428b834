"""One search from question to verdict, everything on record::

    question ─ filters out ─► queries ─► each leg, in each library ─► fusion ─► sorted anew ─► copies folded
             ─► references followed ─► verdict on the evidence

The legs are dense, lexical, sparse where the embedder has such a head, and clause where the question names one. What is
searched beside the question (a follow-up as it was typed, a made-up passage) has legs of its own, with a smaller vote.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from rag.errors import LibraryEmpty, ModelError, QueryError
from rag.index.library import Library
from rag.index.selection import Selection, select
from rag.models.base import ChatModel, Embedder
from rag.models.reranker import Reranker
from rag.retrieval.clause import SURE, UNSURE, search_clause
from rag.retrieval.dense import search_dense
from rag.retrieval.evidence import judge
from rag.retrieval.folding import fold
from rag.retrieval.fusion import fuse
from rag.retrieval.hyde import write_hypothetical
from rag.retrieval.lexical import QueryTerms, search_lexical, weigh_terms
from rag.retrieval.multivector import rescore
from rag.retrieval.query import merged, parse_query, readable
from rag.retrieval.ranking import numbered
from rag.retrieval.references import follow
from rag.retrieval.reranking import rerank
from rag.retrieval.sparse import search_sparse
from rag.types import DEFAULT_SEARCH, Evidence, Filters, Hit, Retrieval, SearchOptions, Stage, Verdict

AS_TYPED = 0.3
HYPOTHETICAL = 0.5
"""Votes of what is searched beside the question, where the question's own is 1: a follow-up as it was typed says little
without the conversation, and a made-up passage may be about something else."""


class Retriever(BaseRetriever):
    """Searches libraries; as a LangChain retriever it hands out documents, and :meth:`search` the whole record.

    Attributes:
        libraries: One or more, built with the same embedder: only then can their cosines be compared.
        embedder: The embedder that they were built with.
        candidates: Hits that each leg hands to the fusion.
        writer: The model that makes up a passage to search with (HyDE); None: none is made up.
        by_tokens: Whether the best passages are compared with the question token by token, where the embedder can.
        reranker: The cross-encoder that sorts what was found; None: it stays as fused.
        strictness: The cut-off of the verdict on the evidence (see :attr:`rag.types.LibrarySettings.evidence`).
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    libraries: tuple[Library, ...]
    embedder: Embedder
    candidates: int = 30
    writer: ChatModel | None = None
    by_tokens: bool = False
    reranker: Reranker | None = None
    strictness: float = 0.0

    def search(
        self, question: str, query: str = "", rewrite_note: str = "", options: SearchOptions = DEFAULT_SEARCH
    ) -> Retrieval:
        """Searches, and records every stage.

        Args:
            question: As typed; filters in it are obeyed.
            query: What the question means, where it was rewritten; empty: the question itself.
            rewrite_note: Why the query differs from the question, for the record.
            options: What the person decided for this question.

        Raises:
            QueryError: A filter cannot be read, or there is nothing but filters.
            LibraryEmpty: Nothing is indexed.
            EmbedderMismatch: A library was built with another embedder.
        """
        typed, own = parse_query(question)
        filters = merged(own, readable(options.filters))
        query = query or typed
        if not query:
            raise QueryError("There are only filters, and nothing to search for.", "Add the words of a question.")
        names = ", ".join(library.name for library in self.libraries)
        filled = [library for library in self.libraries if library.catalog.total()]
        if not filled:
            raise LibraryEmpty(f"The library “{names}” is empty.", "Index a folder in the Ingest tab, then ask again.")
        for library in self.libraries:
            library.check_embedder(self.embedder.identity)
        places = _places(filled, filters)
        loosened: tuple[str, ...] = ()
        if own.phrases and not _lets_through(places):
            # Marks of quotation in a question do not always mean that the words are to be found as they stand.
            without = merged(replace(own, phrases=()), readable(options.filters))
            if _lets_through(more := _places(filled, without)):
                places, filters, loosened = more, without, own.phrases
        search = _Search(self, places)
        clause = list(search.clause(query))
        stages = [*search.legs(query, "", 1.0), *clause]
        if typed and typed != query:
            stages += search.legs(typed, "as typed", AS_TYPED)
        passage, found = self._made_up(query, search)
        stages += found
        stages.append(fuse(stages))
        asked_for = [hit.chunk.id for stage in clause if stage.weight == SURE for hit in stage.hits]
        stages += self._sorted_anew(query, stages[-1].hits, asked_for)
        stages.append(fold(stages[-1], {hit.chunk.id for stage in clause if stage.weight for hit in stage.hits}))
        hits = stages[-1].hits
        stages.append(follow(hits, places))
        return Retrieval(
            library=names,
            question=question,
            queries=tuple(dict.fromkeys(filter(None, (query, typed)))),
            rewrite_note=rewrite_note,
            hits=_with_followed(hits, stages[-1].hits),
            stages=tuple(stages),
            evidence=self._verdict(query, hits, stages, search, filters),
            seconds=search.seconds | {stage.name: stage.seconds for stage in stages},
            filters=filters,
            hypothetical=passage,
            loosened=loosened,
        )

    def _made_up(self, query: str, search: _Search) -> tuple[str, list[Stage]]:
        """The passage that the model makes up, and what is found with it; a search does not fail for want of it."""
        if self.writer is None:
            return "", []
        started = time.perf_counter()
        try:
            passage = write_hypothetical(query, self.writer)
        except ModelError as error:
            seconds = time.perf_counter() - started
            return "", [Stage("dense: hypothetical", "cosine", (), seconds, 0.0, f"No passage was made up: {error}")]
        search.seconds["hypothetical"] = time.perf_counter() - started
        return passage, search.made_up(passage) if passage else []

    def _sorted_anew(self, query: str, hits: Sequence[Hit], asked_for: Sequence[str]) -> Iterator[Stage]:
        """The best of what was found, compared with the question once more by what costs a pass through a model.

        A section that was asked for by its number stays in front: that it is meant, no model knows better.
        """
        best = hits[: self.candidates]
        stage = rescore(query, best, self.embedder) if self.by_tokens else None
        if stage is not None:
            yield (stage := _with_first(stage, asked_for))
            best = stage.hits
        if self.reranker is not None:
            yield _with_first(rerank(query, best, self.reranker), asked_for)

    def _verdict(
        self, query: str, hits: Sequence[Hit], stages: Sequence[Stage], search: _Search, filters: Filters
    ) -> Evidence:
        if not hits and filters != Filters():
            return Evidence(Verdict.NONE, "The filters let no passage through that was found.")
        return judge(stages, hits, query, search.weighed(query), self.embedder.identity.model, self.strictness)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [
            Document(
                id=hit.chunk.id,
                page_content=hit.chunk.text,
                metadata={
                    "path": hit.chunk.path,
                    "page": hit.chunk.page,
                    "heading": " › ".join(hit.chunk.heading_path),
                    "section": hit.chunk.section,
                    "start": hit.chunk.span.start,
                    "end": hit.chunk.span.end,
                    "rrf": hit.score,
                },
            )
            for hit in self.search(query).hits
        ]


@dataclass
class _Search:
    """The legs of one search, in every library that is asked.

    Attributes:
        retriever: Whose.
        places: The libraries that hold something, each with what the filters let through (None: everything).
        seconds: Time of what is no stage.
    """

    retriever: Retriever
    places: Sequence[tuple[Library, Selection | None]]

    def __post_init__(self) -> None:
        self.seconds: dict[str, float] = {"embed": 0.0}
        self._weighed: dict[str, QueryTerms] = {}

    def weighed(self, query: str) -> QueryTerms:
        """A query's terms with their weights, counted once: in a large library that takes milliseconds."""
        if query not in self._weighed:
            self._weighed[query] = weigh_terms([library.catalog for library, _ in self.places], query)
        return self._weighed[query]

    def legs(self, query: str, label: str, share: float) -> list[Stage]:
        """All legs for one query.

        Args:
            query: What is searched.
            label: What it is, where it is not what the question means.
            share: How much their votes count.
        """
        started = time.perf_counter()
        embedded = self.retriever.embedder.embed_question(query)
        self.seconds["embed"] += time.perf_counter() - started
        found = [self._dense(embedded.vectors[0])]
        if embedded.weights is not None:
            (weights,) = embedded.weights
            found.append(
                self._together(
                    [search_sparse(library, weights, self._limit, within) for library, within in self.places]
                )
            )
        terms = self.weighed(query)
        found.append(
            self._together([search_lexical(library, terms, self._limit, within) for library, within in self.places])
        )
        return [_labelled(stage, label, share) for stage in found]

    def made_up(self, passage: str) -> list[Stage]:
        """The dense leg for a made-up passage, which is embedded as passages are."""
        started = time.perf_counter()
        (vector,) = self.retriever.embedder.embed_documents([passage])
        self.seconds["embed"] += time.perf_counter() - started
        return [_labelled(self._dense(vector), "hypothetical", HYPOTHETICAL)]

    def clause(self, query: str) -> Iterator[Stage]:
        """The look-up of a section that the query names; nothing when it names none."""
        found = [search_clause(library, query, self._limit, within) for library, within in self.places]
        named = [stage for stage in found if stage is not None]
        if named:
            nothing = replace(named[0], hits=(), seconds=0.0, weight=0.0, note="")
            sure = [stage for stage in named if stage.weight == SURE]
            if len(sure) > 1:  # each library has what is asked for: which one is meant, is not said
                found = [stage and replace(stage, weight=min(stage.weight, UNSURE)) for stage in found]
            elif sure:
                found = [stage if stage in sure else None for stage in found]
            yield self._together([stage or nothing for stage in found])

    @property
    def _limit(self) -> int:
        return self.retriever.candidates

    def _dense(self, vector: Sequence[float]) -> Stage:
        return self._together([search_dense(library, vector, self._limit, within) for library, within in self.places])

    def _together(self, stages: Sequence[Stage]) -> Stage:
        """One leg's stages, one a library, as one ranking by score."""
        if len(self.retriever.libraries) == 1:
            return stages[0]
        libraries = [library for library, _ in self.places]
        found = [
            replace(hit, chunk=replace(hit.chunk, library=library.name))
            for library, stage in zip(libraries, stages, strict=True)
            # A library that holds too little of the query has no vote where another has one.
            for hit in (stage.hits if stage.weight > 0 or not any(other.weight for other in stages) else ())
        ]
        best = sorted(found, key=lambda hit: -hit.score)[: self._limit]
        notes = [
            f"{library.name}: {stage.note}" for library, stage in zip(libraries, stages, strict=True) if stage.note
        ]
        return replace(
            stages[0],
            hits=numbered(best),
            seconds=sum(stage.seconds for stage in stages),
            weight=max(stage.weight for stage in stages),
            note=" ".join(notes),
        )


def _places(filled: Sequence[Library], filters: Filters) -> list[tuple[Library, Selection | None]]:
    """Libraries, each with what the filters let through."""
    return [(library, select(library.catalog, filters)) for library in filled]


def _with_first(stage: Stage, ids: Sequence[str]) -> Stage:
    """The stage with these chunks in front, in this order."""
    place = {id_: at for at, id_ in enumerate(ids)}
    hits = sorted(stage.hits, key=lambda hit: place.get(hit.chunk.id, len(ids)))
    return replace(stage, hits=numbered(hits))


def _lets_through(places: Sequence[tuple[Library, Selection | None]]) -> bool:
    return any(within is None or within.count for _, within in places)


def _labelled(stage: Stage, label: str, share: float) -> Stage:
    if not label:
        return stage
    return replace(stage, name=f"{stage.name}: {label}", weight=stage.weight * share)


def _with_followed(hits: Sequence[Hit], followed: Sequence[Hit]) -> tuple[Hit, ...]:
    """The ranking with what was followed: marked where it was found anyway, else at the end."""
    notes: Mapping[str, str] = {hit.chunk.id: hit.note for hit in followed}
    known = {hit.chunk.id for hit in hits}
    more = [hit for hit in followed if hit.chunk.id not in known]
    return numbered((*(replace(hit, note=notes.get(hit.chunk.id, "")) for hit in hits), *more))
