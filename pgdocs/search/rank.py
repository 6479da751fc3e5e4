"""Fields, fusion, calibration: scores of pages and passages for a query, by numpy alone.

A field is one way of looking at the pages, as BM25 weights worked out when the index was built, so that a query is a
few additions over slices, for each of its terms:

    scores[docs[a:b]] += weight * values[a:b]

    body    a passage's text              page    a page's phrases, text and headings as one (BM25F)
    head    its headings, title, slug     phrase  each phrase as a text of its own (pair: its neighbouring words)

All of it is divided by the query's own weight (the idf of its terms, known or not), so that a score says how much of
the query was found, whatever its length; names and kinds of page are added to that.
"""

from __future__ import annotations

import math
import operator
from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgdocs.search.mentions import NEAR, PART, SPOKEN, WHOLE, Mention, Mentions
from pgdocs.search.scope import ANYWHERE, Scope
from pgdocs.search.symbols import Symbol
from pgdocs.search.tokens import pairs, stem, tokens

if TYPE_CHECKING:
    from pgdocs.search.index import PageInfo

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Weights:
    """What each part counts in a page's score; the body of its best passage counts 1. Found by `eval/tune.py`; page and
    phrases then by hand on 3,800 further questions that are not in this repository."""

    head: float = 0.5
    page: float = 3.0
    phrase: float = 1.3
    pair: float = 0.5
    """Two words side by side as in a phrase: they keep `polygon to line` from `line to polygon`."""
    more_phrases: float = 0.8
    """The second and third best phrase: several people put it so."""
    unphrased: float = 2.0
    """What a page that nobody has written phrases for gets in their place, times its `page` and the square of the share
    of the query that it holds: else no added folder would stand beside the manuals. Found on the manuals alone."""
    rare_here: float = 1.5
    vote: float = 1.5
    """Which passage of a page is shown: the query's words that are rare in this page, and a phrase with an anchor, for
    the passage there."""
    whole: float = 100.0
    """The query is a name: its page is first, whatever else speaks of it."""
    part: float = 1.0
    spoken: float = 0.6
    near: float = 3.0
    """A name in the query, for the pages that define it, by how the query names it (see `mentions`)."""
    release: float = -3.0
    contents: float = -2.0
    """Release notes and lists of links answer few questions and hold many words …"""
    news: float = 3.0
    """… unless the query asks for changes."""
    namesake: float = -0.5
    """Of pages with the same title the one with the plainest slug is meant (sql-prepare, not ecpg-sql-prepare)."""


WEIGHTS = Weights()

MAX_TERMS = 64
"""Terms of a query that are looked up, the rarest first: more than any question has, few enough for a pasted log."""

CONFIDENT = 0.5
"""A best hit below this is no confident answer: it tells 9 of 10 questions about other products from those about ours,
at the cost of at most 3 in 100 of the latter (`eval/run.py` prints both)."""

MIDDLE = 3.6
"""The page score that is CONFIDENT: x² / (x² + MIDDLE²) is the score in 0..1, where x is the page's score less doubt.
Fitted, with the two below, to which of the development questions and of ours the manuals answer."""

DOUBT, COUNTERPART = 5.6, 1.9
"""Taken from it where the query names another product; given back where it asks for that product's counterpart."""

LATE = 3
"""Results that no page of release notes or of links is among, unless the query asks for changes or lists."""

NOISE = (10, 100, 1000)
"""Places that `explain` shows after the first ones: what such pages have in common with a query is chance."""

SHOWN = 3
"""Passages of a page that its snippet is made of."""

KINDRED = 30
"""Phrases of a page, those nearest to the query, whose other words tell what the query is about: `pg_terminate_backend`
for "kill a query". With 12 of them blind questions were answered worse (`eval/run.py --context`)."""

FUZZY, SEMANTIC = 60, 0.05
"""What the strategies of these names ask for at least: WRatio (0..100), cosine."""


@dataclass(frozen=True)
class RankedPage:
    """A page with its best passages, each with its score (the best one's: 1); the page's `score` is 0..1."""

    page: int
    passages: list[tuple[int, float]]
    score: float
    match_type: str


@dataclass(frozen=True)
class Explained:
    """A page's place, its score in 0..1 and before calibration (`total`), and what each field gave to that."""

    place: int
    doc_name: str
    score: float
    total: float
    parts: dict[str, float]


@dataclass(frozen=True)
class Query:
    """A query as the index sees it: its text; with our names for other products' in it; (term, weight)s and
    (pair, 1)s; the idf of all terms of the text, unknown ones too; names and scope; the page whose
    address it is, if any."""

    text: str
    with_ours: str
    terms: list[tuple[int, float]]
    pairs: list[tuple[int, float]]
    mass: float
    mentions: list[Mention]
    scope: Scope
    page: str = ""


class Field:
    """Postings: the documents of term t are docs[indptr[t]:indptr[t + 1]], each with its weight in values."""

    def __init__(self, packed: dict[str, Any]) -> None:
        self.indptr = array("i", packed["indptr"].tobytes())  # a list of its numbers would take nine times as much
        self.docs: NDArray[Any] = packed["docs"]
        self.values: NDArray[Any] = packed["values"]
        self.size: int = packed["size"]

    def scores(self, query: Iterable[tuple[int, float]], values: NDArray[Any] | None = None) -> Floats:
        """The sum of the weights of the query's (term, weight)s, for each document."""
        values = self.values if values is None else values
        found = np.zeros(self.size, dtype=np.float32)
        for term, weight in query:
            a, b = self.indptr[term], self.indptr[term + 1]
            if a < b:
                found[self.docs[a:b]] += np.float32(weight) * values[a:b]
        return found

    @cached_property
    def terms(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same the other way round, as (starts, terms): document d holds terms[starts[d]:starts[d + 1]]."""
        size = len(self.indptr) - 1
        terms = np.repeat(np.arange(size, dtype=np.uint16 if size <= 1 << 16 else np.int32), np.diff(self.indptr))
        starts = np.zeros(self.size + 1, dtype=np.int32)
        np.cumsum(np.bincount(self.docs, minlength=self.size), out=starts[1:])
        return starts, terms[np.argsort(self.docs, kind="stable")]

    def span(self, term: int, first: int, end: int) -> tuple[int, int]:
        """Where the postings of a term for the documents first … end - 1 lie in `docs` and `values`."""
        a, b = self.indptr[term], self.indptr[term + 1]
        low = bisect_left(self.docs, first, a, b)
        return low, bisect_left(self.docs, end, low, b)


class Ranker:
    """Ranks the pages of one index; `data` is what `build` made."""

    def __init__(
        self, data: dict[str, Any], pages: Sequence[PageInfo], symbols: Iterable[Symbol], weights: Weights = WEIGHTS
    ) -> None:
        self.pages, self.weights = pages, weights
        self.number = {page.doc_name: number for number, page in enumerate(pages)}
        self.fields = {name: Field(packed) for name, packed in data["fields"].items()}
        self.cosine: NDArray[Any] = data["cosine"]
        terms = data["terms"].split("\n") if data["terms"] else []
        self.term_names = terms
        self.terms = dict(zip(terms, range(len(terms)), strict=True))
        self.idf = array("d", np.log1p(len(pages) / (data["df"] + 0.5)).astype(np.float64).tobytes())
        self.pairs: NDArray[np.uint32] = data["pairs"]
        self.unknown = math.log1p(len(pages) / 0.5)
        self.passages: dict[str, Any] = data["passage"]
        self.section = _sections(self.passages)
        self.start = np.searchsorted(self.passages["page"], np.arange(len(pages) + 1))
        self.phrase_passage: NDArray[Any] = data["phrase"]["passage"]
        self.phrase_start = np.searchsorted(data["phrase"]["page"], np.arange(len(pages) + 1))
        self.phrase_count = np.diff(self.phrase_start)
        self.with_phrases = np.flatnonzero(self.phrase_count)
        self.without_phrases = np.flatnonzero(self.phrase_count == 0)
        self.release = np.array([page.kind == "release" for page in pages], dtype=np.float32)
        self.contents = np.array([page.kind == "contents" for page in pages], dtype=np.float32)
        self.namesake = _namesakes(pages)
        self.mentions = Mentions(symbols, partial(_is_word, self.terms))  # no circle: an old index is freed at once

    def query(self, text: str, scope: Scope = ANYWHERE) -> Query:
        """Read a query: its terms, and the names in it."""
        counts: dict[int, float] = {}
        mass, found = 0.0, tokens(text)
        for token in found:
            term = self.terms.get(token)
            mass += self.unknown if term is None else self.idf[term]
            if term is not None:
                counts[term] = counts.get(term, 0.0) + 1.0
        ours = self.mentions.counterparts(text)
        for token in tokens(" ".join(ours)):
            if (term := self.terms.get(token)) is not None:
                counts.setdefault(term, 1.0)
        rarest = sorted(counts, key=lambda term: (-self.idf[term], term))[:MAX_TERMS]
        terms = [(term, min(2.0, counts[term])) for term in rarest]
        codes = sorted(set(pairs(found)))[:MAX_TERMS]
        places = np.searchsorted(self.pairs, np.array(codes, dtype=np.uint32)).tolist()
        known = [
            (n, 1.0) for n, code in zip(places, codes, strict=True) if n < len(self.pairs) and self.pairs[n] == code
        ]
        with_ours = " ".join((text, *ours))
        return Query(text, with_ours, terms, known, max(mass, 1.0), self.mentions.find(text, ours), scope)

    def weight(self, token: str) -> float:
        """How much a token says: its inverse document frequency; 0 for one that no page holds."""
        term = self.terms.get(token)
        return 0.0 if term is None else self.idf[term]

    def kindred(self, query: Query, page: int) -> dict[str, float]:
        """Words that stand beside the query's in the phrases for a page: each with the share of the KINDRED nearest
        ones that it is in (weighed by how near they are), times its inverse document frequency."""
        field, first, end = self.fields["phrase"], int(self.phrase_start[page]), int(self.phrase_start[page + 1])
        near = np.zeros(end - first, dtype=np.float32)
        for term, weight in query.terms:
            low, high = field.span(term, first, end)
            near[field.docs[low:high].astype(np.int64) - first] += np.float32(weight) * field.values[low:high]
        best = near.argsort(kind="stable")[::-1][:KINDRED]
        best = best[near[best] > 0]
        if not len(best):
            return {}
        share = near[best] ** 2 / float((near[best] ** 2).sum())
        own = {term for term, _ in query.terms}
        starts, terms = field.terms
        found: dict[str, float] = {}
        for phrase, part in zip((first + best).tolist(), share.tolist(), strict=True):
            for term in terms[starts[phrase] : starts[phrase + 1]].tolist():
                if term not in own:
                    name = self.term_names[term]
                    found[name] = found.get(name, 0.0) + part * self.idf[term]
        return found

    def search(
        self, query: Query, limit: int, strategy: str = "hybrid", allowed: NDArray[np.bool_] | None = None
    ) -> list[RankedPage]:
        """The best pages among the `allowed` ones (a mask; None: all), each with the passage to show."""
        ranker = {"hybrid": self.hybrid, "exact": self.exact, "fuzzy": self.fuzzy, "semantic": self.semantic}[strategy]
        pages, passages = ranker(query)
        pages = masked(pages, allowed)
        best = [page for page in _best(pages, limit + LATE) if pages[page] > 0]  # something speaks for it
        if strategy == "hybrid":
            best = self._late(best, query)
        hits, score = list[RankedPage](), math.inf
        for page in best[:limit]:
            score = min(score, float(pages[page]))
            shown = self.order(query, page, passages)[:SHOWN]
            if strategy == "hybrid":
                hits.append(RankedPage(page, shown, confidence(score, query), self._agreed(query, page, shown[0][0])))
            else:
                hits.append(RankedPage(page, shown, score, strategy))
        return hits

    def explain(self, query: Query, limit: int, allowed: NDArray[np.bool_] | None = None) -> list[Explained]:
        """What made the `limit` best pages of `hybrid` come first, and what those at NOISE have by chance."""
        parts, _ = self.parts(query)
        pages = masked(self._sum(parts), allowed)
        best = self._late([page for page in _best(pages, limit + LATE) if pages[page] > 0], query)[:limit]
        rest = [page for page in _best(pages, max(NOISE)) if np.isfinite(pages[page])]
        places = [*enumerate(best, 1), *((place, rest[place - 1]) for place in NOISE if limit < place <= len(rest))]
        return [
            Explained(
                place,
                self.pages[page].doc_name,
                confidence(float(pages[page]), query),
                float(pages[page]),
                {name: float(given[page]) for name, given in parts.items()},
            )
            for place, page in places
        ]

    def _late(self, best: list[int], query: Query) -> list[int]:
        """Release notes and lists of links after LATE others, unless the query asks for them or all else is silent."""
        late = self.release * (not query.scope.news) + self.contents * (not query.scope.lists)
        first = [page for page in best if not late[page]][:LATE]
        return first + [page for page in best if page not in first] if len(first) in (0, LATE) else first

    def order(self, query: Query, page: int, passages: Floats) -> list[tuple[int, float]]:
        """The passages of a page, best first, each with its score (the best one's: 1).

        `passages` are their scores from a strategy. Added is what they hold of the query's words that are rare in this
        page: what all of it is about tells its passages apart no better than a stop word.
        """
        body, first, end = self.fields["body"], int(self.start[page]), int(self.start[page + 1])
        scores = passages[first:end].copy()
        n = end - first
        for term, weight in query.terms if n > 1 else ():
            low, high = body.span(term, first, end)
            if low < high:
                df = high - low
                rare = math.log1p((n - df + 0.5) / (df + 0.5)) / math.log1p((n + 0.5) / 0.5)
                worth = np.float32(self.weights.rare_here * weight * rare / query.mass)
                scores[body.docs[low:high].astype(np.int64) - first] += worth * body.values[low:high]
        best = np.argsort(-scores, kind="stable")
        top = max(float(scores[best[0]]), 1e-9)
        return [(first + int(n), float(scores[n]) / top) for n in best]

    # --- the strategies -------------------------------------------------------------------------------------
    # Each returns (score of each page, score of each passage).

    def exact(self, query: Query) -> tuple[Floats, Floats]:
        """How often the query stands in a page, letter by letter but for case: min(1, n / 10)."""
        wanted = query.text.strip().lower()
        counts = np.array([text.lower().count(wanted) for text in self.passages["text"]], dtype=np.float32)
        titles = np.array([page.title.lower().count(wanted) for page in self.pages], dtype=np.float32)
        return np.minimum(1, (np.add.reduceat(counts, self.start[:-1]) + titles) / 10), counts

    def fuzzy(self, query: Query) -> tuple[Floats, Floats]:
        """rapidfuzz's WRatio of the query and a page's title or slug, where it is FUZZY or more; its first passage."""
        titles = _ratios(query.text, [page.title for page in self.pages])
        slugs = _ratios(query.text, [page.slug for page in self.pages])
        return np.maximum(titles, slugs), np.zeros(len(self.passages["text"]), dtype=np.float32)

    def semantic(self, query: Query) -> tuple[Floats, Floats]:
        """The TF-IDF cosine of the query and a page's nearest passage, where it is SEMANTIC or more."""
        passages = self.fields["body"].scores(self._tfidf(query), self.cosine)
        pages = np.maximum.reduceat(passages, self.start[:-1])
        return np.where(pages >= SEMANTIC, pages, 0), passages

    def hybrid(self, query: Query) -> tuple[Floats, Floats]:
        """All fields at once, names first."""
        parts, passages = self.parts(query)
        return self._sum(parts), passages

    def _sum(self, parts: dict[str, Floats]) -> Floats:
        return sum(parts.values(), np.zeros(len(self.pages), dtype=np.float32))

    def parts(self, query: Query) -> tuple[dict[str, Floats], Floats]:
        """What each field gives to the score of each page, and the score of each passage."""
        w, mass = self.weights, np.float32(query.mass)
        passages = self.fields["body"].scores(query.terms) + w.head * self.fields["head"].scores(query.terms)
        parts = {
            "passage": np.maximum.reduceat(passages, self.start[:-1]) / mass,
            "page": w.page / mass * self.fields["page"].scores(query.terms),
        }
        if len(self.with_phrases):
            phrases = self.fields["phrase"].scores(query.terms)
            hit = np.flatnonzero((phrases > 0) & (self.phrase_passage >= 0))
            votes = np.zeros_like(passages)
            np.maximum.at(votes, self.phrase_passage[hit], phrases[hit])
            passages += w.vote * votes[self.section]
            parts["phrases"] = self._best_phrases(phrases + w.pair * self.fields["pair"].scores(query.pairs)) / mass
        if len(self.without_phrases):
            some = self.without_phrases
            given = parts.setdefault("phrases", np.zeros_like(parts["page"]))
            given[some] = w.unphrased * parts["page"][some] * self._covered(query)[some] ** 2
        passages /= mass
        parts["kind"] = (
            (w.news if query.scope.news else w.release) * self.release
            + (0 if query.scope.lists else w.contents) * self.contents
            + w.namesake * self.namesake
        )
        parts["names"] = self._names(query, passages)
        return parts, passages

    def _covered(self, query: Query) -> Floats:
        """For each page the share of the query's weight in words that it holds at all, 0..1."""
        page, found = self.fields["page"], np.zeros(len(self.pages), dtype=np.float32)
        for term, _ in query.terms:
            found[page.docs[page.indptr[term] : page.indptr[term + 1]]] += np.float32(self.idf[term] / query.mass)
        return found

    def _best_phrases(self, phrases: Floats) -> Floats:
        """For each page its best phrase, and some of the second and third. Uses up `phrases`."""
        w, starts, counts = self.weights, self.phrase_start[self.with_phrases], self.phrase_count[self.with_phrases]
        pages = np.zeros(len(self.pages), dtype=np.float32)
        for weight in (w.phrase, w.more_phrases, w.more_phrases):
            best = np.maximum.reduceat(phrases, starts)
            pages[self.with_phrases] += weight * best
            phrases[phrases == np.repeat(best, counts)] = 0
        return pages

    def _names(self, query: Query, passages: Floats) -> Floats:
        """What the names in the query say for each page; for the passages that define them it is added in place."""
        pages = np.zeros(len(self.pages), dtype=np.float32)
        if query.page:
            pages[self.number[query.page]] += self.weights.whole
        worth = {
            WHOLE: self.weights.whole,
            PART: self.weights.part,
            SPOKEN: self.weights.spoken,
            NEAR: self.weights.near,
        }
        for mention in query.mentions:
            named = [(self.number[page], anchors) for page, anchors in mention.pages.items() if page in self.number]
            shared = len({self.pages[page].slug for page, _ in named})  # a page in two versions is one
            for page, anchors in named:
                pages[page] += worth[mention.how] / (1 if mention.how == WHOLE else math.sqrt(shared))
                a, b = self.start[page], self.start[page + 1]
                there = [n for n in range(a, b) if self.passages["anchor"][n] in anchors]
                passages[there or slice(a, a + 1)] += 1.0
                if self.pages[page].anchor in anchors:
                    passages[a] += 1.0  # the page is about it: it begins with what it is
        return pages

    # --- what agreed ----------------------------------------------------------------------------------------

    def _agreed(self, query: Query, page: int, passage: int) -> str:
        """The names of the rankers that would return this page too; a page that only phrases found is semantic."""
        info = self.pages[page]
        exact = any(m.how in (WHOLE, PART) and info.doc_name in m.pages for m in query.mentions)
        exact = exact or self._holds(page, query)
        fuzzy = any(_ratio(query.text, name) for name in (info.title, info.slug))
        semantic = self._cosine(query, passage) >= SEMANTIC or not (exact or fuzzy)
        return "+".join(n for n, yes in (("exact", exact), ("fuzzy", fuzzy), ("semantic", semantic)) if yes)

    def _holds(self, page: int, query: Query) -> bool:
        """Does the page hold the query letter by letter? Not without the query's rarest word."""
        for term, _ in query.terms[:1]:
            low, high = self.fields["page"].span(term, page, page + 1)
            if low == high:
                return False
        wanted, texts = query.text.strip().lower(), self.passages["text"][self.start[page] : self.start[page + 1]]
        return wanted in self.pages[page].title.lower() or any(wanted in text.lower() for text in texts)

    def _tfidf(self, query: Query) -> list[tuple[int, float]]:
        """The query's TF-IDF vector, of length 1."""
        body = self.fields["body"]
        df = {term: body.indptr[term + 1] - body.indptr[term] for term, _ in query.terms}
        idf = {term: math.log((1 + body.size) / (1 + n)) + 1 for term, n in df.items()}
        norm = math.sqrt(sum(value**2 for value in idf.values())) or 1.0
        return [(term, value / norm) for term, value in idf.items()]

    def _cosine(self, query: Query, passage: int) -> float:
        body, found = self.fields["body"], 0.0
        for term, weight in self._tfidf(query):
            low, high = body.span(term, passage, passage + 1)
            if low < high:
                found += weight * float(self.cosine[low])
        return found


def _is_word(terms: Container[str], word: str) -> bool:
    return word.lower() in terms or stem(word.lower()) in terms


def _sections(passages: dict[str, Any]) -> NDArray[np.intp]:
    """For each passage the first one of its section: a phrase for an anchor is for all pieces of what stands there."""
    anchors, pages = passages["anchor"], passages["page"]
    same = [False, *map(operator.eq, anchors[1:], anchors)]
    begins = ~(np.array(same[: len(anchors)], dtype=bool) & (np.diff(pages, prepend=-1) == 0))
    return np.maximum.accumulate(np.where(begins, np.arange(len(anchors)), 0))


def _namesakes(pages: Sequence[PageInfo]) -> Floats:
    """1 for a page whose title another page of its source has too, under a shorter slug."""
    shortest: dict[tuple[str, str], int] = {}
    for page in pages:
        key = (page.source, page.title.lower())
        shortest[key] = min(len(page.slug), shortest.get(key, len(page.slug)))
    return np.array([len(p.slug) > shortest[p.source, p.title.lower()] for p in pages], dtype=np.float32)


def confidence(score: float, query: Query) -> float:
    """A page's score (of `hybrid`) in 0..1, the same for every query: CONFIDENT or more is an answer."""
    doubt = query.scope.elsewhere * (DOUBT - query.scope.counterpart * COUNTERPART)
    x = max(0.0, score - doubt) ** 2
    return x / (x + MIDDLE**2)


def masked(pages: Floats, allowed: NDArray[np.bool_] | None) -> Floats:
    """The scores of pages, -inf for those that are not to be found (None: all are)."""
    return pages if allowed is None else np.where(allowed, pages, np.float32(-np.inf))


def _best(scores: Floats, limit: int) -> list[int]:
    """The places of the highest scores, highest first, equal ones in order."""
    if limit < len(scores):
        least = np.partition(scores, -limit)[-limit]
        among = np.flatnonzero(scores >= least)
        return [int(n) for n in among[np.argsort(-scores[among], kind="stable")][:limit]]
    return [int(n) for n in np.argsort(-scores, kind="stable")]


def _ratio(query: str, name: str) -> float:
    from rapidfuzz import fuzz, utils  # not before a name is misspelt

    return fuzz.WRatio(query, name, processor=utils.default_process, score_cutoff=FUZZY)


def _ratios(query: str, choices: list[str]) -> Floats:
    from rapidfuzz import fuzz, process, utils

    found = process.cdist(
        [query], choices, scorer=fuzz.WRatio, processor=utils.default_process, score_cutoff=FUZZY, dtype=np.float32
    )
    ratios: Floats = found[0] / np.float32(100)
    return ratios
