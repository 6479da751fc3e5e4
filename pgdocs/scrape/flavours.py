"""What folders of documentation write beside markdown → plain markdown, by small rules in order, a list per flavour.

A rule takes a page's text and an `Include`, and gives the text back; code in fences is nobody's business but the
including rules'. They come first, so that what they bring is cleaned by those that follow. Here are the rules of plain
markdown, MkDocs and Terraform; what MDX needs beside them is in `mdx.py`.
"""

from __future__ import annotations

import re
import textwrap
from html import unescape
from pathlib import PurePosixPath

from pgdocs.scrape.mdx import code_blocks, components, exports, imported_snippets, paragraphs_at_margin, tab_groups
from pgdocs.scrape.prose import TAG, Include, Rule, as_fence, prose, quote, scan


def fences(text: str, include: Include) -> str:
    """```` ```{ .py .annotate } ```` → ```` ```py ````; a terminal in `<div class="termy">` (HTML) → its text."""
    done: list[str] = []
    is_terminal = was_fenced = False
    for line, fenced in scan(text):
        kept = line
        if fenced and not was_fenced:
            kept = re.sub(r"^(\s*[`~]{3,})\s*\{\s*\.([\w+#-]+)[^{}]*\}\s*$", r"\1\2", line)
            above = next((held for held in reversed(done) if held.strip()), "")
            is_terminal = bool(re.match(r"\s*<div [^<>]*\btermy\b[^<>]*>\s*$", above))
        elif fenced and is_terminal:
            kept = unescape(re.sub(r"</?(?:font|span|b|i|u)\b[^<>]*>", "", line))
        done.append(kept)
        was_fenced = fenced
    return "\n".join(done)


def inline_code(text: str, include: Include) -> str:
    """`#!python range()` in a span of code → `range()`."""
    lines = (line if fenced else re.sub(r"(?<=`)#![\w+-]+ (?=[^`]*`)", "", line) for line, fenced in scan(text))
    return "\n".join(lines)


# --- includes -----------------------------------------------------------------------------------------------

_LANGUAGES = {"py": "python", "js": "javascript", "ts": "typescript", "sh": "bash", "yml": "yaml", "rs": "rust"}


def code_includes(text: str, include: Include) -> str:
    """`{* ../src/app.py ln[3:9] hl[4] *}` → the file's lines, fenced."""

    def fenced(match: re.Match[str]) -> str:
        code = include(match["path"])
        if code is None:
            return ""
        lines = code.rstrip("\n").split("\n")
        if part := re.search(r"\bln\[(\d*):?(\d*)\]", match["options"]):
            lines = lines[int(part[1] or 1) - 1 : int(part[2]) if part[2] else None]
        suffix = PurePosixPath(match["path"]).suffix[1:]
        return textwrap.indent(as_fence("\n".join(lines), _LANGUAGES.get(suffix, suffix)), match["indent"])

    return re.sub(r"^(?P<indent>[ \t]*)\{\*\s*(?P<path>\S+)(?P<options>[^\n]*?)\*\}[ \t]*$", fenced, text, flags=re.M)


def snippets(text: str, include: Include) -> str:
    """`--8<-- "file.md:3:9"`, `--8<-- "file.md:part"`, the block form of it, `{! file.md !}` → the file's text."""

    def one(indent: str, name: str) -> str:
        path, _, part = name.partition(":")
        found = include(path)
        return "" if found is None else textwrap.indent(_part(found, part), indent)

    text = re.sub(
        r"^([ \t]*)-+8<-+[ \t]*\n(.*?)\n[ \t]*-+8<-+[ \t]*$",
        lambda m: "\n".join(one(m[1], name.strip()) for name in m[2].split("\n") if name.strip()),
        text,
        flags=re.M | re.S,
    )
    text = re.sub(r"^([ \t]*)-+8<-+[ \t]+([\"'])(.+?)\2[ \t]*$", lambda m: one(m[1], m[3]), text, flags=re.M)
    return re.sub(r"^([ \t]*)\{!>?\s*(\S+?)\s*!\}[ \t]*$", lambda m: one(m[1], m[2]), text, flags=re.M)


def _part(text: str, part: str) -> str:
    """Lines `3:9` of a text, or what stands between its marks `[start:part]` and `[end:part]`."""
    lines = text.rstrip("\n").split("\n")
    if span := re.fullmatch(r"(\d*):(\d*)|(\d+)", part):
        first, last = (span[3], "") if span[3] else (span[1], span[2])
        lines = lines[int(first or 1) - 1 : int(last) if last else None]
    elif part:
        marks = {n: m for n, line in enumerate(lines) if (m := re.search(r"-8<-+\s*\[(start|end):\s*(\S+?)\]", line))}
        ends = [n for n, m in marks.items() if m[2] == part]
        lines = lines[ends[0] + 1 : ends[1]] if len(ends) > 1 else []
    return "\n".join(line for line in lines if not re.search(r"-8<-+\s*\[(?:start|end):", line))


# --- blocks -------------------------------------------------------------------------------------------------

_ADMONITION = re.compile(
    r"(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?)[ \t]+(?P<kind>[\w-]+)[^\"\n]*(?:\"(?P<title>.*)\")?[ \t]*"
)
_TAB = re.compile(r"(?P<indent>[ \t]*)===[!+]?[ \t]+\"(?P<title>.*)\"[ \t]*")


def indented_blocks(text: str, include: Include) -> str:
    """`!!! note "Title"` and `=== "Tab"`, with what is indented below → a quotation; the tab's name and its content."""
    lines, fenced = zip(*scan(text), strict=True)
    done: list[str] = []
    n = 0
    while n < len(lines):
        opened = None if fenced[n] else _ADMONITION.fullmatch(lines[n]) or _TAB.fullmatch(lines[n])
        n += 1
        if not opened:
            done.append(lines[n - 1])
            continue
        first, indent = n, opened["indent"]
        while n < len(lines) and (not lines[n].strip() or lines[n].startswith((f"{indent}    ", f"{indent}\t"))):
            n += 1
        body = indented_blocks(textwrap.dedent("\n".join(lines[first:n])).strip("\n"), include)
        shown = _block(opened.groupdict().get("kind") or "tab", opened["title"], body)
        done += ["", *textwrap.indent(shown, indent).split("\n"), ""]
    return "\n".join(done)


def fenced_blocks(text: str, include: Include) -> str:
    """`/// note | Title` … `///`, `:::note Title` … `:::`, each of three marks or more → the same."""
    lines, fenced = zip(*scan(text), strict=True)
    done: list[str] = []
    n = 0
    while n < len(lines):
        opened = (
            None
            if fenced[n]
            else re.fullmatch(
                r"(\s*)(/{3,}|:{3,})\s*([a-zA-Z][\w-]*)(?:\s*\|\s*|\s*\[|\s+|$)(.*?)\]?\s*(?:\{[^{}]*\}\s*)?", lines[n]
            )
        )
        close = opened and next(
            (m for m in range(n + 1, len(lines)) if lines[m].strip() == opened[2] and not fenced[m]), None
        )
        if opened and close:
            body = textwrap.dedent("\n".join(lines[n + 1 : close]))
            body = re.sub(r"\A(?:\s*\n)*(?:    [\w-]+:.*\n)+", "", body)  # a block's options
            shown = _block(opened[3], opened[4].strip(), fenced_blocks(body.strip("\n"), include))
            done += ["", *textwrap.indent(shown, opened[1]).split("\n"), ""]
            n = close
        else:
            done.append(lines[n])
        n += 1
    return "\n".join(done)


def _block(kind: str, title: str | None, body: str) -> str:
    if kind == "tab":
        return f"**{title}**\n\n{body}"
    label = kind.replace("-", " ").capitalize() if title is None or not title.strip() else title
    return quote(label.replace("**", "").rstrip(":."), body)


def callouts(text: str, include: Include) -> str:
    """Terraform's `-> **Note:** …`, `~>` and `!>`, and GitHub's `> [!NOTE]` → quotations."""

    def change(part: str) -> str:
        part = re.sub(r"^>[ \t]*\[!(\w+)\][ \t]*\n>[ \t]*", lambda m: f"> **{m[1].capitalize()}:** ", part, flags=re.M)
        return re.sub(r"^[ \t]*[-~!]>[ \t]*(.+(?:\n(?!\s*$|[-~!]>).+)*)", lambda m: _called(m[1]), part, flags=re.M)

    return prose(text, change)


def _called(text: str) -> str:
    text = re.sub(r"^\*\*(.+?):?\*\*:?\s*", lambda m: f"**{m[1].capitalize() if m[1].isupper() else m[1]}:** ", text)
    return "\n".join(f"> {line.strip()}" for line in text.split("\n"))


# --- small things -------------------------------------------------------------------------------------------

_HTML = frozenset(
    """
    a abbr article b big blockquote body br button caption center cite code col colgroup dd del details dfn div dl
    dt em embed figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins
    kbd label li link main map mark menu meta nav object ol option p picture pre q s samp script section select
    small source span strike strong style sub summary sup svg path table tbody td tfoot th thead time title tr
    track tt u ul var video wbr noscript circle rect g
    """.split()
)


def comments(text: str, include: Include) -> str:
    """`<!-- … -->`, `{/* … */}`, and what a page's scripts and styles say, are for nobody who reads."""
    pattern = r"<!--.*?-->|\{/\*.*?\*/\}|<(script|style)\b[^>]*>.*?</\1\s*>"
    heading = r"^(#{1,6} .*?)[ \t]*\{/\*\s*(#[\w-]+)\s*\*/\}[ \t]*$"  # its id, written so in newer Docusaurus

    def change(part: str) -> str:
        return re.sub(pattern, "", re.sub(heading, r"\1 {\2}", part, flags=re.M), flags=re.S)

    return prose(text, change)


def html(text: str, include: Include) -> str:
    """HTML tags → what markdown has for them, else their text; entities → their characters."""

    def change(part: str) -> str:
        return unescape(TAG.sub(lambda m: _plain(m) if m["name"].lower() in _HTML else m[0], _links(part)))

    return prose(text, change)


def _links(text: str) -> str:
    anchor = r"<a\b[^<>]*?\bhref=([\"'])([^\"']*)\1[^<>]*>(.*?)</a\s*>"
    return re.sub(anchor, lambda m: f"[{' '.join(m[3].split())}]({m[2]})", text, flags=re.S)


def _plain(tag: re.Match[str]) -> str:
    name = tag["name"].lower()
    if re.fullmatch("h[1-6]", name):
        return "\n" if tag["close"] else f"\n{'#' * int(name[1])} "
    marks = {"br": "\n", "li": "" if tag["close"] else "- ", "b": "**", "strong": "**", "code": "`", "p": "\n"}
    return marks.get(name, "")


def attributes(text: str, include: Include) -> str:
    """`## Title { #id .class }` keeps its id; other attribute lists, icons and abbreviations vanish."""

    def change(part: str) -> str:
        part = re.sub(r"^(#{1,6} .*?)[ \t]*\{:?[^{}\n]*?#([\w.-]+)[^{}\n]*\}[ \t]*$", r"\1 {#\2}", part, flags=re.M)
        part = re.sub(r"\{:?\s*(?:[.][\w-]|[\w-]+=)[^{}\n]*\}", "", part)
        part = re.sub(r"^\*\[[^\]\n]+\]:.*$", "", part, flags=re.M)
        return re.sub(r":(?:material|octicons|fontawesome|simple)-[\w-]+:", "", part)

    return prose(text, change)


def identifiers(text: str, include: Include) -> str:
    """`::: package.Class` with its options (a page that is made from code) → the name."""
    return prose(
        text,
        lambda part: re.sub(r"^::: ?([\w.]+)[ \t]*(?:\n(?:[ \t]+.*|[ \t]*(?=\n[ \t]+\S)))*", r"`\1`", part, flags=re.M),
    )


def fences_at_margin(text: str, include: Include) -> str:
    """Fences begin at the margin, wherever they stood: in a list or in a component."""
    done: list[str] = []
    indent, was_fenced = 0, False
    for line, fenced in scan(text):
        if fenced and not was_fenced:
            indent = len(line) - len(line.lstrip())
        done.append(re.sub(rf"^[ \t]{{0,{indent}}}", "", line) if fenced and indent else line)
        was_fenced = fenced
    return "\n".join(done)


def tidy(text: str, include: Include) -> str:
    """No blanks at the ends of lines, no more than one blank line in a row, but in code."""
    done: list[str] = []
    was_fenced = False
    for line, fenced in scan(text):
        kept = line if fenced else line.rstrip()
        if kept or fenced or was_fenced or done[-1:] != [""]:
            done.append(kept)
        was_fenced = fenced
    return "\n".join(done).strip("\n")


MARKDOWN: tuple[Rule, ...] = (comments, callouts, fences, html, attributes, fences_at_margin, tidy)

MKDOCS: tuple[Rule, ...] = (
    code_includes,
    snippets,
    identifiers,
    fenced_blocks,
    indented_blocks,
    inline_code,
    *MARKDOWN,
)

MDX: tuple[Rule, ...] = (
    code_blocks,
    imported_snippets,
    tab_groups,
    exports,
    comments,
    fenced_blocks,
    components,
    callouts,
    html,
    attributes,
    fences_at_margin,
    paragraphs_at_margin,
    tidy,
)

TERRAFORM: tuple[Rule, ...] = MARKDOWN

FLAVOURS: dict[str, tuple[Rule, ...]] = {
    "mkdocs": MKDOCS,
    "mdx": MDX,
    "terraform": TERRAFORM,
    "markdown": MARKDOWN,
}


INCLUDING = (code_includes, snippets, code_blocks, imported_snippets)
"""The rules that an included page goes through at once, so that its own includes are found from where it lies."""


def resolve(text: str, flavour: str, include: Include) -> str:
    """The text with what it includes in it."""
    for rule in FLAVOURS[flavour]:
        text = rule(text, include) if rule in INCLUDING else text
    return text


def clean(text: str, flavour: str, include: Include) -> str:
    """The text after all rules of a flavour."""
    for rule in FLAVOURS[flavour]:
        text = rule(text, include)
    return text
