"""How good the search is: every configuration on every set of questions, in one run.

    python eval/run.py [DOCS_DIR] [--context]        (or: python -m eval)

With --context also what how_do_i makes of questions with one answer and with several (eval/context.py). Prints the
tables and every question whose answer is not first, and writes them to eval/results.md, with a chart beside it where
matplotlib is installed (the extra `eval`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean, median
from urllib.parse import urldefrag

sys.path.insert(0, str(Path(__file__).parent.parent))

from eval import context, metrics
from eval.baselines import fts5, page_recipe
from eval.cases import HERE, SHARED, Case, halves, load
from eval.names import name_rows
from pgdocs.pages import split_anchors, split_sections
from pgdocs.search.build import build, read_phrases
from pgdocs.search.cache import PHRASES_DIR, dumps
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.search.rank import CONFIDENT
from pgdocs.search.tokens import tokens

TWIN = 0.6
"""A phrase that shares this part of its tokens with a question's (Jaccard) is a near twin of it."""

Sections = dict[str, dict[str, tuple[str, ...]]]
Found = list[tuple[str, str]]
"""Pages, best first, each with the anchor that is cited."""


@dataclass(frozen=True)
class Outcome:
    """What one configuration finds for one question, and how long that takes (in ms)."""

    case: Case
    found: Found
    took: float

    @property
    def pages(self) -> list[str]:
        return [page for page, _ in self.found]

    @property
    def place(self) -> int:
        return metrics.place(self.case, self.pages)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("docs", type=Path, nargs="?", default=HERE.parent / "docs", help="the converted pages")
    parser.add_argument("--context", action="store_true", help="also measure how_do_i")
    options = parser.parse_args(arguments)
    docs_dir: Path = options.docs
    index = DocumentSearchIndex(docs_dir)
    index.build_index()
    sections = anchors_of(index)
    known = {page: frozenset(found) for page, found in sections.items()}
    tuned, held = halves(load(HERE / "questions.jsonl", known))
    sets = {"own, tuned on": tuned, "own, only measured": held, "blind": load(HERE / "blind.jsonl", known)}
    none = {"own": load(HERE / "none.jsonl", known), "blind": load(HERE / "blind_none.jsonl", known)}
    if SHARED.is_dir():
        sets = {"development": load(SHARED / "questions_dev.jsonl", known), **sets}
        none = {"development": load(SHARED / "none_dev.jsonl", known), **none}
    lines: list[str] = ["# What the search finds", "", "Made by `python eval/run.py`; do not edit.", ""]
    hybrid: dict[str, list[Outcome]] = {}
    bars: dict[str, dict[str, tuple[float, float]]] = {}
    for name, cases in sets.items():
        lines += [f"## {name} ({len(cases)} questions)", "", *header("")]
        for label, search in configurations(index, docs_dir).items():
            outcomes = [ask(search, case) for case in cases]
            lines.append(row(label, outcomes, sections))
            at = [o.place for o in outcomes]
            bars.setdefault(name, {})[label] = (metrics.recall(at, 1), metrics.recall(at, 5))
            if label == "hybrid":
                hybrid[name] = outcomes
        lines.append("")
    for name, outcomes in hybrid.items():
        lines += [f"## hybrid by source, kind and nearness to a phrase: {name}", "", *header("")]
        lines += [row(label, some, sections) for label, some in parts(outcomes)] + [""]
    lines += ["## Questions that the manuals don't answer", "", *confidence_rows(index, none, hybrid), ""]
    lines += ["## Names", "", *name_rows(index), ""]
    lines += ["## Does the passage hold the answer?", "", *snippet_rows(index), ""]
    if options.context:
        measured = context.measure(index)
        lines += ["## how_do_i", "", context.table(measured), ""]
        chart(context.bars(measured), HERE / "context.svg", "the right page alone", "all facts")
    lines += ["## Not first", ""]
    for name, outcomes in hybrid.items():
        lines += [miss(name, o) for o in outcomes if o.place != 1]
    text = "\n".join(lines) + "\n"
    print(text)
    (HERE / "results.md").write_text(text, encoding="utf-8")
    chart(bars, HERE / "results.svg", "first", "in the first 5")


# --- what is compared ---------------------------------------------------------------------------------------


def configurations(index: DocumentSearchIndex, docs_dir: Path) -> dict[str, Callable[[str], Found]]:
    """Every way of searching, by name."""
    pages = index.pages()
    ranker = index.ranker
    passages = [
        (int(page), f"{pages[page].title} {section}", text)
        for page, section, text in zip(*(ranker.passages[part] for part in ("page", "section", "text")), strict=True)
    ]
    texts = [index.get_document(page.doc_name) for page in pages]
    with tempfile.TemporaryDirectory() as folder:
        bare = DocumentSearchIndex(docs_dir, Path(folder) / "bare.pkl")
        (Path(folder) / "bare.pkl").write_bytes(dumps(build(docs_dir, Path(folder))))
        bare.build_index()
    plain = {"page-level recipe": page_recipe(pages, texts), "FTS5 over sections": fts5(pages, passages)}
    return {
        **{name: partial(_without_anchor, search) for name, search in plain.items()},
        **{name: partial(_ours, index, name) for name in ("exact", "fuzzy", "semantic")},
        "hybrid without phrases": partial(_ours, bare, "hybrid"),
        "hybrid": partial(_ours, index, "hybrid"),
    }


def _without_anchor(search: Callable[[str], list[str]], query: str) -> Found:
    return [(page, "") for page in search(query)]


def _ours(index: DocumentSearchIndex, strategy: str, query: str) -> Found:
    return [(r.doc_name, urldefrag(r.url)[1]) for r in index.search(query, metrics.DEPTH, strategy)]


def ask(search: Callable[[str], Found], case: Case) -> Outcome:
    start = time.perf_counter()
    found = search(case.question)
    return Outcome(case, found, (time.perf_counter() - start) * 1000)


def anchors_of(index: DocumentSearchIndex) -> Sections:
    """For each page and anchor: the anchors of the sections around it, the page's own first, its section's last."""
    found: Sections = {}
    for info in index.pages():
        page, here = index.page(info.doc_name), dict[str, tuple[str, ...]]()
        trail: list[tuple[int, str]] = []
        for section in split_sections(page):
            trail = [(level, anchor) for level, anchor in trail if level < section.level]
            trail.append((section.level, section.anchor or (trail[-1][1] if trail else "")))
            around = tuple(anchor for _, anchor in trail)
            own = (a for line in section.text.split("\n") for a in split_anchors(line)[1])
            for anchor in chain((section.anchor,), own):
                here.setdefault(anchor, around)
        found[info.doc_name] = here
    return found


# --- tables -------------------------------------------------------------------------------------------------

COLUMNS = ("n", "R@1", "R@3", "R@5", "R@10", "MRR", "nDCG@10", "section", "median ms", "p99 ms")


def header(first: str) -> list[str]:
    return [f"| {first} | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]


def row(label: str, outcomes: Sequence[Outcome], sections: Sections) -> str:
    places = [o.place for o in outcomes]
    hits = [metrics.section_hit(o.case, *o.found[0], sections) for o in outcomes if o.place == 1]
    told = [hit for hit in hits if hit is not None]
    took = [o.took for o in outcomes]
    figures = [
        *(metrics.recall(places, at) for at in (1, 3, 5, 10)),
        metrics.mrr(places),
        fmean(metrics.ndcg(o.case, o.pages) for o in outcomes),
        fmean(told) if told else 0.0,
    ]
    cells = [str(len(outcomes)), *(f"{x:.3f}" for x in figures), f"{median(took):.2f}"]
    return f"| {label} | " + " | ".join([*cells, f"{metrics.percentile(took, 0.99):.1f}"]) + " |"


def parts(outcomes: Sequence[Outcome]) -> Iterable[tuple[str, list[Outcome]]]:
    """The outcomes by source, by kind, and without the questions that have a near twin among the phrases."""
    for source in sorted({s for o in outcomes for s in o.case.sources}):
        yield source, [o for o in outcomes if source in o.case.sources]
    for kind in sorted({o.case.kind for o in outcomes}):
        yield kind, [o for o in outcomes if o.case.kind == kind]
    phrases = [frozenset(tokens(phrase)) for *_, phrase in read_phrases(PHRASES_DIR)]
    twin = {o.case.id: _has_twin(frozenset(tokens(o.case.question)), phrases) for o in outcomes}
    yield "no near twin", [o for o in outcomes if not twin[o.case.id]]


def _has_twin(question: frozenset[str], phrases: Sequence[frozenset[str]]) -> bool:
    return any(len(question & p) >= TWIN * len(question | p) for p in phrases if p)


def confidence_rows(
    index: DocumentSearchIndex, none: dict[str, list[Case]], answered: dict[str, list[Outcome]]
) -> list[str]:
    """How many questions of each set are told that there is no confident answer."""
    rows = ["| set | n | told so |", "|---|---|---|"]
    sets = {f"unanswerable, {name}": cases for name, cases in none.items()}
    sets |= {f"answerable, {name}": [o.case for o in outcomes] for name, outcomes in answered.items()}
    for name, cases in sets.items():
        told = [case for case in cases if not any(r.score >= CONFIDENT for r in index.search(case.question, 1))]
        rows.append(f"| {name} | {len(cases)} | {len(told) / len(cases):.3f} |")
        wrong = told if name.startswith("answerable") else [case for case in cases if case not in told]
        rows += [
            f"| … {'told' if name.startswith('a') else 'not told'}: {c.id} | | {c.question if 'own' in name else ''} |"
            for c in wrong
        ]
    return rows


def snippet_rows(index: DocumentSearchIndex) -> list[str]:
    """Of the questions with one answer whose page is first: how many snippets hold all that must be in them."""
    rows = ["| set | n | page first | snippet holds it |", "|---|---|---|---|"]
    for file in (SHARED / "one_answer_dev.jsonl", HERE / "one_answer.jsonl"):
        if not file.is_file():
            continue
        raw = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        first = holds = 0
        for case in raw:
            found = index.search(case["question"], 1)
            if found and found[0].doc_name == f"{case['source']}__{case['page']}":
                first += 1
                shown = _squeezed(found[0].section + "\n" + found[0].snippet)
                holds += all(_squeezed(fact) in shown for fact in case["must_contain"])
        rows.append(f"| {file.name} | {len(raw)} | {first / len(raw):.3f} | {holds / max(first, 1):.3f} |")
    return rows


def _squeezed(text: str) -> str:
    return " ".join(text.replace("`", "").replace("**", "").split()).lower()


def miss(name: str, outcome: Outcome) -> str:
    """One line: what was asked (of our own questions), what came first, and where the right page is."""
    case = outcome.case
    first = outcome.pages[0] if outcome.pages else "nothing"
    right = ", ".join(sorted(case.right))
    asked = f": {case.question}" if name.startswith("own") else ""
    return f"- {case.id} ({name}, {case.kind}){asked} → {first}; {right} is {outcome.place or 'not there'}"


def chart(bars: dict[str, dict[str, tuple[float, float]]], file: Path, dark: str, light: str) -> None:
    """Two shares of each configuration, one panel a set: the greater one pale, behind the lesser."""
    try:
        from matplotlib import pyplot, rcParams
    except ImportError:
        print("No chart: matplotlib is not installed (pip install -e .[eval]).", file=sys.stderr)
        return
    rcParams["svg.hashsalt"] = "pgdocs"  # the same file for the same figures
    figure, panels = pyplot.subplots(1, len(bars), figsize=(5 * len(bars), 3.2), sharey=True, squeeze=False)
    for panel, (name, rows) in zip(panels[0], bars.items(), strict=True):
        labels = list(rows)[::-1]
        panel.barh(labels, [rows[label][1] for label in labels], color="#c9d7e8", label=light)
        panel.barh(labels, [rows[label][0] for label in labels], color="#336791", label=dark)
        panel.set(title=name, xlim=(0, 1))
    panels[0][0].legend(loc="lower right", fontsize="small")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main()
