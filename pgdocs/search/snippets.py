"""A page's best passages and a query → the blocks that answer, the best passage's first; never half a fence or row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from pgdocs.pages import PATH_SEPARATOR, Block, join_blocks
from pgdocs.search.pieces import ScoredPassage, telling_blocks
from pgdocs.search.tokens import tokens

_WORD = re.compile(r"[^\W_]+")

RANK = 0.5
"""What a passage's own score counts beside the words of a block: headings and phrases speak for all of a passage."""

PRICE = 0.3
"""What a block as long as the snippet may be costs: long code holds many words, and pushes what says more aside."""

LEAD = 200
"""Characters of a sentence that leads to code, at most: with it the code is understood."""


class _Piece(NamedTuple):
    passage: ScoredPassage
    at: int
    block: Block
    value: float


def snippet(passages: Sequence[ScoredPassage], matcher: Matcher, limit: int) -> str:
    """The blocks of `passages` (the best first) that match best, up to about `limit` characters, at least one.

    A block that is long is cut: a table between its rows (with its header), running text between sentences, a fence or
    an item not at all. Where something is left out stands `…`; blocks of another section stand under its heading.
    """
    pieces = [piece for passage in passages for piece in _pieces(passage, matcher, limit)]
    chosen: set[tuple[int, int]] = set()
    size = 0
    best = sorted((p for p in pieces if p.block.kind != "heading"), key=lambda piece: -piece.value)
    first = [piece for piece in best if piece.passage is passages[0]][:1]  # what is cited is shown
    for piece in [*first, *best]:
        if (piece.passage.place, piece.at) not in chosen and (not chosen or size + len(piece.block.text) <= limit):
            chosen.add((piece.passage.place, piece.at))
            size += len(piece.block.text)
    for before, after in pairwise(pieces):  # a heading over what is chosen; a sentence that leads to code, and the code
        keys = [(piece.passage.place, piece.at) for piece in (before, after)]
        if before.block.kind == "heading" and keys[0][0] == keys[1][0] and keys[1] in chosen:
            chosen.add(keys[0])
        leads = after.block.kind == "fence" and keys[0][0] == keys[1][0] and before.block.text.endswith(":")
        if leads and keys[1] in chosen and len(before.block.text) <= LEAD:
            chosen.add(keys[0])
        elif leads and keys[0] in chosen and size + len(after.block.text) <= 1.5 * limit:
            chosen.add(keys[1])
            size += len(after.block.text)
    kept = [piece for piece in pieces if (piece.passage.place, piece.at) in chosen]
    return _joined(kept, passages[0].section if passages else "")


def _pieces(passage: ScoredPassage, matcher: Matcher, limit: int) -> list[_Piece]:
    found = []
    for at, block in enumerate(_blocks(passage.text)):
        text = _shortened(block, matcher, limit // 2)
        value = matcher.value(text) + RANK * passage.score - PRICE * len(text) / limit
        found.append(_Piece(passage, at, Block(block.kind, text), value))
    return found


@lru_cache(maxsize=1024)  # the passages that are found again and again
def _blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a passage; a heading in it becomes bold, as the headings around it are the results' own."""
    blocks = telling_blocks(text)
    return tuple(Block(b.kind, f"**{b.text.lstrip('# ')}**") if b.kind == "heading" else b for b in blocks)


def _joined(pieces: Iterable[_Piece], section: str) -> str:
    blocks: list[Block] = []
    last: _Piece | None = None
    for piece in pieces:
        here = piece.passage.section
        if last and (last.passage.place, last.at + 1) != (piece.passage.place, piece.at):
            blocks.append(Block("text", "…"))
        if here != (last.passage.section if last else section):
            blocks.append(Block("text", f"**{here.rsplit(PATH_SEPARATOR, 1)[-1]}**" if here else ""))
        blocks.append(piece.block)
        last = piece
    return join_blocks(block for block in blocks if block.text)


class Matcher:
    """Values texts by the words of a query that they hold. `weight` says how much each of the query's tokens counts."""

    def __init__(self, query: str, weight: Callable[[str], float]) -> None:
        weights = {token: weight(token) for token in tokens(query)}
        all_of_it = sum(weights.values()) or 1.0
        self._words = [(_start(token), value / all_of_it) for token, value in weights.items() if token.isalnum()]
        self._names = [(token, value / all_of_it) for token, value in weights.items() if not token.isalnum()]

    def value(self, text: str) -> float:
        """The share of the query's weight that `text` holds, 0..1."""
        text = text.lower()
        words = f" {' '.join(_WORD.findall(text))} "
        found = sum(value for start, value in self._words if start in words)
        return found + sum(value for name, value in self._names if name in text)


def _start(token: str) -> str:
    """How a word of this stem begins: stems of a word's other forms are not worked out for every text."""
    if len(token) < 3:
        return f" {token} "
    return f" {token[:-1]}" if token.endswith("i") else f" {token}"  # queri: query, queries


def window(values: Sequence[float], sizes: Sequence[int], limit: int) -> tuple[int, int]:
    """The run a:b with the greatest value whose sizes fit into `limit`, grown while there is room.

    Of equal ones the shorter, then the earlier. At least one.
    """
    value, size = [0.0, *accumulate(values)], [0, *accumulate(sizes)]
    runs = [(a, b) for a in range(len(values)) for b in range(a + 1, len(values) + 1) if size[b] - size[a] <= limit]
    runs += [(a, a + 1) for a in range(len(values))]
    a, b = max(runs, key=lambda run: (round(value[run[1]] - value[run[0]], 6), size[run[0]] - size[run[1]], -run[0]))
    while b < len(values) and size[b + 1] - size[a] <= limit:
        b += 1
    while a > 0 and size[b] - size[a - 1] <= limit:
        a -= 1
    return a, b


def _shortened(block: Block, matcher: Matcher, limit: int) -> str:
    """A long table: its header and the rows that match best; long running text: the sentences that do."""
    if len(block.text) <= limit:
        return block.text
    lines = block.text.split("\n")
    if block.kind == "table" and len(lines) > 3:
        head, rows, join = lines[:2], lines[2:], "\n"
    elif block.kind in ("text", "quote"):
        head, rows, join = [], re.split(r"(?<=[.!?]) +(?=[A-Z`(])", block.text), " "
    else:
        return block.text
    room = limit - sum(map(len, head))
    a, b = window([matcher.value(row) for row in rows], [len(row) + 1 for row in rows], room)
    cut_before, cut_after = ("… " * (a > 0), " …" * (b < len(rows))) if not head else ("", "")
    return cut_before + join.join([*head, *rows[a:b]]) + cut_after
