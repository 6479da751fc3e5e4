"""What the tests of faults share: --slow for their long forms, a folder of invented pages, processes and their ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pgdocs.serve.probe import Session

ROOT = Path(__file__).parents[1]
PAGES = Path(__file__).parent / "fixtures" / "docs"
SERVER = [sys.executable, str(ROOT / "server.py")]

POSIX = sys.platform != "win32"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="the long forms too: more moments, more examples, minutes")


@pytest.fixture(scope="session")
def slow(request: pytest.FixtureRequest) -> bool:
    """Whether the long form of a test was asked for."""
    return bool(request.config.getoption("--slow"))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A copy of the invented pages, with no index yet."""
    return shutil.copytree(PAGES, tmp_path / "docs")


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the invented pages with a fresh index beside it: copy both, or leave them as they are."""
    from pgdocs.search.index import DocumentSearchIndex

    folder = shutil.copytree(PAGES, tmp_path_factory.mktemp("indexed") / "docs")
    DocumentSearchIndex(folder).build_index()
    return folder


@pytest.fixture
def own(indexed: Path, tmp_path: Path) -> Path:
    """A folder with a fresh index that a test may spoil."""
    shutil.copy2(cache_of(indexed), tmp_path)
    return shutil.copytree(indexed, tmp_path / "docs")


def cache_of(docs: Path) -> Path:
    return docs.with_name(docs.name + ".cache.pkl")


def serving(docs: Path, *options: str, command: Sequence[str] = SERVER, **env: str) -> Session:
    """The server over a folder; what is in `env` as "" is not in its environment."""
    environment = {**os.environ, "PGDOCS_DOCS": str(docs), **env}
    return Session([*command, *options], {name: value for name, value in environment.items() if value})


def write(session: Session, *lines: bytes | Mapping[str, Any]) -> None:
    """Raw lines, and messages as lines, in one go."""
    assert session.process.stdin
    whole = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    session.process.stdin.write(b"".join(line + b"\n" for line in whole))
    session.process.stdin.flush()


def call(number: object, tool: str, **arguments: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def said(answer: Mapping[str, Any]) -> str:
    """The text of a tool's answer."""
    (content,) = answer["result"]["content"]
    return str(content["text"])


def search(session: Session, query: str = "first row of each group", **arguments: object) -> str:
    return said(session.call("search_docs", {"query": query, **arguments}))


def bound_by_rights() -> list[str]:
    """What to put before a command so that the modes of files bind it, also where the tests run as root."""
    if not POSIX:
        pytest.skip("Windows has other rights")
    if os.geteuid():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root may do anything, and without setpriv it can't be less than root")
    return ["setpriv", "--bounding-set=-all", "--"]


def until(holds: Callable[[], Any], seconds: float, what: str) -> float:
    """Ask until it holds, and how long that took. For what sends no event: files, processes, a rebuilt index."""
    started = time.monotonic()
    while not holds():
        assert time.monotonic() - started < seconds, f"not within {seconds} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - started


def children(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    shown = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in shown.splitlines())
    return [int(child) for child, parent, state, *_ in rows if int(parent) == pid and not state.startswith("Z")]


def alive(pid: int) -> bool:
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(shown.strip()) and not shown.startswith("Z")
