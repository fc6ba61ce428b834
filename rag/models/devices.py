"""Where weights can run, seen without loading torch."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

_ASK_SECONDS = 5.0
_MIB = 2**20
_FIELDS = "name,driver_version,memory.total,memory.used"
_APPLE_SHARE = 0.7
"""Of an Apple machine's memory, what its graphics part may use at most; the system's own limit is a little higher."""


@dataclass(frozen=True, slots=True)
class Card:
    """A graphics card, or the memory that one shares with the processor.

    Attributes:
        name: As its maker calls it.
        total: Bytes of memory.
        used: Bytes in use by all programs together.
        driver: Version of the driver; empty where it is part of the system.
        unified: Its memory is the machine's own.
    """

    name: str
    total: int
    used: int
    driver: str = ""
    unified: bool = False


def graphics_cards() -> tuple[Card, ...]:
    """The NVIDIA cards by their own tool, an Apple machine's graphics part, else what torch sees where it is loaded.

    Nothing of torch is loaded for it. Cards whose tool does not answer are left out.
    """
    if sys.platform == "darwin" and platform.machine() == "arm64":
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return (Card("Apple graphics", int(memory * _APPLE_SHARE), 0, unified=True),)
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return _cards_of_torch()
    try:
        told = subprocess.run(
            [tool, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=_ASK_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = [[value.strip() for value in line.split(",")] for line in told.splitlines()]
    # Some cards that are part of a larger chip tell no memory of their own.
    known = [row for row in rows if len(row) == 4 and row[2].isdigit() and row[3].isdigit()]
    return tuple(Card(name, int(total) * _MIB, int(used) * _MIB, driver) for name, driver, total, used in known)


def _cards_of_torch() -> tuple[Card, ...]:
    """Cards of other makers, which torch calls by the same names."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return ()
    cards = []
    for at in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(at)
        cards.append(Card(torch.cuda.get_device_name(at), total, total - free))
    return tuple(cards)


@dataclass(frozen=True, slots=True)
class TorchState:
    """The torch that is installed.

    Attributes:
        version: As installed, ``2.13.0+cpu``; empty where it is not.
        built_for: The CUDA version that it was built for; empty for a CPU-only build.
        usable: Whether it can use the NVIDIA card that is there; None where there is none, or torch was not tried.
    """

    version: str = ""
    built_for: str = ""
    usable: bool | None = None


def torch_state() -> TorchState:
    """What torch can do here; it is loaded, which takes seconds, only where it could use a card that is there."""
    if find_spec("torch") is None:
        return TorchState()
    version, built_for = metadata.version("torch"), _torch_cuda_build() or ""
    if not has_nvidia_card():
        return TorchState(version, built_for)
    if not built_for:
        return TorchState(version, built_for, usable=False)
    try:
        import torch
    except (ImportError, OSError):
        return TorchState(version, built_for, usable=False)
    return TorchState(version, built_for, usable=bool(torch.cuda.is_available()))


def device_warnings() -> tuple[str, ...]:
    """Sentences about a device that is there and not used; empty when all is as it should be."""
    if not has_nvidia_card():
        return ()
    if _torch_cuda_build() is None:
        return (
            "There is an NVIDIA card, but the installed torch is the CPU-only build, so sentence-transformers runs on "
            "the CPU. Install the CUDA build of torch, as the README shows.",
        )
    torch = sys.modules.get("torch")
    if torch is not None and not torch.cuda.is_available():
        return (
            "There is an NVIDIA card, but torch cannot use it, so sentence-transformers runs on the CPU. "
            "The driver may be older than torch needs: compare `nvidia-smi` with the CUDA build of torch.",
        )
    return ()


def has_nvidia_card() -> bool:
    """Whether the system speaks of an NVIDIA card, or has the tool for one."""
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def _torch_cuda_build() -> str | None:
    """The CUDA version that torch was built for; None for a CPU-only build, or where torch is not installed.

    Read from torch's version file, since importing torch takes seconds and its wheels' names do not always tell.
    """
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    version = Path(spec.origin).with_name("version.py")
    found = re.search(r"^cuda\b[^=]*=\s*['\"]([^'\"]+)", version.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else None
