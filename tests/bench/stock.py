"""What LangChain's guides build, to compare with: a character splitter, and an ensemble of Chroma and BM25.

The parts and their defaults are those of ``RecursiveCharacterTextSplitter``, ``langchain_chroma.Chroma``,
``BM25Retriever`` (words at white space, no case folding, BM25Okapi with k1 1.5 and b 0.75) and ``EnsembleRetriever``
(equal weights, reciprocal ranks with the constant 60); the last two are written out here, since their packages are no
part of Footnote. 1,000 characters with an overlap of 200 are what the guides use.
"""

from __future__ import annotations

import math
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence

import chromadb
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

from rag.models.base import Embedder
from tests.bench.sets import Passage

_EACH = 10  # of each retriever; the packages' default of 4 could not fill ten ranks


class _Truncating(Embeddings):
    """Embeds as much of a text as the model takes and says nothing, as most embedders do: 1,000 characters of Japanese
    are more than 512 tokens."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed_query(self, text: str) -> list[float]:
        return self._embedder.embed_query(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.embed_documents([self._cut(text) for text in texts])

    def _cut(self, text: str) -> str:
        while self._embedder.count_tokens(text) > self._embedder.identity.max_tokens:
            text = text[: len(text) * 19 // 20]
        return text


class StockRecipe:
    """The recipe over some passages.

    Args:
        passages: What is searched; titles are put in front.
        embedder: The same as Footnote's.
    """

    def __init__(self, passages: Sequence[Passage], embedder: Embedder) -> None:
        splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)
        whole = [Document("\n".join(filter(None, (p.title, p.text))), metadata={"name": p.name}) for p in passages]
        documents = splitter.split_documents(whole)
        self._chroma = Chroma(
            f"stock-{uuid.uuid4().hex}", _Truncating(embedder), client=chromadb.EphemeralClient(),
            collection_metadata={"hnsw:space": "cosine"},
        )  # fmt: skip
        self._chroma.add_documents(documents)
        self._names = [document.metadata["name"] for document in documents]
        self._texts = [document.page_content for document in documents]
        self._counts = [Counter(text.split()) for text in self._texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean_length = sum(self._lengths) / len(self._lengths)
        self._idf = self._inverse_frequencies()

    def search(self, question: str) -> list[str]:
        """Names of passages, best first."""
        dense = [document.page_content for document in self._chroma.similarity_search(question, k=_EACH)]
        name_of = dict(zip(self._texts, self._names, strict=True))
        scores: dict[str, float] = defaultdict(float)
        for ranking in (self._bm25(question), dense):
            for rank, text in enumerate(ranking, 1):
                scores[text] += 0.5 / (60 + rank)
        return [name_of[text] for text in sorted(scores, key=lambda text: -scores[text])]

    def _bm25(self, question: str) -> list[str]:
        scores = [0.0] * len(self._texts)
        for at, (counts, length) in enumerate(zip(self._counts, self._lengths, strict=True)):
            for word in question.split():
                if found := counts.get(word):
                    norm = found + 1.5 * (0.25 + 0.75 * length / self._mean_length)
                    scores[at] += self._idf[word] * found * 2.5 / norm
        best = sorted(range(len(scores)), key=lambda at: -scores[at])[:_EACH]
        return [self._texts[at] for at in best]

    def _inverse_frequencies(self) -> dict[str, float]:
        holding = Counter(word for counts in self._counts for word in counts)
        total = len(self._counts)
        idf = {word: math.log(total - n + 0.5) - math.log(n + 0.5) for word, n in holding.items()}
        floor = 0.25 * sum(idf.values()) / len(idf)  # as BM25Okapi does with words that most texts hold
        return {word: value if value >= 0 else floor for word, value in idf.items()}
