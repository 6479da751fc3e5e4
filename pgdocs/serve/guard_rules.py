"""A sentence read against the rules of guard_words: words folded to one spelling, rules parsed, rules matched.

Folding is the same for a rule's words and for the text: small letters, no accents, letters that look like Latin ones as
those, digits as the letters that they stand for, `l` as `i`. So one list of words serves every spelling.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from pgdocs.serve.guard_words import CLASSES, COMMON, DIGITS, IN_COMPANY, IN_DISGUISE, LEAD, LOOK_ALIKES, RULES, UNLESS

LONGEST = 400
"""Words of a sentence that are read at once; more are read in pieces, so that text without full stops costs no more."""

# --- folding ----------------------------------------------------------------------------------------------

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PAUSES = ',:;()"!?[]<>{}|“”„«»—–…¡¿、。'
"""Between clauses: what follows may be an order."""
_SHAPELESS = "*`~\\'’‘´\xad\u034f\u115f\u1160\u2800\u3164\uffa0"
"""Dropped inside words: markup, apostrophes, characters that are not drawn."""

_PLAIN = {c: DIGITS.get(c.lower(), c.lower()) for c in map(chr, range(128)) if c.isalnum() or c in DIGITS}
FAST = bytes(ord(_PLAIN.get(chr(c), " ")) if c != 10 else c for c in range(256))
"""For bytes.translate: a whole page in one go, all that is no ASCII letter as spaces, line ends as they are."""
FAST_DROP = b"*`~\\'"

_TABLE = {c: _PLAIN.get(chr(c), " ") for c in range(128)}
for _latin, _twins in LOOK_ALIKES.items():
    _TABLE |= {ord(twin): DIGITS.get(c, c) for c, twin in zip(_latin, _twins, strict=True)}
for _first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6):  # letters in squares, in circles, of flags
    _TABLE |= {_first + i: DIGITS.get(c, c) for i, c in enumerate(_LETTERS)}
_TABLE |= {ord(c): "" for c in _SHAPELESS} | {ord(c): " , " for c in _PAUSES}
FOREIGN = re.compile("[^\x00-\x7f§©°·×‐-‧›‹→←⇒⇔─-╿■-◿∩⋂≠∧∅]")
"""Characters that FAST would lose: not the punctuation and the signs of a plain English page."""
_UNSPACED_SCRIPT = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]")


_NO_AI = re.compile(r"\b(?:[Aa]l|41)\b")
"""Al, "et al." and "41.5" are no "AI", though an l is as good as an i."""


def _letters(text: str) -> str:
    text = _NO_AI.sub("also", text)
    if text.isascii():
        return text.translate(_TABLE)
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    return "".join(c if c.isalnum() or c in ", " else " " for c in text.translate(_TABLE))


def fold(text: str) -> str:
    """Words as they are compared, pauses as ` , `, all else as spaces; words of scripts without spaces set apart."""
    text = _letters(text)
    return _unspaced().sub(r" \g<0> ", text) if not text.isascii() and _UNSPACED_SCRIPT.search(text) else text


@cache
def fold_word(word: str) -> str:
    return " ".join(_letters(word.replace("_", " ")).split())


def _longest_first(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(set(words), key=lambda w: (-len(w), w))))


@cache
def _unspaced() -> re.Pattern[str]:
    words = (fold_word(word) for names in (*CLASSES.values(), "すべて の") for word in names.split())
    return _longest_first(word for word in words if _UNSPACED_SCRIPT.match(word))


_HEART = re.compile("ignor|isregard|forget|overri|instru|prompt|guidei|youare|yourru|reveai|execut")


@cache
def _known() -> re.Pattern[str]:
    few = "the a to and me my this that is are of in on it its with at by for".split()
    words = [fold_word(word) for names in CLASSES.values() for word in names.split()] + few
    return _longest_first(part for word in words for part in word.split() if part.isascii() and len(part) > 1)


def apart(letters: str) -> str:
    """Letters without spaces, as words that the rules know: `ignoreallrules` → `ignore aii ruies`. Costly, so only for
    letters that hold the heart of a telling word."""
    together = _letters(letters).replace(" ", "").replace(",", "")
    return _known().sub(r" \g<0> ", together) if _HEART.search(together) else ""


# --- rules ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    gap: int  # so many words may stand before it
    words: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]  # none and no words: a pause

    def lengths(self, tokens: list[str], at: int) -> Iterator[int]:
        """How many words it covers at a place; nothing if it does not stand there."""
        if tokens[at] in self.words:
            yield 1
        for phrase in self.phrases:
            if tokens[at] == phrase[0] and tuple(tokens[at : at + len(phrase)]) == phrase:
                yield len(phrase)


_COMMON = frozenset(map(fold_word, COMMON))


def _key(phrase: tuple[str, ...]) -> str:
    """The word by which a phrase is found: a long one is a rare one, mostly."""
    return max(phrase, key=lambda word: (word not in _COMMON, len(word)))


@cache
def _class(part: str) -> tuple[frozenset[str], tuple[tuple[str, ...], ...]]:
    """`PRIOR|the` → the words and the phrases that it stands for, folded."""
    found = {fold_word(word) for name in part.split("|") for word in CLASSES.get(name, name).split()}
    phrases = tuple(sorted(tuple(entry.split()) for entry in found if " " in entry))
    return frozenset(entry for entry in found if " " not in entry), phrases


@dataclass(frozen=True, eq=False)
class Rule:
    reason: str
    order: bool  # its first word must stand where an order begins
    steps: tuple[_Step, ...]
    keys: frozenset[str]  # the rarest of its words: no rule is tried on a sentence without one
    needs: tuple[frozenset[str], ...]  # of each step one of these must be in the sentence, wherever


def _rule(reason: str, text: str) -> Rule:
    gap, steps, keys, needs = 0, [], frozenset[str](), []
    for part in text.split():
        if part.startswith(".."):
            gap += int(part[2:])
            continue
        if part == "^":
            continue
        words, phrases = _class(part.lstrip("*")) if part != "," else (frozenset[str](), ())
        step = _Step(gap, words, phrases)
        telling = words | {_key(phrase) for phrase in phrases}
        if part.startswith("*"):
            keys = telling
        elif telling:
            needs.append(telling)
        steps.append(step)
        gap = 0
    return Rule(reason, text.lstrip().startswith("^"), tuple(steps), keys, tuple(needs))


def _by_key(named: Iterable[tuple[str, str]]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for reason, lines in named:
        for line in filter(str.strip, lines.splitlines()):
            rule = _rule(reason, line)
            for key in rule.keys:
                found.setdefault(key, []).append(rule)
    return found


PLAIN = _by_key(RULES)
COMPANY = _by_key([("in bad company", IN_COMPANY)])
DISGUISE = _by_key([("in disguise", IN_DISGUISE)])


def _misspelt(word: str) -> Iterator[str]:
    """What a hasty hand makes of a word: two letters swapped, one left out, one doubled; the first one stays."""
    for i in range(1, len(word)):
        yield word[:i] + word[i + 1 :]
        yield word[:i] + word[i] + word[i:]
        yield word[:i] + word[i + 1 : i + 2] + word[i] + word[i + 2 :]


_TELLING = [
    w for name in ("OVERRIDE", "DIRECTIVE", "PRIOR") for w in CLASSES[name].split() if len(w) > 5 and w.isascii()
]
_TELLING = [fold_word(word) for word in _TELLING if word.isalpha()]
_SPELT = {wrong: word for word in _TELLING for wrong in _misspelt(word)} | {word: word for word in _TELLING}

_ROT13 = str.maketrans(
    _LETTERS + _LETTERS.upper(), _LETTERS[13:] + _LETTERS[:13] + (_LETTERS[13:] + _LETTERS[:13]).upper()
)
_SECRET_WRITING = [
    w for name in ("OVERRIDE", "DIRECTIVE", "PRIOR") for w in CLASSES[name].split() if len(w) > 5 and w.isascii()
]
_EVERYWHERE = "the and your you user assistant please must model human agent with this".split()
ROTATED = frozenset(fold_word(word.translate(_ROT13)) for word in _SECRET_WRITING + _EVERYWHERE)
BACKWARDS = frozenset(fold_word(word[::-1]) for word in _SECRET_WRITING)

ODD = (frozenset(_SPELT) - set(_TELLING)) | ROTATED | BACKWARDS
"""Words that say enough by being written so."""

KEYS = frozenset(PLAIN) | ODD
"""A line without any of these words is clean."""
KEYS_UTF8 = frozenset(key.encode() for key in KEYS)


def rotate(text: str) -> str:
    """ROT13, either way."""
    return text.translate(_ROT13)


@cache
def _utf8(words: frozenset[str]) -> frozenset[bytes]:
    return frozenset(word.encode() for word in words)


@cache
def _needs_utf8(rule: Rule) -> tuple[frozenset[bytes], ...]:
    return tuple(map(_utf8, rule.needs))


_NEEDS = {key.encode(): tuple(map(_needs_utf8, rules)) for key, rules in PLAIN.items()}
_NEEDS |= {key.encode(): ((),) for key in ODD}


def possible(words: set[bytes]) -> bool:
    """Whether any rule could be broken by a text of these folded words (UTF-8), in whatever order."""
    for key in words & _NEEDS.keys():
        for needs in _NEEDS[key]:
            for need in needs:  # plain loops: this is asked a thousand times for a page
                if words.isdisjoint(need):
                    break
            else:
                return True
    return False


# --- matching ---------------------------------------------------------------------------------------------

_LEAD = frozenset(map(fold_word, LEAD.split()))
_MODAL = frozenset(map(fold_word, "to will shall may can".split()))
_YOU, _YOUR, _ALL = fold_word("you"), fold_word("your"), fold_word("all")
_UNLESS = tuple(f" {fold_word(phrase)} " for phrase in UNLESS.split())
_EXCUSED = ("instruction override", "system prompt probe")


@dataclass(frozen=True)
class Sentence:
    """Folded words, the places where a clause begins, and for each word the piece of the text that it is from."""

    tokens: list[str]
    pauses: set[int]
    pieces: list[int]


def sentence(parts: Iterable[tuple[int, str]]) -> Iterator[Sentence]:
    """Pieces (number, folded text) that belong together → sentences of at most LONGEST words."""
    tokens: list[str] = []
    pauses: set[int] = set()
    pieces: list[int] = []
    for number, folded in parts:
        for token in folded.split():
            if token == ",":
                pauses.add(len(tokens))
                continue
            tokens.append(_SPELT.get(token, token))
            pieces.append(number)
            if len(tokens) >= LONGEST:
                yield Sentence(tokens, pauses, pieces)
                tokens, pauses, pieces = [], set(), []
    if tokens:
        yield Sentence(tokens, pauses | {len(tokens)}, pieces)


def judge(read: Sentence, rules: dict[str, list[Rule]] = PLAIN) -> Iterator[tuple[str, range]]:
    """Each rule that a sentence answers to: its reason and the pieces that it was found in."""
    words = set(read.tokens)
    present = rules.keys() & words
    if not present:
        return
    tried: set[int] = set()
    line = f" {' '.join(read.tokens)} "
    excused = _YOUR not in read.tokens and _ALL not in read.tokens and any(phrase in line for phrase in _UNLESS)
    for key in sorted(present):
        for rule in rules[key]:
            if id(rule) in tried or any(map(words.isdisjoint, rule.needs)) or (excused and rule.reason in _EXCUSED):
                continue
            tried.add(id(rule))
            for start, end in _matches(read, rule):
                yield rule.reason, range(read.pieces[start], read.pieces[end - 1] + 1)


def _begins(read: Sentence, at: int) -> bool:
    """Whether a verb here is an order: it opens a clause, or follows "please", "you must", "you have to"."""
    if at == 0 or at in read.pauses or read.tokens[at - 1] in _LEAD:
        return True
    return read.tokens[at - 1] in _MODAL and _YOU in read.tokens[max(0, at - 5) : at]


def _matches(read: Sentence, rule: Rule) -> Iterator[tuple[int, int]]:
    tokens, steps = read.tokens, rule.steps
    dead: set[tuple[int, int]] = set()  # step and place from where no way leads on: each is tried once

    def walk(k: int, at: int) -> int:
        if k == len(steps):
            return at
        if (k, at) in dead:
            return 0
        step = steps[k]
        for place in range(at, min(at + step.gap, len(tokens)) + 1):
            if not step.words and not step.phrases:
                end = walk(k + 1, place) if place in read.pauses else 0
            elif place < len(tokens):
                end = max((walk(k + 1, place + n) for n in step.lengths(tokens, place)), default=0)
            else:
                end = 0
            if end:
                return end
        dead.add((k, at))
        return 0

    done = 0
    for start in range(len(tokens)):
        if start < done or (rule.order and not _begins(read, start)):
            continue
        end = max((walk(1, start + n) for n in steps[0].lengths(tokens, start)), default=0)
        if end:
            done = end
            yield start, end
