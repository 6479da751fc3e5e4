"""Where the numbers in `rank.Weights` come from.

    python eval/tune.py [DOCS_DIR]

Each weight in turn is tried smaller and larger, as long as the mean reciprocal rank on the development questions and on
the first half of ours gains; the other half of ours is printed beside it and decides nothing. A gain that is worth less
than one question is none. Then the score from which an answer is confident (MIDDLE, DOUBT, COUNTERPART), on the same
questions and on those that the manuals don't answer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from eval.cases import HERE, SHARED, Case, halves, load
from eval.metrics import mrr, recall
from eval.run import anchors_of
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.search.rank import Query, Ranker, Weights

FIXED = frozenset(("vote", "rare_here", "whole", "release", "contents", "news", "namesake"))
"""Not tuned here: what decides which passage is shown, and what is a rule rather than a matter of degree."""

FACTORS = (0.5, 0.7, 0.85, 1.2, 1.5, 2.0)

GAIN = 0.001
"""What a change must bring in MRR: with some 280 questions less than half of one that moves from second to first."""

Asked = list[tuple[Query, list[int]]]


def main(docs_dir: Path) -> None:
    """Tune, and print each step that gains."""
    index = DocumentSearchIndex(docs_dir)
    index.build_index()
    known = {page: frozenset(found) for page, found in anchors_of(index).items()}
    tuned, held = halves(load(HERE / "questions.jsonl", known))
    ranker = index.ranker
    sets = {
        "development": load(SHARED / "questions_dev.jsonl", known) if SHARED.is_dir() else [],
        "own, tuned on": tuned,
        "own, only measured": held,
    }

    asked = {name: [(index.query(c.question), numbers(ranker, c)) for c in cases] for name, cases in sets.items()}
    train = asked["development"] + asked["own, tuned on"]
    weights = ranker.weights
    best = score(ranker, weights, train)
    report(ranker, weights, asked, "as it is")
    gained = True
    while gained:
        gained = False
        for name, value in asdict(weights).items():
            for factor in () if name in FIXED else FACTORS:
                tried = replace(weights, **{name: round(value * factor, 3)})
                if (found := score(ranker, tried, train)) > best + GAIN:
                    best, weights, gained = found, tried, True
                    report(ranker, weights, asked, f"{name} = {getattr(weights, name)}")
    print(weights)
    none = load(HERE / "none.jsonl", known)[::2] + (load(SHARED / "none_dev.jsonl", known) if SHARED.is_dir() else [])
    ranker.weights = weights
    calibrate(
        [best_score(ranker, one) for one, _ in train],
        [best_score(ranker, index.query(case.question)) for case in none],
    )


def best_score(ranker: Ranker, query: Query) -> tuple[float, bool, bool]:
    return float(ranker.hybrid(query)[0].max()), query.scope.elsewhere, query.scope.counterpart


def calibrate(answered: Sequence[tuple[float, bool, bool]], none: Sequence[tuple[float, bool, bool]]) -> None:
    """Print the middle, doubt and counterpart that tell most of both apart; a lost answer counts three times."""

    def told(some: Sequence[tuple[float, bool, bool]], middle: float, doubt: float, back: float) -> float:
        return fmean(
            score - elsewhere * (doubt - counterpart * back) < middle for score, elsewhere, counterpart in some
        )

    grid = product(np.arange(2.0, 5.0, 0.1), np.arange(2.0, 6.1, 0.5), (0.0, 1.0, 2.0))
    best = max(grid, key=lambda at: (round(told(none, *at) - 3 * told(answered, *at), 6), -at[1], -at[2]))
    middle, doubt, back = (round(float(x), 2) for x in best)
    print(f"MIDDLE {middle} DOUBT {doubt} COUNTERPART {back}: ", end="")
    print(f"told {told(none, *best):.3f} of the unanswerable, {told(answered, *best):.3f} of the answerable")


def numbers(ranker: Ranker, case: Case) -> list[int]:
    return [ranker.number[page] for page in case.right]


def places(ranker: Ranker, weights: Weights, asked: Asked) -> list[int]:
    """The place of the first right page for each question."""
    ranker.weights = weights
    found = []
    for query, right in asked:
        pages, _ = ranker.hybrid(query)
        found.append(1 + int(np.sum(pages > max(pages[page] for page in right))))
    return found


def score(ranker: Ranker, weights: Weights, asked: Asked) -> float:
    return mrr(places(ranker, weights, asked))


def report(ranker: Ranker, weights: Weights, asked: dict[str, Asked], what: str) -> None:
    figures = []
    for name, some in asked.items():
        if some:
            at = places(ranker, weights, some)
            figures.append(f"{name}: R@1 {recall(at, 1):.3f} R@5 {recall(at, 5):.3f} MRR {mrr(at):.3f}")
    print(f"{what:24s} {' | '.join(figures)}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE.parent / "docs")
