"""Acceptance: what the README promises, on the real manuals, from HTML to an answer over stdio.

The manuals come from the mirror beside the checkout (../shared/manuals, or the folder that PGDOCS_MANUALS names) and
are scraped once; without a mirror, from docs/ where ./setup.sh has put them. Where neither is there, these tests are
skipped and say so; everything else is tested on invented pages in tests/.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.cases import SHARED, Case, load
from eval.metrics import mrr, place, recall
from eval.names import name_rows
from pgdocs.pages import doc_name_of_file, scan_lines, split_anchors
from pgdocs.search.build import read_phrases
from pgdocs.search.cache import PHRASES_DIR
from pgdocs.search.rank import CONFIDENT
from pgdocs.serve.guard import inspect
from pgdocs.serve.parts import cut
from pgdocs.serve.probe import Session
from search_index import DocumentSearchIndex, SearchResult

ROOT = Path(__file__).resolve().parent
MANUALS = Path(os.environ.get("PGDOCS_MANUALS") or ROOT.parent / "shared" / "manuals") / "manuals.tar.xz"
SITES = {"pg": "www.postgresql.org/docs/18", "postgis": "postgis.net/docs/manual-3.5"}
PAGES = {"pg": 1148, "postgis": 688}
"""1,147 and 687 pages, and the table of contents of each."""

NO_ANSWER = "No confident answer in the indexed manuals."


@pytest.fixture(scope="session")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both manuals' HTML, unpacked."""
    if not MANUALS.is_file():
        pytest.skip(f"no {MANUALS}: name the mirror's folder in PGDOCS_MANUALS")
    folder = tmp_path_factory.mktemp("html")
    with tarfile.open(MANUALS) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="session")
def docs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both manuals' pages."""
    if not MANUALS.is_file():
        if len(list((ROOT / "docs").glob("*.md"))) < sum(PAGES.values()):
            pytest.skip("neither a mirror (PGDOCS_MANUALS) nor both manuals in docs/ (./setup.sh)")
        return ROOT / "docs"
    folder: Path = request.getfixturevalue("html")
    out = tmp_path_factory.mktemp("manuals") / "docs"
    origins = [f"--from={name}={folder / site}" for name, site in SITES.items()]
    subprocess.run([sys.executable, str(ROOT / "scrape_docs.py"), "--out", str(out), *origins], check=True)
    return out


@pytest.fixture(scope="session")
def index(docs: Path) -> DocumentSearchIndex:
    found = DocumentSearchIndex(docs)
    found.build_index()
    return found


@pytest.fixture(scope="session")
def session(docs: Path, index: DocumentSearchIndex) -> Iterator[Session]:
    """A server over the manuals, index present."""
    with Session([sys.executable, str(ROOT / "server.py")], {**os.environ, "PGDOCS_DOCS": str(docs)}) as server:
        server.initialize()
        yield server


def said(session: Session, tool: str, **arguments: Any) -> str:
    result = session.call(tool, arguments)["result"]
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


def cases(index: DocumentSearchIndex, name: str) -> list[Case]:
    """The development questions, each checked against the pages."""
    if not (SHARED / name).is_file():
        pytest.skip(f"no {SHARED / name}: the development questions are not part of this repository")
    known = {page.doc_name: anchors(index.get_document(page.doc_name)) for page in index.pages()}
    return load(SHARED / name, known)


def anchors(text: str) -> frozenset[str]:
    return frozenset(a for line, fence in scan_lines(text) if not fence for a in split_anchors(line)[1])


# --- from the web to markdown ---------------------------------------------------------------------------------


def test_every_page_is_there(docs: Path) -> None:
    """Nothing of either manual is missing, and nothing else was taken for a page."""
    assert {name: len(list(docs.glob(f"{name}__*.md"))) for name in PAGES} == PAGES
    manifest = json.loads((docs / ".manifest.json").read_text(encoding="utf-8"))
    assert {name: (told["pages"], told["failures"]) for name, told in manifest.items() if name in PAGES} == {
        name: (pages, []) for name, pages in PAGES.items()
    }


def test_every_phrase_is_for_a_page_that_is_there(docs: Path) -> None:
    """A phrase for a page or a section that is gone helps nobody and hides that another is wanted."""
    texts = {doc_name_of_file(file.relative_to(docs)): file.read_text(encoding="utf-8") for file in docs.glob("*.md")}
    lost = [
        f"{source}/{slug}#{anchor}: {phrase}"
        for source, slug, anchor, phrase in read_phrases(PHRASES_DIR)
        if (text := texts.get(f"{source}__{slug}")) is None or (anchor and f"{{#{anchor}}}" not in text)
    ]
    assert lost == []


def test_the_conversion_keeps_what_the_manuals_say(html: Path, docs: Path) -> None:
    """Code to the letter, 99.8 % of the words, every id, no navigation: measured by a script that shares no code."""
    folders = [f"--{name}={html / site}" for name, site in SITES.items()]
    command = [sys.executable, str(ROOT / "eval" / "fidelity.py"), *folders, "--docs", str(docs)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout


def test_the_guard_leaves_the_manuals_alone(docs: Path) -> None:
    """No page of either manual is called an attack, though they say ignore, run, send and you are now."""
    alarms = {file.name: found for file in docs.glob("*.md") if (found := inspect(file.read_text("utf-8")).reasons)}
    assert alarms == {}


# --- search ---------------------------------------------------------------------------------------------------


def test_real_questions_find_their_pages(index: DocumentSearchIndex) -> None:
    """What was promised of the search, on questions that nothing was tuned to word by word."""
    questions = cases(index, "questions_dev.jsonl")
    found: dict[str, list[SearchResult]] = {case.id: index.search(case.question, 10) for case in questions}
    places = [place(case, [result.doc_name for result in found[case.id]]) for case in questions]
    assert recall(places, 1) >= 0.78
    assert recall(places, 5) >= 0.97
    assert recall(places, 10) >= 0.985
    assert mrr(places) >= 0.86
    spatial = [p for case, p in zip(questions, places, strict=True) if case.sources == {"postgis"}]
    assert recall(spatial, 1) >= 0.70
    assert recall(spatial, 5) >= 0.96


def test_what_the_manuals_do_not_answer_is_said(index: DocumentSearchIndex) -> None:
    """Nine in ten questions about other products are called unanswered, and hardly an answerable one is."""

    def told(questions: list[Case]) -> float:
        tops = [index.search(case.question, 1) for case in questions]
        return sum(not top or top[0].score < CONFIDENT for top in tops) / len(questions)

    assert told(cases(index, "none_dev.jsonl")) >= 0.90
    assert told(cases(index, "questions_dev.jsonl")) <= 0.03


def test_release_notes_stay_behind(index: DocumentSearchIndex) -> None:
    """None of the first three results is a list or a release note where the question asks for neither."""
    asked = [case for case in cases(index, "questions_dev.jsonl") if case.kind != "version"]
    for case in asked:
        kinds = {result.doc_name: result.kind for result in index.search(case.question, 3)}
        late = {page for page, kind in kinds.items() if kind in ("release", "contents")}
        assert late <= case.right, case.question


def test_every_name_has_its_page_first(index: DocumentSearchIndex) -> None:
    """Settings, commands, catalogs, functions and operators of both manuals: 99 % lead to their definition."""
    rows = [line.split("|") for line in name_rows(index) if line.startswith("| ")][1:]
    counted = [(int(row[2]), float(row[3])) for row in rows]
    assert sum(n * share for n, share in counted) / sum(n for n, _ in counted) >= 0.99


# --- over stdio -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("ST_Buffer", "geometry ST_Buffer(geometry g1, float radius_of_buffer, text buffer_style_parameters = '')"),
        ("pg_catalog.now()", "now ( ) → timestamp with time zone"),
        ("->>", "jsonb ->> text → text"),
        ("work_mem", "work_mem (integer)"),
        ("23505", "23505 unique_violation"),
        ("\\d", "\\d[Sx+] [ pattern ]"),
        ("PQexec", "PGresult *PQexec(PGconn *conn, const char *command)"),
        ("pg_stat_activity", "wait_event_type text"),
    ],
)
def test_a_name_gets_its_signature(session: Session, name: str, signature: str) -> None:
    """As people type it, to the letter of the manual, with a URL that has an anchor."""
    text = said(session, "get_function_signature", name=name)
    assert signature in text
    assert "https://" in text
    assert "#" in text


def test_answers_are_short_and_cited(session: Session) -> None:
    """A default search is some 1,500 tokens at most, and every result has product, version and URL."""
    for query in ("keep the newest row of each group", "nearest neighbour in metres", "deadlock detected", "->>"):
        text = said(session, "search_docs", query=query)
        assert len(text) <= 6_500
        assert text.count("\nhttps://") == text.count("\n## ") + 1 == 5
        assert "PostgreSQL 18 › " in text or "PostGIS 3.5 › " in text


def test_another_products_question_is_refused(session: Session) -> None:
    """The first line says so, word for word, in both tools."""
    for tool, argument in (("search_docs", "query"), ("how_do_i", "task")):
        text = said(session, tool, **{argument: "What is the InnoDB page size and how do I change it in my.cnf?"})
        assert text.split("\n")[0] == NO_ANSWER


def test_every_page_can_be_read_in_parts(docs: Path) -> None:
    """No part is larger than any client's limit, no fence is cut in two, and together they are the page."""
    for file in sorted(docs.glob("*.md")):
        body = file.read_text(encoding="utf-8")
        parts = cut(body, 7_500)
        assert "".join(part.text for part in parts) == body, file.name
        for part in parts:
            assert len(part.shown) <= 9_000
            assert [fence for _, fence in scan_lines(part.shown)][-1] in ("", "close"), file.name
