"""The manuals for ./setup.sh: from their sites, and where those can't be reached, from what this machine has.

A source comes from its site, or from where `--from` says. If that does not answer, or dies half way, an installed
copy is taken, else the system's package. What a dying site gave is set aside for the next run, so that the pages of a
source in `docs` are of one edition at any time.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urljoin

import httpx

from pgdocs.errors import ScrapeError
from pgdocs.scrape.cli import Progress, add_common, versions, wanted
from pgdocs.scrape.crawl import is_url, scrape
from pgdocs.scrape.fetch import new_client
from pgdocs.scrape.local import PACKAGED, download_package, installed
from pgdocs.scrape.shelf import CRAWL, MANIFEST, Shelf, read_json, write_json
from pgdocs.scrape.sources import Source, source_of

CHECKOUT = Path(__file__).parents[2]

PATIENCE = 12.0
"""Seconds in which a site must answer at all: a crawl, which has reason to believe in its site, tries for longer."""

TOLERATED = 0.02
"""Share of pages that may fail and the manual still serves: the next run asks for them again."""

ALL, NOTHING, SOME, INTERRUPTED = 0, 1, 3, 130
"""Exit codes: every manual is there; none is; at least one is, and setup goes on (2 is argparse's)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch into docs/ of this checkout what is missing there."""
    usage = "./setup.sh [--pg VERSION] [--postgis VERSION] [--from NAME=URL|FOLDER|ARCHIVE]…"
    parser = argparse.ArgumentParser(prog="setup.sh", usage=usage)
    add_common(parser)
    options = parser.parse_args(arguments)
    origins: dict[str, str] = dict(options.origins)
    sources = wanted(CHECKOUT / "docs", [], versions(options))
    if unused := origins.keys() - {source.name for source in sources}:
        sources += [source_of(name) for name in sorted(unused)]
    try:
        missing = get_manuals(sources, CHECKOUT / "docs", CHECKOUT / ".fetched", origins)
    except ScrapeError as error:
        print(error, file=sys.stderr)
        return NOTHING
    except KeyboardInterrupt:
        print("Interrupted: what was fetched is kept, and ./setup.sh goes on from there.", file=sys.stderr)
        return INTERRUPTED
    for source, reasons in missing:
        print(f"\n{shortage(source, reasons)}", file=sys.stderr)
    return ALL if not missing else SOME if len(missing) < len(sources) else NOTHING


def get_manuals(
    sources: Sequence[Source], docs: Path, spare: Path, origins: Mapping[str, str]
) -> list[tuple[Source, list[str]]]:
    """Bring the pages of `sources` into `docs`; those that can't be had, each with what was tried and why it failed.

    `origins` are what `--from` named. `spare` is a folder of our own for half a manual and for packages.
    """
    missing = [source for source in sources if not _is_here(source, docs, spare, origins.get(source.name))]
    for source in sources:
        if source not in missing:
            _say(source, docs, "is here already")
    where = {source.name: origins.get(source.name, source.base) for source in missing}
    trouble = asyncio.run(_silent({name: origin for name, origin in where.items() if is_url(origin)}))
    answering = [source for source in missing if source.name not in trouble]
    for source in answering:
        if is_url(where[source.name]):
            _take_back(source, docs, spare)
    trouble |= _scrape(answering, docs, where)
    found = []
    for source in missing:
        reason = trouble.get(source.name)
        if reason and is_url(where[source.name]):
            print(f"{source.product}: {reason}", file=sys.stderr)
            found.append((source, _fall_back(source, docs, spare, reason)))
        elif reason:  # a file that somebody named is wrong: another manual is not what was meant
            found.append((source, [reason]))
        else:
            _say(source, docs, "is here")
    return [(source, reasons) for source, reasons in found if reasons]


def shortage(source: Source, reasons: Sequence[str]) -> str:
    """What to tell about a manual that can't be had: what was tried, and what helps."""
    manual = source.label if source.pinned else source.product
    cures = ["connect to the web", f"./setup.sh --from {source.name}=URL|FOLDER|ARCHIVE of the manual's HTML"]
    if source.family in PACKAGED and not source.pinned:  # a package is of whatever version the system has
        cures.insert(1, PACKAGED[source.family].install)
    tried, help_ = ("".join(f"\n  - {line}" for line in lines) for lines in (reasons, cures))
    return f"The {manual} manual could not be had:{tried}\nOne of these helps, then ./setup.sh again:{help_}"


# --- one source -------------------------------------------------------------------------------------------


def _is_here(source: Source, docs: Path, spare: Path, origin: str | None) -> bool:
    """Whether nothing is to be done: all pages there, from where they are wanted, and no half manual set aside."""
    entry = read_json(docs / MANIFEST).get(source.name, {})
    as_wanted = origin is None or entry.get("from") == origin
    return _is_complete(source, docs) and as_wanted and not len(Shelf(spare, source.name))


def _is_complete(source: Source, docs: Path) -> bool:
    entry = read_json(docs / MANIFEST).get(source.name, {})
    pages = int(entry.get("pages", 0))
    as_wanted = source.accepts(str(entry.get("version", "")))
    return bool(entry.get("complete")) and as_wanted and 0 < pages <= len(Shelf(docs, source.name))


def _scrape(sources: Sequence[Source], docs: Path, origins: Mapping[str, str]) -> dict[str, str]:
    """Crawl; what went wrong, by source. A few failed pages are told and tolerated."""
    if not sources:
        return {}
    with Progress(sys.stderr) as progress:
        reports = scrape(sources, docs, origins, watch=progress.show)
    trouble = {}
    for report in reports:
        failed = "".join(f"\n    {url}: {reason}" for url, reason in report.failures[:5])
        if report.error or len(report.failures) > TOLERATED * report.pages:
            trouble[report.name] = report.error or f"{len(report.failures)} pages could not be had:{failed}"
        elif failed:
            print(
                f"{report.label}: {len(report.failures)} pages failed, ./setup.sh asks again:{failed}", file=sys.stderr
            )
    return trouble


def _fall_back(source: Source, docs: Path, spare: Path, reason: str) -> list[str]:
    """Take the manual from this machine or its package manager. Empty if it is here now, else what failed and why."""
    if _is_complete(source, docs):
        _say(source, docs, "stays")
        return []
    reasons = [reason]
    for origin in _copies(source, spare, reasons):
        _set_aside(source, docs, spare)
        print(f"{source.product}: taking the copy in {origin} instead", file=sys.stderr)
        trouble = _scrape([source], docs, {source.name: str(origin)})
        if not trouble:
            _say(source, docs, "is here instead")
            return []
        reasons += trouble.values()
    return reasons


def _copies(source: Source, spare: Path, reasons: list[str]) -> Iterator[Path]:
    """Copies of the manual that this machine can get at, best first; why there are no more is added to `reasons`."""
    folder = installed(source)
    if folder:
        yield folder
    else:
        reasons.append("no copy is installed")
    try:
        folder = download_package(source, _own(spare) / "packages")
    except ScrapeError as error:
        reasons.append(str(error))
    else:
        if folder:
            yield folder
        else:
            reasons.append("no package manager that gives packages without root (apt-get)")


# --- half a manual ----------------------------------------------------------------------------------------


# Any of these may be killed at any point. Then pages are in two places, but those of a place are of one edition, and
# the next run takes it from there: a page is moved in one step, and the notes about pages go last.


def _set_aside(source: Source, docs: Path, spare: Path) -> None:
    """Move what a site gave out of `docs`; what a local copy gave is no loss."""
    origin = read_json(docs / CRAWL).get(source.name, {}).get("from", "")
    here, kept = Shelf(docs, source.name), Shelf(spare, source.name)
    if (not origin or is_url(origin)) and kept.label in ("", here.label):
        _forget(source, docs / MANIFEST)
        _move(source, docs, _own(spare))
        _forget(source, docs / CRAWL)


def _take_back(source: Source, docs: Path, spare: Path) -> None:
    """Go on with what was set aside, in place of the copy that stood in for it."""
    here, kept = Shelf(docs, source.name), Shelf(spare, source.name)
    if len(kept):
        _forget(source, docs / MANIFEST)
        if here.label != kept.label:
            for slug in here.slugs:
                here.remove(slug)
        _forget(source, docs / CRAWL)
        _move(source, spare, docs)


def _move(source: Source, out_of: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for file in sorted(out_of.glob(f"{source.name}__*.md")):
        file.replace(into / file.name)


def _forget(source: Source, notes: Path) -> None:
    sources = read_json(notes)
    if sources.pop(source.name, None):
        write_json(notes, sources)


def _own(spare: Path) -> Path:
    """Our own folder in somebody's checkout, which git does not see."""
    spare.mkdir(parents=True, exist_ok=True)
    (spare / ".gitignore").write_text("*\n", encoding="utf-8")
    return spare


# --- small things -----------------------------------------------------------------------------------------


async def _silent(sites: Mapping[str, str]) -> dict[str, str]:
    """Which of the sites don't answer, and why. Any answer will do: how to deal with it is the crawl's business."""
    async with new_client() as client:

        async def why(url: str) -> str:
            reason = ""
            for _ in range(2):  # one connection may be reset by chance
                try:
                    await client.get(urljoin(url, "/robots.txt"))  # which the crawl asks for first, too
                except httpx.HTTPError as error:
                    reason = str(error) or type(error).__name__
                else:
                    return ""
            return reason

        async def ask(name: str, url: str) -> tuple[str, str]:
            try:
                reason = await asyncio.wait_for(why(url), PATIENCE)
            except asyncio.TimeoutError:
                reason = f"no answer within {PATIENCE:.0f} s"
            return name, reason and f"{url} can't be reached ({reason})"

        answers = await asyncio.gather(*(ask(name, url) for name, url in sites.items()))
    return {name: reason for name, reason in answers if reason}


def _say(source: Source, docs: Path, what: str) -> None:
    entry = read_json(docs / MANIFEST)[source.name]
    print(
        f"{entry['label']} ({entry['version']}) {what}: {entry['pages']:,} pages from {entry['from']}", file=sys.stderr
    )


if __name__ == "__main__":
    sys.exit(main())
