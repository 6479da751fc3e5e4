"""A pasted stack trace → the messages in it: what a driver and a framework put around them leads elsewhere."""

from __future__ import annotations

import re

_FRAME = re.compile(
    r"""^(?: Traceback\ \(most\ recent\ call\ last\):
        | [ \t]* File\ ".*",\ line\ \d+ .*\n .*
        | [ \t]+ at\ .* (?: :(?:line\ )?\d+\)? | \((?:Native\ Method|Unknown\ Source)\) )
        | [ \t]* \.\.\.\ \d+\ (?:more|common\ frames) .*
        | [ \t]* (?:from\ )? [\w./-]+\.rb:\d+:in .*
        )[ \t]*(?:\n|$)""",
    re.MULTILINE | re.VERBOSE,
)
"""A line of a stack trace (Python, Java, JavaScript, .NET, Ruby): it holds words, but none of the error's."""

_THROWN = re.compile(
    r"^[ \t]*(?:Caused by: *)?(?:\w+(?:\.|::))+[A-Z]\w*(?: \(0x[\dA-F]+\))?:[ \t]+|\((?:\w+(?:\.|::))+[A-Z]\w*\)",
    re.MULTILINE,
)
"""`psycopg2.errors.DeadlockDetected: `: a driver's name for what its message says in the server's words."""


def messages(text: str) -> str:
    """The text without frames and drivers' names for an error; the text itself where nothing else is in it."""
    return _THROWN.sub("", _FRAME.sub("", text)).strip() or text
