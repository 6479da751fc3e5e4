"""Pages → the data of an index. The only code that imports scipy: a searching process never does.

    python -m pgdocs.search.build DOCS_DIR [CACHE_FILE ...]

writes the data to stdout (`cache.dumps`), for the process that started it, and ends when that one does. Pages that are
in one of the caches as they are in the folder are taken from there: only what changed is parsed.
"""

# ruff: noqa: E402 (the imports below stand where they do on purpose)
from __future__ import annotations

import os
import re
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, NamedTuple


def _end_with_parent() -> None:
    """End this process when the one that holds our stdin lets go of it, however that one ended."""
    while os.read(0, 1024):  # not by sys.stdin: a buffered reader in a thread is fatal to a process that ends by itself
        pass
    os._exit(1)


if __name__ == "__main__":  # before the imports that take a second
    threading.Thread(target=_end_with_parent, daemon=True).start()

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags, vstack

from pgdocs.errors import NoPages
from pgdocs.pages import PATH_SEPARATOR, Page, Section, read_page, split_anchors, split_blocks, split_sections, unlink
from pgdocs.search import cache
from pgdocs.search.symbols import extract
from pgdocs.search.tokens import pairs, strip_markdown, tokens

PASSAGE = 1400
"""Characters of a passage, about: long enough to hold an answer, short enough to rank on its own."""

COUNTED = ("body", "head", "phrase", "pair")

FIELDS = {"body": (1.2, 0.75), "head": (1.2, 0.5), "phrase": (0.5, 0.6)}
"""k1 and b of the fields that are one text each. A phrase says a word once, so that k1 is low."""

SHORT = 0.5
"""A passage shorter than this part of the mean is taken as that long: two lines that name the subject say little."""

PAGE_K1 = 2.0
PAGE_PARTS = {"phrases": (2.0, 0.2), "text": (0.5, 0.75), "head": (1.0, 0.5), "headings": (1.0, 0.5)}
"""The page field (BM25F): k1, and how much a word counts in each part of a page, with the part's own b. `head` is the
title and the slug, `headings` the words of all headings, each once."""


class _Part(NamedTuple):
    """What one page gives to an index, before anything is said of all pages. `phrases` are the passage (or -1) that
    each is for; `rows` is where the counts of its passages, and those of its phrases, begin in `_Counts`."""

    page: tuple[str, ...]
    passages: list[tuple[str, str, str]]
    phrases: list[int]
    symbols: list[tuple[Any, ...]]
    rows: tuple[int, int]


def build(
    docs_dir: Path, phrases_dir: Path = cache.PHRASES_DIR, before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The data of an index over the pages in `docs_dir`. What `before`, an index by this code, holds of pages that have
    not changed is taken from there: the result is the same. Raises NoPages."""
    files = cache.fingerprint(docs_dir, before["files"] if before else None)
    counts, kept = _Counts(before), _kept(before, files) if before else {}
    phrases = _phrases(phrases_dir)
    found = (kept.get(file) or _read(docs_dir, file, phrases, counts) for file in files)
    parts = sorted((part for part in found if part), key=lambda part: part.page[0])
    if not parts:
        raise NoPages(docs_dir)
    first = np.cumsum([0, *(len(part.passages) for part in parts)])
    of_phrases = [part.phrases for part in parts]
    return {
        "files": files,
        "code": cache.code_version(),
        "page": [part.page for part in parts],
        "passage": {
            "page": _numbered([part.passages for part in parts]),
            "anchor": [anchor for part in parts for anchor, _, _ in part.passages],
            "section": [section for part in parts for _, section, _ in part.passages],
            "text": cache.Texts.of(text for part in parts for *_, text in part.passages),
        },
        "phrase": {
            "page": _numbered(of_phrases),
            "passage": np.array(
                [p if p < 0 else p + a for own, a in zip(of_phrases, first.tolist(), strict=False) for p in own],
                dtype=np.int32,
            ),
        },
        "elsewhere": _elsewhere(),
        "symbols": [symbol for part in parts for symbol in part.symbols],
        **_fields(parts, counts),
    }


def _read(docs_dir: Path, file: str, phrases: _Phrases, counts: _Counts) -> _Part | None:
    try:
        page = read_page(docs_dir / file, docs_dir)
    except OSError:  # gone since the scan: the next check sees it
        return None
    row = (page.doc_name, page.title, page.anchor, page.url, PATH_SEPARATOR.join(page.path), page.kind, file)
    passages = list(split_passages(page))
    first: dict[str, int] = {}
    for number, (anchor, *_) in enumerate(passages):
        first.setdefault(anchor, number)
    own = phrases.get((phrase_source(page.source), page.slug), [])
    places = [first.get(anchor, -1) if anchor and anchor != page.anchor else -1 for anchor, _ in own]
    rows = counts.add(page, passages, [phrase for _, phrase in own])
    return _Part(row, passages, places, [astuple(symbol) for symbol in extract(page)], rows)


def _kept(before: Mapping[str, Any], files: cache.Files) -> dict[str, _Part]:
    """What `before` holds of the pages that are still the same, by their file."""
    pages, passage, phrase = before["page"], before["passage"], before["phrase"]
    names = Counter(row[0] for row in pages)  # files whose names differ by case alone can share one
    symbols: dict[str, list[tuple[Any, ...]]] = {}
    for symbol in before["symbols"]:
        symbols.setdefault(symbol[4], []).append(symbol)
    starts = [np.searchsorted(kind["page"], np.arange(len(pages) + 1)).tolist() for kind in (passage, phrase)]
    kept: dict[str, _Part] = {}
    for n, row in enumerate(pages):
        (a, b), (c, d) = ((start[n], start[n + 1]) for start in starts)
        file = row[-1]
        if file in files and files[file][2] == before["files"][file][2] and names[row[0]] == 1:
            passages = list(zip(*(passage[part][a:b] for part in ("anchor", "section", "text")), strict=True))
            places = [p if p < 0 else p - a for p in phrase["passage"][c:d].tolist()]
            kept[file] = _Part(row, passages, places, symbols.get(row[0], []), (a, c))
    return kept


def _numbered(groups: Sequence[Sequence[Any]]) -> Any:
    """For each member of each group the group's number."""
    return np.repeat(np.arange(len(groups), dtype=np.int32), [len(group) for group in groups])


# --- passages -----------------------------------------------------------------------------------------------


_CONTENTS = re.compile(r"(?:^\*\*Table of Contents\*\*\n+)?(?:^ *- \[[^\n]*\]\([^\s()]+\)(?:\n|\Z)){2,}", re.MULTILINE)


def split_passages(page: Page) -> Iterator[tuple[str, str, str]]:
    """(anchor, heading trail below the title, text) of each passage: a section, or a piece of a long one.

    Pieces end between blocks; a long table is cut between its rows, each piece with the header. A caption with an
    anchor begins a passage of its own. A section without an anchor can't be cited: where there is room it goes on in
    the passage before it, with its heading.
    """
    anchor, trail, text = page.anchor, "", ""
    sections = split_sections(page)
    if page.kind != "contents":  # elsewhere a table of contents only repeats the headings below it
        sections = [replace(section, text=_CONTENTS.sub("", section.text).strip("\n")) for section in sections]
    for section in sections:
        heading = f"{'#' * section.level} {section.title}"
        whole = f"{text}\n\n{heading}\n\n{section.text}" if section.trail else section.text
        if not section.anchor and section.trail and len(whole) <= PASSAGE:
            text = whole.strip()
            continue
        if text:
            yield anchor, trail, text
        trail = PATH_SEPARATOR.join((*section.trail[1:], section.title)) if section.trail else ""
        *before, (anchor, text) = _pieces(section)
        anchor = anchor or page.anchor
        for own, piece in before:
            yield own or page.anchor, trail, piece
    yield anchor, trail, text


def _pieces(section: Section) -> Iterator[tuple[str, str]]:
    anchor, piece = section.anchor, ""
    for block in (part for b in split_blocks(section.text) for part in _parts(b.kind, b.text)):
        own = split_anchors(block.split("\n", 1)[0])[1] if not re.match(r"\s*(?:[-*+]|\d+[.)])\s", block) else []
        if piece and (own or len(piece) + len(block) > PASSAGE):
            yield anchor, piece
            piece = ""
        anchor = own[0] if own else anchor
        piece = f"{piece}\n\n{block}" if piece else block
    yield anchor, piece


def _parts(kind: str, block: str) -> Iterator[str]:
    """A block, or the pieces of a long table."""
    if kind != "table" or len(block) <= PASSAGE:
        yield block
        return
    lines = block.split("\n")
    header = "\n".join(lines[:2])
    piece = header
    for row in lines[2:]:
        if len(piece) > len(header) and len(piece) + len(row) > PASSAGE:
            yield piece
            piece = header
        piece += "\n" + row
    yield piece


# --- phrases ------------------------------------------------------------------------------------------------


def read_phrases(phrases_dir: Path) -> Iterator[tuple[str, str, str, str]]:
    """(source, slug, anchor or "", phrase) of all phrase files."""
    for file in cache.phrase_files(phrases_dir):
        for line in file.read_text(encoding="utf-8").splitlines():
            slug, anchor, phrase = line.split("\t")
            yield file.stem, slug, anchor, phrase


_Phrases = dict[tuple[str, str], list[tuple[str, str]]]
"""(source, slug) → (anchor or "", phrase) of each phrase for that page."""


def _phrases(phrases_dir: Path) -> _Phrases:
    by_slug: _Phrases = {}
    for source, slug, anchor, phrase in read_phrases(phrases_dir):
        by_slug.setdefault((source, slug), []).append((anchor, phrase))
    return by_slug


def _elsewhere() -> list[str]:
    """The names of other products: a question about one of them is seldom for these pages."""
    text = (cache.PHRASES_DIR / cache.ELSEWHERE).read_text(encoding="utf-8")
    return [line.split("\t")[0] for line in text.splitlines()]


def phrase_source(source: str) -> str:
    """The name of the phrase file for a source: `pg17` and `pg` share one."""
    return re.sub(r"[-_.\d]+$", "", source)


# --- fields -------------------------------------------------------------------------------------------------


class _Counts:
    """How often each passage's text, each passage's heading and each phrase (rows) holds each term (columns), and which
    phrase holds which two terms side by side. Those of an index `before` come first; `add` appends a page's."""

    def __init__(self, before: Mapping[str, Any] | None) -> None:
        self.before = before
        self.terms: dict[str, int] = {}
        self.pairs: dict[int, int] = {}
        if before:
            terms = before["terms"].split("\n") if before["terms"] else []
            self.terms = {term: number for number, term in enumerate(terms)}
            self.pairs = {code: number for number, code in enumerate(before["pairs"].tolist())}
        self.added = {name: _Rows() for name in COUNTED}
        self.size = [before["fields"][name]["size"] if before else 0 for name in ("body", "phrase")]

    def add(self, page: Page, passages: Sequence[tuple[str, str, str]], phrases: Sequence[str]) -> tuple[int, int]:
        """Count a page; the rows where its passages and its phrases begin."""
        begin = (self.size[0] + self.added["body"].size, self.size[1] + self.added["phrase"].size)
        for _, section, text in passages:
            self.added["body"].add(tokens(strip_markdown(unlink(text))), self.terms)
            self.added["head"].add(tokens(f"{page.title} {section} {page.slug}"), self.terms)
        for phrase in phrases:
            found = tokens(phrase)
            self.added["phrase"].add(found, self.terms)
            self.added["pair"].add(set(pairs(found)), self.pairs)
        return begin

    def matrix(self, name: str, rows: Any) -> Any:
        """The counts in these rows, in this order."""
        columns = self.pairs if name == "pair" else self.terms
        added = self.added[name].matrix(len(columns))
        if not self.before:
            return added[rows]
        held = self.before["fields"][name]
        counts = np.ones(len(held["docs"])) if name == "pair" else self.before["counts"][name]
        known = csc_matrix(
            (counts.astype(np.float32), held["docs"].astype(np.int32), held["indptr"]),
            (held["size"], len(held["indptr"]) - 1),
        ).tocsr()
        known.resize(held["size"], len(columns))
        return vstack([known, added], format="csr")[rows]


class _Rows:
    """A matrix of counts while it is made, row by row."""

    def __init__(self) -> None:
        self.columns, self.counts, self.ends = array("i"), array("f"), array("i", [0])

    @property
    def size(self) -> int:
        return len(self.ends) - 1

    def add(self, found: Iterable[Any], numbers: dict[Any, int]) -> None:
        """A row: how often each of `found` is there. What has no column yet gets the next one."""
        counted = Counter(found)
        self.columns.extend([numbers.setdefault(one, len(numbers)) for one in counted])
        self.counts.extend(counted.values())
        self.ends.append(len(self.columns))

    def matrix(self, width: int) -> Any:
        shape = (self.size, width)
        return csr_matrix((np.array(self.counts), np.array(self.columns), np.array(self.ends)), shape)


def _fields(parts: Sequence[_Part], counts: _Counts) -> dict[str, Any]:
    """All that is counted, and the weights that follow from it."""
    passages = _ranges((part.rows[0], len(part.passages)) for part in parts)
    phrases = _ranges((part.rows[1], len(part.phrases)) for part in parts)
    body, head = counts.matrix("body", passages), counts.matrix("head", passages)
    phrase, pair = counts.matrix("phrase", phrases), counts.matrix("pair", phrases)
    terms = _in_order(counts.terms, body, head, phrase)
    codes = _in_order(counts.pairs, pair)
    own, of = _sums([part.passages for part in parts]), _sums([part.phrases for part in parts])
    first = np.cumsum([0, *(len(part.passages) for part in parts)])[:-1]
    of_page = {"phrases": of @ phrase, "text": own @ body, "head": head[first], "headings": (own @ head).sign()}
    whole = sum(weight * _normed(of_page[name], b) for name, (weight, b) in PAGE_PARTS.items())
    return {
        "terms": "\n".join(terms),
        "df": np.bincount(whole.indices, minlength=whole.shape[1]).astype(np.int32),
        "fields": {
            "body": _field(_normed(body, FIELDS["body"][1], SHORT), FIELDS["body"][0]),
            "head": _field(_normed(head, FIELDS["head"][1]), FIELDS["head"][0]),
            "phrase": _field(_normed(phrase, FIELDS["phrase"][1]), FIELDS["phrase"][0]),
            "pair": _field(_normed(pair, FIELDS["phrase"][1]), FIELDS["phrase"][0]),
            "page": _field(whole, PAGE_K1),
        },
        "counts": {
            name: _small(_by_term(matrix).data, int(matrix.data.max(initial=0)) + 1)
            for name, matrix in (("body", body), ("head", head), ("phrase", phrase))
        },
        "pairs": np.array(codes, dtype=np.uint32),
        "cosine": _cosine(body),
    }


def _ranges(spans: Iterable[tuple[int, int]]) -> Any:
    return np.array([row for start, size in spans for row in range(start, start + size)], dtype=np.int64)


def _in_order(columns: dict[Any, int], *matrices: Any) -> list[Any]:
    """The terms that the matrices hold, sorted; the matrices then have these columns alone, in this order."""
    used = np.zeros(len(columns), dtype=bool)
    for matrix in matrices:
        used[matrix.indices] = True
    terms = sorted(term for term, column in columns.items() if used[column])
    place = np.zeros(len(columns), dtype=np.int32)
    place[[columns[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    for matrix in matrices:
        matrix.indices = place[matrix.indices]
        matrix.resize(matrix.shape[0], len(terms))
        matrix.has_sorted_indices = False
        matrix.sort_indices()
    return terms


def _sums(groups: Sequence[Sequence[Any]]) -> Any:
    """The matrix that makes of the members' rows one row per group."""
    of = _numbered(groups)
    return csr_matrix((np.ones(len(of), np.float32), (of, np.arange(len(of)))), (len(groups), len(of)))


def _normed(counts: Any, b: float, least: float = 0.0) -> Any:
    """Counts over 1 - b + b · (a text's length / the mean length), which is at least `least`."""
    length = np.asarray(counts.sum(axis=1)).ravel()
    mean = max(float(length[length > 0].mean()) if length.any() else 1.0, 1.0)
    norm = 1 - b + b * np.maximum(length / mean, least)
    return diags((1 / np.maximum(norm, 1e-6)).astype(np.float32)) @ counts


def _field(normed: Any, k1: float) -> dict[str, Any]:
    """BM25 weights, by term: idf · tf · (k1 + 1) / (tf + k1)."""
    columns = _by_term(normed)
    n, df = columns.shape[0], np.diff(columns.indptr)
    idf = np.log1p((n - df + 0.5) / (df + 0.5))
    tf = columns.data
    values = np.repeat(idf, df) * tf * (k1 + 1) / (tf + k1)
    return {
        "indptr": columns.indptr.astype(np.int32),
        "docs": columns.indices.astype(np.uint16 if n <= 1 << 16 else np.int32),
        "values": values.astype(np.float16),
        "size": n,
    }


def _cosine(counts: Any) -> Any:
    """TF-IDF values in the order of the body field's postings: (1 + log tf) · (1 + log((1 + n) / (1 + df))), each
    text's vector of length 1."""
    columns = _by_term(counts)
    n, df = columns.shape[0], np.diff(columns.indptr)
    values = (1 + np.log(columns.data)) * np.repeat(1 + np.log((1 + n) / (1 + df)), df)
    length = np.sqrt(np.bincount(columns.indices, weights=values**2, minlength=n))
    return (values / length[columns.indices]).astype(np.float16)


def _by_term(counts: Any) -> Any:
    """The same matrix column by column: the order of a field's postings."""
    columns = counts.tocsc()
    columns.sort_indices()
    return columns


def _small(numbers: Any, limit: int) -> Any:
    return numbers.astype(np.uint8 if limit <= 1 << 8 else np.uint16 if limit <= 1 << 16 else np.int32)


# --- the child process --------------------------------------------------------------------------------------


def _main() -> None:
    """Build for the process that started us."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up in the data
    docs_dir, before = Path(sys.argv[1]), None
    for file in map(Path, sys.argv[2:]):
        before = before or cache.read(file)
    if before and before.get("code") != cache.code_version():
        before = None
    try:
        try:
            data = build(docs_dir, before=before)
        except Exception:  # an index that passed for one and is none
            if not before:
                raise
            data = build(docs_dir)
    except NoPages as error:
        sys.exit(str(error))
    blob = cache.dumps(data)
    out.write(blob)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    _main()
