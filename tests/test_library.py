"""pgdocs as a library: `from search_index import DocumentSearchIndex` in somebody else's program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT

import search_index
from search_index import BadQuery, DocumentSearchIndex, NoPages, PageNotFound, PgdocsError, UnknownSource

THREADS = 8

QUERIES = ("first row of each group", "work_mem", "distance between geometries", "ST_Buffer", "jsonb", "what changed")


def run(code: str, cwd: Path) -> str:
    """What a fresh interpreter prints that runs `code` in a folder of the user's."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=env, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def test_the_readmes_lines_work_as_they_are(indexed: Path) -> None:
    """Five lines, pasted into a REPL, print results."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    [code] = [block for block in blocks if "from search_index import DocumentSearchIndex" in block]
    assert len([line for line in code.splitlines() if line.strip()]) <= 5
    printed = run(code, indexed.parent).splitlines()
    assert 1 <= len(printed) <= 3
    assert all("https://" in line for line in printed)


def test_importing_costs_little_more_than_numpy() -> None:
    """At most 1.5 times numpy, in processor time, the best of several runs each: a REPL opens at once."""
    code = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
    best = {"numpy": 1e9, "search_index": 1e9}
    for _ in range(7):
        for module, least in best.items():
            best[module] = min(least, float(run(code.format(module), ROOT)))
    assert best["search_index"] <= 1.5 * best["numpy"], best


def test_what_the_door_hands_on_is_there() -> None:
    """`from search_index import *` gives exactly the names that are documented, each with a docstring."""
    for name in search_index.__all__:
        assert getattr(search_index, name).__doc__, name


def test_the_package_says_that_it_is_typed() -> None:
    """Type checkers read our annotations only where py.typed lies in the package."""
    assert (ROOT / "pgdocs" / "py.typed").is_file()


def test_without_pages_the_exception_says_what_to_do(tmp_path: Path) -> None:
    """An empty or missing folder: NoPages names the folder and the cure, whatever is called first."""
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(NoPages, match=r"No pages in .*: .*scrape"):
            DocumentSearchIndex(folder).build_index()
        with pytest.raises(NoPages):
            DocumentSearchIndex(folder).search("upsert")
        with pytest.raises(NoPages):
            DocumentSearchIndex(folder).symbols("upsert")


def test_every_exception_of_ours_is_one_kind(own: Path) -> None:
    """One `except PgdocsError` catches all that a caller can do wrong; each is the built-in kind that it resembles."""
    index = DocumentSearchIndex(own)
    with pytest.raises(BadQuery):
        index.search(" ")
    with pytest.raises(UnknownSource):
        index.search("upsert", source="mysql")
    with pytest.raises(PageNotFound):
        index.get_document("nowhere")
    assert all(issubclass(error, PgdocsError) for error in (BadQuery, UnknownSource, PageNotFound, NoPages))
    assert issubclass(PageNotFound, LookupError)
    assert issubclass(UnknownSource, ValueError)


def test_one_index_serves_eight_threads(own: Path) -> None:
    """Opened by all of them at once and used by all of them: each gets what a single thread gets."""
    alone = DocumentSearchIndex(own)
    expected = {query: alone.search(query) for query in QUERIES}
    pages = {page.doc_name: alone.get_document(page.doc_name) for page in alone.pages()}
    shared, together = DocumentSearchIndex(own), threading.Barrier(THREADS)

    def work(number: int) -> None:
        together.wait()
        for turn in range(30):
            query = QUERIES[(number + turn) % len(QUERIES)]
            assert shared.search(query) == expected[query]
            assert shared.symbols("ST_Buffer") == alone.symbols("ST_Buffer")
            shared.refresh()
        for name, text in pages.items():
            assert shared.get_document(name) == text

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


def test_threads_never_see_half_of_a_rebuild(own: Path) -> None:
    """While the folder changes and the index is built anew, searches go on, with the old pages or with the new ones."""
    index, done = DocumentSearchIndex(own), threading.Event()
    index.build_index()
    before = [result.doc_name for result in index.search("samovar")]

    def work(_: int) -> set[tuple[str, ...]]:
        seen = set()
        while not done.is_set():
            seen.add(tuple(result.doc_name for result in index.search("samovar")))
        return seen

    with ThreadPoolExecutor(THREADS) as pool:
        running = [pool.submit(work, number) for number in range(THREADS - 1)]
        try:
            (own / "pg__samovar.md").write_text("# Samovar\n\nA samovar boils water for tea.\n", encoding="utf-8")
            index.build_index(force=True)
        finally:
            done.set()
        seen = set().union(*(future.result() for future in running))
    after = tuple(result.doc_name for result in index.search("samovar"))
    assert after[0] == "pg__samovar"
    assert seen <= {tuple(before), after}
