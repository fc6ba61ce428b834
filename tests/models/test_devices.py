import importlib.util
import sys
from types import SimpleNamespace

import pytest

from rag.models import devices
from rag.models.devices import Card, TorchState, device_warnings, graphics_cards, torch_state


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


@pytest.fixture
def nvidia_smi(tmp_path, monkeypatch):
    """NVIDIA's tool with a given answer."""
    if sys.platform == "win32":
        pytest.skip("the tool stands in as a shell script")

    def install(answer, code=0):
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\nexit {code}\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return install


def test_cards_tell_of_themselves(nvidia_smi):
    nvidia_smi("NVIDIA GeForce RTX 4060, 580.65.06, 8188, 1024\nNVIDIA GB10, 580.95, [N/A], [N/A]\n")
    (card,) = graphics_cards()
    assert card == Card("NVIDIA GeForce RTX 4060", 8188 * 2**20, 1024 * 2**20, "580.65.06")


def test_a_driver_that_does_not_run_tells_of_no_card(nvidia_smi):
    nvidia_smi("NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.", code=9)
    assert graphics_cards() == ()


def test_cards_of_other_makers_are_told_by_torch_where_it_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    cuda = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 1,
        mem_get_info=lambda at: (6, 16),
        get_device_name=lambda at: "AMD Radeon RX 7800 XT",
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert graphics_cards() == (Card("AMD Radeon RX 7800 XT", 16, 10),)
    monkeypatch.delitem(sys.modules, "torch")
    assert graphics_cards() == ()


def test_apple_machines_have_one_memory(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(devices.platform, "machine", lambda: "arm64")
    (card,) = graphics_cards()
    assert card.unified
    assert 2**28 < card.total < 2**46


def test_what_torch_can_do_is_told_without_loading_it_for_nothing(nvidia_card, torch_build, monkeypatch):
    torch_build(CPU_BUILD)
    monkeypatch.setattr(devices.metadata, "version", lambda name: "2.13.0+cpu")
    assert torch_state() == TorchState("2.13.0+cpu", "", usable=False)
    monkeypatch.setattr(devices, "has_nvidia_card", lambda: False)
    assert torch_state() == TorchState("2.13.0+cpu", "", usable=None)


def test_a_cuda_build_is_tried_where_there_is_a_card(nvidia_card, torch_build, monkeypatch):
    torch_build(CUDA_BUILD)
    spec = importlib.util.find_spec("torch")
    for available in (True, False):
        loaded = SimpleNamespace(__spec__=spec, cuda=SimpleNamespace(is_available=lambda there=available: there))
        monkeypatch.setitem(sys.modules, "torch", loaded)
        assert (torch_state().built_for, torch_state().usable) == ("13.0", available)
