"""One graphics card for two: what the embedder and the chat model take of it, and how they get by.

Where both fit, both stay. Where they do not, the embedder has the card while a sync embeds, and the chat model leaves
it for that time; questions are then embedded on the CPU if the chat model fills the card. :func:`decide` is the whole
decision; :class:`Sharing` looks at the machine and carries it out.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from rag.errors import ModelError, RagError
from rag.models.base import ChatModel, Embedder
from rag.models.devices import Card, graphics_cards
from rag.models.memory import CardUse, Residence
from rag.models.picked import PickedModels
from rag.settings import Choices, Settings, Way

_log = logging.getLogger(__name__)

_MARGIN = 256 * 2**20
"""Bytes left free: a card that is filled to its brim makes both programs stumble."""

_QUIET_SECONDS = 60.0
"""After a question in the middle of a sync, the chat model keeps the card for so long."""

_WORTH_SECONDS = 5.0
"""A sync that is over sooner is not worth unloading a model, which takes as long to come back."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to be shared, in bytes of the card's memory.

    Attributes:
        card: All of it; 0 where there is no card.
        others: Taken by other programs.
        chat: Wanted by the chat model with its window; 0 where it does not run on this card.
        leaves: The chat model can be asked to leave for a while.
        embedder: Wanted by the embedder while it embeds passages; 0 where it never runs on a card.
        question: Wanted by the embedder while it only embeds questions.
        fixed: The embedder stays where it is, on the card.
        card_name: For people, as the next two.
        chat_name: Empty where there is no chat model.
        embedder_name: Empty where there is none.
    """

    card: int
    others: int
    chat: int
    leaves: bool
    embedder: int
    question: int
    fixed: bool = False
    card_name: str = ""
    chat_name: str = ""
    embedder_name: str = ""

    @property
    def room(self) -> int:
        """What the two have between them."""
        return max(0, self.card - self.others - _MARGIN)


@dataclass(frozen=True, slots=True)
class SharingPlan:
    """How the two get by.

    Attributes:
        way: How documents are embedded: ``together`` with the chat model on the card, in ``turns`` with it, on the
            ``cpu``; ``none`` where there is nothing to share.
        questions_on_card: Where questions are embedded.
        reason: Why, in a sentence or two with the figures.
        machine: What was decided on.
        spilled: Bytes of the chat model that find no room on the card even when it has it to itself.
        wanted: What was asked for; ``auto``: the best of the ways.
    """

    way: Literal["none", "together", "turns", "cpu"]
    questions_on_card: bool
    reason: str
    machine: Machine
    spilled: int = 0
    wanted: Way = "auto"

    @property
    def documents_on_card(self) -> bool:
        """Where passages are embedded."""
        return self.way in ("together", "turns")


def decide(machine: Machine, wanted: Way = "auto") -> SharingPlan:
    """How the embedder and the chat model share the card.

    Args:
        machine: What there is and what they take.
        wanted: A way that is to be taken where it can be; ``auto``: the first of ``together``, ``turns`` and ``cpu``
            that fits.
    """
    if not machine.card or not machine.embedder:
        return _plan(machine, wanted, "none", on_card=False, why=_nothing_to_share(machine))
    alone, both = machine.embedder <= machine.room, machine.chat + machine.embedder <= machine.room
    beside_chat = machine.fixed or machine.chat + machine.question <= machine.room
    needs = _needs(machine)
    if wanted == "cpu" and not machine.fixed:
        return _plan(machine, wanted, "cpu", on_card=False, why="As chosen, the card is left to the chat model.")
    if wanted == "together" or (both and wanted != "turns"):
        why = needs if both else f"{needs} They do not fit, and stay as chosen: one of them will be slow or fail."
        return _plan(machine, wanted, "together", on_card=True, why=why)
    if machine.chat and machine.leaves and (alone or machine.fixed or wanted == "turns"):
        where = "stay on the card" if beside_chat else "go to the CPU, since the chat model fills the card"
        why = f"{needs} So they take turns; questions {where}."
        return _plan(machine, wanted, "turns", on_card=beside_chat, why=why)
    if machine.fixed:
        why = f"{needs} They do not fit, but FOOTNOTE_DEVICE keeps the embedder on the card."
        return _plan(machine, wanted, "together", on_card=True, why=why)
    if both:
        return _plan(machine, wanted, "together", on_card=True, why=needs)
    if not alone:
        why = f"{needs} The embedder finds no room there, and runs on the CPU."
    else:
        why = f"{needs} The chat model's server cannot be asked to leave the card, so the embedder runs on the CPU."
    return _plan(machine, wanted, "cpu", on_card=False, why=why)


def _plan(
    machine: Machine, wanted: Way, way: Literal["none", "together", "turns", "cpu"], *, on_card: bool, why: str
) -> SharingPlan:
    # The smallest thing beside the chat model while a person asks is the embedder, waiting for questions.
    room = machine.room - (machine.question if on_card else 0)
    spilled = max(0, machine.chat - max(0, room)) if machine.card else 0
    return SharingPlan(way, on_card, why, machine, spilled, wanted)


def _nothing_to_share(machine: Machine) -> str:
    if not machine.card:
        return "There is no graphics card that is known to be usable: everything runs on the CPU."
    if not machine.embedder_name:
        return "There is no embedder."
    return f"{machine.embedder_name} runs on the CPU and takes nothing of the graphics card."


def _needs(machine: Machine) -> str:
    taken = [f"{machine.embedder_name} takes {gigabytes(machine.embedder)} while it embeds documents"]
    if machine.chat:
        taken.append(f"{machine.chat_name} with its window {gigabytes(machine.chat)}")
    others = f", of which other programs use {gigabytes(machine.others)}" if machine.others else ""
    return f"{' and '.join(taken)}; the card has {gigabytes(machine.card)}{others}."


def gigabytes(count: int) -> str:
    """A size as it stands on the boxes of graphics cards: in units of 2**30 bytes, called GB there."""
    return f"{count / 2**30:.1f} GB"


def look(chat: ChatModel | None, embedder: Embedder | None) -> Machine:
    """What there is to be shared now; asks the card's own tool and the chat model's server.

    A server that does not answer takes nothing of the card.
    """
    cards = graphics_cards()
    residence = residence_of(chat)
    return machine_of(
        cards,
        residence,
        _card_use(embedder) if embedder is not None else None,
        chat_name=chat.identity.name if chat is not None else "",
        embedder_name=embedder.identity.model if embedder is not None else "",
    )


def _card_use(embedder: Embedder) -> CardUse | None:
    """None too where its server does not answer, which the next text tells."""
    try:
        return embedder.card_use()
    except ModelError:
        return None


def residence_of(chat: ChatModel | None) -> Residence:
    """How the chat model lies in memory; nothing is known where there is none, or its server does not answer."""
    if chat is not None:
        with suppress(ModelError):
            return chat.residence()
    return Residence()


def machine_of(
    cards: tuple[Card, ...], chat: Residence, use: CardUse | None, *, chat_name: str, embedder_name: str
) -> Machine:
    """The figures that :func:`decide` takes, of what the card, the chat model and the embedder tell."""
    total, used = sum(card.total for card in cards), sum(card.used for card in cards)
    ours = (chat.on_card or 0) + chat.beside if chat.here else 0
    if use is not None and use.there:
        ours += use.question
    return Machine(
        card=total,
        others=max(0, used - ours),
        chat=chat.size if chat.here else 0,
        leaves=chat.leaves,
        embedder=use.documents if use is not None else 0,
        question=use.question if use is not None else 0,
        fixed=use is not None and use.fixed,
        card_name=", ".join(card.name for card in cards),
        chat_name=chat_name,
        embedder_name=embedder_name,
    )


class Sharing:
    """Puts the embedder where the plan says, and has the chat model leave the card while a sync embeds.

    Nothing here ever ends a sync or an answer: where a model cannot be moved, it goes on where it is.

    Args:
        settings: The settings; ``sharing`` is never overridden.
        choices: What a person chose, where the setting says ``auto``.
        models: The models in use.

    Attributes:
        trouble: What went wrong with it the last time; empty when nothing did.
    """

    def __init__(self, settings: Settings, choices: Choices, models: PickedModels) -> None:
        self.trouble = ""
        self._settings = settings
        self._choices = choices
        self._models = models
        self._lock = threading.RLock()
        self._turn: _Turn | None = None
        self._asking = 0
        self._last_asked = 0.0
        self._placed: dict[str, object] = {}

    @property
    def wanted(self) -> Way:
        """What is asked for, by the setting or by a person."""
        return as_way(self._choices.wanted("sharing", self._settings.sharing))

    def choose(self, way: str) -> None:
        """Remembers the way that a person chose; holds from the next sync and the next question on.

        Raises:
            SettingsError: The choice cannot be written.
        """
        self._choices.set("sharing", as_way(way))

    def plan(self, embedder: Embedder | None) -> SharingPlan:
        """How the two get by, looked at afresh: asks the card's own tool and the chat model's server."""
        return decide(look(self._chat(), embedder), self.wanted)

    def residence(self) -> Residence:
        """How the chat model lies in memory now."""
        return residence_of(self._chat())

    def place(self, embedder: Embedder) -> None:
        """Puts an embedder where questions are embedded; looks again only when a model or the choice has changed."""
        if _card_use(embedder) is None:
            return
        chat = self._chat()
        known = (chat.identity if chat is not None else None, self.wanted)
        with self._lock:
            if self._turn is not None or self._placed.get(repr(embedder.identity)) == known:
                return
            self._placed[repr(embedder.identity)] = known
            on_card = self.plan(embedder).questions_on_card
            self._move(embedder, to_card=on_card)
            self._move_reranker(to_card=on_card)

    @contextmanager
    def embedding(self, embedder: Embedder, seconds: float | None) -> Iterator[Callable[[], None]]:
        """Holds while a sync embeds.

        Args:
            embedder: What it embeds with.
            seconds: How long it will take; None while nobody knows.

        Yields:
            To be called now and then: takes the card again where a question had it meanwhile.
        """
        if _card_use(embedder) is None:
            yield _nothing
            return
        plan = self.plan(embedder)
        chat = self._chat()
        with self._lock:
            free = self._turn is None
            if plan.way == "turns" and free and chat is not None and (seconds is None or seconds >= _WORTH_SECONDS):
                self._turn = _Turn(embedder, chat, plan)
                self._take()
            mine = self._turn if free else None
        try:
            yield self._renew if mine is not None else _nothing
        finally:
            if mine is not None:
                with self._lock:
                    self._turn = None
                    self._leave(mine)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Holds while a question is answered: a sync that has the card to itself gives it back, and goes on without."""
        with self._lock:
            self._asking += 1
            if self._turn is not None and self._turn.taken:
                self._give_back(self._turn)
        try:
            yield
        finally:
            with self._lock:
                self._asking -= 1
                self._last_asked = time.monotonic()

    @property
    def taken(self) -> str:
        """The name of the chat model that has left the card for a sync; empty while none has."""
        turn = self._turn
        return turn.chat.identity.name if turn is not None and turn.taken else ""

    def _chat(self) -> ChatModel | None:
        try:
            return self._models.chat()[0]
        except RagError:
            return None  # the page says so wherever a model is named

    def _renew(self) -> None:
        with self._lock:
            quiet = not self._asking and time.monotonic() - self._last_asked > _QUIET_SECONDS
            if self._turn is not None and not self._turn.taken and not self._turn.failed and quiet:
                self._take()

    def _take(self) -> None:
        """The chat model leaves the card, and the embedder comes; not while a question is answered."""
        turn = self._turn
        if turn is None or self._asking:
            return
        try:
            if turn.chat.residence().loaded:
                turn.was_loaded = True
                turn.chat.unload()
            turn.embedder.move(to_card=True)
            turn.taken = True
            self.trouble = ""
        except ModelError as error:
            turn.failed = True
            self._note(error)
            self._reload(turn)

    def _give_back(self, turn: _Turn) -> None:
        """The embedder makes room; the question that is about to be asked loads the chat model."""
        turn.taken = False
        self._move(turn.embedder, to_card=turn.plan.questions_on_card)

    def _leave(self, turn: _Turn) -> None:
        """The sync is over: everything goes back to its place."""
        self._move(turn.embedder, to_card=turn.plan.questions_on_card)
        if turn.taken and not self._asking:
            self._reload(turn)

    def _reload(self, turn: _Turn) -> None:
        if turn.was_loaded:
            try:
                turn.chat.load()
            except ModelError as error:
                self._note(error)

    def _move(self, embedder: Embedder, *, to_card: bool) -> None:
        try:
            embedder.move(to_card=to_card)
        except ModelError as error:
            self._note(error)

    def _move_reranker(self, *, to_card: bool) -> None:
        """It reads with each question, so it goes where questions go."""
        try:
            reranker = self._models.reranker()[0]
            if reranker is not None:
                reranker.move(to_card=to_card)
        except ModelError as error:
            self._note(error)

    def _note(self, error: ModelError) -> None:
        self.trouble = str(error)
        _log.warning("Sharing the graphics card: %s", error)


@dataclass(slots=True, eq=False)
class _Turn:
    """A sync that has, or had, the card to itself.

    Attributes:
        taken: It has it now.
        failed: It could not have it, and does not try again.
        was_loaded: The chat model was on the card before, and is loaded again afterwards.
    """

    embedder: Embedder
    chat: ChatModel
    plan: SharingPlan
    taken: bool = False
    failed: bool = False
    was_loaded: bool = False


def as_way(text: str) -> Way:
    """A way by its name; what nobody knows any more counts as ``auto``."""
    return text if text in ("together", "turns", "cpu") else "auto"  # type: ignore[return-value]  # checked here


def _nothing() -> None:
    """There is no turn to renew."""
