"""Fields, fusion, calibration: scores of sections and pages for a query, by numpy alone.

A field is one way of looking at the pages (passages, headings, whole pages, phrases) as BM25 weights that were worked
out when the index was built, so that a query is a few additions over slices:

    scores[docs[a:b]] += weight * values[a:b]       for each term of the query
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from pgdocs.search.tokens import squash, tokens

Floats = NDArray[np.float32]

# Weights of the fields in a page's score: best passage (body + HEAD · headings) + PAGE · whole page + …
HEAD = 0.5
PAGE = 0.5
PHRASES = 2.0
PHRASE = 2.0

MAX_TERMS = 64
"""Terms of a query that are looked up, the rarest first: more than any question has, few enough for a pasted log."""

KIND_PRIOR = {"release": -12.0, "contents": -8.0}
"""Added to a page's score: what changed in a version, and lists of links, answer few questions."""


@dataclass(frozen=True)
class Hit:
    """A page with its best passage."""

    page: int
    anchor: str
    section: str
    text: str
    score: float
    match_type: str


class Field:
    """Postings: the documents of term t are docs[indptr[t]:indptr[t + 1]], each with its weight in values."""

    def __init__(self, packed: dict[str, Any]) -> None:
        self.indptr: list[int] = packed["indptr"].tolist()
        self.docs: NDArray[Any] = packed["docs"]
        self.values: NDArray[Any] = packed["values"]
        self.size: int = packed["size"]

    def scores(self, query: Iterable[tuple[int, float]], values: NDArray[Any] | None = None) -> Floats:
        """The sum of the weights of the query's (term, weight)s, for each document."""
        found = np.zeros(self.size, dtype=np.float32)
        values = self.values if values is None else values
        for term, weight in query:
            a, b = self.indptr[term], self.indptr[term + 1]
            if a < b:
                found[self.docs[a:b]] += np.float32(weight) * values[a:b]
        return found


class Ranker:
    """Ranks the pages of one index."""

    def __init__(self, data: dict[str, Any], pages: Sequence[Any], symbols: Sequence[Any]) -> None:
        self.pages = pages
        self.fields = {name: Field(packed) for name, packed in data["fields"].items()}
        terms = data["terms"].split("\n")
        self.terms = dict(zip(terms, range(len(terms)), strict=True))
        self.idf = np.log1p(len(pages) / (data["df"] + 0.5)).astype(np.float32)
        self.cosine: NDArray[Any] = data["cosine"]
        self.passage: dict[str, Any] = data["passage"]
        self.start = np.searchsorted(self.passage["page"], np.arange(len(pages) + 1)).tolist()
        self.phrase_passage: NDArray[Any] = data["phrase"]["passage"]
        self.phrase_pages, self.phrase_start = np.unique(data["phrase"]["page"], return_index=True)
        self.prior = np.array([KIND_PRIOR.get(page.kind, 0.0) for page in pages], dtype=np.float32)
        self.source = np.array([page.source for page in pages])
        self.symbols = symbols
        self.names = sorted({symbol.name for symbol in symbols})

    def query(self, text: str) -> list[tuple[int, float]]:
        """The query's (term, weight)s that the index knows."""
        counts: dict[int, float] = {}
        for token in tokens(text):
            term = self.terms.get(token)
            if term is not None:
                counts[term] = counts.get(term, 0.0) + 1.0
        rarest = sorted(counts, key=lambda term: (-self.idf[term], term))[:MAX_TERMS]
        return [(term, min(2.0, counts[term])) for term in rarest]

    def weight(self, token: str) -> float:
        """How much a token says: its inverse document frequency."""
        term = self.terms.get(token)
        return float(self.idf[term]) if term is not None else 0.0

    def search(self, text: str, limit: int, strategy: str, source: str) -> list[Hit]:
        scores, passages = self.hybrid(text)
        if source != "all":
            scores = np.where(self.source == source, scores, -np.inf)
        best = np.argsort(-scores, kind="stable")[:limit]
        hits = []
        for page in best.tolist():
            if scores[page] <= 0:
                break
            a, b = self.start[page], self.start[page + 1]
            at = a + int(np.argmax(passages[a:b]))
            hits.append(
                Hit(
                    page,
                    self.passage["anchor"][at],
                    self.passage["section"][at],
                    self.passage["text"][at],
                    float(scores[page]),
                    strategy,
                )
            )
        return hits

    def hybrid(self, text: str) -> tuple[Floats, Floats]:
        """(score of each page, score of each passage)."""
        query = self.query(text)
        passages = self.fields["body"].scores(query) + HEAD * self.fields["head"].scores(query)
        pages = np.maximum.reduceat(passages, self.start[:-1])
        pages += PAGE * self.fields["page"].scores(query) + PHRASES * self.fields["phrases"].scores(query)
        if len(self.phrase_pages):
            phrase = self.fields["phrase"].scores(query)
            pages[self.phrase_pages] += PHRASE * np.maximum.reduceat(phrase, self.phrase_start)
            placed = self.phrase_passage >= 0
            np.maximum.at(votes := np.zeros_like(passages), self.phrase_passage[placed], phrase[placed])
            passages += PHRASE * votes
        return pages + self.prior, passages

    def near_names(self, name: str, limit: int = 5) -> list[str]:
        """Symbol names at a small edit distance."""
        if len(name) < 3:
            return []
        found = process.extract(
            squash(name), self.names, processor=squash, scorer=OSA.distance, limit=limit, score_cutoff=3
        )
        return [near for near, _, _ in found if near.lower() != name.lower()]
