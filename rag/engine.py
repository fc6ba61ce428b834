"""The one place that picks implementations and wires them; the page and the command line speak to it alone."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from rag.answering.chain import Answering, AnswerRun
from rag.answering.citations import without_marks
from rag.answering.export import to_markdown
from rag.errors import LibraryCorrupt, LibraryError, RagError
from rag.index.chunking import ChunkProfile
from rag.index.jobs import SyncJob
from rag.index.library import Library, Shelf
from rag.index.plan import make_plan, plan_again
from rag.index.sync import apply_plan, forget_file
from rag.inspection.doctor import examine
from rag.models import choice
from rag.models.base import ChatModel, Embedder
from rag.models.picked import PickedModels
from rag.retrieval.retriever import Retriever
from rag.settings import Choices, Settings
from rag.sources.scan import folder_of
from rag.sources.workers import ReaderPool
from rag.types import (
    AnswerDone,
    AnswerEvent,
    Chunk,
    ConversationInfo,
    Exchange,
    FileRecord,
    FileReport,
    HealthCheck,
    JobStatus,
    LibraryInfo,
    ModelChoice,
    PullProgress,
    Retrieval,
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
        self._choices = Choices(settings.home / "choices.json")
        self._models = PickedModels(settings, self._choices)
        self._readers = ReaderPool(settings.read_workers, settings.read_timeout, settings.read_memory_mb * 2**20)
        self._jobs: dict[str, SyncJob] = {}
        self._last: dict[str, Trace] = {}
        if not self._shelf.names():
            self._shelf.create(SAMPLES)

    def close(self) -> None:
        """Stops running jobs after their current slice, and frees models, workers and stores."""
        for job in self._jobs.values():
            job.stop()
        self._readers.close()  # a job that waits for a slow file ends with it
        for job in self._jobs.values():
            job.join(_CLOSING_SECONDS)
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

    def delete_library(self, name: str) -> None:
        """Deletes a library with its index, its conversations and the files that were dropped into it.

        The folders that it was made from are not touched.

        Raises:
            LibraryError: A sync of it is running.
        """
        if name in self._jobs:
            self._jobs[name].refuse_while_running()
        self._jobs.pop(name, None)
        self._last.pop(name, None)
        self._shelf.delete(name)

    def sample_folder(self) -> Path:
        """Footnote's own sample notes."""
        return _SAMPLE_FOLDER

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

    def plan(self, library: str, folder: Path) -> SyncPlan:
        """What a sync of a folder would do; changes nothing."""
        return make_plan(self._shelf.library(library), folder, self._profile())

    def sync(self, library: str, folder: Path) -> Iterator[SyncEvent]:
        """Brings a library in step with a folder, in this thread. The last event carries the report."""
        opened = self._shelf.library(library)
        root = folder_of(folder)
        yield from self._job(opened).run(str(root), lambda stop: self._sync(opened, root, stop))

    def start_sync(self, library: str, folder: Path) -> None:
        """Does the same in the background.

        Raises:
            SourceError: The folder cannot be read.
            LibraryError: A sync of this library is running.
            EmbedderMismatch: The embedder in use did not build the library.
        """
        opened = self._shelf.library(library)
        root = folder_of(folder)
        self._embedder(opened)
        self._job(opened).start(str(root), lambda stop: self._sync(opened, root, stop))

    def start_rebuild(self, library: str) -> None:
        """Empties a library and indexes its folders anew, with the embedder and chunk sizes now chosen."""
        opened = self._shelf.library(library)
        roots = [folder_of(Path(root)) for root in opened.catalog.roots()]
        if not roots:
            raise LibraryError(f"“{library}” is empty.", "Index a folder instead.")
        self._models.default_embedder()

        def rebuild(stop: threading.Event) -> Iterator[SyncEvent]:
            opened.catalog.clear()
            opened.vectors.clear()
            yield from self._sync_all(opened, roots, stop)

        self._job(opened).start(str(roots[0]), rebuild)

    def resume_sync(self, library: str) -> None:
        """Brings the library in step with all its folders in the background, as after a stop or an interruption.

        Raises:
            SourceError: A folder cannot be read.
            LibraryError: A sync of this library is running, or it has no folder yet.
        """
        opened = self._shelf.library(library)
        roots = [folder_of(Path(root)) for root in opened.catalog.roots()]
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
        self._job(self._shelf.library(library)).refuse_while_running()
        forget_file(self._shelf.library(library), file_id)

    def reread_file(self, library: str, file_id: int) -> FileReport:
        """Reads one file again, whether it has changed or not.

        Raises:
            LibraryError: A sync of this library is running, or it has no such file.
        """
        opened = self._shelf.library(library)
        self._job(opened).refuse_while_running()
        plan = plan_again(opened, file_id)
        report: FileReport | None = None
        for event in apply_plan(opened, plan, self._embedder(opened), self._readers, self._profile()):
            report = event.report or report
        if report is None:
            raise LibraryError("The file was not read.", "Reload the page to see what the library holds.")
        return report

    # ------------------------------------------------------------------------------------------------------- asking

    def ask(
        self, library: str, question: str, *, conversation: int | None = None, notes: int | None = None
    ) -> Generator[AnswerEvent, None, None]:
        """Answers a question.

        Args:
            library: The library to ask.
            question: The question.
            conversation: Its earlier exchanges are the history, and this one is kept there; None: kept nowhere.
            notes: Passages for the model; None: by the settings or the model's size.

        Yields:
            RetrievalDone, TextDelta for every piece of text, then AnswerDone. Closing the iterator stops the model;
            what was said so far is kept with outcome ``stopped``.
        """
        opened = self._shelf.library(library)
        exchanges = opened.catalog.exchanges(conversation) if conversation is not None else ()
        with self._models.using_chat() as chat:
            wanted = notes or self.settings.notes or None
            answering = Answering(self._retriever(opened), chat, wanted, self.settings.answer_tokens)
            run = AnswerRun(answering, question.strip(), _turns(exchanges))
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

    def search(self, library: str, query: str) -> Retrieval:
        """Searches without answering."""
        return self._retriever(self._shelf.library(library)).search(query.strip())

    def chunk(self, library: str, chunk_id: str) -> Chunk | None:
        """A chunk by its id; None when it is not in the library any more."""
        return self._shelf.library(library).catalog.chunks([chunk_id]).get(chunk_id)

    def page_image(self, library: str, chunk_id: str, spans: Sequence[Span] = ()) -> bytes:
        """A PDF page as PNG: the one of the first given part of a chunk, highlighted, else the one it begins on.

        Raises:
            LibraryError: The chunk is gone, or its file has no pages.
            SourceError: The file is gone or cannot be drawn.
        """
        opened = self._shelf.library(library)
        chunk = self.chunk(library, chunk_id)
        record = opened.catalog.file(chunk.file_id) if chunk else None
        if chunk is None or record is None:
            raise LibraryError("That passage is not in the library any more.", "Ask again to see the present one.")
        if chunk.page is None:
            raise LibraryError(f"{chunk.path} has no pages.", "The passage's text is all there is to show.")
        texts = [chunk.text[span.start - chunk.span.start : span.end - chunk.span.start] for span in spans]
        page = chunk.page_at(spans[0].start) if spans else chunk.page
        return self._readers.page_image(record.absolute, page or chunk.page, texts or [chunk.text], _PAGE_ZOOM)

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

    def health(self, library: str | None = None) -> tuple[HealthCheck, ...]:
        """What ``doctor`` sees of this machine and, with a library, of that library."""
        opened: Library | None = None
        problem: RagError | None = None
        if library is not None:
            try:
                opened = self._shelf.library(library)
            except LibraryCorrupt as error:
                problem = error
        return examine(self.settings, self.status(), opened, problem)

    # -------------------------------------------------------------------------------------------------------- wiring

    def _profile(self) -> ChunkProfile:
        return ChunkProfile(self.settings.chunk_tokens, self.settings.chunk_overlap)

    def _job(self, library: Library) -> SyncJob:
        return self._jobs.setdefault(library.name, SyncJob(library.catalog))

    def _sync(self, library: Library, folder: Path, stop: threading.Event) -> Iterator[SyncEvent]:
        embedder = self._embedder(library)
        plan = make_plan(library, folder, self._profile())
        yield from apply_plan(library, plan, embedder, self._readers, self._profile(), stop)

    def _sync_all(self, library: Library, roots: Sequence[Path], stop: threading.Event) -> Iterator[SyncEvent]:
        reports: list[SyncReport] = []
        for root in roots:
            for event in self._sync(library, root, stop):
                reports += [event.result] if event.result else []
                yield replace(event, result=_joined(reports) if event.result else None)

    def _retriever(self, library: Library) -> Retriever:
        return Retriever(libraries=(library,), embedder=self._embedder(library), candidates=self.settings.candidates)

    def _embedder(self, library: Library) -> Embedder:
        """The embedder that a library is searched with: the one that built it, else the default one."""
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
        if conversation is not None:
            library.catalog.add_exchange(conversation, trace)


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
            turns += [Turn("user", exchange.question), Turn("assistant", without_marks(answer.text))]
    return tuple(turns)
