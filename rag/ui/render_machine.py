"""This machine as HTML: what needs a look, everything that was checked, and how two models share the graphics card."""

from __future__ import annotations

from collections.abc import Sequence

from rag.inspection.sharing import SharingPlan, gigabytes
from rag.types import HealthCheck
from rag.ui import texts
from rag.ui.render import escape, many, notice, term

STATES = {
    "ok": texts.STATE_OK,
    "warning": texts.STATE_WARNING,
    "error": texts.STATE_ERROR,
    "off": texts.STATE_OFF,
}
_PROBLEMS = ("error", "warning")
_DRAWN_APART = "sharing"
"""The topic that :func:`sharing` draws."""


def health(checks: Sequence[HealthCheck]) -> str:
    """In one line how things are, then what needs a look with what to do, then everything else by topic."""
    problems = sorted((check for check in checks if check.state in _PROBLEMS), key=lambda check: check.state)
    topics = dict.fromkeys(check.topic for check in checks if check.topic != _DRAWN_APART)
    groups = "".join(
        _group(topic, [check for check in checks if check.topic == topic and check not in problems]) for topic in topics
    )
    wrong = _list(problems) if problems else ""
    return f'{_summary(checks)}{wrong}<div class="fn-topics">{groups}</div>'


def _summary(checks: Sequence[HealthCheck]) -> str:
    broken = sum(check.state == "error" for check in checks)
    look = sum(check.state == "warning" for check in checks)
    if not broken and not look:
        return notice(texts.MACHINE_WELL, many(len(checks), texts.MACHINE_LOOKED_ONE, texts.MACHINE_LOOKED), "good")
    parts = [many(broken, texts.MACHINE_BROKEN_ONE, texts.MACHINE_BROKEN)] if broken else []
    parts += [many(look, texts.MACHINE_LOOK_ONE, texts.MACHINE_LOOK)] if look else []
    return notice(" ".join(parts), texts.MACHINE_TODO, "error" if broken else "warning")


def _group(topic: str, checks: Sequence[HealthCheck]) -> str:
    if not checks:
        return ""
    title = escape(texts.MACHINE_TOPICS.get(topic, topic))
    return f"<section><h3>{title}</h3>{_list(checks)}</section>"


def _list(checks: Sequence[HealthCheck]) -> str:
    rows = "".join(
        f'<li><span class="fn-state {check.state}">{escape(STATES[check.state])}</span>'
        f"<div><b>{term(check.name)}</b> {escape(check.detail)}"
        f"{f'<p>{_action(check.action)}</p>' if check.action else ''}</div></li>"
        for check in checks
    )
    return f'<ul class="fn-health">{rows}</ul>'


def _action(action: str) -> str:
    """What to do; what stands between backticks is to be typed."""
    parts = action.split("`")
    return "".join(f"<code>{escape(part)}</code>" if at % 2 else escape(part) for at, part in enumerate(parts))


def sharing(plan: SharingPlan, taken: str = "", set_by: str = "") -> str:
    """How chat model and embedder get by, with the card as a bar while questions are asked and while a sync embeds.

    Args:
        plan: How.
        taken: The chat model that has left the card for a sync at this moment; empty while none has.
        set_by: What decides it, where that is a setting; empty where a person can choose.
    """
    machine = plan.machine
    lines = [f"<p><b>{escape(texts.SHARING_WAYS[plan.way])}</b> {escape(plan.reason)}</p>"]
    if taken:
        lines.append(f'<p class="fn-quiet">{escape(texts.SHARING_NOW.format(model=taken))}</p>')
    if plan.spilled:
        spilled = texts.SHARING_SPILLED.format(model=machine.chat_name, size=gigabytes(plan.spilled))
        lines.append(f"<p>{escape(spilled)}</p>")
    if plan.way != "none":
        asking = (machine.chat, machine.question if plan.questions_on_card else 0)
        lines.append(_bar(texts.SHARING_ASKING, plan, *asking))
        lines.append(_bar(texts.SHARING_SYNCING, plan, *_while_syncing(plan)))
        lines.append(_legend(plan))
    if set_by:
        lines.append(f'<p class="fn-quiet">{escape(texts.SHARING_SET.format(setting=set_by))}</p>')
    title = term("sharing", texts.SHARING)
    return f'<section class="fn-box fn-sharing"><h3>{title}</h3>{"".join(lines)}</section>'


def in_a_sync(plan: SharingPlan) -> str:
    """What a sync would do with the card, in a line; empty where it does nothing."""
    if plan.way != "turns":
        return ""
    return escape(texts.SHARING_IN_A_SYNC.format(model=plan.machine.chat_name))


def _while_syncing(plan: SharingPlan) -> tuple[int, int]:
    """Bytes of the chat model and of the embedder while documents are embedded."""
    machine = plan.machine
    return (0 if plan.way == "turns" else machine.chat), (machine.embedder if plan.documents_on_card else 0)


def _bar(title: str, plan: SharingPlan, chat: int, embedder: int) -> str:
    card = plan.machine.card
    chat = max(0, min(chat, card - plan.machine.others - embedder))
    whole = max(card, plan.machine.others + chat + embedder, 1)
    parts = (("others", plan.machine.others), ("chat", chat), ("embedder", embedder))
    spans = "".join(
        f'<span class="{name}" style="width:{100 * count / whole:.2f}%"></span>' for name, count in parts if count
    )
    used = gigabytes(plan.machine.others + chat + embedder)
    told = texts.SHARING_USED.format(used=used, total=gigabytes(card))
    return (
        f'<div class="fn-card-use"><p>{escape(title)} <small>{escape(told)}</small></p>'
        f'<div class="fn-window" aria-hidden="true">{spans}</div></div>'
    )


def _legend(plan: SharingPlan) -> str:
    machine = plan.machine
    parts = (
        ("chat", machine.chat_name, machine.chat),
        ("embedder", machine.embedder_name, machine.embedder),
        ("others", texts.SHARING_OTHERS, machine.others),
    )
    items = "".join(
        f'<li><span class="fn-swatch {name}"></span>{escape(label)} <b>{escape(gigabytes(count))}</b></li>'
        for name, label, count in parts
        if count
    )
    return f'<ul class="fn-window-legend">{items}</ul>'
