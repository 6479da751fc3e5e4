"""A passage → parts that are shown or left out as a whole, each with what it can't be understood without.

A part is a paragraph, a list item, a fence, a row of a long table. `needs` leads from it to the parts that must be
shown with it: the heading above it, the sentence that announces an example, the caption and the head of a table, the
item that a paragraph goes on with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pgdocs.pages import Block, is_links, scan_lines, split_anchors, split_blocks, unlink
from pgdocs.search.budget import count_tokens

WHOLE = 200
"""Tokens up to which a table, or an example with the sentence that leads to it, is one part: cut, it says less."""

FRAME = ("heading", "caption", "head")
"""Kinds of parts that say nothing alone. Headings are shown in bold: a passage has its own, from its path."""

_NOUNS = {
    "text": ("paragraph", "paragraphs"),
    "item": ("entry", "entries"),
    "row": ("row", "rows"),
    "fence": ("example", "examples"),
}
_CAPTION = re.compile(r"\*\*.+\*\*")
_URL = re.compile(r"(https?|ftp)://", re.IGNORECASE)


@dataclass(frozen=True)
class ScoredPassage:
    """One of a page's passages, as `split_passages` cuts them: its place in the index, the anchor it is cited by, its
    heading trail below the title, its text and a ranker's score."""

    place: int
    anchor: str
    section: str
    text: str
    score: float


@dataclass(eq=False)
class Part:
    """A part of passage `passage` of page `page` (numbers); `kind` is a block's, or caption, head (of a table), row."""

    page: int
    passage: int
    kind: str
    block: Block
    cost: int
    needs: Part | None
    value: float = 0.0

    @property
    def chain(self) -> Iterator[Part]:
        """The part and all that it needs."""
        part: Part | None = self
        while part:
            yield part
            part = part.needs


def cut(page: int, passages: Sequence[ScoredPassage], numbers: Iterable[int]) -> list[Part]:
    """The parts of some passages of a page, in order. A caption and the head of a table that goes on over several
    passages are there once."""
    parts: list[Part] = []
    known: dict[tuple[str, str], Part] = {}
    for number in numbers:
        hit = passages[number]
        heading: Part | None = None
        caption: Part | None = None
        item: Part | None = None
        before: Part | None = None
        for kind, block, cost in (*_opening(passages, hit), *pieces(hit.text)):
            needs = heading if kind in ("text", "quote", "caption") else caption or heading
            if kind == "heading":
                needs = caption = None
            elif kind == "row" and before:
                needs = before if before.kind == "head" else before.needs
            elif kind == "text" and block.text.startswith("  "):
                needs = item or heading
            elif before and before.kind in ("text", "item") and before.block.text.endswith((":", "→", "→`")):
                needs = before
            own = Part(page, number, kind, block, cost, needs)
            part = known.setdefault((hit.anchor, block.text), own) if kind in ("caption", "head") else own
            if part is own:
                parts.append(part)
            heading = part if kind == "heading" else heading
            caption = part if kind == "caption" else caption
            item = part if kind == "item" else item if kind in ("fence", "text") else None
            before = part
    return parts


def _opening(passages: Sequence[ScoredPassage], hit: ScoredPassage) -> tuple[tuple[str, Block, int], ...]:
    """The caption that a passage goes on under, where an earlier one of the same section begins with it."""
    first = next(other for other in passages if (other.anchor, other.section) == (hit.anchor, hit.section))
    return () if first is hit else tuple(piece for piece in pieces(first.text)[:1] if piece[0] == "caption")


@lru_cache(maxsize=512)  # passages that are asked for again and again
def pieces(text: str) -> tuple[tuple[str, Block, int], ...]:
    """(kind, block, tokens) of each part of a passage, as plain text: without links and anchors."""
    found: list[tuple[str, Block]] = []
    for telling in telling_blocks(text):
        block = Block(telling.kind, _URL.sub(r"\1[:]//", telling.text))
        lines = block.text.split("\n")
        before = found[-1][1] if found else Block("", "")
        if block.kind == "heading":
            found.append(("heading", Block("text", f"**{block.text.lstrip('#').strip()}**")))
        elif block.kind == "table" and count_tokens(block.text) > WHOLE:
            found.append(("head", Block("table", "\n".join(lines[:2]))))
            found.extend(("row", Block("table", line)) for line in lines[2:])
        elif block.kind == "text" and _CAPTION.fullmatch(block.text):
            found.append(("caption", block))
        elif block.kind == "fence" and _leads(before) and count_tokens(block.text) <= WHOLE:
            found[-1] = ("fence", Block("text", f"{before.text}\n\n{block.text}"))
        else:
            found.append((block.kind, block))
    return tuple((kind, block, count_tokens(block.text) + 1) for kind, block in found)


def _leads(block: Block) -> bool:
    return block.kind == "text" and block.text.endswith(":")


def telling_blocks(text: str) -> list[Block]:
    """The blocks of a text as plain text, but for those that are links alone (See Also) beside others that say more."""
    blocks = split_blocks(text)
    telling = [block for block in blocks if block.kind not in ("text", "item") or not is_links(block.text)]
    if all(block.kind == "heading" for block in telling):
        telling = blocks
    return [Block(block.kind, _plain(block.text)) for block in telling]


def _plain(text: str) -> str:
    """Links as their text, and no anchors; fences stay as they are."""
    return "\n".join(
        line if fence or not line.endswith("}") else split_anchors(line)[0] for line, fence in scan_lines(unlink(text))
    )


def without_urls(text: str) -> str:
    """`text` as plain text, without a URL that could be taken for a citation: `http[:]//…`."""
    return _URL.sub(r"\1[:]//", _plain(text))


def joined(parts: Iterable[Part]) -> Iterator[Block]:
    """The blocks of some parts, rows as tables, each run of them under its head."""
    table: list[str] = []
    for part in parts:
        if part.kind == "row":
            table = table or [part.needs.block.text if part.needs else ""]
            table.append(part.block.text)
            continue
        if table:
            yield Block("table", "\n".join(table))
            table = []
        if part.kind != "head":
            yield part.block
    if table:
        yield Block("table", "\n".join(table))


def left_out(hits: Iterable[ScoredPassage], shown: Iterable[Part]) -> str:
    """What some passages hold besides the parts that are shown, in words: "3 more entries, 1 more example"."""
    counts = Counter(_things((kind, block) for hit in hits for kind, block, _ in pieces(hit.text)))
    counts.subtract(_things((part.kind, part.block) for part in shown))
    return ", ".join(f"{n} more {_NOUNS[thing][n != 1]}" for thing, n in counts.items() if n > 0)


def _things(parts: Iterable[tuple[str, Block]]) -> Iterator[str]:
    """A key of _NOUNS for each thing that some parts hold."""
    for kind, block in parts:
        if kind == "table":
            yield from ["row"] * (block.text.count("\n") - 1)
        elif kind not in FRAME:
            yield kind if kind in _NOUNS else "text"
