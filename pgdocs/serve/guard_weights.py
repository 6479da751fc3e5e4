"""How much a sentence sounds like an order to a model: a sum of weights of its words and pairs of words.

The weights were learned (`scripts/train_guard.py`) from sentences that were written as attacks and as honest text, and
from both manuals. `guard_weights.tsv` holds them as text: a line for each word, for two words side by side, for two
with one between (`ignore _ instructions`), for the beginning of a sentence (`^ ignore`); for a word also the kind of
attack that it speaks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgdocs.serve.guard_reader import Flags, Numbers, Table, Words, fold, numbers_of, read

FILE = Path(__file__).parent / "guard_weights.tsv"

WINDOW = 32
"""Words that are weighed together: an order in the midst of a text without full stops is found all the same."""

MIDST = 3.0
"""How much louder such a run must be than a whole sentence: honest text lacks there what speaks for it elsewhere."""

IN_COMPANY = 1.5
"""What counts in addition against a sentence beside an attack, or in a place that nobody is meant to see."""

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
    """The weights as tables. `ids` numbers the words that any of them speaks of; 0 is all other words."""

    def __init__(self, text: str) -> None:
        first, *rows = [line.split("\t") for line in text.splitlines()]
        self.bias = float(first[1])
        self.reasons = ["order to a model", *sorted({row[2] for row in rows if len(row) > 2})]
        reasons = {reason: number for number, reason in enumerate(self.reasons)}
        features = [words.split() for words in fold("\n".join(row[0] for row in rows)).split("\n")]
        marks, speakers = fold(MARKS).split(), fold(SPEAKERS).split()
        ids = {word: n for n, word in enumerate(dict.fromkeys(chain(*features, marks, speakers)), _OPENING + 1)}
        self.single = np.zeros(_OPENING + 2 + len(ids), dtype=np.float32)
        self.kinds = np.zeros(len(self.single), dtype=np.intp)
        keys, values = [], [0.0]
        for row, words in zip(rows, features, strict=True):
            opening = row[0][0] == "^"
            if len(words) == 1 and not opening:
                self.single[ids[words[0]]] = float(row[1])
                self.kinds[ids[words[0]]] = reasons[row[2]] if len(row) > 2 else 0
            else:
                before = _OPENING if opening else ids[words[0]]
                keys.append(before << 16 | ids[words[-1]] | (int(_ACROSS) if "_" in row[0] else 0))
                values.append(float(row[1]))
        self._pairs = Table(np.array(keys, dtype=np.uint32), np.arange(1, len(keys) + 1, dtype=np.uint32))
        self._values = np.array(values, dtype=np.float32)
        telling = fold(TELLING).split()
        some = [word for word, n in ids.items() if len(word) > 2 and word.isascii() and self.single[n] > 0]
        self.common = {*FEW, *telling, *some}
        turned = fold(" ".join(map(_turned, telling))).split()
        others = {wrong: ids[word] for word in telling if word in ids for wrong in _misspelt(word)}
        others |= dict.fromkeys(turned, len(self.single) - 1)
        known = others | ids
        self._ids = Table(numbers_of(list(known)), np.array(list(known.values()), dtype=np.uint32))
        self.marks, self.speakers, self.turned = (np.zeros(len(self.single), dtype=bool) for _ in range(3))
        self.marks[[ids[word] for word in marks]] = True
        self.speakers[[ids[word] for word in speakers]] = True
        self.turned[-1] = True

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
        found = {(int(firsts[n]), int(ends[n])): float(scores[n]) for n in np.flatnonzero(scores > least[firsts])}
        for n in np.flatnonzero(ends - firsts > WINDOW).tolist():
            first, end = int(firsts[n]), int(ends[n])
            inside = sums[first + WINDOW : end + 1] - sums[first : end + 1 - WINDOW] - MIDST
            loud = np.flatnonzero(inside > least[first])
            for run in np.split(loud, np.flatnonzero(np.diff(loud) > WINDOW) + 1) if len(loud) else ():
                found[first + int(run[0]), first + int(run[-1]) + WINDOW] = float(inside[run].max())
        return [Order(a, b, score + self.bias, self._reason(ids[a:b])) for (a, b), score in sorted(found.items())]

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
    return Weights(FILE.read_text(encoding="utf-8"))


def verdicts(texts: Sequence[str], lenience: float | Sequence[float] = 0.0) -> list[str]:
    """The reason against each of some texts that stand apart: decoded, hidden; "" where there is none. `lenience` is
    what counts in addition, against all or against each. All are read at once, between blank lines."""
    if not texts:
        return []
    words, known = read("\n\n".join(texts)), weights()
    ends = np.cumsum([len(text) + 2 for text in texts])
    owners = np.searchsorted(ends, words.starts, side="right")
    found = [""] * len(texts)
    for order in known.orders(words, known.ids(words.numbers), np.broadcast_to(lenience, len(texts))[owners]):
        found[owners[order.first]] = order.reason
    return found
