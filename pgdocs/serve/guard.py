"""Untrusted text → text that is safe to print, to send and to show: every answer passes through here on its way out."""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: all but tab and newline
    "\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # zero width, and those that turn the writing around
    "\U000e0000-\U000e007f"  # tags: text that only a machine reads
    "\ud800-\udfff]"  # half a surrogate pair can't be encoded, it would kill the stream's writer
)


def clean(text: str) -> str:
    """The text without the characters that nobody sees: they carry nothing but mischief."""
    return _INVISIBLE.sub("", text)
