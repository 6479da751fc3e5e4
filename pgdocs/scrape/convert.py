"""One page of DocBook HTML → the parts of a markdown page, as small steps in order.

Each step is a function over the content's tree that makes it simpler: navigation away, layout tables into what
they mean, definitions with an id into headings, function tables into lists. `markdown.py` renders what is left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup
from bs4.element import Comment, NavigableString, Tag

from pgdocs.errors import ScrapeError
from pgdocs.pages import slug_of_url
from pgdocs.scrape.markdown import code_text, new_tag, to_markdown
from pgdocs.scrape.single import decode, modern
from pgdocs.scrape.sources import Source

MADE_UP_ID = re.compile(r"(?:ftn\.)?id[-mp]?\d[\d.]*")
"""Ids like `id-1.5.8.10`, `id17514` and `idm123` change with every build of a manual: no link may use them."""

SECTIONS = frozenset(
    "appendix article bibliodiv bibliography book chapter glossary index indexdiv legalnotice part partintro preface"
    " refentry reference refnamediv refsect1 refsect2 refsect3 refsection refsynopsisdiv sect1 sect2 sect3 sect4 sect5"
    " section simplesect".split()
)
"""Classes of the elements that a heading belongs to; how deep they are nested is the heading's level."""

ADMONITIONS = frozenset(("note", "tip", "warning", "caution", "important"))

DEEPEST, WIDEST = 100, 10_000
"""Elements within one another, and within one, at most (the manuals' have 23 and 844): what renders them is recursive,
and what moves one looks through those beside it."""

CONTENTS_WORDS = 40
"""A page with a table of contents and fewer words of its own is hardly more than that table (26 such pages)."""


@dataclass(frozen=True)
class Converted:
    """A page but for its place: `up` is the slug of the page above it, `up_title` what the navigation calls that."""

    title: str
    anchor: str
    kind: str
    body: str
    up: str
    up_title: str


def convert(html: bytes, url: str, source: Source) -> Converted:
    """Convert the page that stands at `url`. Raises ScrapeError where there is no content to convert."""
    content = _content(html, source)
    _check_size(content, url)
    up, up_title = _navigation(content)
    _drop_clutter(content)
    root = _first(content, SECTIONS)
    if root is None:
        raise ScrapeError(f"{url} holds no manual page: neither a chapter nor a section nor a reference entry.")
    kind = _kind(root, url, source)
    title, anchor = _take_title(root)
    for step in STEPS:
        step(root)
    _resolve_links(root, url)
    return Converted(title, anchor, kind, to_markdown(root), up, up_title)


def edition(html: bytes, source: Source) -> str:
    """The version that an index page is of ("18.6"). Raises ScrapeError if it is no index of this manual."""
    soup = _parse(html)
    headings = " ".join(tag.get_text(" ") for tag in soup.find_all(["title", "h1"]))
    found = re.search(source.version, " ".join(headings.split()))
    if not found:
        raise ScrapeError(f"This is not the index of the {source.product} manual: no version in its title.")
    return found[1]


# --- the page around the content ----------------------------------------------------------------------------


def _parse(html: bytes) -> BeautifulSoup:
    """Both manuals are UTF-8 whatever a server says; lxml is the parser that gets `<div/>` right."""
    text = re.sub(r"\A\s*<\?xml[^>]*>", "", decode(html))
    return BeautifulSoup(modern(text), "lxml")


def _content(html: bytes, source: Source) -> Tag:
    soup = _parse(html)
    found = soup.select_one(source.content) or soup.body
    if found is None:
        raise ScrapeError("The page is empty.")
    return found


def _check_size(content: Tag, url: str) -> None:
    """Raises ScrapeError for a page that would take minutes, or the stack."""
    left = [(content, 0)]
    for tag, depth in left:  # which grows
        inner = [(child, depth + 1) for child in tag.children if isinstance(child, Tag)]
        if depth > DEEPEST or len(inner) > WIDEST:
            raise ScrapeError(f"{url} is no manual page: it holds more than {WIDEST:,} tags in one or {DEEPEST} deep.")
        left += inner


def _navigation(content: Tag) -> tuple[str, str]:
    """The page above, from the navigation header: its slug and its title. Both are empty where it names none."""
    header = content.find("div", class_="navheader")
    if not isinstance(header, Tag):
        return "", ""
    link = header.find("a", accesskey="u")
    up = str(link["href"]) if isinstance(link, Tag) else ""
    titles = [code_text(cell) for cell in header.find_all("th")]
    return re.sub(r"\.html?(?:#.*)?$", "", up), (titles + [""] * 2)[1]


def _drop_clutter(content: Tag) -> None:
    """Navigation, permalinks, index marks, and whatever the page itself does not show."""
    for text in content.find_all(string=lambda s: isinstance(s, Comment)):
        text.extract()
    for tag in content.find_all(_UNSEEN):
        tag.decompose()
    for tag in content.find_all(_is_clutter):
        if not tag.decomposed:
            tag.decompose()


_UNSEEN = ["script", "style", "template", "noscript", "header", "footer", "hr", "col", "colgroup"]


def _is_clutter(tag: Tag) -> bool:
    classes = _classes(tag)
    hidden = tag.has_attr("hidden") or "display:none" in str(tag.get("style") or "").replace(" ", "").lower()
    index_mark = "indexterm" in classes and not tag.has_attr("href") and not _real_id(tag)
    return hidden or index_mark or bool({"navheader", "navfooter", "id_link"} & classes)


def _kind(root: Tag, url: str, source: Source) -> str:
    """The source's own rule for the page's name, else what its DocBook element says."""
    slug = slug_of_url(url)
    ruled = next((kind for pattern, kind in source.kinds if re.match(pattern, slug)), "")
    if ruled:
        return ruled
    classes = _classes(root)
    if classes & {"book", "part", "reference", "index"} or _is_contents(root):
        return "contents"
    if "refentry" in classes:
        return "reference"
    return "appendix" if classes & {"appendix", "bibliography", "glossary"} else "guide"


def _is_contents(root: Tag) -> bool:
    toc = root.find("div", class_="toc")
    if not isinstance(toc, Tag):
        return False
    return len(root.get_text(" ").split()) - len(toc.get_text(" ").split()) < CONTENTS_WORDS


def _take_title(root: Tag) -> tuple[str, str]:
    """Take the page's title and its own id out of the tree."""
    anchor = _real_id(root)
    if anchor:
        del root["id"]
    name = root.find("div", class_="refnamediv")
    if isinstance(name, Tag):
        heading = name.find(["h1", "h2"])
        named = name.find("span", class_="refentrytitle") or name.find("p")
        title = code_text(named).split(" — ")[0] if isinstance(named, Tag) else ""
        if isinstance(heading, Tag) and isinstance(named, Tag) and named.name == "p":
            named.insert(0, f"{code_text(heading)}: ")
    else:
        heading = root.find(["h1", "h2", "h3"], class_="title") or root.find(["h1", "h2", "h3"])
        title = code_text(heading) if isinstance(heading, Tag) else ""
    if isinstance(heading, Tag):
        heading.decompose()
    return title or anchor, anchor


# --- the steps ------------------------------------------------------------------------------------------------


def unwrap_inline(root: Tag) -> None:
    """Drop the markup that says nothing to a reader: `em.replaceable` around code, footnote links, first terms.

    Nothing inline may hold a block: its mark would stand before a fence.
    """
    for tag in root.find_all(["em", "strong", "var", "a", "code", "sup", "span"]):
        if tag.find(["pre", "table", "ul", "ol", "dl", "blockquote"]):
            tag.unwrap()
    for tag in root.find_all(["em", "strong", "var"]):
        emphasised = isinstance(tag.parent, Tag) and {"emphasis", "bold", "strong"} & _classes(tag.parent)
        bold = tag.name == "strong" and not tag.find_parent(["code", "pre"])
        if tag.find("code") or not (emphasised or bold):
            tag.unwrap()
    for link in root.find_all("a", class_=["footnote", "footnoteref", "para"]):
        link.unwrap()


def captions(root: Tag) -> None:
    """The title of a table, an example or a figure: plain text in bold."""
    for title in root.find_all("p", class_="title"):
        text = code_text(title)
        title.clear()
        title.append(new_tag("strong", text))


def join_code(root: Tag) -> None:
    """Code within code and code that touches code are one: `--host=` + `name` reads `--host=name`."""
    for code in root.find_all("code"):
        if code.decomposed or code.parent is None or code.find_parent(["code", "pre"]):
            continue
        while isinstance(after := code.next_sibling, Tag) and after.name == "code" and not _real_id(after):
            if "structfield" in _classes(code) and "type" in _classes(after):  # glued in the manual: two things
                code.insert_after(" ")
                break
            code.append(after.extract().get_text())
        for link in code.find_all("a"):
            link.unwrap()


def synopses(root: Tag) -> None:
    """The synopsis of a program is code, a line each."""
    for synopsis in root.find_all("div", class_="cmdsynopsis"):
        for br in synopsis.find_all("br"):
            br.replace_with("\n")
        lines = [" ".join(line.split()) for line in synopsis.get_text().split("\n")]
        code = new_tag("pre", "\n".join(line for line in lines if line))
        code["class"] = "synopsis"
        synopsis.replace_with(code)


def prototypes(root: Tag) -> None:
    """PostGIS's `div.funcsynopsis`: a list of prototypes as code. The type may be glued to the name."""
    for synopsis in root.find_all("div", class_="funcsynopsis"):
        items = new_tag("ul")
        for prototype in synopsis.find_all("p"):
            name = prototype.find(class_="fsfunc")
            if isinstance(name, Tag) and isinstance(name.previous_sibling, NavigableString):
                name.insert_before(" ")
            items.append(_item(new_tag("code", code_text(prototype).rstrip("; "))))
        synopsis.replace_with(items)


def entries(root: Tag) -> None:
    """A table of functions or of catalog columns is a list: what is defined as code, then what is said of it."""
    for table in root.find_all("table"):
        if not table.find("td", class_=["func_table_entry", "catalog_table_entry"]):
            continue
        labels = [code_text(cell) for cell in table.find_all("th")]
        items = new_tag("ul")
        for row in table.find_all("tr"):
            cells = row.find_all("td", recursive=False)
            if not cells:
                continue
            first, *others = cells
            entry = _entry(first)
            for label, cell in zip(labels[1:], others, strict=False):
                entry.append(new_tag("p", f"{label}: {code_text(cell)}"))
            items.append(entry)
        table.replace_with(items)


def _entry(cell: Tag) -> Tag:
    item = new_tag("li")
    ids = [_real_id(tag) for tag in (cell, *cell.find_all("a", class_="indexterm"))]
    signatures = [p for p in cell.find_all("p", class_="func_signature", recursive=False) if code_text(p)]
    if signatures:
        line = new_tag("p")
        for signature in signatures:
            line.extend([new_tag("code", code_text(signature)), new_tag("br")])
            signature.extract()
        line.find_all("br")[-1].extract()
        item.append(line)
    item.extend([child.extract() for child in list(cell.children)])
    target = item.find(["p", "pre"]) or item
    _mark(target, ids)
    return item


def simple_lists(root: Tag) -> None:
    """`table.simplelist` is a list of words; callouts are numbered paragraphs; a quotation is a quotation."""
    for table in root.find_all("table", class_="simplelist"):
        items = new_tag("ul")
        items.extend([_item(*list(cell.children)) for cell in table.find_all("td") if code_text(cell)])
        table.replace_with(items)
    for division in root.find_all("div", class_=["calloutlist", "blockquote"]):
        division.name = "blockquote" if "blockquote" in _classes(division) else "div"
        for row in division.find_all("tr"):
            row.name = "p"
            for cell in row.find_all("td"):
                for paragraph in cell.find_all("p"):
                    paragraph.unwrap()
                cell.insert_after(" ")
                cell.unwrap()
        for table in division.find_all("table"):
            table.unwrap()


def questions(root: Tag) -> None:
    """A question is a heading of its own, its answer the text below it."""
    for qanda in root.find_all("div", class_="qandaset"):
        for row in qanda.find_all("tr", class_="question"):
            heading = new_tag("h3", " ".join(filter(None, map(code_text, row.find_all("td")))))
            heading["class"] = "question"
            _mark(heading, [_real_id(row)])
            row.replace_with(heading)
        for tag in qanda.find_all(["table", "tbody", "tr", "td"]):
            if tag.find_parent("table") is None or "answer" in _classes(tag) or tag.name != "tr":
                tag.name = "div"


def admonitions(root: Tag) -> None:
    """`div.note` with a title, or PostGIS's layout table with an image, is a quotation that says what it is."""
    for box in root.find_all("div", class_=list(ADMONITIONS)):
        title = box.find(["h3", "h4"], class_="title", recursive=False)
        label = code_text(title) if isinstance(title, Tag) else next(iter(ADMONITIONS & _classes(box))).capitalize()
        body = box
        table = box.find("table", recursive=False)
        if isinstance(title, Tag):
            title.extract()
        elif isinstance(table, Tag):
            cells = [cell for cell in table.find_all("td") if cell.find_parent("table") is table]
            body = cells[-1] if cells else table
            body.name = "div"
            table.replace_with(body)
        box.name = "blockquote"
        first = next((child for child in body.find_all(True, recursive=False) if code_text(child)), None)
        if first is None or first.name != "p":
            first = new_tag("p")
            body.insert(0, first)
        first.insert(0, " ")
        first.insert(0, new_tag("strong", f"{label}:"))


def contents(root: Tag) -> None:
    """Tables of contents are lists of links, nested as they were."""
    for toc in root.find_all("div", class_="toc"):
        for title in toc.find_all("div", class_="toc-title"):
            paragraph = new_tag("p")
            paragraph.append(new_tag("strong", code_text(title)))
            title.replace_with(paragraph)
        for listing in toc.find_all("dl"):
            listing.name = "ul"
        for term in toc.find_all("dt"):
            term.name = "li"
            below = term.find_next_sibling()
            if isinstance(below, Tag) and below.name == "dd":
                term.append(below.extract())
                below.unwrap()


def layout_tables(root: Tag) -> None:
    """A table whose cells hold code, figures or tables lays a page out: its cells follow one another."""
    for table in reversed(root.find_all("table")):
        notes = table.find("tbody", class_="footnotes")
        if isinstance(notes, Tag):
            for note in reversed(notes.find_all("div", class_="footnote")):
                table.insert_after(note.extract())
            notes.extract()
        if table.find(["pre", "table", "blockquote", "dl"]) or table.find(class_=["mediaobject", "literallayout"]):
            for tag in [table, *table.find_all(["thead", "tbody", "tr", "td", "th"])]:
                if tag.name in ("td", "th", "table") or tag.find_parent("table") is None:
                    tag.name = "div"
                else:
                    tag.unwrap()


def definitions(root: Tag) -> None:
    """A definition with an id of its own is a heading; any other is a list item with its text below."""
    for listing in root.find_all("dl"):
        listing.name = "div"
        defines = listing.find_parent("div", class_="indexdiv") is None  # the entries of an index are no definitions
        items: Tag | None = None
        for name in listing.find_all("dt", recursive=False):
            ids = [_real_id(tag) for tag in (name, *name.find_all(True))]
            label = _joined(_terms(name))
            bodies = _bodies(name)
            if any(ids) and defines:
                definition, items = new_tag("div"), None
                definition["class"] = "definition"
                label.name = "h6"
                label["class"] = "term"
                name.replace_with(definition)
            else:
                definition = new_tag("li")
                if items is None:
                    items = new_tag("ul")
                    name.insert_before(items)
                items.append(definition)
                name.extract()
            _mark(label, ids)
            definition.append(label)
            for body in bodies:
                definition.extend([child.extract() for child in list(body.children)])
                body.extract()


def _bodies(name: Tag) -> list[Tag]:
    """What is said of a term: the `dd`s up to the next `dt`."""
    following = (tag for tag in name.next_siblings if isinstance(tag, Tag) and tag.name in ("dt", "dd"))
    return list(takewhile(lambda tag: tag.name == "dd", following))  # no list of all that follow: of 5,000 it took 14 s


def _terms(name: Tag) -> list[Tag]:
    """The terms of a `dt`. One that is a function's call, with its arguments around the name, is code as a whole."""
    found = [tag for tag in name.find_all("span", class_="term", recursive=False) if code_text(tag)] or [name]
    for term in found:
        if isinstance(call := term.find("code", class_="function"), Tag) and code_text(call) != code_text(term):
            whole = new_tag("code", code_text(term))
            ids = [_real_id(tag) for tag in term.find_all(True)]
            term.clear()
            term.append(whole)
            _mark(term, ids)
    return found


def _joined(tags: list[Tag]) -> Tag:
    """The terms of one definition in a line, a comma between them."""
    line = new_tag("p")
    for number, tag in enumerate(tags):
        for br in tag.find_all("br"):
            br.replace_with(" ")
        children = [child.extract() for child in list(tag.children)]
        line.extend([", "] * bool(number))
        line.extend(children)
        while line.contents and not line.contents[-1].get_text().strip():
            line.contents[-1].extract()
        if line.contents and isinstance(last := line.contents[-1], NavigableString):
            last.replace_with(last.rstrip())
    return line


def headings(root: Tag) -> None:
    """A heading's level is how deep its section lies; it carries the section's id and no markup of its own."""
    for heading in root.find_all(["h1", "h2", "h3", "h4", "h5", "h6"]):
        classes = _classes(heading)
        section = heading.find_parent(lambda tag: bool(SECTIONS & _classes(tag)))
        if not code_text(heading):
            heading.extract()
        elif not isinstance(section, Tag) or classes & {"subtitle", "author", "corpauthor"}:
            heading.name = "p"
        else:
            above = [tag for tag in heading.parents if tag is not root and _nests(tag)]
            heading.name = f"h{min(1 + len(above) + bool(classes & {'question'}), 6)}"
            marks = [str(mark["id"]) for mark in heading.find_all("anchor")]
            text = " ".join(heading.get_text().split())
            heading.clear()
            heading.append(text)
            _mark(heading, [*marks, _real_id(heading)])
            if not classes & {"term", "question"} and section is not root:
                _mark(heading, [_real_id(section)])
                del section["id"]


def _nests(tag: Tag) -> bool:
    return bool((SECTIONS | {"definition"}) & _classes(tag))


def anchors(root: Tag) -> None:
    """Every other id that a link may use ends the line of the block that it stands in."""
    for tag in root.find_all(id=True):
        name = _real_id(tag)
        if not name or tag.name == "anchor":
            continue
        block = tag if tag.name in _LINES else tag.find_parent(_LINES)
        if tag.name in ("div", "section", "li", "ul", "ol", "blockquote", "table", "pre", "tr", "td"):
            inner = tag.find(_LINES) if tag.name not in ("table", "pre") else None
            block = inner if isinstance(inner, Tag) and not inner.find_parent("table") else None
        if not isinstance(block, Tag):
            outer = tag.find_parent("table") or tag.find_parent("pre") or tag
            block = new_tag("p")
            outer.insert_before(block)
        _mark(block, [name])


_LINES = ["p", "h1", "h2", "h3", "h4", "h5", "h6"]


def _resolve_links(root: Tag, url: str) -> None:
    """Links between pages of a folder stay relative; all others become absolute. Links to mail and news are text."""
    for link in root.find_all("a"):
        target, _, fragment = str(link.get("href") or "").partition("#")
        scheme = _scheme(target)
        if MADE_UP_ID.fullmatch(fragment):
            fragment = ""
        if scheme not in ("", "http", "https", "ftp") or not (target or fragment):
            link.unwrap()
            continue
        if not scheme and (target.startswith(".") or "/" in target):
            target = urljoin(url, target)
        link["href"] = f"{target}#{fragment}" if fragment else target


def _scheme(target: str) -> str:
    try:
        return urlsplit(target).scheme
    except ValueError:  # what a manual prints need not be a URL: `http://[`
        return "?"


STEPS = (
    synopses,
    prototypes,
    captions,
    unwrap_inline,
    join_code,
    entries,
    simple_lists,
    questions,
    admonitions,
    contents,
    layout_tables,
    definitions,
    headings,
    anchors,
)
"""In this order: each relies on what those before it have made of the tree."""


# --- helpers --------------------------------------------------------------------------------------------------


def _first(content: Tag, classes: frozenset[str]) -> Tag | None:
    found = content.find(lambda tag: bool(classes & _classes(tag)))
    return found if isinstance(found, Tag) else None


def _classes(tag: Tag) -> set[str]:
    return set(tag.get_attribute_list("class"))


def _real_id(tag: Tag) -> str:
    name = str(tag.get("id") or "")
    return "" if MADE_UP_ID.fullmatch(name) else name


def _mark(block: Tag, ids: list[str]) -> None:
    """Let the ids end the block's line."""
    for name in dict.fromkeys(ids):
        if name:
            block.append(new_tag("anchor", id=name))


def _item(*children: object) -> Tag:
    item = new_tag("li")
    item.extend(children)  # type: ignore[arg-type]
    return item
