"""A query → the names in it that a manual defines: the whole query, a part of it, or one that is nearly right."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pgdocs.search.counterparts import counterparts
from pgdocs.search.names import SymbolTable
from pgdocs.search.symbols import Symbol
from pgdocs.search.tokens import squash

WHOLE, PART, SPOKEN, NEAR = "whole", "part", "spoken", "near"
"""How a query names a symbol: it is the name; an identifier or operator in it; plain words in it; a misspelling."""

_ASIDE = re.compile(
    r"^(?:the|what is|what does|how does|docs? for|syntax of|signature of)\s+"
    r"|\s+(?:functions?|operators?|settings?|parameters?|guc|commands?|statements?|catalogs?|views?|tables?|types?"
    r"|options?|clause|syntax|docs?|documentation|reference|signature|arguments?|returns?"
    r"|do|mean|in postgres(?:ql)?|in postgis)$",
    re.IGNORECASE,
)
"""Words around a name that say only what it is."""

_WORD = re.compile(r"\\[A-Za-z!?]+|--?[A-Za-z][\w-]+|[A-Za-z_][\w$]*(?:\.[\w$]+)*(?:\(\))?")
_OPERATOR = re.compile(r"(?<![\w+\-*/<>=~!@#%^&|?`])[+\-*/<>=~!@#%^&|?]{2,7}(?![\w+\-*/<>=~!@#%^&|?])")
_IDENTIFIER = re.compile(r".*(?:_|[a-z][A-Z]|[A-Z]{2}[a-z]{2}|\w\.\w|\d[a-z]|\(\)$).*|\\.+|--.+")
_SHOUTED = re.compile(r"(?<![A-Z] )\b[A-Z]{4,}\b(?! [A-Z])")
"""A keyword on its own: of several in a row (FOR UPDATE SKIP LOCKED) none is named alone."""

_EVERYDAY = re.compile(r"[a-z]+|[A-Z][a-z]+")

ALWAYS = frozenset(("function", "aggregate", "window", "command", "setting", "program", "psql", "operator"))
"""Kinds whose name is meant even where it is an everyday word (count, length, vacuum, port)."""

NEVER = frozenset(("parameter", "option", "column", "topic"))
"""Kinds of little things: their name wins where the query is just that, and is no everyday word."""

SPEAKABLE = frozenset(("command", "program", "syntax", "type"))
"""Kinds whose names of several words are names in lower case too (create index, double precision)."""

LEAST_NEAR = 6
"""Letters from which a misspelled name is recognised: short names are all near one another."""

SHORT = 4
"""Words of a query that may be a misspelled name as a whole (ALTER EVEN TRIGGER)."""


@dataclass(frozen=True)
class Mention:
    """Symbols that share a name, and how the query names them."""

    how: str
    symbols: tuple[Symbol, ...]

    @property
    def pages(self) -> dict[str, set[str]]:
        """The pages that define it, each with the anchors where."""
        found: dict[str, set[str]] = {}
        for symbol in self.symbols:
            found.setdefault(symbol.doc_name, set()).add(symbol.anchor)
        return found


class Mentions:
    """Finds the names of one index in queries. What `is_word` (a word that the pages hold) is no misspelling."""

    def __init__(self, symbols: Iterable[Symbol], is_word: Callable[[str], bool]) -> None:
        self.symbols = known = list(symbols)
        self._is_word = is_word
        self.table = SymbolTable(known)
        worth = [s for s in known if s.kind not in NEVER]
        self._squashed: dict[str, str] = {}
        for symbol in worth:
            key = squash(symbol.name)
            if len(key) > 2:
                self._squashed.setdefault(key, symbol.name)
        self._near = sorted(key for key in self._squashed if len(key) >= LEAST_NEAR)
        self._phrases = {s.name.casefold() for s in worth if " " in s.name}
        self._spoken = {s.name.casefold() for s in worth if " " in s.name and s.kind in SPEAKABLE}

    def find(self, query: str, ours: Iterable[str] = ()) -> list[Mention]:
        """The names in `query`, the whole query's first; `ours` stand for other products' names in it."""
        texts = list(dict.fromkeys(text for text in (" ".join(query.split()).strip("`'\""), bare(query)) if text))
        for text in texts:
            if whole := self._whole(text):
                return [Mention(WHOLE, whole)]
        found: dict[tuple[Symbol, ...], str] = {}
        words = [match[0] for match in _WORD.finditer(query)]
        for name in self._multiword(words):
            if symbols := self._defining(name):
                found.setdefault(symbols, PART if name.isupper() else SPOKEN)
        for match in _SHOUTED.finditer(query):
            if symbols := self._defining(match[0]):
                found.setdefault(symbols, SPOKEN)
        for word in words:
            if _IDENTIFIER.fullmatch(word) and (symbols := self._defining(word)):
                found.setdefault(symbols, PART)
        for match in _OPERATOR.finditer(query):
            if symbols := self._defining(match[0]):
                found.setdefault(symbols, PART)
        for name in ours:
            if symbols := self._defining(name):
                found.setdefault(symbols, SPOKEN)
        short = [text for text in texts if len(text.split()) <= SHORT and not all(map(self._is_word, text.split()))]
        for word in short or [w for w in words if _IDENTIFIER.fullmatch(w)]:
            for symbols in self._misspelled(word):
                found.setdefault(symbols, NEAR)
        return [Mention(how, symbols) for symbols, how in found.items()]

    def counterparts(self, query: str) -> list[str]:
        """Our names for what other products' names in the query do; a name that is defined here is none of theirs."""
        return [
            name
            for theirs, ours in counterparts(query)
            if not self.table.find(theirs)
            for name in ours
            if self.table.find(name)
        ]

    def _defining(self, name: str) -> tuple[Symbol, ...]:
        return tuple(s for s in self.table.find(name) if s.kind not in NEVER)

    def _whole(self, text: str) -> tuple[Symbol, ...]:
        symbols = self.table.find(text) if len(text) < 100 else []
        if len({s.doc_name for s in symbols}) > 1 and not any(
            _same(text, name) for s in symbols for name in (s.name, *s.aliases)
        ):
            return ()  # an operator among other words, and several pages define it: the words decide
        if _EVERYDAY.fullmatch(text):
            symbols = [s for s in symbols if s.kind in ALWAYS]
        kinds = [s.kind for s in symbols]
        kind = "command" if "command" in kinds else kinds[0] if kinds else ""
        return tuple(s for s in symbols if s.kind == kind)

    def _multiword(self, words: list[str]) -> Iterator[str]:
        """The longest names of several words (CREATE INDEX, double precision) that stand in the query."""
        at = 0
        while at < len(words) - 1:
            for size in (4, 3, 2):
                name = " ".join(words[at : at + size])
                known = self._phrases if name.isupper() else self._spoken
                if at + size <= len(words) and name.casefold() in known:
                    yield name
                    at += size - 1
                    break
            at += 1

    def _misspelled(self, word: str) -> Iterator[tuple[Symbol, ...]]:
        key = squash(word)
        if key in self._squashed:
            if not _EVERYDAY.fullmatch(word) and (symbols := self._defining(self._squashed[key])):
                yield symbols
        elif len(key) >= LEAST_NEAR and not self._is_word(word):
            from rapidfuzz import process  # not before a name is misspelt
            from rapidfuzz.distance import OSA

            most, found = 1 if len(key) < 11 else 2, list[tuple[Symbol, ...]]()
            for near, distance, _ in process.extract(key, self._near, scorer=OSA.distance, limit=3, score_cutoff=most):
                if distance <= most and (symbols := self._defining(self._squashed[near])):
                    found.append(symbols)
            if not found:
                at = bisect_left(self._near, key)
                found = [self._defining(self._squashed[k]) for k in self._near[at : at + 3] if k.startswith(key)]
            yield from filter(None, found)


def _same(text: str, name: str) -> bool:
    return text.casefold().removesuffix("()") == name.casefold()


def bare(query: str) -> str:
    """The query without what may stand around a name: quotes, a question mark, `the … function`."""
    text = re.sub(r"(?<=\w)[?;]+$", "", query)
    for _ in range(3):
        shorter = _ASIDE.sub("", text.strip("`'\" ")).strip()
        if shorter == text or not shorter:
            break
        text = shorter
    return text
