"""What a crawl leaves on the disk: the pages of a source, and two small files about them.

`.manifest.json` is for readers: which version is here, how many pages, what failed. `.crawl.json` is for the next
crawl: where the pages came from, and the validators that let a site answer "unchanged".
Every write goes to a temporary file first: a page is there in full or not at all, whenever the process is killed.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pgdocs.errors import ScrapeError
from pgdocs.pages import Page, doc_name, doc_name_of_file, file_name, read_page, render_page, split_doc_name

MANIFEST = ".manifest.json"
CRAWL = ".crawl.json"

_TEMPORARY = ".writing-{}.tmp"
"""No page and no JSON file ends like this; a killed process leaves one at most."""

ABANDONED = 3600.0
"""Seconds after which nobody comes back for a temporary file: it is renamed in the moment in which it is written."""


class Shelf:
    """The pages of one source in a docs folder, by slug. Slugs that differ only by case get files that don't."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder, self.source = folder, source
        self._files: dict[str, Path] = {}
        for file in sorted(folder.glob(f"{source}__*.md")):
            self._files[split_doc_name(doc_name_of_file(file.relative_to(folder)))[1]] = file
        self._taken = {file.name.casefold() for file in self._files.values()}

    def __len__(self) -> int:
        return len(self._files)

    @property
    def slugs(self) -> set[str]:
        """The slugs of the pages that are here."""
        return set(self._files)

    @property
    def label(self) -> str:
        """The product and edition of the pages that are here, "" where none is: they all have the same."""
        pages = map(self._read, self._files)
        return next((page.path[0] for page in pages if page and page.path), "")

    def page(self, slug: str, url: str) -> Page | None:
        """The page as it was written; None where it is missing, damaged or another URL's."""
        page = self._read(slug)
        return page if page and page.url == url else None

    def write(self, page: Page) -> bool:
        """Put the page there; False where it was there already, to the letter."""
        content = render_page(page).encode()
        file = self._files.get(page.slug) or self._new_file(page.slug)
        with suppress(OSError):  # what can't be read is written, or said why not
            if file.read_bytes() == content:
                return False
        write_atomically(file, content)
        self._files[page.slug] = file
        self._taken.add(file.name.casefold())
        return True

    def remove(self, slug: str) -> None:
        """Take a page away."""
        file = self._files.pop(slug)
        self._taken.discard(file.name.casefold())
        file.unlink(missing_ok=True)

    def _read(self, slug: str) -> Page | None:
        try:
            return read_page(self._files[slug], self.folder)
        except (KeyError, OSError):
            return None

    def _new_file(self, slug: str) -> Path:
        twin = 1
        while (name := file_name(doc_name(self.source, slug), twin)).casefold() in self._taken:
            twin += 1
        return self.folder / name


def prepare(folder: Path) -> None:
    """Make the docs folder and sweep out what a killed run left half written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(_TEMPORARY.format("*")):
            with suppress(FileNotFoundError):  # a run beside this one has swept or renamed it
                if time.time() - leftover.stat().st_mtime > ABANDONED:
                    leftover.unlink()
    except OSError as error:
        raise ScrapeError(f"Can't write into {folder} ({error.strerror}): name another folder with --out.") from error


def write_atomically(file: Path, content: bytes) -> None:
    """Replace `file` in one step. ScrapeError where the disk is full or the folder can't be written."""
    temporary = file.with_name(_TEMPORARY.format(os.getpid()))
    try:
        temporary.write_bytes(content)
        temporary.replace(file)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise ScrapeError(
            f"Can't write {file} ({error.strerror}): make room or name another folder with --out, then run again; "
            "what was fetched is kept."
        ) from error


def read_json(file: Path) -> dict[str, Any]:
    """The notes in `file` by source; those that are no objects are left out, all where it can't be read."""
    try:
        value = json.loads(file.read_bytes()) if file.is_file() else {}
        return {name: note for name, note in value.items() if isinstance(note, dict)}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Write an object for people to read and for `read_json`; its keys in order, whichever source was ready first."""
    write_atomically(file, (json.dumps(dict(sorted(value.items())), indent=1, ensure_ascii=False) + "\n").encode())
