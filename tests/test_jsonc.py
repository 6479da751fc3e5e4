"""Editing JSON where it stands: against the standard library, over whatever hypothesis thinks of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgdocs.serve.jsonc import BadJson, loads, put, take

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
BLANKS = st.sampled_from(["", " ", "\n", "// a { comment\n", '/* , " ] */', "\r\n\t"])


@given(VALUES, INDENTS, BLANKS, BLANKS)
def test_it_reads_what_the_standard_library_writes(value: Any, indent: Any, before: str, after: str) -> None:
    """The same values, whatever blanks and comments stand around them."""
    assert loads(before + json.dumps(value, indent=indent, ensure_ascii=False) + after) == value


@given(OBJECTS, INDENTS, st.text(), VALUES)
def test_what_is_put_is_there_and_the_rest_as_it_was(data: dict[str, Any], indent: Any, key: str, value: Any) -> None:
    """A new or another value of a key; all others equal, in their order."""
    edited = loads(put(json.dumps(data, indent=indent), (key,), value))
    assert edited == {**data, key: value}
    assert list(edited) == list({**data, key: value})


@given(OBJECTS, INDENTS, BLANKS, st.text(), VALUES)
def test_what_is_put_and_taken_leaves_no_trace(
    data: dict[str, Any], indent: Any, comment: str, key: str, value: Any
) -> None:
    """Another server's entry among others: to the letter the text of before."""
    data.pop(key, None)
    text = comment + json.dumps({"servers": {"first": 1, **data}, "last": 2}, indent=indent) + comment
    if key != "first":
        assert take(put(text, ("servers", key), value), ("servers", key)) == text


@given(OBJECTS, INDENTS)
def test_each_member_can_be_taken_alone(data: dict[str, Any], indent: Any) -> None:
    """First, last or in between, no comma is left over and none is missing."""
    text = json.dumps(data, indent=indent)
    for key in data:
        assert json.loads(take(text, (key,))) == {other: data[other] for other in data if other != key}


@pytest.mark.parametrize(
    ("text", "path", "told"),
    [
        ('{"a": 1, // b\n  "c": 2,}', ("a",), '{ // b\n  "c": 2,}'),
        ('{\n  "a": 1, // one\n  "b": 2 // two\n}', ("b",), '{\n  "a": 1 // one // two\n}'),
        ('{"a": {"b": 1}}', ("a", "b"), '{"a": {}}'),
        ('{"a": 1}', ("a", "b"), '{"a": 1}'),
        ('{"a": 1}', ("x", "y", "z"), '{"a": 1}'),
        ("", ("a",), ""),
    ],
)
def test_comments_stay_when_a_member_goes(text: str, path: tuple[str, ...], told: str) -> None:
    """They may be about something else; what isn't there isn't taken."""
    assert take(text, path) == told


@pytest.mark.parametrize(
    "text", ["{", '{"a"}', '{"a":}', "[1 2]", "nul", '"a', "/* {}", "{} x", '{"a":1,,}', "[,]", "-", "'a'"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    """With the line and the column."""
    with pytest.raises(BadJson, match=r"line 1, column \d+: .* expected"):
        loads(text)
