"""stdin and stdout of the server, mended where the SDK would leave a client or a process hanging."""

from __future__ import annotations

import io
import os
import re
import select
import sys
import threading

GRACE = 0.8
"""A client may be gone within a second; what it sent before is answered in less, unless there are hundreds of calls."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character, fine
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    rb"|.)"
)


def take_stdin() -> None:
    """Put a stdin in place that mends each line (see `mend`), and leave the null device to whoever else reads it."""
    wire = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdin = io.TextIOWrapper(_MendedReader(io.FileIO(wire)), encoding="utf-8", errors="replace")


def mend(line: bytes) -> bytes:
    r"""A JSON line whose half surrogate pairs are U+FFFD: the SDK drops a line that holds one, and its request waits
    for ever. Clients do send them, where a text was cut in the middle of an emoji.

    >>> print(mend(rb'"cut \ud83d", "whole \ud83d\ude00", "quoted \\ud83d"').decode())
    "cut \ufffd", "whole \ud83d\ude00", "quoted \\ud83d"
    """
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], line)


class _MendedReader(io.BufferedReader):
    """Reads by lines, whatever size is asked for: the text layer above takes what it gets."""

    def read1(self, size: int = -1, /) -> bytes:
        return mend(self.readline())


def end_with_client() -> None:
    """End the process when nobody reads stdout any more (the SDK only sees that when it next writes, and then waits for
    stdin), and GRACE seconds after stdin was closed, however much of it is still to be read and answered. Where the
    system can't tell (Windows), the end of stdin ends the process."""
    if not hasattr(select, "poll"):
        return
    poll = select.poll()
    stdin, stdout = os.dup(0), os.dup(1)
    for wire in (stdin, stdout):
        poll.register(wire, 0)  # errors and hang-ups are always reported

    def watch() -> None:
        if stdout not in dict(poll.poll()):
            poll.unregister(stdin)
            poll.poll(GRACE * 1000)
        os._exit(0)

    threading.Thread(target=watch, name="pgdocs client", daemon=True).start()
