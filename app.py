"""Starts Footnote's page: settings, then the engine, then the page.

Everything is imported inside :func:`main`, because the worker processes that read files import this module again.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the page until it is ended; returns the exit code."""
    from rag.settings import load_settings, prepare_environment

    prepare_environment()

    from rag.errors import RagError
    from rag.index.lock import lock_home
    from rag.ui.launch import check_address, serve

    try:
        settings = load_settings()
        check_address(settings)
        lock_home(settings.home).release()  # a second process is told before the engine's imports take their seconds

        from rag.engine import Engine

        with Engine(settings) as engine:
            engine.start_watching()
            serve(engine)
    except RagError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
