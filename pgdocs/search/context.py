"""A task and ranked passages → one short, cited block within a token budget: the tool `how_do_i`.

Retrieve wide, then only remove:

    retrieve   some 24 passages of the few best pages
    choose     one page where one page answers, at most MAX_PAGES
    cut        each passage into parts (paragraphs, items, rows, fences), never inside one
    value      how much of the task a part speaks of, and whether it has the form of an answer
    fold       what another part says already
    fill       the best parts, until the next one is worth less than it costs
    render     pages by rank, parts in reading order, each passage with its path and URL

The citations are the only URLs in the block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log1p
from typing import TYPE_CHECKING

from pgdocs.pages import PATH_SEPARATOR, join_blocks, short_name
from pgdocs.search import NO_ANSWER
from pgdocs.search.budget import count_tokens
from pgdocs.search.pieces import FRAME, Part, cut, joined, left_out, without_urls
from pgdocs.search.tokens import strip_markdown, tokens

if TYPE_CHECKING:
    from pgdocs.search.index import DocumentSearchIndex, Found, PageInfo, Retrieved

NO_ANSWER_TOKENS = 120
"""The most that such an answer costs."""

MIN_BUDGET, MAX_BUDGET = 200, 2000
"""Below, no passage fits beside its citation; above, reading the page itself is the better answer."""

CITATION = 85
"""Tokens of a passage's path, URL and note of what was left out, about: what it costs to open one more."""

STEP = 100
"""Characters of a heading in a passage's path: those of psql's commands hold their whole syntax."""

MAX_PAGES = 4

PASSAGES = 24
"""Passages that are looked at, the best of each page that is shown."""

SECOND, ALSO = 0.97, 0.9
"""Another page is shown where its score is at least SECOND of the best one's and its best part worth at least ALSO of
the best part of all: either may be the answer. Below, another page was wrong more often than the first (restraint)."""

PRIOR = 0.4
"""What a passage's own rank counts beside the words of a part: headings and phrases speak for all of a passage."""

OPENING = 0.02
"""What the first part gains for being the first, the next ones less: all there is to go by where a page was found by a
phrase alone and holds no word of the task."""

IN_HEADING = 0.6
"""A word of the task that stands only above a part, in its headings."""

ASKED = 0.6
"""What each form of an answer that the task asks for (ASKS) adds to a part that has it."""

UNASKED_CODE = 0.3
"""Taken from the value of an example where the task does not ask how: they are long and say little else."""

SIZE_POWER = 0.45
"""How much a part's length counts against it. At 1 short parts win that say nothing; at 0 one long one takes all."""

KINDRED = 0.5
"""What the words beside the task's in people's phrases (`Ranker.kindred`) add to the part of a page that says most of
them, in the page's best value: they know that who wants to kill a query wants pg_terminate_backend."""

SHARED = 0.3
"""How much of its passage's best part a part shares: the answer often stands beside the words of the question."""

FOLLOWED = 0.3
"""What the best part's value adds to the definition, on the same page, of a name in it: "see log_min_duration"."""

SYNOPSIS = "```synopsis"
"""How a command's or a function's syntax begins, which is no example."""

SMALL = 40
"""Tokens below which a part is not cheaper: a line of three words is no better than a sentence."""

PRICE = 0.9
"""Least value of a part beside the best one's when the whole budget is used up; half of it when half is."""

SAME = 0.75
"""Two parts with this Jaccard index of their word triples say the same: chapters of both manuals quote each other."""

_SIZES = r"bytes?|[kKMGT]B|bits?|characters?|digits|columns?|dimensions?|segments?|iterations?|rows|pages?"
ASKS = tuple(
    (re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), re.compile(answer))
    for asked, answer in (
        (
            r"max\w*|longest|largest|biggest|highest|most|limits?|how (?:long|many|big|large|far|often|much)|up to",
            r"(?i)\b(?:max\w*|limit\w*|at most|up to|no more than|(?:less|shorter|smaller|fewer) than|exceed)\b|\d",
        ),
        (
            r"min\w*|smallest|shortest|least|lowest|fewest",
            r"(?i)\b(?:min\w*|at least|or (?:more|greater|larger)|(?:more|greater|larger) than)\b|\d",
        ),
        (
            r"defaults?|usual\w*|if (?:i|nothing|none)|omitted|initial\w*",
            r"(?i)\bdefaults?\b|\bif (?:not|no|omitted)\b|\bomitted\b|not specified|=\w",
        ),
        (
            r"can|may|could|allowed|possible|able|accept\w*|supported?|must",
            r"(?i)\b(?:can|cannot|only|must|not|allowed|supported?|valid|accepts?|possible|requires?)\b",
        ),
        (
            r"seconds?|wait\w*|timeouts?|how long|delays?|interval",
            r"\b(?:(?:milli|micro)?seconds?|minutes?|hours?|ms)\b",
        ),
        (r"sizes?|bytes?|long\w*|big\w*|large\w*|length|storage|much|many", rf"\b(?:{_SIZES})\b"),
        (r"units?", rf"\b(?:units?|met(?:er|re)s?|degrees|radians|pixels|seconds|milliseconds|{_SIZES})\b"),
        (r"why|what happens|does", r"(?i)\b(?:because|since|therefore|so that|otherwise|if|when|not)\b"),
        (r"errors?|fails?|raised?|throws?", r"(?i)\b(?:errors?|fails?|exceptions?|raises?d?|throws?n?|null)\b"),
    )
)
"""What a task asks for → what a text that answers it has: a limit, a default, a permission, a unit, a reason."""

_NAME = re.compile(r"\b[a-z][\w.]*[_.]\w+\b")
"""A setting, a function, a column: names that headings of definitions begin with."""

_HOW_TO = re.compile(r"(?i)\b(?:how (?:do|to|can|should|would)|syntax|statements?|commands?|examples?|quer(?:y|ies))\b")
_QUESTION = re.compile(
    r"(?i)\?|\b(?:why|what|which|who|when|where|is|are|does|do|did|may|how|max\w*|min\w*|defaults?|allowed)\b"
)
"""A task without any of these is a goal ("keep the newest row of each group"): it wants code like a how-to."""


@dataclass(frozen=True)
class Cited:
    """What the block shows of one section: `path` from the product to the heading, its URL and the text."""

    doc_name: str
    path: tuple[str, ...]
    url: str
    text: str


@dataclass(frozen=True)
class Context:
    """The block, what it costs by `count_tokens`, and its passages; none where there is no confident answer."""

    text: str
    tokens: int
    passages: tuple[Cited, ...] = ()


def assemble(
    index: DocumentSearchIndex, task: str, token_budget: int = 800, source: str = "all", kind: str = "all"
) -> str:
    """The block of `context` as text. Raises BadQuery, UnknownSource, NoPages."""
    return context(index, task, token_budget, source, kind).text


def context(
    index: DocumentSearchIndex, task: str, token_budget: int = 800, source: str = "all", kind: str = "all"
) -> Context:
    """The least text from the manuals that lets one go on with `task`, in at most `token_budget` tokens with all that
    is around it. Raises BadQuery, UnknownSource, NoPages."""
    budget = min(max(token_budget, MIN_BUDGET), MAX_BUDGET)
    note = ""
    if budget != token_budget:
        note = f"token_budget {token_budget:,} is outside 200–2,000: {budget:,} is used.\n\n"
    found = index.retrieve(task, MAX_PAGES, source, kind)
    note += f"{missing}\n\n" if (missing := index.missing_version(task)) else ""
    if not found.confident:
        return _no_answer([near.page for near in found.pages[:2]])
    shown, parts = _chosen(task, found)
    kept = _with_what_they_announce(parts, _fill(shown, parts, budget - count_tokens(note), _wants_code(task)))
    while True:
        brief = (False, True) if sum(part.kind not in FRAME for part in kept) == 1 else (False,)
        for passages in (_passages(shown, kept, briefly) for briefly in brief):
            text = note + "\n\n".join(map(_rendered, passages))
            if count_tokens(text) <= budget or not kept:
                return Context(text, count_tokens(text), tuple(passages))
        kept = _without(min(kept, key=lambda part: (part.kind in FRAME, part.value)), kept)


def naive(index: DocumentSearchIndex, task: str, source: str = "all", token_budget: int | None = None) -> Context:
    """What a plain retriever hands on, to compare with: the best section of each of the five best pages, as they are,
    until the next one would exceed the budget."""
    passages: list[Cited] = []
    text = ""
    for found in index.retrieve(task, 5, source).pages:
        hit = max(found.passages, key=lambda hit: hit.score)
        path = (*found.page.path[:1], found.page.title, *filter(None, [hit.section]))
        passage = Cited(found.page.doc_name, path, _url(found.page, hit.anchor), hit.text)
        longer = "\n\n".join(filter(None, [text, _rendered(passage)]))
        if token_budget and passages and count_tokens(longer) > token_budget:
            break
        text = longer
        passages.append(passage)
    return Context(text, count_tokens(text), tuple(passages))


# --- values -------------------------------------------------------------------------------------------------


def _chosen(task: str, found: Retrieved) -> tuple[list[Found], list[Part]]:
    """The pages that may be the answer, and their valued parts."""
    near = [page for page in found.pages if page.score >= SECOND * found.pages[0].score]
    parts = _valued(task, found.with_ours, near, found.weight)
    best = [max((part.value for part in parts if part.page == number), default=0.0) for number in range(len(near))]
    shown = [page for n, page in enumerate(near) if n == 0 or best[n] >= ALSO * max(best)]
    return shown, parts if len(shown) == len(near) else _valued(task, found.with_ours, shown, found.weight)


def _valued(task: str, words: str, shown: Sequence[Found], weight: Callable[[str], float]) -> list[Part]:
    """The parts of the best passages, in reading order, each with its value for the task (0 for a caption or head)."""
    wanted = frozenset(tokens(words))
    parts: list[Part] = []
    for page, found in enumerate(shown):
        best = sorted(range(len(found.passages)), key=lambda n: (-found.passages[n].score, n))[: PASSAGES // len(shown)]
        parts += cut(page, found.passages, sorted(best))
    said = [_said(wanted, part.block.text) for part in parts]
    above = [(wanted & _heading_words(_headings(shown, part))) - own for part, own in zip(parts, said, strict=True)]
    holding = Counter(word for own, over in zip(said, above, strict=True) for word in (*own, *over))
    worth = {word: weight(word) * _rarity(holding[word], len(parts)) for word in wanted}
    everything = sum(worth.values()) or 1.0
    top = max((hit.score for found in shown for hit in found.passages), default=0.0) or 1.0
    asked = [answer for ask, answer in ASKS if ask.search(task)]
    code = _wants_code(task)
    for number, (part, own, over) in enumerate(zip(parts, said, above, strict=True), 1):
        if part.kind in FRAME:
            continue
        value = (sum(worth[word] for word in own) + IN_HEADING * sum(worth[word] for word in over)) / everything
        value += PRIOR * max(shown[part.page].passages[part.passage].score, 0.0) / top + OPENING / number
        value *= 1 + ASKED * sum(bool(answer.search(part.block.text)) for answer in asked)
        if part.kind == "fence" and not code:
            value *= 1 - UNASKED_CODE
        part.value = value / max(part.cost, SMALL) ** SIZE_POWER
    highest: dict[tuple[int, int], float] = {}
    for part in parts:
        highest[part.page, part.passage] = max(part.value, highest.get((part.page, part.passage), 0.0))
    for part in parts:
        if part.value:
            part.value += SHARED * (highest[part.page, part.passage] - part.value)
    for page in range(len(shown)):
        _add_kindred(shown, [part for part in parts if part.page == page and part.value])
    _follow(shown, parts)
    return parts


def _add_kindred(shown: Sequence[Found], parts: Sequence[Part]) -> None:
    """Raise the value of a page's parts by the kindred words that they and their headings say."""
    if not parts:
        return
    kindred = shown[parts[0].page].kindred()
    wanted = frozenset(kindred)
    said = [
        sum(
            kindred[word] for word in _said(wanted, part.block.text) | (wanted & _heading_words(_headings(shown, part)))
        )
        / max(part.cost, SMALL) ** SIZE_POWER
        for part in parts
    ]
    if most := max(said):
        best = max(part.value for part in parts)
        for part, share in zip(parts, said, strict=True):
            part.value += KINDRED * best * share / most


def _follow(shown: Sequence[Found], parts: Sequence[Part]) -> None:
    """Raise the value of the definitions that the best part leads to: of the first part below each heading it names."""
    best = max(parts, key=lambda part: part.value, default=None)
    names = set(_NAME.findall(best.block.text)) if best else set()
    for part, before in zip(parts, (None, *parts), strict=False):
        if best and part.value and part.page == best.page and (not before or before.passage != part.passage):
            heading = shown[part.page].passages[part.passage].section.rpartition(PATH_SEPARATOR)[2]
            if part.passage != best.passage and heading.strip("`").partition(" ")[0] in names:
                part.value += FOLLOWED * best.value


def _words(text: str) -> frozenset[str]:
    return frozenset().union(*map(_tokens, set(strip_markdown(text).split())))


_heading_words = lru_cache(maxsize=512)(_words)  # headings stand above many parts


@lru_cache(maxsize=1 << 13)  # a manual says the same words again and again
def _tokens(word: str) -> tuple[str, ...]:
    return tuple(tokens(word))


def _headings(shown: Sequence[Found], part: Part) -> str:
    """What stands above a part: the headings of its passage, and those and the caption within it."""
    framed = (above.block.text for above in part.chain if above is not part and above.kind in FRAME)
    return " ".join((shown[part.page].passages[part.passage].section, *framed))


def _said(wanted: frozenset[str], text: str) -> frozenset[str]:
    """The wanted words that a text holds. Many a part holds none, which is told without taking it to pieces: a stem
    begins like its word, but maybe for the last letter."""
    lower = text.lower()
    if any((word[:-1] if len(word) > 4 or word.endswith("i") else word) in lower for word in wanted):
        return wanted & _words(text)
    return frozenset()


def _rarity(holding: int, parts: int) -> float:
    """0 … 1: how much a word that so many parts hold tells them apart. The page's own subject stands in all of them."""
    return log1p(parts / (holding + 0.5)) / log1p(parts / 0.5) if parts else 0.0


def _triples(text: str) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset([tuple(words)])


# --- filling ------------------------------------------------------------------------------------------------


def _wants_code(task: str) -> bool:
    return bool(_HOW_TO.search(task)) or not _QUESTION.search(task)


def _fill(shown: Sequence[Found], parts: Sequence[Part], budget: int, code: bool) -> list[Part]:
    """The parts to show, in reading order: the best of each page and, if `code` is wanted, its best example, then the
    best of all, while they are worth it."""
    ranked = sorted((part for part in parts if part.value > 0), key=lambda part: -part.value)
    sure = [next((part for part in ranked if part.page == page), None) for page in range(len(shown))]
    if code:
        examples = [part for part in ranked if part.kind == "fence" and SYNOPSIS not in part.block.text]
        sure += [next((part for part in examples if part.page == page), None) for page in range(len(shown))]
    first = [part for part in sure if part]
    queue = first + ranked
    kept: set[Part] = set()
    said: list[frozenset[tuple[str, ...]]] = []
    cited: set[tuple[int, str]] = set()
    used = 0
    for number, part in enumerate(queue):
        new = [p for p in part.chain if p not in kept]
        hit = shown[part.page].passages[part.passage]
        cost = sum(p.cost for p in new)
        if (part.page, hit.anchor) not in cited:
            cost += CITATION
        price = PRICE * ranked[0].value * (used + cost) / budget
        if not new or used + cost > budget or (kept and number >= len(first) and part.value < price):
            continue
        triples = _triples(part.block.text)
        if any(len(triples & other) >= SAME * len(triples | other) for other in said):
            continue
        kept.update(new)
        said.append(triples)
        cited.add((part.page, hit.anchor))
        used += cost
    return [part for part in parts if part in kept]


def _with_what_they_announce(parts: Sequence[Part], kept: Sequence[Part]) -> list[Part]:
    """The kept parts but for short ones that end in a colon where what they lead to is not kept."""
    following = {part: after for part, after in pairwise(parts) if after.page == part.page}
    for part in kept:
        if part.cost <= SMALL and part.block.text.endswith(":") and following.get(part) not in (*kept, None):
            kept = _without(part, kept)
    return list(kept)


def _without(dropped: Part, kept: Sequence[Part]) -> list[Part]:
    """The kept parts but for one, what needs it, and captions and heads that nothing needs any more."""
    rest = [part for part in kept if dropped not in part.chain]
    needed = {part for other in rest if other.kind not in FRAME for part in other.chain}
    return [part for part in rest if part in needed]


# --- rendering ----------------------------------------------------------------------------------------------


def _passages(shown: Sequence[Found], kept: Sequence[Part], brief: bool) -> list[Cited]:
    """The kept parts, gathered by what they are cited with. Nothing fitted: the best page without a text."""
    groups: dict[tuple[int, str], list[Part]] = {}
    for part in kept:
        groups.setdefault((part.page, shown[part.page].passages[part.passage].anchor), []).append(part)
    if not groups:
        return [_passage(shown[0], "", [], brief)]
    return [_passage(shown[page], anchor, group, brief) for (page, anchor), group in groups.items()]


def _passage(found: Found, anchor: str, parts: Sequence[Part], brief: bool) -> Cited:
    """A passage, with a line that says what was left out of its sections: `brief`, without telling what and where."""
    page = found.page
    sections = list(dict.fromkeys(found.passages[part.passage].section for part in parts))
    common = sections[0] if len(sections) == 1 else ""
    texts = []
    for section in sections:
        own = [part for part in parts if found.passages[part.passage].section == section]
        title = section.rpartition(PATH_SEPARATOR)[2]
        text = join_blocks(joined(own))
        texts.append(f"**{title}**\n\n{text}" if title and not common else text)
    rest = left_out([h for h in found.passages if h.anchor == anchor and h.section in sections], parts)
    if rest or not parts:
        where = f', section="{anchor}"' if anchor and anchor != page.anchor and not brief else ""
        what = "more" if brief else rest or "the page"
        texts.append(f'… {what}: get_doc("{short_name(page.doc_name)}"{where})')
    path = (*page.path[:1], page.title, *common.split(PATH_SEPARATOR))
    steps = (step if len(step) <= STEP else f"{step[:STEP]}…" for step in path if step)
    return Cited(page.doc_name, tuple(steps), _url(page, anchor), "\n\n".join(texts))


def _url(page: PageInfo, anchor: str) -> str:
    """The line that cites: a bare URL, or for a page that has none how to read it."""
    if not page.url:
        return f'get_doc("{short_name(page.doc_name)}")'
    return page.url + (f"#{anchor}" if anchor else "")


def _rendered(passage: Cited) -> str:
    return f"## {without_urls(PATH_SEPARATOR.join(passage.path))}\n{passage.url}\n\n{passage.text}"


def _no_answer(pages: Sequence[PageInfo]) -> Context:
    """NO_ANSWER and the two nearest pages."""
    text = NO_ANSWER + ("\n\nNearest pages:" if pages else "")
    for page in pages:
        more = f"\n\n{without_urls(PATH_SEPARATOR.join((*page.path[:1], page.title)))[:120]}\n{_url(page, '')}"
        if count_tokens(text + more) < NO_ANSWER_TOKENS:
            text += more
    return Context(text, count_tokens(text))
