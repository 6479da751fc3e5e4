"""What a page's place in its manual says about the names on it: plain data, and the look-up in it.

The only words of search/ that come from manuals; another manual may need more of them. All are looked for in a page's
path and title, and where none fits, the shape of the text decides alone.
"""

from __future__ import annotations

import re

from pgdocs.pages import PATH_SEPARATOR, Page

NO_NAMES = frozenset(("contents", "release"))
"""Kinds of pages that only speak of names: lists of links, release notes."""

PLACES = (
    ("Embedded SQL Commands", "embedded"),
    ("SQL Commands", "command"),
    ("pgbench", "pgbench"),
    ("Client Applications", "program"),
    ("Server Applications", "program"),
    ("Additional Supplied Programs", "program"),
    ("Environment Variables", "environment"),
    ("PL/pgSQL", "plpgsql"),
    ("PL/Perl", "pl"),
    ("PL/Python", "pl"),
    ("PL/Tcl", "pl"),
    ("Supplied Modules", "extension"),
    ("Client Interfaces", "c"),
    ("Server Programming", "c"),
    ("Internals", "c"),
    ("Data Types", "type"),
    ("Data types", "type"),
    ("Topology Types", "type"),
    ("Topology Domains", "type"),
    ("Standardizer Types", "type"),
    ("GUCs", "setting"),
    ("Aggregate Functions", "aggregate"),
    ("Window Functions", "window"),
)
"""Words in a page's path or title → what it defines; the first that fits."""

EXTENSIONS = (
    (r"Supplied Modules.*? › [A-Z]\.\d+\. (\S+) —", r"\1"),
    (r"SFCGAL", "postgis_sfcgal"),
    (r"Topo(?:logy|Geometry)", "postgis_topology"),
    (r"Raster\b", "postgis_raster"),
    (r"Tiger Geocoder", "postgis_tiger_geocoder"),
    (r"Address Standardizer", "address_standardizer"),
    (r"^PostGIS\b", "postgis"),
)
"""Words in a page's path and title → the extension that has what it defines; the first that fits."""

COLUMNS = {
    "error code": "errcode",
    "name": "type",
    "data type": "type",
    "type": "type",
    "operator": "operator",
    "predicate": "operator",
    "view name": "catalog",
    "catalog name": "catalog",
    "function": "function",
}
"""What a table lists, by the head of its first column. `Name` and `Type` count on pages about types only."""

KINDS = {
    "function": "function",
    "aggregate": "aggregate function",
    "window": "window function",
    "syntax": "SQL syntax",
    "operator": "operator",
    "command": "SQL command",
    "clause": "clause of a command",
    "type": "data type",
    "setting": "setting",
    "catalog": "system catalog or view",
    "errcode": "error code",
    "psql": "psql command",
    "program": "program",
    "option": "program option",
    "jsonpath": "jsonpath method",
    "plpgsql": "PL/pgSQL statement",
    "embedded": "embedded SQL command",
    "c": "C function",
    "pl": "procedural language function",
    "pgbench": "pgbench function or operator",
    "topic": "page",
    "parameter": "parameter",
    "column": "column",
}
"""Every kind of symbol in the words of an answer, in the order of an answer: what a query may use comes first."""


def place_of(page: Page) -> str:
    """What the page defines, a value of PLACES; "" where its place does not say."""
    where = PATH_SEPARATOR.join((*page.path, page.title))
    return next((what for words, what in PLACES if words in where), "")


def extension_of(page: Page) -> str:
    """The extension that the page is about, "" where it is none."""
    where = PATH_SEPARATOR.join((*page.path, page.title))
    return next((found.expand(name) for words, name in EXTENSIONS if (found := re.search(words, where))), "")
