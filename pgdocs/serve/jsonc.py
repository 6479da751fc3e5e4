"""JSON as people keep it in configuration files (comments, trailing commas): read, and edited where it stands.

Values are set and taken out in the text itself, so that comments, order, indentation and line ends around them stay.

    >>> put('{"a": 1}  // mine', ("b", "c"), [2])
    '{"a": 1, "b": {"c": [2]}}  // mine'
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DECODER = json.JSONDecoder()
_DEEP = 200
"""Levels of nesting that are read: a file that is deeper is no configuration."""


class BadJson(ValueError):
    """Not JSON, not even with comments; the text says where."""


@dataclass
class _Node:
    """A value, where it stands, and the members of an object in order (of twins the last one counts)."""

    start: int
    end: int
    value: Any
    members: list[_Member] = field(default_factory=list)

    def member(self, key: str) -> _Member | None:
        return next((member for member in reversed(self.members) if member.key == key), None)


@dataclass
class _Member:
    key: str
    start: int
    node: _Node
    comma: int | None = None
    """Where the comma after it stands, if there is one."""


def loads(text: str) -> Any:
    """The value of `text`; None for a file that holds nothing. Raises BadJson."""
    root = _parse(text)
    return root.value if root else None


def put(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at `path`, the objects on the way made where they are missing. Raises BadJson; ValueError
    where something on the way is no object."""
    root = _parse(text)
    if root is None:
        nested: Any = value
        for key in reversed(path):
            nested = {key: nested}
        return json.dumps(nested, indent=2, ensure_ascii=False) + "\n"
    node, start = root, 0
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the whole'} is not an object")
        member = node.member(key)
        if member is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _insert(text, node, key, value)
        node, start = member.node, member.start
    return text[: node.start] + _rendered(text, value, _indent(text, start)) + text[node.end :]


def take(text: str, path: Sequence[str]) -> str:
    """`text` without what stands at `path`; as it is where there is nothing. Raises BadJson."""
    node = _parse(text)
    for key in path[:-1]:
        step = node.member(key) if node else None
        node = step.node if step else None
    member = node.member(path[-1]) if node else None
    if node is None or member is None:
        return text
    number = node.members.index(member)
    before = member.start - len(_trailing_blank(text[: member.start]))
    end = member.node.end if member.comma is None else member.comma + 1
    if len(node.members) == 1:
        rest = text[node.start + 1 : before] + text[end : node.end - 1]
        return text[: node.start + 1] + (rest if rest.strip() else "") + text[node.end - 1 :]
    if number == len(node.members) - 1 and member.comma is None:  # the comma before it would be left over
        comma = node.members[number - 1].comma
        assert comma is not None
        return text[:comma] + text[comma + 1 : before] + text[end:]
    return text[:before] + text[end:]


def _insert(text: str, node: _Node, key: str, value: Any) -> str:
    """A new last member of the object `node`."""
    inner, close = text[node.start + 1 : node.end - 1], node.end - 1
    last = node.members[-1] if node.members else None
    if last and "\n" not in inner:
        rendered = json.dumps({key: value}, ensure_ascii=False, separators=None if '": ' in inner else (",", ":"))[1:-1]
        at = last.node.end if last.comma is None else last.comma + 1
        comma = (", " if " " in inner else ",") if last.comma is None else " "
        return text[:at] + comma + rendered + ("" if last.comma is None else ",") + text[at:]
    outer = _indent(text, node.start)
    indent = _indent(text, last.start) if last else outer + _unit(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    member = f"{newline}{indent}{json.dumps(key, ensure_ascii=False)}: {_rendered(text, value, indent)}"
    tail = _trailing_blank(text[:close])
    if "\n" not in tail:
        tail = newline + outer
    at = close - len(_trailing_blank(text[:close]))
    if last is None:
        return text[:at] + member + tail + text[close:]
    if last.comma is not None:
        return text[:at] + member + "," + tail + text[close:]
    return text[: last.node.end] + "," + text[last.node.end : at] + member + tail + text[close:]


def _rendered(text: str, value: Any, indent: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", newline + indent)


def _indent(text: str, at: int) -> str:
    """The blanks at the beginning of the line that holds `at`."""
    match = re.match(r"[ \t]*", text[text.rfind("\n", 0, at) + 1 : at])
    return match[0] if match else ""


def _unit(text: str) -> str:
    """One step of indentation, as the file has it."""
    match = re.search(r'\n([ \t]+)"', text)
    return match[1] if match else "  "


def _trailing_blank(text: str) -> str:
    return text[len(text.rstrip(" \t\r\n")) :]


# --- reading ------------------------------------------------------------------------------------------------


def _parse(text: str) -> _Node | None:
    at = _blank(text, 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    if (end := _blank(text, node.end)) < len(text):
        raise _bad(text, end, "nothing more")
    return node


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, depth: int) -> _Node:
    first = text[at : at + 1]
    if depth > _DEEP:
        raise _bad(text, at, "less nesting")
    if first == "{":
        return _object(text, at, depth)
    if first == "[":
        return _array(text, at, depth)
    if first == '"':
        value, end = _string(text, at)
        return _Node(at, end, value)
    if match := _WORD.match(text, at):
        return _Node(at, match.end(), json.loads(match[0]))
    raise _bad(text, at, "a value")


def _object(text: str, start: int, depth: int) -> _Node:
    node = _Node(start, start, {})
    at = _blank(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise _bad(text, at, "a name in quotes or }")
        key, end = _string(text, at)
        colon = _blank(text, end)
        if text[colon : colon + 1] != ":":
            raise _bad(text, colon, "a colon")
        member = _Member(key, at, _value(text, _blank(text, colon + 1), depth + 1))
        node.members.append(member)
        node.value[key] = member.node.value
        at = _blank(text, member.node.end)
        if text[at : at + 1] == ",":
            member.comma = at
            at = _blank(text, at + 1)
        elif text[at : at + 1] != "}":
            raise _bad(text, at, "a comma or }")
    node.end = at + 1
    return node


def _array(text: str, start: int, depth: int) -> _Node:
    node = _Node(start, start, [])
    at = _blank(text, start + 1)
    while text[at : at + 1] != "]":
        item = _value(text, at, depth + 1)
        node.value.append(item.value)
        at = _blank(text, item.end)
        if text[at : at + 1] == ",":
            at = _blank(text, at + 1)
        elif text[at : at + 1] != "]":
            raise _bad(text, at, "a comma or ]")
    node.end = at + 1
    return node


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except ValueError as error:
        raise _bad(text, at, "a string that ends") from error
    return str(value), end


def _bad(text: str, at: int, wanted: str) -> BadJson:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return BadJson(f"line {line}, column {column}: {wanted} is expected")
