"""The page format, written and read: the one thing that both halves of pgdocs know.

A page is one markdown file, `<source>__<slug>.md`:

    # SELECT {#SQL-SELECT}

    Source: https://www.postgresql.org/docs/18/sql-select.html
    Path: PostgreSQL 18 › Reference › SQL Commands
    Kind: reference

    ---

    SELECT, TABLE, WITH — retrieve rows from a table or view

    ## DISTINCT Clause {#SQL-DISTINCT}

`{#id}` ends a line and marks where a link lands; a line may end in several. Fences stand at column 0,
also inside a list, so that their text is the manual's to the letter. A markdown file without such a
header is a page too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from urllib.parse import quote, unquote

PATH_SEPARATOR = " › "
"""Between the steps of `Path:`; no title of either manual holds this character."""

DEFAULT_SOURCE = "docs"
"""The source of a plain markdown file whose name has no `<source>__` before it."""

_ANCHOR = re.compile(r"\{#([^\s{}]+)\}")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*\S)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(((?:[^\s()]|\([^\s()]*\))+)\)")
_TWIN = re.compile(r"~\d+$")
_HEADER = re.compile(
    r"# (?P<title>.+)\n\n(?=Source: |Path: |Kind: )"
    r"(?:Source: (?:(?P<url>https?://\S+)|.*)\n)?(?:Path: (?P<path>.+)\n)?(?:Kind: (?P<kind>.+)\n)?\n---\n"
)


@dataclass(frozen=True)
class Page:
    """One page of a manual. `body` is the markdown below the header, `path` leads from the product to the page, `url`
    is of the web: a script, data or words in its place are no address and aren't read."""

    doc_name: str
    title: str
    anchor: str = ""
    url: str = ""
    path: tuple[str, ...] = ()
    kind: str = ""
    body: str = ""

    @property
    def source(self) -> str:
        return split_doc_name(self.doc_name)[0]

    @property
    def slug(self) -> str:
        return split_doc_name(self.doc_name)[1]


@dataclass(frozen=True)
class Section:
    """A heading and the text below it, up to the next heading. `trail` are the headings above it, page title first."""

    level: int
    title: str
    anchor: str
    trail: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Block:
    """A run of lines that must not be cut: kind is heading, fence, table, quote, item or text."""

    kind: str
    text: str


# --- names ------------------------------------------------------------------------------------------------


def doc_name(source: str, slug: str) -> str:
    """`pg`, `sql-select` → `pg__sql-select`."""
    return f"{source}__{slug}"


def split_doc_name(name: str) -> tuple[str, str]:
    """`pg__sql-select` → (`pg`, `sql-select`); a name without `__` belongs to DEFAULT_SOURCE."""
    source, separator, slug = name.partition("__")
    return (source, slug) if separator and source and slug else (DEFAULT_SOURCE, name)


def short_name(name: str) -> str:
    """`pg__sql-select` → `pg/sql-select`, as people and agents write it."""
    return "/".join(split_doc_name(name))


def slug_of_url(url: str) -> str:
    """The last part of a URL's path without its suffix: `…/docs/18/sql-select.html#X` → `sql-select`."""
    path = re.sub(r"^\w+://[^/?#]*|[?#].*$", "", url)  # urlsplit fails on `http://[`, which people paste too
    last = unquote(path).rsplit("/", 1)[-1]
    return re.sub(r"\.html?$", "", last) or "index"


def file_name(name: str, twin: int = 1) -> str:
    """The file of a page. `twin` counts the pages whose names differ only by case: the second one gets `~2`."""
    return quote(name, safe="") + (f"~{twin}" if twin > 1 else "") + ".md"


def doc_name_of_file(file: PurePath) -> str:
    """The page that a file (relative to the docs folder) holds: `a/b.md` → `a__b`, `x~2.md` → `x`."""
    return unquote(_TWIN.sub("", "__".join(file.with_suffix("").parts)))


# --- the header -------------------------------------------------------------------------------------------


def render_page(page: Page) -> str:
    """The file's text. `parse_page` reads it back to an equal page."""
    fields = {"Source": page.url, "Path": PATH_SEPARATOR.join(page.path), "Kind": page.kind}
    header = "".join(f"{key}: {value}\n" for key, value in fields.items() if value)
    return f"# {with_anchors(page.title, [page.anchor])}\n\n{header}\n---\n\n{page.body}\n"


def parse_page(text: str, name: str) -> Page:
    """Read a page. A file without our header is a page whose title is its first heading (or its name)."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    header = _HEADER.match(text)
    if not header:
        return Page(name, _first_heading(text) or split_doc_name(name)[1], body=text.strip("\n"))
    title, anchors = split_anchors(header["title"])
    path = tuple(header["path"].split(PATH_SEPARATOR)) if header["path"] else ()
    body = text[header.end() :].strip("\n")
    return Page(name, title, "".join(anchors[:1]), header["url"] or "", path, header["kind"] or "", body)


def read_page(file: Path, docs_dir: Path) -> Page:
    """Read one file below `docs_dir`; bytes that are not UTF-8 become U+FFFD rather than an error."""
    return parse_page(file.read_bytes().decode("utf-8", errors="replace"), doc_name_of_file(file.relative_to(docs_dir)))


def _first_heading(text: str) -> str:
    return next((split_anchors(m[2])[0] for _, m in _headings(text)), "")


# --- lines, sections, blocks ------------------------------------------------------------------------------


def split_anchors(line: str) -> tuple[str, list[str]]:
    """`DISTINCT Clause {#SQL-DISTINCT}` → (`DISTINCT Clause`, [`SQL-DISTINCT`])."""
    names: list[str] = []
    end = _stripped(line, len(line))
    while line[end - 1 : end] == "}":  # backwards: a search from the left takes quadratic time for a line of anchors
        last = _ANCHOR.fullmatch(line, max(line.rfind("{#", 0, end), 0), end)
        if not last:
            break
        names.append(last[1])
        end = _stripped(line, last.start())
    return (line[:end], names[::-1]) if names else (line, [])


def _stripped(line: str, end: int) -> int:
    """The length of `line[:end].rstrip()`."""
    while end and line[end - 1].isspace():
        end -= 1
    return end


def with_anchors(line: str, anchors: Iterable[str]) -> str:
    """The inverse of `split_anchors`; empty anchors are left out."""
    return " ".join([line, *(f"{{#{a}}}" for a in anchors if a)])


def scan_lines(text: str) -> Iterator[tuple[str, str]]:
    """Each line with what it is to its fence: "open", "code", "close", or "" outside of any."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if not fence:
            fence = mark[1] if mark else ""
            yield line, "open" if mark else ""
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
            yield line, "close"
        else:
            yield line, "code"


def _headings(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    for number, (line, fence) in enumerate(scan_lines(text)):
        match = None if fence else _HEADING.fullmatch(line.rstrip())
        if match:
            yield number, match


def split_sections(page: Page) -> list[Section]:
    """The page cut at every heading; the first section is what stands before any, under the page's title."""
    lines = page.body.split("\n")
    starts = [(n, len(m[1]), *split_anchors(m[2])) for n, m in _headings(page.body)]
    ends = [*(number for number, *_ in starts), len(lines)]
    first = "\n".join(lines[: ends[0]]).strip("\n")
    sections = [Section(1, page.title, page.anchor, (), first)]
    trail: list[tuple[int, str]] = []
    for (number, level, title, anchors), end in zip(starts, ends[1:], strict=True):
        trail = [(above, name) for above, name in trail if above < level]
        names = (page.title, *(name for _, name in trail))
        text = "\n".join(lines[number + 1 : end]).strip("\n")
        sections.append(Section(level, title, "".join(anchors[:1]), names, text))
        trail.append((level, title))
    return sections


def split_blocks(text: str) -> list[Block]:
    """Cut at blank lines; a fence, a table, a quotation and a list item with its indented paragraphs stay whole."""
    blocks: list[tuple[str, list[str]]] = []  # kind, lines
    previous = ""  # the kind of the line before; "" after a blank line or a fence
    for line, fence in scan_lines(text):
        if fence in ("code", "close"):
            blocks[-1][1].append(line)
            previous = ""
        elif not fence and not line.strip():
            previous = ""
        else:
            kind = "fence" if fence else _block_kind(line)
            below_item = kind == "text" and line.startswith("  ") and blocks and blocks[-1][0] == "item"
            if kind == previous != "item" or (kind == "text" and previous in ("item", "quote")):
                blocks[-1][1].append(line)
            elif below_item:
                blocks[-1][1].extend(("", line))
            else:
                blocks.append((kind, [line]))
            previous = blocks[-1][0]
    return [Block(kind, "\n".join(lines)) for kind, lines in blocks]


def join_blocks(blocks: Iterable[Block]) -> str:
    """The inverse of `split_blocks`: tight lists stay tight."""
    text, previous = "", None
    for block in blocks:
        tight = previous and previous.kind == block.kind == "item" and "\n\n" not in previous.text + block.text
        text += ("\n" if tight else "\n\n") * bool(text) + block.text
        previous = block
    return text


def _block_kind(line: str) -> str:
    stripped = line.lstrip()
    if _HEADING.fullmatch(line.rstrip()):
        return "heading"
    if stripped.startswith("|"):
        return "table"
    if stripped.startswith(">"):
        return "quote"
    return "item" if re.match(r"(?:[-*+]|\d+[.)])\s", stripped) else "text"


# --- links and cells --------------------------------------------------------------------------------------


def links(text: str) -> list[str]:
    """The targets of a page's links in order, outside fences; images are no links."""
    plain = "\n".join(line for line, fence in scan_lines(text) if not fence)
    return [match[3] for match in _LINK.finditer(plain) if not match[1]]


def unlink(text: str) -> str:
    """Links and images become their text; fences stay as they are."""
    return "\n".join(line if fence else _LINK.sub(r"\2", line) for line, fence in scan_lines(text))


def is_links(text: str) -> bool:
    """Whether a text is links and nothing else: "[A](a.html), [B](b.html) and [C](c.html)"."""
    rest, found = _LINK.subn("", text)
    return found > 0 and not re.search(r"\w{2}", rest.replace("and", ""))


def split_cells(row: str) -> list[str]:
    """The cells of a table's line; `\\|` is a bar inside one."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]
