"""Which passages fit the model's window, decided before anything is sent; what does not fit is left out whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from rag.answering.prompts import answer_messages, quoted
from rag.errors import InputTooLong
from rag.models.base import ChatModel
from rag.types import Chunk, Hit, Message, Passage, Place, Prompt, Retrieval, Turn, Window

PASSAGES_SMALL = (2, 4)
PASSAGES_LARGE = (3, 8)
"""The fewest and the most passages in the prompt when the person does not say; a small model cites the right one less
often the more it has."""

_WORTH = 0.6
"""Share of the best passage's distance from the background that makes another one worth reading."""

_FOLLOWED = 2
"""Passages in the prompt beside the wanted ones because those refer to them."""

_JOINED = 3
"""Neighbouring chunks that one passage is put together from at most."""

_MESSAGE_OVERHEAD = 8
"""Tokens that a chat template adds around one message, generously."""

_HISTORY_SHARE = 4
"""The history may take a fourth of the window."""

_ROLES = {"human": "user", "ai": "assistant"}


def passages_wanted(retrieval: Retrieval, *, small: bool) -> int:
    """How many passages are worth reading: those that stand out from the background nearly as far as the best one.

    Args:
        retrieval: What was found; its first stage is the dense leg's.
        small: Whether the model is a small one.
    """
    fewest, most = PASSAGES_SMALL if small else PASSAGES_LARGE
    cosines = {hit.chunk.id: hit.score for hit in retrieval.stages[0].hits}
    if not cosines:
        return fewest
    ranked = sorted(cosines.values(), reverse=True)
    background = fmean(ranked[len(ranked) // 2 :])
    least = background + _WORTH * (ranked[0] - background)
    worth = sum(cosines.get(hit.chunk.id, -1.0) >= least for hit in retrieval.hits[:most])
    return max(fewest, worth)


def build_prompt(
    question: str,
    hits: Sequence[Hit],
    history: Sequence[Turn],
    chat: ChatModel,
    wanted: int,
    answer_room: int,
) -> Prompt:
    """Fits the best passages and the latest turns into the window.

    Args:
        question: The question as it is put to the model.
        hits: The retrieval's hits, best first.
        history: Earlier turns, oldest first.
        chat: The model, for its window and its token counts.
        wanted: Passages wanted, beside those that they refer to.
        answer_room: Tokens kept free for the answer.

    Raises:
        InputTooLong: The question alone does not fit.
    """
    identity = chat.identity
    bare = answer_messages(question, [], [], small=identity.small)
    sizes = chat.count_tokens([str(message.content) for message in bare])
    system = sum(sizes[:-1]) + _MESSAGE_OVERHEAD * len(bare)
    asking = sizes[-1]
    free = identity.context_tokens - answer_room - system - asking
    if free < 0:
        raise InputTooLong(
            f"The question needs {asking} tokens; with the instructions and {answer_room} for the answer that is more "
            f"than the window of {identity.context_tokens}.",
            "Shorten the question, or raise FOOTNOTE_CONTEXT_TOKENS.",
        )
    turns, history_size = _fitting_turns(history, chat, min(free, identity.context_tokens // _HISTORY_SHARE))
    passages, passages_size = _fitting_passages(hits, chat, wanted, free - history_size)
    if hits and not any(passage.in_prompt for passage in passages):
        raise InputTooLong(
            f"No passage fits the window of {identity.context_tokens} tokens: the shortest needs "
            f"{min(passage.tokens for passage in passages)}, and {max(0, free - history_size)} are left.",
            "Raise FOOTNOTE_CONTEXT_TOKENS, or lower FOOTNOTE_ANSWER_TOKENS or FOOTNOTE_CHUNK_TOKENS.",
        )
    messages = answer_messages(
        question, [passage.hit.chunk for passage in passages if passage.in_prompt], turns, small=identity.small
    )
    window = Window(
        total=identity.context_tokens,
        system=system,
        history=history_size,
        passages=passages_size,
        question=asking,
        answer_room=answer_room,
        exact=chat.exact_counts,
        forgotten=len(history) - len(turns),
    )
    contents = [str(message.content) for message in messages]
    sent = tuple(
        Message(_ROLES.get(message.type, message.type), content, tokens)
        for message, content, tokens in zip(messages, contents, chat.count_tokens(contents), strict=True)
    )
    return Prompt(sent, passages, window)


def _fitting_passages(hits: Sequence[Hit], chat: ChatModel, wanted: int, free: int) -> tuple[tuple[Passage, ...], int]:
    """The passages in the prompt with those that stay out, and the tokens of the first."""
    sizes = chat.count_tokens([quoted(hit.rank, hit.chunk) for hit in hits])
    chosen: list[_Chosen] = []
    why: dict[str, str] = {}
    over: dict[str, int] = {}
    owners: dict[str, _Chosen] = {}
    free -= 2 * (wanted + _FOLLOWED)  # what separates them
    for hit, size in zip(hits, sizes, strict=True):
        left = free - sum(one.tokens for one in chosen)
        followed = bool(hit.note) and hit.rank > wanted
        neighbour = next((one for one in chosen if hit.rank <= 2 * wanted and one.takes(hit.chunk)), None)
        if neighbour is not None:
            whole = joined((*neighbour.chunks, hit.chunk))
            (tokens,) = chat.count_tokens([quoted(neighbour.hit.rank, whole)])
            if tokens - neighbour.tokens <= left:
                neighbour.chunks, neighbour.tokens = (*neighbour.chunks, hit.chunk), tokens
                owners[hit.chunk.id] = neighbour
                continue
        if followed and sum(one.followed for one in chosen) == _FOLLOWED:
            why[hit.chunk.id] = f"beyond the {_FOLLOWED} passages that references may add"
        elif not followed and sum(not one.followed for one in chosen) == wanted:
            why[hit.chunk.id] = f"beyond the {wanted} passages wanted"
        elif size > left:
            why[hit.chunk.id] = f"does not fit: {size} tokens, {max(0, left)} left in the window"
            over[hit.chunk.id] = size - max(0, left)
        else:
            chosen.append(_Chosen(hit, (hit.chunk,), size, followed))
            owners[hit.chunk.id] = chosen[-1]
    passages = []
    for hit, size in zip(hits, sizes, strict=True):
        owner = owners.get(hit.chunk.id)
        if owner is None:
            passages.append(Passage(0, hit, size, why[hit.chunk.id], over=over.get(hit.chunk.id, 0)))
        elif owner.hit is not hit:
            passages.append(Passage(0, hit, size, f"joined with [{chosen.index(owner) + 1}]"))
        else:
            passages.append(owner.passage(chosen.index(owner) + 1))
    return tuple(passages), sum(one.tokens + 2 for one in chosen)


@dataclass(eq=False)
class _Chosen:
    """A passage for the prompt, from one chunk or from neighbours of one section."""

    hit: Hit
    chunks: tuple[Chunk, ...]
    tokens: int
    followed: bool

    def takes(self, chunk: Chunk) -> bool:
        return len(self.chunks) < _JOINED and any(_are_neighbours(one, chunk) for one in self.chunks)

    def passage(self, number: int) -> Passage:
        if len(self.chunks) == 1:
            return Passage(number, self.hit, self.tokens)
        parts = tuple(sorted(self.chunks, key=lambda chunk: chunk.span.start))
        return Passage(number, replace(self.hit, chunk=joined(parts)), self.tokens, joined=parts)


def _are_neighbours(one: Chunk, other: Chunk) -> bool:
    """Whether nothing stands between two chunks of one section: two characters hold no more than a paragraph's end."""
    first, second = sorted((one, other), key=lambda chunk: chunk.span.start)
    return (
        (one.library, one.file_id, one.heading_path) == (other.library, other.file_id, other.heading_path)
        and first.span.end < second.span.end
        and second.span.start - first.span.end <= 2
    )


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """Neighbouring chunks as one, under the first one's id; what they share stands in it once.

    The white space between them is written as line ends, whatever it was.
    """
    whole, *others = sorted(chunks, key=lambda chunk: chunk.span.start)
    for chunk in others:
        gap = chunk.span.start - whole.span.end
        # Those in what both share are known; pages between the two, with nothing on them, end where the second begins.
        breaks = tuple(at for at in chunk.page_breaks if at >= whole.span.end)
        if chunk.page is not None and whole.page_end is not None:
            breaks = (chunk.span.start,) * (chunk.page - whole.page_end) + breaks
        place = whole.place
        if place and chunk.place and place.unit == chunk.place.unit:
            place = Place(place.unit, place.first, chunk.place.last)
        whole = replace(
            whole,
            text=whole.text + "\n" * max(0, gap) + chunk.text[max(0, -gap) :],
            span=replace(whole.span, end=chunk.span.end),
            page_end=chunk.page_end,
            page_breaks=(*whole.page_breaks, *breaks),
            place=place,
            tokens=whole.tokens + chunk.tokens,
            stance=whole.stance if whole.stance == chunk.stance else "",
            hidden=tuple(dict.fromkeys((*whole.hidden, *chunk.hidden))),
        )
    return whole


def _fitting_turns(history: Sequence[Turn], chat: ChatModel, room: int) -> tuple[list[BaseMessage], int]:
    """The latest whole exchanges that fit; questions and answers stay together."""
    sizes = chat.count_tokens([turn.text for turn in history])
    kept: list[BaseMessage] = []
    used = 0
    for at in range(len(history) - 2, -1, -2):
        cost = sizes[at] + sizes[at + 1] + 2 * _MESSAGE_OVERHEAD
        if used + cost > room:
            break
        used += cost
        kept = [HumanMessage(history[at].text), AIMessage(history[at + 1].text), *kept]
    return kept, used


def with_read_tokens(prompt: Prompt, read: int) -> Prompt:
    """The prompt with the length that the model itself reported."""
    return replace(prompt, window=replace(prompt.window, read=read))
