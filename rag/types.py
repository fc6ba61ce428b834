"""The vocabulary of Footnote: what flows from a folder to an answer, as frozen values.

Only the standard library is imported here, so every room can speak these words without pulling in another room.
Nothing here holds rendered text (HTML, Markdown) or vectors. Conventions that hold everywhere:

* offsets are Python string indices into ``SourceDocument.text``, half open: ``text[start:end]``;
* ``page`` is 1-based, in the order of the file; ``None`` where a format has no pages;
* ``rank`` starts at 1; ``score``: higher is better, and keeps its name (``cosine``, ``bm25``, ``rrf``);
* ``question`` is what the person typed, ``query`` is what was searched;
* durations are seconds, sizes are bytes, times are Unix seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

# -------------------------------------------------------------------------------------------------------------- sources


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters, ``text[start:end]``."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as the scan found it, before it is read.

    Attributes:
        root: The folder that was scanned, absolute.
        path: Where the file is below ``root``, with forward slashes; this is what people are shown.
        size: Bytes.
        mtime_ns: Time of the last modification, nanoseconds since the epoch.
        inode: The file system's number of the file; 0 where it has none. Another number means that the file was
            replaced, even where size and time are as they were.
    """

    root: Path
    path: str
    size: int
    mtime_ns: int
    inode: int = 0

    @property
    def absolute(self) -> Path:
        """The file's place on this machine."""
        return self.root / self.path


class Remedy(StrEnum):
    """What a person can do about a file that was not read, or not fully."""

    PASSWORD = "password"
    OCR = "ocr"
    ENCODING = "encoding"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are to be read, where a person or a library's settings decide.

    Attributes:
        encoding: Encoding of a text file, by its Python name; empty: found out.
        ocr: Recognise text on pages and images that have none, where an engine is installed.
        layout: Read PDF pages with layout analysis: slower, better with tables and unusual columns.
        passwords: Tried in turn on an encrypted file. Kept in memory only, and never shown.
    """

    encoding: str = ""
    ocr: bool = False
    layout: bool = False
    passwords: tuple[str, ...] = field(default=(), repr=False)


DEFAULT_READING = ReadOptions()
"""How files are read where nobody said otherwise."""


class PageVerdict(StrEnum):
    """What a page turned out to be."""

    TEXT = "text"
    RECOGNISED = "recognised"  # its text was read from the image by OCR
    SCAN = "scan"  # images, and no text
    EMPTY = "empty"  # nothing on it
    GARBLED = "garbled"  # text whose characters are not what is printed
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Page:
    """One page's range in the document's text, what it turned out to be, and what could not be read on it.

    ``problem`` is a phrase for people, empty when all is well; an empty page is no problem.
    """

    number: int
    span: Span
    problem: str = ""
    verdict: PageVerdict = PageVerdict.TEXT


Concealment = Literal["colour", "tiny", "transparent", "outside", "style", "characters"]
"""How text is kept from being seen: in the colour of what is behind it, too small, see-through, beside the page, by a
rule of the file's style, with characters that print nothing."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that was read from a file, though a person who opens it does not see it there.

    Attributes:
        span: Where it is, in the document's characters.
        how: What keeps it from being seen.
    """

    span: Span
    how: Concealment


Unit = Literal["slide", "row", "cell", "line"]
"""What a format without pages counts its places in."""


@dataclass(frozen=True, slots=True)
class Mark:
    """From the character ``start`` on, the text is in this slide, row, cell or line, up to the next mark.

    Lines and rows count up by one with each line break of the text; slides and cells go on until the next mark. A mark
    of number 0 ends the counting: what follows is in no such place.
    """

    start: int
    unit: Unit
    number: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a passage of a format without pages is: lines 3 to 9, slide 4, rows 2 to 40 (of the sheet that the
    heading path names)."""

    unit: Unit
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text up to the next heading of any level.

    Attributes:
        heading_path: Titles from the outermost heading to this one; empty before the first heading.
        span: The range from the heading's first character to the next heading.
        whole: True for text that is one chunk by itself, as long as the embedder can take it: a paper's abstract.
    """

    heading_path: tuple[str, ...]
    span: Span
    whole: bool = False


Stance = Literal["", "normative", "informative"]
"""Whether a passage binds: it sets requirements, it explains, or the document does not tell such things apart."""


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A file's readable text with the places in it.

    Attributes:
        text: All readable text; every span in Footnote counts characters of it. Empty where nothing could be read
            though the file could be opened: ``problems`` and ``pages`` then say why.
        title: From front matter, metadata or the first heading, else the file's name without its ending.
        sections: In order, without gaps or overlaps; together they cover ``text``.
        pages: In order; empty where the format has no pages.
        problems: What could not be read though the rest could ("page 3: no text, looks like a scan").
        sha256: Hash of the bytes that were read, hexadecimal.
        marks: In order of their start; empty where the format has pages, or no places of its own.
        encoding: Encoding of a text file, by its Python name; empty for other formats.
        remedies: What a person can do about the problems.
        notes: What is worth knowing, and no defect ("named .pdf, but a Word document").
        authors: Of a paper, as printed.
        year: Of a paper; None when unknown.
        number: The number of the document's first heading where only its front matter tells it (``section: 5``); the
            headings below it are counted from there. Else empty.
        date: The document's own date, as far as it says: ``2024``, ``2024-05`` or ``2024-05-01``; empty when unknown.
        hidden: What of the text is not to be seen in the file, in order.
    """

    text: str
    title: str
    sections: tuple[Section, ...]
    sha256: str
    pages: tuple[Page, ...] = ()
    problems: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    encoding: str = ""
    remedies: tuple[Remedy, ...] = ()
    notes: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    year: int | None = None
    number: str = ""
    date: str = ""
    hidden: tuple[Hidden, ...] = ()


# ---------------------------------------------------------------------------------------------------------------- index


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage that is searched and cited as one.

    Invariant: ``document.text[span.start:span.end] == text``.

    Attributes:
        id: Unique in its library.
        file_id: The catalog's number of the file.
        path: The file below its folder, as in ``SourceFile.path``.
        title: The document's title.
        heading_path: The headings above the passage, outermost first.
        page: First page of the passage, or None.
        page_end: Last page of the passage, or None.
        tokens: Length of ``text`` in the embedder's own tokens, without prefix and special tokens.
        page_breaks: Where each page after the first begins, as offsets into the document's text.
        place: Where the passage is in a format without pages; None where the format has no such places either.
        context: What stands above the passage in the document and is needed to understand it (the caption and the
            header row of a table that was cut between rows); read by the model and searched, but not cited.
        library: The library, where several were searched; else empty.
        section: Number of the section or clause that the passage is in: ``8.3.2``, ``A.1``, ``Annex C``, ``§ 5``;
            empty where the document does not number its sections.
        stance: Whether the passage binds.
        date: The document's own date, as far as it says (see :class:`SourceDocument`); empty when unknown.
        contents: True for what only lists other passages: a table of contents, a heading with nothing but sub-sections.
        hidden: What of the passage is not to be seen in the file; it may reach beyond the passage.
    """

    id: str
    file_id: int
    path: str
    title: str
    text: str
    span: Span
    heading_path: tuple[str, ...]
    page: int | None
    page_end: int | None
    tokens: int
    page_breaks: tuple[int, ...] = ()
    place: Place | None = None
    context: str = ""
    library: str = ""
    section: str = ""
    stance: Stance = ""
    date: str = ""
    contents: bool = False
    hidden: tuple[Hidden, ...] = ()

    def page_at(self, offset: int) -> int | None:
        """The page that a character of the passage is on; the offset counts the document's characters."""
        if self.page is None:
            return None
        return self.page + sum(1 for begin in self.page_breaks if begin <= offset)


class FileState(StrEnum):
    """How a file ended: never a silent green."""

    INDEXED = "indexed"
    PARTLY = "partly"
    FAILED = "failed"


class Change(StrEnum):
    """What a sync would do with a file."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    REMOVED = "removed"
    DUPLICATE = "duplicate"  # holds the same bytes as another file of the folder, which is the one that is searched
    UNCHANGED = "unchanged"
    RETRY = "retry"  # failed the last time and has not changed since: tried again


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file as the catalog knows it.

    Attributes:
        reason: Why it was not read fully, or what is worth knowing of it; for people.
        options: What a person set for this file; passwords are never among it.
        copy_of: Path of the file whose bytes it repeats; then it has no chunks of its own. Else empty.
    """

    id: int
    root: str
    path: str
    size: int
    mtime_ns: int
    sha256: str
    state: FileState
    reason: str
    title: str
    pages: int
    chunks: int
    indexed_at: float
    inode: int = 0
    encoding: str = ""
    remedies: tuple[Remedy, ...] = ()
    options: ReadOptions = DEFAULT_READING
    copy_of: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None

    @property
    def absolute(self) -> Path:
        """The file's place on this machine."""
        return Path(self.root) / self.path


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One line of a sync plan.

    Attributes:
        change: What would be done.
        path: The file below its folder (the new place of a moved one).
        size: Bytes now; of a removed file, bytes when it was indexed.
        file: The file on disk; None when it was removed.
        record: What the catalog holds for it; None when it is new.
        sha256: Hash of the bytes now; empty where they could not be read.
        why: What changed, where that is not the file itself ("chunk settings", "a newer PDF reader"), where a moved
            file was, or which file a duplicate repeats.
    """

    change: Change
    path: str
    size: int
    file: SourceFile | None = None
    record: FileRecord | None = None
    sha256: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync of one folder would do.

    Attributes:
        library: The library.
        root: The folder.
        files: One line a file.
        skipped: Paths that are not read, each with the reason.
        seconds: How long it would take, by the speed of earlier syncs of this library; None while none was measured.
    """

    library: str
    root: Path
    files: tuple[PlannedFile, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    seconds: float | None = None

    def count(self, change: Change) -> int:
        """Number of files with that change."""
        return sum(1 for planned in self.files if planned.change is change)

    @property
    def work(self) -> tuple[PlannedFile, ...]:
        """The files that a sync has to touch."""
        return tuple(planned for planned in self.files if planned.change is not Change.UNCHANGED)


@dataclass(frozen=True, slots=True)
class FileReport:
    """How one file ended in a sync. ``state`` is None where nothing is left to have a state (removed)."""

    path: str
    change: Change
    state: FileState | None
    reason: str = ""
    pages: int = 0
    chunks: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did: one line a file, unchanged ones included."""

    library: str
    root: str
    files: tuple[FileReport, ...]
    skipped: tuple[tuple[str, str], ...]
    seconds: float
    stopped: bool = False

    def count(self, change: Change) -> int:
        """Number of files with that change."""
        return sum(1 for report in self.files if report.change is change)

    @property
    def chunks_embedded(self) -> int:
        """Chunks for which a vector was computed."""
        return sum(report.embedded for report in self.files)


@dataclass(frozen=True, slots=True)
class SyncEvent:
    """Progress of a running sync, sent after every batch of chunks and after every file.

    Attributes:
        path: The file at work.
        files_done: Files finished, of ``files_total`` (files with work only).
        chunks_done: Chunks embedded so far.
        chunks_per_second: Chunks by seconds spent embedding; 0 before the first.
        seconds_left: Estimate from bytes left and measured speed; None while unknown.
        report: The line of the file that just ended, if one did.
        result: The whole report, on the last event only.
    """

    path: str
    files_done: int
    files_total: int
    chunks_done: int
    chunks_per_second: float
    seconds_left: float | None
    report: FileReport | None = None
    result: SyncReport | None = None


JobState = Literal["idle", "running", "stopping", "stopped", "done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The library's last or running sync, as the page shows it.

    ``interrupted``: the process ended in the middle; starting the same sync again resumes it.
    """

    state: JobState = "idle"
    root: str = ""
    event: SyncEvent | None = None
    report: SyncReport | None = None
    error: str = ""
    hint: str = ""
    started_at: float = 0.0


@dataclass(frozen=True, slots=True)
class LibrarySettings:
    """What a library has of its own; the defaults leave a thing to the program's settings.

    Attributes:
        include: Patterns in gitignore syntax; where there are any, only files that match one are read.
        exclude: Patterns in gitignore syntax of what is not read; ``!pattern`` brings back what is left out by default.
        chunk_tokens: Longest chunk, in the embedder's tokens; None: as ``FOOTNOTE_CHUNK_TOKENS`` says.
        chunk_overlap: Tokens that pieces of one section share; None: as ``FOOTNOTE_CHUNK_OVERLAP`` says.
        layout: PDF pages are read with layout analysis.
        ocr: Pages and images without text are read by OCR, where an engine is installed.
        watch: Its folders are watched, and synced when something in them changes.
        chunk_profile: ``sections`` or ``words``; empty: as ``FOOTNOTE_CHUNK_PROFILE`` says.
        chunk_minimum: Shorter chunks ride with their neighbours; None: as ``FOOTNOTE_CHUNK_MINIMUM`` says.
        hyde: A hypothetical passage is searched beside each question, unless the person decides otherwise.
        rerank: A cross-encoder sorts what was found, where its weights are on disk.
        evidence: How much stronger the evidence must be than Footnote asks for by itself before a question is answered,
            in log-odds: 1 asks for odds e times as good, -1 is content with odds e times worse.
        evidence_embedder: The embedder that this was chosen with, by its model's name; it holds with no other.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    chunk_tokens: int | None = None
    chunk_overlap: int | None = None
    layout: bool = False
    ocr: bool = False
    watch: bool = False
    chunk_profile: str = ""
    chunk_minimum: int | None = None
    hyde: bool = False
    rerank: bool = False
    evidence: float = 0.0
    evidence_embedder: str = ""


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as it was indexed: what it turned out to be, and the text that was taken from it."""

    number: int
    verdict: PageVerdict
    problem: str
    text: str


@dataclass(frozen=True, slots=True)
class FileXray:
    """Everything that was taken from one file; ``text`` is that of formats without pages, and empty for others."""

    record: FileRecord
    pages: tuple[PageText, ...]
    text: str
    chunks: tuple[Chunk, ...]
    stale: bool


@dataclass(frozen=True, slots=True)
class FolderState:
    """Whether a library is in step with its folders.

    Attributes:
        changed: Files that are new, changed, moved or removed on disk and not in the library yet.
        watching: Its folders are watched.
        missing: Folders that are not there at present.
        checked_at: When that was looked at.
        polling: Changes are found by looking through some of them, since the system tells of none there.
    """

    changed: int
    watching: bool
    missing: tuple[str, ...]
    checked_at: float
    polling: bool = False


Freshness = Literal["changed", "gone", "old"]
"""What became of a passage: its file has changed on disk, is not there any more, or was indexed anew since."""


@dataclass(frozen=True, slots=True)
class FetchStatus:
    """How far a library's fetch of papers is, or how the last one ended.

    Attributes:
        state: As of a job.
        wanted: What was asked for: ids, addresses or a search.
        done: Papers dealt with, of ``total`` (0 while unknown).
        current: Title of the paper at work.
        fetched: Papers that are new in the folder.
        skipped: Papers that were there already.
        failed: Id and reason of those that could not be had.
        error: Why the whole fetch failed; with ``hint``.
    """

    state: JobState = "idle"
    wanted: str = ""
    done: int = 0
    total: int = 0
    current: str = ""
    fetched: int = 0
    skipped: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    error: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """A library at a glance; no ``embedder`` while nothing was indexed, an ``error`` when it cannot be opened."""

    name: str
    roots: tuple[str, ...]
    files: int
    chunks: int
    embedder: str
    error: str = ""
    settings: LibrarySettings = LibrarySettings()


# --------------------------------------------------------------------------------------------------------------- models


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What makes two vectors comparable; a library remembers it and is only ever searched with the same one.

    Attributes:
        provider: ``bundled``, ``sentence-transformers`` or ``ollama``.
        model: The model's name or path.
        revision: Commit, digest or package version of the weights; empty when unknown.
        dimension: Length of a vector.
        normalized: True when vectors have L2 norm 1.
        query_prefix: Put before a question.
        passage_prefix: Put before a passage.
        max_tokens: The longest input, prefix and special tokens included.
    """

    provider: str
    model: str
    revision: str
    dimension: int
    normalized: bool
    query_prefix: str
    passage_prefix: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class ChatModelIdentity:
    """The model that answers.

    Attributes:
        provider: ``ollama``, ``openai`` (any compatible server) or ``embedded``.
        name: As the provider calls it.
        digest: Hash of the weights where the provider tells it, else empty.
        context_tokens: The window that requests are held to.
        small: True for models below about 3 billion parameters, which need fewer notes and worked examples.
    """

    provider: str
    name: str
    digest: str
    context_tokens: int
    small: bool


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can be chosen or fetched.

    Attributes:
        id: What settings and ``models use`` take: ``embedded``, ``ollama:qwen3:8b``, ``openai:NAME``, ``bge-m3``,
            ``e5-small``, ``bge-reranker-v2-m3``.
        kind: What it does.
        label: For people.
        ready: Usable now; else it has to be pulled first.
        size: Bytes to fetch or on disk; 0 when unknown.
        note: Why it is not ready, or what is special about it.
    """

    id: str
    kind: Literal["chat", "embedding", "reranking"]
    label: str
    ready: bool
    size: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class PullProgress:
    """Progress of a download: bytes so far of ``total`` (0 while unknown) and what is being done."""

    status: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Status:
    """What is running, for the page's status line. ``warnings`` are sentences; empty means nothing fell back.

    Attributes:
        chat: The chat model, or None when Footnote only searches.
        chat_reason: Why this one was picked, or why there is none.
        embedder: The embedder, or None when it cannot be had.
        embedder_reason: Why this one was picked, or why there is none.
        device: Where the embedder runs: ``cpu``, ``cuda:0``, ``mps``, ``ollama``.
    """

    chat: ChatModelIdentity | None
    chat_reason: str
    embedder: EmbedderIdentity | None
    embedder_reason: str
    device: str
    warnings: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------------------ retrieval


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is held to, before anything is ranked; empty: everything. Each kind must be met by a passage.

    Attributes:
        files: Parts of a file's path, or patterns with ``*``; one of them has to match.
        folders: Folders below a library's folder, as written in paths; the file lies in one of them, however deep.
        after: The earliest date, ``2024``, ``2024-05`` or ``2024-05-01``. A document's date is its own, or where it
            has none, the day on which its file was last modified.
        before: The latest date, written the same way; the whole year, month or day counts.
        sections: Section numbers; a passage in one of them, or in a section below it.
        stance: Only passages that bind, or only those that explain.
        phrases: Every one stands in the passage word for word; case, width and white space do not matter.
        without: Words or phrases of which the passage holds none.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    after: str = ""
    before: str = ""
    sections: tuple[str, ...] = ()
    stance: Stance = ""
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a person decides for one question.

    Attributes:
        filters: What the search is held to, beside what the question itself says.
        hyde: Whether a hypothetical passage is searched too; None: as the library's settings say.
        rerank: Whether a cross-encoder sorts what was found; None: as the library's settings say.
        rewrite: What to search instead of what the model would make of a follow-up; empty: the model decides.
        anyway: The model is asked even where the notes do not seem to say.
    """

    filters: Filters = Filters()
    hyde: bool | None = None
    rerank: bool | None = None
    rewrite: str = ""
    anyway: bool = False


DEFAULT_SEARCH = SearchOptions()
"""How is searched where nobody said otherwise."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by one stage, with that stage's score and rank (from 1).

    Attributes:
        copies: Passages that say nearly the same and were folded into this one, best first.
        note: Why it is here, where no search found it ("“see Table C.4” in [2]"); else empty.
    """

    chunk: Chunk
    score: float
    rank: int
    copies: tuple[Chunk, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """What one step of the search found.

    Attributes:
        name: ``dense``, ``lexical``, ``sparse``, ``clause``, ``fusion``, ``multivector``, ``rerank``, ``fold``,
            ``follow``; a leg that
            searched another query than the first one says so behind a colon (``dense: hypothetical``).
        score_name: What its scores are: ``cosine``, ``bm25``, ``rrf``.
        hits: Best first.
        seconds: Time it took.
        weight: The weight of its vote in the fusion, 0 when it abstained.
        note: Why it abstained or what it did, in a sentence; empty when there is nothing to say.
    """

    name: str
    score_name: str
    hits: tuple[Hit, ...]
    seconds: float
    weight: float = 1.0
    note: str = ""


class Verdict(StrEnum):
    """How much the notes have to say, judged from the retrieval before anything is generated."""

    ENOUGH = "enough"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The verdict, and the sentence that explains it with its figures."""

    verdict: Verdict
    reason: str
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One search with every stage recorded; the same object that chat used is what diagnostics shows.

    Attributes:
        question: As typed.
        queries: What was searched: first what the answer is to be about (the rewritten question where there is one,
            else the question without its filters), then what was searched beside it.
        rewrite_note: Why the question was rewritten or left alone.
        hits: The final order, best first; their score is the last stage's.
        stages: In the order they ran.
        evidence: The verdict.
        seconds: By step: ``embed``, then each stage's name.
        filters: What the search was held to, the question's own filters included.
        hypothetical: The passage that a model made up to search with (HyDE); empty when there was none.
        loosened: Phrases in the question's quotation marks that no passage holds word for word: they were searched as
            words.
    """

    library: str
    question: str
    queries: tuple[str, ...]
    rewrite_note: str
    hits: tuple[Hit, ...]
    stages: tuple[Stage, ...]
    evidence: Evidence
    seconds: Mapping[str, float] = field(default_factory=dict)
    filters: Filters = Filters()
    hypothetical: str = ""
    loosened: tuple[str, ...] = ()

    def scores(self, chunk_id: str) -> dict[str, float]:
        """Every score that the chunk got for the first query, by the score's name."""
        return {
            stage.score_name: hit.score
            for stage in self.stages
            if stage.score_name and ":" not in stage.name
            for hit in stage.hits
            if hit.chunk.id == chunk_id
        }

    def ranks(self, chunk_id: str) -> dict[str, int]:
        """The chunk's rank in every stage that saw it, by the stage's name."""
        return {stage.name: hit.rank for stage in self.stages for hit in stage.hits if hit.chunk.id == chunk_id}


# ------------------------------------------------------------------------------------------------------------ answering


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk on its way into the prompt.

    Attributes:
        number: The ``n`` of ``[n]``, from 1; 0 when it is not in the prompt.
        tokens: What it costs in the prompt, in the chat model's tokens (see ``Window.exact``).
        reason: Why it is not in the prompt by itself; empty when it is.
        joined: The neighbouring chunks of one section that this passage was put together from, in order; empty for one
            chunk alone. The hit's chunk then holds the whole.
        over: Tokens that were lacking in the window for it; 0 where room was not the reason.
    """

    number: int
    hit: Hit
    tokens: int
    reason: str = ""
    joined: tuple[Chunk, ...] = ()
    over: int = 0

    @property
    def in_prompt(self) -> bool:
        """Whether the model got to read it."""
        return self.number > 0


@dataclass(frozen=True, slots=True)
class Window:
    """The chat model's context window and what fills it, in tokens.

    ``exact`` is False when the provider offers no tokenizer and the counts are a cautious estimate; ``read`` is the
    prompt length that the model itself reported, None before or without an answer. ``forgotten`` counts the turns of
    the conversation that were left out for want of room.
    """

    total: int
    system: int
    history: int
    passages: int
    question: int
    answer_room: int
    exact: bool
    read: int | None = None
    forgotten: int = 0

    @property
    def used(self) -> int:
        """Tokens of the prompt by our own count."""
        return self.system + self.history + self.passages + self.question


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it was sent to the model; ``tokens`` counts its content, 0 where it was not counted."""

    role: str
    content: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given: messages, the passages in and out of it, and how full the window is."""

    messages: tuple[Message, ...]
    passages: tuple[Passage, ...]
    window: Window


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of the answer bound to the place it comes from.

    Attributes:
        number: The ``n`` shown as ``[n]``.
        chunk: The passage.
        span: The cited sentence or sentences, in the source document's characters (inside ``chunk.span``).
        answer_span: The sentence in ``Answer.text`` that this supports.
        by: ``model`` when the model put the number there, ``footnote`` when we bound the sentence by its words.
        overlap: Share of the sentence's informative words that the passage holds, 0 to 1.
        missing: Numbers, dates, names and quoted words in the sentence that the passage lacks.
    """

    number: int
    chunk: Chunk
    span: Span
    answer_span: Span
    by: Literal["model", "footnote"]
    overlap: float
    missing: tuple[str, ...] = ()

    @property
    def page(self) -> int | None:
        """The page that the cited words begin on."""
        return self.chunk.page_at(self.span.start)


FactKind = Literal["number", "unit", "date", "name", "quote"]
"""What in a sentence can be compared with a passage; ``unit``: the number is there, but it counts something else."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Something in the answer that what it cites lacks.

    Attributes:
        span: Where it is in ``Answer.text``.
        kind: What it is.
    """

    span: Span
    kind: FactKind


Outcome = Literal["answered", "not_in_notes", "search_only", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer.

    Attributes:
        text: What is shown, with ``[n]`` marks; for ``not_in_notes`` and ``search_only`` a sentence that says so.
        outcome: How it ended.
        citations: In the order of the answer.
        unknown_numbers: ``[n]`` of the model that belong to no passage: flagged, never dropped.
        unsupported: Sentences that no passage supports, as spans of ``text``.
        warnings: Sentences that the person must see ("The model read 812 of 2,310 tokens").
        flags: What none of the passages cited for its sentence holds, or for a sentence without a citation, none of the
            passages that the model read; in order, without overlaps.
    """

    text: str
    outcome: Outcome
    citations: tuple[Citation, ...] = ()
    unknown_numbers: tuple[int, ...] = ()
    unsupported: tuple[Span, ...] = ()
    warnings: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Generation:
    """What came from the model, and what its server told of the work.

    Attributes:
        text: As the model wrote it, before its citations were checked.
        thinking: What it thought first, where its server hands that out.
        tokens: Tokens that it wrote, its thinking included; None where its server does not tell.
        ended: Why it ended: ``stop``, ``length`` for one that was cut; empty where that is not known.
        loading: Seconds until the model was in memory; 0 where it was, or where its server does not tell.
    """

    text: str
    thinking: str = ""
    tokens: int | None = None
    ended: str = ""
    loading: float = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """All there is to know about one answer: what diagnostics draws and what the conversation keeps.

    Attributes:
        seconds: By step, in their order: ``loading`` of a model inside this process, ``condense``, ``search``,
            ``prompt``, ``first token``, ``generation``, ``citations``.
        generation: What came from the model; None where it was not asked.
        settings: What else decided the answer, by the setting's name: temperature, seed, candidates, passages.
    """

    id: str
    asked_at: float
    retrieval: Retrieval
    prompt: Prompt | None
    model: ChatModelIdentity | None
    embedder: EmbedderIdentity
    answer: Answer
    seconds: Mapping[str, float] = field(default_factory=dict)
    generation: Generation | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RetrievalDone:
    """First event of an answer: what was found, and the prompt that will be sent (None when Footnote only searches)."""

    retrieval: Retrieval
    prompt: Prompt | None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """Last event of an answer; its text replaces what was streamed, since citations may have been added."""

    trace: Trace


AnswerEvent = RetrievalDone | TextDelta | AnswerDone


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """A conversation at a glance."""

    id: int
    title: str
    turns: int
    updated_at: float


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what came of it, as a conversation keeps it."""

    id: int
    question: str
    trace: Trace


# ----------------------------------------------------------------------------------------------------------- inspection


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One line of ``doctor``: what was looked at, how it is, what was seen and what to do (empty when nothing).

    ``topic`` says what it is about, where told: ``system``, ``card``, ``sharing``, ``search``, ``chat``, ``library``,
    ``privacy``.
    """

    name: str
    state: Literal["ok", "warning", "error", "off"]
    detail: str
    action: str = ""
    topic: str = ""
