"""What a query says about where to look: a source or a version that it names, another product, news, lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pgdocs.search.traces import messages

_NEWS = re.compile(
    r"\b(?:what(?:'s|s| is| has)? (?:new|changed?)|new (?:features? )?in|news|changes? (?:in|since|from|between)"
    r"|changed (?:in|since|from|between)|release ?notes?|changelog|deprecated|removed (?:in|since|from)"
    r"|incompatib\w+|backward\w*[ -]compat\w+|breaking|(?:since|in|from) (?:which|what) (?:version|release)"
    r"|(?:which|what) (?:version|release)|renamed)\b",
    re.IGNORECASE,
)
_LISTS = re.compile(r"\b(?:lists? of|overview|index of|table of contents|all (?:the )?\w*functions|chapters)\b", re.I)
_COUNTERPART = re.compile(
    r"\b(?:equivalents?|counterparts?|alternatives?|like|instead|similar|same as|analog\w*|coming from|used to"
    r"|migrat\w+|port(?:ing|ed)?|convert\w*|from|replac\w+|vs|versus|compared?|(?:in|to|for) post(?:gres\w*|gis))\b",
    re.IGNORECASE,
)

_BEFORE = r"(?<![\w\"'`/.@-])"  # neither quoted nor part of a name
_VERSION = r"\s*v?(?P<version>\d+(?:\.\d+)*)\b"
_IN = r"(?:in|on|with|for|using|under|from)\s+"


@dataclass(frozen=True)
class Scope:
    """`text`: what to look for; `sources`: where (None: in all of them); `missing`: a sentence about the version that
    is asked for and not there. Does the query ask for changes (`news`), for a list, does it name another product
    (`elsewhere`), or ask for that one's counterpart?"""

    text: str = ""
    sources: frozenset[str] | None = None
    missing: str = ""
    news: bool = False
    lists: bool = False
    elsewhere: bool = False
    counterpart: bool = False


ANYWHERE = Scope()


class Scopes:
    """Finds what queries say about the sources of one index.

    `sources` are (name, label), as `pg`, `PostgreSQL 18`. `elsewhere` are other products' names: one in lower case is
    meant in any case, another as it is written; one with a backslash is a pattern.
    """

    def __init__(self, sources: Sequence[tuple[str, str]], elsewhere: Iterable[str] = ()) -> None:
        self._versions: dict[str, dict[str, str]] = {}
        for name, label in sources:
            self._versions.setdefault(_product(label), {})[name] = split_label(label)[1]
        words = {product: _word(product, names) for product, names in self._versions.items()}
        self._words = [re.compile(rf"{_BEFORE}(?:{word})\b", re.IGNORECASE) for word in words.values()]
        self._naming = {product: _naming(word) for product, word in words.items()}
        self._labels = {product: [label for _, label in sources if _product(label) == product] for product in words}
        self._scoping = {
            product: re.compile(rf"(?:^\s*|{_BEFORE}(?:in|on|for|using|under)\s+)(?:{word}){_VERSION}:?", re.IGNORECASE)
            for product, word in words.items()
        }
        self._elsewhere = _any_of(elsewhere)

    def of(self, query: str) -> Scope:
        """A source is named where the query says `in PostGIS` at the end of a clause, or a product with a version;
        where it speaks of two products, none is. Of a pasted stack trace only the messages count."""
        query = messages(query)
        named = {
            name
            for product, pattern in self._naming.items()
            for match in pattern.finditer(query)
            for name in self._meant(product, match["version"] or "")
        }
        is_of_two = sum(bool(word.search(query)) for word in self._words) > 1
        if is_of_two or len(named) == sum(map(len, self._versions.values())):
            named = set()
        news = bool(_NEWS.search(query))
        return Scope(
            text=query if is_of_two or news else self._without_version(query),
            sources=frozenset(named) or None,
            missing=self._missing(query),
            news=news,
            lists=bool(_LISTS.search(query)),
            elsewhere=bool(self._elsewhere.search(query)),
            counterpart=bool(_COUNTERPART.search(query)),
        )

    def _without_version(self, query: str) -> str:
        """`merge in PG 17` → `merge`: what scopes a query is not looked for in the pages."""
        rest = query
        for pattern in self._scoping.values():
            rest = pattern.sub(" ", rest)
        return rest.strip() or query

    def _missing(self, query: str) -> str:
        """`in PG 17` where there is only 18: another version's answer must not be taken for that one's."""
        for product, pattern in self._scoping.items():
            for match in pattern.finditer(query):
                known = [version for version in self._versions[product].values() if version]
                if known and not any(_same_version(match["version"], version) for version in known):
                    labels = self._labels[product]
                    asked = f"{split_label(labels[0])[0]} {match['version']}"
                    return f"{asked} is not indexed: what follows is of {', '.join(labels)}."
        return ""

    def _meant(self, product: str, version: str) -> list[str]:
        """The sources of a product that have this version; all of them where none has."""
        known = self._versions[product]
        return [name for name, v in known.items() if version and _same_version(version, v)] or list(known)


def split_label(label: str) -> tuple[str, str]:
    """`PostgreSQL 18` → (`PostgreSQL`, `18`)."""
    match = re.fullmatch(r"(.*?)\s*v?(\d+(?:\.\d+)*)?", label)
    return (match[1] or label, match[2] or "") if match else (label, "")


def _product(label: str) -> str:
    return split_label(label)[0].lower()


def _word(product: str, names: Iterable[str]) -> str:
    """The product by its name, by the start of it (postgres for postgresql), or by a source's short name: a pattern."""
    words = {product, *(re.sub(r"[-_.\d]+$", "", name).lower() for name in names)}
    if len(product) > 8:
        words.add(product[:8])
    return "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word)))


def _naming(word: str) -> re.Pattern[str]:
    end = r"(?=\s*(?:$|[?.,;:!)]|and\b|or\b|but\b))"
    return re.compile(rf"{_BEFORE}(?:{word}){_VERSION}|{_BEFORE}{_IN}(?:{word}){end}|^(?:{word})\s*:", re.IGNORECASE)


def _same_version(asked: str, known: str) -> bool:
    a, k = asked.split("."), known.split(".")
    return a[: len(k)] == k[: len(a)]


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    patterns = [(name, name if "\\" in name else re.escape(name)) for name in sorted(names, key=lambda n: (-len(n), n))]
    any_case = "|".join(pattern for name, pattern in patterns if name == name.lower()) or "(?!)"
    as_written = "|".join(pattern for name, pattern in patterns if name != name.lower()) or "(?!)"
    return re.compile(rf"(?<!\w)(?:(?i:{any_case})|{as_written})(?!\w)")
