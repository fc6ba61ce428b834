"""One search from query to verdict: both legs in every library asked, their fusion, and everything on record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from rag.errors import LibraryEmpty
from rag.index.library import Library
from rag.models.base import Embedder
from rag.retrieval.dense import search_dense
from rag.retrieval.evidence import judge
from rag.retrieval.fusion import fuse
from rag.retrieval.lexical import search_lexical, weigh_terms
from rag.types import DEFAULT_SEARCH, Retrieval, SearchOptions, Stage


class Retriever(BaseRetriever):
    """Searches libraries; as a LangChain retriever it hands out documents, and :meth:`search` the whole record.

    Attributes:
        libraries: One or more, built with the same embedder: only then can their cosines be compared.
        embedder: The embedder that they were built with.
        candidates: Hits that each leg hands to the fusion.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    libraries: tuple[Library, ...]
    embedder: Embedder
    candidates: int = 30

    def search(
        self, question: str, query: str = "", rewrite_note: str = "", options: SearchOptions = DEFAULT_SEARCH
    ) -> Retrieval:
        """Searches, and records every stage.

        Args:
            question: As typed.
            query: What to search; empty: the question itself.
            rewrite_note: Why the query differs from the question, for the record.
            options: What the person decided for this question.

        Raises:
            LibraryEmpty: Nothing is indexed.
            EmbedderMismatch: A library was built with another embedder.
        """
        query = query or question
        names = ", ".join(library.name for library in self.libraries)
        filled = [library for library in self.libraries if library.catalog.counts()[1]]
        if not filled:
            raise LibraryEmpty(f"The library “{names}” is empty.", "Index a folder in the Ingest tab, then ask again.")
        for library in self.libraries:
            library.check_embedder(self.embedder.identity)
        started = time.perf_counter()
        vector = self.embedder.embed_query(query)
        embedded = time.perf_counter() - started
        query_terms = weigh_terms([library.catalog for library in filled], query)
        dense = self._together(filled, [search_dense(library, vector, self.candidates) for library in filled])
        lexical = self._together(
            filled, [search_lexical(library.catalog, query_terms, self.candidates) for library in filled]
        )
        fusion = fuse((dense, lexical))
        stages = (dense, lexical, fusion)
        return Retrieval(
            library=names,
            question=question,
            queries=(query,),
            rewrite_note=rewrite_note,
            hits=fusion.hits,
            stages=stages,
            evidence=judge(stages, fusion.hits, query, query_terms, self.embedder.identity.model),
            seconds={"embed": embedded} | {stage.name: stage.seconds for stage in stages},
        )

    def _together(self, filled: Sequence[Library], stages: Sequence[Stage]) -> Stage:
        """One leg's stages, one a library, as one ranking by score."""
        if len(self.libraries) == 1:
            return stages[0]
        found = [
            replace(hit, chunk=replace(hit.chunk, library=library.name))
            for library, stage in zip(filled, stages, strict=True)
            # A library that holds too little of the query has no vote where another has one.
            for hit in (stage.hits if stage.weight > 0 or not any(other.weight for other in stages) else ())
        ]
        best = sorted(found, key=lambda hit: -hit.score)[: self.candidates]
        notes = [f"{library.name}: {stage.note}" for library, stage in zip(filled, stages, strict=True) if stage.note]
        return replace(
            stages[0],
            hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(best, start=1)),
            seconds=sum(stage.seconds for stage in stages),
            weight=max(stage.weight for stage in stages),
            note=" ".join(notes),
        )

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [
            Document(
                id=hit.chunk.id,
                page_content=hit.chunk.text,
                metadata={
                    "path": hit.chunk.path,
                    "page": hit.chunk.page,
                    "heading": " › ".join(hit.chunk.heading_path),
                    "start": hit.chunk.span.start,
                    "end": hit.chunk.span.end,
                    "rrf": hit.score,
                },
            )
            for hit in self.search(query).hits
        ]
