from pathlib import Path

import pytest
from page_values import parse

from rag.engine import SAMPLES, Engine
from rag.errors import SourceError
from rag.ui.xray import _functions, encoding_named


@pytest.mark.parametrize(
    ("typed", "name"), [("Shift-JIS", "shift_jis"), (" windows-1252 ", "windows_1252"), ("UTF-8", "utf_8"), ("", "")]
)
def test_an_encoding_is_known_by_the_name_that_people_type(typed: str, name: str) -> None:
    assert encoding_named(typed) == name


@pytest.mark.parametrize("typed", ["nonsense", "base64", "hex", "utf-8\0", "日本"])
def test_what_is_no_text_encoding_is_refused(typed: str) -> None:
    with pytest.raises(SourceError, match="no text encoding"):
        encoding_named(typed)


def test_the_panel_gets_all_of_a_file_and_words_for_every_failure(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Grüße aus Köln an alle, die dort wohnen.\n".encode("cp1252") * 3)
    for _ in engine.sync(SAMPLES, tmp_path):
        pass
    (file,) = engine.files(SAMPLES)
    look, turn, picture, again = _functions(engine)
    here = {"library": SAMPLES, "id": file.id}
    whole = look(here)
    assert (whole["path"], whole["leaves"], whole["paged"], whole["problems"]) == ("a.txt", 1, False, [])
    assert "Grüße aus Köln" in parse(whole["leaf"]).text
    assert turn({**here, "number": 1})["leaf"] == whole["leaf"]
    assert "error" in picture({**here, "page": 1})
    assert "Kцln" in parse(again({**here, "encoding": "cp1251"})["leaf"]).text
    assert "Köln" in parse(again({**here, "encoding": ""})["leaf"]).text
    assert "no text encoding" in again({**here, "encoding": "nonsense"})["error"]
    assert "Type the password" in again({**here, "password": ""})["error"]
    for function in (look, turn, picture, again):
        assert function({**here, "id": 999, "number": 1, "page": 1})["error"]
