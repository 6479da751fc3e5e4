"""A single-page DocBook manual → the pages that the same manual has on the web.

PostGIS builds its manual twice: as pages, which its web site serves, and as one file, which is what Debian
packages and source archives hold. The cut gives each reference entry, chapter and appendix its own page,
with the name, the navigation header and the links of the web's page, so that whatever reads the web's pages
reads these as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape

from lxml import html as lxml_html
from lxml.html import HtmlElement

from pgdocs.scrape.sources import INDEX

_CHUNKS = "//*[self::div or self::section][@class='chapter' or @class='appendix' or @class='refentry']"
_MADE_UP = re.compile(r"id[mp]?[\d.-]+")
"""An id of the build's own making: `id54133`, `idm2950`. On the web such a chapter is called by its number."""

_CHARSET = re.compile(rb"""<meta[^>]*charset=["']?([\w-]+)""", re.I)


@dataclass(frozen=True)
class _Chunk:
    """A page to be: its element, file name and title, and the link and title of the section that it stands in."""

    element: HtmlElement
    name: str
    title: str
    up: str = ""
    up_title: str = ""


def cut(manual: bytes) -> dict[str, bytes]:
    """The pages of a single-page manual, file name → UTF-8 HTML; `index.html` is what no other page took.

    Empty if there is no chapter or reference entry in it.
    """
    root = lxml_html.document_fromstring(decode(manual).encode(), parser=lxml_html.HTMLParser(encoding="utf-8"))
    _modernise(root)
    elements = root.xpath(_CHUNKS)
    if not elements:
        return {}
    names = _names(elements)
    home = _page_of_ids(root, {element: names[element] for element in elements})
    index = _Chunk(root.xpath("//body/*")[0], INDEX, _text(root.find(".//title")))
    chunks = [index, *(_chunk(element, names[element], home) for element in elements)]
    for link in root.xpath("//a[starts-with(@href, '#')]"):
        link.set("href", home.get(link.get("href")[1:], link.get("href")))
    for element in elements:
        element.drop_tree()
    neighbours = zip([None, *chunks], chunks, [*chunks[1:], None], strict=False)
    return {chunk.name: _render(before, chunk, after) for before, chunk, after in neighbours}


def decode(html: bytes) -> str:
    """HTML as text: as UTF-8 wherever it is that, else by its meta charset (PostGIS 3.3's is ISO-8859-1)."""
    with suppress(UnicodeDecodeError):
        return html.decode("utf-8").removeprefix("\ufeff")
    found = _CHARSET.search(html[:2048])
    try:
        return html.decode(found[1].decode("ascii") if found else "utf-8", errors="replace")
    except LookupError:
        return html.decode("utf-8", errors="replace")


def modern(html: str) -> str:
    """A page of an older build (PostGIS up to 3.3) as today's build makes it."""
    if "<a name=" not in html:
        return html
    root = lxml_html.document_fromstring(html)
    _modernise(root)
    return str(lxml_html.tostring(root, encoding="unicode"))


def _modernise(root: HtmlElement) -> None:
    """Make older builds' HTML that of today's web pages.

    Up to 3.3 an anchor is `<a name>` inside the thing that it names, and a function's name is a `b`. Every single
    page has rules between its reference entries, which no web page has.
    """
    for rule in root.xpath("//div[@class='refentry.separator']"):
        rule.drop_tree()
    for anchor in root.xpath("//a[@name and not(@href)]"):
        titlepage = anchor.xpath("ancestor::div[@class='titlepage'][1]")
        owner = (titlepage[0] if titlepage else anchor).getparent()
        owner = owner.getparent() if owner.tag == "td" else owner
        name = anchor.attrib.pop("name")
        if owner.get("id") is None:
            owner.set("id", name)
            anchor.drop_tag()
        elif _MADE_UP.fullmatch(owner.get("id")):  # a question has two: its author's counts
            anchor.set("id", owner.get("id"))
            owner.set("id", name)
        else:
            anchor.set("id", name)
    for name in root.xpath("//b[@class='fsfunc']"):
        name.tag = "strong"


def _names(elements: list[HtmlElement]) -> dict[HtmlElement, str]:
    """Each page's file name: its id, or as DocBook numbers what has none (`ch14.html`, `apa.html`)."""
    names, count = {}, {"chapter": 0, "appendix": 0, "refentry": 0}
    for element in elements:
        kind, name = element.get("class"), element.get("id", "")
        count[kind] += 1
        if not name or _MADE_UP.fullmatch(name):
            letter = chr(ord("a") + (count[kind] - 1) % 26)
            numbered = {"chapter": f"ch{count[kind]:02}", "appendix": f"ap{letter}", "refentry": f"re{count[kind]:02}"}
            name = numbered[kind]
        names[element] = f"{name}.html"
    return names


def _page_of_ids(root: HtmlElement, names: Mapping[HtmlElement, str]) -> dict[str, str]:
    """id → where a link to it leads: the page of that id, or the page that holds it with the id as its fragment."""
    targets: dict[str, str] = {}
    for element in root.xpath("//*[@id]"):
        page = next((names[e] for e in (element, *element.iterancestors()) if e in names), INDEX)
        targets[element.get("id")] = page if element in names else f"{page}#{element.get('id')}"
    return targets


def _chunk(element: HtmlElement, name: str, home: Mapping[str, str]) -> _Chunk:
    """Read title and section of a page; it must still stand in its manual."""
    if element.get("class") != "refentry":
        return _Chunk(element, name, _heading(element))
    named = element.xpath("div[@class='refnamediv']/p")
    title = _text(named[0]).partition(" — ")[0] if named else name.removesuffix(".html")
    parent = element.getparent()
    return _Chunk(element, name, title, home.get(parent.get("id", ""), INDEX), _heading(parent))


def _heading(element: HtmlElement) -> str:
    found = element.xpath("div[@class='titlepage']//*[self::h1 or self::h2 or self::h3 or self::h4]")
    return _text(found[0]) if found else ""


def _text(element: HtmlElement | None) -> str:
    return "" if element is None else re.sub(r"[ \t\r\n]+", " ", element.text_content()).strip()


def _render(before: _Chunk | None, chunk: _Chunk, after: _Chunk | None) -> bytes:
    """The page as DocBook's chunked build writes it: navigation above and below."""

    def link(key: str, to: str, text: str) -> str:
        return f'<a accesskey="{key}" href="{escape(to)}">{text}</a>' if to else ""

    previous = link("p", before.name, "Prev") if before else ""
    following = link("n", after.name, "Next") if after else ""
    home = link("h", INDEX, "Home") if before else ""
    before_title, after_title = escape(before.title if before else ""), escape(after.title if after else "")
    content = lxml_html.tostring(chunk.element, encoding="unicode", with_tail=False)
    title = escape(chunk.title)
    return f"""<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{title}</title></head>
<body>
<header><div class="navheader"><table>
<tr><th colspan="3">{title}</th></tr>
<tr><td>{previous} </td><th>{escape(chunk.up_title) or " "}</th><td> {following}</td></tr>
</table></div></header>
{content}
<footer><div class="navfooter"><table>
<tr><td>{previous} </td><td>{link("u", chunk.up, "Up") or " "}</td><td> {following}</td></tr>
<tr><td>{before_title} </td><td>{home}</td><td> {after_title}</td></tr>
</table></div></footer>
</body></html>
""".encode()
