"""The command line of the scraper: arguments in, progress and a report on stderr, an exit code out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urljoin

import httpx
from tqdm import tqdm

from pgdocs.errors import ScrapeError
from pgdocs.scrape.crawl import Options, SourceReport, is_url, scrape
from pgdocs.scrape.shelf import CRAWL, MANIFEST, read_json
from pgdocs.scrape.sources import SOURCES, Source, source_of

LINES_EVERY = 10.0
"""Seconds between two lines of progress where stderr is no terminal."""

SHOWN = 20
"""Failures that are printed; the manifest has them all."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scraper. 0: every page is there; 1: something failed; 2: wrong usage; 130: interrupted."""
    parser = _parser()
    options = parser.parse_args(arguments)
    origins: dict[str, str] = dict(options.origins)
    sources = wanted(options.out, options.sources, versions(options))
    if unused := origins.keys() - {source.name for source in sources}:
        parser.error(f"--from {unused.pop()}=… needs --source of that name")
    if options.out.exists() and not options.out.is_dir():
        parser.error(f"--out {options.out} is no folder")
    started = time.monotonic()
    try:
        with Progress(sys.stderr) as progress:
            crawl = Options(options.delay, options.refresh, options.limit)
            reports = scrape(sources, options.out, origins, crawl, progress.show)
    except ScrapeError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted: what was fetched is kept, and the same command goes on from there.", file=sys.stderr)
        return 130
    if any(report.pages for report in reports):
        print(table(reports, options.out, time.monotonic() - started), flush=True)
    problems = [line for report in reports for line in complaints(report)]
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return int(bool(problems))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=script if (script := Path(sys.argv[0]).name) == "scrape_docs.py" else "pgdocs scrape",
        description="Copy the PostgreSQL and PostGIS manuals into a folder of markdown. "
        "Can be stopped at any time: the same command fetches what is missing.",
    )
    names = ", ".join(f"{source.name} ({source.label})" for source in SOURCES.values())
    parser.add_argument(
        "--source",
        "--add",
        dest="sources",
        action="append",
        default=[],
        type=source_option,
        metavar="NAME",
        help=f"only this manual: {names}, or another version beside it: pg17, postgis3.4; may be repeated",
    )
    add_common(parser)
    parser.add_argument("--out", type=Path, default=Path("docs"), metavar="DIR", help="default: docs")
    parser.add_argument(
        "--delay", type=seconds, default=Options.delay, help="seconds between two requests to one site (%(default)s)"
    )
    parser.add_argument("--refresh", action="store_true", help="ask again for pages that are there, if they changed")
    parser.add_argument("--limit", type=count, metavar="N", help="ask for at most N pages of each manual")
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    """The options that ./setup.sh has too."""
    for source in SOURCES.values():
        parser.add_argument(
            f"--{source.name}",
            type=partial(version_option, source),
            metavar="VERSION",
            help=f"which {source.product} {source.name!r} is ({source.edition}): {', '.join(source.editions)}",
        )
    parser.add_argument(
        "--from",
        dest="origins",
        action="append",
        default=[],
        type=origin_option,
        metavar="NAME=URL|FOLDER|ARCHIVE",
        help="have a manual from a mirror, a folder of its HTML, or an archive (.tar.*, .zip)",
    )


def versions(options: argparse.Namespace) -> dict[str, Source]:
    """The manuals that `--pg` and its like named a version of."""
    return {name: pinned for name in SOURCES if (pinned := getattr(options, name))}


def wanted(docs: Path, named: Sequence[Source], pinned: Mapping[str, Source]) -> list[Source]:
    """The manuals to bring into `docs`: those that were named, else the default ones and what else is there already.

    A version that somebody asked for stays until another one is asked for.
    """
    notes = read_json(docs / CRAWL)
    found: dict[str, Source] = {}
    for source in (*(named or SOURCES.values()), *pinned.values()):
        asked = notes.get(source.name, {})
        if source.name in pinned:
            found[source.name] = pinned[source.name]
        elif asked.get("pinned") and not source.pinned:
            found[source.name] = replace(source.of_version(asked["version"]), pinned=True)
        else:
            found[source.name] = source
    for name in () if named else notes:
        with suppress(ScrapeError):  # a folder of markdown that somebody added is no manual of ours
            found.setdefault(name, source_of(name))
    return list(found.values())


def source_option(text: str) -> Source:
    try:
        return source_of(text)
    except ScrapeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def version_option(source: Source, text: str) -> Source:
    try:
        return source.pin(text)
    except ScrapeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def origin_option(text: str) -> tuple[str, str]:
    name, equals, origin = text.partition("=")
    if not equals or not origin:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=URL, NAME=FOLDER or NAME=ARCHIVE")
    source_option(name)
    if is_url(origin):
        try:
            if not httpx.URL(urljoin(origin, ".")).host:
                raise ValueError(origin)
        except (ValueError, httpx.InvalidURL):
            raise argparse.ArgumentTypeError(f"{origin} is no address") from None
        return name, origin.removesuffix("index.html").rstrip("/") + "/"
    if not Path(origin).expanduser().exists():
        raise argparse.ArgumentTypeError(f"there is no {origin}")
    return name, origin


def seconds(text: str) -> float:  # argparse shows this name and the next to who gets them wrong
    value = float(text)
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError("0 to 3600 seconds")
    return value


def count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("1 or more")
    return value


class Progress:
    """How far a crawl is: a bar for each source on a terminal, a line now and then elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bars: dict[str, Any] = {}
        self._next_line = time.monotonic() + LINES_EVERY

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        for bar in self._bars.values():
            bar.close()

    def show(self, name: str, done: int, known: int, failed: int) -> None:
        """After each page: `done` of the `known` pages of a source are handled, `failed` of them without success."""
        if self._stream.isatty():
            if name not in self._bars:
                self._bars[name] = tqdm(desc=f"{name:8}", unit="page", file=self._stream, position=len(self._bars))
            bar = self._bars[name]
            bar.total = known
            bar.set_postfix(queued=known - done, failed=failed, refresh=False)
            bar.update(done - bar.n)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINES_EVERY
            print(f"{name}: {done} pages, {known - done} queued, {failed} failed", file=self._stream, flush=True)


def table(reports: Sequence[SourceReport], out: Path, seconds: float) -> str:
    """The sources and their pages, a line each, and how long it took."""
    rows: list[tuple[str, ...]] = [("source", "version", "pages", "new", "changed", "removed", "failed")]
    for report in reports:
        counts = (report.pages, report.new, report.changed, report.removed, len(report.failures))
        rows.append((report.name, report.version or "-", *map(str, counts)))
    lines = ["  ".join(f"{cell:>8}" for cell in row) for row in rows]
    return "\n".join([*lines, f"{sum(report.pages for report in reports)} pages in {out}, {seconds:.0f} s"])


def complaints(report: SourceReport) -> list[str]:
    """What is missing of a source and why, a line each; none if all is there."""
    lines = [f"{url}: {reason}" for url, reason in report.failures[:SHOWN]]
    more = len(report.failures) - len(lines)
    lines += [f"… and {more} more, all named in the folder's {MANIFEST}"] if more else []
    lines += ["Run the same command again: it asks for these pages only."] if lines and not report.error else []
    return lines + ([report.error] if report.error else [])
