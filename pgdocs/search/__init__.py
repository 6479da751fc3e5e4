"""From a folder of markdown pages to ranked, cited sections. Names no manual."""

from __future__ import annotations

from typing import Literal, get_args

from pgdocs.errors import BadQuery

Strategy = Literal["hybrid", "exact", "fuzzy", "semantic"]
STRATEGIES: tuple[str, ...] = get_args(Strategy)
"""What pages can be ranked by."""

NO_ANSWER = "No confident answer in the indexed manuals."
"""The first line of an answer where nothing is near enough; clients look for exactly this."""

MAX_QUERY = 10_000
"""Characters of a query, a task or a name: a pasted log with its stack trace fits, a whole file doesn't."""


def checked(text: str, what: str = "query") -> str:
    """`text` where it can be searched for. Raises BadQuery."""
    if not text.replace("\0", " ").strip():
        raise BadQuery(f"The {what} is empty: say what to look for.")
    if len(text) > MAX_QUERY:
        raise BadQuery(f"The {what} is {len(text):,} characters long: use at most {MAX_QUERY:,}, a few words are best.")
    return text
