"""How much a sentence sounds like an order to a model: a sum of weights of its words and pairs of words.

The weights were learned (`scripts/train_guard.py`) from sentences that were written as attacks and as honest text, and
from both manuals. `guard_weights.tsv` holds them as text: a line for each word, for two words side by side, for two
with one between (`ignore _ instructions`), for the beginning of a sentence (`^ ignore`); for a word also the kind of
attack that it speaks for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgdocs.serve.guard_reader import Flags, Numbers, Table, Words, fold, numbers_of, read

FILE = Path(__file__).parent / "guard_weights.tsv"

WINDOW = 32
"""Words that are weighed together: an order in the midst of a text without full stops is found all the same."""

MIDST = 3.0
"""How much louder such a run must be than a whole sentence: honest text lacks there what speaks for it elsewhere."""

IN_COMPANY = 0.7
"""What counts in addition against a sentence beside an attack, or in a place that nobody is meant to see."""

_AT_ONCE = 1000
"""Lines of the file that are read at once: what is made of them for a moment stays in a process for good."""

_OPENING, _ACROSS = 1, np.uint32(1 << 31)
"""The key of a pair is the number of its first word (_OPENING: `^`), shifted by 16, and that of the second one; with
the top bit for a pair with a word between."""

MARKS = """im inst sys system human user assistant function tool tools turn invoke role document context search results
calls conversation instruction instructions prompt response start end begin endoftext eot header id"""
"""One of them is in every mark of a chat template."""

SPEAKERS = "assistant ai bot model agent chatbot llm claude gpt copilot"
"""One of them speaks in every made-up conversation that counts."""

FEW = "the a to and me my this that is are of in on it its with at by for".split()
"""Words that are known where letters run on without spaces, besides those of attacks."""

TELLING = """ignore ignoring disregard forget override bypass previous earlier preceding instructions instruction
directives guidelines guideline prompt system reveal disclose execute password passwords credentials assistant developer
unrestricted jailbreak confidential"""
"""Words that are looked for misspelt, rotated and backwards."""


@dataclass(frozen=True)
class Order:
    """Words that read like an order, from `first` to before `end`; more than 0 is enough by itself."""

    first: int
    end: int
    score: float
    reason: str


class Weights:
    """The weights as tables, read from the lines of a file. `ids` numbers the words that any of them speaks of; all
    other words are 0."""

    def __init__(self, lines: Iterable[str]) -> None:
        lines = iter(lines)
        self.bias = float(next(lines).split("\t")[1])
        self.reasons = ["order to a model"]
        ids: dict[str, int] = {}
        single, kinds = array("f", [0.0] * (_OPENING + 1)), array("B", [0] * (_OPENING + 1))
        keys, values = array("I"), array("f", [0.0])

        def number(word: str) -> int:
            if word not in ids:
                ids[word] = len(single)
                single.append(0.0)
                kinds.append(0)
            return ids[word]

        while rows := [line.rstrip("\n").split("\t") for line in islice(lines, _AT_ONCE)]:
            folded = fold("\n".join(row[0] for row in rows)).split("\n")
            for row, words in zip(rows, folded, strict=True):
                opening, (*first, last) = row[0][0] == "^", map(number, words.split())
                if first or opening:
                    before = _OPENING if opening else first[0]
                    keys.append(before << 16 | last | (int(_ACROSS) if "_" in row[0] else 0))
                    values.append(float(row[1]))
                else:
                    single[last] = float(row[1])
                    if len(row) > 2:
                        if row[2] not in self.reasons:
                            self.reasons.append(row[2])
                        kinds[last] = self.reasons.index(row[2])
        marks, speakers = ([number(word) for word in fold(words).split()] for words in (MARKS, SPEAKERS))
        telling = fold(TELLING).split()
        turned = len(single)
        single.append(0.0)
        kinds.append(0)
        others = {wrong: ids[word] for word in telling if word in ids for wrong in _misspelt(word)}
        others |= dict.fromkeys(fold(" ".join(map(_turned, telling))).split(), turned)
        self.single, self.kinds = np.array(single), np.array(kinds, dtype=np.intp)
        self._pairs = Table(np.array(keys), np.arange(1, len(values), dtype=np.uint32))
        self._values = np.array(values)
        some = [word for word, n in ids.items() if len(word) > 2 and word.isascii() and single[n] > 0]
        self.common = {*FEW, *telling, *some}
        known = others | ids
        self._ids = Table(numbers_of(list(known)), np.array(list(known.values()), dtype=np.uint32))
        self.marks, self.speakers, self.turned = (
            np.isin(np.arange(len(single)), numbers) for numbers in (marks, speakers, [turned])
        )

    def ids(self, numbers: Numbers) -> NDArray[np.uint32]:
        """The place in the list of each word."""
        found: NDArray[np.uint32] = self._ids.get(numbers)
        return found

    def weigh(self, ids: NDArray[np.uint32], opens: Flags) -> NDArray[np.float32]:
        """What each word adds to its sentence's score, by itself and with the two before it."""
        before = np.empty_like(ids)
        before[1:], before[:1] = ids[:-1], _OPENING
        across = np.empty_like(ids)
        across[1:], across[:1] = before[:-1], 0
        across[opens] = 0
        before[opens] = _OPENING
        across[1:][opens[:-1] & ~opens[1:]] = _OPENING
        pairs = np.concatenate((before << 16 | ids, across << 16 | ids | _ACROSS))
        beside, apart = self._values[self._pairs.get(pairs)].reshape(2, -1)
        found: NDArray[np.float32] = self.single[ids] + beside + apart
        return found

    def orders(self, words: Words, ids: NDArray[np.uint32], lenience: float | NDArray[np.float64] = 0.0) -> list[Order]:
        """The sentences, or the WINDOW words of a longer one, that score more than -lenience (one for each word if they
        differ)."""
        if not len(ids):
            return []
        sums = np.append(0.0, np.cumsum(self.weigh(ids, words.opens), dtype=np.float64))
        least = np.broadcast_to(-self.bias - lenience, ids.shape)
        firsts = np.flatnonzero(words.opens)
        ends = np.append(firsts[1:], len(ids))
        scores = sums[ends] - sums[firsts]
        found = [(int(firsts[n]), int(ends[n]), float(scores[n])) for n in np.flatnonzero(scores > least[firsts])]
        for n in np.flatnonzero(ends - firsts > WINDOW).tolist():
            first, end = int(firsts[n]), int(ends[n])
            inside = sums[first + WINDOW : end + 1] - sums[first : end + 1 - WINDOW] - MIDST
            loud = np.flatnonzero(inside > least[first])
            for run in np.split(loud, np.flatnonzero(np.diff(loud) > WINDOW) + 1) if len(loud) else ():
                found.append((first + int(run[0]), first + int(run[-1]) + WINDOW, float(inside[run].max())))
        return [Order(a, b, score + self.bias, self._reason(ids[a:b])) for a, b, score in sorted(found)]

    def _reason(self, ids: NDArray[np.uint32]) -> str:
        votes = np.bincount(self.kinds[ids], weights=np.maximum(self.single[ids], 0), minlength=len(self.reasons))
        votes[0] = 0
        return self.reasons[int(votes.argmax())]


def _misspelt(word: str) -> list[str]:
    """What a hasty hand makes of a word: two letters swapped, one left out, one doubled; the first one stays."""
    return [
        wrong
        for i in range(1, len(word))
        for wrong in (
            word[:i] + word[i + 1 :],
            word[:i] + word[i] + word[i:],
            word[:i] + word[i + 1 : i + 2] + word[i] + word[i + 2 :],
        )
    ]


def _turned(word: str) -> str:
    """A folded word backwards, and in ROT13: an i may have been an l."""
    rotated = "".join(chr((ord(char) - 84) % 26 + 97) for char in word if char.isalpha())
    return f"{word[::-1]} {rotated} {rotated.replace('v', 'y')}"


@cache
def weights() -> Weights:
    """The weights, read once."""
    with FILE.open(encoding="utf-8") as lines:
        return Weights(lines)


def verdicts(texts: Sequence[str], lenience: float | Sequence[float] = 0.0) -> list[bool]:
    """Whether each of some texts that stand apart, decoded or hidden, holds an order. `lenience` is what counts in
    addition, against all or against each. All are read at once, between blank lines."""
    if not texts:
        return []
    words, known = read("\n\n".join(texts)), weights()
    ends = np.cumsum([len(text) + 2 for text in texts])
    owners = np.searchsorted(ends, words.starts, side="right")
    found = [False] * len(texts)
    for order in known.orders(words, known.ids(words.numbers), np.broadcast_to(lenience, len(texts))[owners]):
        found[owners[order.first]] = True
    return found
