"""The page format: what is written can be read again, names survive every file system, blocks stay whole."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgdocs.pages import (
    Page,
    doc_name,
    doc_name_of_file,
    file_name,
    join_blocks,
    links,
    parse_page,
    read_page,
    render_page,
    scan_lines,
    slug_of_url,
    split_anchors,
    split_blocks,
    split_cells,
    split_doc_name,
    split_sections,
    unlink,
    with_anchors,
)

PAGE = Page(
    "pg__tea",
    "TEA",
    "SQL-TEA",
    "https://www.postgresql.org/docs/18/tea.html",
    ("PostgreSQL 18", "Reference", "SQL Commands"),
    "reference",
    "TEA — make some\n\n## Water {#WATER}\n\ncold\n\n### Kettle\n\n```\n## no heading\n```\n\n## Leaves\n\ngreen",
)

LINE = st.text(st.characters(blacklist_characters="\r\n\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e", codec="utf-8"))
WORD = st.from_regex(r"[A-Za-z][A-Za-z0-9.-]{0,12}", fullmatch=True)


@given(title=LINE.map(str.strip).filter(lambda s: s and "{#" not in s), anchor=WORD | st.just(""), body=st.lists(LINE))
def test_a_page_reads_back(title: str, anchor: str, body: list[str]) -> None:
    """Whatever the title and the text hold, the file reads back to the same page."""
    page = Page("pg__x", title, anchor, "https://x/y.html", ("P 1", "Q"), "guide", "\n".join(body).strip("\n"))
    assert parse_page(render_page(page), "pg__x") == page


def test_a_plain_file_is_a_page() -> None:
    """Markdown without our header has its first heading for a title, or its name; no source but the default."""
    assert parse_page("intro\n\n# Kettles {#k}\n\ntext", "guide__kettles").title == "Kettles"
    assert parse_page("```\n# no\n```", "notes") == Page("notes", "notes", body="```\n# no\n```")
    assert parse_page("x", "notes").source == "docs"


def test_a_file_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    """A stray byte becomes a replacement character, not an error; a byte-order mark and CRLF vanish."""
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf# T\xe9\r\n\r\nx\r\n")
    assert read_page(tmp_path / "a.md", tmp_path) == Page("a", "T\ufffd", body="# T\ufffd\n\nx")


@given(WORD, st.text(min_size=1).filter(lambda s: s != "." and "\x00" not in s))
def test_any_slug_has_a_file(source: str, slug: str) -> None:
    """A slug of any characters becomes one plain file name, and comes back from it."""
    name = doc_name(source, slug)
    file = file_name(name)
    assert not set(file) & set('/\\:*?"<>|')
    assert doc_name_of_file(PurePosixPath(file)) == name
    assert split_doc_name(name) == (source, slug)


def test_twins_on_a_case_insensitive_disk() -> None:
    """The second of two names that differ only by case gets `~2`, and keeps its slug."""
    first, second = file_name("postgis__TopoElement"), file_name("postgis__topoelement", twin=2)
    assert first.lower() != second.lower()
    assert doc_name_of_file(PurePosixPath(second)) == "postgis__topoelement"
    assert doc_name_of_file(PurePosixPath("deep/er/page.md")) == "deep__er__page"


@pytest.mark.parametrize(
    ("url", "slug"),
    [("https://x/docs/18/sql-select.html#A", "sql-select"), ("https://x/docs/18/", "index"), ("a.htm", "a")],
)
def test_slug_of_url(url: str, slug: str) -> None:
    """A slug is the last part of the URL's path without its suffix."""
    assert slug_of_url(url) == slug


def test_sections() -> None:
    """A page is cut at its headings, each section with the headings above it; code holds no heading."""
    found = [(s.level, s.title, s.anchor, s.trail, s.text) for s in split_sections(PAGE)]
    assert found == [
        (1, "TEA", "SQL-TEA", (), "TEA — make some"),
        (2, "Water", "WATER", ("TEA",), "cold"),
        (3, "Kettle", "", ("TEA", "Water"), "```\n## no heading\n```"),
        (2, "Leaves", "", ("TEA",), "green"),
    ]


def test_anchors_end_a_line() -> None:
    """One line may end in several ids; they are taken off and put back."""
    assert split_anchors("Step {#a} {#B-2}") == ("Step", ["a", "B-2"])
    assert with_anchors("Step", ["a", "", "B-2"]) == "Step {#a} {#B-2}"
    assert split_anchors("{#a} not at the end") == ("{#a} not at the end", [])


def test_blocks_stay_whole() -> None:
    """Fences, tables, quotations and items with what hangs below them are one block each, and join to the same text."""
    blocks = [
        ("text", "one\ntwo"),
        ("item", "- a\n  b\n\n  below a"),
        ("item", "- c"),
        ("fence", "````\n```\n\n# x\n````"),
        ("table", "| a |\n| --- |\n| b |"),
        ("quote", "> q\n>\n> r"),
        ("heading", "## h {#h}"),
    ]
    text = "\n\n".join(block for _, block in blocks)
    assert [(block.kind, block.text) for block in split_blocks(text)] == blocks
    assert join_blocks(split_blocks(text)) == text
    assert join_blocks(split_blocks("- a\n- b")) == "- a\n- b"


@given(
    st.lists(st.sampled_from(["a", "- b", "  c", "```", "~~~", "| d |", "> e", "# f", "", "    ", "1. g"]), max_size=12)
)
def test_no_line_is_lost(lines: list[str]) -> None:
    """Any markdown, cut into blocks or sections, still has all its lines that say something."""
    said = [line for line in lines if line.strip()]
    text = "\n".join(lines)
    assert [x for b in split_blocks(text) for x in b.text.split("\n") if x.strip()] == said
    sections = split_sections(Page("x", "t", body=text))
    assert sum(len([x for x in s.text.split("\n") if x.strip()]) for s in sections) + len(sections) - 1 == len(said)
    assert len(list(scan_lines(text))) == len(text.split("\n"))


def test_links() -> None:
    """Links are found outside code, brackets in their text and round ones in their target included; images are none."""
    text = "[a](b.html#C) ![i](x.png) [[ref]](d.html) `x` [e](https://f/g_(h))\n\n```\n[no](no.html)\n```"
    assert links(text) == ["b.html#C", "d.html", "https://f/g_(h)"]
    assert unlink(text) == "a i [ref] `x` e\n\n```\n[no](no.html)\n```"


def test_cells() -> None:
    """An escaped bar is part of a cell."""
    assert split_cells("| `a \\|\\| b` | c |") == ["`a || b`", "c"]
