"""Pages → the data of an index. The only code that imports scikit-learn: a searching process never does.

    python -m pgdocs.search.build DOCS_DIR

writes the data to stdout (`cache.dumps`), for the process that started it, and ends when that one does.
"""

# ruff: noqa: E402 (the imports below stand where they do on purpose)
from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any


def _end_with_parent() -> None:
    """End this process when the one that holds our stdin lets go of it, however that one ended."""
    while os.read(0, 1024):  # not by sys.stdin: a buffered reader in a thread is fatal to a process that ends by itself
        pass
    os._exit(1)


if __name__ == "__main__":  # before the imports that take a second
    threading.Thread(target=_end_with_parent, daemon=True).start()

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from pgdocs.errors import NoPages
from pgdocs.pages import PATH_SEPARATOR, Page, Section, read_page, split_anchors, split_blocks, split_sections, unlink
from pgdocs.search import cache
from pgdocs.search.symbols import extract
from pgdocs.search.tokens import pairs, strip_markdown, tokens

PASSAGE = 1400
"""Characters of a passage, about: long enough to hold an answer, short enough to rank on its own."""

FIELDS = {"body": (1.2, 0.75), "head": (1.2, 0.5), "phrase": (0.5, 0.6)}
"""k1 and b of the fields that are one text each. A phrase says a word once, so that k1 is low."""

SHORT = 0.5
"""A passage shorter than this part of the mean is taken as that long: two lines that name the subject say little."""

PAGE_K1 = 2.0
PAGE_PARTS = {"phrases": (2.0, 0.2), "text": (0.5, 0.75), "head": (1.0, 0.5)}
"""The page field (BM25F): k1, and how much a word counts in each part of a page, with the part's own b."""


def build(docs_dir: Path, phrases_dir: Path = cache.PHRASES_DIR) -> dict[str, Any]:
    """The data of an index over the pages in `docs_dir`. Raises NoPages."""
    files = cache.fingerprint(docs_dir)
    pages = sorted(_read(docs_dir, files), key=lambda found: found[1].doc_name)
    if not pages:
        raise NoPages(docs_dir)
    passages = [(number, *passage) for number, (_, page) in enumerate(pages) for passage in split_passages(page)]
    phrases = list(_phrases([page for _, page in pages], passages, phrases_dir))
    return {
        "files": files,
        "code": cache.code_version(),
        "page": [
            (p.doc_name, p.title, p.anchor, p.url, PATH_SEPARATOR.join(p.path), p.kind, file) for file, p in pages
        ],
        "passage": {
            "page": np.array([p[0] for p in passages], dtype=np.int32),
            "anchor": [p[1] for p in passages],
            "section": [p[2] for p in passages],
            "text": [p[3] for p in passages],
        },
        "phrase": {
            "page": np.array([p[0] for p in phrases], dtype=np.int32),
            "passage": np.array([p[1] for p in phrases], dtype=np.int32),
        },
        "elsewhere": _elsewhere(),
        "symbols": [astuple(symbol) for _, page in pages for symbol in extract(page)],
        **_fields([page for _, page in pages], passages, phrases),
    }


def _read(docs_dir: Path, files: cache.Files) -> Iterator[tuple[str, Page]]:
    for name in files:
        try:
            yield name, read_page(docs_dir / name, docs_dir)
        except OSError:  # gone since the scan: the next check sees it
            continue


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


def _phrases(
    pages: Sequence[Page], passages: Sequence[tuple[Any, ...]], phrases_dir: Path
) -> Iterator[tuple[int, int, str]]:
    """(page, passage or -1, text) of each phrase for a page that is here, by page."""
    by_slug: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for source, slug, anchor, phrase in read_phrases(phrases_dir):
        by_slug.setdefault((source, slug), []).append((anchor, phrase))
    first: dict[tuple[int, str], int] = {}
    for number, (page, anchor, *_) in enumerate(passages):
        first.setdefault((page, anchor), number)
    for number, page in enumerate(pages):
        for anchor, phrase in by_slug.get((phrase_source(page.source), page.slug), ()):
            yield number, first.get((number, anchor), -1) if anchor and anchor != page.anchor else -1, phrase


def _elsewhere() -> list[str]:
    """The names of other products: a question about one of them is seldom for these pages."""
    text = (cache.PHRASES_DIR / cache.ELSEWHERE).read_text(encoding="utf-8")
    return [line.split("\t")[0] for line in text.splitlines()]


def phrase_source(source: str) -> str:
    """The name of the phrase file for a source: `pg17` and `pg` share one."""
    return re.sub(r"[-_.\d]+$", "", source)


# --- fields -------------------------------------------------------------------------------------------------


def _fields(
    pages: Sequence[Page], passages: Sequence[tuple[Any, ...]], phrases: Sequence[tuple[Any, ...]]
) -> dict[str, Any]:
    bodies = [strip_markdown(unlink(text)) for *_, text in passages]
    heads = [f"{pages[page].title} {section} {pages[page].slug}" for page, _, section, _ in passages]
    phrase_tokens = [tokens(text) for *_, text in phrases]
    vectorizer = CountVectorizer(analyzer=list, dtype=np.float32)
    counts = vectorizer.fit_transform([*map(tokens, bodies), *map(tokens, heads), *phrase_tokens])
    p, q = len(passages), len(phrases)
    body, head, phrase = counts[:p], counts[p : 2 * p], counts[2 * p :]
    own = csr_matrix((np.ones(p, np.float32), ([x[0] for x in passages], np.arange(p))), (len(pages), p))
    of = csr_matrix((np.ones(q, np.float32), ([x[0] for x in phrases], np.arange(q))), (len(pages), q))
    first = np.searchsorted(np.array([x[0] for x in passages]), np.arange(len(pages)))
    parts = {"phrases": of @ phrase, "text": own @ body, "head": head[first]}
    pair, codes = _pairs(phrase_tokens)
    whole = sum(weight * _normed(parts[name], b) for name, (weight, b) in PAGE_PARTS.items())
    return {
        "terms": "\n".join(str(term) for term in vectorizer.get_feature_names_out()),
        "df": np.bincount(whole.indices, minlength=whole.shape[1]).astype(np.int32),
        "fields": {
            "body": _field(_normed(body, FIELDS["body"][1], SHORT), FIELDS["body"][0]),
            "head": _field(_normed(head, FIELDS["head"][1]), FIELDS["head"][0]),
            "phrase": _field(_normed(phrase, FIELDS["phrase"][1]), FIELDS["phrase"][0]),
            "pair": _field(_normed(pair, FIELDS["phrase"][1]), FIELDS["phrase"][0]),
            "page": _field(whole, PAGE_K1),
        },
        "pairs": codes,
        "cosine": _cosine(body),
    }


def _pairs(texts: Sequence[list[str]]) -> tuple[Any, Any]:
    """Which phrase (row) holds which two tokens side by side (column), and the sorted codes of the columns."""
    found = [sorted(set(pairs(text))) for text in texts]
    codes, columns = np.unique(np.array([code for row in found for code in row], dtype=np.uint32), return_inverse=True)
    rows = np.repeat(np.arange(len(found)), [len(row) for row in found])
    held = csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), (len(found), len(codes)))
    return held, codes


def _normed(counts: Any, b: float, least: float = 0.0) -> Any:
    """Counts over 1 - b + b · (a text's length / the mean length), which is at least `least`."""
    length = np.asarray(counts.sum(axis=1)).ravel()
    mean = max(float(length[length > 0].mean()) if length.any() else 1.0, 1.0)
    norm = 1 - b + b * np.maximum(length / mean, least)
    return diags((1 / np.maximum(norm, 1e-6)).astype(np.float32)) @ counts


def _field(normed: Any, k1: float) -> dict[str, Any]:
    """BM25 weights, by term: idf · tf · (k1 + 1) / (tf + k1)."""
    columns = normed.tocsc()
    columns.sort_indices()
    n, df = columns.shape[0], np.diff(columns.indptr)
    idf = np.log1p((n - df + 0.5) / (df + 0.5))
    tf = columns.data
    values = np.repeat(idf, df) * tf * (k1 + 1) / (tf + k1)
    return {
        "indptr": columns.indptr.astype(np.int32),
        "docs": _small(columns.indices, n),
        "values": values.astype(np.float16),
        "size": n,
    }


def _cosine(counts: Any) -> Any:
    """TF-IDF values (cosine-normalised) in the order of the body field's postings."""
    columns = TfidfTransformer(sublinear_tf=True).fit_transform(counts).tocsc()
    columns.sort_indices()
    return columns.data.astype(np.float16)


def _small(numbers: Any, limit: int) -> Any:
    return numbers.astype(np.uint16 if limit <= 1 << 16 else np.int32)


# --- the child process --------------------------------------------------------------------------------------


def _main() -> None:
    """Build for the process that started us."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up in the data
    try:
        blob = cache.dumps(build(Path(sys.argv[1])))
    except NoPages as error:
        sys.exit(str(error))
    out.write(blob)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    _main()
