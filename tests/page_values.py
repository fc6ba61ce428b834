"""Values for the page's tests to draw, and a reader for what comes of them."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from rag.types import (
    Answer,
    ChatModelIdentity,
    Chunk,
    EmbedderIdentity,
    Evidence,
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

HOSTILE = "<img src=x onerror=alert(1)>\"'</details></mark><script>alert(2)</script> ${alert(3)} {{value}} &amp;"
"""Text that breaks out of whatever does not escape it."""

EMBEDDER = EmbedderIdentity("bundled", "e5-small", "1", 384, True, "query: ", "passage: ", 512)
CHAT = ChatModelIdentity("ollama", "qwen3:8b", "abc", 8192, False)


class _Tree(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in the order they were opened."""

    VOID = frozenset({"img", "input", "br", "hr", "meta", "link"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data: str) -> None:
        self.text += data

    def close(self) -> None:
        super().close()
        assert not self._open, f"left open: {self._open}"


def parse(html: str) -> _Tree:
    """The HTML as a browser reads it, after making sure that it is well formed and does nothing by itself."""
    tree = _Tree()
    tree.feed(html)
    tree.close()
    assert not {"script", "img", "iframe", "a", "link", "object"} & set(tree.tags)
    assert not [name for _, name, _ in tree.attributes if name.startswith("on") or name in ("src", "href")]
    return tree


def make_chunk(number: int, text: str = "", path: str = "", page: int | None = None) -> Chunk:
    text = text or f"Passage {number}. It holds 30 ms."
    span = Span(100 * number, 100 * number + len(text))
    path = path or f"notes/{number}.md"
    return Chunk(f"c{number}", number, path, "Title", text, span, ("Top", "Sub"), page, page, 10)


def make_retrieval(*chunks: Chunk, question: str = "Why?", query: str = "", **more: object) -> Retrieval:
    hits = tuple(Hit(chunk, 0.9 - rank / 100, rank) for rank, chunk in enumerate(chunks, start=1))
    words = tuple(Hit(hit.chunk, 7.25, hit.rank) for hit in hits[:1])
    retrieval = Retrieval(
        "Notes", question, (query, question) if query else (question,), "", hits,
        (Stage("dense", "cosine", hits, 0.02), Stage("lexical", "bm25", words, 0.01, 0.0, "abstained")),
        Evidence(Verdict.ENOUGH, "cosine 0.890", {"top": 0.89}), {"embed": 0.1, "dense": 0.02},
    )  # fmt: skip
    return replace(retrieval, **more)


def judged(verdict: Verdict) -> Evidence:
    return Evidence(verdict, f"strength {HOSTILE}", {"strength": 0.03})


def make_prompt(retrieval: Retrieval, inside: int, read: int | None = None) -> Prompt:
    passages = tuple(
        Passage(hit.rank, hit, 12) if hit.rank <= inside else Passage(0, hit, 12, "below the top")
        for hit in retrieval.hits
    )
    window = Window(1000, 100, 50, 200, 20, 130, True, read)
    return Prompt((Message("system", "Cite."), Message("user", "Why?")), passages, window)


def make_trace(retrieval: Retrieval, prompt: Prompt | None, answer: Answer, asked: bool = True) -> Trace:
    seconds = {"search": 0.3, **({"first token": 0.5, "generation": 2.0} if asked else {})}
    return Trace("t", 0.0, retrieval, prompt, CHAT, EMBEDDER, answer, seconds)
