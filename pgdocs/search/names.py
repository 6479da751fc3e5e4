"""What people type for a name → its definitions.

table = SymbolTable(symbols)
table.find("pg_catalog.now()")    table.find("json ->> text")    table.find("23505")
table.near("st_intersect")        → ["ST_Intersects", …]
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pgdocs.pages import split_doc_name
from pgdocs.search.places import KINDS
from pgdocs.search.signatures import OPERATOR, compact
from pgdocs.search.symbols import Symbol

NEAR = 72.0
"""Least similarity (0..100) of a near name: two letters of seven may be wrong."""

_OPERATION = re.compile(rf"([\w\[\]. ]*?)\s*({OPERATOR})\s*([\w\[\]. ]*)")
_RANK = {kind: rank for rank, kind in enumerate(KINDS)}


class SymbolTable:
    """All symbols by name. The order of `symbols` is kept between equals: pass the sources in their order."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._by_key: dict[str, list[Symbol]] = {}
        self._names: dict[str, str] = {}
        for symbol in symbols:
            for name in (symbol.name, *symbol.aliases):
                known = self._by_key.setdefault(_key(name), [])
                if symbol not in known:
                    known.append(symbol)
            if symbol.kind not in ("column", "option"):
                self._names.setdefault(_key(symbol.name), symbol.name)

    @property
    def names(self) -> list[str]:
        """The names as documented, sorted, without columns and options: for completion."""
        return sorted(self._names.values(), key=str.casefold)

    def find(self, typed: str) -> list[Symbol]:
        """All definitions of what was typed, the likeliest first; [] where there are none."""
        for name in readings(typed):
            known = self._by_key.get(_key(name), [])
            called = [other for s in known if s.kind == "type" for other in self._by_key[_key(s.name)]]
            known = list(dict.fromkeys([*known, *(other for other in called if other.kind == "type")]))
            if known:
                return _ordered(name, typed, known)
        return []

    def near(self, typed: str, limit: int = 5) -> list[str]:
        """Names that are spelled nearly like this, nearest first."""
        wanted = _key(next(iter(readings(typed)), ""))
        if len(wanted) < 3:  # of two letters, every other name is near
            return []
        from rapidfuzz import fuzz, process  # not before a name is misspelt

        found = process.extract(wanted, self._names.keys(), scorer=fuzz.ratio, limit=limit, score_cutoff=NEAR)
        return [self._names[key] for key, *_ in found]


def readings(typed: str) -> list[str]:
    """The names that a text may stand for, the most literal first."""
    text = " ".join(typed.split()).strip(" `'\"")
    text = text if text.startswith("\\") else text.rstrip(" ;`'\"")
    found = [text]
    operation = _OPERATION.fullmatch(text)
    if operation and (operation[1] or operation[3]) and not re.fullmatch(r"\w+-\w+", text):  # work-mem is a slip
        found.append(operation[2])
    if called := re.match(r"([A-Za-z_][\w.]*)\s*\(", text):
        found.append(called[1])
    found.append(re.sub(r"\s*\(.*?\)", "", text))  # varchar(255)
    found.append(re.sub(r"\[[^\]]*\]", "", text))  # int[]
    if command := re.match(r"\\(?:[A-Za-z_]+|\S)", text):
        found += [command[0], re.sub(r"[Sx+]+$", "", command[0])]
    if "-" in text:
        found.append(re.sub(r"(--[\w-]+)=.*", r"\1", text))
    found += [name.rsplit(".", 1)[1] for name in found if re.fullmatch(r"\w+(?:\.\w+)+", name)]
    return [name for name in dict.fromkeys(found) if name]


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _ordered(name: str, typed: str, known: list[Symbol]) -> list[Symbol]:
    """Sources in their order, then kinds, core before extensions; what is spelled as typed goes before its twins."""
    spelled = [s for s in known if name in (s.name, *s.aliases)]
    if name.startswith("\\") or re.match(r"--?\w", name):
        known = spelled or known
    known = [s for s in known if not s.weak] or known
    sources: dict[str, int] = {}
    for s in known:
        sources.setdefault(split_doc_name(s.doc_name)[0], len(sources))

    def rank(s: Symbol) -> tuple[int, int, bool, bool, int, bool]:
        source, slug = split_doc_name(s.doc_name)
        namesake = _key(slug) != _key(name)  # ST_Union's own page before RT_ST_Union, which defines it for rasters
        depth = -len(s.path) if s.kind == "type" else 0  # a type's own page before the list of all types
        return sources[source], _RANK[s.kind], bool(s.extension), namesake, depth, s not in spelled

    return _with_operands(typed, name, sorted(known, key=rank))


def _with_operands(typed: str, name: str, known: list[Symbol]) -> list[Symbol]:
    """`json ->> text` asks for one form of an operator: that one first."""
    wanted = compact(typed)
    if wanted == compact(name) or not re.fullmatch(OPERATOR, name):
        return known
    first: list[Symbol] = []
    for s in known:
        exact = [one for one in s.signatures if compact(one).startswith(wanted + "→")]
        if exact:
            first.append(replace(s, signatures=tuple(dict.fromkeys([*exact, *s.signatures]))))
    return first or known
