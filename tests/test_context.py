"""how_do_i: what the block holds, what it leaves out, what it never does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.context import HERE, Outcome, Question, read
from pgdocs.errors import BadQuery, UnknownSource
from pgdocs.pages import Page, file_name, render_page, scan_lines
from pgdocs.search import NO_ANSWER
from pgdocs.search.budget import count_tokens
from pgdocs.search.context import Cited, Context, assemble, context, naive
from pgdocs.search.index import DocumentSearchIndex

FIXTURES = Path(__file__).parent / "fixtures" / "docs"
URL = re.compile(r"(?:https?|ftp)://\S+", re.IGNORECASE)

LOFT = """**Table 1. Grain by bird** {#GRAIN-TABLE}

| Bird | Grain | Note |
| --- | --- | --- |
""" + "\n".join(
    f"| breed{n} | {n * 10} grams of wheat a day | fed from trough {n} in the morning hours |" for n in range(40)
)

FEED = """Before filling a trough see the [keeper's list](https://elsewhere.example/list) or http://raw.example/page.

A trough must be filled before dawn, because pigeons that wake hungry fly away and do not come back.

To fill a trough by hand, run:

```
filltrough --morning --grams=500
echo http://trough.example/done
```

The lid closes by itself."""


PERCHES = """Perches are warm when `perch_heater` allows it, so set that first; on cold perches squabs freeze.

""" + "\n\n".join(
    f"## {name} (integer) {{#{name.upper()}}}\n\nThis parameter takes {n} watts and the winter default is {n}{n}."
    for n, name in enumerate(("perch_light", "perch_fan", "perch_heater", "perch_bell", "perch_lock", "perch_scale"), 1)
)


def build(folder: Path, *pages: Page) -> DocumentSearchIndex:
    """An index over these pages."""
    docs = folder / "docs"
    docs.mkdir()
    for page in pages:
        (docs / file_name(page.doc_name)).write_text(render_page(page), encoding="utf-8")
    return DocumentSearchIndex(docs)


def page(slug: str, title: str, body: str, product: str = "Loft 3") -> Page:
    source = product.partition(" ")[0].lower()
    url = f"https://{source}.example/{slug}.html"
    return Page(f"{source}__{slug}", title, slug.upper(), url, (product, "Manual"), "guide", body)


@pytest.fixture(scope="module")
def manuals(tmp_path_factory: pytest.TempPathFactory) -> DocumentSearchIndex:
    """The fixture manuals."""
    return DocumentSearchIndex(FIXTURES, tmp_path_factory.mktemp("cache") / "index.cache")


@pytest.fixture(scope="module")
def loft(tmp_path_factory: pytest.TempPathFactory) -> DocumentSearchIndex:
    """Two manuals that keep pigeons and say one thing in the same words."""
    same = (
        "Rings are put on a squab's leg on its seventh day, when the foot still fits through and the ring holds after."
    )
    other = [page(f"sky{n}", f"Sky {n}", f"Clouds of kind{n} bring rain{n} and wind{n}. " * 20) for n in range(60)]
    return build(
        tmp_path_factory.mktemp("loft"),
        page("grain", "Grain Rations by Breed", LOFT),
        page("trough", "Filling a Trough", FEED),
        page("perches", "Warm Perches", PERCHES),
        page("rings", "Putting on Rings", same),
        page("rings", "Putting on Rings", same, "Coop 2"),
        *other,
    )


def citations(text: str) -> list[str]:
    return [line for line in text.split("\n") if URL.fullmatch(line)]


def test_one_page_where_one_page_answers(manuals: DocumentSearchIndex) -> None:
    """A question that one page answers costs the text of that page, not of five that share its words."""
    found = context(manuals, "How much memory may a sort take before it spills to disk by default?")
    assert {passage.doc_name for passage in found.passages} == {"pg__runtime-config-resource"}
    assert "4MB" in found.text
    assert found.tokens < naive(manuals, "How much memory may a sort take before it spills to disk by default?").tokens


def test_every_passage_says_where_it_stands(manuals: DocumentSearchIndex) -> None:
    """Product and version, the headings, and a bare URL with the anchor: what an agent needs to cite."""
    text = assemble(manuals, "default of work_mem")
    assert "PostgreSQL 18 › Resource Consumption › Memory › `work_mem` (`integer`)" in text
    assert "https://www.postgresql.org/docs/18/runtime-config-resource.html#GUC-WORK-MEM" in citations(text)


def test_a_row_comes_with_its_head_and_caption(loft: DocumentSearchIndex) -> None:
    """A row alone is numbers without names; of a long table the rest is said to be there."""
    text = assemble(loft, "wheat grain rations for breed17")
    assert "**Table 1. Grain by bird**\n\n| Bird | Grain | Note |\n| --- | --- | --- |\n" in text
    assert "| breed17 | 170 grams of wheat a day |" in text
    left = re.search(r"… (\d+) more rows.*: get_doc\(\"loft/grain\", section=\"GRAIN-TABLE\"\)", text)
    assert left
    assert int(left[1]) + len(re.findall(r"^\| breed\d", text, re.MULTILINE)) == 40


def test_an_example_comes_with_the_sentence_that_leads_to_it(loft: DocumentSearchIndex) -> None:
    """Code is shown whole, and with what it is for."""
    text = assemble(loft, "how do I fill a trough")
    assert "To fill a trough by hand, run:\n\n```\nfilltrough --morning --grams=500\n" in text


def test_why_wants_the_reason(loft: DocumentSearchIndex) -> None:
    """With room for one thing only, a why-question gets the sentence that gives the reason."""
    text = assemble(loft, "why is filling a trough done before dawn", token_budget=200)
    assert "because pigeons that wake hungry" in text


def test_a_name_in_the_answer_brings_its_definition(loft: DocumentSearchIndex) -> None:
    """Without it "set perch_heater" would send an agent on a second look-up; its siblings stay out."""
    found = context(loft, "why do warm perches freeze squabs")
    assert "https://loft.example/perches.html#PERCH_HEATER" in citations(found.text)
    assert "https://loft.example/perches.html#PERCH_LIGHT" not in citations(found.text)


SIGNALS = """These functions tell other server processes something.

- `pg_rotate_logfile () → boolean`

  Begins a new file of the log while queries are running for long.

- `pg_terminate_backend ( pid integer ) → boolean`

  Ends another session.

- `pg_log_backend_memory_contexts ( pid integer ) → boolean`

  Writes how the memory of a process is used to the log."""


def test_people_s_phrases_know_the_name_of_what_is_wanted(tmp_path: Path) -> None:
    """Nothing in the entry speaks of killing or of queries; the phrases for this page do, beside its name."""
    signals = Page("pg__functions-admin", "Signaling", "SIG", "", ("PostgreSQL 18",), "guide", SIGNALS)
    index = build(tmp_path, signals, *(page(f"sky{n}", f"Sky {n}", f"Clouds of kind{n}. " * 20) for n in range(20)))
    assert "pg_terminate_backend" in assemble(index, "kill a long running query", token_budget=200)


def test_a_goal_gets_an_example(tmp_path: Path) -> None:
    """Who names a goal wants to type something, whatever words the code is made of."""
    prose = [
        f"Clean all feeders weekly in {month} with {n} brushes." for n, month in enumerate(("May", "June", "July"))
    ]
    code = "```\n" + "\n".join(f"scrub --brush={n} --rinse={n}" for n in range(9)) + "\n```"
    feeder = page("feeder", "Cleaning Feeders", "\n\n".join((*prose, "Feeders last for years.", code)))
    index = build(tmp_path, feeder, page("sky", "Sky", "Clouds. " * 40))
    assert "scrub --brush=8" in assemble(index, "clean all feeders weekly", token_budget=250)


def test_no_url_but_citations(loft: DocumentSearchIndex) -> None:
    """Links are plain text and other addresses can't be followed: a URL in the block is where the text is from."""
    text = assemble(loft, "how do I fill a trough", token_budget=2000)
    assert "the keeper's list or http[:]//raw.example/page." in text
    assert "echo http[:]//trough.example/done" in text
    assert URL.findall(text) == citations(text) == ["https://loft.example/trough.html#TROUGH"]


def test_the_same_paragraph_is_said_once(loft: DocumentSearchIndex) -> None:
    """Where two manuals say the same in the same words, the second costs tokens and tells nothing."""
    text = assemble(loft, "When are rings put on a squab's leg?", token_budget=2000)
    assert text.count("seventh day") == 1


def test_source_narrows(loft: DocumentSearchIndex) -> None:
    """Who asks for one manual gets that one; an unknown one is an error, not an empty answer."""
    cited = citations(assemble(loft, "When are rings put on a squab's leg?", source="coop"))
    assert cited == ["https://coop.example/rings.html#RINGS"]
    with pytest.raises(UnknownSource):
        context(loft, "rings", source="barn")


@pytest.mark.parametrize(("asked", "used"), [(50, 200), (-1, 200), (9000, 2000)])
def test_a_budget_out_of_range_is_clamped_and_said(loft: DocumentSearchIndex, asked: int, used: int) -> None:
    """The caller learns that the budget was not what was asked for; the note counts too."""
    found = context(loft, "how do I fill a trough", token_budget=asked)
    assert found.text.startswith(f"token_budget {asked:,} is outside 200–2,000: {used:,} is used.\n")
    assert found.tokens == count_tokens(found.text) <= used


def test_nothing_confident_is_said_first(loft: DocumentSearchIndex) -> None:
    """An agent must not take the nearest page for an answer: the first line is the one that clients look for."""
    found = context(loft, "quantum chromodynamics lattice gauge coupling")
    assert found.text.split("\n")[0] == NO_ANSWER == "No confident answer in the indexed manuals."
    assert len(citations(found.text)) <= 2
    assert found.tokens == count_tokens(found.text) < 120
    assert not found.passages


@pytest.mark.parametrize("task", ["", " \n\t", "\0", "x" * 10_001])
def test_no_task_is_an_error(loft: DocumentSearchIndex, task: str) -> None:
    """Nothing to look for, or a whole file of it, gets a sentence that says so."""
    with pytest.raises(BadQuery):
        context(loft, task)


WORDS = "select with rows json array distance buffer sort memory a how why default || -> ST_DWithin `x` é 中 ](".split()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS) | st.text(min_size=1, max_size=12), min_size=1, max_size=12).map(" ".join),
    st.integers(-50, 2500),
)
def test_promises_hold_for_any_task_and_budget(manuals: DocumentSearchIndex, task: str, budget: int) -> None:
    """Whatever is asked: the budget holds, fences are closed, every URL is the citation of an indexed page."""
    if not task.strip("\0 \t\r\n"):
        return
    found = context(manuals, task, token_budget=budget)
    assert count_tokens(found.text) == found.tokens <= min(max(budget, 200), 2000)
    marks = [mark for _, mark in scan_lines(found.text) if mark in ("open", "close")]
    assert marks.count("open") == marks.count("close")
    pages = {info.url for info in manuals.pages()}
    assert URL.findall(found.text) == citations(found.text)
    assert {url.partition("#")[0] for url in citations(found.text)} <= pages


def test_tokens_are_not_underestimated() -> None:
    """A budget is a promise: other scripts, digits and code count for more than their length would say."""
    assert count_tokens("") == 0
    assert count_tokens("数据库索引") >= 5
    assert count_tokens("1234567890") >= 4
    assert count_tokens("SELECT ST_AsMVTGeom(geom, ST_TileEnvelope(z, x, y))") >= 18


def test_the_evaluation_counts_what_it_says() -> None:
    """Restraint is the right page and no other; a fact split over lines or marked as code is there all the same."""
    question = Question("q", "how", frozenset({"loft__rings"}), ("seventh day", "leg_ring"), (), True)
    passages = tuple(Cited(name, (), "", "") for name in ("loft__rings", "loft__grain"))
    text = "on the seventh\nday the `leg_ring`"
    both, one = Outcome(question, Context(text, 9, passages)), Outcome(question, Context("", 0, passages[:1]))
    assert both.hit
    assert not both.missing
    assert (both.precision, both.restrained, both.wrong) == (0.5, False, {"loft__grain"})
    assert one.restrained
    assert one.missing == ["seventh day", "leg_ring"]


def test_our_questions_can_be_read() -> None:
    """At least 60, each with its right pages and what an answer holds, none twice."""
    questions = [q for name in ("one_answer", "several") for q in read(HERE / f"{name}.jsonl")]
    assert len({q.text for q in questions}) == len({q.id for q in questions}) == len(questions) >= 60
    assert all(q.pages and q.must_contain for q in questions)
