"""Prototypes in a manual's own notation: where one ends, and which name it defines.

    date_trunc ( text, timestamp ) → timestamp        name first, the result behind an arrow or `returns`
    jsonb ->> text → text                             an operator between (or before) its operands
    geometry ST_Buffer(geometry g1, float radius)     result first, as in C
    void (*BeginCustomScan) (CustomScanState *node)   a callback

Text in, text out: nothing here knows pages.
"""

from __future__ import annotations

import re

OPERATOR = r"[-+*/<>=~!@#%^&|`?]+"
"""The characters that SQL operators are made of."""

_RESULT = re.compile(r"\s→\s|→$|\breturns\b|\bRETURNS\b")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_POINTER = re.compile(r"[\w\s*]*\(\s*\*\s*(\w+)\s*\)\s*\(")
_CALLED = re.compile(rf"([A-Za-z_][\w.]*|{OPERATOR})\s*\(")
_KEYWORD = re.compile(r"[A-Z][A-Z_]+")
_C_TYPE = r"(?:\w+[ \t\n*]+)+"
_C_PROTOTYPE = re.compile(
    rf"(?:(?:extern|static|typedef)\s+)?{_C_TYPE}(?:\(\s*\*\s*\w+\s*\)|\w+)\s*\([^;{{}}]*\)", re.DOTALL
)
_CONTINUES = re.compile(r"\s|returns\b|RETURNS\b|→|END\b|\)")


def squeeze(text: str) -> str:
    """One line without comments, blanks collapsed, no `;` at the end: the same letters for a reader."""
    return " ".join(_COMMENT.sub(" ", text).split()).rstrip("; ")


def compact(text: str) -> str:
    """What two ways of writing the same prototype have in common; only for comparing."""
    return re.sub(r"\s+", "", squeeze(text)).replace("(void)", "()").casefold()


def statements(text: str) -> list[str]:
    """A synopsis cut into its prototypes: at `;`, at blank lines, and where it has no `;`, at lines that begin anew."""
    text = _COMMENT.sub(" ", text)
    by_line = ";" not in text
    found: list[str] = []
    current, depth = "", 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for char in line:
            depth += (char in "([{") - (char in ")]}")
            if char == ";" and depth <= 0:
                found.append(current)
                current, depth = "", 0
            else:
                current += char
        following = lines[number + 1] if number + 1 < len(lines) else ""
        current += "\n"
        if depth <= 0 and (not following.strip() or (by_line and not _CONTINUES.match(following))):
            found.append(current)
            current, depth = "", 0
    return [one for one in map(squeeze, [*found, current]) if one]


def is_c_code(text: str) -> bool:
    """True when the text is C prototypes and declarations of variables, and nothing else."""
    parts = statements(text)
    calls = [part for part in parts if "(" in part]
    return bool(calls) and all(
        _is_c_prototype(part) if "(" in part else re.fullmatch(r"[\w\s*]+", part) for part in parts
    )


def _is_c_prototype(part: str) -> bool:
    """A statement of SQL, a call and a macro look like prototypes, but for their key words and values."""
    return bool(_C_PROTOTYPE.fullmatch(part)) and not re.match(r"return |[A-Z]{4,} |.*['\"]|.*[(,]\s*\d", part)


def has_result(prototype: str) -> bool:
    """True when a prototype in SQL's notation names its result."""
    return bool(_RESULT.search(prototype))


def called_name(prototype: str) -> str:
    """The name before the first parenthesis: a function, a construct (`COLLATION FOR`) or an operator; else ""."""
    pointer = _POINTER.match(prototype)
    if pointer:
        return pointer[1]
    left = _before_result(prototype)
    for match in _CALLED.finditer(left):
        if _depth(left[: match.start()]) == 0:
            before = left[: match.start()].split()
            if (
                re.fullmatch(OPERATOR, match[1])
                and before
                and not prototype.startswith(f"{' '.join(before)} {match[1]}(")
            ):
                return ""  # an operator whose right operand is in parentheses
            if before and before[-1] == ".":
                return f".{match[1]}()"  # a method
            return " ".join([*_keywords_at_end(before), match[1]]) if _KEYWORD.fullmatch(match[1]) else match[1]
    return ""


def operator_name(prototype: str) -> str:
    """The operator of a prototype without call: `->>`, `IS NOT NULL`, `AT TIME ZONE`; "" where there is none."""
    words = outside_brackets(_before_result(prototype)).split()
    symbols = [word for word in words if re.fullmatch(OPERATOR, word)]
    if symbols:
        return symbols[0]
    first = next((n for n, word in enumerate(words) if _KEYWORD.fullmatch(word)), len(words))
    last = next((n for n in range(first, len(words)) if not _KEYWORD.fullmatch(words[n])), len(words))
    if words[first:last]:
        return " ".join(words[first:last])
    return " ".join(words[1:-1] or words[1:]) if len(words) in (3, 4) else ""


def name_of(prototype: str) -> str:
    """The name that a prototype defines, "" when it is none."""
    left = _before_result(prototype)
    if re.fullmatch(r"[A-Za-z_][\w.]*", left):
        return left
    return called_name(prototype) or operator_name(prototype)


def _before_result(prototype: str) -> str:
    found = _RESULT.search(prototype)
    return (prototype[: found.start()] if found else prototype).strip()


def _depth(text: str) -> int:
    return sum((char in "([{") - (char in ")]}") for char in text)


def outside_brackets(text: str) -> str:
    """The text without what stands in brackets of any kind."""
    for _ in range(3):
        text = re.sub(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)", " ", text)
    return text


def _keywords_at_end(words: list[str]) -> list[str]:
    """The run of upper-case words that `words` end in."""
    count = next((n for n, word in enumerate(reversed(words)) if not _KEYWORD.fullmatch(word)), len(words))
    return words[len(words) - count :]
