"""The phrase files: text that anyone may edit, so that a slip in them is found here."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from eval.cases import HERE
from pgdocs.search.build import read_phrases
from pgdocs.search.cache import COUNTERPARTS, ELSEWHERE, PHRASES_DIR, phrase_files
from pgdocs.search.counterparts import counterparts

FILES = phrase_files()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_line_is_slug_anchor_phrase(file: Path) -> None:
    """Three fields, a slug and a phrase in it, no blanks at the ends, no control characters, sorted or not."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{file.name}:{number}"
        fields = line.split("\t")
        assert len(fields) == 3, where
        slug, anchor, phrase = fields
        assert re.fullmatch(r"[\w.-]+", slug), where
        assert re.fullmatch(r"[\w.:-]*", anchor), where
        assert phrase, where
        assert phrase == phrase.strip(), where
        assert phrase.isprintable(), where


def test_no_page_has_a_phrase_twice() -> None:
    """A double would count for two people."""
    counted = Counter((source, slug, phrase.lower()) for source, slug, _, phrase in read_phrases(PHRASES_DIR))
    assert [entry for entry, times in counted.items() if times > 1] == []


def test_no_question_of_the_evaluation_is_a_phrase() -> None:
    """The figures would mean nothing. A server's error text is what it is; a name or two words may meet by chance."""
    files = [HERE / "questions.jsonl", HERE / "howto.jsonl", *HERE.glob("blind*.jsonl")]
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    asked = {row["question"].lower() for row in rows if row.get("kind") != "error"}
    long = {phrase.lower() for *_, phrase in read_phrases(PHRASES_DIR) if len(phrase.split()) > 4}
    assert sorted(asked & long) == []


def test_other_products_are_named_once() -> None:
    """Each line is a name and what it is."""
    lines = (PHRASES_DIR / ELSEWHERE).read_text(encoding="utf-8").splitlines()
    assert all(len(line.split("\t")) == 2 for line in lines)
    names = [line.split("\t")[0] for line in lines]
    assert len(names) == len(set(names))
    for name in names:
        re.compile(name if "\\" in name else re.escape(name))


def test_other_products_names_lead_to_ours() -> None:
    """Each line is their name, once, and one of ours or more; theirs alone, in a sentence or called is found."""
    lines = (PHRASES_DIR / COUNTERPARTS).read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    assert all(re.fullmatch(r"[^\t]*[^\s]\t[^\s,](?:[^\t]*[^\s])?", line) and line == line.strip() for line in lines)
    assert len({line.split("\t")[0] for line in lines}) == len(lines)
    assert counterparts("GROUP_CONCAT()") == counterparts("how is Group_Concat written here?")
    assert counterparts("STUFF(a, 1, 2, '')") == [("stuff", ("overlay",))]
    assert counterparts("where to put all this stuff") == []
