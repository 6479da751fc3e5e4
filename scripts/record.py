"""Record a terminal session as an SVG: real commands on a real terminal, the manuals' own words cut to a few.

    python scripts/record.py [--docs docs] [--out assets/session.svg]

What the picture shows is what the commands print, but for this: of a passage only the first words of its first line
stay, so that no text of the manuals comes into the repository. Titles, addresses, signatures and our own words do.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent

COMMANDS = (
    ("ask", "when to retry a transaction", "--budget", "300"),
    ("search", "nearest neighbour", "-n", "2"),
    ("signature", "ST_DWithin"),
    ("ask", "react useEffect cleanup"),
)
"""What to ask it for: an answer within a budget, ranked pages, a signature, and a question that it has no answer to."""

COLUMNS = 104
WORDS = 5
"""Words of a passage that are shown: enough to see that there is one."""

SHOWN = 15
"""Lines of an answer at most: the picture is to fit on a screen."""

SIZE, LINE, WIDTH = 13, 18, 7.83
"""Of a character: font size, line height and width in pixels (0.602 em in the usual monospaced fonts)."""

COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#f2cc60", "36": "#79c0ff"}
BACKGROUND, TEXT, QUIET = "#0d1117", "#e6edf3", "#8b949e"

ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


HEADING = re.compile(r"## (?:\d+\. |.* \(\w+\)$|Postgre|PostGIS )")
OURS = re.compile(r"https?://|.* · score |---$|Read on |… \d+ more |Also defined|No confident|Nearest|Postgre|PostGIS ")
"""Lines that are ours, titles and addresses; all others are the manuals'."""


def run(arguments: tuple[str, ...], docs: Path) -> str:
    """What the command writes on a terminal."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "PGDOCS_DOCS": str(docs), "COLUMNS": str(COLUMNS)}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "pgdocs.serve.cli", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 65_536):
                written += piece
        except OSError:  # Linux ends a terminal so
            pass
        os.close(ours)
    if process.returncode:
        raise SystemExit(written.decode())
    return written.decode().replace("\r\n", "\n").rstrip("\n")


def without_passages(answer: str, signatures: bool) -> Iterator[str]:
    """The lines of an answer, its passages cut to WORDS words, its code left out but for signatures."""
    fence, passage, said, fences = False, False, False, 0
    for line in answer.split("\n"):
        plain = ESCAPE.sub("", line)
        if plain.startswith("```"):
            fence = not fence
            fences += fence
            said = said or fence
        elif fence:
            if signatures and fences == 1:
                yield line
        elif HEADING.match(plain):
            passage, said, fences = False, False, 0
            yield ""
            yield line
        elif OURS.match(plain):
            passage = plain.startswith("http") or passage
            yield line
        elif not plain:
            if not passage or not said:
                yield line
        elif passage and not said and not signatures:
            said = True
            yield cut(line)


def cut(line: str) -> str:
    """The first words of a line, with their colours."""
    words = line.split(" ")
    kept = " ".join(words[:WORDS])
    return kept + ("\x1b[0m" if "\x1b" in kept else "") + " …"


def screen(docs: Path) -> list[str]:
    """All lines of the session."""
    lines: list[str] = []
    for arguments in COMMANDS:
        typed = " ".join(f'"{word}"' if " " in word else word for word in arguments)
        shown = [*without_passages(run(arguments, docs), arguments[0] == "signature")]
        shown = [line for n, line in enumerate(shown) if line or (n and shown[n - 1])]  # one blank line in a row
        lines += [f"\x1b[32m$\x1b[0m \x1b[1mpgdocs {typed}\x1b[0m", *shown[:SHOWN]]
        lines += ["…", ""] if len(shown) > SHOWN else [""]
    return lines[:-1]


def svg(lines: list[str]) -> str:
    """The picture."""
    width, height = round(COLUMNS * WIDTH) + 32, len(lines) * LINE + 52
    dots = "".join(f'<circle cx="{18 + 18 * n}" cy="17" r="5.5" fill="{QUIET}" opacity="0.5"/>' for n in range(3))
    rows = [
        f'<text x="16" y="{48 + n * LINE}">{"".join(spans(clip(line)))}</text>' for n, line in enumerate(lines) if line
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">',
            "<title>pgdocs at the shell</title>",
            f"<style>text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;"
            f"fill:{TEXT}}}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>{dots}',
            *rows,
            "</svg>\n",
        ]
    )


def clip(line: str) -> str:
    """A line that a terminal would wrap ends at its edge."""
    room, kept = COLUMNS, ""
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if ESCAPE.fullmatch(piece):
            kept += piece
        elif room > 0:
            kept += piece if len(piece) <= room else piece[: room - 1] + "…"
            room -= len(piece)
    return kept


def spans(line: str) -> Iterator[str]:
    """The pieces of a line, each in its colour."""
    style: dict[str, str] = {}
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if codes := ESCAPE.fullmatch(piece):
            for code in codes[1].split(";"):
                if code in ("", "0"):
                    style = {}
                elif code == "1":
                    style["font-weight"] = "bold"
                elif code in COLOURS:
                    style["fill"] = COLOURS[code]
        elif piece:
            attributes = "".join(f' {name}="{value}"' for name, value in style.items())
            yield f"<tspan{attributes}>{escape(piece)}</tspan>" if attributes else escape(piece)


def main() -> None:
    """Record, and say where the picture is."""
    parser = argparse.ArgumentParser(description="Record a terminal session as an SVG.")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    parser.add_argument("--out", type=Path, default=ROOT / "assets" / "session.svg")
    options = parser.parse_args()
    lines = screen(options.docs.absolute())
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(svg(lines), encoding="utf-8")
    print(f"{options.out}: {len(lines)} lines")


if __name__ == "__main__":
    main()
