"""Papers from arXiv, into a folder: the PDF, and beside it a page of Markdown on what it is.

Nothing here is asked over the network unless :func:`fetch` is called, and that goes to arXiv alone.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import SourceError
from rag.types import FetchStatus

if TYPE_CHECKING:
    import arxiv

ADDRESS = "https://export.arxiv.org"
"""Where arXiv wants to be asked by programs."""

PAUSE = 3.0
"""Seconds that arXiv wants between two requests."""

_TRIES = 3
_LONGEST_ANSWER = 60.0  # seconds
_LONGEST_PATIENCE = 60.0  # seconds that arXiv may ask for before another try
_PAGE = 100

_ID = r"(?:\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"
_NAMES_A_PAPER = re.compile(
    r"(?i:(?:https?://)?(?:[\w-]+\.)*arxiv\.org/\w+/|(?:https?://)?(?:(?:dx\.)?doi\.org/)?10\.48550/arxiv\.|arxiv:)?"
    rf"(?P<id>{_ID})(?:\.pdf)?/?(?:[?#].*)?"
)
_FIELD = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all|submittedDate):|\b(?:AND|OR|ANDNOT)\b")
_TRY_LATER = "Try again later: what was fetched is kept, and fetching the same again goes on from there."


class _Stopped(Exception):
    """The person asked to stop."""


class _Failed(Exception):
    """One paper cannot be had; the words are for people."""


class _TryAgain(Exception):
    """It may go better the next time, after so many seconds at least; the words are for people."""

    def __init__(self, reason: str, seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.seconds = seconds


class _Unreachable(_TryAgain):
    """There was no answer at all."""


def fetch(
    wanted: str,
    folder: Path,
    limit: int,
    stop: threading.Event,
    *,
    address: str = ADDRESS,
    pause: float = PAUSE,
) -> Iterator[FetchStatus]:
    """Fetches papers into a folder: ``ID.pdf``, and ``ID.md`` with title, authors, dates, categories and abstract.

    Those that are there already are skipped. A paper that cannot be had does not stop the others.

    Args:
        wanted: Ids or addresses of papers, with blanks or commas between them; or words to search for, or a search in
            arXiv's own syntax (``au:bender AND ti:parrots``).
        folder: Made where it is missing.
        limit: Papers of a search at most.
        stop: Ends it within a second when set. What was fetched is kept.
        address: The server's.
        pause: Seconds between two requests.

    Yields:
        How far it is; only the counts, the title at work and what failed are filled. ``total`` stays 0 where arXiv
        knows nothing of the kind.

    Raises:
        SourceError: What is wanted cannot be understood, arXiv cannot be reached or refuses, or the folder cannot be
            written to.
    """
    ids = _ids(wanted)
    library = _Arxiv(address, pause, stop)
    status = FetchStatus()
    try:
        yield status
        papers = library.named(ids) if ids else library.found(_query(wanted), limit)
        missing = [asked for asked in ids if not any(_is(paper, asked) for paper in papers)]
        status = replace(
            status,
            done=len(missing),
            total=len(papers) + len(missing),
            failed=tuple((asked, "arXiv knows no such paper") for asked in missing),
        )
        yield status
        for paper in papers:
            status = replace(status, current=_one_line(paper.title))
            yield status
            status = _kept(library, paper, folder, status)
            yield status
    except _Stopped:
        return
    except _Unreachable as error:
        raise SourceError(f"{error}.", f"Check the network connection. {_TRY_LATER}") from error
    except _TryAgain as error:
        raise SourceError(f"{error}.", _TRY_LATER) from error


def _kept(library: _Arxiv, paper: arxiv.Result, folder: Path, status: FetchStatus) -> FetchStatus:
    """Puts one paper into the folder, and counts it."""
    name = paper.get_short_id()
    pdf = folder / f"{name.replace('/', '_')}.pdf"
    about = pdf.with_suffix(".md")
    status = replace(status, done=status.done + 1)
    try:
        if pdf.exists() and about.exists():
            return replace(status, skipped=status.skipped + 1)
        folder.mkdir(parents=True, exist_ok=True)
        if not pdf.exists():
            library.download(name, pdf)
        _write(about, _about(paper))
    except _Failed as error:
        return replace(status, failed=(*status.failed, (name, str(error))))
    except OSError as error:
        raise SourceError(
            f"{folder} cannot be written to: {error.strerror or error}.", "Free some space, or check its permissions."
        ) from error
    return replace(status, fetched=status.fetched + 1)


class _Arxiv:
    """arXiv, asked politely: one request at a time, with a pause between them, whatever is asked for."""

    def __init__(self, address: str, pause: float, stop: threading.Event) -> None:
        import arxiv

        self._address = address
        self._pause = pause
        self._stop = stop
        self._free_at = 0.0
        # Its own tries wait without an ear for the person who stops, and all the same time.
        self._client = arxiv.Client(page_size=_PAGE, delay_seconds=pause, num_retries=0)
        self._client.query_url_format = f"{address}/api/query?{{}}"

    def named(self, ids: list[str]) -> list[arxiv.Result]:
        """The papers of those ids that there are."""
        import arxiv

        papers: dict[str, arxiv.Result] = {}
        for start in range(0, len(ids), _PAGE):
            batch = ids[start : start + _PAGE]
            papers |= self._page(arxiv.Search(id_list=batch, max_results=len(batch)))
        return list(papers.values())

    def found(self, query: str, limit: int) -> list[arxiv.Result]:
        """The papers that answer a search best."""
        import arxiv

        papers: dict[str, arxiv.Result] = {}
        asked_again = False
        while (have := len(papers)) < limit:
            papers |= self._page(arxiv.Search(query, max_results=min(have + _PAGE, limit)), have)
            if len(papers) == have and asked_again:
                break
            asked_again = len(papers) == have  # now and then it has nothing, and knows better when asked again
            if have < len(papers) < min(have + _PAGE, limit):
                break
        return list(papers.values())

    def download(self, name: str, pdf: Path) -> None:
        """Fetches a paper's PDF; the file gets its name when it is whole.

        Raises:
            _Failed: There is none, or what came is none.
            OSError: It cannot be written.
        """
        part = pdf.with_name(f".{pdf.name}.part")
        try:
            self._tried(lambda left: _stream(f"{self._address}/pdf/{name}", part, left))
        except _Unreachable:
            raise
        except _TryAgain as error:
            raise _Failed(str(error)) from error
        with part.open("rb") as opened:
            is_pdf = b"%PDF-" in opened.read(1024)
        if not is_pdf:
            part.unlink()
            raise _Failed(f"arXiv sent a web page instead of the PDF; see https://arxiv.org/abs/{name} in a browser")
        part.replace(pdf)

    def _page(self, search: arxiv.Search, offset: int = 0) -> dict[str, arxiv.Result]:
        """The papers of a search from an offset on, at most a page of them, by id."""
        import arxiv

        papers: dict[str, arxiv.Result] = {}
        self._client.page_size = (search.max_results or _PAGE) - offset

        def ask(left: threading.Event) -> None:
            try:
                for paper in self._client.results(search, offset + len(papers)):
                    if left.is_set():
                        return
                    if re.fullmatch(_ID, name := paper.get_short_id()):
                        papers[name] = paper
            except arxiv.UnexpectedEmptyPageError as error:
                if not search.id_list:  # ids that do not exist are counted among the papers
                    raise _TryAgain("arXiv sent an empty page of papers") from error
            except arxiv.HTTPError as error:
                if error.status == 400:
                    hint = "Ids look like 2005.11401 or hep-th/9901001; or type words to search for."
                    raise SourceError("arXiv does not understand what was asked for.", hint) from error
                raise _refusal(error.status) from error
            except OSError as error:  # what the library's own library raises is one
                raise _Unreachable("arXiv cannot be reached") from error
            except ValueError as error:
                raise _TryAgain("arXiv sent something that is no list of papers") from error

        try:
            self._tried(ask, _LONGEST_ANSWER)
        except _Failed as error:
            raise SourceError(f"{error}.", _TRY_LATER) from error
        return papers

    def _tried(self, work: Callable[[threading.Event], None], seconds: float = float("inf")) -> None:
        """Does a request, again and after longer pauses where it may then go better."""
        for tried in range(1, _TRIES + 1):
            try:
                return self._request(work, seconds)
            except _TryAgain as error:
                if tried == _TRIES:
                    raise
                patience = max(self._pause * 2**tried, min(error.seconds, _LONGEST_PATIENCE))
                self._free_at = time.monotonic() + patience

    def _request(self, work: Callable[[threading.Event], None], seconds: float) -> None:
        """Does a request in its turn, and in a thread that can be left behind, since nothing else ends one at once."""
        if self._stop.wait(max(0.0, self._free_at - time.monotonic())):
            raise _Stopped
        left = threading.Event()
        done: Future[None] = Future()
        threading.Thread(target=_run, args=(work, left, done), name="arXiv", daemon=True).start()
        give_up = time.monotonic() + seconds
        try:
            while not wait([done], 0.1).done:
                if self._stop.is_set():
                    raise _Stopped
                if time.monotonic() > give_up:
                    raise _Unreachable("arXiv does not answer")
        finally:
            left.set()
            self._free_at = time.monotonic() + self._pause
        done.result()


def _run(work: Callable[[threading.Event], None], left: threading.Event, done: Future[None]) -> None:
    try:
        work(left)
        done.set_result(None)
    except BaseException as error:  # noqa: BLE001 - raised where the request is waited for
        done.set_exception(error)


def _stream(url: str, part: Path, left: threading.Event) -> None:
    """Writes what an address answers into a file, unless the request is left behind.

    Raises:
        _Failed: It is refused for good.
        _TryAgain: It is refused at the moment, or broke off.
        OSError: The file cannot be written.
    """
    import httpx

    try:
        with httpx.stream("GET", url, timeout=30, follow_redirects=True, headers={"User-Agent": "Footnote"}) as answer:
            if answer.status_code != 200:
                raise _refusal(answer.status_code, answer.headers.get("Retry-After", ""))
            with part.open("wb") as target:
                for block in answer.iter_bytes():
                    if left.is_set():
                        return
                    target.write(block)
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise _Unreachable("arXiv cannot be reached") from error
    except httpx.HTTPError as error:
        raise _TryAgain(f"the connection broke off ({error})") from error


def _refusal(status: int, retry_after: str = "") -> Exception:
    if status == 429 or status >= 500:
        seconds = float(retry_after) if retry_after.isdecimal() else 0.0
        return _TryAgain(f"arXiv is too busy at the moment (status {status})", seconds)
    reasons = {
        403: "arXiv refuses to answer; it wants fewer requests",
        404: "arXiv has no PDF of it",
    }
    return _Failed(reasons.get(status, f"arXiv answered with status {status}"))


def _ids(wanted: str) -> list[str]:
    """The ids in what is wanted, each once; none where it is a search.

    Raises:
        SourceError: An address among it is not a paper's.
    """
    parts = [part for part in re.split(r"[\s,;]+", re.sub(r"(?i)\barxiv:\s+", "arXiv:", wanted)) if part]
    named = [_NAMES_A_PAPER.fullmatch(part) for part in parts]
    for part, names in zip(parts, named, strict=True):
        if "://" in part and not names:
            raise SourceError(
                f"{part} is not the address of a paper on arXiv.",
                "Give one like https://arxiv.org/abs/2005.11401, or words to search for.",
            )
    return list(dict.fromkeys(names["id"] for names in named if names)) if all(named) else []


def _query(wanted: str) -> str:
    """What is searched: all of the words, unless it is written in arXiv's own syntax.

    Raises:
        SourceError: There is no word in it.
    """
    words = re.findall(r'"[^"]+"|[^\s"]+', wanted)
    if not words:
        raise SourceError("There is nothing to look for.", "Give ids or addresses of papers, or words to search for.")
    return wanted.strip() if _FIELD.search(wanted) else " AND ".join(f"all:{word}" for word in words)


def _is(paper: arxiv.Result, asked: str) -> bool:
    """Whether a paper is the one that was asked for, in that version if one was named."""
    name = paper.get_short_id()
    plain = re.sub(r"\.[A-Z]{2}/", "/", asked)
    return plain in (name, re.sub(r"v\d+$", "", name))


def _about(paper: arxiv.Result) -> str:
    """A page of Markdown on a paper."""
    name = paper.get_short_id()
    facts = [
        f"arXiv {name}",
        f"published {paper.published:%Y-%m-%d}",
        f"updated {paper.updated:%Y-%m-%d}" if paper.updated != paper.published else "",
        ", ".join(dict.fromkeys([paper.primary_category, *paper.categories])),
    ]
    rows = [
        ", ".join(_one_line(author.name) for author in paper.authors),
        " · ".join(filter(None, facts)),
        f"Journal: {_one_line(paper.journal_ref)}" if paper.journal_ref else "",
        f"DOI: {_one_line(paper.doi)}" if paper.doi else "",
        f"Comment: {_one_line(paper.comment)}" if paper.comment else "",
        f"https://arxiv.org/abs/{name}",
        "## Abstract",
        # A line that begins with blanks begins a paragraph.
        *(_one_line(paragraph) for paragraph in re.split(r"\n(?=[ \t])|\n\s*\n", paper.summary.strip())),
    ]
    title = re.sub(r"<(?=[a-zA-Z/!?])", r"\\<", _one_line(paper.title))  # a heading's tags are dropped by who reads it
    return "\n\n".join([f"# {title}", *filter(None, rows)]) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
