"""The index's cache under fire, by real processes: the next search is right, whatever happened to the one before."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PAGES, POSIX, ROOT, alive, bound_by_rights, cache_of, children, until

from pgdocs.search import cache
from pgdocs.search.index import DocumentSearchIndex

SEARCH = """
import sys
from pgdocs.search.index import DocumentSearchIndex
print(DocumentSearchIndex(sys.argv[1]).search("first row of each group")[0].doc_name)
"""
LOADED = """
import sys
from pgdocs.search.index import DocumentSearchIndex
DocumentSearchIndex._build = lambda *_: sys.exit("built")
print(DocumentSearchIndex(sys.argv[1]).search("first row of each group")[0].doc_name)
"""


def python(code: str, docs: Path, *before: str, root: Path = ROOT, **env: str) -> subprocess.Popen[str]:
    command = [*before, sys.executable, "-c", code, str(docs)]
    environment = {**os.environ, "PYTHONPATH": str(root), **env}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=docs.parent, stdout=pipe, stderr=pipe, text=True, env=environment)


def right(docs: Path, *before: str, root: Path = ROOT, **env: str) -> str:
    """Search in a process of its own, which must find the page; what it wrote to stderr."""
    out, err = python(SEARCH, docs, *before, root=root, **env).communicate(timeout=60)
    assert out == "pg__sql-select\n", err
    assert "Traceback" not in err
    return err


def loads(docs: Path, root: Path = ROOT) -> bool:
    """Whether a process finds a cache that it need not build again."""
    return python(LOADED, docs, root=root).communicate(timeout=60)[0] == "pg__sql-select\n"


def test_damage_anywhere_is_seen(own: Path, slow: bool) -> None:
    """Cut off at 50 random bytes, one bit turned at 50: never an index, never an exception; then all of it once."""
    file, blob = cache_of(own), cache_of(own).read_bytes()
    moments = random.Random(6)
    for _ in range(500 if slow else 50):
        at = moments.randrange(len(blob))
        for damaged in (blob[:at], blob[:at] + bytes([blob[at] ^ (1 << moments.randrange(8))]) + blob[at + 1 :]):
            file.write_bytes(damaged)
            assert cache.read(file) is None
    assert "Ignoring the index cache" in right(own)
    assert loads(own)


def test_the_cache_of_another_folder_is_not_believed(own: Path, tmp_path: Path) -> None:
    """Copied beside other pages it is another index: those pages are found, not the ones it was made from."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "pg__zeppelin.md").write_text("# Zeppelin\n\nIt flies.\n", encoding="utf-8")
    shutil.copy2(cache_of(own), cache_of(other))
    assert [hit.doc_name for hit in DocumentSearchIndex(other).search("zeppelin flies")] == ["pg__zeppelin"]


@pytest.mark.parametrize("what", ["code", "phrases"])
def test_a_newer_version_of_ours_builds_again(own: Path, tmp_path: Path, what: str) -> None:
    """After an upgrade of the code, or one more phrase, nobody searches with the index of before."""
    package = tmp_path / "new" / "pgdocs"
    shutil.copytree(ROOT / "pgdocs", package, ignore=shutil.ignore_patterns("__pycache__"))
    assert loads(own, package.parent)
    if what == "code":
        file = package / "search" / "tokens.py"
        file.write_text(file.read_text(encoding="utf-8") + "# newer\n", encoding="utf-8")
    else:
        with (package / "phrases" / "pg.tsv").open("a", encoding="utf-8", newline="\n") as phrases:
            phrases.write("sql-select\t\tlower the drawbridge\n")
    assert not loads(own, package.parent)
    right(own, root=package.parent)
    assert loads(own, package.parent)


def test_a_cache_that_may_not_be_read_is_built_again(own: Path, tmp_path: Path) -> None:
    """With a line on stderr, whoever it belongs to; the user's own folder keeps the new one where ours is no use."""
    rights = bound_by_rights()
    cache_of(own).chmod(0)
    own.parent.chmod(0o555)
    try:
        err = right(own, *rights, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "docs" / "nowhere"))
    finally:
        own.parent.chmod(0o755)
    assert "Ignoring the index cache" in err
    assert "Permission denied" in err


@pytest.mark.skipif(not POSIX, reason="Windows knows no limit on the size of a file")
def test_a_full_disk_costs_the_cache_alone(pages: Path) -> None:
    """The write fails half way: the search answers, nothing half written stays, and a later start writes it."""
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))\n"
    out, err = python(limit + SEARCH, pages, HOME=str(pages.parent)).communicate(timeout=60)
    assert out == "pg__sql-select\n"
    assert "Can't write the index cache" in err
    assert not [path for path in pages.parent.rglob("*") if path.is_file() and path.parent != pages]
    right(pages)
    assert loads(pages)


def test_a_real_disk_that_is_full(tmp_path: Path) -> None:
    """The same on a file system of 100 kB, where root may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "pgdocs", str(disk)]
    if not POSIX or os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        docs = shutil.copytree(PAGES, disk / "docs")
        err = right(docs, HOME=str(disk), XDG_CACHE_HOME="")
        assert "No space left on device" in err
        assert not [path for path in disk.rglob("*") if path.is_file() and path.parent != docs]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("many", [2, 8])
def test_processes_that_build_at_once(pages: Path, many: int) -> None:
    """As many clients as start on a fresh machine: each answers, and one whole cache is left."""
    together = [python(SEARCH, pages) for _ in range(many)]
    assert [process.communicate(timeout=120)[0] for process in together] == ["pg__sql-select\n"] * many
    assert loads(pages)
    assert sorted(path.name for path in pages.parent.iterdir()) == ["docs", "docs.cache.pkl"]


@pytest.mark.skipif(not POSIX, reason="needs SIGKILL and ps")
def test_killed_in_the_middle_of_a_build(pages: Path, slow: bool) -> None:
    """SIGKILL at random moments, of which each is somewhere in a build: no child stays, the next search is right."""
    moments = random.Random(6)
    for _ in range(20 if slow else 4):
        cache_of(pages).unlink(missing_ok=True)
        process = python(SEARCH, pages)
        until(lambda pid=process.pid: children(pid), 10, "a child builds")  # type: ignore[misc]
        child = children(process.pid)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(moments.uniform(0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        until(lambda child=child: not any(map(alive, child)), 1, "its child has ended")  # type: ignore[misc]
        right(pages)
    assert loads(pages)
    assert sorted(path.name for path in pages.parent.iterdir()) == ["docs", "docs.cache.pkl"]


@pytest.mark.skipif(not POSIX, reason="needs SIGKILL and ps")
def test_the_builder_killed_is_said(pages: Path) -> None:
    """Where the child dies (out of memory, say) the search says that it could not build, and the next one builds."""
    process = python(SEARCH, pages)
    until(lambda: children(process.pid), 10, "a child builds")
    for child in children(process.pid):
        os.kill(child, signal.SIGKILL)
    _, err = process.communicate(timeout=10)
    assert "BuildError" in err
    assert "could not be built" in err
    right(pages)
