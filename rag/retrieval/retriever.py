"""One search from query to verdict: both legs, their fusion, and everything on record."""

from __future__ import annotations

import time

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
from rag.types import Retrieval


class Retriever(BaseRetriever):
    """Searches one library; as a LangChain retriever it hands out documents, and :meth:`search` the whole record.

    Attributes:
        library: The library.
        embedder: The embedder that it was built with.
        candidates: Hits that each leg hands to the fusion.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    library: Library
    embedder: Embedder
    candidates: int = 30

    def search(self, question: str, query: str = "", rewrite_note: str = "") -> Retrieval:
        """Searches, and records every stage.

        Args:
            question: As typed.
            query: What to search; empty: the question itself.
            rewrite_note: Why the query differs from the question, for the record.

        Raises:
            LibraryEmpty: Nothing is indexed.
            EmbedderMismatch: The library was built with another embedder.
        """
        query = query or question
        catalog = self.library.catalog
        if not catalog.counts()[1]:
            raise LibraryEmpty(
                f"The library “{self.library.name}” is empty.", "Index a folder in the Ingest tab, then ask again."
            )
        self.library.check_embedder(self.embedder.identity)
        started = time.perf_counter()
        vector = self.embedder.embed_query(query)
        embedded = time.perf_counter() - started
        dense = search_dense(self.library, vector, self.candidates)
        query_terms = weigh_terms(catalog, query)
        lexical = search_lexical(catalog, query_terms, self.candidates)
        fusion = fuse((dense, lexical))
        stages = (dense, lexical, fusion)
        return Retrieval(
            library=self.library.name,
            question=question,
            queries=(query,),
            rewrite_note=rewrite_note,
            hits=fusion.hits,
            stages=stages,
            evidence=judge(dense, fusion.hits, query_terms, self.embedder.identity.model),
            seconds={"embed": embedded} | {stage.name: stage.seconds for stage in stages},
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
