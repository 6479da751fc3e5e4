"""The crawl of both manuals in full, from a mirror on loopback, with every fault that the mirror knows.

Needs the mirror's folder (serve.py and manuals.tar.xz): PGDOCS_MANUALS names it, else ../shared/manuals beside the
checkout is taken. The manuals are not part of the repository.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MANUALS = Path(os.environ.get("PGDOCS_MANUALS") or ROOT.parent / "shared" / "manuals")

pytestmark = pytest.mark.skipif(
    not (MANUALS / "manuals.tar.xz").is_file(),
    reason=f"no manuals.tar.xz in {MANUALS}: name the mirror's folder in PGDOCS_MANUALS",
)

PAGES = {"pg": 1148, "postgis": 688}
"""1,147 and 687 pages, and the index of each."""

FAULTS = ("--e503=20", "--e429=33", "--reset=50", "--truncate=70", "--stall=701", "--retry-after=0")
"""A fault on every 8th request; 701 is no multiple of the others, so that some answers do stall."""


class Served:
    """A running mirror and its log."""

    def __init__(self, log: Path, addresses: list[str]) -> None:
        self.log = log
        self.origins = [f"--from=pg={addresses[1]}docs/18/", f"--from=postgis={addresses[2]}docs/manual-3.5/"]

    def requests(self) -> list[tuple[str, int]]:
        """Path and status of each answer that a manual's page was asked with."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [(entry["path"], entry["status"]) for entry in map(json.loads, lines) if "/docs/" in entry["path"]]

    def command(self, out: Path, *more: str) -> list[str]:
        return [sys.executable, str(ROOT / "scrape_docs.py"), "--delay=0", f"--out={out}", *self.origins, *more]

    def crawl(self, out: Path, *more: str) -> dict[str, bytes]:
        """Crawl to the end without a failure; the pages by file name."""
        done = subprocess.run(self.command(out, *more), capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return pages(out)


def pages(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in out.glob("*.md")}


@pytest.fixture(scope="module")
def manuals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manuals")
    with tarfile.open(MANUALS / "manuals.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@contextmanager
def served(manuals: Path, log: Path, *options: str) -> Iterator[Served]:
    start = [sys.executable, str(MANUALS / "serve.py"), f"--root={manuals}", "--ports=0,0,0", f"--log={log}", *options]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8") as process:
        assert process.stdout
        try:
            yield Served(log, [process.stdout.readline().split()[0] for _ in range(3)])
        finally:
            process.kill()


@pytest.fixture(scope="module")
def clean(manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The pages of a crawl that nothing disturbed, within its bounds of time and memory."""
    folder = tmp_path_factory.mktemp("clean")
    with served(manuals, folder / "log") as mirror:
        started, peak = time.monotonic(), 0
        with subprocess.Popen(mirror.command(folder / "docs"), stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                peak = max(peak, sum(map(resident, family(process.pid))))
                time.sleep(0.2)
        seconds = time.monotonic() - started
        print(f"\n{seconds:.0f} s, {peak / 2**20:.0f} MB")
        assert process.returncode == 0
        assert seconds <= 90
        assert peak <= 400 * 2**20
        assert set(Counter(mirror.requests()).values()) == {1}
    return pages(folder / "docs")


def family(pid: int) -> list[int]:
    """A process and its descendants, where /proc tells."""
    try:
        listing = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        listing = []
    return [pid, *(member for child in listing for member in family(int(child)))]


def resident(pid: int) -> int:
    """Bytes of memory that a process holds, shared ones included; 0 where nothing tells."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def test_both_manuals_come_in_full(clean: dict[str, bytes]) -> None:
    """Every page that the index leads to, each asked for once, within 90 s and 400 MB."""
    assert Counter(name.partition("__")[0] for name in clean) == PAGES
    assert len({name.casefold() for name in clean}) == len(clean)  # TopoElement, topoelement


def test_faults_leave_the_same_bytes(manuals: Path, clean: dict[str, bytes], tmp_path: Path) -> None:
    """A site that refuses, resets, truncates and stalls only makes the crawl slower."""
    with served(manuals, tmp_path / "log", *FAULTS) as mirror:
        assert mirror.crawl(tmp_path / "docs") == clean
        log = (tmp_path / "log").read_text(encoding="utf-8")
        assert all(f'"fault": "{fault}"' in log for fault in ("e503", "e429", "reset", "truncate", "stall"))


def test_ten_kills_leave_the_same_bytes(manuals: Path, clean: dict[str, bytes], tmp_path: Path) -> None:
    """Killed at ten moments and run again: no page is half written, and four at most are fetched again each time."""
    chance = random.Random(18)
    with served(manuals, tmp_path / "log") as mirror:
        fetched: set[str] = set()
        for _ in range(10):
            before = len(mirror.requests())
            until = before + chance.randint(1, 250)
            with subprocess.Popen(mirror.command(tmp_path / "docs"), stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and len(mirror.requests()) < until:
                    time.sleep(0.02)
                process.kill()
            assert pages(tmp_path / "docs").items() <= clean.items()
            asked = [path for path, _ in mirror.requests()[before:]]
            assert len(fetched & set(asked)) <= 4
            assert len(asked) == len(set(asked))
            fetched |= set(asked)
        before = len(mirror.requests())
        assert mirror.crawl(tmp_path / "docs") == clean
        assert len(fetched & {path for path, _ in mirror.requests()[before:]}) <= 4


def test_compressed_pages_behind_redirects_are_the_same_and_are_refreshed_without_a_transfer(
    manuals: Path, clean: dict[str, bytes], tmp_path: Path
) -> None:
    """gzip, validators, and PostGIS redirected to its `en/` twin; a refresh then transfers no page."""
    with served(manuals, tmp_path / "log", "--gzip", "--validators", "--gis-root=redirect") as mirror:
        assert mirror.crawl(tmp_path / "docs") == clean
        statuses = Counter(status for _, status in mirror.requests())
        assert statuses == {200: sum(PAGES.values()), 302: 1}
        before = len(mirror.requests())
        assert mirror.crawl(tmp_path / "docs", "--refresh") == clean
        assert Counter(status for _, status in mirror.requests()[before:]) == {304: sum(PAGES.values()), 302: 1}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_in_the_middle_is_one_line(manuals: Path, tmp_path: Path) -> None:
    """Whatever four pages were doing at the time."""
    with served(manuals, tmp_path / "log") as mirror:
        start = mirror.command(tmp_path / "docs")
        with subprocess.Popen(start, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True) as process:
            while process.poll() is None and len(mirror.requests()) < 100:
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGINT)
            errors = process.communicate()[1]
    assert process.returncode == 130
    assert errors.count("\n") == 1
    assert errors.startswith("Interrupted")
