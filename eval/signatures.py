"""Whether a name gets its documented signatures: the symbol table against a list of names.

    python eval/signatures.py SIGNATURES.jsonl --docs docs [--show 30]

Each line of the list: name, source, kind, pages, signatures, return_types. Per kind: names whose every signature is
in the answer (white space, comments, `;` and `(void)` aside; the result before or behind), names whose first printed
signature is one of them, and the share of printed signatures that are documented ones of that name (noise: the rest).
Exit 1 when a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from pgdocs.pages import read_page, short_name
from pgdocs.search.names import SymbolTable
from pgdocs.search.signatures import compact
from pgdocs.search.symbols import Symbol, extract

BOUNDS = {"function": 1.0, "aggregate": 1.0, "window": 1.0, "syntax": 1.0, "c-api": 0.98, "pl": 0.98, "pgbench": 0.98}
"""Least share of a kind's names that must get every signature."""

DOCUMENTED = 0.95
"""Least share of printed signatures that are documented ones of the name."""


def table_of(docs: Path) -> SymbolTable:
    pages = [read_page(file, docs) for file in sorted(docs.rglob("*.md"))]
    return SymbolTable(symbol for page in pages for symbol in extract(page))


def forms(signature: str, results: list[str]) -> set[str]:
    """The compact ways in which a documented signature may be printed: its result before it or behind it."""
    one = compact(signature)
    both = {one}
    for result in map(compact, results):
        for arrow in ("→", "returns"):
            if one.endswith(arrow + result):
                call = one.removesuffix(arrow + result)
                both |= {call + "→" + result, call + "returns" + result, result + call}
    return both


def printed(symbols: list[Symbol]) -> list[tuple[str, str]]:
    """Each printed signature, compact, with the page (`pg/sql-select`) that it is from."""
    return [(compact(one), short_name(s.doc_name)) for s in symbols for one in s.signatures]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("list", type=Path, help="names with their documented signatures, a JSON object per line")
    parser.add_argument("--docs", type=Path, default=Path("docs"), metavar="FOLDER", help="the converted pages")
    parser.add_argument("--show", type=int, default=30, metavar="N", help="how many misses to show")
    args = parser.parse_args()

    rows: list[dict[str, Any]] = [json.loads(line) for line in args.list.read_text(encoding="utf-8").splitlines()]
    allowed: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for signature in row["signatures"]:
            allowed[row["name"].casefold()] |= forms(signature, row["return_types"])
    table = table_of(args.docs)

    names: dict[str, int] = defaultdict(int)
    whole: dict[str, int] = defaultdict(int)
    first: dict[str, int] = defaultdict(int)
    lines = documented = 0
    misses: list[str] = []
    started = time.perf_counter()
    for row in rows:
        kind, key = row["kind"], row["name"].casefold()
        answer = printed(table.find(row["name"]))
        texts = [text for text, _ in answer]
        lost = [
            s for s in row["signatures"] if not any(f in text for f in forms(s, row["return_types"]) for text in texts)
        ]
        names[kind] += 1
        whole[kind] += not lost
        own = [text for text, page in answer if page in row["pages"]]
        leads = bool(texts) and (texts[0] in allowed[key] or answer[0][1] not in row["pages"])
        first[kind] += leads
        lines += len(own)
        good = [text for text in own if any(form in text for form in allowed[key])]
        documented += len(good)
        if lost or not leads or len(good) < len(own):
            noise = [text for text in own if text not in good]
            misses.append(f"{kind} {row['name']} {row['pages']}: lost {lost[:2]}, first {texts[:1]}, noise {noise[:2]}")
    seconds = (time.perf_counter() - started) / max(len(rows), 1)

    print("| kind | names | every signature | first is one |\n|---|---|---|---|")
    for kind in sorted(names):
        print(f"| {kind} | {names[kind]} | {whole[kind] / names[kind]:.1%} | {first[kind] / names[kind]:.1%} |")
    share = documented / lines if lines else 0.0
    print(
        f"\nsignatures printed from the names' pages: {lines}, documented {share:.1%}; {seconds * 1000:.2f} ms a name"
    )
    for miss in misses[: args.show]:
        print(" ", miss)
    held = share >= DOCUMENTED and all(whole[kind] / names[kind] >= BOUNDS.get(kind, 1.0) for kind in names)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
