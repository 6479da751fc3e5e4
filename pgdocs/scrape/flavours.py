"""What folders of documentation write beside markdown → plain markdown, by small rules in order, a list per flavour.

A rule takes a page's text and an `Include`, and gives the text back; code in fences is nobody's business but the
including rules'. They come first, so that what they bring is cleaned by those that follow.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from pathlib import PurePosixPath
from typing import NamedTuple

Include = Callable[[str], str | None]
"""The text of the file that a page names, None where there is none that it may have."""

Rule = Callable[[str, Include], str]

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)$")
_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\$\$.+?\$\$|\$(?=[^$\n]*\\[a-zA-Z])[^$\n]+\$", re.S)
"""Code and formulas, whose braces and angles are their own."""
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_PROPS = (
    rf"(?:\s+(?:[\w:@.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|{_BRACES}|[^\s\"'{{}}<>]+))?"  # name, name="x", name={x}
    r"|\{\.\.\.[^{}]*\}))*"
)


class FrontMatter(NamedTuple):
    """The values above a page, and the page."""

    values: dict[str, str]
    text: str


def front_matter(text: str) -> FrontMatter:
    """Cut `key: value` lines between two lines of `---` off a page. What is nested or listed in them is left out."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = re.match(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", text, re.S)
    values: dict[str, str] = {}
    key = ""
    for line in found[1].split("\n") if found else ():
        if pair := re.match(r"([\w-]+):\s*(.*?)\s*$", line):
            key = pair[1]
            values[key] = "" if re.fullmatch(r"[|>][+-]?", pair[2]) else re.sub(r"^(['\"])(.*)\1$", r"\2", pair[2])
        elif key and line.startswith((" ", "\t")) and not line.lstrip().startswith("- "):
            values[key] = f"{values[key]} {line.strip()}".strip()
    return FrontMatter(values, text[found.end() :] if found else text)


# --- fences and what is outside of them ---------------------------------------------------------------------


def scan(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to a fence, however far that is indented."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        else:
            fence = mark[1] if mark and "`" not in mark[2] else ""
            yield line, bool(fence)


def unfenced(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to what is not in a fence."""
    done: list[str] = []
    kept: list[str] = []
    for line, fenced in (*scan(text), ("", True)):
        if fenced:
            if kept:
                done.append(change("\n".join(kept)))
                kept = []
            done.append(line)
        else:
            kept.append(line)
    return "\n".join(done[:-1])


def prose(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to what is neither in a fence nor in a span of code or a formula."""

    def clean(part: str) -> str:
        spans: list[str] = []

        def keep(match: re.Match[str]) -> str:
            spans.append(match[0])
            return f"\0{len(spans) - 1}\0"

        return re.sub(r"\0(\d+)\0", lambda match: spans[int(match[1])], change(_SPAN.sub(keep, part)))

    return unfenced(text.replace("\0", ""), clean)


def quote(label: str, body: str) -> str:
    """An admonition as a quotation; fences in it stand outside, where they are fences for everyone."""
    lines: list[str] = [f"> **{label}:**" if label else ">"]
    was_fenced = False
    for line, fenced in scan(body.strip("\n")):
        if fenced != was_fenced:
            lines.append("")
        if fenced or not line.strip():
            lines.append(line if fenced else ">" if lines[-1].startswith(">") else "")
        else:
            lines.append(f"> {line}")
        was_fenced = fenced
    if lines[1:] and lines[1].startswith("> "):
        lines[:2] = [f"{lines[0]} {lines[1][2:]}"]
    return "\n".join(lines)


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
        code = "\n".join(lines)
        marks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
        return textwrap.indent(f"{marks}{_LANGUAGES.get(suffix, suffix)}\n{code}\n{marks}", match["indent"])

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


_IMPORT = re.compile(
    r"^import\s+(?:(\w+)|\{[^}]*\}|\*\s+as\s+\w+)(?:\s*,\s*\{[^}]*\})?\s+from\s+(['\"])(.+?)\2;?[ \t]*$", re.M
)


def imported_snippets(text: str, include: Include) -> str:
    """`import Snippet from "./_snippet.mdx"` and `<Snippet name="x" />` → the snippet's text; other imports vanish."""
    for name, _, path in _IMPORT.findall(text):
        suffix = PurePosixPath(path).suffix
        if name and (suffix in (".md", ".mdx") or (not suffix and path.startswith((".", "/", "@site/")))):
            body = include(path.replace("\\_", "_"))  # some editors escape it there too
            if body is not None:
                tag = rf"<{name}\b(?P<props>{_PROPS})\s*(?:/>|>(?P<inner>.*?)</{name}\s*>)"
                text = re.sub(tag, partial(_used, body), text, flags=re.S)
    return prose(text, lambda part: re.sub(r"^import\s+(['\"]).+?\1;?[ \t]*$", "", _IMPORT.sub("", part), flags=re.M))


_CODE_BLOCK = re.compile(
    rf"<CodeBlock\b(?P<props>{_PROPS})\s*>(?:\s*\{{\s*`(?P<code>(?:[^`\\]|\\.)*)`\s*\}}\s*|\s*\{{(?P<name>\w+)\}}\s*"
    r"|(?P<plain>[^<>{}`]*))</CodeBlock\s*>",
    re.S,
)


def code_blocks(text: str, include: Include) -> str:
    """`<CodeBlock language="js">` with its code, or with a file that is imported as `!!raw-loader!./x.js` → a fence;
    what stands in a fence of `mdx-code-block` is the page's own."""
    raw = dict(re.findall(r"^import\s+(\w+)\s+from\s+['\"](?:!!)?raw-loader!(.+?)['\"]", text, re.M))

    def fenced(match: re.Match[str]) -> str:
        given = _given(match["props"])
        named = include(raw[match["name"]]) if match["name"] in raw else ""
        code = re.sub(r"\\([`$\\])", r"\1", match["code"] or "") or named or match["plain"] or ""
        if not code.strip():
            return ""
        marks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
        title = f"**{given['title']}**\n\n" if given.get("title") else ""
        return f"\n\n{title}{marks}{given.get('language', '')}\n{code.strip(chr(10))}\n{marks}\n\n"

    text = re.sub(r"^(`{3,})mdx-code-block[ \t]*\n((?:(?!\1).*\n)*)\1[ \t]*$", r"\2", text, flags=re.M)
    return unfenced(text, lambda part: _CODE_BLOCK.sub(fenced, part))


_TABS = re.compile(r"<Tab\.Group\b(?:(?!<Tab\.Group\b).)*?</Tab\.Group\s*>", re.S)


def tab_groups(text: str, include: Include) -> str:
    """`<Tab.Group>`, whose names and panels stand apart → each name before its panel."""

    def joined(group: re.Match[str]) -> str:
        listed = re.search(r"<Tab\.List\b[^>]*>(.*?)</Tab\.List\s*>", group[0], re.S)
        if not listed:
            return group[0]
        names = iter(re.findall(r"<Tab\b[^>]*>\s*(.*?)\s*</Tab\s*>", listed[1], re.S))
        panels = group[0].replace(listed[0], "")
        return re.sub(
            r"<Tab\.Panel\b[^>]*>", lambda _: f"\n\n**{name}**\n\n" if (name := next(names, "")) else "", panels
        )

    return prose(text, lambda part: _TABS.sub(joined, part))


def _used(body: str, tag: re.Match[str]) -> str:
    """A snippet where a tag uses it: with the tag's attributes and children."""
    given = _given(tag["props"])
    given.setdefault("children", tag["inner"] or "")
    return "\n" + re.sub(r"\{(?:props\.(\w+)|(children))\}", lambda m: given.get(m[1] or m[2], ""), body.strip()) + "\n"


def _given(props: str) -> dict[str, str]:
    """The attributes of a tag that are plain text."""
    return {name: a or b for name, a, b in re.findall(r"""([\w-]+)=\{?(?:"([^"]*)"|'([^']*)')\}?""", props)}


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

_TAG = re.compile(rf"<(?P<close>/?)(?P<name>[A-Za-z][\w.]*)(?P<props>{_PROPS})\s*(?P<empty>/?)>")
_HTML = frozenset(
    """
    a abbr article b big blockquote body br button caption center cite code col colgroup dd del details dfn div dl
    dt em embed figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins
    kbd label li link main map mark menu meta nav object ol option p picture pre q s samp script section select
    small source span strike strong style sub summary sup svg path table tbody td tfoot th thead time title tr
    track tt u ul var video wbr noscript circle rect g
    """.split()
)
_NAMING = ("title", "label", "heading", "header", "name", "summary", "question", "tab", "caption")


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
        return unescape(_TAG.sub(lambda m: _plain(m) if m["name"].lower() in _HTML else m[0], _links(part)))

    return prose(text, change)


def components(text: str, include: Include) -> str:
    """JSX: a component → its title, if it has one, and its children; `{"text"}` → text; other expressions vanish."""

    def change(part: str) -> str:
        part = re.sub(
            r"</?>", "", _TAG.sub(lambda m: _named(m) if m["name"][0].isupper() or "." in m["name"] else m[0], part)
        )
        part = re.sub(r"""\{\s*(["'`])(.*?)\1\s*\}""", r"\2", part)
        return re.sub(r"(?<!\\)\{(?!#)[^{}\n]*\}", "", part)

    return prose(text, change)


def exports(text: str, include: Include) -> str:
    """`export const x = …` up to the blank line after it that what is indented or closes something does not follow."""
    return prose(
        text,
        lambda part: re.sub(
            r"^export\s+(?:const|let|default|function)\b.*?(?:\n[ \t]*\n(?![ \t\n)\]}])|\Z)",
            "\n",
            part,
            flags=re.M | re.S,
        ),
    )


def _links(text: str) -> str:
    anchor = r"<a\b[^<>]*?\bhref=([\"'])([^\"']*)\1[^<>]*>(.*?)</a\s*>"
    return re.sub(anchor, lambda m: f"[{' '.join(m[3].split())}]({m[2]})", text, flags=re.S)


def _plain(tag: re.Match[str]) -> str:
    name = tag["name"].lower()
    if re.fullmatch("h[1-6]", name):
        return "\n" if tag["close"] else f"\n{'#' * int(name[1])} "
    marks = {"br": "\n", "li": "" if tag["close"] else "- ", "b": "**", "strong": "**", "code": "`", "p": "\n"}
    return marks.get(name, "")


def _named(tag: re.Match[str]) -> str:
    given = _given(tag["props"])
    names = (*_NAMING, "value") if tag["name"] == "TabItem" else _NAMING  # whose label is its value, if it has none
    title = next((given[name] for name in names if given.get(name)), "")
    return f"\n\n**{title}**\n\n" if title and not tag["close"] else ""


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


def paragraphs_at_margin(text: str, include: Include) -> str:
    """What was indented for the sake of the component around it begins at the margin, unless it goes on in a list."""
    done: list[str] = []
    in_list = False
    for line, fenced in scan(text):
        if not fenced and line.strip():
            item = bool(re.match(r"\s*(?:[-*+]|\d+[.)])\s", line))
            in_list = item or (in_list and line.startswith(" "))
        done.append(line if fenced or in_list else line.lstrip())
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
