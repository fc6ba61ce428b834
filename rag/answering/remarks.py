"""What is said beside an answer, in words: what the search was held to, and how far the evidence goes."""

from __future__ import annotations

from rag.types import Filters, Retrieval, Trace, Verdict, Window

THIN = "Thin evidence"
ASKED_ANYWAY = "Asked anyway"

_READ_SHARE = 0.75
"""The model reporting less than this share of our count of the prompt is a sign that it was cut."""

_CAUTIONS = {
    Verdict.SOME: (THIN, "The notes may not hold the answer: compare it with the passages before you rely on it."),
    Verdict.NONE: (
        ASKED_ANYWAY,
        "Your notes do not seem to say this: what the model wrote may not come from them.",
    ),
}


def held_to(filters: Filters) -> tuple[str, ...]:
    """One phrase a kind of filter: ``file heron``, ``after 2024``, ``section 8.3 or A.1``; empty without filters."""
    phrases = [
        _either("file", filters.files),
        _either("folder", filters.folders),
        f"after {filters.after}" if filters.after else "",
        f"before {filters.before}" if filters.before else "",
        _either("section", filters.sections),
        f"{filters.stance} only" if filters.stance else "",
        *(f"“{phrase}”" for phrase in filters.phrases),
        *(f"without {words}" for words in filters.without),
    ]
    return tuple(phrase for phrase in phrases if phrase)


def _either(kind: str, values: tuple[str, ...]) -> str:
    return f"{kind} {' or '.join(values)}" if values else ""


def loosened(retrieval: Retrieval) -> str:
    """That quoted words of the question were searched without their marks of quotation; empty where they were not."""
    if not retrieval.loosened:
        return ""
    phrases = " and ".join(f"“{phrase}”" for phrase in retrieval.loosened)
    return f"no passage holds {phrases} word for word: searched without that"


def caution(retrieval: Retrieval) -> tuple[str, str]:
    """The mark of an answer that rests on little, and its sentence; both empty where the notes have enough to say."""
    return _CAUTIONS.get(retrieval.evidence.verdict, ("", ""))


def was_asked(trace: Trace) -> bool:
    """Whether the prompt went to a model: it does not where the notes do not seem to say."""
    refused_unasked = trace.answer.outcome == "not_in_notes" and "first token" not in trace.seconds
    return trace.prompt is not None and not refused_unasked


def was_cut(window: Window) -> bool:
    """Whether the model read much less than was sent to it, by its own count; False where it told none."""
    if window.read is None:
        return False
    # An estimate errs on the long side, so it cannot prove a cut unless the model read far less.
    return window.read < window.used * (_READ_SHARE if window.exact else _READ_SHARE / 2)
