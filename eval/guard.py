"""What the guard finds, what it leaves alone, and what it costs.

    python eval/guard.py [DOCS_DIR]

The attacks and look-alikes of tests/unseen_*.tsv were written by people who had seen neither the guard nor what its
weights were learned from; those of tests/attacks.txt are ours, and not learned from either. Four constants were chosen
with the results of all in view: CAUTION (train_guard), IN_COMPANY, MIDST (guard_weights) and DECODED (guard_disguise).
All lines are read as a paragraph of a page.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from pgdocs.serve.guard import inspect

TESTS = Path(__file__).parent.parent / "tests"
OURS, UNSEEN, ALIKE = TESTS / "attacks.txt", TESTS / "unseen_attacks.tsv", TESTS / "unseen_harmless.tsv"
LEARNED = TESTS.parent / "scripts" / "guard"

ANSWER = 9000
"""Characters of a long answer: what is read at once."""


def attacks(file: Path) -> list[tuple[str, str]]:
    """Family and text of each attack of a file: `## family` above its lines, where `\\n` is a line end."""
    family, found = "", []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("## ") and line[3].islower():
            family = line[3:]
        elif line and not line.startswith("# "):
            found.append((family, _seen(line).replace("\\n", "\n")))
    return found


def table(file: Path) -> list[tuple[str, str]]:
    """Family and text of each line of a file: the family, a tab, the text."""
    rows = [line.split("\t", 1) for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")]
    return [(family, _seen(text)) for family, text in rows]


def _seen(line: str) -> str:
    return re.sub(r"\\u\{([0-9a-f]+)\}", lambda match: chr(int(match[1], 16)), line)


def around(text: str) -> str:
    """A page that holds a text in a paragraph of its own."""
    return f"# VACUUM\n\nVACUUM reclaims the storage of dead rows.\n\n{text}\n\nSee also [ANALYZE](sql-analyze.html).\n"


def alarmed(text: str) -> bool:
    """Whether anything is removed from a text."""
    return bool(inspect(text).reasons)


def main() -> None:
    """Print the figures."""
    learned = (len(table(LEARNED / name)) for name in ("attacks.tsv", "harmless.tsv"))
    print("learned from: {:,} attacks, {:,} look-alikes".format(*learned))
    for name, rows in (("our attacks", attacks(OURS)), ("unseen attacks", table(UNSEEN))):
        print(_row(f"{name}, found", [alarmed(around(text)) for _, text in rows]))
    families = Counter(family for family, _ in table(UNSEEN))
    missed = Counter(family for family, text in table(UNSEEN) if not alarmed(around(text)))
    for family, size in sorted(families.items()):
        print(f"    {family}: {size - missed[family]} of {size}")
    print(_row("unseen look-alikes, alarms", [alarmed(around(text)) for _, text in table(ALIKE)]))
    docs = Path(sys.argv[1]) if sys.argv[1:] else TESTS.parent / "docs"
    pages = [file.read_text(encoding="utf-8") for file in sorted(docs.glob("**/*.md"))]
    print(_row(f"pages in {docs}, alarms", [alarmed(page) for page in pages]))
    if answers := [page[:ANSWER] for page in pages if len(page) > ANSWER]:
        size = max(map(len, pages))
        print(f"an answer of {ANSWER:,} characters: {_milliseconds(answers):.2f} ms; ", end="")
        print(f"the largest page ({size:,} characters): ", end="")
        print(f"{_milliseconds([max(pages, key=len)] * 9):.1f} ms")


def _row(name: str, found: list[bool]) -> str:
    return f"{name}: {sum(found)} of {len(found)}, {sum(found) / max(len(found), 1):.1%}"


def _milliseconds(texts: list[str]) -> float:
    """The median time that one of some texts takes."""
    taken = []
    for text in texts:
        start = time.perf_counter()
        inspect(text)
        taken.append(time.perf_counter() - start)
    return 1000 * median(taken)


if __name__ == "__main__":
    main()
