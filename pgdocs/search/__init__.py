"""From a folder of markdown pages to ranked, cited sections. Names no manual."""

from __future__ import annotations

NO_ANSWER = "No confident answer in the indexed manuals."
"""The first line of an answer where nothing is near enough; clients look for exactly this."""
