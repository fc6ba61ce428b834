"""The real client of the model hub before a stand-in that speaks the few calls that it makes."""

import hashlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rag.errors import DownloadFailed
from rag.models import hub

COMMIT = "a" * 40
WEIGHTS = bytes(range(256)) * 400
FILES = {
    "config.json": b'{"model_type": "bert"}',
    "modules.json": b"[]",
    "1_Pooling/config.json": b"{}",
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"the same weights again",
    "onnx/model.onnx": b"and again",
    "imgs/figure.png": b"a picture",
    ".gitattributes": b"",
}


class StandIn:
    def __init__(self):
        self.asked = []
        self.files = dict(FILES)
        self.broken = ""
        self.forbidden = ""
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format, *args):
                pass

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                stand_in.asked.append((self.command, self.path))
                path = self.path.partition("?")[0]
                if path.startswith("/api/models/tests/tiny"):
                    siblings = [{"rfilename": name, "size": len(data)} for name, data in stand_in.files.items()]
                    about = {"id": "tests/tiny", "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}
                    return self.answer(json.dumps(about).encode(), {"Content-Type": "application/json"})
                prefix = "/tests/tiny/resolve/"
                name = path.removeprefix(prefix).partition("/")[2]
                if not path.startswith(prefix) or name not in stand_in.files:
                    return self.answer(b"{}", {"X-Error-Code": "RepoNotFound"}, 404)
                if name == stand_in.forbidden:
                    return self.answer(b"{}", {}, 403)
                data = stand_in.files[name]
                headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha1(data).hexdigest()}"'}
                if name == stand_in.broken and self.command == "GET":
                    self.close_connection = True
                    return None
                return self.answer(data, headers)

            def answer(self, content, headers, status=200):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server(tmp_path, monkeypatch):
    from huggingface_hub import constants

    stand_in = StandIn()
    monkeypatch.setattr(constants, "ENDPOINT", stand_in.url)
    template = stand_in.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)  # as the app has it
    yield stand_in
    stand_in.http.shutdown()
    stand_in.http.server_close()


def test_a_model_is_fetched_with_progress_and_without_what_is_not_needed(server):
    from huggingface_hub import constants

    assert hub.cached_model("tests/tiny") is None
    progress = list(hub.fetch_model("tests/tiny"))
    folder = hub.cached_model("tests/tiny")
    assert folder is not None
    assert folder.name == COMMIT
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    got = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert got == {"config.json", "modules.json", "1_Pooling/config.json", "model.safetensors"}
    total = sum(len(FILES[name]) for name in got)
    assert progress[-1].done == progress[-1].total == total
    assert [step.done for step in progress] == sorted(step.done for step in progress)
    assert constants.HF_HUB_OFFLINE


def test_where_there_is_only_a_bin_file_it_is_fetched(server):
    del server.files["model.safetensors"]
    list(hub.fetch_model("tests/tiny"))
    assert (hub.cached_model("tests/tiny") / "pytorch_model.bin").exists()


def test_a_model_whose_weights_did_not_come_does_not_count_as_here(server):
    server.broken = "model.safetensors"
    with pytest.raises(DownloadFailed, match="tests/tiny could not be fetched") as caught:
        list(hub.fetch_model("tests/tiny"))
    assert "goes on where it stopped" in caught.value.hint
    assert hub.cached_model("tests/tiny") is None


def test_a_model_that_the_hub_does_not_have(server):
    with pytest.raises(DownloadFailed, match="tests/none"):
        list(hub.fetch_model("tests/none"))


def test_what_the_hub_refuses_is_told_with_its_reason(server, tmp_path):
    server.forbidden = "model.safetensors"
    with pytest.raises(DownloadFailed, match=r"could not be fetched from the model hub: .*403 Forbidden"):
        list(hub.fetch_file("tests/tiny", "model.safetensors", len(WEIGHTS), tmp_path / "here"))


def test_one_file_into_a_folder(server, tmp_path):
    progress = list(hub.fetch_file("tests/tiny", "model.safetensors", len(WEIGHTS), tmp_path / "here"))
    assert (tmp_path / "here" / "model.safetensors").read_bytes() == WEIGHTS
    assert progress[-1].done == len(WEIGHTS)


def test_without_a_hub_it_fails_at_once(server, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    started = time.perf_counter()
    with pytest.raises(DownloadFailed, match="BAAI/bge-m3 could not be fetched from the model hub"):
        list(hub.fetch_model("BAAI/bge-m3"))
    assert time.perf_counter() - started < 5


def test_looking_into_the_cache_asks_nobody(server, monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert hub.cached_model("tests/tiny") is None
    assert server.asked == []
