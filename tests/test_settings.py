import re
from pathlib import Path

import pytest

from rag.errors import SettingsError
from rag.settings import Settings, load_settings

ROOT = Path(__file__).parent.parent


def _names() -> list[str]:
    return [f"FOOTNOTE_{name.upper()}" for name in Settings.model_fields]


def test_example_file_mirrors_the_settings_field_by_field() -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    assert [line.split("=")[0].lstrip("# ") for line in lines if "=" in line] == _names()


def test_readme_table_mirrors_the_settings_field_by_field() -> None:
    rows = re.findall(
        r"^\| `(FOOTNOTE_\w+)` \| (.*?) \| (.*?) \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert [name for name, _, _ in rows] == _names()
    for (name, _, description), field in zip(rows, Settings.model_fields.values(), strict=True):
        assert description == field.description, name


def test_defaults_in_the_example_and_the_readme_are_the_real_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text("utf-8")
    example = (ROOT / ".env.example").read_text("utf-8")
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if field.default_factory is not None:
            continue  # depends on the platform; both say so in words
        shown = "" if default is None else getattr(default, "get_secret_value", lambda value=default: str(value))()
        assert f"# FOOTNOTE_{name.upper()}={shown}\n" in example
        cell = f"`{shown}`" if shown else "(empty)"
        assert f"| `FOOTNOTE_{name.upper()}` | {cell} |" in readme


def test_environment_wins_over_the_env_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("FOOTNOTE_CHUNK_TOKENS=100\nFOOTNOTE_SEED=5\n")
    monkeypatch.setenv("FOOTNOTE_SEED", "7")
    settings = load_settings()
    assert (settings.chunk_tokens, settings.seed) == (100, 7)


def test_chroma_url_is_read_under_both_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHROMA_URL", "http://localhost:8000")
    assert load_settings().chroma_url == "http://localhost:8000"


def test_a_bad_value_names_the_setting_and_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_CHUNK_TOKENS", "many")
    with pytest.raises(SettingsError, match=r"FOOTNOTE_CHUNK_TOKENS is 'many'.*integer"):
        load_settings()


@pytest.mark.parametrize("name", ["home", "cache", "model_path"])
def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / ".env").write_text(f"FOOTNOTE_{name.upper()}=~/x\n")
    assert getattr(load_settings(), name) == tmp_path / "x"
    (tmp_path / ".env").write_text(f"FOOTNOTE_{name.upper()}=~nosuchuser/x\n")
    with pytest.raises(SettingsError, match=f"FOOTNOTE_{name.upper()} is '~nosuchuser/x': there is no such user"):
        load_settings()


@pytest.mark.parametrize("name", ["OLLAMA_URL", "OPENAI_URL", "CHROMA_URL"])
@pytest.mark.parametrize("url", ["host:8000", "ftp://host", "http://", "//host", "http://host:port", "http://[::1"])
def test_an_address_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"FOOTNOTE_{name}", url)
    with pytest.raises(SettingsError, match=re.escape(f"FOOTNOTE_{name} is '{url}': ")):
        load_settings()


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "https://models.example/v1", "http://[::1]:11434"])
def test_an_address_is_kept_as_it_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_OLLAMA_URL", url)
    assert load_settings().ollama_url == url


def test_an_env_file_that_is_not_utf_8(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes("FOOTNOTE_HOME=/tmp/\u00e9\n".encode("latin-1"))
    with pytest.raises(SettingsError, match=r"\.env is not UTF-8"):
        load_settings()
