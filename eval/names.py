"""Every setting, command, catalog, function and operator by its name, and with one letter wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pgdocs.search.index import DocumentSearchIndex
from pgdocs.search.symbols import Symbol

GROUPS = {
    "settings": ("setting",),
    "commands": ("command",),
    "catalogs and views": ("catalog",),
    "functions": ("function", "aggregate", "window"),
    "operators": ("operator",),
}
LONG = 6
"""Typos are made in names of more letters than this."""

EVERYDAY = frozenset(
    (
        "views",
        "collations",
        "tables",
        "columns",
        "triggers",
        "domains",
        "sequences",
        "routines",
        "parameters",
        "schemata",
        "attributes",
        "transforms",
    )
)
"""Names of views that are everyday words: their guide pages are first."""


def name_rows(index: DocumentSearchIndex) -> list[str]:
    """A table: the share of each group's names whose defining page is first; of misspelled ones, in the first 3."""
    rows = ["| names | n | defining page first | n (typo) | in the first 3 |", "|---|---|---|---|---|"]
    rng = random.Random(18)
    missed: list[str] = []
    for group, kinds in GROUPS.items():
        pages: dict[str, set[str]] = {}
        for symbol in _strong(index, kinds):
            pages.setdefault(symbol.name, set()).add(symbol.doc_name)
        names = [name for name in pages if name not in EVERYDAY]
        wrong = [name for name in names if not _found(index, name, pages[name], 1)]
        typos = [(name, _misspelled(name, rng)) for name in names if sum(map(str.isalpha, name)) > LONG]
        bad = [f"{typo} ({name})" for name, typo in typos if not _found(index, typo, pages[name], 3)]
        missed += [f"{group}: {', '.join(wrong[:20])}"] * bool(wrong) + [
            f"{group}, typo: {', '.join(bad[:20])}"
        ] * bool(bad)
        rows.append(
            f"| {group} | {len(names)} | {1 - len(wrong) / max(len(names), 1):.3f} "
            f"| {len(typos)} | {1 - len(bad) / max(len(typos), 1):.3f} |"
        )
    return [*rows, "", *(f"- {line}" for line in missed)]


def _strong(index: DocumentSearchIndex, kinds: tuple[str, ...]) -> Iterator[Symbol]:
    """The definitions of these kinds; what is only spoken of counts where there is no other."""
    known = [s for s in index.ranker.mentions.symbols if s.kind in kinds]
    defined = {s.name for s in known if not s.weak}
    return (s for s in known if not s.weak or s.name not in defined)


def _found(index: DocumentSearchIndex, query: str, pages: set[str], first: int) -> bool:
    return any(result.doc_name in pages for result in index.search(query, first))


def _misspelled(name: str, rng: random.Random) -> str:
    """One letter left out, doubled, changed, or two swapped, somewhere after the first."""
    at = rng.choice([n for n in range(1, len(name) - 1) if name[n].isalpha()])
    letter = rng.choice("abcdefghijklmnopqrstuvwxyz")
    return rng.choice(
        (
            name[:at] + name[at + 1 :],
            name[:at] + name[at] + name[at:],
            name[:at] + letter + name[at + 1 :],
            name[:at] + name[at + 1] + name[at] + name[at + 2 :],
        )
    )
