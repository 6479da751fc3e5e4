"""A passage and a query → the part of it that answers, whole blocks only."""

from __future__ import annotations

from collections.abc import Callable

from pgdocs.pages import Block, join_blocks, split_blocks, unlink
from pgdocs.search.tokens import strip_markdown, tokens

SNIPPET = 600
"""Characters of a snippet, about: five of them, with their headings, are some 1,000 tokens."""


def snippet(text: str, query: str, weight: Callable[[str], float], limit: int = SNIPPET) -> str:
    """The blocks of `text` around the one that matches `query` best, up to about `limit` characters."""
    blocks = [Block(b.kind, _row_window(b, query, weight, limit)) for b in split_blocks(unlink(text))]
    if not blocks:
        return ""
    wanted = set(tokens(query))
    values = [sum(weight(token) for token in wanted & set(tokens(strip_markdown(b.text)))) for b in blocks]
    best = max(range(len(blocks)), key=lambda n: (values[n], -n))
    first = last = best
    size = len(blocks[best].text)
    while True:
        after = last + 1 < len(blocks) and size + len(blocks[last + 1].text) <= limit
        before = first > 0 and size + len(blocks[first - 1].text) <= limit
        if after and (not before or values[last + 1] >= values[first - 1]):
            last += 1
            size += len(blocks[last].text)
        elif before:
            first -= 1
            size += len(blocks[first].text)
        else:
            break
    return join_blocks(blocks[first : last + 1])


def _row_window(block: Block, query: str, weight: Callable[[str], float], limit: int) -> str:
    """A long table: its header and the rows that match best."""
    lines = block.text.split("\n")
    if block.kind != "table" or len(block.text) <= limit or len(lines) < 4:
        return block.text
    wanted = set(tokens(query))
    rows = lines[2:]
    values = [sum(weight(token) for token in wanted & set(tokens(strip_markdown(row)))) for row in rows]
    size, kept = len(lines[0]) + len(lines[1]), []
    for number in sorted(range(len(rows)), key=lambda n: (-values[n], n)):
        if kept and size + len(rows[number]) > limit:
            break
        kept.append(number)
        size += len(rows[number])
    return "\n".join([*lines[:2], *(rows[n] for n in sorted(kept))])
