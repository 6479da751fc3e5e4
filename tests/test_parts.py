"""The text of answers: pages in parts and sections lose nothing, are never too long, leave no fence open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgdocs.errors import BadQuery, PageNotFound
from pgdocs.pages import Page, render_page, scan_lines
from pgdocs.search import NO_ANSWER
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.search.rank import CONFIDENT
from pgdocs.serve.library import docs_folder, holdings
from pgdocs.serve.parts import cut
from pgdocs.serve.text import MAX_ANSWER, MAX_FRAME, doc_text, find_passage, search_text

FIXTURES = Path(__file__).parent / "fixtures" / "docs"

LINES = [
    *("# Title", "### Deeper {#D}", "words of a paragraph", "  and more of it", "- item", "1. item", "> quoted"),
    *("", "", "| a | b |", "| --- | --- |", "| 1 | 2 |", "```sql", "```", "~~~", "    code", "**Table 1** {#T}"),
    *("a long line of many words " * 8, "x" * 150, "``` inside ```"),
]


def balanced(markdown: str) -> bool:
    """Is every fence that opens closed again?"""
    states = [state for _, state in scan_lines(markdown)]
    return states.count("open") == states.count("close")


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=40)).map("\n".join), st.integers(40, 400))
def test_any_text_is_cut_into_parts_that_fit_and_join(text: str, limit: int) -> None:
    """Whatever a page holds, its parts joined are the page, each fits, and no part leaves a fence open."""
    parts = cut(text, limit)
    assert "".join(part.text for part in parts) == text
    assert all(len(part.shown) <= limit for part in parts)
    assert all(balanced(part.shown) for part in parts)


def test_a_part_ends_before_a_section_rather_than_in_it() -> None:
    """A section that doesn't fit any more begins the next part, heading first."""
    text = "intro\n\n" + "words " * 20 + "\n\n## Next\n\n" + "more " * 30
    assert [part.shown.split("\n")[0] for part in cut(text, 200)] == ["intro", "## Next"]


def test_a_fence_that_fits_is_never_cut() -> None:
    """An example that fits into one part arrives in one piece."""
    fence = "```sql\n" + "SELECT 1;\n" * 10 + "```"
    parts = cut(f"{'words ' * 20}\n\n{fence}\n\nafter", 150)
    assert [part for part in parts if fence in part.shown]


def test_a_fence_longer_than_a_part_is_closed_and_opened_again() -> None:
    """A listing longer than a part is cut at a line; every piece is a fence of the same language."""
    parts = cut("~~~~sql\n" + "\n".join(f"SELECT {n};" for n in range(40)) + "\n~~~~", 120)
    assert len(parts) > 2
    assert all(part.shown.startswith("~~~~sql\nSELECT") and part.shown.endswith(";\n~~~~") for part in parts)


def test_a_table_longer_than_a_part_repeats_its_head() -> None:
    """Rows in the second part still say what their columns are."""
    parts = cut("| name | unit |\n| --- | --- |\n" + "".join(f"| setting{n} | kB |\n" for n in range(30)), 200)
    assert len(parts) > 2
    assert all(part.shown.startswith("| name | unit |\n| --- | --- |\n| setting") for part in parts)


def test_a_caption_stays_with_its_table() -> None:
    """`**Table 1**` never ends a part whose table begins the next one."""
    table = "| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 10
    parts = cut(f"{'words ' * 15}\n\n**Table 1. Numbers** {{#T}}\n\n{table}", 180)
    assert [part.shown for part in parts if part.shown.startswith("**Table 1.")]


def folders() -> list[Path]:
    """The invented pages, and the manuals where they have been fetched."""
    return [FIXTURES, *([docs_folder()] if holdings(docs_folder()) else [])]


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.parent.name)
def test_every_page_is_whole_in_its_parts(folder: Path, tmp_path: Path) -> None:
    """Of every page: each answer fits, says how to go on, has sound fences, and all parts together are the page."""
    index = DocumentSearchIndex(folder, tmp_path / "cache.pkl")
    for info in index.pages():
        body, joined, part, answer = index.page(info.doc_name).body, "", 0, "Go on"
        for piece in cut(body, MAX_ANSWER - MAX_FRAME):
            part += 1
            answer = doc_text(index, info.doc_name, part=part)
            assert len(answer) <= MAX_ANSWER, info.doc_name
            assert balanced(answer), info.doc_name
            assert piece.text.rstrip("\n") in answer, info.doc_name
            joined += piece.text
        assert joined == body, info.doc_name
        assert part == 1 or "This is the last part." in answer
        with pytest.raises(BadQuery, match=f"it has {part}"):
            doc_text(index, info.doc_name, part=part + 1)


# --- sections -------------------------------------------------------------------------------------------------


PAGE = Page(
    "pg__x",
    "Title",
    "TITLE",
    body="""intro

## 9.1. First Things {#FIRST}

one

### `deep_one` (`integer`) {#DEEP}

two

- `f ( a ) → b` {#F-ONE}
  `f ( c ) → d`

  Does it.

```
## not a heading {#NOT}
```

## Second {#SECOND} {#ALSO}

three

**Table 2. Things** {#TABLE}

| a |
| --- |
| 1 |""",
)


@pytest.mark.parametrize(
    ("section", "trail", "first", "last"),
    [
        ("FIRST", ("9.1. First Things",), "## 9.1. First Things {#FIRST}", "```"),
        ("first things", ("9.1. First Things",), "## 9.1. First Things {#FIRST}", "```"),
        ("#deep", ("9.1. First Things", "`deep_one` (`integer`)"), "### `deep_one` (`integer`) {#DEEP}", "```"),
        ("deep_one", ("9.1. First Things", "`deep_one` (`integer`)"), "### `deep_one` (`integer`) {#DEEP}", "```"),
        ("F-ONE", ("9.1. First Things", "`deep_one` (`integer`)"), "- `f ( a ) → b` {#F-ONE}", "```"),
        ("ALSO", ("Second",), "## Second {#SECOND} {#ALSO}", "| 1 |"),
        ("TABLE", ("Second",), "**Table 2. Things** {#TABLE}", "| 1 |"),
        ("Title", (), "intro", "| 1 |"),
    ],
)
def test_a_section_is_found_by_anchor_or_heading(section: str, trail: tuple[str, ...], first: str, last: str) -> None:
    """The anchor of a result, in any case, or a heading as people write it gives that section with all below it."""
    passage = find_passage(PAGE, section)
    lines = passage.text.split("\n")
    assert (passage.trail, lines[0], lines[-1]) == (trail, first, last)


def test_a_section_that_is_not_there_names_those_that_are_near() -> None:
    """A misspelt heading is answered with the right one; code that looks like a heading is none."""
    with pytest.raises(PageNotFound, match="Second"):
        find_passage(PAGE, "Secnod")
    with pytest.raises(PageNotFound):
        find_passage(PAGE, "NOT")


# --- search ---------------------------------------------------------------------------------------------------


def test_a_weak_best_hit_is_called_weak(tmp_path: Path) -> None:
    """A question that the manuals don't answer is told so in the first line, before the nearest pages."""
    index = DocumentSearchIndex(FIXTURES, tmp_path / "cache.pkl")
    said = {}
    for query in ("keep the first row of each group", "ST_Buffer", "how do I train a dog to sit", "bake bread"):
        results = index.search(query)
        answer = search_text(index, query).split("\n")
        said[query] = answer[0] == NO_ANSWER
        assert said[query] == (not results or results[0].score < CONFIDENT), query
        assert all(result.url in answer for result in results)
    assert list(said.values()) == [False, False, True, True]


def test_twenty_results_are_no_longer_than_an_answer_may_be(tmp_path: Path) -> None:
    """More results mean shorter passages behind the first one, each with its title and address on a line of its own."""
    for number in range(30):
        page = Page(f"x__{number}", f"Crane {number}", "A", f"https://example.org/{number}.html", ("Cranes 1",))
        body = "Lift a crane with a crane. " * 60 + "\n\n```\n" + "SELECT crane;\n" * 60 + "```"
        (tmp_path / f"x__{number}.md").write_text(render_page(replace(page, body=body)), encoding="utf-8")
    index = DocumentSearchIndex(tmp_path, tmp_path / "cache.pkl")
    for count in (1, 5, 20):
        answer = search_text(index, "crane lift", count)
        assert len(answer) <= min(MAX_ANSWER, 2_300 + 1_000 * (count - 1))
        assert answer.count("\nhttps://example.org/") == count
        assert balanced(answer)
