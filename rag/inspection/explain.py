"""Why not this? How far a passage came on its way to the model, what stopped it first, and what would have let it by.

::

    read ─► indexed ─► let through by filters ─► above a leg's cut ─► fused ─► not folded ─► verdict ─► budget ─► model

What the record of the search holds is taken from there, byte for byte; what no step wrote down (where a passage stands
that was not among a leg's best) is worked out with the library as it is now, and said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property

from rag.answering.remarks import held_to, was_asked
from rag.errors import QueryError
from rag.index.catalog import Condition
from rag.index.library import Library, is_stale
from rag.index.selection import all_of, among, select
from rag.index.terms import is_spaced, terms
from rag.inspection.depths import Depth, Depths
from rag.inspection.unread import Lost, lost_files, lost_words
from rag.retrieval.lexical import QueryTerms, weigh_terms
from rag.retrieval.retriever import Retriever
from rag.types import Chunk, Filters, Hit, Passage, Retrieval, SearchOptions, Stage, Trace, Verdict

LEGS = ("dense", "lexical", "sparse", "clause")
"""Steps that look into the whole library."""

_MOST = 12
"""Passages of which an account is given at once."""

_LOOKED_INTO = 2_000
"""Passages of a file or with a phrase that are compared with each other, before the best of them are picked."""

_MOST_CANDIDATES = 300
"""Candidates a leg up to which a search that hands on more is tried."""

_ADDED_WORDS = 3
_LONGEST_WORD, _TELLING = 30, 8
"""Letters: longer ones are addresses and the like; and from which on a word is as telling as a longer one."""


class Gate(StrEnum):
    """What a passage has to pass, in this order; of an account, the first that it did not."""

    READ = "not read"
    INDEXED = "not indexed"
    FILTERS = "filtered"
    LEGS = "below the cut"
    FUSION = "lost in fusion"
    FOLD = "folded"
    VERDICT = "below the verdict"
    BUDGET = "over the budget"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person misses; every field that is set has to be met.

    Attributes:
        chunk: The id of a passage.
        file: A part of a file's path, or a pattern with ``*``.
        page: Its page; of a format without pages the slide, row, cell or line.
        phrase: Words that stand in it word for word.
    """

    chunk: str = ""
    file: str = ""
    page: int | None = None
    phrase: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a passage stood in one step of the search.

    Attributes:
        step: The stage's name.
        score_name: What its scores are.
        score: None where the step does not know the passage.
        rank: None where it has none.
        handed_on: How many passages the step handed on.
        weight: Of the step's vote, where it is a leg.
        recorded: Whether the step handed it on; else rank and score were worked out now.
        about: Whether what was worked out is near the truth only.
        note: What happened to it there, in words; empty where the figures say it.
    """

    step: str
    score_name: str
    score: float | None
    rank: int | None
    handed_on: int
    weight: float
    recorded: bool
    about: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """What would have brought a passage further.

    Attributes:
        change: What is to be done.
        tried: Whether the search was made again with it.
        rank: The passage's place in that search; None where it is not found even then, or was not tried.
    """

    change: str
    tried: bool = False
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """A passage's way through one search.

    Attributes:
        chunk: The passage.
        gate: The first gate that it did not pass; None where it passed all.
        reason: What happened, with figures.
        standings: Step by step.
        ways: What would have brought it further, the surest first.
        number: The ``n`` of ``[n]`` under which the model read it, alone or joined with neighbours; 0 where it did not.
        remarks: What else is worth knowing, a sentence each.
    """

    chunk: Chunk
    gate: Gate | None
    reason: str
    standings: tuple[Standing, ...]
    ways: tuple[Way, ...] = ()
    number: int = 0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to “why not this?”.

    Attributes:
        wanted: What was asked for.
        accounts: Of the passages that meet it, those that came farthest first.
        more: Passages that meet it and of which no account is given.
        lost: Files and pages that meet it and gave no passage.
        note: How the passages were found, where that is not as it was asked for; else empty.
    """

    wanted: Wanted
    accounts: tuple[Account, ...] = ()
    more: int = 0
    lost: tuple[Lost, ...] = ()
    note: str = ""


def explain(
    wanted: Wanted,
    retrieval: Retrieval,
    trace: Trace | None,
    retriever: Retriever,
    max_bytes: int | None = None,
) -> Explanation:
    """Why the model did not read what a person expected it to.

    Args:
        wanted: What is missed.
        retrieval: The search.
        trace: The answer that came of it; None where nothing was asked.
        retriever: Over the libraries that were searched, with the settings of that search; it tries what would help.
        max_bytes: Larger files are not read; None: they are.

    Raises:
        QueryError: Nothing is asked for.
        LibraryError: A library cannot be searched.
        ModelError: The embedder failed.
    """
    wanted = replace(wanted, file=wanted.file.strip(), phrase=wanted.phrase.strip().strip('"“”„«»').strip())
    if not (wanted.chunk or wanted.file or wanted.phrase):
        raise QueryError("Nothing is named.", "Give a part of a file's name, or words that stand in the passage.")
    asked = _Asked(retrieval, trace, retriever)
    chunks, note = _meant(wanted, asked)
    if not chunks:
        return Explanation(wanted, lost=tuple(_lost(wanted, retriever.libraries, max_bytes)))
    farthest, more = asked.farthest(chunks)
    accounts = [asked.account(chunk, deep) for chunk, deep in farthest]
    accounts.sort(key=_progress)
    accounts[0] = asked.with_ways(accounts[0])
    return Explanation(wanted, tuple(accounts), more, note=note)


def _progress(account: Account) -> tuple[int, int]:
    """What sorts the passages that came farthest to the front."""
    gates = list(Gate)
    ranks = [standing.rank for standing in account.standings if standing.rank is not None]
    return -(gates.index(account.gate) if account.gate else len(gates)), min(ranks, default=10**9)


# ------------------------------------------------------------------------------------------------- what is meant


def _meant(wanted: Wanted, asked: _Asked) -> tuple[list[Chunk], str]:
    """The passages that a person asks for, and how they were found where that is not as it was asked for."""
    if wanted.chunk:
        found = asked.chunk(wanted.chunk)
        return ([found] if found else []), ""
    for library in asked.libraries:
        exact = [chunk for chunk in _holding(library, wanted) if _is_on(chunk, wanted.page)]
        if exact:
            return exact, ""
    if wanted.phrase:
        for library in asked.libraries:
            near = [chunk for chunk in _holding(library, wanted, loose=True) if _is_on(chunk, wanted.page)]
            if near:
                return near, "No passage holds these words as they stand; these hold all of them."
    return [], ""


def _holding(library: Library, wanted: Wanted, *, loose: bool = False) -> list[Chunk]:
    """The passages of a library that are in the file and hold the words: as they stand, or each of them somewhere."""
    catalog = library.catalog
    phrases = (wanted.phrase,) if wanted.phrase and not loose else ()
    within = select(catalog, Filters(files=(wanted.file,) if wanted.file else (), phrases=phrases))
    condition = within.condition if within else Condition("TRUE")
    if loose:
        words = [term for term in terms(wanted.phrase) if is_spaced(term) or len(term) > 1]
        if not words:
            return []
        condition = all_of([condition, among("row", [row for row, _ in catalog.rows_with(words, condition)])])
    return catalog.chunks_where(condition)


def _is_on(chunk: Chunk, page: int | None) -> bool:
    if page is None:
        return True
    if chunk.page is not None:
        return chunk.page <= page <= (chunk.page_end or chunk.page)
    return chunk.place is not None and chunk.place.first <= page <= chunk.place.last


def _lost(wanted: Wanted, libraries: Sequence[Library], max_bytes: int | None) -> Iterator[Lost]:
    """Why nothing that was read meets what is asked for."""
    for library in libraries:
        if wanted.file:
            yield from lost_files(library, wanted.file, wanted.page, wanted.phrase, max_bytes)
        elif wanted.phrase:
            yield lost_words(library, wanted.phrase)


# ------------------------------------------------------------------------------------------------- one passage


class _Asked:
    """One search, and how any passage fared in it."""

    def __init__(self, retrieval: Retrieval, trace: Trace | None, retriever: Retriever) -> None:
        self.libraries = retriever.libraries
        self._retrieval = retrieval
        self._trace = trace
        self._retriever = retriever
        self._recorded: dict[str, dict[str, Hit]] = {
            stage.name: {hit.chunk.id: hit for hit in stage.hits} for stage in retrieval.stages
        }
        self._hits = {hit.chunk.id: hit for hit in retrieval.hits}

    @cached_property
    def _depths(self) -> Depths:
        return Depths(self._retrieval, self.libraries, self._retriever.embedder)

    @property
    def _legs(self) -> list[Stage]:
        return [stage for stage in self._retrieval.stages if _kind(stage) in LEGS]

    def chunk(self, id_: str) -> Chunk | None:
        """A chunk as it was found, else as the library has it."""
        for hits in (*self._recorded.values(), self._hits):
            for hit in hits.values():
                for chunk in (hit.chunk, *hit.copies):
                    if chunk.id == id_:
                        return chunk
        for library in self.libraries:
            if found := library.catalog.chunks([id_]).get(id_):
                return found
        return None

    def farthest(self, chunks: Sequence[Chunk]) -> tuple[list[tuple[Chunk, dict[str, Depth]]], int]:
        """Of many passages those that came farthest, each with where it stands in legs that did not hand it on."""
        first = sorted(chunks, key=lambda chunk: self._best_rank(chunk.id))[:_LOOKED_INTO]
        unseen = [chunk.id for chunk in first if not self._is_known(chunk.id)]
        through = self._depths.let_through(unseen) if unseen else set()
        deep: dict[str, dict[str, Depth]] = {}
        searched = [chunk.id for chunk in first if chunk.id in through or self._is_known(chunk.id)]
        for leg in self._legs if searched else ():
            missing = [id_ for id_ in searched if id_ not in self._recorded[leg.name]]
            if missing:
                for id_, depth in self._depths.of(leg, missing).items():
                    deep.setdefault(id_, {})[leg.name] = depth

        def best(chunk: Chunk) -> tuple[int, int]:
            ranks = [depth.rank for depth in deep.get(chunk.id, {}).values() if depth.rank is not None]
            return self._best_rank(chunk.id), min(ranks, default=10**9)

        picked = sorted(first, key=best)[:_MOST]
        return [(chunk, deep.get(chunk.id, {})) for chunk in picked], len(chunks) - len(picked)

    def account(self, chunk: Chunk, deep: dict[str, Depth]) -> Account:
        """How a passage fared."""
        gate, reason = self._first_gate(chunk, deep)
        number = self._number(chunk.id) if gate is None else 0
        return Account(
            chunk=chunk,
            gate=gate,
            reason=reason,
            standings=tuple(self._standings(chunk, deep)),
            number=number,
            remarks=tuple(self._remarks(chunk)),
        )

    def with_ways(self, account: Account) -> Account:
        """The account with what would have brought the passage further; searches are made again for that."""
        return replace(account, ways=tuple(self._ways(account)))

    # ------------------------------------------------------------------------------------------------- the gates

    def _first_gate(self, chunk: Chunk, deep: dict[str, Depth]) -> tuple[Gate | None, str]:
        legs = [leg for leg in self._legs if chunk.id in self._recorded[leg.name]]
        hit = self._hits.get(chunk.id)
        if not legs and hit is None and not self._twin(chunk.id):
            if self._is_newer(chunk):
                return Gate.INDEXED, "Its file was indexed after this question was asked."
            if not self._is_searched(chunk.id):
                return Gate.INDEXED, "The library does not hold it any more: its file was removed, or indexed anew."
            if chunk.id not in self._depths.let_through([chunk.id]):
                held = " · ".join(held_to(self._excluding(chunk.id)))
                return Gate.FILTERS, f"The search was held to other passages: {held}."
            return Gate.LEGS, self._below_the_cut(deep)
        twin = self._twin(chunk.id)
        if twin is None and hit is None:
            return Gate.FUSION, self._lost_in_fusion(chunk.id, legs)
        if hit is None and twin is not None:
            number = self._number(twin.chunk.id)
            read = f"which the model read as [{number}]" if number and self._was_asked else "which stands for both"
            return Gate.FOLD, f"It says nearly the same as the passage in place {twin.rank}, {read}."
        return self._after_the_search(chunk.id)

    def _after_the_search(self, id_: str) -> tuple[Gate | None, str]:
        hit, passage = self._hits[id_], self._passage(id_)
        place = f"in place {hit.rank} of {len(self._hits)}"
        trace = self._trace
        if trace is None and self._retrieval.evidence.verdict is Verdict.NONE:
            return Gate.VERDICT, f"Found, {place}; the model would not be asked: {self._retrieval.evidence.reason}"
        if trace is None or trace.prompt is None:
            return None, f"Found, {place}; no model was asked."
        if not self._was_asked:
            return Gate.VERDICT, f"Found, {place}; the model was not asked: {self._retrieval.evidence.reason}"
        number = self._number(id_)
        if not number:
            told = passage.reason if passage is not None else "not among the passages that were offered"
            return Gate.BUDGET, f"Found, {place}; {told}."
        cited = sum(citation.number == number for citation in trace.answer.citations)
        told = f"{cited} citation{'s' * (cited != 1)} in the answer" if cited else "the answer does not cite it"
        joined = ", joined with its neighbours" if passage is None or passage.joined or not passage.number else ""
        return None, f"The model read it as [{number}]{joined}; {told}."

    def _below_the_cut(self, deep: dict[str, Depth]) -> str:
        parts = []
        for leg in self._legs:
            last = leg.hits[-1].score if leg.hits else None
            depth = deep.get(leg.name)
            if depth is None or depth.rank is None:
                if _kind(leg) == "lexical":
                    parts.append(f"{leg.name}: it holds none of the question's words")
                continue
            about = "about " if depth.about else ""
            figures = f"{leg.name}: {about}rank {depth.rank:,}"
            if depth.score is not None and last is not None:
                figures += f" with {leg.score_name} {depth.score:.3f}, where the last of {len(leg.hits)} had {last:.3f}"
            if not depth.about and depth.rank <= len(leg.hits):
                figures += " (the index, which finds nearly all, passed it over)"
            parts.append(figures)
        return f"No search had it among its best. {'; '.join(parts)}."

    def _lost_in_fusion(self, id_: str, legs: Sequence[Stage]) -> str:
        fused = self._recorded.get("fusion", {}).get(id_)
        if fused is None:
            silent = " and ".join(f"{leg.name} (rank {self._recorded[leg.name][id_].rank})" for leg in legs)
            notes = " ".join(leg.note for leg in legs if leg.note)
            return f"Only {silent} found it, and had no vote. {notes}".strip()
        sorted_anew = self._before_fold
        return (
            f"In place {fused.rank} after the fusion; only the best {len(sorted_anew.hits)} were sorted anew "
            f"({sorted_anew.name}), and the others left out."
        )

    # ------------------------------------------------------------------------------------------------- standings

    def _standings(self, chunk: Chunk, deep: dict[str, Depth]) -> Iterator[Standing]:
        for stage in self._retrieval.stages:
            kind = _kind(stage)
            hit = self._recorded[stage.name].get(chunk.id)
            if kind == "follow" and hit is None:
                continue
            depth = deep.get(stage.name, Depth()) if hit is None else Depth(hit.score, hit.rank)
            note = hit.note if hit is not None else ""
            if kind == "fold" and hit is None and (twin := self._twin(chunk.id)):
                note = f"folded into place {twin.rank}"
            if kind in LEGS and not stage.weight:
                note = "no vote"
            # What comes after the legs sorts what they found, and has no score of its own for what they did not.
            score = depth.score if stage.score_name else None
            yield Standing(
                stage.name, stage.score_name, score, depth.rank, len(stage.hits),
                stage.weight if kind in LEGS else 0.0, hit is not None, depth.about, note,
            )  # fmt: skip

    def _remarks(self, chunk: Chunk) -> Iterator[str]:
        for library in self.libraries:
            held = library.catalog.chunks([chunk.id])
            record = library.catalog.file(chunk.file_id) if held else None
            if record is None:
                continue
            if is_stale(record):
                yield "Its file has changed on disk since it was indexed: bring the library in step, and ask again."
            elif self._trace is not None and record.indexed_at > self._trace.asked_at and not self._is_newer(chunk):
                yield "Its file was indexed anew since this question was asked; what is worked out here is of today."
        if chunk.contents:
            yield "It only lists other passages, as a table of contents does, and such are put last."
        falls = self._fall(chunk.id)
        if falls:
            yield falls

    def _fall(self, id_: str) -> str:
        """Where a passage that a leg had near the top fell behind."""
        hit = self._hits.get(id_)
        best = min(
            ((self._recorded[leg.name][id_].rank, leg) for leg in self._legs if id_ in self._recorded[leg.name]),
            key=lambda pair: pair[0],
            default=None,
        )
        if hit is None or best is None or hit.rank < best[0] + 2:
            return ""
        rank, leg = best
        others = [other.name for other in self._legs if other.weight and id_ not in self._recorded[other.name]]
        why = f" {' and '.join(others)} did not find it." if others else ""
        weights = self._recorded_note("fusion")
        return (
            f"{leg.name} had it in place {rank}; put together with the others ({weights}) it came to {hit.rank}.{why}"
        )

    def _recorded_note(self, name: str) -> str:
        return next((stage.note for stage in self._retrieval.stages if stage.name == name), "")

    # ------------------------------------------------------------------------------------------------- ways

    def _ways(self, account: Account) -> Iterator[Way]:
        id_ = account.chunk.id
        if account.gate is Gate.INDEXED:
            yield Way("Ask again: what is indexed now is searched.")
        elif account.gate is Gate.FILTERS:
            excluding = self._excluding(id_)
            kept = _without(self._retrieval.filters, excluding)
            yield self._tried(f"Ask without “{' · '.join(held_to(excluding))}”.", id_, filters=kept)
        elif account.gate in (Gate.LEGS, Gate.FUSION):
            yield from self._further_in_the_search(account)
        elif account.gate is Gate.FOLD:
            yield Way("Nothing has to be done: the passage that stands for it says nearly the same.")
        elif account.gate is Gate.VERDICT:
            yield Way("Ask the model anyway, with the button under the answer; compare what it says with the passages.")
            if self._number(id_):
                yield Way(f"It would then be read as [{self._number(id_)}].")
            yield from self._words(account.chunk)
        elif account.gate is Gate.BUDGET:
            yield from self._within_the_budget(account)

    def _further_in_the_search(self, account: Account) -> Iterator[Way]:
        chunk = account.chunk
        voting = [
            standing.rank
            for standing in account.standings
            if standing.rank is not None
            and (standing.weight or standing.step == "fusion")
            and not (standing.recorded and standing.step != "fusion")
        ]
        now = self._retriever.candidates
        if voting and now < min(voting) <= _MOST_CANDIDATES:
            more = min(voting)
            change = f"Let each search hand on {more} passages instead of {now} (FOOTNOTE_CANDIDATES={more})."
            yield self._tried(change, chunk.id, candidates=more)
        yield from self._words(chunk)
        stem = chunk.path.rpartition("/")[2]
        held = replace(self._retrieval.filters, files=(stem,))
        yield self._tried(f"Hold the question to its file: file:{stem}", chunk.id, filters=held)

    def _words(self, chunk: Chunk) -> Iterator[Way]:
        """The question with the passage's own words."""
        words = _own_words(chunk, self._retrieval.queries[0], self._weigh(chunk.text))
        if words:
            change = f"Ask with words of the passage: {', '.join(words)}."
            yield self._tried(change, chunk.id, query=f"{self._retrieval.queries[0]} {' '.join(words)}")

    def _within_the_budget(self, account: Account) -> Iterator[Way]:
        prompt = self._trace.prompt if self._trace else None
        passage = self._passage(account.chunk.id)
        if prompt is None or passage is None:
            return
        if passage.reason.startswith("does not fit"):
            window = prompt.window
            more = window.used + window.answer_room + passage.tokens
            yield Way(
                f"Give the model a window of at least {more:,} tokens instead of {window.total:,} "
                f"(FOOTNOTE_CONTEXT_TOKENS), or smaller chunks."
            )
        elif "wanted" in passage.reason:
            before = [
                other
                for other in prompt.passages
                if other.hit.rank < passage.hit.rank and (other.in_prompt or "wanted" in other.reason)
            ]
            more = len(before) + 1
            yield Way(f"Give the model {more} passages (FOOTNOTE_NOTES={more}, or --notes {more}).")
        yield from self._words(account.chunk)

    def _tried(
        self,
        change: str,
        id_: str,
        *,
        query: str = "",
        filters: Filters | None = None,
        candidates: int | None = None,
    ) -> Way:
        """The search made again with one thing changed."""
        retrieval = self._retrieval
        retriever = self._retriever.model_copy(update={"candidates": candidates or self._retriever.candidates})
        options = SearchOptions(retrieval.filters if filters is None else filters)
        found = retriever.search(retrieval.queries[-1], query or retrieval.queries[0], options=options)
        rank = next((hit.rank for hit in found.hits if id_ in (hit.chunk.id, *(copy.id for copy in hit.copies))), None)
        return Way(change, tried=True, rank=rank)

    # ------------------------------------------------------------------------------------------------- the record

    @property
    def _was_asked(self) -> bool:
        return self._trace is not None and was_asked(self._trace)

    @property
    def _before_fold(self) -> Stage:
        """The last stage that sorted; in a record that somebody made elsewhere, nothing may have been folded."""
        names = [stage.name for stage in self._retrieval.stages]
        return self._retrieval.stages[(names.index("fold") if "fold" in names else len(names)) - 1]

    def _is_known(self, id_: str) -> bool:
        """Whether any step of the search saw it."""
        return any(id_ in hits for hits in self._recorded.values())

    def _best_rank(self, id_: str) -> int:
        if id_ in self._hits:
            return self._hits[id_].rank
        return 10**6 if self._is_known(id_) or self._twin(id_) else 10**9

    def _twin(self, id_: str) -> Hit | None:
        """The hit that a passage was folded into."""
        return next((hit for hit in self._hits.values() if any(copy.id == id_ for copy in hit.copies)), None)

    def _passage(self, id_: str) -> Passage | None:
        prompt = self._trace.prompt if self._trace else None
        return next((one for one in prompt.passages if one.hit.chunk.id == id_), None) if prompt else None

    def _number(self, id_: str) -> int:
        """The number under which a passage is in the prompt, alone or joined with its neighbours; else 0."""
        prompt = self._trace.prompt if self._trace else None
        for passage in prompt.passages if prompt else ():
            if passage.in_prompt and id_ in (passage.hit.chunk.id, *(chunk.id for chunk in passage.joined)):
                return passage.number
        return 0

    def _is_newer(self, chunk: Chunk) -> bool:
        """Whether a passage that no step saw was stored after the question was asked."""
        if self._trace is None or self._is_known(chunk.id):
            return False
        for library in self.libraries:
            if not library.catalog.chunks([chunk.id]):
                continue
            record = library.catalog.file(chunk.file_id)
            # A passage that stayed as it was when its file was stored again was there before.
            came_with_last = chunk.id.split(".")[-2] == str(library.catalog.revision(chunk.file_id))
            return record is not None and came_with_last and record.indexed_at > self._trace.asked_at
        return False

    def _is_searched(self, id_: str) -> bool:
        return any(library.catalog.chunks([id_]) for library in self.libraries)

    def _excluding(self, id_: str) -> Filters:
        """Those of the filters that do not let a passage through, each taken by itself."""
        kept = self._retrieval.filters
        excluding: dict[str, object] = {}
        for field in fields(kept):
            value = getattr(kept, field.name)
            if value and not any(
                (within := select(library.catalog, Filters(**{field.name: value}))) is not None and within.among([id_])
                for library in self.libraries
            ):
                excluding[field.name] = value
        return Filters(**excluding)  # type: ignore[arg-type]  # values of fields of the same names

    def _weigh(self, text: str) -> QueryTerms:
        return weigh_terms([library.catalog for library in self.libraries], text)


def _kind(stage: Stage) -> str:
    return stage.name.partition(":")[0]


def _without(filters: Filters, excluding: Filters) -> Filters:
    """The filters but for those that are also in the other ones."""
    nothing = Filters()
    kept = {
        field.name: getattr(nothing if getattr(excluding, field.name) else filters, field.name)
        for field in fields(filters)
    }
    return Filters(**kept)


def _own_words(chunk: Chunk, query: str, weighed: QueryTerms) -> list[str]:
    """The most telling words of a passage that the question does not have, in their order."""
    asked = set(terms(query))
    words: dict[str, float] = {}
    for word in chunk.text.split():
        bare = word.strip(".,;:!?()[]{}“”\"'„«»*_#|<>`")
        found = terms(bare)
        # Writing without spaces has no words to be taken out.
        if 2 < len(bare) <= _LONGEST_WORD and is_spaced(bare) and not asked & set(found):
            # In a small library a function word may be as rare as any other, but it is short.
            words.setdefault(bare, weighed.weights.get(found[0], 0.0) * min(len(bare), _TELLING))
    best = sorted(words, key=lambda word: -words[word])[:_ADDED_WORDS]
    return [word for word in words if word in best]
