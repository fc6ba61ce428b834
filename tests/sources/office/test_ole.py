from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import SourceError
from rag.sources.office.ole import SIGNATURE, opened


def test_streams_by_path(shared_data: Path):
    with opened((shared_data / "formats/markitdown/test_outlook_msg.msg").read_bytes()) as file:
        assert "__properties_version1.0" in file
        assert file.read("__substg1.0_0037001F").decode("utf-16-le") == "Test Email Message"
        assert file.read("not/there") == b""


@pytest.mark.parametrize("data", [b"words", SIGNATURE + bytes(range(256)) * 20, SIGNATURE + bytes(600)])
def test_damaged_files_say_so(data: bytes):
    with pytest.raises(SourceError, match="The file is damaged"), opened(data) as file:
        assert file.paths
