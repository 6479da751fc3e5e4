"""From a folder of markdown pages to ranked, cited sections. Names no manual."""

from __future__ import annotations

from typing import Literal, get_args

Strategy = Literal["hybrid", "exact", "fuzzy", "semantic"]
STRATEGIES: tuple[str, ...] = get_args(Strategy)
"""What pages can be ranked by."""

NO_ANSWER = "No confident answer in the indexed manuals."
"""The first line of an answer where nothing is near enough; clients look for exactly this."""
