"""What must hold for any text whatsoever, by hypothesis: pages, tokens, slugs, passages, symbols, snippets."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgdocs.errors import PgdocsError
from pgdocs.pages import Page, links, parse_page, slug_of_url, split_cells, unlink
from pgdocs.search.build import split_passages
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.search.symbols import extract
from pgdocs.search.tokens import STOP_WORDS, squash, strip_markdown, tokens
from pgdocs.serve.parts import find_passage

MARKS = """# |## A {#a}|```|```sql|~~~|- `f(x int) → text`|> **Note:** n|---|{#x}|Source: https://e.org/a.html
Path: P 1 › Q|Kind: guide|[t](u.html#v)|[t](|``|**B**|1. |ST_Buffer|->>|pg_catalog.pg_class|work_mem
é|文書|🚂|\t|  |\u200b|\ud83d|\0"""
marks = st.sampled_from([*re.split(r"[|\n]", MARKS), "| a | b |", "| --- | --- |", "\\|"])
line = st.lists(marks | st.text(max_size=12), max_size=5).map("".join)
markdown = st.lists(line, max_size=14).map("\n".join)


@pytest.fixture(scope="module")
def many(slow: bool) -> int:
    return 5_000 if slow else 150


def check(many: int, strategy: st.SearchStrategy[Any], holds: Callable[[Any], None]) -> None:
    """The same examples each time in the short form, so that a build fails for a reason of its own."""
    options = settings(
        max_examples=many,
        deadline=None,
        database=None,
        derandomize=many < 1_000,
        suppress_health_check=list(HealthCheck),
    )
    options(given(strategy)(holds))()


def test_any_page_can_be_indexed(many: int) -> None:
    """No markdown makes the parser, the cutter of passages or the finder of symbols fail, and no word is lost."""

    def holds(text: str) -> None:
        page = parse_page(text, "pg__x")
        passages = [*split_passages(page)]
        assert passages
        kept = " ".join(f"{section} {passage}" for _, section, passage in passages)
        assert words(page.body) <= words(f"{kept} {page.title}")
        for symbol in extract(page):
            assert symbol.name.strip()
            assert symbol.doc_name == "pg__x"
        find_passage(page, "")
        links(text), unlink(text), split_cells(text)

    check(many, markdown, holds)


def words(text: str) -> set[str]:
    """Without anchors: a heading's are kept beside its passage."""
    return {*re.findall(r"\w+", re.sub(r"\{#[^\s{}]*\}", " ", text))}


def test_any_text_has_tokens(many: int) -> None:
    """Lower-case, without blanks, no stop word; the same every time; a query's tokens are those of the page."""

    def holds(text: str) -> None:
        found = tokens(text)
        assert found == tokens(text)
        assert all(token and not re.search(r"\s", token) for token in found)
        assert not STOP_WORDS & {*found}
        strip_markdown(text)
        assert squash(text) == squash(text.replace("_", " "))

    check(many, markdown | st.text(), holds)


def test_any_url_has_a_slug(many: int) -> None:
    """Whatever stands in a link or in get_doc's argument: a name, never an exception and never a path."""

    def holds(url: str) -> None:
        slug = slug_of_url(url)
        assert slug
        assert "/" not in slug or "%2f" in url.lower()

    holds("http://[")
    pieces = st.sampled_from(
        ["http://", "https://", "e.org", "/", "[", "]", "#", "?", "%2f", "%", ".html", "..", "@", ":"]
    )
    check(many, st.lists(pieces | st.text(max_size=4), max_size=6).map("".join), holds)


@pytest.mark.parametrize(
    "piece", [*"_ a. ( < ` [ [a]( {# * A aA ' - \\ ** <!-- ``` ~~~".split(), "| ", "\n", "# \n", "* ", " "]
)
def test_100_kb_of_anything_take_no_time(piece: str) -> None:
    """No pattern of ours goes on for ever: a hostile page costs a build a moment, not a night."""
    started = time.process_time()
    page = parse_page(piece * (100_000 // len(piece)), "pg__x")
    passages = [*split_passages(page)]
    extract(page)
    for *_, passage in passages:
        tokens(strip_markdown(unlink(passage)))
    assert time.process_time() - started < 3


def test_any_query_and_any_name_get_an_answer_or_a_sentence(indexed: Any, many: int) -> None:
    """In process as over the wire: results, a page, or an error of ours."""
    index = DocumentSearchIndex(indexed)
    index.build_index()
    names = st.lists(
        st.sampled_from(["pg", "/", "__", "sql-select", "http://", "[", "]", "#", "..", "%2f", ".md", "~2"])
        | st.text(max_size=5),
        max_size=5,
    ).map("".join)

    def holds(asked: tuple[str, str]) -> None:
        for ask in (index.search, index.page, index.get_document, index.symbols, index.near_names):
            for text in asked:
                with suppress(PgdocsError):
                    ask(text)

    check(many, st.tuples(markdown, names), holds)


def test_a_page_without_a_body_is_a_page() -> None:
    """An empty file is found by its name."""
    page = parse_page("", "notes__empty")
    assert page == Page("notes__empty", "empty")
    assert len([*split_passages(page)]) == 1
