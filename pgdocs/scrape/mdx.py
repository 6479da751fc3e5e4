"""What MDX writes beside markdown (imports, snippets, components, code blocks, exports) → plain markdown.

These are the rules of that flavour alone; `flavours.py` says what a rule is, and in which order all of them run.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath

from pgdocs.scrape.prose import PROPS, TAG, Include, as_fence, prose, scan, unfenced

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
                tag = rf"<{name}\b(?P<props>{PROPS})\s*(?:/>|>(?P<inner>.*?)</{name}\s*>)"
                text = re.sub(tag, partial(_used, body), text, flags=re.S)
    return prose(text, lambda part: re.sub(r"^import\s+(['\"]).+?\1;?[ \t]*$", "", _IMPORT.sub("", part), flags=re.M))


_CODE_BLOCK = re.compile(
    rf"<CodeBlock\b(?P<props>{PROPS})\s*>(?:\s*\{{\s*`(?P<code>(?:[^`\\]|\\.)*)`\s*\}}\s*|\s*\{{(?P<name>\w+)\}}\s*"
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
        title = f"**{given['title']}**\n\n" if given.get("title") else ""
        return f"\n\n{title}{as_fence(code.strip(chr(10)), given.get('language', ''))}\n\n"

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


_NAMING = ("title", "label", "heading", "header", "name", "summary", "question", "tab", "caption")
"""Attributes in which a component says what it holds: the first that it has is its title."""


def components(text: str, include: Include) -> str:
    """JSX: a component → its title, if it has one, and its children; `{"text"}` → text; other expressions vanish."""

    def change(part: str) -> str:
        part = re.sub(
            r"</?>", "", TAG.sub(lambda m: _named(m) if m["name"][0].isupper() or "." in m["name"] else m[0], part)
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


def _named(tag: re.Match[str]) -> str:
    given = _given(tag["props"])
    names = (*_NAMING, "value") if tag["name"] == "TabItem" else _NAMING  # whose label is its value, if it has none
    title = next((given[name] for name in names if given.get(name)), "")
    return f"\n\n**{title}**\n\n" if title and not tag["close"] else ""


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
