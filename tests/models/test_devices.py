import importlib.util
import sys
from types import SimpleNamespace

import pytest

from rag.models import devices
from rag.models.devices import device_warnings


@pytest.fixture
def nvidia_card(tmp_path, monkeypatch):
    """A machine where NVIDIA's tool is on the path."""
    tool = tmp_path / ("nvidia-smi.exe" if sys.platform == "win32" else "nvidia-smi")
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def torch_build(tmp_path, monkeypatch):
    """Puts a torch of a given build where Python looks first."""

    def install(version_file):
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError('torch was imported')")
        (tmp_path / "torch" / "version.py").write_text(version_file)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "torch", raising=False)
        importlib.invalidate_caches()

    return install


CPU_BUILD = "__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n"
CUDA_BUILD = "__version__ = '2.13.0'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n"


def test_a_cpu_build_beside_a_card_is_said(nvidia_card, torch_build):
    torch_build(CPU_BUILD)
    (warning,) = device_warnings()
    assert "CPU-only build" in warning


def test_a_cuda_build_beside_a_card_is_fine_and_not_imported(nvidia_card, torch_build):
    torch_build(CUDA_BUILD)
    assert device_warnings() == ()


def test_a_cuda_build_that_cannot_use_the_card_is_said(nvidia_card, torch_build, monkeypatch):
    torch_build(CUDA_BUILD)
    spec = importlib.util.find_spec("torch")
    loaded = SimpleNamespace(__spec__=spec, cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", loaded)
    (warning,) = device_warnings()
    assert "driver" in warning


def test_no_card_no_warning(torch_build, monkeypatch):
    torch_build(CPU_BUILD)
    monkeypatch.setattr(devices, "has_nvidia_card", lambda: False)
    assert device_warnings() == ()
