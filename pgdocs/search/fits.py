"""Whether what a cache file holds is an index: that its parts are there, of their types, and fit one another.

A file with the right check sum may still be wrong: another program's, half of a new version's, a crafted one. Whoever
searches an index that has passed here meets no error for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from pgdocs.search.places import KINDS

FILE = (int, int, str)
PAGE = (str,) * 7
SYMBOL = (str, str, tuple, str, str, str, str, str, tuple, str, str, tuple, bool)
"""The types of a file's fingerprint, of a page's row and of a symbol's, in their order."""


def fits(data: Mapping[str, Any]) -> None:
    """Raises an error of any kind where `data` is not a whole index. Takes a few milliseconds."""
    pages, passage, phrase, fields = data["page"], data["passage"], data["phrase"], data["fields"]
    _rows(list(data["files"].values()), FILE)
    _rows(pages, PAGE)
    _all(data["files"], str)
    _need({page[-1] for page in pages} <= data["files"].keys(), "pages of known files")
    _all(data["elsewhere"], str)
    n, p, q = len(pages), len(passage["page"]), len(phrase["page"])
    starts = _array(passage["page"], "int32", p, 0, n - 1)
    _need(np.array_equal(np.unique(starts), np.arange(n)), "every page has passages")
    _need(_rising(starts) and _rising(_array(phrase["page"], "int32", q, 0, n - 1)), "pages in order")
    _array(phrase["passage"], "int32", q, -1, p - 1)
    for name in ("anchor", "section"):
        _all(passage[name], str, p)
    ends = passage["text"].ends
    _need(passage["text"].joined.dtype == "uint8", "texts")
    _need(len(ends) == p and _rising(_array(ends, "int32", p, 0, len(passage["text"].joined))), "texts")
    terms = len(data["terms"].split("\n")) if data["terms"] else 0
    _array(data["df"], "int32", terms, 0, n)
    _array(data["pairs"], "uint32", len(data["pairs"]))
    rows = {"body": p, "head": p, "phrase": q, "pair": q, "page": n}
    for name, size in rows.items():
        _postings(fields[name], size, len(data["pairs"]) if name == "pair" else terms)
    _weights(data["cosine"], len(fields["body"]["docs"]))
    _need(data["counts"].keys() == {"body", "head", "phrase"}, "counts")
    for name, counts in data["counts"].items():
        _need(counts.dtype in ("uint8", "uint16", "int32"), "counts")
        _array(counts, counts.dtype.name, len(fields[name]["docs"]), 1)
    _rows(data["symbols"], SYMBOL)
    symbols = list(zip(*data["symbols"], strict=True)) or [()] * len(SYMBOL)
    _need(set(symbols[1]) <= set(KINDS) and set(symbols[4]) <= {page[0] for page in pages}, "symbols")
    for column in (symbols[2], symbols[8], symbols[11]):
        _all(chain.from_iterable(column), str)


def _need(true: object, what: str) -> None:
    if not true:
        raise ValueError(f"no whole index ({what})")


def _all(values: Iterable[object], kind: type, size: int | None = None) -> None:
    values = list(values)
    _need(set(map(type, values)) <= {kind} and size in (None, len(values)), f"{kind.__name__} expected")


def _rows(rows: Sequence[tuple[object, ...]], kinds: Sequence[type]) -> None:
    for column, kind in zip(zip(*rows, strict=True), kinds, strict=True) if rows else ():
        _all(column, kind)


def _array(found: Any, kind: str, size: int, least: int = 0, most: int | None = None) -> Any:
    _need(found.dtype == kind and len(found) == size, f"{size} of {kind}")
    _need(not size or (found.min() >= least and (most is None or found.max() <= most)), "numbers out of range")
    return found


def _postings(field: Mapping[str, Any], size: int, terms: int) -> None:
    docs, indptr = field["docs"], field["indptr"]
    _array(docs, "uint16" if size <= 1 << 16 else "int32", len(docs), 0, size - 1)
    _need(field["size"] == size and _rising(_array(indptr, "int32", terms + 1, 0)), "postings")
    _need(indptr[0] == 0 and indptr[-1] == len(docs), "postings")
    _weights(field["values"], len(docs))


def _weights(values: Any, size: int) -> None:
    """float16, and every one a number: seen by its bits, which is faster than asking each."""
    _need(values.dtype == "float16" and len(values) == size, f"{size} weights")
    _need(not size or (values.view(np.uint16) & 0x7FFF).max() < 0x7C00, "weights")


def _rising(numbers: Any) -> bool:
    return bool((numbers[1:] >= numbers[:-1]).all())
