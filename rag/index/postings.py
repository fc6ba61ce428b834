"""Sparse weights as postings: which chunks hold a token, and how much it weighs in each.

A chunk's weights lie in one row with its vector; that is the truth, and goes in and out with it. Reading all of them
for a question would take longer with every chunk, so what is there is turned round, one block of rows at a time, as
soon as the block is full::

    vector     number, id, vector, weights      one row a chunk: (token, weight) of all its tokens
    posting    block, token, entries            one row for each token of a block: (place in the block, weight)

A block is written once, however few chunks come at a time, and taking a chunk out changes its block only. The rows
after the last block are read as they are. All functions are steps of a transaction that the caller holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

SCHEMA = """
CREATE TABLE IF NOT EXISTS posting (
    block INTEGER NOT NULL, token INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (block, token)
) WITHOUT ROWID;
"""

_BLOCK = 2048
"""Rows of a block. With smaller ones a search looks up more lists, with larger ones it reads more rows as they are.

Source: ``python -m tests.bench.sparse --chunks 50000``: 20 ms of CPU time a question, and 25 ms with blocks of 1024.
"""
_WEIGHT = np.dtype([("token", "<u4"), ("weight", "<f4")])
_ENTRY = np.dtype([("place", "<u2"), ("weight", "<f4")])
_SOME = 500  # ids in one statement


def packed(weights: Sequence[Mapping[int, float]] | None) -> list[bytes] | None:
    """Sparse weights of texts as they are kept; None where the embedder gives none."""
    if weights is None:
        return None
    return [np.array(sorted(of_text.items()), dtype=_WEIGHT).tobytes() for of_text in weights]


def unpacked(weights: bytes) -> dict[int, float]:
    """Sparse weights of one text as :func:`packed` has kept them."""
    kept = np.frombuffer(weights, _WEIGHT)
    return dict(zip(kept["token"].tolist(), kept["weight"].tolist(), strict=True))


def turn_round(connection: sqlite3.Connection) -> None:
    """Makes postings of the blocks that have become full."""
    newest = int(connection.execute("SELECT coalesce(max(number), 0) FROM vector").fetchone()[0])
    for block in range(_first_open(connection), (newest + 1) // _BLOCK):
        connection.executemany("INSERT INTO posting VALUES (?, ?, ?)", _postings(connection, block))


def take_out(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Takes chunks out of the postings, before their rows go."""
    closed = _first_open(connection) * _BLOCK
    rows: list[tuple[int, bytes]] = []
    for at in range(0, len(ids), _SOME):
        marks = ",".join("?" * len(some := list(ids[at : at + _SOME])))
        rows += connection.execute(
            f"SELECT number, weights FROM vector WHERE id IN ({marks}) AND number < ? AND weights IS NOT NULL",
            (*some, closed),
        )
    for block, in_block in groupby(sorted(rows), key=lambda row: row[0] // _BLOCK):
        going = list(in_block)
        places = [number % _BLOCK for number, _ in going]
        tokens = np.unique(np.frombuffer(b"".join(weights for _, weights in going), _WEIGHT)["token"]).tolist()
        for token in tokens:
            where = (block, token)
            held = connection.execute("SELECT entries FROM posting WHERE block = ? AND token = ?", where).fetchone()
            entries = np.frombuffer(held[0] if held else b"", _ENTRY)  # none: a check would say what is missing
            left = entries[~np.isin(entries["place"], places)]
            if len(left):
                statement = "UPDATE posting SET entries = ? WHERE block = ? AND token = ?"
                connection.execute(statement, (left.tobytes(), *where))
            else:
                connection.execute("DELETE FROM posting WHERE block = ? AND token = ?", where)


def scored(connection: sqlite3.Connection, query: Mapping[int, float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rows that share a token with a query, and their scores: the sum of the products of their weights.

    Source: Chen et al. 2024, M3-Embedding, section 3.2 ("lexical retrieval").
    """
    if not query:
        return np.empty(0, np.int64), np.empty(0)
    met = (_met_in_blocks(connection, query), _met_after_blocks(connection, query))
    numbers, products = (np.concatenate(columns) for columns in zip(*met, strict=True))
    totals = np.bincount(numbers, products)
    found = np.flatnonzero(totals)
    return found.astype(np.int64), totals[found].astype(np.float64)


def damage(connection: sqlite3.Connection) -> int:
    """Number of blocks whose postings are not those of their rows."""
    wrong = 0
    for block in range(_first_open(connection)):
        held = connection.execute("SELECT block, token, entries FROM posting WHERE block = ? ORDER BY token", (block,))
        wrong += held.fetchall() != list(_postings(connection, block))
    return wrong


def rebuild(connection: sqlite3.Connection) -> None:
    """Makes all postings anew from the rows."""
    connection.execute("DELETE FROM posting")
    turn_round(connection)


def _first_open(connection: sqlite3.Connection) -> int:
    """The first block that has no postings yet, and none after it."""
    return int(connection.execute("SELECT coalesce(max(block) + 1, 0) FROM posting").fetchone()[0])


def _postings(connection: sqlite3.Connection, block: int) -> Iterator[tuple[int, int, bytes]]:
    """The rows of a block as postings, by token."""
    rows = connection.execute(
        "SELECT number, weights FROM vector WHERE number >= ? AND number < ? AND weights IS NOT NULL ORDER BY number",
        (block * _BLOCK, (block + 1) * _BLOCK),
    ).fetchall()
    places, weights = _unfolded(rows)
    entries = np.empty(len(weights), _ENTRY)
    entries["place"], entries["weight"] = places % _BLOCK, weights["weight"]
    order = np.argsort(weights["token"], kind="stable")
    tokens, begins = np.unique(weights["token"][order], return_index=True)
    for token, some in zip(tokens.tolist(), np.split(entries[order], begins[1:]), strict=False):
        yield block, token, some.tobytes()


def _unfolded(rows: Sequence[tuple[int, bytes]]) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    """Numbers and weights of rows, one each for every token of every row."""
    weights = np.frombuffer(b"".join(data for _, data in rows), _WEIGHT)
    lengths = [len(data) // _WEIGHT.itemsize for _, data in rows]
    return np.repeat(np.array([number for number, _ in rows], np.int64), lengths), weights


def _met_in_blocks(
    connection: sqlite3.Connection, query: Mapping[int, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Row and product of weights for every token that a row of a block shares with the query."""
    tokens = ",".join(str(int(token)) for token in query)
    rows = connection.execute(
        "WITH RECURSIVE closed (block) AS (SELECT min(block) FROM posting UNION ALL"
        " SELECT (SELECT min(block) FROM posting WHERE block > closed.block) FROM closed WHERE block IS NOT NULL)"
        f" SELECT block, token, entries FROM closed CROSS JOIN posting USING (block) WHERE token IN ({tokens})"
    ).fetchall()
    entries = np.frombuffer(b"".join(data for *_, data in rows), _ENTRY)
    lengths = [len(data) // _ENTRY.itemsize for *_, data in rows]
    begins = np.repeat(np.array([block * _BLOCK for block, *_ in rows], np.int64), lengths)
    factors = np.repeat(np.array([query[token] for _, token, _ in rows]), lengths)
    return begins + entries["place"], factors * entries["weight"]


def _met_after_blocks(
    connection: sqlite3.Connection, query: Mapping[int, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same for the rows that are in no block yet."""
    rows = connection.execute(
        "SELECT number, weights FROM vector WHERE number >= ? AND weights IS NOT NULL",
        (_first_open(connection) * _BLOCK,),
    ).fetchall()
    numbers, weights = _unfolded(rows)
    asked = np.array(sorted(query.items()), dtype=_WEIGHT)
    nearest = asked[np.searchsorted(asked["token"][:-1], weights["token"])]
    shared = nearest["token"] == weights["token"]
    return numbers[shared], nearest["weight"][shared].astype(np.float64) * weights["weight"][shared]
