"""Text → tokens: identifiers whole and in parts, operators, stemmed words. Nothing is ever a syntax error.

    >>> tokens("What does ST_AsMVTGeom(geom) do to jsonb ->> keys?")
    ['st_asmvtgeom', 'st', 'asmvtgeom', 'mvt', 'geom', 'geom', 'jsonb', '->>', 'key']

The same function reads pages, phrases and queries, so that both sides of a match agree; `strip_markdown`
takes a page's own marks away first.
"""

from __future__ import annotations

import re
import threading
import zlib
from itertools import pairwise

from snowballstemmer.english_stemmer import EnglishStemmer  # the pure one: the same stems everywhere

STOP_WORDS = frozenset(
    "a about also am an and are as at be been but by can cannot could did do does doing done for from get gets getting "
    "got had has have how i i'm if in into is isn it its just me my of on or our please should so some such than that "
    "the their them then there these they this those to too use used using uses want was way we were what when where "
    "which while who why will with would you your".split()
)
"""Words that say nothing about the subject. `not`, `only`, `between`, `over`, `without`, `all` … are SQL too and cheap
to keep: where they are common they weigh little."""

_OPERATOR_CHARS = r"+\-*/<>=~!@#%^&|?"
_TOKEN = re.compile(
    # a word: letters, digits, _ and $, joined by single dots (pg_catalog.pg_class, 9.4) or an apostrophe
    r"(?P<word>\w[\w$]*(?:[.'’](?=\w)[\w$]+)*)"
    rf"|(?P<operator>[{_OPERATOR_CHARS}]+)"
)
_ALONE = frozenset("~#^@?|&%!")
"""Operators of one character that are no punctuation: tokens only where they stand between blanks or quotes."""

_CAMEL = re.compile(r"^[A-Z]{2}(?=[a-z]{2})|\d+[A-Z](?![a-z])|[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
"""The parts of PQgetResult (a prefix of two capitals), ST_3DDistance, ST_AsMVTGeom."""
_MARKS = re.compile(
    r"\{#[^\s{}]+\}"  # anchors
    r"|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"  # link targets
    r"|^\s*(?:#{1,6}\s|>\s?|[-*+]\s|```\S*|~~~\S*)"  # heading, quotation, item, fence
    r"|(?:^|(?<=\s))\|(?=\s|$)"  # bars of a table
    r"|^\|?[-:| ]{3,}\|?$"  # rules
    r"|\*\*",
    re.MULTILINE,
)

_BRITISH = re.compile(
    r"(?<=[a-z]{2})(?:(tre)(?=s?$)|(our)(?=s?$|ed$|ing$|ite|al|hood)|(is)(?=e[sd]?$|ing$|ations?$)|(ys)(?=e[sd]?$|ing$))"
)
_AMERICAN = ("", "ter", "or", "iz", "yz")
"""metre, neighbour, normalise, analyse: pages and questions spell either way. A word that is none (hour, raise) changes
on both sides alike."""

_stems: dict[str, str] = {}
_stemmer = EnglishStemmer()
_stemming = threading.Lock()  # the stemmer keeps the word in itself


def tokens(text: str) -> list[str]:
    """All tokens of `text` in order, lower-cased, without stop words."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "word":
            _add_word(match[0], found)
        elif _is_operator(text, match):
            found.append(match[0])
    return found


def pairs(found: list[str]) -> list[int]:
    """A number for each two neighbouring tokens, in order: `polygon to line` is not `line to polygon`.

    CRC-32: the same on every machine, and a hundred thousand numbers take a fortieth of the memory of their strings.
    """
    return [zlib.crc32(f"{a} {b}".encode()) for a, b in pairwise(found) if a != b]


def strip_markdown(text: str) -> str:
    """`text` without markdown's marks, so that bars, rules and stars are not taken for operators."""
    return _MARKS.sub(" ", text)


def stem(word: str) -> str:
    """The English stem of a lower-case word, by Snowball."""
    found = _stems.get(word)
    if found is None:
        american = _BRITISH.sub(lambda match: _AMERICAN[match.lastindex or 0], word) if len(word) > 4 else word
        with _stemming:
            found = _stems[word] = str(_stemmer.stemWord(american))
    return found


def squash(name: str) -> str:
    """A name without case and separators: ST_Force_2D, st_force2d and `st force 2d` are one."""
    return re.sub(r"[\W_]+", "", name).lower()


def _add_word(word: str, found: list[str]) -> None:
    lower = word.lower()
    if lower in STOP_WORDS:
        return
    if "'" in lower or "’" in lower:  # user's, don't
        tail = lower.replace("’", "'")
        while len(tail) > 2 and "'" in tail:  # a loop: a thousand of them must not take the stack
            head, _, tail = tail.partition("'")
            _add_word(head, found)
        if len(tail) > 2:
            _add_word(tail, found)
    elif "_" in lower or "." in lower:
        if lower.strip("_"):
            found.append(lower)
            parts = [p for p in re.split(r"[._$]+", word) if p]
            if len(parts) > 2 and "." in lower:
                found += [dotted for dotted in lower.split(".") if "_" in dotted]
            if not lower.replace(".", "").isdigit():
                for part in parts:
                    _add_parts(part, found)
    else:
        _add_parts(word, found)


def _add_parts(word: str, found: list[str]) -> None:
    lower = word.lower()
    if word.endswith("s") and word[:-1].isupper():  # CTEs
        word, lower = word[:-1], lower[:-1]
    plain = word.islower() or word.istitle() or word.isupper()
    camel = () if plain else _CAMEL.findall(word)
    if len(camel) > 1:
        found.append(lower)
        found += [stem(part) for part in map(str.lower, camel) if part not in STOP_WORDS]
    elif lower not in STOP_WORDS:
        found.append(stem(lower))


def _is_operator(text: str, match: re.Match[str]) -> bool:
    operator = match[0]
    if len(operator) > 1:
        return (len(operator) < 8 and len(set(operator)) > 1) or operator in ("||", "&&", "@@", "<<", ">>", "~~", "!!")
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return operator in _ALONE and before in _EDGES and after in _EDGES


_EDGES = frozenset({"", " ", "\n", "\t", "`", "'", '"', "(", ")", ","})
