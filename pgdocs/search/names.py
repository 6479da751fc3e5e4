"""What people type for a name → its definitions.

table = SymbolTable(symbols)
table.find("pg_catalog.now()")    table.find("json ->> text")    table.find("23505")
table.near("st_intersect")        → ["ST_Intersects", …]
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rapidfuzz import fuzz, process

from pgdocs.search.signatures import OPERATOR, compact
from pgdocs.search.symbols import Symbol

ORDER = (
    "function aggregate window procedure syntax operator command type setting catalog errcode psql program option"
    " jsonpath plpgsql c pl pgbench topic parameter column"
).split()
"""Kinds as they follow one another in an answer: what a query may use before what only a program may."""

NEAR = 72.0
"""Least similarity (0..100) of a near name: two letters of seven may be wrong."""

_RANK = {kind: rank for rank, kind in enumerate(ORDER)}


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
            known = self._by_key.get(_key(name))
            if known:
                return _ordered(name, typed, known)
        return []

    def near(self, typed: str, limit: int = 5) -> list[str]:
        """Names that are spelled nearly like this, nearest first."""
        wanted = _key(readings(typed)[0]) if readings(typed) else ""
        if len(wanted) < 3:  # of two letters, every other name is near
            return []
        found = process.extract(wanted, self._names.keys(), scorer=fuzz.ratio, limit=limit, score_cutoff=NEAR)
        return [self._names[key] for key, *_ in found]


def readings(typed: str) -> list[str]:
    """The names that a text may stand for, the most literal first."""
    text = " ".join(typed.split()).strip("`'\"")
    text = text if text.startswith("\\") else text.rstrip("; ")
    if not text:
        return []
    found = [text]
    operator = re.fullmatch(rf"(?:[\w\[\]. ]+?\s)?({OPERATOR})(?:\s[\w\[\]. ]+)?", text)
    if operator and " " in text:
        found.append(operator[1])
    call = re.match(r"([A-Za-z_][\w.]*)\s*\(", text)
    if call:
        found.append(call[1])
    found.append(re.sub(r"\s*\(.*?\)", "", text))
    found.append(re.sub(r"\[[^\]]*\]", "", text).strip())
    if text.startswith("\\"):
        found.append(re.match(r"\\[A-Za-z_]*|\\\S", text)[0])  # type: ignore[index]
        found.append(re.sub(r"[Sx+]+$", "", text.split(" ")[0]))
    if text.startswith("-"):
        found.append(re.split(r"[ =]", text)[0])
    found += [name.rsplit(".", 1)[1] for name in found if re.fullmatch(r"[\w]+(?:\.\w+)+", name)]
    return [name for name in dict.fromkeys(found) if name]


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _ordered(name: str, typed: str, known: list[Symbol]) -> list[Symbol]:
    """By the kind of thing; what differs by case or has other operands gives way to what is as typed."""
    spelled = [s for s in known if name in (s.name, *s.aliases)]
    if name.startswith(("\\", "-")):
        known = spelled or known
    known = [s for s in known if not s.weak] or known
    operands = compact(typed)
    if operands != compact(name):
        exact = [s for s in known if any(compact(one).startswith(operands) for one in s.signatures)]
        return exact + [s for s in known if s not in exact]
    sources: dict[str, int] = {}
    for s in known:
        sources.setdefault(s.doc_name.split("__")[0], len(sources))
    return sorted(
        known, key=lambda s: (sources[s.doc_name.split("__")[0]], _RANK.get(s.kind, len(ORDER)), s not in spelled)
    )
