"""Where weights can run, seen without loading torch."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path


def device_warnings() -> tuple[str, ...]:
    """Sentences about a device that is there and not used; empty when all is as it should be."""
    if not _has_nvidia_card():
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


def _has_nvidia_card() -> bool:
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
