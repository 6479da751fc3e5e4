"""A passage and a query → the part of it that answers: whole blocks around the best one, never half a fence or row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

from pgdocs.pages import Block, join_blocks, split_anchors, split_blocks, unlink
from pgdocs.search.tokens import stem, tokens

_WORD = re.compile(r"[^\W_]+")

SNIPPET = 800
"""Characters of a snippet, about: five of them, with their headings and addresses, are some 1,300 tokens."""

CODE = 1600
"""Characters that a snippet may reach with the code that its last sentence leads to."""


def snippet(text: str, matcher: Matcher, limit: int = SNIPPET) -> str:
    """The blocks of `text` around those that match best, up to about `limit` characters.

    A block longer than that is cut: a table between its rows (with its header), running text between sentences, a
    fence or an item not at all.
    """
    blocks = [Block(b.kind, _shortened(b, matcher, limit)) for b in split_blocks(plain(text))]
    if not blocks:
        return ""
    a, b = window([matcher.value(block.text) for block in blocks], [len(block.text) + 2 for block in blocks], limit)
    if a and blocks[a].kind == "fence" and blocks[a - 1].kind == "text" and len(blocks[a - 1].text) < limit / 4:
        a -= 1  # the sentence that leads to the code
    found = join_blocks(blocks[a:b])
    if found.endswith(":") and b < len(blocks) and len(found) + len(blocks[b].text) <= CODE:
        found = join_blocks(blocks[a : b + 1])
    return found


def plain(text: str) -> str:
    """`text` with links as their text and without anchors."""
    return "\n".join(split_anchors(line)[0] if "{#" in line else line for line in unlink(text).split("\n"))


class Matcher:
    """Values texts by the words of a query that they hold. `weight` says how much each of the query's tokens counts."""

    def __init__(self, query: str, weight: Callable[[str], float]) -> None:
        weights = {token: weight(token) for token in tokens(query)}
        self._words = {token: value for token, value in weights.items() if token.isalnum()}
        self._names = {token: value for token, value in weights.items() if not token.isalnum()}

    def value(self, text: str) -> float:
        """The sum of the weights of the query's words in `text`, each once."""
        text = text.lower()
        stems = {stem(word) for word in set(_WORD.findall(text))}
        found = sum(self._words[word] for word in stems & self._words.keys())
        return found + sum(value for name, value in self._names.items() if name in text)


def window(values: Sequence[float], sizes: Sequence[int], limit: int) -> tuple[int, int]:
    """The run a:b of blocks with the greatest value whose sizes fit into `limit`, grown while there is room.

    Of equal ones the shorter, then the earlier. At least one block.
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
    return join.join([*head, *rows[a:b]])
