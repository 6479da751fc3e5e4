"""The docs folder changes while the server runs: seen in two seconds, built again beside it, and nobody waits."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import PAGES, POSIX, children, said, search, serving, until

from pgdocs.pages import read_page, render_page
from pgdocs.serve.probe import Session

SEEN = 2.5
"""Seconds: the promise is two; the rest is for the calls that look and for a busy machine."""

BUILT = 20.0
"""Seconds in which a child has built these few pages, also on a busy machine."""

NO_WAIT = 0.5
"""Seconds of any call meanwhile; a build takes longer."""

NEW = "# {0}\n\nAll about the {0}: a {0} is a {0}.\n"


@pytest.fixture
def server(own: Path) -> Iterator[Session]:
    """A server that has answered once over a folder with an index; its stdout is clean to the end."""
    with serving(own) as session:
        session.initialize()
        assert "sql-select" in search(session)
        yield session
    assert not session.junk


def edit(docs: Path) -> None:
    (docs / "postgis__ST_Buffer.md").write_text(NEW.format("zeppelin"), encoding="utf-8")


def add(docs: Path) -> None:
    (docs / "pg__zeppelin.md").write_text(NEW.format("zeppelin"), encoding="utf-8")


def add_below(docs: Path) -> None:
    (docs / "further" / "notes").mkdir(parents=True)
    (docs / "further" / "notes" / "zeppelin.md").write_text(NEW.format("zeppelin"), encoding="utf-8")


def rename(docs: Path) -> None:
    (docs / "postgis__ST_Buffer.md").rename(docs / "postgis__zeppelin.md")


def replace_by_older(docs: Path) -> None:
    older = docs.parent / "older.md"
    older.write_text(NEW.format("zeppelin"), encoding="utf-8")
    os.utime(older, (1_000_000_000, 1_000_000_000))
    older.replace(docs / "postgis__ST_Buffer.md")


def same_size(docs: Path) -> None:
    file = docs / "postgis__ST_Buffer.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("# ST_Buffer", "# zeppelin!"[:11], 1), encoding="utf-8", newline="\n")


@pytest.mark.parametrize("change", [edit, add, add_below, rename, replace_by_older, same_size])
def test_a_change_is_seen_said_and_indexed(server: Session, own: Path, change: Callable[[Path], None]) -> None:
    """Within two seconds an answer says that it is from the index before; then the new page is found, and no line."""
    change(own)
    until(lambda: "have changed" in search(server), SEEN, "the change is seen")
    assert "sql-select" in search(server)
    until(lambda: "have changed" not in search(server), BUILT, "the index is built again")
    assert "zeppelin" in search(server, "zeppelin").partition("## 2.")[0]


def test_a_deleted_page_is_no_longer_found(server: Session, own: Path) -> None:
    """Until that is seen, reading it is an error in a sentence; then nothing leads to it."""
    (own / "postgis__ST_Buffer.md").unlink()
    read = server.call("get_doc", {"page": "ST_Buffer"})
    assert read["result"]["isError"]
    assert "There is no page" in said(read)
    until(lambda: "have changed" in search(server), SEEN, "the change is seen")
    until(lambda: "have changed" not in search(server), BUILT, "the index is built again")
    assert "manual-3.5/ST_Buffer.html" not in search(server, "ST_Buffer")


@pytest.mark.skipif(not POSIX, reason="looks for processes with ps")
def test_a_page_that_is_touched_costs_nothing(server: Session, own: Path) -> None:
    """New times alone, as after a checkout or a copy: no line, no child."""
    for page in own.iterdir():
        page.write_bytes(page.read_bytes())
        os.utime(page, (1_700_000_000, 1_700_000_000))
    end = time.monotonic() + SEEN
    while time.monotonic() < end:
        assert "changed" not in search(server)
        assert not children(server.process.pid)
        time.sleep(0.1)


def test_the_folder_moves_away_and_comes_back(server: Session, own: Path) -> None:
    """The index before answers and says why; nothing is built when the pages are back as they were."""
    own.rename(own.parent / "elsewhere")
    until(lambda: "No pages in" in search(server), SEEN + 1, "the folder is missed")
    assert "sql-select" in search(server)
    assert "There is no page" in said(server.call("get_doc", {"page": "sql-select"}))
    assert "error" in server.request("resources/read", {"uri": "pgdocs://docs/pg/sql-select"})
    (own.parent / "elsewhere").rename(own)
    until(lambda: "No pages in" not in search(server), SEEN + 1, "the folder is back")
    assert "LIMIT" in said(server.call("get_doc", {"page": "sql-select"}))


def test_nobody_waits_while_the_index_is_built_again(tmp_path: Path) -> None:
    """With a thousand pages, calls go on being answered at their usual pace from change to new index."""
    docs = shutil.copytree(PAGES, tmp_path / "docs")
    page = read_page(docs / "pg__sql-select.md", docs)
    for number in range(1_000):
        text = render_page(page).replace("# SELECT", f"# SELECT {number}", 1)
        (docs / f"pg__copy-{number}.md").write_text(text, encoding="utf-8")
    with serving(docs) as session:
        session.initialize()
        search(session)
        add(docs)
        longest, answers, stale = 0.0, 0, False
        changed = time.monotonic()
        while "zeppelin" not in (found := search(session, "zeppelin")).splitlines()[0]:
            started = time.monotonic()
            assert "sql-select" in search(session)
            said(session.call("get_doc", {"page": "sql-select"}))
            longest = max(longest, time.monotonic() - started)
            answers, stale = answers + 1, stale or "have changed" in found
            assert time.monotonic() < changed + 3 * BUILT
        assert stale
        assert answers > 20
        assert longest < (time.monotonic() - changed) / 4  # who waits for the new index waits for most of that


def test_a_scrape_runs_beside_the_server(server: Session, own: Path) -> None:
    """Pages arrive for some seconds, each by a rename as the crawl does it: every call is answered, the last page is
    found in the end, and the builds follow each other, never two at once."""
    stop, most = threading.Event(), [0]

    def scrape() -> None:
        number = 0
        while not stop.wait(0.05):
            number += 1
            new = own / ".new"
            new.write_text(NEW.format(f"airship{number}"), encoding="utf-8")
            new.replace(own / f"pg__airship{number}.md")
        add(own)

    thread = threading.Thread(target=scrape)
    thread.start()
    end = time.monotonic() + 5
    while time.monotonic() < end:
        started = time.monotonic()
        assert "sql-select" in search(server)
        assert time.monotonic() - started < NO_WAIT
        if POSIX:
            most[0] = max(most[0], len(children(server.process.pid)))
        time.sleep(0.05)
    stop.set()
    thread.join()
    until(lambda: "zeppelin" in search(server, "zeppelin").splitlines()[0], BUILT, "the last page is found")
    assert most[0] <= 1
