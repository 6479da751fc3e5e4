"""The questions, read and checked: a malformed one, or one whose page isn't indexed, is refused, never skipped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SHARED = HERE.parent.parent / "shared" / "eval"
"""The development questions. They are not part of this repository: left out where they aren't beside it."""

KINDS = ("howto", "concept", "error", "identifier", "operator", "config", "typo", "version")
NONE_KINDS = ("other_db", "pg_ecosystem", "gis_ecosystem", "cloud", "unrelated")

DECLARED = {
    "questions.jsonl": 350,
    "blind.jsonl": 680,
    "blind_none.jsonl": 60,
    "none.jsonl": 84,
    "questions_dev.jsonl": 106,
    "none_dev.jsonl": 36,
}
"""How many cases each file holds: one that got lost would make the figures look better or worse unseen."""


class BadCase(Exception):
    """A file of questions that can't be trusted: the text says which line and why."""


@dataclass(frozen=True)
class Gold:
    """A right page (as `pg__sql-select`), with the anchor of the section that answers, and 2 (answers) or 1 (helps)."""

    page: str
    anchor: str
    grade: int


@dataclass(frozen=True)
class Case:
    """A question and where it is answered; `gold` is empty where the manuals don't."""

    id: str
    kind: str
    question: str
    gold: tuple[Gold, ...]

    @property
    def right(self) -> frozenset[str]:
        """The pages that answer it."""
        return frozenset(gold.page for gold in self.gold if gold.grade == 2)

    @property
    def sources(self) -> frozenset[str]:
        """The sources of these pages."""
        return frozenset(page.split("__")[0] for page in self.right)


def load(file: Path, anchors: Mapping[str, frozenset[str]]) -> list[Case]:
    """The cases of a file. `anchors` holds each indexed page's own. Raises BadCase."""
    cases: list[Case] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            cases.append(_case(json.loads(line), anchors))
        except (ValueError, KeyError, TypeError) as error:
            raise BadCase(f"{file.name}, line {number}: {error!r}") from None
    if len(cases) != DECLARED.get(file.name, len(cases)):
        raise BadCase(f"{file.name} holds {len(cases)} cases, {DECLARED[file.name]} are declared")
    for field in ("id", "question"):
        values = [getattr(case, field) for case in cases]
        if doubles := sorted({value for value in values if values.count(value) > 1}):
            raise BadCase(f"{file.name}: the {field} {doubles[0]!r} occurs twice")
    return cases


def _case(raw: dict[str, Any], anchors: Mapping[str, frozenset[str]]) -> Case:
    kind, question, identity = raw["kind"], raw["question"], raw["id"]
    if not (isinstance(question, str) and question.strip() and isinstance(identity, str) and identity):
        raise ValueError("no question or no id")
    if "gold" not in raw:
        if kind not in NONE_KINDS or not raw["why"]:
            raise ValueError(f"unknown kind {kind!r} or no reason")
        return Case(identity, kind, question, ())
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    gold = tuple(Gold(g["page"].replace("/", "__", 1), g.get("anchor", ""), g["grade"]) for g in raw["gold"])
    for one in gold:
        if one.grade not in (1, 2):
            raise ValueError(f"grade {one.grade!r}")
        if one.page not in anchors:
            raise ValueError(f"there is no page {one.page}")
        if one.anchor and one.anchor not in anchors[one.page]:
            raise ValueError(f"{one.page} has no anchor {one.anchor}")
    if not any(one.grade == 2 for one in gold):
        raise ValueError("no page of grade 2")
    return Case(identity, kind, question, gold)


def halves(cases: list[Case]) -> tuple[list[Case], list[Case]]:
    """Our own questions: those that weights are tuned on, and those that only measure (every second one)."""
    return cases[::2], cases[1::2]
