"""From a manual's index to all of its pages: breadth first, resumable, the same on every run.

The pages of a level are fetched and converted side by side but handled in the order of the queue: a page's path is its
parent's and its parent's title, slugs that differ only by case get their files, and links join the next level, always
in the same order, whatever the network does. Links are read from the markdown, of an old page as of a new one.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx

from pgdocs.errors import ScrapeError
from pgdocs.pages import Page, doc_name, links, slug_of_url
from pgdocs.scrape.convert import Converted, convert, edition
from pgdocs.scrape.fetch import NEVER, Answer, Site, new_client
from pgdocs.scrape.local import LocalManual, open_local
from pgdocs.scrape.shelf import CRAWL, MANIFEST, Shelf, prepare, read_json, write_json
from pgdocs.scrape.sources import INDEX, Source
from pgdocs.scrape.workers import Workers

IN_FLIGHT = 4
"""Pages that are asked for and not yet written, over all sources: what sites bear, and what a kill may lose."""

Watch = Callable[[str, int, int, int], None]
"""Told a source's name and how many of its pages are done, known and failed, after each page."""


@dataclass(frozen=True)
class Options:
    """How to crawl: seconds between two requests to a site, whether to ask for pages again, how many to ask for."""

    delay: float = 0.3
    refresh: bool = False
    limit: int | None = None


@dataclass(frozen=True)
class SourceReport:
    """What became of one source: `pages` are there now; `error` is why it was not crawled to its end, "" if it was."""

    name: str
    label: str
    version: str
    pages: int
    new: int
    changed: int
    removed: int
    failures: tuple[tuple[str, str], ...]
    error: str
    seconds: float


def scrape(
    sources: Sequence[Source],
    out: Path,
    origins: Mapping[str, str] | None = None,
    options: Options | None = None,
    watch: Watch = lambda *_: None,
) -> list[SourceReport]:
    """Bring the pages of `sources` into `out`, all sources at the same time; a report for each, in their order.

    `origins` says by source name where a manual is to be had (URL, folder or archive) if not from its own site.
    A source that fails says so in its report, and the others are crawled all the same. ScrapeError where `out` can't
    be written. Starts processes, so a script calls it below `if __name__ == "__main__":`.
    """
    prepare(out)
    with Workers() as workers:
        return asyncio.run(_scrape(sources, out, origins or {}, options or Options(), watch, workers))


async def _scrape(
    sources: Sequence[Source],
    out: Path,
    origins: Mapping[str, str],
    options: Options,
    watch: Watch,
    workers: Workers,
) -> list[SourceReport]:
    window = max(1, IN_FLIGHT // (len(sources) or 1))
    free_at: dict[str, float] = {}
    async with new_client() as client:
        crawls = [
            _Crawl(source, origins.get(source.name, source.base), out, options, watch, workers, client, window, free_at)
            for source in sources
        ]
        return list(await asyncio.gather(*(crawl.run() for crawl in crawls)))


class _Folder:
    """A manual on this machine, which answers as a Site does."""

    is_down = False

    def __init__(self, manual: LocalManual) -> None:
        self._manual = manual

    async def ask(self, name: str, _: tuple[str, str] = NEVER) -> Answer:
        body = self._manual.read(name)
        return Answer(404) if body is None else Answer(200, body)


def is_url(origin: str) -> bool:
    """Whether a manual's origin is a site's address rather than a path."""
    return bool(re.match(r"https?://", origin, re.I))


class _Crawl:
    """The crawl of one source."""

    _site: Site | _Folder

    def __init__(
        self,
        source: Source,
        origin: str,
        out: Path,
        options: Options,
        watch: Watch,
        workers: Workers,
        client: httpx.AsyncClient,
        window: int,
        free_at: dict[str, float],
    ) -> None:
        self._source, self._origin, self._out, self._options = source, origin, out, options
        self._watch, self._workers, self._client, self._window = watch, workers, client, window
        self._free_at = free_at
        self._shelf = Shelf(out, source.name)
        self._version = ""
        self._validators: dict[str, Any] = {}
        self._trails: dict[str, tuple[str, ...]] = {}  # slug → the path of the pages below it
        self._asked = self._left_out = self._new = self._changed = self._removed = 0
        self._orphans: set[str] = set()  # pages whose parent failed: without its trail, so asked for again
        self._kept: set[str] = set()  # slugs of the pages that this crawl came by
        self._failures: list[tuple[str, str]] = []
        self._cure = f"name a mirror or a copy with --from {source.name}=URL|FOLDER|ARCHIVE"

    async def run(self) -> SourceReport:
        """Crawl, and leave behind what the next crawl and the readers need to know, whatever happens."""
        started, error = time.monotonic(), "It was interrupted: run it again."
        try:
            if is_url(self._origin):
                self._site = Site(self._client, self._source, self._origin, self._options.delay, self._free_at)
            else:
                self._site = _Folder(await asyncio.to_thread(open_local, Path(self._origin), self._source))
            await self._settle()
            await self._walk()
            self._sweep()
            error = ""
        except ScrapeError as problem:
            error = str(problem)
        except BrokenExecutor:
            error = "A process that converts pages was killed, perhaps for want of memory: make room and run again."
        finally:
            if self._version:
                with suppress(ScrapeError):  # a full disk: the pages count, and the error says it already
                    self._remember()
                    self._tell(error)
        return SourceReport(
            self._source.name,
            self._source.label if self._version else "",
            self._version,
            len(self._shelf),
            self._new,
            self._changed,
            self._removed,
            tuple(self._failures),
            error,
            time.monotonic() - started,
        )

    # --- which edition ----------------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """Learn which edition the origin has. Pages of another one make room, once the new index has been read.

        The old index goes last, so that a crawl killed in between still sees that the pages were another edition's.
        """
        before = read_json(self._out / CRAWL).get(self._source.name, {})
        here = before.get("from") == self._origin and self._source.accepts(str(before.get("version", "")))
        known = self._source.of_version(before["version"]) if here else self._source
        stored = self._shelf.page("index", known.index) if here else None
        if isinstance(orphans := before.get("orphans"), list):
            self._orphans.update(map(str, orphans))
        if here and before.get("converter") == _fingerprint():
            self._validators = before["validators"]
        if stored and is_url(self._origin) and not self._options.refresh:
            self._source, self._version = known, before["version"]
            return
        self._asked += 1
        answer = await self._first_page(self._validators.get(INDEX, NEVER) if stored else NEVER)
        if answer.status == 304:
            self._source, self._version = known, before["version"]
            return
        version = await self._workers.run(edition, answer.body, self._source)
        if not self._source.accepts(version):
            found = f"{self._source.product} {version}, not {self._source.label}"
            raise ScrapeError(f"{self._origin} has {found}: {self._cure}.")
        self._source = self._source.of_version(version)
        first = await self._convert(INDEX, answer.body)
        elsewhere = not here and before.get("version") not in (None, version)
        if elsewhere or self._shelf.label not in ("", self._source.label):
            for slug in self._shelf.slugs:
                if slug != "index":
                    self._shelf.remove(slug)
            self._validators = {}
            self._tell(None)
        self._put(INDEX, first, answer.validators)
        self._version = version
        self._remember()

    async def _first_page(self, validators: tuple[str, str]) -> Answer:
        try:
            answer = await self._site.ask(INDEX, validators)
        except ScrapeError as error:
            raise ScrapeError(f"Can't reach {self._origin} ({error}): check the network, or {self._cure}.") from error
        if answer.status not in (200, 304):
            raise ScrapeError(f"{self._origin} has no {self._source.product} manual (no {INDEX}): {self._cure}.")
        return answer

    # --- which pages ------------------------------------------------------------------------------------------

    async def _walk(self) -> None:
        """Level by level: the pages that the pages before link to."""
        seen, level = {INDEX}, [INDEX]
        while level:
            below: list[str] = []
            todo, window = deque(level), deque[tuple[str, asyncio.Task[_Outcome]]]()
            try:
                while todo or window:
                    while todo and len(window) < self._window:
                        name = todo.popleft()
                        window.append((name, asyncio.create_task(self._get(name))))
                    name, task = window[0]
                    for link in await self._handle(name, task):
                        if link not in seen:
                            seen.add(link)
                            below.append(link)
                    window.popleft()
                    done = len(seen) - len(below) - len(todo) - len(window) - self._left_out
                    self._watch(self._source.name, done, len(seen), len(self._failures))
            finally:
                for _, task in window:
                    task.cancel()
                await asyncio.gather(*(task for _, task in window), return_exceptions=True)
            level = below

    async def _get(self, name: str) -> _Outcome:
        """A page from the shelf or from the site; the name it moved to; None where it is none (any more)."""
        stored = self._shelf.page(slug_of_url(name), self._source.base + name) if name not in self._orphans else None
        if stored and (name == INDEX or not self._options.refresh):
            return stored
        if self._options.limit is not None and self._asked >= self._options.limit:
            self._left_out += stored is None
            return stored
        self._asked += 1
        answer = await self._site.ask(name, self._validators.get(name, NEVER) if stored else NEVER)
        if answer.status == 304:
            return stored
        if answer.status == 301:
            return answer.moved
        if answer.status == 404:
            if stored:
                return None
            raise ScrapeError("not found (404)")
        return await self._convert(name, answer.body), answer.validators

    async def _handle(self, name: str, task: asyncio.Task[_Outcome]) -> list[str]:
        """Put a page on its shelf; the names of the pages that it links to."""
        try:
            outcome = await task
        except ScrapeError as error:
            self._failures.append((self._source.base + name, str(error)))
            if self._site.is_down:
                raise ScrapeError(
                    f"{self._origin} does not answer any more ({error}): what was fetched is kept; run again later."
                ) from error
            return []
        if outcome is None or isinstance(outcome, str):
            return [outcome] if outcome else []
        page = outcome if isinstance(outcome, Page) else self._put(name, *outcome)
        self._kept.add(page.slug)
        self._trails[page.slug] = (*page.path, page.title) if name != INDEX else page.path
        names = (self._source.page_name(link) for link in links(page.body))
        return [name for name in names if name]

    def _put(self, name: str, converted: Converted, validators: tuple[str, str]) -> Page:
        """Write a page that was fetched."""
        slug, label = slug_of_url(name), self._source.label
        above = self._trails.get(converted.up) or ((label, converted.up_title) if converted.up_title else (label,))
        page = Page(
            doc_name(self._source.name, slug),
            converted.title,
            converted.anchor,
            self._source.base + name,
            above if name != INDEX else (label,),
            converted.kind,
            converted.body,
        )
        fresh = slug not in self._shelf.slugs
        written = self._shelf.write(page)
        self._new += fresh
        self._changed += written and not fresh
        if converted.up and converted.up not in self._trails and self._failures:
            self._orphans.add(name)
        else:
            self._orphans.discard(name)
        self._validators.pop(name, None)
        if validators != NEVER:
            self._validators[name] = validators
        return page

    def _sweep(self) -> None:
        """Remove the pages that the manual has no more, if nothing failed and all were asked for."""
        if self._options.refresh and not self._failures and not self._is_limited:
            for slug in self._shelf.slugs - self._kept:
                self._shelf.remove(slug)
                self._removed += 1

    @property
    def _is_limited(self) -> bool:
        """Whether as many pages were asked for as `--limit` allows."""
        return self._options.limit is not None and self._asked >= self._options.limit

    # --- what is left behind ------------------------------------------------------------------------------------

    def _remember(self) -> None:
        """For the next crawl: where the pages are from, their validators as long as the converter is the same, and the
        orphans, which it asks for although they are here: written while their parent failed, they lack its trail."""
        entry = {
            "from": self._origin,
            "version": self._version,
            "pinned": self._source.pinned,
            "converter": _fingerprint(),
            "validators": self._validators,
            "orphans": sorted(self._orphans),
        }
        write_json(self._out / CRAWL, {**read_json(self._out / CRAWL), self._source.name: entry})

    def _tell(self, error: str | None) -> None:
        """For the readers: what is here. `error` is what ended the crawl early; None while there is nothing to tell."""
        manifest = read_json(self._out / MANIFEST)
        before = manifest.pop(self._source.name, {})
        if error is not None:
            now = datetime.now(timezone.utc).isoformat(timespec="seconds")
            manifest[self._source.name] = {
                "version": self._version,
                "label": self._source.label,
                "pages": len(self._shelf),
                "complete": not (error or self._failures or self._is_limited),
                "failures": [*self._failures, *([(self._origin, error)] if error else [])],
                "fetched": now if self._asked else before.get("fetched", now),
                "from": self._origin,
            }
        write_json(self._out / MANIFEST, manifest)

    async def _convert(self, name: str, body: bytes) -> Converted:
        """A page that our converter stumbles over is a failure of that page, whatever it stumbles over."""
        try:
            return await self._workers.run(convert, body, self._source.base + name, self._source)
        except (ScrapeError, BrokenExecutor):
            raise
        except Exception as error:
            raise ScrapeError(f"can't be converted ({type(error).__name__}: {error})") from error


_Outcome = Page | tuple[Converted, tuple[str, str]] | str | None
"""What asking for a page led to: the page as it was, a new one with its validators, another name, or nothing."""


def _fingerprint() -> str:
    """Of the code that makes pages: what another version of it made is not unchanged, whatever a site says."""
    code = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(code).hexdigest()[:16]
