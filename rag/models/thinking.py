"""What a model streams → what is meant to be read: its thinking is dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_OPEN, _CLOSE = "<think>", "</think>"


def without_thinking(pieces: Iterable[str]) -> Iterator[str]:
    """Drops ``<think>…</think>``, also when a tag comes in parts, is never closed, or is closed without being opened.

    A stray ``</think>`` ends thinking that the chat template had opened out of sight: a server that does so hands out
    no text before the tag that is meant for people, but by then it may have been shown, so the tag itself is dropped
    and the text before it kept.
    """
    waiting = ""
    thinking = False
    for piece in pieces:
        waiting += piece
        while True:
            tag = _CLOSE if thinking else _first_tag(waiting)
            at = waiting.find(tag) if tag else -1
            if at < 0:
                break
            if not thinking and at:
                yield waiting[:at]
            waiting = waiting[at + len(tag) :]
            thinking = tag == _OPEN
        keep = _unfinished_tag(waiting)
        ready, waiting = waiting[: len(waiting) - keep], waiting[len(waiting) - keep :]
        if ready and not thinking:
            yield ready
    if waiting and not thinking:
        yield waiting


def _first_tag(text: str) -> str:
    found = [(text.find(tag), tag) for tag in (_OPEN, _CLOSE) if tag in text]
    return min(found)[1] if found else ""


def _unfinished_tag(text: str) -> int:
    """Characters at the end that may be the beginning of a tag."""
    return max((size for tag in (_OPEN, _CLOSE) for size in range(1, len(tag)) if text.endswith(tag[:size])), default=0)
