"""The manuals, as plain data: another manual is one more entry in SOURCES and nothing else.

A page's name is the last part of its public URL, `sql-select.html`; what stands before it is the source's `base`.
Other versions of a manual are sources of their own, `pg17`, that `source_of` derives from the entry.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote, urljoin, urlsplit

from pgdocs.errors import ScrapeError

INDEX = "index.html"
"""The name of every manual's first page: its table of contents, from which all others are reached."""

LONGEST = 200
"""Characters of a page's name as its file spells it: with source and suffix it stays below a system's 255."""


@dataclass(frozen=True)
class Source:
    """One manual: where it is, which of its URLs are pages, and where its pages keep what they say."""

    name: str
    """The prefix of its files and what users call it: `pg`."""

    product: str
    """What `Path:` begins with, before the edition: `PostgreSQL`."""

    edition: str
    """Which edition is wanted from the web: `18`. Pages of two editions never stand side by side."""

    editions: tuple[str, ...]
    """The editions that may be asked for by name."""

    edition_parts: int
    """How many parts of a version make the edition: 1 (`18` of `18.6`) or 2 (`3.5` of `3.5.2`)."""

    url: str
    """The public URL that page names follow, with `{edition}` in it."""

    version: str
    """Regular expression that finds the version (group 1) in the title of the index page."""

    content: str
    """CSS selector of the element that holds a page's content."""

    allowed: str = r"[\w.-]+\.html?"
    """Regular expression of the page names that may be asked for."""

    aliases: tuple[str, ...] = ()
    """Prefixes below `base` under which the site has the same pages a second time: `en/`."""

    skip: tuple[str, ...] = ()
    """Regular expressions of names that are no pages of the chunked manual: the whole of it in one file, leaflets."""

    kinds: tuple[tuple[str, str], ...] = ()
    """(regular expression on the slug, kind of page): the first that matches from its beginning wins."""

    pinned: bool = False
    """Whether somebody asked for this very edition: then a copy of another one is not what was meant."""

    @property
    def family(self) -> str:
        """What all editions of the manual are called: `pg` of `pg17`."""
        return self.name.removesuffix(self.edition)

    @property
    def base(self) -> str:
        """The public URL of the edition's pages: `https://www.postgresql.org/docs/18/`."""
        return self.url.format(edition=self.edition)

    @property
    def index(self) -> str:
        """The public URL of the first page."""
        return self.base + INDEX

    @property
    def label(self) -> str:
        """Product and edition, the first step of every page's path: `PostgreSQL 18`."""
        return f"{self.product} {self.edition}"

    def of_version(self, version: str) -> Source:
        """This manual in the edition that `version` belongs to: `15.20` → PostgreSQL 15."""
        return replace(self, edition=".".join(version.split(".")[: self.edition_parts]))

    def pin(self, edition: str) -> Source:
        """This manual, under this name, in the edition that somebody asked for. Raises ScrapeError."""
        if edition not in self.editions:
            known = ", ".join(self.editions)
            why = "; of a version that is not released, the site forbids copies" if "devel" in edition else ""
            raise ScrapeError(f"{self.product} {edition} can't be had: choose from {known}{why}.")
        return replace(self, edition=edition, pinned=True)

    def accepts(self, version: str) -> bool:
        """Whether a copy of this version ("17.4") is what was asked for."""
        return not self.pinned or self.of_version(version).edition == self.edition

    def page_name(self, url: str, below: str = "") -> str | None:
        """The name of the page behind any spelling of its URL, None where it is no page of this edition.

        `url` may be relative to a page; `below` (`base` unless given) is the prefix that the pages have.
        """
        below = below or self.base
        try:
            parts, home = urlsplit(urljoin(below, url)), urlsplit(below)
        except ValueError:  # `http://[`: what a manual prints need not be a URL
            return None
        if parts.scheme not in ("http", "https") or parts.netloc.lower() != home.netloc.lower():
            return None
        path, prefix = unquote(parts.path), unquote(home.path)
        alias = next((alias for alias in self.aliases if path.startswith(prefix + alias)), "")
        name = re.sub(r"\.htm$", ".html", path.removeprefix(prefix + alias)) or INDEX
        inside = path.startswith(prefix) and re.fullmatch(self.allowed, name) and len(quote(name)) <= LONGEST
        return name if inside and not any(re.fullmatch(rule, name) for rule in self.skip) else None


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name="pg",
            product="PostgreSQL",
            edition="18",
            editions=("13", "14", "15", "16", "17", "18"),
            edition_parts=1,
            url="https://www.postgresql.org/docs/{edition}/",
            version=r"PostgreSQL (\d+(?:\.\d+)*)\S* Documentation",
            content="#docContent",
            kinds=(
                (r"index$|bookindex$", "contents"),
                (r"release", "release"),
                (r"tutorial", "tutorial"),
                (r"(catalog|view|infoschema|functions|datatype|runtime-config|ecpg-sql|spi)-", "reference"),
            ),
        ),
        Source(
            name="postgis",
            product="PostGIS",
            edition="3.5",
            editions=("3.3", "3.4", "3.5", "3.6"),
            edition_parts=2,
            url="https://postgis.net/docs/manual-{edition}/",
            version=r"PostGIS (\d+\.\d+(?:\.\d+)*)\S* Manual",
            content="body",
            aliases=("en/",),
            skip=(r"postgis(-\w+)?\.html", r"\w+_cheatsheet-\w+\.html"),
            kinds=(
                (r"index$|reference$|PostGIS_Special_Functions_Index$", "contents"),
                (r"release_notes$", "release"),
            ),
        ),
    )
}
"""By name, in the order in which they are fetched and shown."""


def source_of(name: str) -> Source:
    """The manual that is called `name`: `pg`, or `pg17` for one edition of it. Raises ScrapeError."""
    if name in SOURCES:
        return SOURCES[name]
    match = re.fullmatch(r"(.+?)(\d[\d.]*|devel)", name)
    if match and match[1] in SOURCES:
        return replace(SOURCES[match[1]].pin(match[2]), name=name)
    examples = ", ".join(f"{s.name}, {s.name}{s.editions[s.editions.index(s.edition) - 1]}" for s in SOURCES.values())
    raise ScrapeError(f"Unknown manual {name!r}: name one like {examples}.")
