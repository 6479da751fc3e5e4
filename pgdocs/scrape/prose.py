"""What of a page of markdown is prose and what is code, and what a rule is that changes the one and not the other.

It lies below the rules of `flavours.py` and `mdx.py`, and below `folder.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Include = Callable[[str], str | None]
"""The text of the file that a page names, None where there is none that it may have."""

Rule = Callable[[str, Include], str]

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)$")
_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\$\$.+?\$\$|\$(?=[^$\n]*\\[a-zA-Z])[^$\n]+\$", re.S)
"""Code and formulas, whose braces and angles are their own."""
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
PROPS = (
    rf"(?:\s+(?:[\w:@.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|{_BRACES}|[^\s\"'{{}}<>]+))?"  # name, name="x", name={x}
    r"|\{\.\.\.[^{}]*\}))*"
)
"""The attributes of a tag."""

TAG = re.compile(rf"<(?P<close>/?)(?P<name>[A-Za-z][\w.]*)(?P<props>{PROPS})\s*(?P<empty>/?)>")
"""A tag of HTML or JSX: groups close, name, props, empty."""


class FrontMatter(NamedTuple):
    """The values above a page, and the page."""

    values: dict[str, str]
    text: str


def front_matter(text: str) -> FrontMatter:
    """Cut `key: value` lines between two lines of `---` off a page. What is nested or listed in them is left out."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = re.match(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", text, re.S)
    values: dict[str, str] = {}
    key = ""
    for line in found[1].split("\n") if found else ():
        if pair := re.match(r"([\w-]+):\s*(.*?)\s*$", line):
            key = pair[1]
            values[key] = "" if re.fullmatch(r"[|>][+-]?", pair[2]) else re.sub(r"^(['\"])(.*)\1$", r"\2", pair[2])
        elif key and line.startswith((" ", "\t")) and not line.lstrip().startswith("- "):
            values[key] = f"{values[key]} {line.strip()}".strip()
    return FrontMatter(values, text[found.end() :] if found else text)


# --- fences and what is outside of them ---------------------------------------------------------------------


def scan(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to a fence, however far that is indented."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        else:
            fence = mark[1] if mark and "`" not in mark[2] else ""
            yield line, bool(fence)


def unfenced(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to what is not in a fence."""
    done: list[str] = []
    kept: list[str] = []
    for line, fenced in (*scan(text), ("", True)):
        if fenced:
            if kept:
                done.append(change("\n".join(kept)))
                kept = []
            done.append(line)
        else:
            kept.append(line)
    return "\n".join(done[:-1])


def prose(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to what is neither in a fence nor in a span of code or a formula."""

    def clean(part: str) -> str:
        spans: list[str] = []

        def keep(match: re.Match[str]) -> str:
            spans.append(match[0])
            return f"\0{len(spans) - 1}\0"

        return re.sub(r"\0(\d+)\0", lambda match: spans[int(match[1])], change(_SPAN.sub(keep, part)))

    return unfenced(text.replace("\0", ""), clean)


def quote(label: str, body: str) -> str:
    """An admonition as a quotation; fences in it stand outside, where they are fences for everyone."""
    lines: list[str] = [f"> **{label}:**" if label else ">"]
    was_fenced = False
    for line, fenced in scan(body.strip("\n")):
        if fenced != was_fenced:
            lines.append("")
        if fenced or not line.strip():
            lines.append(line if fenced else ">" if lines[-1].startswith(">") else "")
        else:
            lines.append(f"> {line}")
        was_fenced = fenced
    if lines[1:] and lines[1].startswith("> "):
        lines[:2] = [f"{lines[0]} {lines[1][2:]}"]
    return "\n".join(lines)


def as_fence(code: str, language: str) -> str:
    """Code as a fence with more marks than are in it."""
    marks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{marks}{language}\n{code}\n{marks}"
