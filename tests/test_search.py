"""Searching a folder of invented pages: what is found, what is shown, what is refused."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pgdocs.errors import BadQuery, NoPages, PageNotFound, UnknownSource
from pgdocs.pages import Page, file_name, render_page, split_blocks
from pgdocs.search import MAX_QUERY
from pgdocs.search.build import split_passages
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.search.pieces import ScoredPassage
from pgdocs.search.scope import Scopes
from pgdocs.search.snippets import Matcher, snippet
from pgdocs.search.tokens import tokens

SITE = "https://example.org/{}/{}.html"
PG = ("TeaSQL 18", "Part I. Pots")
GIS = ("TeaGIS 3.5", "7.1. Leaves")


def page(source: str, slug: str, title: str, body: str, path: tuple[str, ...], kind: str = "guide") -> Page:
    return Page(f"{source}__{slug}", title, slug.upper(), SITE.format(source, slug), path, kind, body)


STEEPING = """How long leaves stay in the water. {#STEEP-INTRO}

### steep_minutes (integer) {#GUC-STEEP-MINUTES}

Sets the minutes that leaves steep. The default is 4. A pot of oolong takes seven.

### lid_on (boolean) {#GUC-LID-ON}

Keeps the lid on, so that the pot stays warm.

| leaf | water | minutes |
|---|---|---|
| green | 70 degrees | 2 |
| black | 95 degrees | 4 |

```
pour --into cup | strain
wait 4m
```"""

PAGES = [
    page("pg", "config-steeping", "19.4. Steeping", STEEPING, (PG[0], "Part III. Settings")),
    page(
        "pg",
        "sql-pour",
        "POUR",
        "POUR — fill cups from a pot\n\n## Description\n\nPOUR tilts the pot.",
        PG,
        "reference",
    ),
    page(
        "pg",
        "functions-tea",
        "9.9. Tea Functions",
        "Table 9.9. Tea Operators {#TEA-OP-TABLE}\n\n- `tea ->> text → text`\n\n  Extracts a tea's flavour.\n\n"
        "- `tea_blend ( a tea, b tea ) → tea`\n\n  Blends two teas.",
        (PG[0], "Part II. The Language"),
        "reference",
    ),
    page("pg", "release-18", "E.1. Release 18", "Steeping, pouring and steep_minutes changed. " * 9, PG, "release"),
    page("pg", "brewing", "20.1. Brewing for Guests", "Many cups at once need a big pot and a steady hand.", PG),
    page(
        "postgis",
        "GT_Blend",
        "GT_Blend",
        "GT_Blend — Blends leaves of two places.\n\n## Synopsis\n\n- `leaf GT_Blend(leaf a, leaf b)`\n\n"
        "## Description\n\nBlends leaves from two gardens on a map.",
        GIS,
        "reference",
    ),
    page("postgis", "GT_Distance", "GT_Distance", "GT_Distance — How far two gardens are apart.", GIS, "reference"),
]


def write(folder: Path, pages: list[Page] = PAGES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for one in pages:
        (folder / file_name(one.doc_name)).write_text(render_page(one), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DocumentSearchIndex:
    """One index over PAGES, built once for all tests that only ask."""
    found = DocumentSearchIndex(write(tmp_path_factory.mktemp("site") / "docs"))
    found.build_index()
    return found


def names(index: DocumentSearchIndex, query: str, **options: str) -> list[str]:
    return [result.doc_name for result in index.search(query, **options)]  # type: ignore[arg-type]


# --- tokens -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("steep_minutes", {"steep_minutes", "steep", "minut"}),
        ("GT_AsTeaLeaf(x)", {"gt_astealeaf", "astealeaf", "tea", "leaf"}),
        ("PQpourTea", {"pqpourtea", "pq", "pour", "tea"}),
        ("tea.steep_minutes in 9.4", {"tea.steep_minutes", "steep_minutes", "9.4"}),
        ("a ->> b, c <<% d && (e || f) ~* g", {"->>", "<<%", "&&", "||", "~*"}),
        ("café’s naïve 茶", {"café", "茶"}),
    ],
)
def test_names_are_found_whole_and_in_parts(text: str, found: set[str]) -> None:
    """Who types a name, or a part of it, or an operator, finds it: nothing of SQL is punctuation."""
    assert found <= set(tokens(text))


@pytest.mark.parametrize("text", ["", "\0", "((((", '"*"', "\ud800", "''''", "a" * 5000, "- - -", "%s %d {}"])
def test_nothing_is_a_syntax_error(text: str) -> None:
    """Whatever is typed is text."""
    assert isinstance(tokens(text), list)


# --- what is found ------------------------------------------------------------------------------------------


def test_a_setting_is_cited_where_it_stands(index: DocumentSearchIndex) -> None:
    """The URL leads to the setting itself, not to the top of a long page."""
    first = index.search("steep_minutes")[0]
    assert first.url == SITE.format("pg", "config-steeping") + "#GUC-STEEP-MINUTES"
    assert first.section == "steep_minutes (integer)"
    assert first.path == (PG[0], "Part III. Settings")


@pytest.mark.parametrize(
    ("query", "page_name"),
    [
        ("GT_Blend", "postgis__GT_Blend"),
        ("gt_blend()", "postgis__GT_Blend"),
        ("the tea_blend function", "pg__functions-tea"),
        ("->>", "pg__functions-tea"),
        ("POUR", "pg__sql-pour"),
        ("GT_Distanc", "postgis__GT_Distance"),
        ("GTDistance", "postgis__GT_Distance"),
        ("steep_minuets", "pg__config-steeping"),
    ],
)
def test_a_name_wins_outright(index: DocumentSearchIndex, query: str, page_name: str) -> None:
    """A name leads to the page that defines it, also with brackets, with a word around it or with one letter wrong."""
    assert names(index, query)[0] == page_name


def test_a_page_is_listed_once(index: DocumentSearchIndex) -> None:
    """Five results are five pages, however many of a page's sections match."""
    found = names(index, "steep leaves minutes pot lid")
    assert len(found) == len(set(found))


def test_release_notes_wait_until_they_are_asked_for(index: DocumentSearchIndex) -> None:
    """What changed in a version does not push the reference aside, and is first when asked for."""
    assert "pg__release-18" not in names(index, "steep_minutes pouring")[:3]
    assert names(index, "what changed in steeping and pouring")[0] == "pg__release-18"


def test_a_source_is_a_filter_before_the_cut(index: DocumentSearchIndex) -> None:
    """With a source given, all results are of it, as many as there are."""
    assert {name.split("__")[0] for name in names(index, "blend leaves", source="postgis")} == {"postgis"}


def test_a_source_that_the_query_names_scopes_it(index: DocumentSearchIndex) -> None:
    """`in TeaGIS` asks one manual; a word in quotes, or two products, ask both."""
    assert {name.split("__")[0] for name in names(index, "blend two in TeaGIS")} == {"postgis"}
    assert len({name.split("__")[0] for name in names(index, 'blend two "TeaGIS" pot')}) == 2
    assert len({name.split("__")[0] for name in names(index, "blend leaves in TeaGIS and teasql")}) == 2


def test_a_version_picks_its_source() -> None:
    """Of several versions the one that is named is asked; one that isn't there leaves it at the product."""
    scopes = Scopes([("pg", "TeaSQL 18"), ("pg17", "TeaSQL 17"), ("postgis", "TeaGIS 3.5")])
    assert scopes.of("pour in TeaSQL 17").sources == frozenset({"pg17"})
    assert scopes.of("pg 18 pour").sources == frozenset({"pg"})
    assert scopes.of("pour on teasql 12").sources == frozenset({"pg", "pg17"})
    assert scopes.of("user 'pg' pours").sources is None


def test_of_a_page_in_two_versions_the_default_one_answers(tmp_path: Path) -> None:
    """Twins of another version don't crowd the results, and are there when they are asked for."""
    older = [Page("pg17" + p.doc_name[2:], p.title, p.anchor, p.url, ("TeaSQL 17",), p.kind, p.body) for p in PAGES[:3]]
    both = DocumentSearchIndex(write(tmp_path / "docs", PAGES + older))
    assert "pg17__config-steeping" not in names(both, "steep_minutes")
    assert names(both, "steep_minutes in TeaSQL 17")[0] == "pg17__config-steeping"
    assert names(both, "steep_minutes", source="pg17")[0] == "pg17__config-steeping"


def test_of_namesakes_the_plain_one_is_meant(tmp_path: Path) -> None:
    """Two pages called POUR: who types the name gets the command, not the embedded variant."""
    body = "POUR — fill cups from a pot\n\n## Description\n\nPOUR tilts the pot."
    other = page("pg", "ecpg-sql-pour", "POUR", f"{body} POUR fills cups.", PG, "reference")
    both = DocumentSearchIndex(write(tmp_path / "docs", [*PAGES, other]))
    assert names(both, "POUR")[:2] == ["pg__sql-pour", "pg__ecpg-sql-pour"]


@pytest.mark.parametrize("strategy", ["exact", "fuzzy", "semantic"])
def test_a_strategy_by_name_says_so(index: DocumentSearchIndex, strategy: str) -> None:
    """Each ranker can be asked alone; its scores are 0 to 1 and its name is the match type."""
    found = index.search("GT_Distance", strategy=strategy)
    assert found[0].doc_name == "postgis__GT_Distance"
    assert {result.match_type for result in found} == {strategy}
    assert all(0 < result.score <= 1 for result in found)


def test_exact_counts_the_text(index: DocumentSearchIndex) -> None:
    """Nine times in a page is 0.9, ten or more would be 1."""
    assert index.search("pouring and steep", strategy="exact")[0].score == pytest.approx(0.9)
    assert index.search("no page says this", strategy="exact") == []


def test_the_match_type_names_what_agreed(index: DocumentSearchIndex) -> None:
    """A reader sees why a page is there."""
    assert index.search("steep_minutes")[0].match_type.split("+")[0] == "exact"


def test_scores_fall_and_lie_between_0_and_1(index: DocumentSearchIndex) -> None:
    """A fixed threshold can tell good from weak."""
    scores = [result.score for result in index.search("blend leaves of two gardens", 7)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score < 1 for score in scores)
    assert (
        index.search("zorbing quilts of mauve minutes")[0].score
        < 0.5
        < index.search("blend leaves of two gardens")[0].score
    )


def test_another_product_is_doubted(index: DocumentSearchIndex) -> None:
    """A question about another product's own behaviour scores less than the same words without it."""
    with_it, without = index.search("blend leaves in mongodb")[0], index.search("blend leaves")[0]
    assert with_it.score < without.score


def test_the_same_question_gets_the_same_answer(index: DocumentSearchIndex, tmp_path: Path) -> None:
    """Two indexes over the same pages, and eight threads at once, answer alike."""
    again = DocumentSearchIndex(write(tmp_path / "docs"))
    expected = index.search("how do I blend two leaves")
    answers: list[object] = []
    threads = [
        threading.Thread(target=lambda: answers.append(again.search("how do I blend two leaves"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 8


# --- what is shown ------------------------------------------------------------------------------------------


def test_the_snippet_is_the_answer(index: DocumentSearchIndex) -> None:
    """The paragraph, the table's row under its header, or the code that answers: whole, and not a random line."""
    assert "The default is 4." in index.search("default of steep_minutes")[0].snippet
    shown = index.search("water for green leaf 70 degrees")[0].snippet
    assert "| leaf | water | minutes |\n|---|---|---|" in shown
    assert "| green | 70 degrees | 2 |" in shown


@pytest.mark.parametrize("limit", [40, 120, 300, 2000])
@pytest.mark.parametrize("query", ["pour cup", "green leaf", "default minutes"])
def test_a_snippet_cuts_no_fence_and_no_row(query: str, limit: int) -> None:
    """Whatever the limit, code is closed and rows have all of their cells."""
    shown = snippet([ScoredPassage(0, "", "", STEEPING, 1.0)], Matcher(query, lambda token: 1.0), limit)
    assert shown.count("```") % 2 == 0
    whole = {line for block in split_blocks(STEEPING) for line in block.text.split("\n")}
    assert all(line in whole for line in shown.split("\n") if line.startswith("|"))
    assert "{#" not in shown


def test_a_long_table_is_cut_between_rows_with_its_header() -> None:
    """A piece of a table can be read alone."""
    rows = "\n".join(f"| leaf {n} | {'a garden far away ' * 4}|" for n in range(60))
    pieces = [
        text for *_, text in split_passages(page("pg", "leaves", "Leaves", f"| leaf | place |\n|---|---|\n{rows}", PG))
    ]
    assert len(pieces) > 2
    assert all(piece.startswith("| leaf | place |\n|---|---|\n") for piece in pieces)
    assert sum(piece.count("\n| leaf ") for piece in pieces) == 60


# --- pages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "pg__sql-pour",
        "pg/sql-pour",
        "sql-pour",
        "SQL-Pour",
        "sql-pour.md",
        SITE.format("pg", "sql-pour"),
        SITE.format("pg", "sql-pour") + "#SQL-POUR-DESCRIPTION",
    ],
)
def test_a_page_goes_by_many_names(index: DocumentSearchIndex, name: str) -> None:
    """Whatever a person or a model calls it, a page is found."""
    assert index.page(name).doc_name == "pg__sql-pour"
    assert index.get_document(name).startswith("# POUR {#SQL-POUR}")


@pytest.mark.parametrize(
    "name", ["sql-puor", "../../etc/passwd", "pg/..%2F..%2Fetc", "https://elsewhere.example/x.html", ""]
)
def test_an_unknown_page_is_refused(index: DocumentSearchIndex, name: str) -> None:
    """Only pages of the index can be read, whatever the spelling."""
    with pytest.raises(PageNotFound):
        index.get_document(name)


def test_near_names_are_offered(index: DocumentSearchIndex) -> None:
    """A misspelled page comes back with the right one, a misspelled name too."""
    with pytest.raises(PageNotFound) as caught:
        index.page("sql-puor")
    assert "pg/sql-pour" in caught.value.near
    assert "GT_Distance" in index.near_names("GT_Distanse")


def test_what_is_indexed_can_be_asked(index: DocumentSearchIndex) -> None:
    """Sources with product and version, as the pages say, and the pages of each."""
    assert [(s.name, s.label, s.pages) for s in index.sources()] == [
        ("pg", "TeaSQL 18", 5),
        ("postgis", "TeaGIS 3.5", 2),
    ]
    assert [info.slug for info in index.pages("postgis")] == ["GT_Blend", "GT_Distance"]
    with pytest.raises(UnknownSource):
        index.pages("mysql")


# --- any folder ---------------------------------------------------------------------------------------------


def test_any_folder_of_markdown_will_do(tmp_path: Path) -> None:
    """Plain notes without our header, in folders within folders, in whatever encoding, are pages too."""
    (tmp_path / "docs/deep/er").mkdir(parents=True)
    (tmp_path / "docs/deep/er/notes.md").write_text("# Kettles\n\nA kettle whistles.\n", encoding="utf-8")
    (tmp_path / "docs/latin.md").write_bytes("Thé à la menthe, whistling\n".encode("latin-1"))
    (tmp_path / "docs/empty.md").write_bytes(b"")
    found = DocumentSearchIndex(tmp_path / "docs")
    first = found.search("kettle")[0]
    assert (first.doc_name, first.title, first.url) == ("deep__er__notes", "Kettles", "")
    assert found.search("menthe")[0].doc_name == "latin"


def test_a_folder_without_markdown_says_so(tmp_path: Path) -> None:
    """The error names the folder and what to run."""
    (tmp_path / "readme.txt").write_text("no markdown", encoding="utf-8")
    with pytest.raises(NoPages, match="scrape"):
        DocumentSearchIndex(tmp_path).build_index()
    with pytest.raises(NoPages):
        DocumentSearchIndex(tmp_path / "nowhere").search("tea")


STACK = {
    "python": 'Traceback (most recent call last):\n  File "/app/pour.py", line 7, in steep\n    pour(pot, many_cups)\n'
    "psycopg2.errors.DistanceTooBig: {}",
    "java": "org.postgresql.util.PSQLException: ERROR: {}\n\tat org.pot.Steep.pour(Cups.java:57)\n\t... 9 more",
    "javascript": "error: {}\n    at Pot.pour (/app/node_modules/pg-protocol/dist/steep.js:287:98)",
    "ruby": "PG::Distance: ERROR: {} (ActiveRecord::Distance)\n\tfrom /gems/steep.rb:70:in `pour'",
}


@pytest.mark.parametrize("stack", STACK.values(), ids=STACK)
def test_of_a_stack_trace_only_the_message_is_looked_for(index: DocumentSearchIndex, stack: str) -> None:
    """The frames' words and the driver's name for the error would lead elsewhere; they change no result."""
    message = "blends leaves of two gardens"
    alone, pasted = index.search(message), index.search(stack.format(message))
    assert pasted[0].title == "GT_Blend"
    assert [result.url for result in pasted] == [result.url for result in alone]


@pytest.mark.parametrize("query", ["", "  \n", "\0\0", "x" * (MAX_QUERY + 1)])
def test_a_query_that_asks_nothing_is_refused(index: DocumentSearchIndex, query: str) -> None:
    """Empty or endless queries get a sentence, not a result."""
    with pytest.raises(BadQuery):
        index.search(query)


def test_other_arguments_are_checked(index: DocumentSearchIndex) -> None:
    """An unknown strategy or source names those that there are."""
    with pytest.raises(BadQuery, match="hybrid"):
        index.search("tea", strategy="magic")
    with pytest.raises(UnknownSource, match="postgis"):
        index.search("tea", source="mysql")
    with pytest.raises(BadQuery):
        index.search("tea", 0)


@pytest.mark.parametrize("query", ["the of and", "zzxqj", "?"])
def test_what_no_page_speaks_of_finds_nothing(index: DocumentSearchIndex, query: str) -> None:
    """Better no result than pages in the order of their names."""
    assert index.search(query) == []


@pytest.mark.parametrize("query", ["->>", '"', "*", "(", "tea\0pot", "x " * 4000, "\ud800 tea", "%", "the of and"])
def test_odd_queries_are_answered(index: DocumentSearchIndex, query: str) -> None:
    """Operators, quotes, NUL bytes, long logs: a list of results, never an exception."""
    assert isinstance(index.search(query), list)


def test_a_ranking_is_explained_by_parts_that_add_up(index: DocumentSearchIndex) -> None:
    """`search --explain` shows the order that search gives, and where each page's score comes from."""
    query = "steep the leaves in a cold trough"
    rows = index.explain(query, 3)
    assert [row.doc_name for row in rows[:3]] == [result.doc_name for result in index.search(query, 3)]
    assert [row.score for row in rows[:3]] == [result.score for result in index.search(query, 3)]
    for row in rows:
        assert sum(row.parts.values()) == pytest.approx(row.total, abs=1e-4)


def test_another_products_name_finds_ours(tmp_path: Path) -> None:
    """`group_concat` shows the entry of string_agg, which no word of the query stands in."""
    entries = "\n".join(
        f"- `{name}_agg ( value text ) → text`\n\n  Gathers {name}.\n" for name in ("lid", "string", "tea")
    )
    body = f"Gathering. {{#GATHER}}\n\n**Table 9.1. Gathering functions** {{#GATHER-TABLE}}\n\n{entries}"
    for one in (*PAGES, page("pg", "functions-gather", "9.2. Gathering Functions", body, PG)):
        (tmp_path / file_name(one.doc_name)).write_text(render_page(one), encoding="utf-8")
    index = DocumentSearchIndex(tmp_path, tmp_path.parent / "cache.pkl")
    found = index.search("mysql group_concat", 1)[0]
    assert found.doc_name == "pg__functions-gather"
    assert "Gathers string." in found.snippet


def test_an_address_finds_its_page(index: DocumentSearchIndex) -> None:
    """Whoever pastes a link means that page, whatever its words are."""
    found = index.search(f"{SITE.format('pg', 'config-steeping')}#GUC-LID-ON", 2)
    assert found[0].doc_name == "pg__config-steeping"
    assert found[0].score > 0.99


def test_a_list_of_links_is_no_answer(tmp_path: Path) -> None:
    """See Also says nothing about the subject; in a table of contents links are all there is."""
    body = "Pours slowly. {#SLOW}\n\n## See Also\n\n[POUR](sql-pour.html), [DRIP](drip.html) and [SIEVE](sieve.html)"
    (tmp_path / "pg__slow.md").write_text(render_page(page("pg", "slow", "SLOW POUR", body, PG)), encoding="utf-8")
    listed = page("pg", "list", "Pots", "- [Kettle](kettle.html)\n- [Samovar](samovar.html)", PG, "contents")
    (tmp_path / "pg__list.md").write_text(render_page(listed), encoding="utf-8")
    index = DocumentSearchIndex(tmp_path, tmp_path.parent / "cache.pkl")
    slow = index.search("slow pour", 1)[0].snippet
    assert "Pours slowly." in slow
    assert "DRIP" not in slow
    assert "Samovar" in index.search("list of pots: kettle, samovar", 1)[0].snippet
