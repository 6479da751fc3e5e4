"""The evaluation itself: what its loader refuses, what its measures mean, and that its own files are sound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import cases, metrics
from eval.cases import BadCase, Case, Gold, halves, load

ANCHORS = {"pg__sql-pour": frozenset({"SQL-POUR", "SQL-POUR-NOTES"}), "postgis__GT_Blend": frozenset({"GT_Blend"})}
GOOD: dict[str, object] = {
    "id": "a1",
    "kind": "howto",
    "question": "fill a cup",
    "gold": [{"page": "pg/sql-pour", "anchor": "SQL-POUR", "grade": 2}, {"page": "postgis/GT_Blend", "grade": 1}],
}


def written(folder: Path, *rows: dict[str, object], name: str = "some.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_good_case_is_read(tmp_path: Path) -> None:
    """Pages become the index's names; only grade 2 is right."""
    case = load(written(tmp_path, GOOD), ANCHORS)[0]
    assert case.right == {"pg__sql-pour"}
    assert case.sources == {"pg"}
    assert case.gold[1] == Gold("postgis__GT_Blend", "", 1)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "riddle"},
        {"question": " "},
        {"id": ""},
        {"gold": []},
        {"gold": [{"page": "pg/sql-spill", "grade": 2}]},
        {"gold": [{"page": "pg/sql-pour", "anchor": "SQL-SPILL", "grade": 2}]},
        {"gold": [{"page": "pg/sql-pour", "grade": 3}]},
        {"gold": [{"page": "pg/sql-pour", "grade": 1}]},
        {"gold": "pg/sql-pour"},
    ],
)
def test_a_case_that_cant_be_placed_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    """A question that is silently skipped would make the figures look better."""
    with pytest.raises(BadCase, match="line 1"):
        load(written(tmp_path, {**GOOD, **change}), ANCHORS)


def test_a_line_that_is_no_json_is_refused(tmp_path: Path) -> None:
    """Half a line is not half a question."""
    file = tmp_path / "some.jsonl"
    file.write_text('{"id": "a1", "kind"', encoding="utf-8")
    with pytest.raises(BadCase):
        load(file, ANCHORS)


def test_doubles_and_lost_cases_are_refused(tmp_path: Path) -> None:
    """Each question once, and as many as are declared."""
    with pytest.raises(BadCase, match="twice"):
        load(written(tmp_path, GOOD, GOOD), ANCHORS)
    with pytest.raises(BadCase, match="declared"):
        load(written(tmp_path, GOOD, name="questions.jsonl"), ANCHORS)


@pytest.mark.parametrize("name", ["questions.jsonl", "none.jsonl"])
def test_our_own_files_are_sound(name: str) -> None:
    """They load, with every page and anchor that they name taken as there."""
    rows = [json.loads(line) for line in (cases.HERE / name).read_text(encoding="utf-8").splitlines()]
    anchors: dict[str, frozenset[str]] = {}
    for gold in (gold for row in rows for gold in row.get("gold", ())):
        page = gold["page"].replace("/", "__", 1)
        anchors[page] = anchors.get(page, frozenset()) | {gold.get("anchor", "")}
    found = load(cases.HERE / name, anchors)
    assert len(found) == cases.DECLARED[name]
    if name == "questions.jsonl":
        assert len(found) >= 250
        assert {case.kind for case in found} == set(cases.KINDS)
        assert [len(half) for half in halves(found)] == [175, 175]


def test_the_measures() -> None:
    """Worked by hand: second place is MRR 1/2; a helpful page first and the right one second is nDCG 0.78."""
    case = Case("a1", "howto", "?", (Gold("right", "", 2), Gold("helps", "", 1)))
    assert metrics.place(case, ["helps", "right"]) == 2
    assert metrics.place(case, ["x"] * 10 + ["right"]) == 0
    assert metrics.recall([1, 2, 0, 7], 1) == 0.25
    assert metrics.recall([1, 2, 0, 7], 5) == 0.5
    assert metrics.mrr([1, 2, 0, 4]) == pytest.approx((1 + 0.5 + 0.25) / 4)
    assert metrics.ndcg(case, ["right", "helps"]) == 1
    assert metrics.ndcg(case, ["helps", "right"]) == pytest.approx(0.797, abs=0.001)
    assert metrics.ndcg(case, ["x"]) == 0


def test_the_section_is_hit_there_or_inside() -> None:
    """The gold anchor's own section counts, and one below it; its neighbour does not; no anchor, no figure."""
    sections = {"p": {"A": ("A",), "A1": ("A", "A1"), "B": ("A", "B"), "TABLE": ("A", "B")}}
    case = Case("a1", "howto", "?", (Gold("p", "TABLE", 2),))
    assert metrics.section_hit(case, "p", "B", sections) is True
    assert metrics.section_hit(case, "p", "A1", sections) is False
    assert metrics.section_hit(Case("a1", "howto", "?", (Gold("p", "A", 2),)), "p", "A1", sections) is True
    assert metrics.section_hit(Case("a1", "howto", "?", (Gold("p", "", 2),)), "p", "A", sections) is None
