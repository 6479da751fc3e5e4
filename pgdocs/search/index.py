"""DocumentSearchIndex: any folder of markdown → ranked sections. Loads or builds the index and keeps it fresh."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

import numpy as np
from numpy.typing import NDArray

from pgdocs.errors import BadQuery, BuildError, NoPages, PageNotFound, UnknownSource
from pgdocs.pages import PATH_SEPARATOR, Page, read_page, short_name, slug_of_url, split_doc_name
from pgdocs.search import STRATEGIES, cache, checked
from pgdocs.search.pieces import ScoredPassage
from pgdocs.search.scope import Scope, Scopes, split_label
from pgdocs.search.symbols import Symbol

if TYPE_CHECKING:  # what ranks is imported when an index is opened: a REPL that only imports us does not wait for it
    from pgdocs.search.rank import Explained, Query, Ranker

log = logging.getLogger("pgdocs")

FIRST_SNIPPET, SNIPPET = 1800, 600
"""Characters of a snippet, about: the first result's holds the answer of 4 in 5 questions (600 would of 1 in 2), and
five results together stay below some 1,500 tokens."""

CHECK_EVERY = 2.0
"""Seconds between two looks at the folder: a page edited while the server runs is found at most this much later."""

REST = 4
"""Between two rebuilds at least so many times as long as the last one took: a scrape of many minutes must not keep a
core busy. An edit after that is taken up at the next look."""


@dataclass(frozen=True)
class PageInfo:
    """A page without its text."""

    doc_name: str
    title: str
    anchor: str
    url: str
    path: tuple[str, ...]
    kind: str
    file: str

    @property
    def source(self) -> str:
        return split_doc_name(self.doc_name)[0]

    @property
    def slug(self) -> str:
        return split_doc_name(self.doc_name)[1]


@dataclass(frozen=True)
class SourceInfo:
    """A source that is indexed; `label` is its product and version, from its pages' own path."""

    name: str
    label: str
    pages: int
    sections: int


@dataclass(frozen=True)
class SearchResult:
    """A page with its best section. `section` is "" where that is the page itself; `score` runs from 0 to 1."""

    doc_name: str
    title: str
    url: str
    section: str
    score: float
    match_type: str
    snippet: str
    path: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class Found:
    """A page with all of its passages in reading order, and what other words tell that it is about the query
    (`Ranker.kindred`); the scores are the ranker's own, not in 0..1."""

    page: PageInfo
    score: float
    passages: list[ScoredPassage]
    kindred: Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Retrieved:
    """The best pages, best first, the query with our names for other products' in it, whether the first page is a
    confident answer, and what a word weighs in this index."""

    pages: list[Found]
    with_ours: str
    confident: bool
    weight: Callable[[str], float]


class _State:
    """One index, complete: swapped as a whole, so that a search never sees half of two."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.files: cache.Files = data["files"]
        self.pages = [
            PageInfo(name, title, anchor, url, tuple(path.split(PATH_SEPARATOR)) if path else (), kind, file)
            for name, title, anchor, url, path, kind, file in data["page"]
        ]
        self.sources = _sources(self.pages, data["passage"]["page"])
        order = {source.name: number for number, source in enumerate(self.sources)}
        self.product = {source.name: split_label(source.label)[0] for source in self.sources}
        symbols = sorted((Symbol(*row) for row in data["symbols"]), key=lambda s: order[split_doc_name(s.doc_name)[0]])
        from pgdocs.search.rank import Ranker

        self.ranker = Ranker(data, self.pages, symbols)
        self.scopes = Scopes([(source.name, source.label) for source in self.sources], data["elsewhere"])
        self.by_name = {page.doc_name: page for page in self.pages}
        self.by_slug: dict[str, list[PageInfo]] = {}
        for page in sorted(self.pages, key=lambda page: order[page.source]):
            self.by_slug.setdefault(page.slug.lower(), []).append(page)
        self.by_url = {_address(page.url): page for page in reversed(self.pages) if page.url}
        self.kinds = sorted({page.kind for page in self.pages} - {""})
        self._allowed: dict[tuple[frozenset[str], str], Any] = {}

    def check(self, source: str, kind: str = "all") -> None:
        """Raises UnknownSource; BadQuery for a kind that no page has."""
        names = [known.name for known in self.sources]
        if source != "all" and source not in names:
            raise UnknownSource(source, names)
        if kind != "all" and kind not in self.kinds:
            raise BadQuery(f"Unknown kind {kind!r}: use one of {', '.join(self.kinds)} or all.")

    def scope(self, query: str, kind: str = "all") -> Scope:
        """What the query says about where to look; release notes and lists are asked for by their kind, too."""
        scope = self.scopes.of(query)
        return replace(scope, news=scope.news or kind == "release", lists=scope.lists or kind == "contents")

    def query(self, text: str, kind: str = "all") -> Query:
        """A query as the ranker sees it."""
        scope = self.scope(text, kind)
        return self.ranker.query(scope.text, scope)

    def allowed(self, source: str, scope: Scope, kind: str = "all") -> Any:
        """The mask of the pages to look in; None: all. Of a page in several versions the first source's is meant."""
        wanted = (
            frozenset({source}) if source != "all" else scope.sources or frozenset(known.name for known in self.sources)
        )
        if (wanted, kind) not in self._allowed:
            first: dict[tuple[str, str], PageInfo] = {}
            for pages in self.by_slug.values():
                for page in pages:
                    if page.source in wanted and kind in ("all", page.kind):
                        first.setdefault((self.product[page.source], page.slug), page)
            names = {page.doc_name for page in first.values()}
            mask = np.array([page.doc_name in names for page in self.pages])
            self._allowed[wanted, kind] = None if mask.all() else mask
        return self._allowed[wanted, kind]

    def of_one_version(self, symbols: Sequence[Symbol]) -> list[Symbol]:
        """Of each product's definitions those of the first source that has any."""
        source: dict[str, str] = {}
        for symbol in symbols:
            name = split_doc_name(symbol.doc_name)[0]
            source.setdefault(self.product[name], name)
        return [symbol for symbol in symbols if split_doc_name(symbol.doc_name)[0] in source.values()]


class DocumentSearchIndex:
    """Search over a folder of markdown. Safe to use from several threads.

    `docs_dir` may hold any markdown, nested too; `cache_file` is where the index is kept (beside the folder, or in the
    user's cache folder where that can't be written).
    """

    def __init__(self, docs_dir: str | os.PathLike[str], cache_file: str | os.PathLike[str] | None = None) -> None:
        self.docs_dir = Path(docs_dir)
        self._cache_files = [Path(cache_file)] if cache_file else cache.cache_files(self.docs_dir)
        self._state: _State | None = None
        self._building = threading.Lock()
        self._checked = self._rest_until = 0.0
        self._stale = ""

    # --- building and freshness -----------------------------------------------------------------------------

    def build_index(self, force: bool = False) -> None:
        """Load the index from its cache where that is fresh, else build and write it. Raises NoPages, BuildError."""
        with self._building:
            self._open(force)

    def _open(self, force: bool = False) -> _State:
        self._state = (None if force else self._load()) or _State(self._build(() if force else self._cache_files))
        self._checked, self._stale = time.monotonic(), ""
        return self._state

    def refresh(self) -> bool:
        """Whether the folder has changed since the index was built; a rebuild is then under way in a child process.

        Cheap: looks at the folder's names, sizes and times, at most every CHECK_EVERY seconds.
        """
        state, now = self._state, time.monotonic()
        if state is None or now - self._checked < CHECK_EVERY or self._building.locked():
            return bool(self._stale)
        self._checked = now
        if cache.scan(self.docs_dir) == {name: known[:2] for name, known in state.files.items()}:
            self._stale = ""
        elif cache.same_content(files := cache.fingerprint(self.docs_dir, state.files), state.files):
            state.files = files  # only touched
            self._stale = ""
        else:
            self._stale = self._stale or (
                f"The pages in {self.docs_dir} have changed; until they are indexed again, the index before answers."
            )
            if now >= self._rest_until:
                threading.Thread(target=self._rebuild, name="pgdocs-rebuild", daemon=True).start()
        return bool(self._stale)

    @property
    def stale(self) -> str:
        """A sentence to print while the folder's pages are newer than the index, else ""."""
        return self._stale

    def _rebuild(self) -> None:
        if not self._building.acquire(blocking=False):
            return
        started = time.monotonic()
        try:
            self._state = _State(self._build(self._cache_files))
            self._stale = ""
        except (BuildError, NoPages) as error:
            self._stale = f"{error} The index before answers."
            log.warning("%s", self._stale)
        finally:
            self._checked = time.monotonic()
            self._rest_until = self._checked + REST * (self._checked - started)
            self._building.release()

    def _load(self) -> _State | None:
        """The index from the first cache file that is of these pages and of this code."""
        for file in self._cache_files:
            data = cache.read(file)
            try:
                if data and data["code"] == cache.code_version():
                    files = cache.fingerprint(self.docs_dir, data["files"])
                    if cache.same_content(files, data["files"]):
                        return _State({**data, "files": files})
            except Exception as error:  # plain data, but not of an index
                log.warning("Ignoring the index cache %s: %r.", file, error)
        return None

    def _build(self, known: Sequence[Path] = ()) -> dict[str, Any]:
        """Build in a child process, so that scipy never lives in this one, and write the cache. Pages that are in the
        cache files `known` as they are in the folder are not parsed again."""
        import pickle
        import subprocess  # as long to import as a tenth of numpy, and seldom needed

        if not cache.scan(self.docs_dir):
            raise NoPages(self.docs_dir)
        here = str(Path(__file__).parents[2])  # also where it runs: `-m` would take a `pgdocs` in the caller's folder
        path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            command = [sys.executable, "-m", "pgdocs.search.build", str(self.docs_dir.resolve()), *map(str, known)]
            with subprocess.Popen(  # type: ignore[call-overload]
                command, cwd=here, env={**os.environ, "PYTHONPATH": path}, **pipes
            ) as child:
                errors: list[bytes] = []
                reader = threading.Thread(target=lambda: errors.append(child.stderr.read()), daemon=True)
                reader.start()
                try:
                    built = cache.load(child.stdout)
                except (ValueError, pickle.UnpicklingError):  # cut off: stderr says why
                    built = None
                reader.join()
            if built and child.returncode == 0:
                any(cache.write(file, *built[1]) for file in self._cache_files)
                return built[0]
            reason = b"".join(errors).decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
        except OSError as error:
            reason = str(error)
        reason = reason.rstrip(".") or "the build was ended, perhaps for want of memory"
        raise BuildError(f"The index could not be built ({reason}): mend that, then ask again.")

    @property
    def _ready(self) -> _State:
        if self._state is None:
            with self._building:
                return self._state or self._open()
        return self._state

    # --- search ---------------------------------------------------------------------------------------------

    def search(
        self, query: str, max_results: int = 5, strategy: str = "hybrid", source: str = "all", kind: str = "all"
    ) -> list[SearchResult]:
        """The best pages for `query`, each once, with its best section. Raises BadQuery, UnknownSource, NoPages."""
        from pgdocs.search.snippets import Matcher, snippet

        if strategy not in STRATEGIES:
            raise BadQuery(f"Unknown strategy {strategy!r}: use one of {', '.join(STRATEGIES)}.")
        if max_results < 1:
            raise BadQuery("max_results must be at least 1.")
        state, asked, allowed = self._asked(query, source, kind)
        passages = state.ranker.passages
        matcher, results = Matcher(asked.with_ours, state.ranker.weight), list[SearchResult]()
        for hit in state.ranker.search(asked, max_results, strategy, allowed):
            page, best = state.pages[hit.page], hit.passages[0][0]
            first = not results
            found = [
                ScoredPassage(n, passages["anchor"][n], passages["section"][n], passages["text"][n], score)
                for n, score in (hit.passages if first else hit.passages[:1])
            ]
            anchor, section = passages["anchor"][best], passages["section"][best]
            url = page.url + (f"#{anchor}" if page.url and anchor else "")
            shown = snippet(found, matcher, FIRST_SNIPPET if first else SNIPPET)
            results.append(
                SearchResult(
                    page.doc_name, page.title, url, section, hit.score, hit.match_type, shown, page.path, page.kind
                )
            )
        return results

    def retrieve(self, query: str, limit: int, source: str = "all", kind: str = "all") -> Retrieved:
        """The `limit` best pages by `hybrid` with all of their passages: what `context` makes its answer of.

        Raises BadQuery, UnknownSource, NoPages.
        """
        from pgdocs.search.rank import CONFIDENT, confidence, masked

        state, asked, allowed = self._asked(query, source, kind)
        ranker = state.ranker
        pages, passages = ranker.hybrid(asked)
        pages = masked(pages, allowed)
        found = []
        for number in np.argsort(-pages, kind="stable")[:limit].tolist():
            a, b = ranker.start[number], ranker.start[number + 1]
            columns = (ranker.passages[name][a:b] for name in ("anchor", "section", "text"))
            hits = [ScoredPassage(*row) for row in zip(range(a, b), *columns, passages[a:b].tolist(), strict=True)]
            if np.isfinite(pages[number]):
                kindred = partial(ranker.kindred, asked, number)
                found.append(Found(state.pages[number], float(pages[number]), hits, kindred))
        confident = bool(found) and confidence(found[0].score, asked) >= CONFIDENT
        return Retrieved(found, asked.with_ours, confident, ranker.weight)

    def explain(self, query: str, max_results: int = 5, source: str = "all", kind: str = "all") -> list[Explained]:
        """Why the best pages rank as they do by `hybrid`, and what pages far down get. Raises as `search`."""
        state, asked, allowed = self._asked(query, source, kind)
        return state.ranker.explain(asked, max_results, allowed)

    def _asked(self, query: str, source: str, kind: str) -> tuple[_State, Query, NDArray[np.bool_] | None]:
        """The index, the query as it sees it, and the mask of the pages to look in. Raises as `search`."""
        checked(query)
        state = self._ready
        state.check(source, kind)
        asked = state.query(query, kind)
        if re.fullmatch(r"\s*\w+://\S+\s*", query):
            with contextlib.suppress(PageNotFound):
                asked = replace(asked, page=self._find(query).doc_name)
        return state, asked, state.allowed(source, asked.scope, kind)

    def query(self, text: str) -> Query:
        """A query as the ranker sees it: for whoever measures."""
        return self._ready.query(text)

    @property
    def ranker(self) -> Ranker:
        """What ranks the pages that are indexed now: for whoever measures."""
        return self._ready.ranker

    # --- pages ----------------------------------------------------------------------------------------------

    def get_document(self, name: str) -> str:
        """The markdown file of a page, as it is. Raises PageNotFound with the names that are near."""
        return self._file(name).read_bytes().decode("utf-8", errors="replace")

    def page(self, name_or_url: str) -> Page:
        """A page by `pg/sql-select`, `sql-select`, `pg__sql-select` or its URL, with or without an anchor."""
        return read_page(self._file(name_or_url), self.docs_dir)

    def sources(self) -> list[SourceInfo]:
        """What is indexed, the source with the most pages first."""
        return list(self._ready.sources)

    def pages(self, source: str = "all") -> list[PageInfo]:
        """All pages by name, or those of one source. Raises UnknownSource."""
        state = self._ready
        state.check(source)
        return [page for page in state.pages if source in ("all", page.source)]

    def symbols(self, name: str) -> list[Symbol]:
        """All definitions of a name as people type it (`now()`, `json ->> text`), those of the first source first; of a
        manual in several versions, the first one's that has it."""
        state = self._ready
        return state.of_one_version(state.ranker.mentions.table.find(name))

    def counterparts(self, name: str) -> list[str]:
        """Names here for what another product calls `name`."""
        return self._ready.ranker.mentions.counterparts(name)

    def missing_version(self, query: str) -> str:
        """A sentence where the query asks for a version of a manual that is not indexed, else ""."""
        return self._ready.scopes.of(query).missing

    def names(self) -> list[str]:
        """Every name that is defined, as documented, sorted: for completion."""
        return self._ready.ranker.mentions.table.names

    def near_names(self, name: str, limit: int = 5) -> list[str]:
        """Names that are spelled nearly like `name`."""
        return self._ready.ranker.mentions.table.near(name, limit)

    def _file(self, name: str) -> Path:
        page = self._find(name)
        file = self.docs_dir / page.file
        if not file.is_file():
            raise PageNotFound(name)
        return file

    def _find(self, name: str) -> PageInfo:
        state = self._ready
        try:
            wanted = urldefrag(name.strip())[0]
            is_url = "://" in wanted
            slug = slug_of_url(wanted) if is_url else wanted.removesuffix(".md").replace("/", "__")
        except ValueError:  # http://[ is no URL
            raise PageNotFound(name) from None
        if exact := state.by_url.get(_address(wanted)) if is_url else state.by_name.get(slug):
            return exact
        bare = slug if is_url or slug.lower() in state.by_slug else split_doc_name(slug)[1]
        found = state.by_slug.get(bare.lower(), [])
        if not is_url and bare != slug:
            found = [page for page in found if page.source == split_doc_name(slug)[0].lower()]
        if is_url:
            found = [page for page in found if page.url and _host(page.url) == _host(wanted)]
        for page in found:
            if page.slug == bare:
                return page
        if found:
            return found[0]
        raise PageNotFound(name, self._near_pages(bare))

    def _near_pages(self, slug: str) -> list[str]:
        from rapidfuzz import fuzz, process  # not before a name is misspelt

        state, first = self._ready, dict[tuple[str, str], PageInfo]()
        for pages in state.by_slug.values():  # those of the default version stand first
            for page in pages:
                first.setdefault((state.product[page.source], page.slug), page)
        names = {short_name(page.doc_name): page.slug.lower() for page in first.values()}
        best = process.extract(slug.lower(), names, scorer=fuzz.ratio, limit=5, score_cutoff=60)
        return [name for _, _, name in best]


def _address(url: str) -> str:
    """A page's address, however its index is spelled."""
    return url.removesuffix("index.html").removesuffix("/")


def _host(url: str) -> str:
    return re.sub(r"^\w+://(?:www\.)?([^/]*).*", r"\1", url).lower()


def _sources(pages: Sequence[PageInfo], passage_page: Any) -> list[SourceInfo]:
    """The sources: the product with the most pages first; of one product the plain name before pg17, pg16 …"""
    found: dict[str, list[int]] = {}
    labels: dict[str, str] = {}
    for page in pages:
        found.setdefault(page.source, [0, 0])[0] += 1
        if page.path:
            labels.setdefault(page.source, page.path[0])
    for page, passages in zip(pages, np.bincount(passage_page, minlength=len(pages)).tolist(), strict=True):
        found[page.source][1] += passages
    known = [SourceInfo(name, labels.get(name, name), *counts) for name, counts in found.items()]
    most: dict[str, int] = {}
    for source in known:
        product = split_label(source.label)[0]
        most[product] = max(most.get(product, 0), source.pages)

    def place(source: SourceInfo) -> tuple[Any, ...]:
        product, version = split_label(source.label)
        newest_first = [-int(part) for part in version.split(".") if part]
        return -most[product], product, source.name[-1:].isdigit(), newest_first, source.name

    return sorted(known, key=place)
