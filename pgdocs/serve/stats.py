"""What is indexed: versions, counts, sizes, from what, built when, fresh or stale and why. Builds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path, PurePath
from typing import Any

from pgdocs.errors import NoPages
from pgdocs.pages import PATH_SEPARATOR, doc_name_of_file, split_doc_name
from pgdocs.search import cache
from pgdocs.serve.library import MANIFEST, cure, holdings, manifest

NAMED = 3
"""Pages that are named where the index is stale; more say no more."""


@dataclass
class SourceStats:
    """One source: what it documents, how much of it there is, where it came from."""

    source: str
    label: str
    pages: int
    sections: int = 0
    names: int = 0
    phrases: int = 0
    bytes: int = 0
    complete: bool | None = None
    failures: int = 0
    fetched: str = ""
    origin: str = ""


@dataclass
class Stats:
    """All of it. `state` is fresh, stale or missing, and `why` says of the last two what is the matter."""

    docs: str
    sources: list[SourceStats]
    index: str = ""
    index_bytes: int = 0
    built: str = ""
    state: str = "missing"
    why: list[str] = field(default_factory=list)


def stats(docs_dir: Path) -> Stats:
    """What there is in `docs_dir` and in the index over it. Raises NoPages."""
    sizes: dict[str, list[int]] = {}
    for name, (size, _) in cache.scan(docs_dir).items():
        sizes.setdefault(split_doc_name(doc_name_of_file(PurePath(name)))[0], []).append(size)
    if not sizes:
        raise NoPages(docs_dir, cure())
    told_of = manifest(docs_dir)
    labels = {holding.source: holding.label for holding in holdings(docs_dir)}
    sources = [SourceStats(name, labels.get(name, name), len(own), bytes=sum(own)) for name, own in sizes.items()]
    found = Stats(str(docs_dir.absolute()), sorted(sources, key=lambda source: -source.pages))
    for source in sources:
        told = told_of.get(source.source, {})
        if told:
            source.complete = bool(told.get("complete"))
            source.failures = len(told["failures"]) if isinstance(told.get("failures"), list) else 0
            source.fetched, source.origin = str(told.get("fetched", "")), str(told.get("from", ""))
    for file in cache.cache_files(docs_dir):
        if data := cache.read(file):
            with suppress(LookupError, TypeError, ValueError, AttributeError):  # plain data, but not of an index
                _add_index(found, docs_dir, file, data)
                return found
    found.index, found.index_bytes, found.built, found.state = "", 0, "", "missing"
    found.why = ["no index yet: the first search builds it"]
    return found


def stats_text(found: Stats) -> str:
    """The same for people."""
    rows: list[tuple[str, ...]] = [("source", "what", "pages", "sections", "names", "phrases", "size")]
    for s in found.sources:
        counts = (f"{n:,}" for n in (s.pages, s.sections, s.names, s.phrases))
        rows.append((s.source, s.label, *counts, _megabytes(s.bytes)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_aligned(n, cell, widths[n]) for n, cell in enumerate(row)).rstrip() for row in rows]
    lines += [""] + [f"{s.source} from {s.origin}, {s.fetched}{_lacks(s)}" for s in found.sources if s.origin]
    lines += [f"pages  {found.docs}"]
    if found.index:
        lines += [f"index  {found.index} ({_megabytes(found.index_bytes)}), built {found.built}"]
    return "\n".join([*lines, f"state  {found.state}" + "".join(f"\n       {why}" for why in found.why)])


def _add_index(found: Stats, docs_dir: Path, file: Path, data: Mapping[str, Any]) -> None:
    status = file.stat()
    found.index, found.index_bytes = str(file), status.st_size
    found.built = datetime.fromtimestamp(status.st_mtime, timezone.utc).isoformat(timespec="seconds")
    found.why = _reasons(docs_dir, data)
    found.state = "stale" if found.why else "fresh"
    page_source = [split_doc_name(row[0])[0] for row in data["page"]]
    sections = Counter(page_source[number] for number in data["passage"]["page"].tolist())
    phrases = Counter(page_source[number] for number in data["phrase"]["page"].tolist())
    names = Counter(source for source, _ in {(split_doc_name(row[4])[0], row[0]) for row in data["symbols"]})
    labels = {source: row[4].split(PATH_SEPARATOR)[0] for source, row in zip(page_source, data["page"], strict=True)}
    for source in found.sources:
        key = source.source
        source.sections, source.names, source.phrases = sections[key], names[key], phrases[key]
        if source.label == key:
            source.label = labels.get(key) or key


def _reasons(docs_dir: Path, data: Mapping[str, Any]) -> list[str]:
    """Why the next search builds the index anew; none where it does not."""
    then: cache.Files = data["files"]
    now = cache.fingerprint(docs_dir, then)
    reasons = [
        _pages(sorted(now.keys() - then.keys()), "new"),
        _pages(sorted(then.keys() - now.keys()), "gone"),
        _pages([name for name in now if name in then and now[name][2] != then[name][2]], "changed"),
        "" if data["code"] == cache.code_version() else "the code or the phrase files have changed since",
    ]
    return [reason for reason in reasons if reason]


def _lacks(source: SourceStats) -> str:
    """A crawl that lacks pages gets them when it runs again; what a folder lacks is lacking in the folder."""
    problems = "problem" if source.failures == 1 else "problems"
    named = f", {source.failures:,} {problems} (see {MANIFEST})" if source.failures else ""
    return named + ("" if source.complete else ", incomplete: run the scrape again")


def _pages(names: Sequence[str], what: str) -> str:
    if not names:
        return ""
    more = f", … {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{len(names):,} {'page' if len(names) == 1 else 'pages'} {what}: {', '.join(names[:NAMED])}{more}"


def _aligned(column: int, cell: str, width: int) -> str:
    return cell.ljust(width) if column < 2 else cell.rjust(width)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
