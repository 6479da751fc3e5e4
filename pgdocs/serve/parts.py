"""A long text → parts that fit into an answer, cut where a reader would cut and whole again when joined.

A part's `text` is a verbatim slice. Where a fence or a table is longer than a part, it is cut at a line; `shown`
closes it there and opens it again in the next part, so that each part is sound markdown by itself.

>>> [part.shown for part in cut("```sql\\nSELECT 1;\\nSELECT 2;\\n```", limit=24)]
['```sql\\nSELECT 1;\\n```', '```sql\\nSELECT 2;\\n```']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pgdocs.pages import scan_lines

HEADING, BLOCK, LINE, NEVER = range(4)
"""What a cut before a line would part, from the best place to the worst: a section begins, a block begins, a block
goes on (a row, a line of code, an item's second paragraph, what a heading or a caption announces), nothing sensible."""

MAX_REOPENED = 500
"""A longer head of a table is not repeated in the next part: it would eat the rows that it explains."""

_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_CAPTION = re.compile(r"\*\*.+\*\*(?:\s*\{#[^\s{}]+\})*\s*")
_TABLE_RULE = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
_FENCE_MARK = re.compile(r" {0,3}(`+|~+)")


@dataclass(frozen=True)
class Part:
    """A slice of the text, and the lines that open and close what the cut left open."""

    text: str
    opens: str = ""
    closes: str = ""

    @property
    def shown(self) -> str:
        return self.opens + self.text.rstrip("\n") + self.closes


@dataclass(frozen=True)
class _Line:
    """A line with its newline, the rank of a cut before it, and what such a cut has to close and open again."""

    text: str
    rank: int
    opens: str = ""
    closes: str = ""


@lru_cache(maxsize=16)  # who reads a page in parts asks for one after the other
def cut(text: str, limit: int) -> tuple[Part, ...]:
    """Parts of at most `limit` characters each (as shown). Their `text`s joined are `text`; there is at least one."""
    lines = _scan(text, limit)
    parts: list[Part] = []
    start = 0
    while not parts or start < len(lines) - 1:
        end = _end(lines, start, limit)
        parts.append(Part("".join(line.text for line in lines[start:end]), lines[start].opens, lines[end].closes))
        start = end
    return tuple(parts)


def _end(lines: list[_Line], start: int, limit: int) -> int:
    """The line before which the part that begins at line `start` ends: the end of the text, a section in the part's
    second half, the last block that the next part holds whole, or the last line that fits."""
    size = len(lines[start].opens)
    fits: list[tuple[int, int]] = []  # (line, size of the part that ends before it)
    for number, line in enumerate(lines[start:-1], start + 1):
        size += len(line.text)
        shown = size - line.text.endswith("\n")
        if shown > limit:
            break
        if shown + len(lines[number].closes) <= limit and lines[number].rank < NEVER:
            fits.append((number, shown))
    else:
        if not fits or fits[-1][0] == len(lines) - 1:
            return len(lines) - 1
    for number, shown in reversed(fits):
        if lines[number].rank == HEADING and shown > limit // 2:
            return number
    block = next((number for number, _ in reversed(fits) if lines[number].rank <= BLOCK), None)
    if block and _block_size(lines, block) <= limit:
        return block
    return fits[-1][0] if fits else start + 1


def _block_size(lines: list[_Line], start: int) -> int:
    size = len(lines[start].text)
    for line in lines[start + 1 :]:
        if line.rank <= BLOCK:
            break
        size += len(line.text)
    return size


def _scan(text: str, limit: int) -> list[_Line]:
    """Every line of `text`, longer ones in pieces, and the end of it (which closes a fence that the text left open)."""
    found: list[_Line] = []
    fence = mark = head = ""  # the line that opened the fence we are in, its mark; the head of the table we are in
    before = state_before = ""
    announced, blank = True, True
    for line, state in scan_lines(text):
        if state == "open":
            mark = (_FENCE_MARK.match(line) or ["", "```"])[1]
            fence = line if len(line) <= MAX_REOPENED else mark
        code = state in ("code", "close")
        rule = not state and bool(_TABLE_RULE.fullmatch(line))
        if rule:
            head = f"{before}\n{line}\n"
        elif not line.lstrip().startswith("|"):
            head = ""
        if code:
            rank = LINE if state == "code" and state_before == "code" else NEVER
        elif not line.strip() or rule or (head and _TABLE_RULE.fullmatch(before)):
            rank = NEVER
        elif not state and _HEADING.match(line):
            rank = LINE if announced and before else HEADING  # a heading alone at a part's end announces nothing
        else:
            rank = BLOCK if blank and not announced and not line.startswith("  ") else LINE
        opens, closes = (fence + "\n", "\n" + mark) if code else ("", "")
        if head and not rule and len(head) <= min(MAX_REOPENED, limit // 4):
            opens = head
        first, *rest = _pieces(line + "\n", max(limit - len(opens) - len(closes), 1))
        found.append(_Line(first, rank, opens, closes))
        if state:
            opens, closes = fence + "\n", "\n" + mark
        found.extend(_Line(piece, LINE, opens, closes) for piece in rest)
        blank = not line.strip()
        if not blank:
            announced = not state and bool(_HEADING.match(line) or _CAPTION.fullmatch(line))
            before = line
        state_before = state
    found[-1] = _Line(found[-1].text[:-1], found[-1].rank, found[-1].opens, found[-1].closes)  # no newline of ours
    return [*found, _Line("", HEADING, "", closes if state in ("open", "code") else "")]


def _pieces(line: str, room: int) -> list[str]:
    """The line, cut at blanks (or anywhere, where there are none) into pieces of at most `room` characters."""
    pieces = []
    while len(line) > room + 1:  # its newline is not shown
        at = line.rfind(" ", room // 2, room) + 1 or room
        while at > 1 and line[at] in "`~ ":  # a piece that begins like a fence would be one
            at -= 1
        pieces.append(line[:at])
        line = line[at:]
    return [*pieces, line]
