"""Pieces of a page: parts that fit into an answer, whole again when joined, and the section that a name means.

A long text is cut where a reader would cut. A part's `text` is a verbatim slice. Where a fence or a table is longer
than a part, it is cut at a line; `shown` closes it there and opens it again in the next part, so that each part is
sound markdown by itself.

>>> [part.shown for part in cut("```sql\\nSELECT 1;\\nSELECT 2;\\n```", limit=24)]
['```sql\\nSELECT 1;\\n```', '```sql\\nSELECT 2;\\n```']
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pgdocs.errors import PageNotFound
from pgdocs.pages import PATH_SEPARATOR, Page, scan_lines, short_name, split_anchors

HEADING, BLOCK, LINE, NEVER = range(4)
"""What a cut before a line would part, from the best place to the worst: a section begins, a block begins, a block
goes on (a row, a line of code, an item's second paragraph, what a heading or a caption announces), nothing sensible."""

MAX_REOPENED = 500
"""A longer head of a table is not repeated in the next part: it would eat the rows that it explains."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*\S)\s*")
_NUMBER = re.compile(r"(?:(?:part|chapter|appendix) \w+|(?:[a-z]\.)?\d[\d.]*)\.\s+", re.IGNORECASE)
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


# --- sections by name ---------------------------------------------------------------------------------------


class Passage(NamedTuple):
    """A verbatim piece of a page's body; `trail` are the headings it stands under, without the page's title."""

    trail: tuple[str, ...]
    anchor: str
    text: str


class Heading(NamedTuple):
    """A heading and the number of its line."""

    line: int
    level: int
    title: str
    anchors: list[str]


def find_passage(page: Page, section: str) -> Passage:
    """The section that an anchor or a heading names, with all below it; an anchor in a section's midst begins at its
    block. Raises PageNotFound with near names."""
    wanted = section.lstrip("#").strip()
    if not wanted or wanted.casefold() in (page.anchor.casefold(), page.title.casefold()):
        return Passage((), "" if not section else page.anchor, page.body)
    lines = [*scan_lines(page.body)]
    anchors = {n: split_anchors(line)[1] for n, (line, state) in enumerate(lines) if not state and line.endswith("}")}
    headings = headings_of(page.body)
    number = _line_named(wanted, headings, anchors)
    if number is None:
        names = [h.title.replace("`", "") for h in headings] + [a for found in anchors.values() for a in found]
        near = [name for name in names if wanted.casefold() in name.casefold()]
        near = near or difflib.get_close_matches(wanted, names, 5, 0.5) or names
        raise PageNotFound(section[:200], near[:5], what=f"section of {short_name(page.doc_name)} named")
    own = next((h for h in headings if h.line == number), None)
    end = next((h.line for h in headings if h.line > number and h.level <= (own.level if own else 6)), len(lines))
    under = [*trail(headings, number), *([own] if own else [])]
    anchor = next((a for a in anchors.get(number, []) if a.casefold() == wanted.casefold()), "")
    anchor = anchor or next(iter(anchors.get(number, [])), "")
    start = number
    while not own and start and lines[start - 1][0].strip() and not lines[start - 1][1]:
        start -= 1
    text = "\n".join(line for line, _ in lines[start:end]).strip("\n")
    return Passage(tuple(h.title for h in under), anchor, text)


def headings_of(text: str) -> list[Heading]:
    """All headings of a markdown text."""
    return [
        Heading(n, len(match[1]), *split_anchors(match[2]))
        for n, (line, state) in enumerate(scan_lines(text))
        if not state and (match := _HEADING.fullmatch(line.rstrip()))
    ]


def trail(headings: Sequence[Heading], line: int) -> list[Heading]:
    """The headings that a line stands under; of a line that is a heading, those above it."""
    found: list[Heading] = []
    for heading in headings:
        if heading.line <= line:
            found = [above for above in found if above.level < heading.level]
            found += [heading] * (heading.line < line)
    return found


def _line_named(wanted: str, headings: Sequence[Heading], anchors: dict[int, list[str]]) -> int | None:
    """The line that bears the anchor, in its case or any; else the heading of that text; else the one it begins."""
    plain = _plain(wanted)
    titles = [(heading.line, _plain(heading.title)) for heading in headings]
    exact = (n for n, found in anchors.items() if wanted in found)
    any_case = (n for n, found in anchors.items() if wanted.casefold() in (a.casefold() for a in found))
    titled = (n for n, title in titles if title == plain)
    numbered = (heading.line for heading in headings if is_called(heading.title, wanted.casefold()))
    begun = (n for n, title in titles if plain and title.startswith(plain + " "))
    return next((n for way in (exact, any_case, titled, numbered, begun) for n in way), None)


def _plain(heading: str) -> str:
    """`9.1. The `work_mem` setting` → `the work_mem setting`: how one names a heading without its number and marks."""
    return re.sub(r"^(?:[\dA-Z]+\.)+\s*|[`*\\]", "", heading.rpartition(PATH_SEPARATOR)[2]).strip().casefold()


def is_called(title: str, wanted: str) -> bool:
    """`Chapter 9. Functions and Operators` is meant by the whole, by `functions and operators` and by `chapter 9`."""
    title = title.casefold()
    number = _NUMBER.match(title)
    return wanted in (title, title[number.end() :], number[0].rstrip(". ")) if number else wanted == title
