import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from rag.engine import Engine
from rag.errors import SettingsError
from rag.settings import Settings, is_loopback
from rag.ui.launch import PageServer, check_address

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1", "[::1]"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", "", "127.0.0.1.example.org"])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_another_address_wants_a_login(settings: Settings) -> None:
    outside = settings.model_copy(update={"host": "0.0.0.0"})
    with pytest.raises(SettingsError, match="FOOTNOTE_USER and FOOTNOTE_PASSWORD"):
        check_address(outside)
    check_address(outside.model_copy(update={"user": "ana", "password": SecretStr("secret")}))


@pytest.mark.parametrize("half", [{"user": "ana"}, {"password": SecretStr("secret")}])
def test_half_a_login_is_refused(settings: Settings, half: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="Only one"):
        check_address(settings.model_copy(update=half))


def run_app(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "FOOTNOTE_HOME": str(tmp_path / "home")}
    return subprocess.run(
        [sys.executable, str(ROOT / "app.py")],
        cwd=tmp_path, env=known | environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_taken_port_ends_with_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run_app(tmp_path, FOOTNOTE_PORT=port)
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert "FOOTNOTE_PORT=0" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_open_address_without_login_ends_with_a_sentence(tmp_path: Path) -> None:
    done = run_app(tmp_path, FOOTNOTE_HOST="0.0.0.0", FOOTNOTE_PORT="0")
    assert done.returncode == 1
    assert "FOOTNOTE_PASSWORD" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_is_served_and_leaves_no_upload_behind(engine: Engine, settings: Settings) -> None:
    engine.settings = settings.model_copy(update={"port": 0})
    left = settings.home / "uploads" / "old.md"
    left.parent.mkdir(parents=True)
    left.write_text("from a run that crashed")
    with PageServer(engine) as server:
        assert httpx.get(server.address, trust_env=False).status_code == 200
        assert not left.exists()
        for path in ("/docs", "/openapi.json", "/monitoring"):
            assert httpx.get(server.address + path, trust_env=False).status_code in (404, 403), path
        outside = httpx.get(f"{server.address}/gradio_api/file={Path(__file__)}", trust_env=False)
        assert outside.status_code in (403, 404)
        upload = {"files": ("a.md", b"text")}
        assert httpx.post(f"{server.address}/gradio_api/upload", files=upload, trust_env=False).status_code == 200
        assert [path.name for path in (settings.home / "uploads").rglob("a.md")] == ["a.md"]
    assert not (settings.home / "uploads").exists()


def test_a_login_is_asked_for_where_one_is_set(engine: Engine, settings: Settings) -> None:
    engine.settings = settings.model_copy(update={"port": 0, "user": "ana", "password": SecretStr("secret")})
    with PageServer(engine) as server:
        assert httpx.get(f"{server.address}/config", trust_env=False).status_code == 401
        upload = {"files": ("a.md", b"text")}
        assert httpx.post(f"{server.address}/gradio_api/upload", files=upload, trust_env=False).status_code == 401
        with httpx.Client(trust_env=False) as client:
            entered = client.post(f"{server.address}/login", data={"username": "ana", "password": "secret"})
            assert entered.status_code == 200
            assert client.get(f"{server.address}/config").status_code == 200
