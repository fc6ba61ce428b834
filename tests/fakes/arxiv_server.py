"""A stand-in for arXiv: its search API, which answers in Atom, and its PDFs.

In a test::

    with ArxivStandIn() as arxiv:
        arxiv.failures.append(Failure("/pdf/", status=503, retry_after="1"))
        ...  # requests to arxiv.url
        assert [request.path for request in arxiv.requests] == ["/api/query", "/pdf/2101.00001v2"]

It answers as the real one does where that is odd: an id that does not exist is counted and not listed, an id that is
none is status 400 with an entry called "Error".
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

_ID = re.compile(r"([a-z-]+(\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5})(v\d+)?")


@dataclass
class Paper:
    """A paper that the stand-in has; ``pdf`` empty: a small one is made."""

    id: str
    version: int = 1
    title: str = "A paper"
    authors: tuple[str, ...] = ("Ada Lovelace", "Grace Hopper")
    summary: str = "We study words."
    categories: tuple[str, ...] = ("cs.CL",)
    published: str = "2021-01-05T10:00:00Z"
    updated: str = "2021-02-03T11:00:00Z"
    comment: str = ""
    journal_ref: str = ""
    doi: str = ""
    pdf: bytes = b""

    @property
    def name(self) -> str:
        return f"{self.id}v{self.version}"


def some_papers() -> list[Paper]:
    """A few, one of them of the old style."""
    return [
        Paper("2101.00001", 2, "Retrieval of words\n  and numbers", summary="Words are retrieved.\n  Numbers are too."),
        Paper("2101.00002", 1, "Retrieval of numbers", categories=("cs.IR", "cs.CL"), doi="10.1000/1"),
        Paper("hep-th/9901001", 3, "Strings & words <old>", ("Emmy Noether",), journal_ref="J. Strings 3 (1999) 1"),
    ]


@dataclass
class Failure:
    """What goes wrong at the next request whose path begins with ``path``; each is used once.

    Attributes:
        status: Answered instead of 200.
        retry_after: Seconds that the answer asks for.
        body: Answered instead, with ``status``.
        cut: Bytes after which the connection is dropped; None: it is not.
        stall: Seconds to wait before anything is answered.
    """

    path: str
    status: int = 503
    retry_after: str = ""
    body: bytes = b""
    cut: int | None = None
    stall: float = 0.0


@dataclass
class Request:
    """What a client asked for, and when."""

    path: str
    query: dict[str, str] = field(default_factory=dict)
    at: float = 0.0


class ArxivStandIn:
    """The server; starts on a free loopback port.

    Attributes:
        papers: What it has.
        failures: What goes wrong, in order.
        requests: What was asked, in order.
        page: Papers that it gives at a time at most, whatever is asked for.
    """

    def __init__(self) -> None:
        self.papers = some_papers()
        self.failures: list[Failure] = []
        self.requests: list[Request] = []
        self.page = 2000
        stand_in = self

        class Handler(_Handler):
            owner = stand_in

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> ArxivStandIn:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def asked(self, path: str) -> list[Request]:
        """The requests whose path begins so."""
        return [request for request in self.requests if request.path.startswith(path)]

    def feed(self, query: dict[str, str]) -> tuple[int, bytes]:
        """Status and body of an answer of the API."""
        ids = [part for part in query.get("id_list", "").split(",") if part]
        wrong = next((part for part in ids if not _ID.fullmatch(part)), None)
        if wrong is not None:
            return 400, self._feed(1, 0, _error(f"incorrect id format for {wrong}"))
        if ids:
            found = [paper for paper in self.papers if {paper.id, paper.name} & set(ids)]
            total = len(ids)
        else:
            found = [paper for paper in self.papers if _answers(paper, query.get("search_query", ""))]
            total = len(found)
        start = int(query.get("start", 0))
        shown = found[start : start + min(int(query.get("max_results", 10)), self.page)]
        return 200, self._feed(total, start, "".join(map(self._entry, shown)))

    def pdf(self, name: str) -> bytes | None:
        """A paper's PDF."""
        for paper in self.papers:
            if name.removesuffix(".pdf") in (paper.id, paper.name):
                return paper.pdf or _pdf(f"{paper.title} {paper.summary}")
        return None

    def _feed(self, total: int, start: int, entries: str) -> bytes:
        opensearch = 'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'
        return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="{self.url}/api/query" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query</title>
  <id>http://arxiv.org/api/stand-in</id>
  <updated>2021-03-01T00:00:00-05:00</updated>
  <opensearch:totalResults {opensearch}>{total}</opensearch:totalResults>
  <opensearch:startIndex {opensearch}>{start}</opensearch:startIndex>
  <opensearch:itemsPerPage {opensearch}>{self.page}</opensearch:itemsPerPage>{entries}
</feed>
""".encode()

    def _entry(self, paper: Paper) -> str:
        arxiv = 'xmlns:arxiv="http://arxiv.org/schemas/atom"'
        authors = "".join(f"<author><name>{escape(author)}</name></author>" for author in paper.authors)
        terms = "".join(
            f'<category term="{term}" scheme="http://arxiv.org/schemas/atom"/>' for term in paper.categories
        )
        extras = {"comment": paper.comment, "journal_ref": paper.journal_ref, "doi": paper.doi}
        extra = "".join(f"<arxiv:{key} {arxiv}>{escape(said)}</arxiv:{key}>" for key, said in extras.items() if said)
        return f"""
  <entry>
    <id>http://arxiv.org/abs/{paper.name}</id>
    <updated>{paper.updated}</updated>
    <published>{paper.published}</published>
    <title>{escape(paper.title)}</title>
    <summary>  {escape(paper.summary)}
</summary>
    {authors}{extra}
    <link href="http://arxiv.org/abs/{paper.name}" rel="alternate" type="text/html"/>
    <link title="pdf" href="{self.url}/pdf/{paper.name}" rel="related" type="application/pdf"/>
    <arxiv:primary_category {arxiv} term="{paper.categories[0]}" scheme="http://arxiv.org/schemas/atom"/>
    {terms}
  </entry>"""


class _Handler(BaseHTTPRequestHandler):
    owner: ArxivStandIn
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        self.owner.requests.append(Request(address.path, query, time.monotonic()))
        failure = next((one for one in self.owner.failures if address.path.startswith(one.path)), None)
        if failure:
            self.owner.failures.remove(failure)
            time.sleep(failure.stall)
            if failure.cut is None and not failure.stall:
                return self._send(failure.status, failure.body, "text/html", failure.retry_after)
        if address.path == "/api/query":
            status, body = self.owner.feed(query)
            return self._send(status, body, "application/atom+xml; charset=utf-8")
        pdf = self.owner.pdf(address.path.removeprefix("/pdf/")) if address.path.startswith("/pdf/") else None
        if pdf is None:
            return self._send(404, b"<html>not found</html>", "text/html")
        return self._send(200, pdf, "application/pdf", cut=failure.cut if failure else None)

    def _send(self, status: int, body: bytes, kind: str, retry_after: str = "", cut: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


def _error(words: str) -> str:
    address = f"http://arxiv.org/api/errors#{words.replace(' ', '_')}"
    return f"""
  <entry>
    <id>{escape(address)}</id>
    <title>Error</title>
    <summary>{escape(words)}</summary>
    <updated>2021-03-01T00:00:00-05:00</updated>
    <link href="{escape(address)}" rel="alternate" type="text/html"/>
    <author><name>arXiv api core</name></author>
  </entry>"""


def _answers(paper: Paper, query: str) -> bool:
    """Whether all words of a search are in the paper; fields other than the authors are one."""
    for term in re.split(r"\s+AND\s+", query):
        name, _, words = term.rpartition(":")
        there = " ".join(paper.authors) if name == "au" else f"{paper.title} {paper.summary}"
        if words.strip('"').lower() not in " ".join(there.split()).lower():
            return False
    return True


def _pdf(text: str) -> bytes:
    """A PDF of one page with a line of text."""
    line = re.sub(r"[^\w .,]", " ", " ".join(text.split()))
    drawing = f"BT /F1 12 Tf 40 700 Td ({line}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF\n"
    return f"{made}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode("latin-1")
