"""Serves the page: on loopback unless a user and a password are set, and without leaving anything behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import threading
import urllib.request
from types import FrameType
from typing import TYPE_CHECKING, Self

from rag.errors import SettingsError
from rag.settings import Settings, is_loopback
from rag.ui import texts

if TYPE_CHECKING:
    from rag.engine import Engine


def check_address(settings: Settings) -> None:
    """Makes sure that the page may be served where the settings want it.

    Raises:
        SettingsError: Other machines can reach the address and there is no login, or the login is half set.
    """
    has_password = bool(settings.password.get_secret_value())
    if bool(settings.user) != has_password:
        raise SettingsError(
            "Only one of FOOTNOTE_USER and FOOTNOTE_PASSWORD is set.", "Set both for a login, or neither for none."
        )
    if not is_loopback(settings.host) and not has_password:
        raise SettingsError(
            f"The page would listen on {settings.host}, where other machines can reach your notes.",
            "Set FOOTNOTE_USER and FOOTNOTE_PASSWORD as well, or go back to FOOTNOTE_HOST=127.0.0.1.",
        )


def _bound_port(settings: Settings) -> int:
    """The port to listen on: the wanted one if it is free, or a free one for 0."""
    host = settings.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        if sys.platform != "win32":  # there the option would let two programs share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, settings.port))
        except OSError as error:
            raise SettingsError(
                f"The page cannot listen on {settings.host}, port {settings.port}: {error.strerror}.",
                "End the program that uses it, perhaps another Footnote, or set FOOTNOTE_PORT=0 for a free one.",
            ) from error
        return int(probe.getsockname()[1])


def _reach_loopback_directly() -> None:
    """Keeps a proxy out of the way when Gradio calls its own server to see that it runs."""
    if urllib.request.getproxies():
        for variable in ("NO_PROXY", "no_proxy"):
            known = os.environ.get(variable, "")
            os.environ[variable] = ",".join(filter(None, [known, "127.0.0.1", "localhost", "::1"]))


class PageServer:
    """A running page; closing it ends the server and deletes whatever was uploaded and not kept.

    Attributes:
        address: Where a browser on this machine finds the page.

    Raises:
        SettingsError: See :func:`check_address`; or the port is taken.
    """

    def __init__(self, engine: Engine) -> None:
        settings = engine.settings
        check_address(settings)
        port = _bound_port(settings)
        # Below the home, which the engine has locked: whatever an earlier run left there is nobody's any more.
        self._uploads = settings.home / "uploads"
        self._delete_uploads()
        os.environ["GRADIO_TEMP_DIR"] = str(self._uploads)
        _reach_loopback_directly()

        from rag.ui.page import build_page
        from rag.ui.theme import ICON, STYLE, theme

        password = settings.password.get_secret_value()
        self._page = build_page(engine)
        try:
            self._page.launch(
                server_name=settings.host,
                server_port=port,
                auth=(settings.user, password) if password else None,
                auth_message=texts.LOGIN if password else None,
                prevent_thread_lock=True,
                inbrowser=False,
                share=False,
                show_error=False,
                quiet=True,
                footer_links=[],
                run_history=False,
                allowed_paths=[],
                enable_monitoring=False,
                strict_cors=True,
                ssr_mode=False,
                pwa=False,
                mcp_server=False,
                app_kwargs={"docs_url": None, "redoc_url": None, "openapi_url": None},
                favicon_path=ICON,
                theme=theme(),
                css_paths=[STYLE],
            )
        except OSError as error:
            self._delete_uploads()
            raise SettingsError(
                f"The page cannot listen on {settings.host}, port {port}.",
                "Another program took the port. End it, or set FOOTNOTE_PORT=0 for a free one.",
            ) from error
        shown = settings.host if is_loopback(settings.host) else "127.0.0.1"
        self.address = f"http://{f'[{shown}]' if ':' in shown and '[' not in shown else shown}:{port}"

    def close(self) -> None:
        """Ends the server; calling it twice is harmless."""
        self._page.close(verbose=False)
        self._delete_uploads()

    def _delete_uploads(self) -> None:
        shutil.rmtree(self._uploads, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def serve(engine: Engine) -> None:
    """Serves the page until the program is told to end, and prints its address as one line.

    Raises:
        SettingsError: See :func:`check_address`.
    """
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    with PageServer(engine) as server:
        if not is_loopback(engine.settings.host):
            sys.stderr.write(texts.OPEN_WARNING.format(host=engine.settings.host) + "\n")
        sys.stdout.write(texts.LISTENING.format(address=server.address) + "\n")
        sys.stdout.flush()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        while not ended.wait(1.0):  # waking up lets Windows see Ctrl-C
            pass
