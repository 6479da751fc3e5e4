"""Every error that pgdocs raises on purpose.

    PgdocsError
    ├── NoPages          the docs folder holds no markdown
    ├── PageNotFound     no page (or section) of that name; carries near names
    ├── UnknownSource    a source that is not indexed; carries those that are
    ├── BadQuery         a query that can't be searched for
    ├── ScrapeError      a source can't be had; nothing of it was changed
    └── BuildError       the index could not be built

The text of each is one sentence that names the cure: it is shown to people and to models as it is.
"""

from __future__ import annotations

from collections.abc import Sequence


class PgdocsError(Exception):
    """Base of all errors below: catch this one to show its text and go on."""


class NoPages(PgdocsError):
    """There is nothing to search in: `folder` holds no page."""

    def __init__(self, folder: object, cure: str = "run ./setup.sh or python scrape_docs.py") -> None:
        super().__init__(f"No pages in {folder}: {cure}.")
        self.folder = folder


class PageNotFound(PgdocsError, LookupError):
    """No page or section `name`; `near` holds up to five names that are spelled like it."""

    def __init__(self, name: str, near: Sequence[str] = (), what: str = "page") -> None:
        hint = f"did you mean {', '.join(near)}?" if near else "search_docs finds pages by their content."
        super().__init__(f"There is no {what} {name!r}: {hint}")
        self.name, self.near = name, tuple(near)


class UnknownSource(PgdocsError, ValueError):
    """`name` is not a source of this index; `known` are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"Unknown source {name!r}: use one of {', '.join(known)} or all.")
        self.name, self.known = name, tuple(known)


class BadQuery(PgdocsError, ValueError):
    """The query is empty or too long, or another argument is outside its range."""


class ScrapeError(PgdocsError):
    """A source can't be fetched at all (unreachable, not a manual, forbidden)."""


class BuildError(PgdocsError):
    """The index could not be built; the pages are as they were."""
