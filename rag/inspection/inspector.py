"""What diagnostics asks of Footnote: each method wires one module of this room with libraries and models."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rag.answering.chain import Answering, AnswerRun
from rag.errors import ModelFailed, ModelMissing, RagError
from rag.index.chunking.chunks import ChunkProfile
from rag.index.library import Library
from rag.inspection import comparison, evaluation, experiments, explain, questions
from rag.inspection.bundle import Bundle, Replay, decided, make_bundle, replay
from rag.inspection.comparison import Comparison, Given
from rag.inspection.doctor import Findings, examine, measure_speed
from rag.inspection.evaluation import Conditions, Difference, Measure, Result, Run, Step
from rag.inspection.experiments import Bench, Sample, Variant
from rag.inspection.explain import Explanation, Wanted
from rag.inspection.ledger import Reading, Rendered, look_at_files
from rag.inspection.map import PassageMap, draw_map
from rag.inspection.questions import Question
from rag.inspection.scratch import ReadOnce
from rag.inspection.sharing import Sharing, SharingPlan
from rag.inspection.untrusted import Screening, screen
from rag.models import choice
from rag.models.base import ChatModel, Embedder
from rag.models.devices import graphics_cards, torch_state
from rag.models.picked import PickedModels
from rag.retrieval.retriever import Retriever
from rag.settings import Settings
from rag.sources.workers import ReaderPool
from rag.types import (
    DEFAULT_SEARCH,
    AnswerDone,
    Chunk,
    FolderState,
    HealthCheck,
    ModelChoice,
    Retrieval,
    SearchOptions,
    Status,
    Trace,
)


@dataclass(frozen=True, slots=True)
class Inspector:
    """Looks into answers, libraries and the machine; changes nothing but what its methods say.

    Attributes:
        settings: The settings.
        models: The models in use.
        library: Opens a library by its name.
        embedder: The embedder that a library is searched with.
        retriever: Searches libraries: names, then ``chat`` (or None) and ``options`` by keyword.
        last_trace: The record of a library's latest question.
        sharing: Keeps chat model and embedder from crowding each other off the graphics card.
        folders: Whether a library is in step with its folders.
        readers: Read files.
        profile: How a library's documents are cut.
        passwords: Tried on encrypted files.
    """

    settings: Settings
    models: PickedModels
    library: Callable[[str], Library]
    embedder: Callable[[Library], Embedder]
    retriever: Callable[..., Retriever]
    last_trace: Callable[[str], Trace | None]
    sharing: Sharing
    folders: Callable[[str], FolderState]
    readers: ReaderPool
    profile: Callable[[Library], ChunkProfile]
    passwords: tuple[str, ...]

    # ------------------------------------------------------------------------------------------- the exact prompt

    def reading(self, *libraries: str, found: Retrieval | None = None) -> Reading:
        """How the files of some libraries are read, and which of them are on disk otherwise now.

        Args:
            *libraries: Their names.
            found: What was found in them, whose files are looked at first.

        Raises:
            LibraryError: A library cannot be opened.
        """
        return look_at_files([self.library(name).catalog for name in dict.fromkeys(libraries)], found)

    def rendered(self, trace: Trace) -> Rendered:
        """The prompt of an answer as the one text that its model read; nothing is generated.

        Raises:
            ModelError: That model is not the one in use, or its server does not hand the text out.
        """
        if trace.prompt is None or trace.model is None:
            raise ModelMissing("There is no prompt: no model was asked.", "Ask a question in Chat.")
        with self.models.using_chat() as chat, self.sharing.answering():
            used = trace.model
            if chat is None or (chat.identity.provider, chat.identity.name) != (used.provider, used.name):
                raise ModelMissing(
                    f"This prompt went to {used.name}, which is not the model in use.",
                    "Choose that model again; only it knows how its prompt is put together.",
                )
            text = chat.rendered(trace.prompt.messages)
            if text is None:
                raise ModelFailed(
                    f"The server of {used.name} does not hand out the text that the model reads.",
                    "Ollama and llama-server do; the messages below are what was sent.",
                )
            (tokens,) = chat.count_tokens([text])
            return Rendered(text, tokens, chat.exact_counts)

    # ------------------------------------------------------------------------------------------------ comparisons

    def comparable(self) -> tuple[ModelChoice, ...]:
        """The chat models that the one in use can be compared with; asks the servers."""
        return self.models.others()

    def with_and_without(
        self, library: str, retrieval: Retrieval, trace: Trace | None
    ) -> Generator[Comparison, None, None]:
        """A question answered with the notes and without them; see :func:`comparison.with_and_without`.

        Args:
            library: Where it was asked.
            retrieval: What was found.
            trace: The answer that chat gave, if it did.

        Raises:
            ModelMissing: There is no chat model.
        """
        with self._asked() as chat:
            yield from comparison.with_and_without(self._given(library, retrieval, trace), chat)

    def two_models(
        self, library: str, retrieval: Retrieval, trace: Trace | None, other: str
    ) -> Generator[Comparison, None, None]:
        """A question answered by the model in use and by another one; see :func:`comparison.two_models`.

        Args:
            library: Where it was asked.
            retrieval: What was found.
            trace: The answer that chat gave, if it did.
            other: The other model, as :meth:`comparable` names it.

        Raises:
            ModelMissing: There is no chat model.
        """
        with self._asked() as chat:
            yield from comparison.two_models(self._given(library, retrieval, trace), chat, self.models.beside(other))

    @contextmanager
    def _asked(self) -> Iterator[ChatModel]:
        with self.models.using_chat() as chat, self.sharing.answering():
            if chat is None:
                raise ModelMissing("There is no chat model to ask.", "Choose one, or fetch one, in the side bar.")
            yield chat

    def _given(self, library: str, retrieval: Retrieval, trace: Trace | None) -> Given:
        # It weighs words as the library's searches do; nothing is searched.
        retriever = self.retriever(library, chat=None, options=SearchOptions(hyde=False, rerank=False))
        return Given(retriever, retrieval, trace, self.settings.notes or None, self.settings.answer_tokens)

    # ----------------------------------------------------------------------------------------- why not this chunk

    def why(self, library: str, wanted: Wanted, retrieval: Retrieval, trace: Trace | None) -> Explanation:
        """Why the model did not read what a person expected it to; see :func:`explain.explain`.

        Args:
            library: Where it was asked.
            wanted: What is missed.
            retrieval: The search.
            trace: The answer that came of it; None where nothing was asked.
        """
        retriever = self._as_it_was(library, retrieval)
        return explain.explain(wanted, retrieval, trace, retriever, self.settings.max_file_mb * 2**20)

    def _as_it_was(self, library: str, retrieval: Retrieval, chat: ChatModel | None = None) -> Retriever:
        """A retriever over the libraries of a search, with what sorted it then, where that is still there."""
        several = any(hit.chunk.library for hit in retrieval.hits)
        names = retrieval.library.split(", ") if several else [library]
        sorts = any(stage.name == "rerank" for stage in retrieval.stages) and self.models.reranker()[0] is not None
        writes = bool(retrieval.hypothetical) and chat is not None
        return self.retriever(*names, chat=chat, options=SearchOptions(hyde=writes, rerank=sorts))

    # --------------------------------------------------------------------------------------------- replay bundles

    def bundle(self, library: str, trace: Trace) -> Bundle:
        """An answer with all that made it, to be kept as a file."""
        return make_bundle(trace, self._as_it_was(library, trace.retrieval).libraries)

    def replay(self, library: str, again: Bundle) -> Generator[Replay, None, None]:
        """Asks a bundle's question once more, of the library as it is now; see :func:`bundle.replay`.

        Args:
            library: The library to ask, where the bundle's own searched only one.
            again: The bundle.
        """
        with self.models.using_chat() as chat, self.sharing.answering():
            retriever = self._as_it_was(library, again.trace.retrieval, chat)
            notes = self.settings.notes or None
            settings = decided(self.settings, DEFAULT_SEARCH, notes)
            yield from replay(again, Answering(retriever, chat, notes, self.settings.answer_tokens, settings=settings))

    # ------------------------------------------------------------------------------- question sets and evaluation

    def questions(self, library: str) -> tuple[Question, ...]:
        """A library's own questions."""
        return questions.load(self.library(library).folder)

    def add_questions(self, library: str, more: Iterable[Question]) -> tuple[Question, ...]:
        """Adds questions; one that is asked in the same words is replaced."""
        return questions.change(self.library(library).folder, lambda known: questions.added(known, more))

    def import_questions(self, library: str, file: Path) -> tuple[Question, ...]:
        """Adds the questions of a file of JSON lines.

        Raises:
            QuestionsError: The file cannot be read.
        """
        return self.add_questions(library, questions.read_file(file))

    def export_questions(self, library: str, file: Path) -> None:
        """Writes a library's own questions to a file of JSON lines.

        Raises:
            QuestionsError: The file cannot be written.
        """
        questions.write_file(file, self.questions(library))

    def point_at(self, library: str, text: str, chunk: Chunk | None) -> tuple[Question, ...]:
        """Keeps that a passage answers a question, or with None that the notes do not say."""

        def edit(known: tuple[Question, ...]) -> list[Question]:
            if chunk is not None:
                return questions.answered_by(known, text, chunk)
            return questions.added(known, [questions.new_question(text, answerable=False)])

        return questions.change(self.library(library).folder, edit)

    def drop_questions(self, library: str, ids: Container[str]) -> tuple[Question, ...]:
        """Takes questions out of a library's own."""
        return questions.change(self.library(library).folder, lambda known: [one for one in known if one.id not in ids])

    def missing_places(self, library: str) -> dict[str, str]:
        """By the id of a question, why one of its places cannot be found by any search: it is not in the library."""
        opened = self.library(library)
        found = {}
        for question in questions.load(opened.folder):
            why = next(filter(None, (questions.problem(opened, place) for place in question.expected)), "")
            if why:
                found[question.id] = why
        return found

    def measures(self, run: Run) -> tuple[Measure, ...]:
        """What a run says, one measure after the other."""
        return evaluation.measures(run.results)

    def differences(self, before: Run | None, run: Run) -> tuple[Difference, ...]:
        """How a run differs from an earlier one; nothing where there is none."""
        return evaluation.compared(before, run) if before is not None else ()

    def is_current(self, library: str, run: Run) -> bool:
        """Whether the library's files are still those that a run was made with."""
        return run.conditions.index == evaluation.index_mark(self.library(library))

    def runs(self, library: str) -> tuple[Run, ...]:
        """The evaluations of a library that are kept, oldest first."""
        return evaluation.load(self.library(library).folder)

    def evaluate(self, library: str, *, answers: bool = False) -> Generator[Step, None, None]:
        """Asks a library its own questions; the run is kept, as far as it came, also where the iterator is closed.

        Args:
            library: The library.
            answers: The model is asked too, each question whatever the verdict on its evidence.

        Raises:
            QuestionsError: The library has no questions.
            ModelMissing: There is no model to ask.
        """
        opened = self.library(library)
        asked = questions.load(opened.folder)
        results: list[Result] = []
        conditions = self._conditions(opened, answers)
        try:
            for step in evaluation.evaluate(
                asked, partial(self._searched, opened), partial(self._answered, opened) if answers else None
            ):
                results.append(step.result)
                yield step
        finally:
            if results:
                stopped = len(results) < len(asked)
                evaluation.keep(opened.folder, evaluation.finished(results, conditions, stopped=stopped))

    def cut_off(self, library: str) -> float:
        """The library's own cut-off for the evidence, as it is at work; 0 where it is Footnote's."""
        catalog = self.library(library).catalog
        kept, identity = catalog.settings(), catalog.embedder()
        return kept.evidence if identity and kept.evidence_embedder == identity.model else 0.0

    def keep_cut_off(self, library: str, strictness: float) -> None:
        """Keeps a cut-off for a library and the embedder that built it; 0 goes back to Footnote's."""
        catalog = self.library(library).catalog
        identity = catalog.embedder()
        embedder = identity.model if identity and strictness else ""
        catalog.set_settings(replace(catalog.settings(), evidence=strictness, evidence_embedder=embedder))

    def _searched(self, library: Library, question: str) -> Retrieval:
        with self.models.using_chat() as chat:
            return self.retriever(library.name, chat=chat, options=DEFAULT_SEARCH).search(question)

    def _answered(self, library: Library, question: str) -> Trace:
        anyway = SearchOptions(anyway=True)
        with self.models.using_chat() as chat, self.sharing.answering():
            retriever = self.retriever(library.name, chat=chat, options=anyway)
            answering = Answering(retriever, chat, self.settings.notes or None, self.settings.answer_tokens, anyway)
            *_, done = AnswerRun(answering, question).events()
        if not isinstance(done, AnswerDone):
            raise ValueError("An answer ends with its record.")
        return done.trace

    def _conditions(self, library: Library, answers: bool) -> Conditions:
        chat = self.models.chat()[0] if answers else None
        if answers and chat is None:
            raise ModelMissing("There is no chat model to ask.", "Measure the search alone, or fetch a model.")
        kept, identity = library.catalog.settings(), library.catalog.embedder()
        profile, longest = (
            kept.chunk_profile or self.settings.chunk_profile, kept.chunk_tokens or self.settings.chunk_tokens
        )  # fmt: skip
        settings = [
            f"cut by {profile} of at most {longest} tokens",
            f"{self.settings.candidates} candidates a search",
            *(["HyDE"] if kept.hyde else []),
            *(["reranker"] if kept.rerank else []),
        ]
        return Conditions(
            model=chat.identity.name if chat else "",
            embedder=identity.model if identity else "",
            chunks=library.catalog.counts()[1],
            index=evaluation.index_mark(library),
            settings=", ".join(settings),
            strictness=self.cut_off(library.name),
        )

    # ------------------------------------------------------------------------------------- experiments and maps

    def ways(self, library: str) -> tuple[Variant, ...]:
        """What can be tried with a library beside how it is made and searched now; asks Ollama for its models."""
        opened = self.library(library)
        settings, built_with = opened.catalog.settings(), self.embedder(opened).identity
        ways = list(experiments.usual_cuts(self.profile(opened)))
        ways += [
            Variant(embedder=model.id)
            for model in choice.list_models(self.settings)
            if experiments.is_another(model, built_with)
        ]
        if self.models.chat()[0] is not None:
            ways.append(Variant(hyde=not settings.hyde))
        if self.models.reranker()[0] is not None:
            ways.append(Variant(rerank=not settings.rerank))
        return tuple(ways)

    def sample(self, library: str, limit: int) -> Sample:
        """The files and questions that an experiment would take, of about so many passages."""
        opened = self.library(library)
        return experiments.take_sample(opened, questions.load(opened.folder), limit)

    def experiment(self, library: str, variants: Sequence[Variant], limit: int) -> Iterator[experiments.Step]:
        """Tries other ways of making and searching a library, which is only read; closing the iterator stops it."""
        opened = self.library(library)
        with self.models.using_chat() as chat:
            bench = Bench(
                home=self.settings.home,
                retriever=self.retriever(library, chat=chat, options=DEFAULT_SEARCH),
                profile=self.profile(opened),
                readers=ReadOnce(self.readers),
                embedder=self._another_embedder,
                chat=chat,
                reranker=self.models.reranker()[0],
                passwords=self.passwords,
            )
            yield from experiments.run_experiment(opened, questions.load(opened.folder), variants, limit, bench)

    def passage_map(self, library: str, retrieval: Retrieval | None = None) -> PassageMap:
        """A library's passages in the plane, with a question's place and what was found for it.

        Raises:
            LibraryEmpty: There are not enough passages.
        """
        opened = self.library(library)
        if retrieval is None:
            return draw_map(opened)
        vector = self.embedder(opened).embed_question(retrieval.queries[0]).vectors[0]
        hits = [hit for hit in retrieval.hits if hit.chunk.library in ("", library)]
        return draw_map(opened, hits, vector)

    def chunk_sizes(self, library: str) -> tuple[tuple[int, ...], int]:
        """How long a library's passages are, in the embedder's tokens, and the longest that documents are cut to."""
        opened = self.library(library)
        return tuple(opened.catalog.chunk_tokens()), self.profile(opened).limit

    @contextmanager
    def _another_embedder(self, name: str) -> Iterator[Embedder]:
        """An embedder beside those in use, as long as it is needed."""
        embedder, _ = choice.pick_embedder(self.settings, name)
        try:
            yield embedder
        finally:
            embedder.close()

    # ------------------------------------------------------------------------------------------------ this machine

    def health(
        self, status: Status, library: Library | None, problem: RagError | None = None
    ) -> tuple[HealthCheck, ...]:
        """What is wrong here, and what to do about it.

        Args:
            status: Which models are picked, and why.
            library: A library to look into; None leaves that out.
            problem: Why it could not be opened, if so.
        """
        embedder = self._embedder_for(library)
        speeds = {}
        if library is not None and embedder is not None:
            speeds = library.catalog.embedding_speeds(embedder.identity.model)
        return examine(
            Findings(
                settings=self.settings,
                status=status,
                embedder=embedder.identity if embedder is not None else None,
                device=embedder.device if embedder is not None else "",
                cards=graphics_cards(),
                torch=torch_state(),
                residence=self.sharing.residence(),
                sharing=self.sharing.plan(embedder),
                trouble=self.sharing.trouble,
                speeds=speeds,
                library=library,
                folders=self.folders(library.name) if library is not None else None,
                problem=problem,
            )
        )

    def sharing_plan(self, library: str) -> SharingPlan:
        """How chat model and embedder would share the graphics card in the library's next sync, looked at afresh."""
        return self.sharing.plan(self._embedder_for(self.library(library)))

    def _embedder_for(self, library: Library | None) -> Embedder | None:
        try:
            return self.embedder(library) if library is not None else self.models.default_embedder()[0]
        except RagError:
            return None  # the status says why

    def measure(self, library: str) -> tuple[float, float]:
        """Embeds some of a library's chunks once more for a few seconds; what that shows is kept with the library.

        Returns:
            Chunks, and the seconds they took.

        Raises:
            LibraryError: The library is empty.
            ModelError: The embedder failed.
        """
        opened = self.library(library)
        embedder = self.embedder(opened)
        chunks, seconds = measure_speed(embedder, opened)
        opened.catalog.add_embedding_speed(embedder.identity.model, embedder.device, chunks, seconds)
        return chunks, seconds

    # -------------------------------------------------------------------------------------------- untrusted text

    def untrusted(self, library: str) -> Iterator[Screening]:
        """Looks through a library for hidden text and for text that speaks to a model.

        Raises:
            LibraryError: It cannot be read.
        """
        yield from screen(self.library(library).catalog)
