"""What we measure ourselves against: the page-level recipe, and SQLite's FTS5 over sections."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import fuzz, process, utils
from sklearn.feature_extraction.text import TfidfVectorizer

from pgdocs.search.index import PageInfo

Search = Callable[[str], list[str]]
"""A question → the names of the ten best pages."""


def page_recipe(pages: Sequence[PageInfo], texts: Sequence[str]) -> Search:
    """Whole pages; TF-IDF cosine × 1.0, WRatio of titles and file names × 1.2, substring count × 1.5: the best wins."""
    vectorizer = TfidfVectorizer(max_features=5000, stop_words="english", ngram_range=(1, 2), max_df=0.8)
    matrix = vectorizer.fit_transform(texts)
    lower = [text.lower() for text in texts]
    titles, names = [page.title for page in pages], [page.doc_name for page in pages]

    def search(query: str) -> list[str]:
        cosine = np.asarray((matrix @ vectorizer.transform([query]).T).todense()).ravel()
        ratio = np.maximum(
            *(
                process.cdist([query], choices, scorer=fuzz.WRatio, processor=utils.default_process)[0]
                for choices in (titles, names)
            )
        )
        count = np.array([text.count(query.lower()) for text in lower])
        scores = np.maximum.reduce(
            [
                np.where(cosine >= 0.05, cosine, 0),
                np.where(ratio >= 60, ratio / 100 * 1.2, 0),
                np.minimum(1, count / 10) * 1.5,
            ]
        )
        best = np.argsort(-scores, kind="stable")[:10]
        return [names[n] for n in best if scores[n] > 0]

    return search


def fts5(pages: Sequence[PageInfo], sections: Sequence[tuple[int, str, str]]) -> Search:
    """FTS5 over sections (page, heading, text), any of the words, bm25 with the heading × 5; a page counts once."""
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table s using fts5(page unindexed, head, body, tokenize = 'porter unicode61')")
    database.executemany("insert into s values (?, ?, ?)", sections)

    def search(query: str) -> list[str]:
        words = dict.fromkeys(re.findall(r"\w+", query.lower()))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        rows = database.execute("select page from s where s match ? order by bm25(s, 0, 5, 1) limit 200", (match,))
        return list(dict.fromkeys(pages[page].doc_name for (page,) in rows))[:10]

    return search
