"""Text → the words that a guard reads: folded to one spelling, told apart by numbers, grouped into sentences.

Folding undoes what hides a word from a reader of letters: capitals, accents, letters of other alphabets that look like
Latin ones, digits that stand for letters, markup within a word. All of it is a few passes of numpy over the characters,
so that a page of 400 kB takes some milliseconds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.uint32]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


def _where(flags: NDArray[Any]) -> Places:
    """np.flatnonzero, which takes as long for a short text as all else here."""
    places: Places = flags.nonzero()[0]
    return places


# --- one spelling -----------------------------------------------------------------------------------------

LOOK_ALIKES = {
    "abcehijkmnopqrstuvwxyz": "авсенијкмпорԛгѕтцѵԝхуз",  # Cyrillic, by the shape of the small letter
    "abeiknopyutxwvcd": "αβεικηοργυτχωνςδ",  # Greek
    "abcdefghijklmnopqrstuvwyz": "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ",  # small capitals
    "aogidluhnqeosl": "ɑօɡıԁӏսһոզҽσƽɩ",  # IPA, Armenian, further Cyrillic
    "oihbl": "øıђьł",
    "iieg": "іїєց",
}
"""Latin letters and the letters of other alphabets that look like them."""

DIGITS = {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "l": "i"}
"""Digits that stand for letters, and `l` for `i`: a 1 may be either, so both become one letter on both sides."""

SHAPELESS = "*`~\\'’‘´\xad\u034f\u115f\u1160\u2800\u3164\uffa0"
"""Dropped inside words: markup, apostrophes, characters that are not drawn."""

_TWINS = {twin: latin for latins, twins in LOOK_ALIKES.items() for latin, twin in zip(latins, twins, strict=True)}
for _first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6):  # letters in squares, in circles, of flags
    _TWINS |= {chr(_first + i): c for i, c in enumerate("abcdefghijklmnopqrstuvwxyz")}
_DROP, _GAP = 0, 32
_UNSPACED = 0x2E80, 0xAC00
"""Scripts without spaces between words, Chinese and Japanese: each character is read as a word."""


@lru_cache(maxsize=1 << 14)  # a page of any language has fewer; a hostile one may have all there are
def _folded(code: int) -> int:
    """What one character is read as: a small letter, _GAP between words, or _DROP."""
    char = chr(code)
    if char in SHAPELESS:
        return _DROP
    char = unicodedata.normalize("NFKD", char)[0]
    if unicodedata.combining(char):
        return _DROP
    char = char.lower()[0]
    char = _TWINS.get(char, char)
    char = DIGITS.get(char, char)
    return ord(char) if char.isalnum() else _GAP


_FOLD = bytes(_folded(code) for code in range(128)) + bytes([_GAP]) * 128
"""For bytes.translate: a page of ASCII in one go."""

_FOREIGN = 128
"""Stands for any character beyond ASCII where its sign does not matter."""


def _characters(text: str) -> tuple[NDArray[Any], Bytes]:
    """What each character is read as (bytes, or wider numbers where a letter has none so small), and its ASCII sign."""
    raw = text.encode("ascii", "replace")
    letters: NDArray[Any] = np.frombuffer(raw.translate(_FOLD), dtype=np.uint8)
    signs = np.frombuffer(raw, dtype=np.uint8)
    if text.isascii():
        return letters, signs
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    foreign = _where(codes > 127)
    known, which = np.unique(codes[foreign], return_inverse=True)
    folded = np.array([_folded(code) for code in known.tolist()])
    letters, signs = letters.astype(np.uint8 if folded.max() < 128 else np.uint32), signs.copy()
    letters[foreign] = folded[which]
    signs[foreign] = np.array([_WIDE.get(chr(code), _FOREIGN) for code in known.tolist()], dtype=np.uint8)[which]
    return letters, signs


def _text(letters: NDArray[Any]) -> str:
    return letters.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def fold(text: str) -> str:
    """A text with each word in its one spelling; all else is blank, lines stay lines."""
    letters, signs = _characters(text)
    letters = np.where(signs == _NEWLINE, _NEWLINE, letters)
    return _text(letters[letters != _DROP])


# --- words as numbers -------------------------------------------------------------------------------------

_BLOCK = 1 << 15
_BASE = 0x9E3779B1  # odd, so that it has an inverse modulo 2³²
_POWERS = np.multiply.accumulate(np.full(_BLOCK, _BASE, dtype=np.uint32), dtype=np.uint32)
_INVERSES = np.multiply.accumulate(np.full(_BLOCK, pow(_BASE, -1, 1 << 32), dtype=np.uint32), dtype=np.uint32)


def _numbers(letters: NDArray[Any], firsts: Places, ends: Places) -> Numbers:
    """A number for each word letters[first:end], the same wherever it stands: a polynomial modulo 2³².

    The words in one block of _BLOCK letters are worked out together; of a longer word only so many letters count.
    """
    found = np.empty(len(firsts), dtype=np.uint32)
    done = 0
    while done < len(firsts):
        at = int(firsts[done])
        last = max(done + 1, int(np.searchsorted(ends, at + _BLOCK, side="right")))
        block = letters[at : at + _BLOCK]
        sums = np.zeros(len(block) + 1, dtype=np.uint32)
        np.cumsum(block * _POWERS[: len(block)], dtype=np.uint32, out=sums[1:])
        here = firsts[done:last] - at
        found[done:last] = (sums[np.minimum(ends[done:last] - at, len(block))] - sums[here]) * _INVERSES[here]
        done = last
    return found


def numbers_of(words: list[str]) -> Numbers:
    """The numbers of words that are folded already."""
    sizes = np.array([len(word) for word in words], dtype=np.intp)
    ends = np.cumsum(sizes)
    return _numbers(np.frombuffer("".join(words).encode("utf-32-le"), dtype="<u4"), ends - sizes, ends)


class Table:
    """Numbers → values (0 for a number that is not in it), many at once: open addressing, at most an eighth full."""

    def __init__(self, keys: Numbers, values: NDArray[Any]) -> None:
        keys, firsts = np.unique(keys, return_index=True)  # two words may have one number: the first one counts
        values = values[firsts]
        bits = max(4, (8 * len(keys)).bit_length() - 1)
        self._shift = np.uint32(32 - bits)
        size = (1 << bits) + 64  # some past the last slot: probing never turns round
        self._keys, self._values = np.zeros(size, dtype=np.uint32), np.zeros(size, dtype=values.dtype)
        taken = np.zeros(size, dtype=bool)
        slots, left, probes = self._slots(keys), np.arange(len(keys)), 0
        while len(left):  # in each round the first comer takes a slot, the others go on to the next one
            open_ones = left[~taken[slots[left]]]
            winners = open_ones[np.unique(slots[open_ones], return_index=True)[1]]
            self._keys[slots[winners]], self._values[slots[winners]] = keys[winners], values[winners]
            taken[slots[winners]] = True
            left = left[np.isin(left, winners, invert=True)]
            slots[left] += 1
            probes += 1
        self._probes = np.arange(probes)

    def _slots(self, keys: Numbers) -> Places:
        slots: Places = ((keys * np.uint32(0x85EBCA6B)) >> self._shift).astype(np.intp)
        return slots

    def get(self, keys: Numbers) -> NDArray[Any]:
        """The value of each key."""
        slots = self._slots(keys)[:, None] + self._probes
        held = self._values[slots] * (self._keys[slots] == keys[:, None])
        found: NDArray[Any] = held.max(axis=1)
        return found


# --- sentences --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    """The words of a text: where each begins and ends, its number, whether a sentence begins there."""

    starts: Places
    ends: Places
    numbers: Numbers
    opens: Flags


BLOCK = 1 << 14
"""Characters that are read at once, about: the arrays of more don't fit a processor's cache."""


def read(text: str) -> Words:
    """The words of a text, without numbers and addresses: what a link says is judged by its form."""
    blocks = [_read(*block) for block in _blocks(text)]
    words = Words(*map(np.concatenate, zip(*((b.starts, b.ends, b.numbers, b.opens) for b, _ in blocks), strict=True)))
    words.opens[:1] = True
    return words


def spell(text: str) -> list[list[str]]:
    """The sentences of a text as lists of words in their one spelling: what `read` tells in numbers."""
    found: list[list[str]] = []
    for block in _blocks(text):
        words, (letters, firsts, lasts) = _read(*block)
        spelt = _text(letters)
        for first, last, opens in zip(firsts.tolist(), lasts.tolist(), words.opens.tolist(), strict=True):
            if opens or not found:
                found.append([])
            found[-1].append(spelt[first:last])
    return found


def _blocks(text: str) -> Iterator[tuple[str, int, bool]]:
    """A text in blocks, each with its place and whether a sentence begins there: cut between paragraphs, else between
    lines, words, or anywhere."""
    at, fresh = 0, True
    while len(text) - at > BLOCK:
        gaps = (text.rfind(gap, at + 1, at + BLOCK) + 1 for gap in ("\n\n", "\n", " "))
        cut = next(filter(None, gaps), at + BLOCK)
        yield text[at:cut], at, fresh
        at, fresh = cut, text[cut - 1] == "\n" or text[cut - 2] in ".!?"
    yield text[at:], at, fresh


def _read(text: str, offset: int, fresh: bool) -> tuple[Words, tuple[NDArray[Any], Places, Places]]:
    """The words of a block, and their spelling: the letters of all words, and where each begins and ends in them."""
    letters, signs = _characters(text)
    at = None if letters.all() else _where(letters)
    letters = letters if at is None else letters[at]
    firsts, lasts = _runs(letters)
    starts, ends = (firsts, lasts) if at is None else (at[firsts], at[lasts - 1] + 1)
    signs = np.append(signs, _END)
    kinds = np.frombuffer(signs.tobytes().translate(_KINDS), dtype=np.uint8)
    opens = _opens(signs, kinds, starts, fresh)
    if len(starts):
        kept = np.bitwise_or.reduceat(kinds, starts) & _LETTER > 0
        if "](" in text or "://" in text:
            kept &= _outside_addresses(signs, starts, opens)
        if not kept.all():
            sentence = np.cumsum(opens)[kept]
            starts, ends, firsts, lasts = starts[kept], ends[kept], firsts[kept], lasts[kept]
            opens = np.diff(sentence, prepend=0) > 0
    words = Words(starts + offset, ends + offset, _numbers(letters, firsts, lasts), opens)
    return words, (letters, firsts, lasts)


def _runs(letters: NDArray[Any]) -> tuple[Places, Places]:
    """Where words begin and end: runs of letters."""
    inside = letters != _GAP
    begins, ends = inside.copy(), inside.copy()
    begins[1:] &= ~inside[:-1]
    ends[:-1] &= ~inside[1:]
    if letters.dtype != np.uint8:
        alone = (letters >= _UNSPACED[0]) & (letters < _UNSPACED[1])
        begins |= alone
        begins[1:] |= alone[:-1] & inside[1:]
        ends |= alone
        ends[:-1] |= alone[1:] & inside[:-1]
    return _where(begins), _where(ends) + 1


_NEWLINE, _SPACE, _BAR, _DASH, _SLASH, _STAR, _QUOTE = b'\n |-/*"'
_END = np.array([_NEWLINE] * 2, dtype=np.uint8)
"""Behind each text, so that what follows a character can be asked for everywhere."""
_WIDE = dict.fromkeys("。！？", 129)
"""Full stops that need no space behind them."""
_BLANK, _STOP, _CLOSER, _SIGN, _SAME, _ALL, _LETTER, _WIDE_STOP = 1, 2, 4, 8, 16, 32, 64, 128
_KINDS = bytes(
    sum(
        kind
        for kind, chars in {
            _BLANK: b" \t\n",
            _STOP: b".!?",
            _CLOSER: b"\"')]*_`",
            _SIGN: b"-*+>|#`~[<",  # a line that begins so is an item, a quotation, a row, a heading, an element
            _SAME: b">#/-",  # lines that begin with the same of these are one text in quotations or comments
            _ALL: b"|#",  # what begins so ends with the line
            _LETTER: b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\x80",  # no number
            _WIDE_STOP: b"\x81",
        }.items()
        if code in chars
    )
    for code in range(256)
)
_DEEPEST = 32
"""Spaces before a line that are looked through for what it begins with: a text behind more begins a sentence."""


def _opens(signs: Bytes, kinds: Bytes, starts: Places, fresh: bool) -> Flags:
    """Whether a sentence begins with a word: after a full stop, in a new paragraph, item, row, cell or comment;
    with the first one, if nothing of its sentence was before (`fresh`)."""
    stops = _where(kinds & _STOP)
    one, two = kinds[stops + 1], kinds[stops + 2]
    ends = [stops[(one & _BLANK > 0) | ((one & _CLOSER > 0) & (two & (_BLANK | _CLOSER) > 0))]]
    ends.append(_where(kinds & _WIDE_STOP))
    lines = _where(signs == _NEWLINE)[:-2]
    begins = np.append(0, lines + 1)
    firsts = begins.copy()
    for _ in range(_DEEPEST):
        blank = _where(signs[firsts] == _SPACE)
        if not len(blank):
            break
        firsts[blank] += 1
    sign, kind = signs[firsts], kinds[firsts]
    same = (sign[1:] == sign[:-1]) & (kind[1:] & _SAME > 0) & ((sign[1:] != _DASH) | (signs[firsts[1:] + 1] == _DASH))
    apart = ~same & ((kind[1:] & _SIGN > 0) | (kind[:-1] & (_ALL | _SAME) > 0))
    ends.append(lines[apart | ((kind[1:] | kind[:-1]) & _BLANK > 0)])
    bars = _where(signs == _BAR)
    if len(bars):
        ends.append(bars[sign[np.searchsorted(begins, bars, side="right") - 1] == _BAR])
    slashes = _where(signs[:-1] == _SLASH)
    ends.append(slashes[signs[slashes + 1] == _STAR])  # comments begin: /* or, behind something else, --
    dashes = _where((signs[1:-1] == _DASH) & (signs[2:] == _DASH) & (signs[:-2] == _SPACE)) + 1
    ends.append(dashes)
    opens = np.zeros(len(starts) + 1, dtype=bool)  # the last one: behind the last word
    opens[0] = fresh
    opens[np.searchsorted(starts, np.concatenate(ends))] = True
    return opens[:-1]


_AFTER_ADDRESS = np.isin(np.arange(256), [*b" \t\n)", *range(128, 256)])
"""A blank, a closing bracket, a character beyond ASCII: Chinese goes on without a blank."""


def _outside_addresses(signs: Bytes, starts: Places, opens: Flags) -> Flags:
    """Which words are in no address: not in the target of a link, whose title is a sentence of its own, nor behind the
    scheme of a URL."""
    links = _where((signs[:-1] == ord("]")) & (signs[1:] == ord("("))) + 2
    urls = _where((signs[:-2] == ord(":")) & (signs[1:-1] == _SLASH) & (signs[2:] == _SLASH)) + 3
    heads = np.concatenate((links, urls))
    stops = _where(_AFTER_ADDRESS[signs])
    tails = stops[np.searchsorted(stops, heads)]
    changes = np.bincount(np.searchsorted(starts, heads), minlength=len(starts) + 1)
    changes = changes - np.bincount(np.searchsorted(starts, tails), minlength=len(starts) + 1)
    for title in np.searchsorted(starts, tails[signs[tails + 1] == _QUOTE]).tolist():
        opens[title : title + 1] = True
    outside: Flags = np.cumsum(changes[:-1]) == 0
    return outside
