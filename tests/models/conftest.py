"""What the tests of this room share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rag.settings import Settings, load_settings


@pytest.fixture
def make_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    """Settings that see neither this machine's servers nor its models."""
    monkeypatch.chdir(tmp_path)
    nowhere = {"home": tmp_path / "home", "cache": tmp_path / "cache", "ollama_url": "http://127.0.0.1:9"}
    return lambda **overrides: load_settings(**(nowhere | overrides))


@pytest.fixture
def plain_server() -> Iterator[Callable[..., str]]:
    """Starts servers that answer every request with the same text, status and type; gives their address."""
    servers = []

    def start(text: str, status: int = 200, kind: str = "text/html") -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(text.encode())

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
