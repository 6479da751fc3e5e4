"""Other products' names → the names that do it here: `group_concat` → string_agg. A text file, as the phrases are."""

from __future__ import annotations

import re
from functools import cache as once

from pgdocs.search.cache import COUNTERPARTS, PHRASES_DIR

FILE = PHRASES_DIR / COUNTERPARTS
"""Lines of `their name<TAB>our name, another`. Theirs ends in () where it is an everyday word (`stuff()`): then it is
a name only where it is called, or alone."""


def counterparts(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """(their name, the names here) of each other product's name in a text, in order."""
    known, pattern = _known()
    alone = text.strip(" `'\"?;()").lower()
    if alone in known:
        return [(alone, known[alone])]
    found = (" ".join(match[0].lower().split()) for match in pattern.finditer(text))
    return [(name, known[name]) for name in dict.fromkeys(found)]


@once
def _known() -> tuple[dict[str, tuple[str, ...]], re.Pattern[str]]:
    lines = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())
    rows = sorted((row for row in lines if len(row) == 2 and all(row)), key=lambda row: -len(row[0]))
    called = "|".join(re.escape(name[:-2]) for name, _ in rows if name.endswith("()")) or "(?!)"
    whole = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name, _ in rows if not name.endswith("()")) or "(?!)"
    pattern = re.compile(rf"(?<![\w$.])(?:(?:{called})(?=\s*\()|(?:{whole})(?![\w$]))", re.IGNORECASE)
    return {name.removesuffix("()"): tuple(ours.split(", ")) for name, ours in rows}, pattern
