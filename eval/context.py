"""How short, right and restrained the answers of `how_do_i` are, beside what a plain retriever hands on.

    python eval/context.py [DOCS_DIR]

A question of one answer names its page and the strings that an answer holds; one of several answers names all pages
that are right; a how-to names pages and strings of which one is enough (`any_of`). Of each way of assembling the table
tells:

    hit         a right page is cited                  facts       all strings are in the block
    precision   right pages of all that are cited      restraint   the right page is cited and no other (one answer)
    wrong       wrong pages per question               tokens      mean and maximum, by `count_tokens`

Below it, every question that how_do_i gets wrong.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parent.parent))

from pgdocs.pages import unlink
from pgdocs.search.context import Context, context, naive
from pgdocs.search.index import DocumentSearchIndex

HERE = Path(__file__).parent
BLIND = "blind"
HOW_TO = "how-to"
SETS = {
    "development": HERE.parent.parent / "shared" / "eval" / "one_answer_dev.jsonl",
    "own": HERE / "one_answer.jsonl",
    "several answers": HERE / "several.jsonl",
    f"{BLIND}, one answer": HERE / "blind_one_answer.jsonl",
    f"{BLIND}, several answers": HERE / "blind_several.jsonl",
    HOW_TO: HERE / "howto.jsonl",
}
"""The questions. `development` is not part of this repository: left out where it isn't beside it. The constants of
context.py were chosen on it and on `own`. `blind` was written without a look at the search; of the constants only
SECOND was chosen with its results in view, and so were, of the ranking's, MIDDLE and how much headings count; KINDRED
and PRICE with those of `blind` and of every second how-to, the first one first. The other how-tos only measure."""


@dataclass(frozen=True)
class Question:
    """A question with its right pages (doc_names) and the strings that an answer holds."""

    id: str
    text: str
    pages: frozenset[str]
    must_contain: tuple[str, ...]
    any_of: tuple[str, ...]
    one_answer: bool


@dataclass(frozen=True)
class Outcome:
    """What one way of assembling gives for one question."""

    question: Question
    context: Context

    @property
    def cited(self) -> set[str]:
        return {passage.doc_name for passage in self.context.passages}

    @property
    def hit(self) -> bool:
        return bool(self.cited & self.question.pages)

    @property
    def missing(self) -> list[str]:
        text = fold(self.context.text)
        lacking = [fact for fact in self.question.must_contain if fold(fact) not in text]
        some = [fact for fact in self.question.any_of if fold(fact) in text]
        return lacking + ([] if some or not self.question.any_of else [" or ".join(self.question.any_of)])

    @property
    def wrong(self) -> set[str]:
        return self.cited - self.question.pages

    @property
    def precision(self) -> float:
        return len(self.cited & self.question.pages) / len(self.cited) if self.cited else 0.0

    @property
    def restrained(self) -> bool:
        return self.cited == self.question.pages


def fold(text: str) -> str:
    """`text` without marks of code and emphasis, each run of white space as one blank."""
    return " ".join(re.sub(r"`|\*\*", "", text).split())


def read(file: Path) -> list[Question]:
    """The questions of a file. One that lacks a field raises KeyError: what can't be judged is no question."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        names = row["pages"] if "pages" in row else [row["page"]]
        pages = frozenset(f"{row['source']}__{name}" for name in names)
        if not row.keys() & {"must_contain", "any_of"}:
            raise KeyError("must_contain")
        facts, some = (tuple(row.get(name, ())) for name in ("must_contain", "any_of"))
        found.append(Question(row["id"], row["question"], pages, facts, some, "page" in row))
    return found


def unplaced(index: DocumentSearchIndex, questions: list[Question]) -> list[str]:
    """Questions whose pages are not indexed, or don't hold what an answer must hold."""
    known = {page.doc_name for page in index.pages()}
    bad = []
    for question in questions:
        texts = [fold(unlink(index.get_document(name))) for name in sorted(question.pages & known)]
        held = [any(fold(fact) in text for text in texts) for fact in question.must_contain + question.any_of]
        if question.pages - known or not all(held):
            bad.append(question.id)
    return bad


WAYS = ("top-5 sections", "… of 800 tokens", "how_do_i")

Measured = dict[str, dict[str, list[Outcome]]]
"""By set of questions and by way of assembling."""


def measure(index: DocumentSearchIndex) -> Measured:
    """What each way makes of each question. Ends with a sentence where an answer is not in the pages."""
    ways: tuple[Callable[[str], Context], ...] = (
        partial(naive, index),
        partial(naive, index, token_budget=800),
        partial(context, index),
    )
    sets = {name: read(file) for name, file in SETS.items() if file.is_file()}
    for name, questions in sets.items():
        if bad := unplaced(index, questions):
            raise SystemExit(f"Questions of {name} whose answer is not in these pages: {', '.join(bad)}.")
    if HOW_TO in sets:
        questions = sets.pop(HOW_TO)
        sets |= {f"{HOW_TO}, tuned on": questions[::2], f"{HOW_TO}, only measured": questions[1::2]}
    return {
        f"{name} ({len(questions)})": {
            way: [Outcome(question, assemble(question.text)) for question in questions]
            for way, assemble in zip(WAYS, ways, strict=True)
        }
        for name, questions in sets.items()
    }


def table(measured: Measured) -> str:
    """The table, and the failures of how_do_i by name; of the sets that only measure, their number."""
    lines = [
        "| questions | way | hit | facts | precision | restraint | wrong | tokens | max |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    failures: list[str] = []
    for name, ways in measured.items():
        lines += [row(name, way, outcomes) for way, outcomes in ways.items()]
        if not name.startswith((BLIND, HOW_TO)):
            failures += [failure(o) for o in ways[WAYS[-1]] if o.missing or o.wrong or not o.hit]
    return "\n".join([*lines, "", *failures])


def bars(measured: Measured) -> dict[str, dict[str, tuple[float, float]]]:
    """Restraint and facts of each way on the questions of one answer, for a chart."""
    return {
        name: {
            f"{way}: {fmean(o.context.tokens for o in outcomes):.0f} tokens": (
                fmean(o.restrained for o in outcomes),
                fmean(not o.missing for o in outcomes),
            )
            for way, outcomes in ways.items()
        }
        for name, ways in measured.items()
        if next(iter(ways.values()))[0].question.one_answer
    }


def row(name: str, way: str, outcomes: list[Outcome]) -> str:
    """A line of the table."""
    tokens = [outcome.context.tokens for outcome in outcomes]
    one = [outcome.restrained for outcome in outcomes if outcome.question.one_answer]
    cells = [
        name,
        way,
        f"{fmean(outcome.hit for outcome in outcomes):.2f}",
        f"{fmean(not outcome.missing for outcome in outcomes):.2f}",
        f"{fmean(outcome.precision for outcome in outcomes):.2f}",
        f"{fmean(one):.2f}" if one else "",
        f"{fmean(len(outcome.wrong) for outcome in outcomes):.2f}",
        f"{fmean(tokens):.0f}",
        f"{max(tokens)}",
    ]
    return f"| {' | '.join(cells)} |"


def failure(outcome: Outcome) -> str:
    """A line that says what a question got wrong."""
    question = outcome.question
    parts = [
        f"cites {', '.join(sorted(outcome.cited)) or 'nothing'}, not {', '.join(sorted(question.pages))}"
        if not outcome.hit
        else "",
        f"also cites {', '.join(sorted(outcome.wrong))}" if outcome.hit and outcome.wrong else "",
        f"lacks {', '.join(map(repr, outcome.missing))}" if outcome.missing else "",
    ]
    return f"{question.id} {question.text}\n    {'; '.join(filter(None, parts))}"


if __name__ == "__main__":
    print(table(measure(DocumentSearchIndex(sys.argv[1] if sys.argv[1:] else HERE.parent / "docs"))))
