"""What diagnostics asks of Footnote: each method wires one module of this room with libraries and models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rag.index.library import Library
from rag.models.base import Embedder
from rag.models.picked import PickedModels
from rag.retrieval.retriever import Retriever
from rag.settings import Settings
from rag.types import Trace


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
    """

    settings: Settings
    models: PickedModels
    library: Callable[[str], Library]
    embedder: Callable[[Library], Embedder]
    retriever: Callable[..., Retriever]
    last_trace: Callable[[str], Trace | None]

    # ------------------------------------------------------------------------------------------- the exact prompt

    # ------------------------------------------------------------------------------------------------ comparisons

    # ----------------------------------------------------------------------------------------- why not this chunk

    # --------------------------------------------------------------------------------------------- replay bundles

    # ------------------------------------------------------------------------------- question sets and evaluation

    # ------------------------------------------------------------------------------------- experiments and maps

    # ------------------------------------------------------------------------------------------------ this machine
