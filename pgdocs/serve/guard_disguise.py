"""Orders in disguise: what is encoded, spelt apart or turned round is read in the clear and judged like a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from pgdocs.serve import guard_rules, guard_sense
from pgdocs.serve.guard_rules import DISGUISE, PLAIN, Rule, apart, fold, judge, sentence


def verdict(text: str, further: dict[str, list[Rule]]) -> str:
    """The first reason against a text that has no place in the page: decoded, hidden, or in bad company."""
    for read in sentence([(0, fold(text))]):
        for rules in (PLAIN, further):
            for reason, _ in judge(read, rules):
                return reason
        reason = guard_sense.weigh(read, text)
        if reason:
            return reason
    return ""


_SHAPE = bytes(97 if c < 128 and chr(c).isalpha() else 48 if 48 <= c < 58 else 32 if c < 128 else c for c in range(256))
_DIGITS_TOO = bytes(97 if c == 48 else c for c in range(256))
_MASKS = (b" a a ", b"000 000 000 ", b"00000000 00000000 00000000 ")
_MASKS_WITH_DIGITS = (b"a" * 24, b" aa aa aa aa aa aa ")
"""How single letters look, codes in decimal and binary (`a` a letter, `0` a digit), long runs and codes in hex (`a`
either)."""

ESCAPE = re.compile(
    r"%([0-9A-Fa-f]{2})|\\x([0-9A-Fa-f]{2})|\\u?([0-9A-Fa-f]{4})|&#x([0-9A-Fa-f]{2,6});|&#(\d{2,7});|&([a-zA-Z]{2,8});"
)
_INLINE = re.compile(r"</?[a-zA-Z][^<>]{0,80}>|<!--[^<>]{0,80}-->")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\s._*/|~·•-]{1,3}[^\W_](?![^\W_])){3,}")
_BETWEEN = re.compile(r"[\W_]+")
_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,6}")
_FORERUN = re.compile(r"^(?:0x|x|sha\d{3}-)")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]{1,2}){7,}(?:0x)?[0-9A-Fa-f]{2}(?![0-9A-Za-z])")
_DECIMAL = re.compile(r"(?<!\d)(?:\d{2,3}[ ,]{1,2}){7,}\d{2,3}(?!\d)")
_BINARY = re.compile(r"(?<!\d)(?:[01]{8} ?){7,}(?!\d)")
_IN_ADDRESS = re.compile("[=?&]")
_ENTITIES = {
    "nbsp": " ",
    "shy": "",
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "quot": '"',
    "zwj": "",
    "zwnj": "",
    "Tab": " ",
    "colon": ":",
    "NewLine": " ",
}


def disguised(text: str, raw: bytes, lines: list[str]) -> set[int]:
    """Numbers of the lines that look like something other than words; `raw` is the text in UTF-8."""
    for dot in (b"\xc2\xb7", b"\xe2\x80\xa2"):
        raw = raw.replace(dot, b".")
    letters = b" " + raw.translate(_SHAPE)
    found: set[int] = set()
    for shape, masks in ((letters, _MASKS), (letters.translate(_DIGITS_TOO), _MASKS_WITH_DIGITS)):
        for mask in masks:
            at, number, counted = shape.find(mask), 0, 0
            while at >= 0:
                number += raw.count(b"\n", counted, at)
                near = (number, number + 1) if mask[0] == 32 else (number,)
                found.update(i for i in near if mask is not _MASKS[0] or _SPACED.search(lines[min(i, len(lines) - 1)]))
                counted = at
                at = raw.find(b"\n", at)
                at = shape.find(mask, at) if at >= 0 else -1
    escaped = any(c in text for c in "%\\&")
    if " 0x" in text:
        found.update(i for i, line in enumerate(lines) if line.count(" 0x") > 6)
    tagged = "<" in text
    if escaped or tagged:
        for i, line in enumerate(lines):
            if (escaped and ("%" in line or "\\" in line or "&" in line) and ESCAPE.search(line)) or (
                tagged and "<" in line and _INLINE.search(line)
            ):
                found.add(i)
    return found


def unmasked(piece: str, masked: bool, depth: int = 0) -> str:
    """The reason against what a piece says once it is decoded; nothing where it says nothing."""
    if not masked:
        tokens = set(fold(piece).split())
        masked = not (tokens.isdisjoint(guard_rules.ROTATED) and tokens.isdisjoint(guard_rules.BACKWARDS))
        return _reason([(guard_rules.rotate(piece), {}), (piece[::-1], {})], depth) if masked else ""
    return _reason(_readings(piece), depth)


def _reason(readings: Iterable[tuple[str, dict[str, list[Rule]]]], depth: int) -> str:
    for reading, further in readings:
        if verdict(reading, further) or (depth < 2 and unmasked(reading, True, depth + 1)):
            return "disguised instruction"
    return ""


def _readings(piece: str) -> Iterator[tuple[str, dict[str, list[Rule]]]]:
    """All that a piece may say in the clear, and what more condemns it: code that spells out a command."""
    plain = ESCAPE.sub(unescape, piece)
    if plain != piece:
        yield _IN_ADDRESS.sub(" , ", plain), {}
    for pattern, read in ((_INLINE, lambda m: ""), (_SPACED, _joined)):
        plain = pattern.sub(read, piece)
        if plain != piece:
            yield plain, {}
    for match in _RUN.finditer(piece):
        yield apart(match[0]), {}
        for run in {match[0], _FORERUN.sub("", match[0])}:
            yield from ((text, DISGUISE) for text in _decoded(run))
    for pattern, base in ((_HEX, 16), (_DECIMAL, 10), (_BINARY, 2)):
        for match in pattern.finditer(piece):
            codes = re.findall(r"[01]{8}" if base == 2 else r"(?<!0)[0-9A-Fa-f]{2,3}", match[0])
            yield "".join(chr(int(code, base) & 255) for code in codes), DISGUISE


def _joined(match: re.Match[str]) -> str:
    """Single letters put together: what mostly stands between them goes, what stands there seldom is a space."""
    gaps = _BETWEEN.findall(match[0])
    usual = max(sorted(set(gaps)), key=gaps.count)
    if len(set(gaps)) == 1:
        return apart(match[0])
    return _BETWEEN.sub(lambda gap: "" if gap[0] == usual else " ", match[0])


def unescape(match: re.Match[str]) -> str:
    if match[6]:
        return _ENTITIES.get(match[6], match[0])
    code = int(match[5]) if match[5] else int(next(filter(None, match.groups())), 16)
    return chr(code) if 31 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


def _decoded(run: str) -> Iterator[str]:
    """The texts that a long run of letters may encode."""
    import base64

    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    decoders: tuple[Callable[[str], bytes], ...] = (
        bytes.fromhex,
        lambda text: base64.b64decode(text[: len(text) - (len(text) % 4 == 1)] + "=" * (-len(text) % 4 % 3)),
        lambda text: base64.b32decode(text + "=" * (-len(text) % 8)),
    )
    for decode in decoders:
        try:
            text = decode(body).decode("utf-8")
        except ValueError:
            continue
        if sum(c.isprintable() or c.isspace() for c in text) > 0.9 * len(text):
            yield text
