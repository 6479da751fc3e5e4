"""How fast, how big: start-up, warm calls, queries, build, growth. Everything beside something else in the same run.

    python benchmarks/run.py [--docs docs] [--growth] [--load SECONDS]

Seconds say little about another machine; what counts are the ratios: to the time that importing the SDK's server half
takes in a fresh process, and to the page-level recipe over the same pages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # run from a checkout, installed or not

from pgdocs.pages import read_page, render_page  # noqa: E402
from pgdocs.search.index import DocumentSearchIndex  # noqa: E402
from pgdocs.serve.probe import CLIENT, Session  # noqa: E402

Argument = TypeVar("Argument")

FRESH = 9
"""Fresh processes of each kind, interleaved, so that a busy moment strikes all kinds alike; medians are compared."""

CALLS = 300
"""Warm calls of each tool: enough for a 99th percentile that is more than one call."""

QUERIES = (
    "upsert a row and keep the newer timestamp",
    "distance between two points in metres",
    "max_connections",
    "ERROR: deadlock detected",
    "->>",
    "split a polygon by a line",
    "how does vacuum reclaim space",
    "st_intersection of two layers is slow",
    "jsonb_path_query",
    "restore one table from a dump",
)
"""Goals, names, an operator and an error; none is a question of eval/."""

MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--growth", action="store_true", help="also: the same pages under other names, up to 10,000")
    parser.add_argument(
        "--load", type=float, default=0.0, metavar="SECONDS", help="also: eight calls at once for so long"
    )
    options = parser.parse_args()
    docs: Path = options.docs.resolve()
    DocumentSearchIndex(docs).build_index()  # the cache is there from now on
    for title, rows in sections(docs, options.growth, options.load):
        print(f"\n## {title}\n\n| what | figure |\n| --- | --- |")
        for what, figure in rows:
            print(f"| {what} | {figure} |", flush=True)


def sections(docs: Path, growth: bool, load: float) -> Iterator[tuple[str, Iterator[tuple[str, str]]]]:
    yield "Start-up (fresh processes)", startup(docs)
    yield "Warm calls over stdio", warm(docs)
    if load:
        yield f"Eight calls at once for {load:.0f} s", under_load(docs, load)
    yield "In process", in_process(docs)
    if growth:
        yield "Growth", growing(docs)


# --- the server -----------------------------------------------------------------------------------------------


def server(docs: Path) -> Session:
    return Session([sys.executable, str(ROOT / "server.py")], {**os.environ, "PGDOCS_DOCS": str(docs)})


def startup(docs: Path) -> Iterator[tuple[str, str]]:
    times: dict[str, list[float]] = {"import": [], "initialize": [], "server/discover": [], "first search_docs": []}
    for _ in range(FRESH):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import mcp.server.mcpserver"], check=True)
        times["import"].append(time.perf_counter() - started)
        with server(docs) as session:
            session.initialize()
            times["initialize"].append(time.perf_counter() - session.started)
            session.call("search_docs", {"query": QUERIES[0]})
            times["first search_docs"].append(time.perf_counter() - session.started)
        with server(docs) as session:
            session.request("server/discover", MODERN)
            times["server/discover"].append(time.perf_counter() - session.started)
    whole = statistics.median(times.pop("import"))
    yield "importing the SDK's server half", f"{whole:.2f} s"
    for what, taken in times.items():
        middle = statistics.median(taken)
        yield f"{what}, from process start", f"{middle:.2f} s = {middle / whole:.2f} × that import"


def warm(docs: Path) -> Iterator[tuple[str, str]]:
    pages = ["pg/sql-select", "postgis/ST_Buffer", "pg/runtime-config-resource", "pg/app-psql"]
    names = ["ST_Buffer", "->>", "work_mem", "jsonb_set", "CREATE INDEX"]
    calls: dict[str, list[dict[str, object]]] = {
        "search_docs": [{"query": query} for query in QUERIES],
        "get_function_signature": [{"name": name} for name in names],
        "get_doc": [{"page": page} for page in pages],
        "how_do_i": [{"task": query} for query in QUERIES],
    }
    with server(docs) as session:
        session.initialize()
        known = [tool["name"] for tool in session.request("tools/list")["result"]["tools"]]
        for tool in (tool for tool in calls if tool in known):
            for arguments in calls[tool]:
                session.call(tool, arguments)
            yield tool, in_ms(each(partial(session.call, tool), calls[tool], CALLS))
        yield f"resident memory after {4 * CALLS:,} calls", f"{resident(session.process.pid)} MB"


def under_load(docs: Path, seconds: float) -> Iterator[tuple[str, str]]:
    """One client that keeps eight requests in flight."""
    with server(docs) as session:
        session.initialize()
        session.call("search_docs", {"query": QUERIES[0]})
        before = resident(session.process.pid)
        done = errors = 0
        number, end = 1000, time.monotonic() + seconds
        half = before
        while time.monotonic() < end:
            batch = range(number, number + 8)
            for n in batch:
                arguments = {"query": QUERIES[n % len(QUERIES)]}
                params = {"name": "search_docs", "arguments": arguments}
                session.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params})
            answers = [session.answer() for _ in batch]
            errors += sum("error" in answer or answer["result"].get("isError", False) for answer in answers)
            done, number = done + 8, number + 8
            if half == before and time.monotonic() > end - seconds / 2:
                half = resident(session.process.pid)
        after = resident(session.process.pid)
        yield "calls answered, errors", f"{done:,}, {errors}"
        yield "resident memory at the start, half way, at the end", f"{before}, {half}, {after} MB"


# --- the index ------------------------------------------------------------------------------------------------


def in_process(docs: Path) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "cache.pkl")
        index = DocumentSearchIndex(docs, cache)
        yield "index build", f"{timed(index.build_index):.1f} s"
        edited = shutil.copytree(docs, Path(folder, "edited"))
        page = max(edited.glob("*.md"))
        page.write_text(page.read_text(encoding="utf-8") + "\nEdited.\n", encoding="utf-8")
        yield "… after one page has changed", f"{timed(DocumentSearchIndex(edited, cache).build_index):.1f} s"
        index.build_index()
        yield "cache", f"{cache.stat().st_size / 1e6:.1f} MB"
        index = DocumentSearchIndex(docs, cache)
        yield "index load", f"{timed(index.build_index):.2f} s"
    yield "hybrid query, five results with snippets", in_ms(each(index.search, QUERIES, CALLS))
    yield "hybrid query, one result", in_ms(each(partial(index.search, max_results=1), QUERIES, CALLS))
    yield "… the page-level recipe, ten results without", in_ms(recipe(docs, index))
    yield "resident memory of a process that searches", f"{searching(docs)} MB"


def recipe(docs: Path, index: DocumentSearchIndex) -> list[float]:
    from eval.baselines import page_recipe

    pages = index.pages()
    search = page_recipe(pages, [(docs / page.file).read_text(encoding="utf-8") for page in pages])
    return each(search, QUERIES, 50)


def searching(docs: Path) -> int:
    """The memory of a fresh process that loads the index from its cache and asks it all QUERIES."""
    code = (
        "import sys; from search_index import DocumentSearchIndex\n"
        f"index = DocumentSearchIndex({str(docs)!r})\n"
        f"[index.search(query) for query in {QUERIES!r}]\n"
        "print('sklearn' in sys.modules or 'scipy' in sys.modules, flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdout
        if child.stdout.readline().strip() != "False":
            raise SystemExit("A process that only searches has loaded scikit-learn or scipy, or died.")
        size = resident(child.pid)
        child.communicate()
    return size


def growing(docs: Path) -> Iterator[tuple[str, str]]:
    """The same pages under other names: what grows with the pages, and how."""
    pages = [read_page(file, docs) for file in sorted(docs.glob("*.md"))]
    for copies in (1, 3, 10_000 // len(pages) + 1):
        with tempfile.TemporaryDirectory() as folder:
            many = Path(folder, "docs")
            if copies == 1:
                shutil.copytree(docs, many, ignore=shutil.ignore_patterns(".*"))
            else:
                many.mkdir()
                for number in range(min(copies * len(pages), 10_000)):
                    page, copy = pages[number % len(pages)], number // len(pages)
                    name = f"{page.source}_copy{copy}__{page.slug}-{number % len(pages)}"
                    text = render_page(replace(page, doc_name=name))
                    (many / f"{name}.md").write_text(text, encoding="utf-8")
            cache = Path(folder, "cache.pkl")
            index = DocumentSearchIndex(many, cache)
            built = timed(index.build_index)
            taken = each(index.search, QUERIES, 100)
            size = cache.stat().st_size / 1e6
            yield f"{len(index.pages()):,} pages", f"build {built:.1f} s, cache {size:.0f} MB, query {in_ms(taken)}"


# --- measuring ------------------------------------------------------------------------------------------------


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def each(function: Callable[[Argument], object], arguments: Sequence[Argument], calls: int) -> list[float]:
    """Seconds of each of so many calls, with the arguments in turn."""
    return [timed(partial(function, arguments[n % len(arguments)])) for n in range(calls)]


def in_ms(taken: list[float]) -> str:
    ordered = sorted(taken)
    middle, high = statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"median {middle * 1000:.2f} ms, p99 {high * 1000:.2f} ms"


def resident(pid: int) -> int:
    """A process's resident memory in MB (Linux and macOS, by `ps`)."""
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(shown.stdout) // 1024


if __name__ == "__main__":
    main()
