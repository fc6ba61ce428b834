"""The one place that picks implementations and wires them; the page and the command line speak to it alone."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from rag.answering.chain import Answering, AnswerRun
from rag.answering.citations import without_marks
from rag.answering.export import to_markdown
from rag.answering.untrusted import instructions_in
from rag.errors import LibraryCorrupt, LibraryError, ModelError, ModelMissing, RagError, SourceError
from rag.index.check import check, repair
from rag.index.chunking.chunks import ChunkProfile
from rag.index.instep import InStep
from rag.index.jobs import SyncJob
from rag.index.library import Library, Shelf, is_stale
from rag.index.plan import is_there, make_plan, plan_again
from rag.index.redaction import libraries_of, redacted, sources_of
from rag.index.sync import apply_plan, forget_file
from rag.inspection.audit import audited
from rag.inspection.bundle import decided
from rag.inspection.contradiction import opposed_by
from rag.inspection.inspector import Inspector
from rag.inspection.scratch import sweep
from rag.inspection.sharing import Sharing
from rag.models import choice
from rag.models.base import ChatModel, Embedder
from rag.models.picked import PickedModels
from rag.retrieval.multivector import is_affordable
from rag.retrieval.retriever import Retriever
from rag.settings import Choices, Settings
from rag.sources import ocr
from rag.sources.fetching import FetchJob
from rag.sources.patterns import Patterns
from rag.sources.scan import folder_of
from rag.sources.workers import ReaderPool, usual_readers
from rag.types import (
    DEFAULT_SEARCH,
    AnswerDone,
    AnswerEvent,
    Change,
    Chunk,
    ConversationInfo,
    Exchange,
    FetchStatus,
    FileRecord,
    FileReport,
    FileXray,
    FolderState,
    Freshness,
    HealthCheck,
    JobStatus,
    LibraryInfo,
    LibrarySettings,
    ModelChoice,
    PullProgress,
    ReadOptions,
    Retrieval,
    SearchOptions,
    Span,
    Status,
    SyncEvent,
    SyncPlan,
    SyncReport,
    Trace,
    Turn,
)

SAMPLES = "Sample notes"
"""The library that is there at the first start."""

_SAMPLE_FOLDER = Path(__file__).parent.parent / "assets" / "sample_notes"
_PAGE_ZOOM = 2.0
_CLOSING_SECONDS = 10.0


class Engine:
    """Footnote without a face.

    Every method raises :class:`~rag.errors.RagError` for what a person can mend. Opening an engine loads no model;
    models and stores are opened when they are first needed, and once.

    Args:
        settings: The settings.

    Raises:
        LibraryLocked: Another process has the libraries open.
        LibraryError: The libraries' folder cannot be written to.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._shelf = Shelf(settings.home, settings.chroma_url)
        sweep(settings.home)
        self._choices = Choices(settings.home / "choices.json")
        self._models = PickedModels(settings, self._choices)
        self._sharing = Sharing(settings, self._choices, self._models)
        self._readers = ReaderPool(
            settings.read_workers or usual_readers(), settings.read_timeout, settings.read_memory_mb * 2**20
        )
        self._jobs: dict[str, SyncJob] = {}
        self._fetches: dict[str, FetchJob] = {}
        self._passwords: tuple[str, ...] = ()
        self._steps = InStep(self._compare, self.resume_sync)
        self._watching = False
        self._last: dict[str, Trace] = {}
        if not self._shelf.names():
            self._shelf.create(SAMPLES)

    def close(self) -> None:
        """Stops running jobs after their current slice, and frees models, workers and stores."""
        self._steps.close()
        for fetch in self._fetches.values():
            fetch.stop()
        for job in self._jobs.values():
            job.stop()
        self._readers.close()  # a job that waits for a slow file ends with it
        for job in self._jobs.values():
            job.join(_CLOSING_SECONDS)
        for fetch in self._fetches.values():
            fetch.join(_CLOSING_SECONDS)
        self._models.close()
        self._shelf.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # ---------------------------------------------------------------------------------------------------- libraries

    def libraries(self) -> tuple[LibraryInfo, ...]:
        """All libraries; one that cannot be opened says why in ``error``."""
        found = []
        for name in self._shelf.names():
            try:
                found.append(self._shelf.library(name).info())
            except RagError as error:
                found.append(LibraryInfo(name, (), 0, 0, "", str(error)))
        return tuple(found)

    def default_library(self) -> str:
        """The library that was used last, else the first."""
        names = self._shelf.names()
        chosen = self._choices.get("library")
        return chosen if chosen in names else (names[0] if names else self.create_library(SAMPLES).name)

    def use_library(self, name: str) -> None:
        """Remembers a library as the one to begin with."""
        self._choices.set("library", self._shelf.library(name).name)

    def create_library(self, name: str) -> LibraryInfo:
        """Makes an empty library."""
        return self._shelf.create(name).info()

    def rename_library(self, name: str, new_name: str) -> LibraryInfo:
        """Gives a library another name.

        Raises:
            LibraryError: The name is taken, or a sync of the library is running.
        """
        self._let_go(name)
        renamed = self._shelf.rename(name, new_name)
        if self._watching:
            self._watch(renamed)
        if self._choices.get("library") == name:
            self._choices.set("library", renamed.name)
        return renamed.info()

    def library_settings(self, name: str) -> LibrarySettings:
        """What a library has of its own."""
        return self._shelf.library(name).catalog.settings()

    def set_library_settings(self, name: str, settings: LibrarySettings) -> None:
        """Changes what a library has of its own; the next sync reads again what that touches.

        Raises:
            SourceError: A pattern is not valid.
        """
        library = self._shelf.library(name)
        for patterns in (settings.include, settings.exclude):
            Patterns(patterns, "the library's settings")
        library.catalog.set_settings(settings)
        self._steps.forget(name)
        if self._watching:
            self._watch(library)

    def start_watching(self) -> None:
        """From now on, keeps the libraries in step whose settings say so; a command that ends at once does not."""
        self._watching = True
        for name in self._shelf.names():
            with suppress(RagError):  # one that cannot be opened says so where it is shown
                self._watch(self._shelf.library(name))

    def folder_state(self, library: str) -> FolderState:
        """Whether a library is in step with its folders; the look itself is made in the background."""
        return self._steps.state(library, look=not self._job(self._shelf.library(library)).running)

    def delete_library(self, name: str) -> None:
        """Deletes a library with its index, its conversations and the files that were dropped into it.

        The folders that it was made from are not touched.

        Raises:
            LibraryError: A sync of it is running.
        """
        self._let_go(name)
        self._shelf.delete(name)

    def sample_folder(self) -> Path:
        """Footnote's own sample notes."""
        return _SAMPLE_FOLDER

    def sample_questions(self) -> Path:
        """Questions on the sample notes, with what answers them."""
        return _SAMPLE_FOLDER.parent / "sample_questions.jsonl"

    def dropped_folder(self, name: str) -> Path:
        """Where files that were dropped on the page are kept for a library; it may not exist yet."""
        return self._shelf.folder(name) / "dropped"

    # -------------------------------------------------------------------------------------------------------- files

    def folder(self, typed: Path) -> Path:
        """The folder that a person typed, absolute and with ``~`` expanded.

        Raises:
            SourceError: There is no such folder.
        """
        return folder_of(typed)

    def files(self, library: str) -> tuple[FileRecord, ...]:
        """A library's files with their state."""
        return self._shelf.library(library).catalog.files()

    def plan(
        self,
        library: str,
        folder: Path,
        *,
        verify: bool = False,
        allow_empty: bool = False,
        settings: LibrarySettings | None = None,
    ) -> SyncPlan:
        """What a sync of a folder would do; changes nothing.

        Args:
            library: The library.
            folder: The folder.
            verify: Compares every file's content, not only size, time and inode, and tries failed files again.
            allow_empty: Plans to forget a folder's files although it is missing or empty now.
            settings: The library's settings to plan for; None: those that it has.

        Raises:
            SourceError: The folder cannot be read, or is empty and that is not allowed.
        """
        return self._plan(self._shelf.library(library), folder, verify, allow_empty, settings)

    def sync(
        self, library: str, folder: Path, *, verify: bool = False, allow_empty: bool = False
    ) -> Iterator[SyncEvent]:
        """Brings a library in step with a folder, in this thread. The last event carries the report."""
        opened = self._shelf.library(library)
        root = _root(folder, allow_empty)
        yield from self._job(opened).run(
            str(root), lambda stop: self._sync_all(opened, [root], stop, verify, allow_empty)
        )

    def start_sync(self, library: str, folder: Path, *, verify: bool = False, allow_empty: bool = False) -> None:
        """Does the same in the background.

        Raises:
            SourceError: The folder cannot be read.
            LibraryError: A sync of this library is running.
            EmbedderMismatch: The embedder in use did not build the library.
        """
        opened = self._shelf.library(library)
        root = _root(folder, allow_empty)
        self._embedder(opened)
        self._job(opened).start(str(root), lambda stop: self._sync_all(opened, [root], stop, verify, allow_empty))

    def start_rebuild(self, library: str) -> None:
        """Empties a library and indexes its folders anew, with the embedder and chunk sizes now chosen."""
        opened = self._shelf.library(library)
        roots = [folder_of(Path(root)) for root in opened.catalog.roots()]
        if not roots:
            raise LibraryError(f"“{library}” is empty.", "Index a folder instead.")
        self._models.default_embedder()
        for root in roots:
            self._plan(opened, root)  # an empty or unreadable folder is told before anything is emptied

        def rebuild(stop: threading.Event) -> Iterator[SyncEvent]:
            opened.catalog.clear()
            opened.vectors.clear()
            yield from self._sync_all(opened, roots, stop)

        self._job(opened).start(str(roots[0]), rebuild)

    def resume_sync(self, library: str) -> None:
        """Brings the library in step with all its folders in the background, as after a stop or an interruption.

        A folder that cannot be read is named in the report; the others are synced all the same.

        Raises:
            LibraryError: A sync of this library is running, or it has no folder yet.
        """
        opened = self._shelf.library(library)
        roots = [Path(root) for root in opened.catalog.roots()]
        if not roots:
            raise LibraryError(f"“{library}” has no folder yet.", "Index a folder first.")
        self._embedder(opened)
        self._job(opened).start(str(roots[0]), lambda stop: self._sync_all(opened, roots, stop))

    def stop_sync(self, library: str) -> None:
        """Asks the running sync to end; what is stored stays."""
        self._job(self._shelf.library(library)).stop()

    def job(self, library: str) -> JobStatus:
        """The library's running or last sync."""
        return self._job(self._shelf.library(library)).status()

    def remove_file(self, library: str, file_id: int) -> None:
        """Takes a file out of the library; the file itself is not touched.

        Raises:
            LibraryError: A sync of this library is running, or it has no such file.
        """
        opened = self._shelf.library(library)
        with self._job(opened).hold():
            forget_file(opened, file_id)
        self._forget_texts()

    def reread_file(self, library: str, file_id: int, options: ReadOptions | None = None) -> FileReport:
        """Reads one file again, whether it has changed or not.

        Args:
            library: The library.
            file_id: The file.
            options: How it is to be read from now on; its passwords are kept in memory only. None: as before.

        Raises:
            LibraryError: A sync of this library is running, it has no such file, or the file is a copy of another.
            SourceError: The file is gone.
        """
        opened = self._shelf.library(library)
        report: FileReport | None = None
        with self._job(opened).hold():
            if options is not None:
                for password in options.passwords:
                    self.give_password(password)
                opened.catalog.set_options(file_id, replace(options, passwords=()))
            plan, embedder = plan_again(opened, file_id), self._embedder(opened)
            profile = self._profile(opened.catalog.settings())
            for event in apply_plan(opened, plan, embedder, self._readers, profile, None, self._passwords):
                report = event.report or report
        if report is None:
            raise LibraryError("The file was not read.", "Reload the page to see what the library holds.")
        return report

    def xray(self, library: str, file_id: int) -> FileXray:
        """Everything that was taken from a file.

        Raises:
            LibraryError: The library has no such file.
        """
        return self._shelf.library(library).xray(file_id)

    def give_password(self, password: str) -> None:
        """Remembers a password for encrypted files, in memory and until Footnote ends."""
        if password and password not in self._passwords:
            self._passwords = (password, *self._passwords)

    def ocr_engine(self) -> str:
        """The engine that recognises text on images, by name; empty where none is installed."""
        return ocr.available()

    # ------------------------------------------------------------------------------------------------------- papers

    def papers_folder(self, name: str) -> Path:
        """Where papers that were fetched for a library are kept; it may not exist yet."""
        return self._shelf.folder(name) / "papers"

    def fetch(self, library: str, wanted: str, limit: int) -> Iterator[FetchStatus]:
        """Fetches papers from arXiv into the library's own folder, in this thread; a sync then indexes them.

        Args:
            library: The library.
            wanted: Ids, addresses or words to search for.
            limit: Papers of a search at most.

        Raises:
            SourceError: arXiv cannot be reached, or finds nothing.
            LibraryError: A fetch for this library is running.
        """
        yield from self._fetch(self._shelf.library(library)).run(wanted, limit)

    def start_fetch(self, library: str, wanted: str, limit: int) -> None:
        """Fetches papers in the background, then brings the library in step with them."""
        opened = self._shelf.library(library)

        def index() -> None:
            self.start_sync(library, self.papers_folder(library))

        self._fetch(opened).start(wanted, limit, index)

    def fetch_status(self, library: str) -> FetchStatus:
        """How far the library's fetch is, or how the last one since Footnote's start ended."""
        return self._fetch(self._shelf.library(library)).status()

    def stop_fetch(self, library: str) -> None:
        """Asks the running fetch to end; papers that are whole stay."""
        self._fetch(self._shelf.library(library)).stop()

    # ------------------------------------------------------------------------------------------------------- asking

    def ask(
        self,
        library: str,
        question: str,
        *,
        conversation: int | None = None,
        before: int | None = None,
        notes: int | None = None,
        also: Sequence[str] = (),
        options: SearchOptions = DEFAULT_SEARCH,
    ) -> Generator[AnswerEvent, None, None]:
        """Answers a question.

        Args:
            library: The library to ask.
            question: The question.
            also: Other libraries to search with it, built with the same embedder.
            conversation: Its earlier exchanges are the history, and this one is kept there; None: kept nowhere.
            before: The number, from 0, of the conversation's exchange before which the history ends, where that one is
                asked again; None: all of it is the history.
            notes: Passages for the model; None: by the settings, else by the evidence and the model's size.
            options: What the person decided for this question.

        Yields:
            RetrievalDone, TextDelta for every piece of text, then AnswerDone. Closing the iterator stops the model;
            what was said so far is kept with outcome ``stopped``.
        """
        opened = self._shelf.library(library)
        exchanges = opened.catalog.exchanges(conversation) if conversation is not None else ()
        with self._models.using_chat() as chat, self._sharing.answering():
            wanted = notes or self.settings.notes or None
            retriever = self._retriever(library, *also, chat=chat, options=options)
            record = decided(self.settings, options, wanted)
            answering = Answering(retriever, chat, wanted, self.settings.answer_tokens, options, record)
            run = AnswerRun(answering, question.strip(), _turns(exchanges[:before]))
            events = run.events()
            try:
                for event in events:
                    if isinstance(event, AnswerDone):
                        self._keep(opened, conversation, event.trace)
                    yield event
            except GeneratorExit:
                events.close()  # hangs up on the model before anything else
                trace = run.stopped()
                if trace is not None:
                    self._keep(opened, conversation, trace)
                raise

    def search(
        self, library: str, query: str, also: Sequence[str] = (), options: SearchOptions = DEFAULT_SEARCH
    ) -> Retrieval:
        """Searches without answering.

        Raises:
            FilterError: A filter cannot be read.
        """
        with self._models.using_chat() as chat:
            retriever = self._retriever(library, *also, chat=chat, options=options)
            return retriever.search(query.strip(), options=options)

    def reranker(self) -> tuple[bool, str]:
        """Whether there is a cross-encoder on this machine to sort what was found, and which, or why not."""
        try:
            reranker, why = self._models.reranker()
        except ModelError as error:
            return False, str(error)
        return reranker is not None, why

    def chunk(self, library: str, chunk_id: str) -> Chunk | None:
        """A chunk by its id; None when neither the library nor another one has it any more."""
        held = self._holder(library, chunk_id)
        return held[1] if held else None

    def freshness(self, library: str, chunks: Iterable[Chunk]) -> dict[str, Freshness]:
        """What became of passages since they were indexed, by chunk id; those that are as they were are left out.

        ``changed``: the file has changed on disk; ``gone``: it is not there any more, or not in the library; ``old``:
        the file was indexed anew, and this passage is from before.
        """
        found: dict[str, Freshness] = {}
        for chunk in chunks:
            held = self._holder(chunk.library or library, chunk.id)
            if held is None and chunk.library not in ("", *self._shelf.names()):
                found[chunk.id] = "gone"  # with the library that held it
                continue
            holder = held[0] if held else self._shelf.library(chunk.library or library)
            record = holder.catalog.file(chunk.file_id)
            # The number of a file that was removed is not given again, but one that was renamed keeps it.
            if record is None or not is_there(record.absolute):
                found[chunk.id] = "gone"
            elif is_stale(record):
                found[chunk.id] = "changed"
            elif held is None:
                found[chunk.id] = "old"
        return found

    def page_image(self, library: str, chunk_id: str, spans: Sequence[Span] = ()) -> bytes:
        """A PDF page as PNG: the one of the first given part of a chunk, highlighted, else the one it begins on.

        Raises:
            LibraryError: The chunk is gone, or its file has no pages.
            SourceError: The file is gone or cannot be drawn.
        """
        held = self._holder(library, chunk_id)
        record = held[0].catalog.file(held[1].file_id) if held else None
        if held is None or record is None:
            raise LibraryError("That passage is not in the library any more.", "Ask again to see the present one.")
        chunk = held[1]
        if chunk.page is None:
            raise LibraryError(f"{chunk.path} has no pages.", "The passage's text is all there is to show.")
        begins_on = chunk.page
        if spans and not chunk.span.start <= spans[0].start < chunk.span.end:
            # The passage was put together with its neighbours, under the first one's id.
            others = held[0].catalog.chunks_of(chunk.file_id)
            chunk = next((one for one in others if one.span.start <= spans[0].start < one.span.end), chunk)
        texts = [
            chunk.text[max(0, span.start - chunk.span.start) : max(0, span.end - chunk.span.start)] for span in spans
        ]
        texts = [text for text in texts if text.strip()]
        page = chunk.page_at(spans[0].start) if spans else chunk.page
        return self._readers.page_image(
            record.absolute, page or begins_on, texts or [chunk.text], _PAGE_ZOOM, self._passwords
        )

    def file_page_image(self, library: str, file_id: int, page: int) -> bytes:
        """A page of a PDF as PNG, whether anything was read from it or not.

        Raises:
            LibraryError: The library has no such file.
            SourceError: The file is gone, has no such page or cannot be drawn.
        """
        record = self._shelf.library(library).record(file_id)
        return self._readers.page_image(record.absolute, page, (), _PAGE_ZOOM, self._passwords)

    # ------------------------------------------------------------------------------------------------ conversations

    def conversations(self, library: str) -> tuple[ConversationInfo, ...]:
        """A library's conversations, the latest first."""
        return self._shelf.library(library).catalog.conversations()

    def new_conversation(self, library: str) -> int:
        """Begins a conversation; it is named after its first question."""
        return self._shelf.library(library).catalog.new_conversation()

    def exchanges(self, library: str, conversation: int) -> tuple[Exchange, ...]:
        """What was said in a conversation."""
        return self._shelf.library(library).catalog.exchanges(conversation)

    def rename_conversation(self, library: str, conversation: int, title: str) -> None:
        """Gives a conversation another title."""
        title = " ".join(title.split())
        if not title:
            raise LibraryError("A conversation needs a title.", "Type one.")
        self._shelf.library(library).catalog.rename_conversation(conversation, title)

    def delete_conversation(self, library: str, conversation: int) -> None:
        """Deletes a conversation and everything that was said in it."""
        self._shelf.library(library).catalog.delete_conversation(conversation)
        self._last.pop(library, None)

    def export_conversation(self, library: str, conversation: int) -> str:
        """A conversation as Markdown with its sources."""
        catalog = self._shelf.library(library).catalog
        title = next((info.title for info in catalog.conversations() if info.id == conversation), "Conversation")
        return to_markdown(title, catalog.exchanges(conversation))

    def last_trace(self, library: str) -> Trace | None:
        """The record of the latest question."""
        if library not in self._last:
            exchange = self._shelf.library(library).catalog.last_exchange()
            return exchange.trace if exchange else None
        return self._last[library]

    # ------------------------------------------------------------------------------------------------------- models

    def status(self, library: str | None = None) -> Status:
        """What is running; with a library, its own embedder is told."""
        warnings = list(choice.device_warnings())
        chat: ChatModel | None = None
        embedder: Embedder | None = None
        try:
            chat, chat_reason = self._models.chat()
            warnings += choice.fallback_warnings(self.settings)
        except RagError as error:
            chat_reason = str(error)
            warnings.append(chat_reason)
        try:
            built_with = self._shelf.library(library).catalog.embedder() if library is not None else None
            if library is not None and built_with is not None:
                embedder, embedder_reason = (
                    self._embedder(self._shelf.library(library)),
                    "This library was built with it.",
                )
            else:
                embedder, embedder_reason = self._models.default_embedder()
        except RagError as error:
            embedder_reason = str(error)
            warnings.append(embedder_reason)
        return Status(
            chat=chat.identity if chat else None,
            chat_reason=chat_reason,
            embedder=embedder.identity if embedder else None,
            embedder_reason=embedder_reason,
            device=embedder.device if embedder else "",
            warnings=tuple(warnings),
        )

    def models(self) -> tuple[ModelChoice, ...]:
        """What can be chosen or fetched."""
        return choice.list_models(self.settings)

    def use_model(self, model_id: str) -> None:
        """Chooses a chat model or the embedder for new libraries, and remembers it.

        Raises:
            SettingsError: A setting in the environment decides already.
            ModelError: It cannot be had.
        """
        self._models.use(model_id)

    def pull_model(self, model_id: str) -> Iterator[PullProgress]:
        """Fetches a model; closing the iterator stops, and a later call resumes."""
        yield from choice.pull(self.settings, model_id)
        self.look_again()

    def look_again(self) -> None:
        """Lets the models be picked anew, as after a download."""
        self._models.look_again()

    # --------------------------------------------------------------------------------------------------- inspection

    @property
    def inspector(self) -> Inspector:
        """What looks into answers, libraries and this machine."""
        return Inspector(
            settings=self.settings,
            models=self._models,
            library=self._shelf.library,
            embedder=self._embedder,
            retriever=self._retriever,
            last_trace=self.last_trace,
            sharing=self._sharing,
            folders=self.folder_state,
            readers=self._readers,
            profile=lambda library: self._profile(library.catalog.settings()),
            passwords=self._passwords,
        )

    def health(self, library: str | None = None) -> tuple[HealthCheck, ...]:
        """What ``doctor`` sees of this machine and, with a library, of that library."""
        opened: Library | None = None
        problem: RagError | None = None
        if library is not None:
            try:
                opened = self._shelf.library(library)
            except LibraryCorrupt as error:
                problem = error
        return self.inspector.health(self.status(), opened, problem)

    def check(self, library: str) -> tuple[HealthCheck, ...]:
        """Whether the library's catalog, keyword index and vectors agree, and its vectors are the embedder's."""
        opened = self._shelf.library(library)
        with self._job(opened).hold():
            return check(opened, self._embedder(opened) if opened.catalog.embedder() else None)

    def repair(self, library: str) -> Iterator[SyncEvent]:
        """Mends what :meth:`check` finds, from the catalog; no file is read again.

        Raises:
            LibraryError: A sync of this library is running.
        """
        opened = self._shelf.library(library)
        yield from self._job(opened).run(str(opened.folder), lambda stop: repair(opened, self._embedder(opened), stop))

    # -------------------------------------------------------------------------------------------------------- wiring

    def _profile(self, settings: LibrarySettings) -> ChunkProfile:
        limit = settings.chunk_tokens or self.settings.chunk_tokens
        overlap = self.settings.chunk_overlap if settings.chunk_overlap is None else settings.chunk_overlap
        minimum = self.settings.chunk_minimum if settings.chunk_minimum is None else settings.chunk_minimum
        words = (settings.chunk_profile or self.settings.chunk_profile) == "words"
        return ChunkProfile(limit, overlap, "words" if words else "sections", minimum)

    def _job(self, library: Library) -> SyncJob:
        return self._jobs.setdefault(library.name, SyncJob(library.catalog))

    def _fetch(self, library: Library) -> FetchJob:
        return self._fetches.setdefault(library.name, FetchJob(self.papers_folder(library.name)))

    def _let_go(self, name: str) -> None:
        """Forgets what is held in memory of a library that will have another name, or none.

        Raises:
            LibraryError: A sync of it, or a fetch for it, is running.
        """
        self._steps.watch(name, ())  # first, since it may be just about to begin a sync
        try:
            if name in self._jobs:
                self._jobs[name].refuse_while_running()
            if name in self._fetches:
                self._fetches[name].refuse_while_running()
        except LibraryError:
            if self._watching:
                self._watch(self._shelf.library(name))
            raise
        self._steps.forget(name)
        self._jobs.pop(name, None)
        self._fetches.pop(name, None)
        self._forget_texts()  # other libraries' answers may quote this one

    def _forget_texts(self) -> None:
        """Lets go of what is held in memory of files that may be forgotten now."""
        self._last.clear()
        for kept in (instructions_in, audited, opposed_by):
            kept.cache_clear()

    def _watch(self, library: Library) -> None:
        catalog = library.catalog
        self._steps.watch(library.name, catalog.roots() if catalog.settings().watch else ())

    def _compare(self, name: str) -> tuple[int, tuple[str, ...]]:
        """Counts a library's files that differ from its folders, and names the folders that are missing."""
        library = self._shelf.library(name)
        changed, missing = 0, []
        for root in library.catalog.roots():
            try:
                plan = self._plan(library, Path(root))
            except SourceError:
                missing.append(root)
            else:
                # A file that is only to be read in another way has not changed.
                changed += sum(
                    planned.change is not Change.RETRY and not (planned.change is Change.CHANGED and planned.why)
                    for planned in plan.work
                )
        return changed, tuple(missing)

    def _plan(
        self,
        library: Library,
        folder: Path,
        verify: bool = False,
        allow_empty: bool = False,
        settings: LibrarySettings | None = None,
    ) -> SyncPlan:
        settings = settings or library.catalog.settings()
        return make_plan(
            library,
            folder,
            self._profile(settings),
            settings=settings,
            max_bytes=self.settings.max_file_mb * 2**20,
            passwords=self._passwords,
            verify=verify,
            retry=verify,
            allow_empty=allow_empty,
        )

    def _sync_all(
        self,
        library: Library,
        roots: Sequence[Path],
        stop: threading.Event,
        verify: bool = False,
        allow_empty: bool = False,
    ) -> Iterator[SyncEvent]:
        """Brings a library in step with folders, one after the other; of several, one may fail."""
        reports: list[SyncReport] = []
        self._steps.pause(library.name)
        try:
            for root in roots:
                embedder = self._embedder(library)
                try:
                    plan = self._plan(library, root, verify, allow_empty)
                except SourceError as error:
                    if len(roots) == 1:
                        raise
                    plan = SyncPlan(library.name, root, (), ((str(root), str(error)),))
                profile = self._profile(library.catalog.settings())
                with self._sharing.embedding(embedder, plan.seconds if plan.work else 0.0) as renew:
                    for event in apply_plan(library, plan, embedder, self._readers, profile, stop, self._passwords):
                        renew()
                        if event.report and event.report.state is None:
                            self._forget_texts()
                        reports += [event.result] if event.result else []
                        yield replace(event, result=_joined(reports) if event.result else None)
                if stop.is_set() and root != roots[-1]:
                    yield replace(event, result=replace(_joined(reports), stopped=True))
                    break
        finally:
            if self._watching:
                self._watch(library)  # it may have one more folder now
            self._steps.resume(library.name)

    def _retriever(self, *names: str, chat: ChatModel | None, options: SearchOptions) -> Retriever:
        libraries = tuple(self._shelf.library(name) for name in dict.fromkeys(names))
        filled = next((library for library in libraries if library.catalog.embedder()), libraries[0])
        embedder, kept = self._embedder(filled), libraries[0].catalog.settings()
        hyde = kept.hyde if options.hyde is None else options.hyde
        sorts = kept.rerank if options.rerank is None else options.rerank
        if options.hyde and chat is None:
            raise ModelMissing("There is no chat model to make up a passage.", "Ask without HyDE, or fetch a model.")
        if options.rerank and self._models.reranker()[0] is None:
            raise ModelMissing(self._models.reranker()[1], "Ask without the reranker, or fetch it.")
        return Retriever(
            libraries=libraries,
            embedder=embedder,
            candidates=self.settings.candidates,
            writer=chat if hyde else None,
            by_tokens=is_affordable(embedder),
            reranker=self._models.reranker()[0] if sorts else None,
            strictness=kept.evidence if kept.evidence_embedder == embedder.identity.model else 0.0,
        )

    def _holder(self, library: str, chunk_id: str) -> tuple[Library, Chunk] | None:
        """The library that holds a chunk, and the chunk; the given one is looked at first: several may be searched."""
        names = self._shelf.names()
        for name in sorted(names, key=lambda name: name != library):
            with suppress(LibraryError):  # another library that cannot be opened says so where it is shown
                holder = self._shelf.library(name)
                if chunk := holder.catalog.chunks([chunk_id]).get(chunk_id):
                    return holder, chunk
        return None

    def _embedder(self, library: Library) -> Embedder:
        """The embedder that a library is searched with: the one that built it, else the default one."""
        embedder = self._opened_embedder(library)
        self._sharing.place(embedder)
        return embedder

    def _opened_embedder(self, library: Library) -> Embedder:
        built_with = library.catalog.embedder()
        if built_with is None:
            return self._models.default_embedder()[0]
        if self.settings.embedder != "auto":
            # What is set explicitly is never overridden, so here it can only fit or fail.
            library.check_embedder(self._models.default_embedder()[0].identity)
        embedder = self._models.embedder(built_with)
        library.check_embedder(embedder.identity)
        return embedder

    def _keep(self, library: Library, conversation: int | None, trace: Trace) -> None:
        self._last[library.name] = trace
        removed = sources = sources_of(trace)
        for name in {library.name, *libraries_of(trace)}:
            with suppress(LibraryError):  # one that was deleted holds nothing
                removed = removed - self._shelf.library(name).catalog.held(sources)
        if removed:  # while the answer was made
            trace = self._last[library.name] = redacted(trace, removed)
        if conversation is not None:
            library.catalog.add_exchange(conversation, trace)


def _root(folder: Path, allow_missing: bool) -> Path:
    try:
        return folder_of(folder)
    except SourceError:
        if allow_missing:
            return folder.expanduser().absolute()
        raise


def _joined(reports: Sequence[SyncReport]) -> SyncReport:
    """One report of several folders."""
    return SyncReport(
        library=reports[0].library,
        root=", ".join(report.root for report in reports),
        files=tuple(file for report in reports for file in report.files),
        skipped=tuple(line for report in reports for line in report.skipped),
        seconds=sum(report.seconds for report in reports),
        stopped=any(report.stopped for report in reports),
    )


def _turns(exchanges: Sequence[Exchange]) -> tuple[Turn, ...]:
    """The conversation so far; answers without their citation marks, which count passages of their own question."""
    turns: list[Turn] = []
    for exchange in exchanges:
        answer = exchange.trace.answer
        if answer.outcome in ("answered", "not_in_notes"):
            turns += [Turn("user", exchange.trace.retrieval.queries[-1]), Turn("assistant", without_marks(answer.text))]
    return tuple(turns)
