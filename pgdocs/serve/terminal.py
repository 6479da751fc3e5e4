"""What a person at a shell is shown otherwise than an agent: colours on a terminal, commands in place of calls."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, TextIO

import click

from pgdocs.pages import short_name

if TYPE_CHECKING:
    from pgdocs.search.rank import Explained

_URL = re.compile(r"https?://\S+")
_CALL = re.compile(r'get_doc\((?:page=)?"([^"\n]*)"(?:, section="([^"\n]*)")?(?:, part=\d+)?\)')
_WORD = re.compile(r"\w+")


def is_colourful(stream: TextIO | None = None) -> bool:
    """Whether to paint: on a terminal that can, unless NO_COLOR (https://no-color.org) says no."""
    stream = stream or sys.stdout
    if stream is None or not stream.isatty():  # None: it is closed
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def as_commands(text: str) -> str:
    """`text` with each call of the tool get_doc, and each mention of search_docs, as the command that does the same.

    >>> as_commands('Read on with get_doc(page="pg/sql-select", section="SQL-LIMIT").')
    'Read on with pgdocs read pg/sql-select --section SQL-LIMIT.'
    """

    def command(call: re.Match[str]) -> str:
        section = f" --section {shlex.quote(call[2])}" if call[2] else ""
        return f"pgdocs read {shlex.quote(call[1])}{section}" if call[1] else "pgdocs read"

    return re.sub(r"\bsearch_docs(?= with | finds )", "pgdocs search", _CALL.sub(command, text))


def paint(text: str, query: str = "") -> str:
    """`text` with bold headings, dim addresses and the words of `query` (in any form of theirs) highlighted."""
    from pgdocs.search.tokens import tokens

    wanted = frozenset(tokens(query))

    @cache
    def word(found: str) -> str:
        return click.style(found, fg="yellow", bold=True) if wanted.intersection(tokens(found)) else found

    def words(piece: str) -> str:
        return _WORD.sub(lambda match: word(match[0]), piece) if wanted else piece

    def line(line: str) -> str:
        if re.match(r"#{1,6} ", line):
            return click.style(line, bold=True)
        painted, at = "", 0
        for url in _URL.finditer(line):
            painted += words(line[at : url.start()]) + click.style(url[0], fg="cyan")
            at = url.end()
        return painted + words(line[at:])

    return "\n".join(map(line, text.split("\n")))


def ranking(rows: Sequence[Explained]) -> str:
    """What each field gave the pages of a ranking, as a table."""
    from pgdocs.search.rank import CONFIDENT

    names = list(rows[0].parts) if rows else []
    lines = [f"{'':5} score  total = {' '.join(f'{name:>7}' for name in names)}"]
    for row in rows:
        given = " ".join(f"{row.parts[name] + 0:7.2f}" for name in names)
        lines.append(f"{row.place:4}. {row.score:5.2f} {row.total:6.2f} = {given}  {short_name(row.doc_name)}")
    return "\n".join([*lines, f"No confident answer, if the first score is below {CONFIDENT}."])


def paint_diff(text: str) -> str:
    """A unified diff in its usual colours."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(
        click.style(line, fg=colours[line[0]]) if line[:1] in colours else line for line in text.split("\n")
    )
