"""What a GGUF file says of itself: the few facts that are needed before the model runs."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rag.errors import ModelFailed, ModelMissing

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """Facts of a GGUF file.

    Attributes:
        name: The model's name; empty when the file does not tell.
        size_label: Its number of parameters as people write it (``1.5B``); empty when the file does not tell.
        context_length: Tokens it was trained for; 0 when the file does not tell.
    """

    name: str
    size_label: str
    context_length: int


def read_facts(path: Path) -> GgufFacts:
    """Reads the head of a GGUF file, up to its vocabulary.

    Raises:
        ModelMissing: There is no such file.
        ModelFailed: It is no GGUF file, or one whose head cannot be read.
    """
    facts: dict[str, object] = {}
    try:
        with path.open("rb") as file:
            magic, version, _tensors, pairs = struct.unpack("<4sIQQ", file.read(24))
            if magic != b"GGUF" or version not in (2, 3):
                raise ModelFailed(f"{path} is no GGUF file of version 2 or 3.", "Choose another file.")
            for _ in range(pairs):
                key = _value(file, _STRING)
                if str(key).startswith("tokenizer."):
                    break  # the vocabulary is long, and what is asked for stands before it
                facts[str(key)] = _value(file, _scalar(file, "<I"))
    except FileNotFoundError as error:
        raise ModelMissing(f"There is no model file {path}.", "Correct FOOTNOTE_MODEL_PATH, or unset it.") from error
    except (OSError, struct.error, UnicodeDecodeError, KeyError, MemoryError, OverflowError) as error:
        raise ModelFailed(f"{path} cannot be read as a GGUF file ({error}).", "Fetch the file again.") from error
    context = facts.get(f"{facts.get('general.architecture')}.context_length", 0)
    return GgufFacts(
        name=str(facts.get("general.name", "")),
        size_label=str(facts.get("general.size_label", "")),
        context_length=context if isinstance(context, int) else 0,
    )


def _scalar(file: BinaryIO, code: str) -> int:
    return int(struct.unpack(code, file.read(struct.calcsize(code)))[0])


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return file.read(_scalar(file, "<Q")).decode()
    if kind == _ARRAY:
        item, count = _scalar(file, "<I"), _scalar(file, "<Q")
        return [_value(file, item) for _ in range(count)]
    code = _SCALARS[kind]
    return struct.unpack(code, file.read(struct.calcsize(code)))[0]
