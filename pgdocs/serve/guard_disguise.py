"""Orders in disguise: what is encoded, spelt apart or turned round is read in the clear and judged like a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from pgdocs.serve.guard_reader import fold
from pgdocs.serve.guard_weights import verdicts, weights

DECODED = 0.5
"""How much more an encoded text must sound like an order: honest ones are greetings and other small talk."""

_COMMAND = re.compile(r"(?i)\b(?:curl|wget|bash|powershell)\b|\brm\s{1,5}-\w{0,5}rf")
"""An encoded command needs no words around it."""

_HEX_DIGITS = b"0123456789abcdefABCDEF"


def _shapes(letter: str, digit: str, hex_digit: str = "") -> bytes:
    """For bytes.translate: what letters, digits and hexadecimal digits become; all other ASCII characters, spaces."""
    return bytes(
        code
        if code > 127
        else ord(hex_digit)
        if hex_digit and code in _HEX_DIGITS
        else ord(letter)
        if chr(code).isalpha()
        else ord(digit)
        if chr(code).isdigit()
        else ord(" ")
        for code in range(256)
    )


_SINGLE_LETTERS = b" a a "
_SHAPES = (
    (_shapes("a", "0"), (_SINGLE_LETTERS, b"000 000 000 ", b"00000000 00000000 00000000 ")),  # decimal and binary codes
    (_shapes("a", "a"), (b"a" * 24,)),  # base64 and the like
    (_shapes("z", "a", hex_digit="a"), (b" aa aa aa aa aa aa ",)),
)
"""How disguises look when all letters are one letter."""

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


def disguised(text: str, lines: list[str]) -> set[int]:
    """Numbers of the lines that look like something other than words."""
    raw = text.encode("utf-8")
    for dot in "·•":
        raw = raw.replace(dot.encode(), b".") if dot in text else raw
    found: set[int] = set()
    for table, masks in _SHAPES:
        shape = b" " + raw.translate(table)
        for mask in masks:
            at, number, counted = shape.find(mask), 0, 0
            while at >= 0:
                number += raw.count(b"\n", counted, at)
                near = lines[number : number + 1 + (mask[0] == 32)]
                found.update(
                    i for i, line in enumerate(near, number) if mask is not _SINGLE_LETTERS or _SPACED.search(line)
                )
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


def unmasked(pieces: Sequence[str]) -> set[int]:
    """Which pieces are orders once they are decoded; what decodes to an encoded text is decoded again, twice."""
    bad: set[int] = set()
    pending = list(enumerate(pieces))
    for _ in range(3):
        readings = [(n, *reading) for n, piece in pending for reading in _readings(piece) if reading[0]]
        orders = verdicts([text for _, text, _ in readings], [-DECODED * decoded for *_, decoded in readings])
        for (n, text, decoded), order in zip(readings, orders, strict=True):
            if order or (decoded and _COMMAND.search(text)):
                bad.add(n)
        pending = [(n, text) for n, text, _ in readings if n not in bad]
    return bad


def turned(pieces: Sequence[str]) -> set[int]:
    """Which pieces are orders in ROT13 or backwards."""
    readings = [text for piece in pieces for text in (piece.translate(_ROT13), piece[::-1])]
    plain = {n for n, order in enumerate(verdicts(readings)) if order}
    return {n // 2 for n in plain | unmasked(readings)}


def _readings(piece: str) -> Iterator[tuple[str, bool]]:
    """All that a piece may say in the clear, and whether it was encoded: no honest text hides a command."""
    plain = ESCAPE.sub(unescape, piece)
    if plain != piece:
        yield _IN_ADDRESS.sub(" , ", plain), False
    for pattern, read in ((_INLINE, lambda m: ""), (_SPACED, _joined)):
        plain = pattern.sub(read, piece)
        if plain != piece:
            yield plain, False
    for match in _RUN.finditer(piece):
        yield _apart(match[0]), False
        for run in {match[0], _FORERUN.sub("", match[0])}:
            yield from ((text, True) for text in _decoded(run))
    for pattern, base in ((_HEX, 16), (_DECIMAL, 10), (_BINARY, 2)):
        for match in pattern.finditer(piece):
            codes = re.findall(r"[01]{8}" if base == 2 else r"(?<!0)[0-9A-Fa-f]{2,3}", match[0])
            yield "".join(chr(int(code, base) & 255) for code in codes), True


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ROT13 = str.maketrans(
    _LETTERS + _LETTERS.upper(), _LETTERS[13:] + _LETTERS[:13] + (_LETTERS[13:] + _LETTERS[:13]).upper()
)
_HEART = re.compile("ignor|isregard|forget|overri|instru|prompt|guidei|youare|yourru|reveai|execut")
"""Where letters run on, a part of a telling word; folded."""


@cache
def _known() -> re.Pattern[str]:
    return re.compile("|".join(sorted(weights().common, key=lambda word: (-len(word), word))))


def _apart(letters: str) -> str:
    """Letters without spaces, as known words: `ignoreallrules` → `ignore aii ruies`. Costly, so only for letters that
    hold the heart of a telling word."""
    together = "".join(fold(letters).split())
    return _known().sub(r" \g<0> ", together) if _HEART.search(together) else ""


def _joined(match: re.Match[str]) -> str:
    """Single letters put together: what mostly stands between them goes, what stands there seldom is a space."""
    gaps = _BETWEEN.findall(match[0])
    usual = max(sorted(set(gaps)), key=gaps.count)
    if len(set(gaps)) == 1:
        return _apart(match[0])
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
