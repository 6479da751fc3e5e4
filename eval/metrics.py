"""What a ranking is worth: pure functions over the places of the right pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from eval.cases import Case

DEPTH = 10


def place(case: Case, found: Sequence[str]) -> int:
    """The place (from 1) of the first page that answers; 0 where none is among the first DEPTH."""
    return next((number for number, page in enumerate(found[:DEPTH], 1) if page in case.right), 0)


def recall(places: Sequence[int], at: int) -> float:
    """The share of questions with a right page among the first `at`."""
    return sum(0 < place <= at for place in places) / max(len(places), 1)


def mrr(places: Sequence[int]) -> float:
    """The mean of 1 / place."""
    return sum(1 / place for place in places if place) / max(len(places), 1)


def ndcg(case: Case, found: Sequence[str]) -> float:
    """nDCG at DEPTH; a page counts with the best of its grades."""
    grade: dict[str, int] = {}
    for gold in case.gold:
        grade[gold.page] = max(grade.get(gold.page, 0), gold.grade)
    gain = _gain([grade.get(page, 0) for page in found[:DEPTH]])
    return gain / _gain(sorted(grade.values(), reverse=True)[:DEPTH])


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(number + 1) for number, grade in enumerate(grades, 1))


def section_hit(
    case: Case, page: str, cited: str, sections: Mapping[str, Mapping[str, tuple[str, ...]]]
) -> bool | None:
    """Is the section cited on a right first page the one of a gold anchor, or inside it? None: the gold names none.

    `sections` holds, for each page and anchor, the anchors of the sections around it, the page's first.
    """
    wanted = [gold.anchor for gold in case.gold if gold.page == page and gold.grade == 2 and gold.anchor]
    if not wanted:
        return None
    trail = sections[page].get(cited, ())
    return any(anchor == cited or sections[page][anchor][-1] in trail for anchor in wanted)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0
