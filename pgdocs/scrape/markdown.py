"""Simple HTML → markdown: markdownify with the converters that the page format needs.

`convert.py` has made the tree simple before: what arrives here are headings, paragraphs, lists, quotations,
tables of data, code, links, and `<anchor id>` where a `{#id}` belongs.
"""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Tag
from markdownify import ATX, MarkdownConverter

from pgdocs.pages import scan_lines, split_blocks

_INVISIBLE = str.maketrans({"\u200b": None, "\u00ad": None, "\ufeff": None, "\u00a0": " "})
"""Characters that a browser does not show (zero-width space, soft hyphen), and the no-break space."""


_BLANKS = re.compile(r"(?<=\S) {2,}")


def to_markdown(root: Tag) -> str:
    """The markdown of a simplified tree: blocks one blank line apart, no blanks at line ends outside code."""
    text = _Converter().convert_soup(root)
    lines = [line if fence else _BLANKS.sub(" ", line).rstrip() for line, fence in scan_lines(text)]
    return _squeeze(lines)


def code_text(element: Tag) -> str:
    """The text of a code element on one line."""
    return " ".join(element.get_text().translate(_INVISIBLE).split())


def _squeeze(lines: list[str]) -> str:
    """Join lines, at most one blank line between blocks. A fence that malformed HTML has left open is closed."""
    kept: list[str] = []
    fence = opening = ""
    for line, fence in scan_lines("\n".join(lines)):
        opening = line if fence == "open" else opening
        if fence or line or (kept and kept[-1]):
            kept.append(line)
    if fence in ("open", "code"):
        kept.append(re.match(r" *[`~]+", opening)[0])  # type: ignore[index]
    return "\n".join(kept).strip("\n")


def _indent(text: str, width: int) -> str:
    """Indent all lines after the first, up to the first fence or heading: those stand at column 0 (pages.py)."""
    lines, hang = [], ""
    for line, fence in scan_lines(text):
        if fence or line.startswith("#"):
            hang = ""
            width = 0
        lines.append(hang + line if line else "")
        hang = " " * width
    return "\n".join(lines)


class _Converter(MarkdownConverter):  # type: ignore[misc]
    class Options:
        heading_style = ATX
        bullets = "-"
        autolinks = False
        wrap = True  # all white space in running text is one blank …
        wrap_width = None  # … and a paragraph is one line

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """A reader wants `pg_class`, not `pg\\_class`: only what would open a fence is escaped."""
        return text.replace("```", "\\`\\`\\`").replace("~~~", "\\~\\~\\~")

    def process_text(self, el: Any, parent_tags: set[str] | None = None) -> str:
        return str(super().process_text(el, parent_tags)).translate(_INVISIBLE)

    def process_tag(self, node: Tag, parent_tags: set[str] | None = None) -> str:
        if node.name == "pre":
            return self._fence(node)
        if node.name == "table":
            return self._table(node, set(parent_tags or ()))
        return str(super().process_tag(node, parent_tags))

    def convert_anchor(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f" {{#{el['id']}}}"

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A link as `[text](target)`; one whose text is its address as `<address>`."""
        target = str(el.get("href") or "")
        label = text.strip()
        if not label or not target or "_noformat" in parent_tags:
            return text
        target = target.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
        link = f"<{target}>" if label == target and "://" in target else f"[{label}]({target})"
        return text.replace(label, link) if text != label else link

    def convert_code(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Code in running text stays on its line, whatever stands in it."""
        return str(super().convert_code(el, re.sub(r"\s+", " ", text), parent_tags))

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An image is what its alternative text says."""
        return str(el.get("alt") or "")

    def convert_sup(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return text if not text or text.startswith("[") else f"^{text}"

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item; its further paragraphs hang below it, its fences and headings stand at column 0."""
        text = text.strip()
        if not text:
            return "\n"
        parent = el.parent
        bullet = "- "
        if parent is not None and parent.name == "ol":
            start = str(parent.get("start") or "1")
            number = (int(start) if start.isdigit() else 1) + len(el.find_previous_siblings("li"))
            bullet = f"{number}. "
        if text.startswith(("```", "#")):  # no room for a bullet at column 0
            return f"\n\n{text}\n\n"
        loose = "\n\n" if "\n\n" in text else "\n"
        return f"{bullet}{_indent(text, len(bullet))}{loose}"

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"\n{text.rstrip()}\n" if "li" in parent_tags and el.find("p") is None else f"\n\n{text.strip()}\n\n"

    convert_ul = convert_list
    convert_ol = convert_list

    def convert_blockquote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A quotation, interrupted where a fence stands at column 0."""
        quoted = ""
        previous = "fence"
        for block in split_blocks(text.strip()):
            lines = block.text.split("\n")
            body = block.text if block.kind == "fence" else "\n".join(f"> {x}" if x else ">" for x in lines)
            apart = "\n\n" if "fence" in (previous, block.kind) else "\n>\n"
            quoted += (apart if quoted else "") + body
            previous = block.kind
        return f"\n\n{quoted}\n\n"

    def _fence(self, el: Tag) -> str:
        """`<pre>` to the letter, but for its first line break and the blanks at its end. A synopsis says so."""
        text = el.get_text().replace("\u200b", "").removeprefix("\n").rstrip()
        if not text:
            return ""
        ticks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
        info = "synopsis" if "synopsis" in el.get_attribute_list("class") else ""
        return f"\n\n{ticks}{info}\n{text}\n{ticks}\n\n"

    def _table(self, el: Tag, parent_tags: set[str]) -> str:
        """A table of data. A cell that spans rows is repeated, so that every row can be read alone."""
        rows = [row for row in el.find_all("tr") if row.find_parent("table") is el]
        head = bool(rows) and (bool(rows[0].find_parent("thead")) or not rows[0].find("td"))
        grid = self._grid(rows, parent_tags)
        width = max((len(cells) for cells in grid), default=0)
        if not width:
            return ""
        if not head:
            grid.insert(0, [])
        lines = [f"| {' | '.join(cells + [''] * (width - len(cells)))} |" for cells in grid]
        lines.insert(1, f"|{' --- |' * width}")
        return "\n\n" + "\n".join(lines) + "\n\n"

    def _grid(self, rows: list[Tag], parent_tags: set[str]) -> list[list[str]]:
        grid: list[list[str]] = []
        spanning: dict[int, tuple[int, str]] = {}  # column → rows still to come, text
        for row in rows:
            cells: list[str] = []

            def fill(cells: list[str] = cells) -> None:
                while (left := spanning.pop(len(cells), None)) is not None:
                    if left[0] > 1:
                        spanning[len(cells)] = (left[0] - 1, left[1])
                    cells.append(left[1])

            for cell in row.find_all(["td", "th"], recursive=False):
                fill()
                text = self._cell(cell, parent_tags)
                down, right = _span(cell, "rowspan"), _span(cell, "colspan")
                if down > 1:
                    spanning[len(cells)] = (down - 1, text)
                cells.append(text)
                cells.extend([""] * (right - 1))
            fill()
            grid.append(cells)
        return grid

    def _cell(self, cell: Tag, parent_tags: set[str]) -> str:
        """A cell on one line: `<br>` between its paragraphs and items, `\\|` for a bar."""
        cell.name = "div"  # markdownify would put all of a `td` on one line, without a mark between paragraphs
        text = super().process_tag(cell, parent_tags)
        return re.sub(r"\s*\n\s*", "<br>", str(text).strip()).replace("|", "\\|")

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A cell that stands in no table."""
        return f"\n\n{text}\n\n"

    convert_th = convert_td
    convert_tr = convert_td


def _span(cell: Tag, direction: str) -> int:
    """How many rows or columns a cell spans: no table of either manual has 100 of them."""
    number = str(cell.get(direction) or "1")
    return max(1, min(100, int(number))) if number.isdecimal() and len(number) < 9 else 1


def new_tag(name: str, text: str = "", **attributes: str) -> Tag:
    """A fresh element to put into a tree."""
    tag = _FACTORY.new_tag(name, attrs=attributes)
    if text:
        tag.string = text
    return tag


_FACTORY = BeautifulSoup("", "lxml")
