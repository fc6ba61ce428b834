"""The citation audit as HTML."""

from __future__ import annotations

from rag.inspection import audit as inspection
from rag.types import Trace
from rag.ui import texts
from rag.ui.render import escape


def audit(trace: Trace) -> str:
    """Every sentence of the answer with what it cites; empty where there is no answer."""
    found = inspection.audit(trace)
    if found is None:
        return ""
    rows = "".join(
        f'<li dir="auto">{escape(sentence.text)} '
        f"{''.join(f'<small>[{citation.number}] {escape(citation.chunk.path)}</small> ' for citation in sentence.citations)}</li>"
        for sentence in found.sentences
    )
    return f'<section class="fn-box fn-audit"><h3>{escape(texts.SECTION_AUDIT)}</h3><ol>{rows}</ol></section>'
