"""The text of answers: pages in parts and sections lose nothing, are never too long, leave no fence open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgdocs.errors import BadQuery, PageNotFound, PgdocsError, UnknownSource
from pgdocs.pages import Page, render_page, scan_lines
from pgdocs.search import NO_ANSWER
from pgdocs.search.index import DocumentSearchIndex, SearchResult
from pgdocs.search.rank import CONFIDENT
from pgdocs.serve.library import docs_folder, holdings
from pgdocs.serve.parts import cut, find_passage
from pgdocs.serve.text import (
    FAINT,
    MAX_ANSWER,
    MAX_FRAME,
    MAX_WEAK,
    Found,
    doc_text,
    find_doc,
    part_of,
    search_text,
    shown_passage,
    signature_text,
)

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


def test_a_heading_stays_with_the_heading_below_it() -> None:
    """A part never ends with a heading that announces only the next one."""
    text = "## One\n\n" + "words " * 20 + "\n\n## Two\n\n### Two and a half\n\n" + "more " * 30
    assert [part.shown.split("\n")[0] for part in cut(text, 200)] == ["## One", "## Two"]


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
        with pytest.raises(BadQuery, match=f"it has {part}," if part > 1 else "one part"):
            doc_text(index, info.doc_name, part=part + 1)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DocumentSearchIndex:
    return DocumentSearchIndex(FIXTURES, tmp_path_factory.mktemp("index") / "cache.pkl")


# --- names of pages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("SELECT", "# SELECT"),
        ("`sql-select`", "# SELECT"),
        ("pgdocs://docs/pg/sql-select", "# SELECT"),
        ("json functions and operators", "# JSON Functions and Operators"),
        ("queries", "# Pages of Queries"),
        ("PG", "# PostgreSQL 18: its 6 pages"),
        ("postgis/", "# PostGIS 3.5: its 5 pages"),
        ("PostgreSQL", "# PostgreSQL 18: its 6 pages"),
        ("pgdocs://docs", "# What is indexed"),
        ("https://www.postgresql.org/docs/18/sql-select.html#SQL-LIMIT", "# SELECT › LIMIT Clause"),
    ],
)
def test_a_page_is_known_by_what_people_call_it(index: DocumentSearchIndex, name: str, first: str) -> None:
    """Its title, its address as a resource, quoted, a source by its product: no second call to find the name."""
    assert doc_text(index, name).split("\n")[0] == first


def test_a_page_is_known_by_its_number(tmp_path: Path) -> None:
    """`9.16` and `Chapter 9` stand in every link of a manual; where two have the same, both are named."""
    for name, title, path in [
        ("a__json", "9.16. JSON", ("A 1", "Chapter 9. Functions")),
        ("a__more", "9.1. More", ("A 1", "Chapter 9. Functions")),
        ("b__more", "9.1. Others", ("B 1",)),
    ]:
        page = Page(name, title, path=path, body="A text.")
        (tmp_path / f"{name}.md").write_text(render_page(page), encoding="utf-8")
    index = DocumentSearchIndex(tmp_path, tmp_path / "cache.pkl")
    assert doc_text(index, "9.16").startswith("# 9.16. JSON\n")
    assert doc_text(index, "chapter 9").startswith("# Pages of Chapter 9. Functions\n")
    assert "- a/more: 9.1. More\n- a/json: 9.16. JSON" in doc_text(index, "chapter 9")
    with pytest.raises(PageNotFound, match="did you mean a/more, b/more"):
        doc_text(index, "9.1")


@pytest.mark.parametrize(
    ("url", "version"),
    [
        ("https://www.postgresql.org/docs/16/sql-select.html", "16"),
        ("https://www.postgresql.org/docs/devel/sql-select.html#SQL-LIMIT", "devel"),
        ("https://postgis.net/docs/manual-3.3/ST_Buffer.html", "3.3"),
        ("https://www.postgresql.org/docs/18/sql-select.html", ""),
        ("https://www.postgresql.org/docs/current/sql-select.html", ""),
    ],
)
def test_an_address_of_another_version_is_not_answered_silently(
    index: DocumentSearchIndex, url: str, version: str
) -> None:
    """The page of the version that is indexed comes with a first line that says which one was asked for."""
    first = doc_text(index, url).split("\n")[0]
    label = "PostGIS 3.5" if "postgis" in url else "PostgreSQL 18"
    expected = f"Version {version} is not indexed: what follows is of {label}."
    assert first == expected if version else first.startswith("# SELECT")


def test_what_is_no_page_leads_to_where_it_is_defined(index: DocumentSearchIndex) -> None:
    """A function or a setting that is asked for as a page: the error names page and section as get_doc takes them."""
    with pytest.raises(PageNotFound, match="did you mean pg/functions-json#FUNCTIONS-JSON-CREATION-TABLE"):
        doc_text(index, "jsonb_set")
    assert find_doc(index, "functions-json", "jsonb_set").url.endswith("#FUNCTIONS-JSON-CREATION-TABLE")


@pytest.mark.parametrize("page", ["", "pg"])
def test_a_section_needs_its_page(index: DocumentSearchIndex, page: str) -> None:
    """Rather than a list that has nothing to do with it."""
    with pytest.raises(BadQuery, match="name the page, too"):
        doc_text(index, page, "SQL-LIMIT")


def test_a_later_part_says_under_which_heading_it_begins(tmp_path: Path) -> None:
    """Title and URL of a part are those of the section that it goes on with, so that it can be cited."""
    body = "intro\n\n## One {#ONE}\n\n### Deep {#DEEP}\n\n" + "A crane lifts a box.\n\n" * 700 + "## Two {#TWO}\n\nend"
    page = Page("a__long", "Long", "TOP", "https://example.org/long.html", ("A 1",), body=body)
    (tmp_path / "a__long.md").write_text(render_page(page), encoding="utf-8")
    index = DocumentSearchIndex(tmp_path, tmp_path / "cache.pkl")
    doc, _, of = part_of(find_doc(index, "long"), 2)
    assert of == 3
    assert (doc.title, doc.url) == ("Long › One › Deep", "https://example.org/long.html#DEEP")
    doc, _, _ = part_of(find_doc(index, "long", "one"), 2)
    assert (doc.title, doc.url) == ("Long › One › Deep", "https://example.org/long.html#DEEP")
    assert 'section="ONE", part=2)' in doc_text(index, "long", "one")


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
        ("9.1", ("9.1. First Things",), "## 9.1. First Things {#FIRST}", "```"),
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


def test_a_weak_best_hit_is_called_weak(index: DocumentSearchIndex) -> None:
    """A question that the manuals don't answer is told so in the first line, before the nearest pages."""
    said = {}
    for query in ("keep the first row of each group", "ST_Buffer", "how do I train a dog to sit", "bake bread"):
        results = index.search(query)
        answer = search_text(index, query).split("\n")
        said[query] = answer[0] == NO_ANSWER
        assert said[query] == (not results or results[0].score < CONFIDENT), query
        assert all(result.url in answer for result in results)
    assert list(said.values()) == [False, False, True, True]


def test_where_none_is_an_answer_the_nearest_pages_are_shown_in_short(index: DocumentSearchIndex) -> None:
    """Nobody pays for five passages that are about something else; what to do next is said."""
    results = index.search("mongodb aggregation pipeline group")
    assert 0 < results[0].score < CONFIDENT
    answer = search_text(index, "mongodb aggregation pipeline group")
    assert answer.startswith(NO_ANSWER)
    assert len(answer) < len(results) * MAX_WEAK + 300
    assert answer.endswith("Next: search_docs with other words, in English, or with the name of what does it.")
    nothing = search_text(index, "bake bread", kind="reference", source="postgis")
    assert "Nothing in source='postgis' and kind='reference' is near it." in nothing


@pytest.mark.parametrize(("given", "meant"), [("PG", "pg"), ("PostgreSQL", "pg"), (" postgis", "postgis"), ("", "all")])
def test_a_source_is_known_by_its_product_too(index: DocumentSearchIndex, given: str, meant: str) -> None:
    """A model that guesses the name of a source, or sends an empty one, is not sent back for it."""
    assert search_text(index, "distance of rows", source=given) == search_text(index, "distance of rows", source=meant)
    with pytest.raises(UnknownSource):
        search_text(index, "distance of rows", source="mysql")


def test_no_page_stands_behind_the_answer_that_is_none(index: DocumentSearchIndex) -> None:
    """What has next to nothing to do with the query is left out, however many results were asked for."""
    results = index.search("jsonb_set", 20)
    faint = [result for result in results if result.score < FAINT]
    assert faint
    answer = search_text(index, "jsonb_set", 20)
    assert [result.url in answer for result in results] == [result.score >= FAINT for result in results]


@pytest.mark.parametrize(
    ("name", "said", "unsaid"),
    [
        ("SELECT jsonb_set", "Did you mean SELECT, jsonb_set?", "https://postgis"),
        ("ST_Bufer", "Did you mean ST_Buffer?", "ST_DWithin.html"),
        ("materialized", "queries-with.html", "sql-select"),
        ("nosuchname", "Next: search_docs", "http"),
    ],
)
def test_a_name_that_is_not_there_leads_on(index: DocumentSearchIndex, name: str, said: str, unsaid: str) -> None:
    """To the names in it or near it, and to pages that hold it: never to some five pages that don't."""
    with pytest.raises(PgdocsError) as error:
        signature_text(index, name)
    assert said in str(error.value)
    assert unsaid not in str(error.value)


@pytest.mark.parametrize("cut_off", ["\n\n…\n\n", "\n\n…\n\n**Examples**\n\n"])
def test_a_passage_that_is_cut_ends_with_words(cut_off: str) -> None:
    """Neither with a caption whose table is gone, nor with two marks that something is missing."""
    said = "A crane lifts a box. " * 80 + "It ends."
    result = SearchResult("x__y", "Y", "", "", 1.0, "exact", said + cut_off + "a box " * 200)
    passage = shown_passage(1, Found([result], True, "", ""), 0)
    assert passage == f"{said} …"


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
