"""The crawl over real HTTP: what it fetches, how politely, what it survives, what it leaves behind."""

from __future__ import annotations

import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from mirror import Mirror, pg_page, toc

from pgdocs.pages import parse_page
from pgdocs.scrape import fetch, workers
from pgdocs.scrape.cli import Progress, main
from pgdocs.scrape.crawl import Options, SourceReport, scrape
from pgdocs.scrape.shelf import prepare
from pgdocs.scrape.sources import SOURCES

ROOT = Path(__file__).resolve().parent.parent

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with Mirror() as running:
        yield running


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a hundredth of the time before a retry, a second for a stalled body; start one process per crawl."""
    monkeypatch.setattr(workers, "WORKERS", 1)
    monkeypatch.setattr(fetch, "BACKOFF", (0.005, 0.3))
    monkeypatch.setattr(fetch, "TIMEOUT", httpx.Timeout(1.0))


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The pages of a crawl that nothing disturbed."""
    with Mirror() as undisturbed:
        out = tmp_path_factory.mktemp("clean")
        crawl(undisturbed, out)
    return pages(out)


def crawl(mirror: Mirror, out: Path, *names: str, delay: float = 0, **options: object) -> dict[str, SourceReport]:
    sources = [SOURCES[name] for name in names or SOURCES]
    origins = {name: mirror.origin(name) for name in SOURCES}
    reports = scrape(sources, out, origins, Options(delay, **options))  # type: ignore[arg-type]
    return {report.name: report for report in reports}


def pages(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in out.glob("*.md")}


def header(out: Path, file: str) -> tuple[str, tuple[str, ...]]:
    page = parse_page((out / file).read_text(encoding="utf-8"), file)
    return page.url, page.path


def command(mirror: Mirror, out: Path, *more: str) -> list[str]:
    origins = [f"--from={name}={mirror.origin(name)}" for name in SOURCES]
    return [sys.executable, str(ROOT / "scrape_docs.py"), "--delay=0", f"--out={out}", *origins, *more]


# --- what is fetched ----------------------------------------------------------------------------------------


def test_every_page_is_fetched_once_and_none_beyond(mirror: Mirror, tmp_path: Path) -> None:
    """Other spellings of an address, other versions and other sites never make a second page."""
    reports = crawl(mirror, tmp_path)
    assert {name: (report.pages, report.failures) for name, report in reports.items()} == {
        "pg": (9, ()),
        "postgis": (4, ()),
    }
    expected = {f"/docs/18/{name}" for name in mirror.pages["pg"]}
    expected |= {f"/docs/manual-3.5/{name}" for name in mirror.pages["postgis"]}
    assert mirror.transfers() == dict.fromkeys(expected, 1)


def test_a_page_says_where_it_is_on_the_web_and_in_the_manual(mirror: Mirror, tmp_path: Path) -> None:
    """A mirror's address in a page would be a citation that nobody can follow."""
    crawl(mirror, tmp_path)
    assert header(tmp_path, "pg__leaf-3.md") == (
        "https://www.postgresql.org/docs/18/leaf-3.html",
        ("PostgreSQL 18", "Tea"),
    )
    assert header(tmp_path, "postgis__ST_Pour.md") == (
        "https://postgis.net/docs/manual-3.5/ST_Pour.html",
        ("PostGIS 3.5", "Pouring"),
    )
    assert "Pours — über." in (tmp_path / "postgis__ST_Pour.md").read_text(encoding="utf-8")


def test_names_that_differ_only_by_case_get_files_that_differ(mirror: Mirror, tmp_path: Path) -> None:
    """On a Mac or on Windows the second page would overwrite the first."""
    crawl(mirror, tmp_path, "postgis")
    assert {"postgis__TopoPot.md", "postgis__topopot~2.md"} <= set(pages(tmp_path))
    assert header(tmp_path, "postgis__topopot~2.md")[0].endswith("/topopot.html")


def test_a_renamed_page_is_there_once_under_its_new_name(mirror: Mirror, tmp_path: Path) -> None:
    """A redirect inside the manual is followed to a page of its own, one that leaves it is not."""
    crawl(mirror, tmp_path, "pg")
    assert "pg__kettle.md" in pages(tmp_path)
    assert not {"pg__teapot.md", "pg__gone-abroad.md"} & set(pages(tmp_path))
    assert not any(path.startswith("/docs/19/") for path, _, _ in mirror.requests)


@pytest.mark.parametrize("setting", ["gzip", "to_twin", "validators"])
def test_pages_are_the_same_however_a_site_serves_them(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes], setting: str
) -> None:
    """Compressed, with validators, or each page redirected to its twin: the same bytes."""
    setattr(mirror, setting, True)
    crawl(mirror, tmp_path)
    assert pages(tmp_path) == clean
    redirects = [path for path, status, _ in mirror.requests if status == 302]
    assert redirects == ["/docs/manual-3.5/index.html"] * (setting == "to_twin")


def test_a_folder_and_an_archive_give_the_pages_of_the_site(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]
) -> None:
    """An unpacked manual and a packed one go through the same crawl, and keep their public addresses."""
    folder = mirror.save(tmp_path / "html")
    with tarfile.open(tmp_path / "gis.tar.gz", "w:gz") as archive:
        archive.add(folder / "postgis", "manual")
    origins = {"pg": str(folder / "pg"), "postgis": str(tmp_path / "gis.tar.gz")}
    reports = scrape(list(SOURCES.values()), tmp_path / "docs", origins)
    names = [{url.rsplit("/", 1)[1] for url, _ in report.failures} for report in reports]
    assert names == [{"teapot.html", "gone-abroad.html"}, set()]  # a folder has no redirects
    assert pages(tmp_path / "docs") == {name: text for name, text in clean.items() if name != "pg__kettle.md"}


# --- how politely -------------------------------------------------------------------------------------------


def test_robots_txt_is_obeyed(mirror: Mirror, tmp_path: Path) -> None:
    """A site that forbids a page to us is not asked for it, and the report says why the page is missing."""
    mirror.robots = "User-agent: pgdocs-mcp\nDisallow: /docs/18/leaf-2.html\n"
    report = crawl(mirror, tmp_path, "pg")["pg"]
    assert report.failures == (("https://www.postgresql.org/docs/18/leaf-2.html", "robots.txt forbids it"),)
    assert "/docs/18/leaf-2.html" not in mirror.transfers()


def test_a_site_that_wants_a_year_is_not_waited_for(mirror: Mirror, tmp_path: Path) -> None:
    """Nor asked faster than it wants: the report says what it asks for."""
    mirror.robots = "User-agent: *\nCrawl-delay: 31536000\n"
    assert "asks to wait 31536000 s" in crawl(mirror, tmp_path, "pg")["pg"].error
    assert not mirror.transfers()


def test_a_page_that_never_ends_is_cut_off(mirror: Mirror, tmp_path: Path) -> None:
    """A few kilobytes that unpack to more than a page can have are a failure of that page, not the end of memory."""
    mirror.gzip = True
    mirror.pages["pg"]["leaf-2.html"] = b" " * (40 << 20)
    report = crawl(mirror, tmp_path, "pg")["pg"]
    assert report.failures == (("https://www.postgresql.org/docs/18/leaf-2.html", "larger than 16 MB"),)


def test_the_crawler_says_who_it_is(mirror: Mirror, tmp_path: Path) -> None:
    """Whoever runs the site can tell us from a browser."""
    crawl(mirror, tmp_path, "postgis")
    assert {agent.split("/")[0] for agent in mirror.agents} == {"pgdocs-mcp"}


def test_requests_keep_their_distance(mirror: Mirror, tmp_path: Path) -> None:
    """Two requests to a site are a delay apart, retries and redirects included."""
    mirror.faults["tea.html"] = [503, 200]
    crawl(mirror, tmp_path, "pg", delay=0.1)
    times = sorted(started for _, _, started in mirror.requests)
    assert len(times) == 13  # robots.txt, 9 pages, 2 redirects, 1 retry
    assert times[-1] - times[0] > 0.1 * 11.5


def test_at_most_four_pages_are_in_flight(mirror: Mirror, tmp_path: Path) -> None:
    """However slow a site is, it is not asked for more at once."""
    mirror.latency = 0.05
    crawl(mirror, tmp_path)
    assert 2 <= mirror.most_at_once <= 4


def test_a_site_that_asks_for_time_gets_it(mirror: Mirror, tmp_path: Path) -> None:
    """Retry-After holds back every request to the site, not only the one that was refused."""
    mirror.retry_after, mirror.faults["tea.html"] = "1", [429, 200]
    crawl(mirror, tmp_path, "pg")
    refused = next(started for _, status, started in mirror.requests if status == 429)
    later = [started for _, _, started in mirror.requests if started > refused + 0.3]
    assert len(later) >= 8
    assert min(later) >= refused + 0.9


# --- what it survives -----------------------------------------------------------------------------------------


def test_passing_faults_leave_no_trace(mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]) -> None:
    """Refused, overloaded, reset, truncated and stalled answers are asked for again, the index too."""
    mirror.faults = {
        "index.html": [503, "truncate", 200, 200],
        "tea.html": ["reset", 429, "reset", 200],
        "leaf-1.html": ["stall", 200],
        "leaf-4.html": [500, 502, 504, "truncate", 200],
        "topopot.html": ["truncate", "truncate", 200],
    }
    reports = crawl(mirror, tmp_path)
    assert not any(report.failures or report.error for report in reports.values())
    assert pages(tmp_path) == clean


def test_a_page_that_fails_is_reported_and_asked_for_by_the_next_run(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest is kept, the exit code is 1, the manifest says what is missing, and a later run completes it."""
    mirror.faults["leaf-1.html"] = [500] * fetch.TRIES
    assert main(command(mirror, tmp_path)[2:]) == 1
    url = "https://www.postgresql.org/docs/18/leaf-1.html"
    assert f"{url}: HTTP 500, {fetch.TRIES} times" in capsys.readouterr().err
    manifest = json.loads((tmp_path / ".manifest.json").read_text(encoding="utf-8"))
    assert manifest["pg"]["failures"] == [[url, f"HTTP 500, {fetch.TRIES} times"]]
    assert manifest["pg"]["pages"] == 8
    mirror.forget()
    assert main(command(mirror, tmp_path)[2:]) == 0
    assert mirror.transfers() == {"/docs/18/leaf-1.html": 1}
    assert pages(tmp_path) == clean


def test_a_page_without_content_does_not_stop_the_crawl(mirror: Mirror, tmp_path: Path) -> None:
    """A broken page and a link to no page are failures of these pages alone."""
    mirror.pages["pg"]["leaf-0.html"] = b""
    del mirror.pages["pg"]["leaf-1.html"]
    report = crawl(mirror, tmp_path, "pg")["pg"]
    assert {url.rsplit("/", 1)[1] for url, _ in report.failures} == {"leaf-0.html", "leaf-1.html"}
    assert dict(report.failures)["https://www.postgresql.org/docs/18/leaf-1.html"] == "not found (404)"
    assert report.pages == 7


def test_a_site_that_dies_half_way_keeps_what_was_fetched(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]
) -> None:
    """The crawl gives up after a few pages instead of failing at each, and the next one goes on from there."""
    names = [f"leaf-{n}.html" for n in range(5)]
    mirror.faults = {name: ["reset"] * 99 for name in [*names, "teapot.html"]}
    report = crawl(mirror, tmp_path, "pg")["pg"]
    assert "does not answer any more" in report.error
    assert 1 <= len(report.failures) <= fetch.GIVE_UP
    assert report.pages == 3
    mirror.faults = {}
    crawl(mirror, tmp_path)
    assert pages(tmp_path) == clean


def test_a_site_that_cant_be_reached_does_not_keep_the_other_from_being_fetched(
    mirror: Mirror, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence that names the cure, exit code 1, and the other manual is complete."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = [f"--from=pg=http://127.0.0.1:{port}/docs/18/", f"--from=postgis={mirror.origin('postgis')}"]
    assert main([*arguments, "--delay=0", f"--out={tmp_path}"]) == 1
    assert capsys.readouterr().err.startswith(f"Can't reach http://127.0.0.1:{port}/docs/18/ (")
    assert len(pages(tmp_path)) == 4
    assert list(json.loads((tmp_path / ".manifest.json").read_bytes())) == ["postgis"]


def test_what_is_no_manual_changes_nothing(mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]) -> None:
    """A login page in a manual's place does not make the pages go that are there."""
    crawl(mirror, tmp_path)
    mirror.pages["pg"]["index.html"] = b"<html><title>Please log in</title></html>"
    assert "index" in crawl(mirror, tmp_path, refresh=True)["pg"].error
    assert pages(tmp_path) == clean


@posix
def test_a_full_disk_is_one_sentence(mirror: Mirror, tmp_path: Path) -> None:
    """No stack trace, and no page in half."""
    import resource

    done = subprocess.run(
        command(mirror, tmp_path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    assert "make room or name another folder with --out" in done.stderr
    assert "Traceback" not in done.stderr
    assert all(text.endswith(b"\n") for text in pages(tmp_path).values())
    assert not list(tmp_path.glob("*.tmp")) + list(tmp_path.glob(".*.tmp"))


# --- stopped and run again ------------------------------------------------------------------------------------


def test_a_complete_folder_is_not_asked_for_again(mirror: Mirror, tmp_path: Path) -> None:
    """A second run transfers nothing: the links are read from the pages."""
    crawl(mirror, tmp_path)
    mirror.forget()
    reports = crawl(mirror, tmp_path)
    assert not mirror.transfers()
    assert [(report.pages, report.new, report.version) for report in reports.values()] == [
        (9, 0, "18.6"),
        (4, 0, "3.5.2"),
    ]


@pytest.mark.parametrize("damage", ["deleted", "cut short"])
def test_a_page_that_is_missing_is_the_only_one_fetched(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes], damage: str
) -> None:
    """Deleting a page and running again brings back just that one; so does damaging it."""
    crawl(mirror, tmp_path)
    mirror.forget()
    if damage == "deleted":
        (tmp_path / "postgis__TopoPot.md").unlink()
    else:
        (tmp_path / "postgis__TopoPot.md").write_bytes(clean["postgis__TopoPot.md"][:20])
    crawl(mirror, tmp_path)
    assert mirror.transfers() == {"/docs/manual-3.5/TopoPot.html": 1}
    assert pages(tmp_path) == clean


def test_a_limit_bounds_what_is_asked_for(mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]) -> None:
    """With --limit a manual comes in portions, and the last one completes it."""
    assert [crawl(mirror, tmp_path, "pg", limit=4)["pg"].pages for _ in range(2)] == [3, 6]  # one moved away each time
    assert not json.loads((tmp_path / ".manifest.json").read_text(encoding="utf-8"))["pg"]["complete"]
    crawl(mirror, tmp_path)
    assert pages(tmp_path) == clean


def test_a_page_whose_parent_failed_gets_its_place_with_the_parent(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]
) -> None:
    """Written before its parent's trail is known, it is fetched again when the parent is there, and no sooner."""
    mirror.pages["pg"]["leaf-3.html"] = pg_page("Leaf 3", "LEAF-3", "<p>3</p>", "sql-pour.html")
    mirror.faults["sql-pour.html"] = [403, 403]
    with Mirror(pages=mirror.pages) as undisturbed:
        crawl(undisturbed, tmp_path / "clean", "pg")
    out = tmp_path / "out"
    for _ in range(2):
        assert [url.rpartition("/")[2] for url, _ in crawl(mirror, out, "pg")["pg"].failures] == ["sql-pour.html"]
    assert header(out, "pg__leaf-3.md")[1] != header(tmp_path / "clean", "pg__leaf-3.md")[1]
    crawl(mirror, out, "pg")
    assert pages(out) == pages(tmp_path / "clean")
    mirror.forget()
    crawl(mirror, out, "pg")
    assert not mirror.transfers()


@pytest.mark.parametrize("address", ["https://[half", "http://tea:pot/"])
def test_a_redirect_to_no_address_is_asked_for_once(mirror: Mirror, tmp_path: Path, address: str) -> None:
    """It is no fault that passes."""
    mirror.moved["tea.html"] = address
    report = crawl(mirror, tmp_path, "pg")["pg"]
    assert [reason for _, reason in report.failures] == ["redirected to what is no address"]
    assert sum(path.endswith("/tea.html") for path, _, _ in mirror.requests) == 1


def test_a_manual_that_can_not_be_reached_is_one_sentence(
    mirror: Mirror, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not a table of zeros."""
    mirror.pages["pg"].clear()
    assert main(["--source=pg", f"--from=pg={mirror.origin('pg')}", f"--out={tmp_path}"]) == 1
    said = capsys.readouterr()
    assert not said.out
    assert "has no PostgreSQL manual" in said.err


@posix
def test_a_killed_crawl_goes_on_where_it_was(mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]) -> None:
    """After SIGKILL nothing is half written, at most four pages are fetched twice, and no process is left behind."""
    mirror.faults["leaf-2.html"] = ["hold", 200]
    (old := tmp_path / ".writing-1.tmp").write_bytes(b"# what a crawl that was killed left behind")
    os.utime(old, (0, 0))
    with subprocess.Popen(command(mirror, tmp_path), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        assert mirror.held.wait(30)
        alive = [os.pidfd_open(pid) for pid in children(process.pid)] if hasattr(os, "pidfd_open") else []
        process.kill()
    mirror.release.set()
    written = pages(tmp_path)
    assert written.items() <= clean.items()
    for worker in alive:
        assert select.select([worker], [], [], 10)[0], "a worker outlived its parent"
        os.close(worker)
    subprocess.run(command(mirror, tmp_path), check=True, capture_output=True)
    assert pages(tmp_path) == clean
    assert sum(mirror.transfers().values()) <= len(clean) + 4
    assert not old.exists()


def test_what_another_run_is_just_writing_is_left_to_it(tmp_path: Path) -> None:
    """Two runs may fill one folder: neither sweeps out what the other has in hand."""
    (theirs := tmp_path / ".writing-1.tmp").write_bytes(b"# half a page")
    prepare(tmp_path)
    assert theirs.read_bytes() == b"# half a page"


def children(pid: int) -> list[int]:
    listing = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listing.read_text(encoding="ascii").split()] if listing.exists() else []


@posix
def test_ctrl_c_says_one_line_and_loses_nothing(mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]) -> None:
    """An impatient user gets a sentence instead of stack traces, and the next run goes on."""
    mirror.faults["leaf-2.html"] = ["hold", 200]
    start = command(mirror, tmp_path)
    with subprocess.Popen(start, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True) as process:
        assert mirror.held.wait(30)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        errors = process.communicate()[1]
    mirror.release.set()
    assert process.returncode == 130
    assert errors == "Interrupted: what was fetched is kept, and the same command goes on from there.\n"
    assert {"pg__index.md", "pg__tea.md", "pg__leaf-0.md"} <= set(pages(tmp_path))
    crawl(mirror, tmp_path)
    assert pages(tmp_path) == clean
    assert sum(mirror.transfers().values()) <= len(clean) + 4


# --- refresh and editions ---------------------------------------------------------------------------------------


def test_refresh_transfers_what_changed_and_nothing_else(mirror: Mirror, tmp_path: Path) -> None:
    """Validators spare the site; a page that changed is rewritten, one that nothing links to any more is removed."""
    mirror.validators = True
    crawl(mirror, tmp_path)
    mirror.forget()
    assert not any(report.changed for report in crawl(mirror, tmp_path, refresh=True).values())
    assert not mirror.transfers()
    mirror.pages["pg"]["leaf-3.html"] = pg_page("Leaf 3", "LEAF-3", "<p>Steeped twice.</p>", "tea.html")
    leaves = [f"leaf-{n}.html" for n in range(4)]
    mirror.pages["pg"]["tea.html"] = pg_page("Tea", "TEA-CHAPTER", toc(*leaves, "teapot.html"), "index.html", "chapter")
    report = crawl(mirror, tmp_path, refresh=True)["pg"]
    assert mirror.transfers() == {"/docs/18/leaf-3.html": 1, "/docs/18/tea.html": 1}
    assert (report.changed, report.removed, report.pages) == (2, 1, 8)
    assert b"Steeped twice." in pages(tmp_path)["pg__leaf-3.md"]
    assert "pg__leaf-4.md" not in pages(tmp_path)


def test_refresh_without_validators_rewrites_only_what_differs(mirror: Mirror, tmp_path: Path) -> None:
    """PostgreSQL's site promises no ETag: pages are fetched, and the files of unchanged ones stay untouched."""
    crawl(mirror, tmp_path, "pg")
    before = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("*.md")}
    report = crawl(mirror, tmp_path, "pg", refresh=True)["pg"]
    assert (report.new, report.changed, report.removed) == (0, 0, 0)
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("*.md")} == before


def test_a_page_that_is_gone_is_removed_only_by_a_crawl_without_failures(mirror: Mirror, tmp_path: Path) -> None:
    """While something else fails, nobody knows whether a page is gone or only out of reach."""
    crawl(mirror, tmp_path, "pg")
    del mirror.pages["pg"]["leaf-4.html"]
    mirror.faults["leaf-0.html"] = [500] * fetch.TRIES
    assert crawl(mirror, tmp_path, "pg", refresh=True)["pg"].removed == 0
    assert {"pg__leaf-0.md", "pg__leaf-4.md"} <= set(pages(tmp_path))
    report = crawl(mirror, tmp_path, "pg", refresh=True)["pg"]
    assert (report.removed, report.failures) == (1, ())
    assert "pg__leaf-4.md" not in pages(tmp_path)


def test_another_edition_replaces_the_source_in_full(mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]) -> None:
    """A distribution's PostgreSQL 15 never stands beside pages of 18, is called 15, and the other source stays."""
    docs, folder = tmp_path / "docs", tmp_path / "html"
    crawl(mirror, docs)
    folder.mkdir()
    title = "PostgreSQL 15.20 Documentation"
    (folder / "index.html").write_bytes(
        pg_page(title, "TEA", toc("/docs/15/cup.html", "/docs/18/tea.html"), kind="book")
    )
    (folder / "cup.html").write_bytes(pg_page("Cup", "CUP", "<p>A cup.</p>", "index.html"))
    report = scrape([SOURCES["pg"]], docs, {"pg": str(folder)})[0]
    assert (report.label, report.version, report.pages) == ("PostgreSQL 15", "15.20", 2)
    assert header(docs, "pg__cup.md") == ("https://www.postgresql.org/docs/15/cup.html", ("PostgreSQL 15",))
    assert set(pages(docs)) == {"pg__index.md", "pg__cup.md"} | {name for name in clean if name.startswith("postgis")}
    manifest = json.loads((docs / ".manifest.json").read_bytes())
    assert (manifest["pg"]["label"], manifest["postgis"]["version"]) == ("PostgreSQL 15", "3.5.2")
    crawl(mirror, docs)
    assert pages(docs) == clean


def test_an_edition_that_was_being_replaced_when_killed_leaves_no_mixture(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]
) -> None:
    """The old index goes last: whatever is left of the old edition is still known as old."""
    crawl(mirror, tmp_path, "pg")
    for name in [*(f"pg__leaf-{n}.md" for n in range(5)), "pg__index.md"]:
        text = (tmp_path / name).read_text(encoding="utf-8")
        text = text.replace("PostgreSQL 18", "PostgreSQL 15").replace("/docs/18/", "/docs/15/")
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    (tmp_path / ".crawl.json").unlink()
    (tmp_path / "pg__sql-pour.md").unlink()
    crawl(mirror, tmp_path)
    assert pages(tmp_path) == clean


def test_the_same_edition_in_another_version_from_elsewhere_replaces_too(
    mirror: Mirror, tmp_path: Path, clean: dict[str, bytes]
) -> None:
    """Half of 18.6 from the web and half of 18.4 from a package would be neither."""
    crawl(mirror, tmp_path / "docs", "pg", limit=5)
    mirror.pages["pg"]["index.html"] = mirror.pages["pg"]["index.html"].replace(b"18.6", b"18.4")
    for name in ("leaf-0.html", "tea.html"):
        mirror.pages["pg"][name] = mirror.pages["pg"][name].replace(b"</h2>", b" (old)</h2>")
    folder = mirror.save(tmp_path / "html")
    report = scrape([SOURCES["pg"]], tmp_path / "docs", {"pg": str(folder / "pg")})[0]
    assert report.version == "18.4"
    assert b"(old)" in pages(tmp_path / "docs")["pg__tea.md"]


# --- what is left behind, and the command line ----------------------------------------------------------------


def test_the_manifest_says_what_is_there(mirror: Mirror, tmp_path: Path) -> None:
    """The server's instructions are made from it: version, label, pages, failures, when, and where from."""
    crawl(mirror, tmp_path, "postgis")
    crawl(mirror, tmp_path, "pg")
    manifest = json.loads((tmp_path / ".manifest.json").read_text(encoding="utf-8"))
    assert list(manifest) == ["pg", "postgis"]
    assert manifest["pg"].pop("fetched").endswith("+00:00")
    assert manifest["pg"] == {
        "version": "18.6",
        "label": "PostgreSQL 18",
        "pages": 9,
        "complete": True,
        "failures": [],
        "from": mirror.origin("pg"),
    }


def test_a_run_ends_with_a_table(mirror: Mirror, tmp_path: Path) -> None:
    """What a user sees at the end: the pages of each source, the sum, the time."""
    done = subprocess.run(command(mirror, tmp_path), capture_output=True, encoding="utf-8", check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1:3] == [["pg", "18.6", "9", "9", "0", "0", "0"], ["postgis", "3.5.2", "4", "4", "0", "0", "0"]]
    assert done.stdout.splitlines()[-1].startswith(f"13 pages in {tmp_path}, ")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--source=mysql"], "mysql"),
        (["--from=mysql=http://127.0.0.1:9/"], "Unknown manual 'mysql'"),
        (["--from=pg"], "is not NAME=URL"),
        (["--from=pg=/no/such/folder"], "there is no /no/such/folder"),
        (["--from=pg=http://tea:pot/"], "http://tea:pot/ is no address"),
        (["--from=pg=http://[half"], "http://[half is no address"),
        (["--source=pg", "--from=postgis=."], "--source"),
        (["--out=FILE"], "is no folder"),
        (["--delay=-1"], "0 to 3600"),
        (["--limit=0"], "1 or more"),
        (["--limit=many"], "many"),
    ],
)
def test_wrong_usage_is_told_and_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    """A typo never starts a crawl."""
    (tmp_path / "FILE").touch()
    with pytest.raises(SystemExit) as exit_:
        main([argument.replace("FILE", str(tmp_path / "FILE")) for argument in arguments])
    assert exit_.value.code == 2
    assert says in capsys.readouterr().err


def test_a_folder_that_cant_be_made_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An impossible --out ends the run before any request."""
    (tmp_path / "file").touch()
    assert main([f"--out={tmp_path / 'file' / 'docs'}"]) == 1
    assert "name another folder with --out" in capsys.readouterr().err


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages done, queued and failed, for each source."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    with Progress(terminal) as progress:
        progress.show("pg", 3, 10, 0)
        progress.show("pg", 10, 10, 1)
    assert "10/10" in terminal.getvalue()
    assert "failed=1" in terminal.getvalue()


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("sql-pour.html#X", "sql-pour.html"),
        ("sql-pour.htm?q=1", "sql-pour.html"),
        ("/docs/18/", "index.html"),
        ("http://WWW.postgresql.org/docs/18/index.html", "index.html"),
        ("/docs/18/../17/x.html", None),
        ("/docs/current/x.html", None),
        ("/docs/180/x.html", None),
        ("https://example.org/docs/18/x.html", None),
        ("sub/x.html", None),
        ("x.svg", None),
        ("%2e%2e%2fx.html", None),
        ("mailto:a@example.org", None),
        ("http://[", None),
        (f"{'a' * 300}.html", None),
        (f"{'%E4%B8%AD' * 90}.html", None),
    ],
)
def test_a_page_has_one_name_however_it_is_spelled(url: str, name: str | None) -> None:
    """The scope of a crawl is what the canonical address says."""
    assert SOURCES["pg"].page_name(url) == name


def test_twins_and_leaflets_are_no_pages_of_their_own() -> None:
    """PostGIS has each page twice, all pages in one, and cheat sheets."""
    name = SOURCES["postgis"].page_name
    assert name("https://postgis.net/docs/manual-3.5/en/ST_X.html") == name("ST_X.html") == "ST_X.html"
    assert name("postgis_srs.html") == "postgis_srs.html"
    assert [name(other) for other in ("postgis-en.html", "postgis.html", "raster_cheatsheet-en.html")] == [None] * 3
