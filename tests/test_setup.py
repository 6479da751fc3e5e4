"""./setup.sh and what it decides: where each manual comes from, what becomes of half a one, what is printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from mirror import Mirror, pg_page, toc

from pgdocs.pages import read_page
from pgdocs.scrape import crawl, fetch, setup
from pgdocs.scrape.setup import get_manuals, shortage
from pgdocs.scrape.sources import SOURCES

ROOT = Path(__file__).resolve().parent.parent
PG = SOURCES["pg"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="scripts and signals need a POSIX system")


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    with Mirror() as running:
        yield running


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time between two pages, a hundredth of it before a retry, a second for a body that stalls."""
    monkeypatch.setattr(crawl, "Options", partial(crawl.Options, delay=0))
    monkeypatch.setattr(fetch, "BACKOFF", (0.005, 0.3))
    monkeypatch.setattr(fetch, "TIMEOUT", httpx.Timeout(1.0))


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed manual, newer than any real one, which this machine's `pg_config` names."""
    folder = tmp_path / "htmldir"
    folder.mkdir()
    names = [f"old-{n}.html" for n in range(4)]
    (folder / "index.html").write_bytes(pg_page("PostgreSQL 99.1 Documentation", "TEA", toc(*names), kind="book"))
    for name in names:
        (folder / name).write_bytes(pg_page(name, name.upper(), "<p>An older tea.</p>", "index.html"))
    script(tmp_path / "bin", "pg_config", f"echo '{folder}'")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return folder


def script(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def editions(docs: Path) -> set[str]:
    """What the pages in a folder say that they are of."""
    return {read_page(file, docs).path[0] for file in docs.glob("*.md")}


def die_half_way(mirror: Mirror, name: str) -> None:
    """From the moment that `name` is asked for, the site resets every connection."""
    mirror.faults[name] = ["hold"]

    def end() -> None:
        mirror.held.wait(30)
        mirror.down = True
        mirror.release.set()

    threading.Thread(target=end, daemon=True).start()


# --- where a manual comes from ----------------------------------------------------------------------------


@posix
def test_a_dead_site_is_replaced_by_the_installed_copy(
    tmp_path: Path, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the site the installed manual serves, under the version that it names; a second run asks nobody."""
    dead = {"pg": "http://127.0.0.1:9/docs/18/"}
    docs, spare = tmp_path / "docs", tmp_path / "spare"
    assert get_manuals([PG], docs, spare, dead) == []
    told = capsys.readouterr().err
    assert "127.0.0.1:9/docs/18/ can't be reached" in told
    assert f"PostgreSQL 99 (99.1) is here instead: 5 pages from {copy}" in told
    assert editions(docs) == {"PostgreSQL 99"}
    written = {file: file.stat().st_mtime_ns for file in docs.iterdir()}
    shutil.rmtree(copy)
    assert get_manuals([PG], docs, spare, {}) == []
    assert "is here already" in capsys.readouterr().err
    assert {file: file.stat().st_mtime_ns for file in docs.iterdir()} == written


@posix
def test_half_a_manual_waits_for_its_site(tmp_path: Path, copy: Path, mirror: Mirror) -> None:
    """A site that dies half way: the copy serves alone, and once the site is back no page is fetched a second time."""
    docs, spare, origins = tmp_path / "docs", tmp_path / "spare", {"pg": mirror.origin("pg")}
    die_half_way(mirror, "leaf-1.html")
    assert get_manuals([PG], docs, spare, origins) == []
    assert editions(docs) == {"PostgreSQL 99"}
    assert editions(spare) == {"PostgreSQL 18"}
    kept = set(spare.glob("*.md"))
    assert len(kept) >= 4

    assert get_manuals([PG], docs, spare, origins) == []  # still dead: all stays as it is
    assert editions(docs) == {"PostgreSQL 99"}
    assert set(spare.glob("*.md")) == kept

    mirror.down = False
    assert get_manuals([PG], docs, spare, origins) == []
    assert editions(docs) == {"PostgreSQL 18"}
    assert len(list(docs.glob("*.md"))) == 9
    assert not list(spare.glob("*.md"))
    again = {path for path, times in mirror.transfers().items() if times > 1}
    assert again <= {
        "/docs/18/index.html",
        "/docs/18/leaf-1.html",
    }  # the index tells the edition; leaf-1 was on its way


@posix
@pytest.mark.parametrize("moved", [0, 1, 3])
def test_a_kill_while_pages_move_mixes_nothing(tmp_path: Path, copy: Path, mirror: Mirror, moved: int) -> None:
    """Killed after any number of moves, in either direction, the next run ends with one edition and every page."""
    docs, spare, origins = tmp_path / "docs", tmp_path / "spare", {"pg": mirror.origin("pg")}
    die_half_way(mirror, "leaf-1.html")
    assert get_manuals([PG], docs, spare, origins) == []
    setup._forget(PG, docs / ".manifest.json")  # as _take_back begins, whose kill is played here
    for file in docs.glob("pg__*.md"):
        file.unlink()
    setup._forget(PG, docs / ".crawl.json")
    half = sorted(spare.glob("pg__*.md"))
    for file in half[:moved]:
        file.replace(docs / file.name)

    assert get_manuals([PG], docs, spare, origins) == []  # the site died once more
    assert editions(docs) == {"PostgreSQL 99"}
    assert sorted(spare.glob("pg__*.md")) == half
    mirror.down = False
    assert get_manuals([PG], docs, spare, origins) == []
    assert editions(docs) == {"PostgreSQL 18"}
    assert len(list(docs.glob("*.md"))) == 9


@posix
def test_a_whole_manual_is_never_given_up(tmp_path: Path, copy: Path, mirror: Mirror) -> None:
    """Where all pages are there, another origin that does not answer changes nothing."""
    docs, spare = tmp_path / "docs", tmp_path / "spare"
    assert get_manuals([PG], docs, spare, {"pg": mirror.origin("pg")}) == []
    assert get_manuals([PG], docs, spare, {"pg": "http://127.0.0.1:9/docs/18/"}) == []
    assert editions(docs) == {"PostgreSQL 18"}


def test_a_deleted_page_is_fetched_alone(tmp_path: Path, mirror: Mirror) -> None:
    """Setup does what is missing: of a whole manual less one page it asks for that page."""
    docs, spare, origins = tmp_path / "docs", tmp_path / "spare", {"pg": mirror.origin("pg")}
    get_manuals([PG], docs, spare, origins)
    (docs / "pg__leaf-3.md").unlink()
    mirror.forget()
    assert get_manuals([PG], docs, spare, origins) == []
    assert mirror.transfers() == {"/docs/18/leaf-3.html": 1}


@posix
def test_an_interrupted_run_is_not_taken_for_whole(tmp_path: Path, mirror: Mirror) -> None:
    """After Ctrl-C in the middle the next run goes on, and asks for no page that is there."""
    docs, spare, origins = tmp_path / "docs", tmp_path / "spare", {"pg": mirror.origin("pg")}
    mirror.faults["leaf-3.html"] = ["hold"]

    def interrupt() -> None:
        mirror.held.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        get_manuals([PG], docs, spare, origins)
    mirror.release.set()
    here = {f"/docs/18/{file.stem.partition('__')[2]}.html" for file in docs.glob("*.md")}
    mirror.forget()
    assert get_manuals([PG], docs, spare, origins) == []
    assert len(list(docs.glob("*.md"))) == 9
    assert not here & mirror.transfers().keys()


@posix
def test_a_copy_that_was_named_is_not_replaced(tmp_path: Path, copy: Path) -> None:
    """`--from` a folder without the manual is a mistake to be told, not a reason to take another edition."""
    [(source, reasons)] = get_manuals([PG], tmp_path / "docs", tmp_path / "spare", {"pg": str(tmp_path / "bin")})
    assert source is PG
    assert re.fullmatch(r"There is no PostgreSQL manual in .*bin: .*", "\n".join(reasons))
    assert not list((tmp_path / "docs").glob("*.md"))


@posix
def test_where_nothing_serves_every_cure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One message: what was tried and why it failed, and what helps."""
    source = SOURCES["postgis"]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("pgdocs.scrape.local.PREFIXES", ())
    monkeypatch.setattr("pgdocs.scrape.setup.installed", lambda source: None)
    [(_, reasons)] = get_manuals([source], tmp_path / "docs", tmp_path / "spare", {"postgis": "http://127.0.0.1:9/"})
    message = shortage(source, reasons)
    for words in (
        "127.0.0.1:9/ can't be reached",
        "no copy is installed",
        "apt install postgis-doc",
        "--from postgis=",
    ):
        assert words in message
    assert "apt install" not in shortage(source.pin("3.4"), reasons)  # it has whatever version the system has


# --- the script -------------------------------------------------------------------------------------------


def checkout(folder: Path) -> Path:
    """What a clone has, without what this one has made."""
    made = shutil.ignore_patterns(".*", "docs", "tests", "*.pkl", "*.egg-info", "build", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=made)
    return folder


def run(command: list[str], cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@posix
def test_help_and_wrong_usage_touch_nothing(tmp_path: Path) -> None:
    """--help explains and exits 0; an unknown option or a --from without its parts exits 2; no .venv is made."""
    script_ = str(shutil.copy(ROOT / "setup.sh", tmp_path))
    helped = run([script_, "--help"], tmp_path)
    assert helped.returncode == 0
    assert "--from" in helped.stdout
    assert "--test" in helped.stdout
    for wrong in (["--nonsense"], ["--from"], ["--from", "pg"], ["--from=pg="], ["pg"]):
        failed = run([script_, *wrong], tmp_path)
        assert (failed.returncode, "--from NAME=" in failed.stderr) == (2, True), wrong
    assert [file.name for file in tmp_path.iterdir()] == ["setup.sh"]


@posix
@pytest.mark.parametrize(
    ("python", "cure"),
    [
        ('case "$2" in *ensurepip*) exit 1;; *) exit 0;; esac', "sudo apt install python3-venv"),
        ("exit 1", "No Python 3.10 or newer"),
    ],
    ids=["without venv", "too old"],
)
def test_a_python_that_will_not_do_is_one_sentence(tmp_path: Path, python: str, cure: str) -> None:
    """Debian's Python without its venv package, or none that is new enough: the cure, exit 1, nothing half made."""
    script_ = str(shutil.copy(ROOT / "setup.sh", tmp_path))
    for tool in ("bash", "dirname", "cat", "cmp"):
        script(tmp_path / "bin", tool, f'exec {shutil.which(tool)} "$@"')
    for name in ("python3", *(f"python3.{minor}" for minor in range(10, 15)), "python"):
        script(tmp_path / "bin", name, python)
    failed = run(["/usr/bin/env", "bash", script_], tmp_path, {"PATH": str(tmp_path / "bin")})
    assert failed.returncode == 1
    assert cure in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert not (tmp_path / ".venv").exists()


@posix
def test_setup_from_nothing_to_a_server_that_answered(tmp_path: Path, mirror: Mirror) -> None:
    """SLOW (installs from the package registry): interrupted once, over a half-made .venv, in an awkward path.

    The run ends with a real answer and the lines to paste, and the next one does nothing in a few seconds.
    """
    home = checkout(tmp_path / "Öl & 'Tee'")
    (home / ".venv" / "bin").mkdir(parents=True)
    (home / ".venv" / "bin" / "python").write_text("half made", encoding="utf-8")
    for name in ("teapot.html", "gone-abroad.html"):  # files have no redirects
        html = mirror.pages["pg"].pop(mirror.moved[name], b"")
        mirror.pages["pg"][name] = html or pg_page(
            "Abroad", "ABROAD", "<p>To build an index of teas.</p>", "index.html"
        )
    sites = mirror.save(tmp_path / "sites")
    with subprocess.Popen(
        [home / "setup.sh"], stdout=subprocess.PIPE, start_new_session=True, encoding="utf-8"
    ) as interrupted:
        assert interrupted.stdout
        while "Installing" not in interrupted.stdout.readline():
            assert interrupted.poll() is None
        os.killpg(interrupted.pid, signal.SIGINT)
        assert interrupted.wait(30) != 0

    command = [str(home / "setup.sh"), "--from", "pg=sites/pg", f"--from=postgis={sites / 'postgis'}"]
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "PostgreSQL 18 (18.6) is here: 10 pages" in done.stderr
    assert "PostGIS 3.5 (3.5.2) is here: 4 pages" in done.stderr
    assert re.search(r"Index ready in .*PostgreSQL 18: 10 pages, PostGIS 3\.5: 4 pages", done.stdout)
    assert "https://" in done.stdout.split("The server was asked")[1].split("Claude Code:")[0]
    python, server = str(home / ".venv/bin/python"), str(home / "server.py")
    [line] = [line.strip() for line in done.stdout.splitlines() if "claude mcp add" in line]
    assert shlex.split(line) == ["claude", "mcp", "add", "pgdocs", "--", python, server]
    block = json.loads(done.stdout.split("Other clients:")[1])
    assert block == {"mcpServers": {"pgdocs": {"command": python, "args": [server]}}}

    again = run(command, tmp_path)
    assert again.returncode == 0
    assert "Installing" not in again.stdout
    assert again.stderr.count("is here already") == 2
