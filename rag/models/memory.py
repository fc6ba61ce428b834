"""What models take of a graphics card's memory, as far as that is measured or can be told from their figures."""

from __future__ import annotations

from dataclasses import dataclass

CONTEXT_BYTES = 450 * 2**20
"""What a process takes of an NVIDIA card before it holds any weights; declared, since it differs with the driver."""

BYTES_A_TOKEN = 48 * 2**10
"""What one token of a batch takes beside the weights of an embedder of BGE-M3's width, in half precision: its states,
and four times as many inside a layer. Declared; replaced by what torch measures after the first batch."""

RUNNER_BYTES = 600 * 2**20
"""What llama.cpp takes beside weights and window (buffers of one batch, the driver's own); declared."""


@dataclass(frozen=True, slots=True)
class CardUse:
    """What an embedder takes of this machine's graphics card when it is there.

    Attributes:
        documents: Bytes while batches of passages are embedded.
        question: Bytes while it waits there and embeds one question at a time.
        there: It is there now.
        fixed: It stays where it is: a setting says so, or the machine has one memory for both.
    """

    documents: int
    question: int
    there: bool
    fixed: bool


@dataclass(frozen=True, slots=True)
class Residence:
    """How a chat model lies in memory, as whoever runs it tells; 0 and empty where that is not told.

    Attributes:
        server: Who runs it, with the version: ``Ollama 0.35.0``.
        size: Bytes it takes with its window; measured when it is loaded, else reckoned from its figures.
        on_card: Bytes of them on a graphics card; None while it is not loaded.
        window: Tokens of the window that it is loaded with.
        beside: Bytes that other models of the same server take of the card; they give way when it needs room.
        trained: Tokens of the window that it was trained for.
        here: It would lie on a graphics card of this machine.
        leaves: It can be asked to leave the card for a while.
    """

    server: str = ""
    size: int = 0
    on_card: int | None = None
    window: int = 0
    beside: int = 0
    trained: int = 0
    here: bool = False
    leaves: bool = False

    @property
    def loaded(self) -> bool:
        """Whether it lies in memory now."""
        return self.on_card is not None

    @property
    def spilled(self) -> int:
        """Bytes that found no room on the card and are worked on by the CPU; 0 while it is not loaded."""
        return self.size - self.on_card if self.on_card is not None else 0
