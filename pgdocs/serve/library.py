"""Where the pages are, what they are, and the index over them: opened late, once, and not before somebody asks.

Nothing here imports numpy or the search wing until `Library` opens the index: a server answers its handshake first.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pgdocs.errors import NoPages, ScrapeError
from pgdocs.pages import doc_name_of_file, read_page, split_doc_name

if TYPE_CHECKING:
    from pgdocs.search.index import DocumentSearchIndex

CHECKOUT = Path(__file__).parents[2]
"""The folder that holds the package: a checkout of ours where it holds pyproject.toml too, else site-packages."""

BUNDLED = Path(__file__).parents[1] / "manuals"
"""Where a wheel that `pgdocs wheel` made keeps its pages (`docs`) and their index; no other package has it."""

MANIFEST = ".manifest.json"
"""In a docs folder: what the scraper tells of its sources."""


MANY = 10_000_000
"""More pages than any folder has: such a number would only fill the instructions."""


class Holding(NamedTuple):
    """One source of the folder: its name in arguments, the product and version it documents, and how many pages."""

    source: str
    label: str
    pages: int


def docs_folder() -> Path:
    """The folder of pages: that of `writable_folder`, unless only the package itself has pages."""
    folder, bundled = writable_folder(), BUNDLED / "docs"
    return bundled if bundled.is_dir() and not os.environ.get("PGDOCS_DOCS") and not holdings(folder) else folder


def writable_folder() -> Path:
    """Where pages are put: $PGDOCS_DOCS, else docs/ of the checkout, else a folder of the user's (an installed package
    must not write beside itself)."""
    if named := os.environ.get("PGDOCS_DOCS"):
        with suppress(RuntimeError):  # ~nobody-of-that-name
            return Path(named).expanduser()
        return Path(named)
    if (CHECKOUT / "pyproject.toml").is_file():
        return CHECKOUT / "docs"
    return _user_data() / "pgdocs" / "docs"


def own_copy() -> Path:
    """The folder of `writable_folder` with a copy of the package's pages, for others to stand beside them."""
    into = writable_folder()
    new = into.with_name(f"{into.name}.new")
    try:
        shutil.rmtree(new, ignore_errors=True)
        shutil.copytree(BUNDLED / "docs", new, copy_function=shutil.copyfile)  # a package's files may be read-only
        into.mkdir(exist_ok=True)
        for file in new.iterdir():
            file.replace(into / file.name)
        new.rmdir()
    except (OSError, shutil.Error) as error:
        raise ScrapeError(f"Can't write into {into} ({error}): name another folder with --docs.") from error
    return into


def cure() -> str:
    """What to do where there are no pages: the end of an error's sentence."""
    return "run ./setup.sh or python scrape_docs.py" if (CHECKOUT / "scrape_docs.py").is_file() else "run pgdocs scrape"


def holdings(docs_dir: Path) -> list[Holding]:
    """What the folder holds, without opening an index: from the manifest, else by counting files. Never fails."""
    try:
        found = [Holding(name, _label(name, told), _pages(told)) for name, told in manifest(docs_dir).items()]
    except (ValueError, KeyError, TypeError):
        found = []
    return found or _count(docs_dir)


def manifest(docs_dir: Path) -> dict[str, dict[str, Any]]:
    """What the folder's MANIFEST tells of each source; {} where there is none, or one that can't be read."""
    file = docs_dir / MANIFEST
    try:
        told = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}  # a pipe would be waited for
        return {name: entry for name, entry in told.items() if isinstance(entry, dict)}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


class Library:
    """The index over one folder. Thread-safe; made in no time."""

    def __init__(self, docs_dir: Path) -> None:
        self.docs_dir = docs_dir
        self._lock = threading.Lock()
        self._started = False
        self._index: DocumentSearchIndex | None = None

    def start(self) -> None:
        """Open the index in the background, the first time that this is called."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._open_quietly, name="pgdocs index", daemon=True).start()

    def index(self) -> DocumentSearchIndex:
        """The index, once it is open. Raises NoPages, and tries again at the next call."""
        with self._lock:
            if self._index is None:
                self._index = self._open()
        self._index.refresh()
        return self._index

    def _open(self) -> DocumentSearchIndex:
        from pgdocs.search.index import DocumentSearchIndex  # numpy: after the handshake
        from pgdocs.serve.guard_weights import weights

        index = DocumentSearchIndex(self.docs_dir)
        try:
            index.build_index()
        except NoPages:
            raise NoPages(self.docs_dir, cure()) from None
        weights()  # every answer passes the guard: the first one needn't wait for them
        return index

    def _open_quietly(self) -> None:
        with suppress(Exception):  # whoever calls index() next meets the same error and can tell the client
            self.index()


def _pages(told: dict[str, Any]) -> int:
    """Raises KeyError, TypeError or ValueError where there is no number that pages can have."""
    if not 0 <= told["pages"] < MANY:
        raise ValueError("no number of pages")
    return int(told["pages"])


def _label(name: str, told: dict[str, object]) -> str:
    """`PostgreSQL 18` and `18.6` are `PostgreSQL 18.6`."""
    label, version = str(told.get("label") or name), str(told.get("version") or "")
    product, _, edition = label.rpartition(" ")
    return f"{product} {version}" if product and version.startswith(edition) else label


def _count(docs_dir: Path) -> list[Holding]:
    pages: Counter[str] = Counter()
    labels: dict[str, str] = {}
    for folder, _, files in os.walk(docs_dir):
        for file in sorted(files):
            if file.endswith(".md"):
                path = Path(folder, file)
                source = split_doc_name(doc_name_of_file(path.relative_to(docs_dir)))[0]
                pages[source] += 1
                if source not in labels:
                    with suppress(OSError):
                        labels[source] = (read_page(path, docs_dir).path or (source,))[0]
    return [Holding(source, labels.get(source, source), count) for source, count in sorted(pages.items())]


def _user_data() -> Path:
    """Where this system keeps a user's data; a user without a home keeps it where the process was started."""
    with suppress(RuntimeError):
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support"
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return Path()
