"""What the conversion keeps: every HTML page of a manual beside its markdown file.

    python eval/fidelity.py --pg MIRROR/www.postgresql.org/docs/18 --postgis MIRROR/postgis.net/docs/manual-3.5 \\
        --docs docs [--worst 20]

Prints one table per source and the pages that differ most, with examples. Exit 1 when a bound is missed.
The HTML is read here with lxml and rules of its own: nothing is shared with the converter that is measured.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html

from pgdocs.pages import doc_name, doc_name_of_file, parse_page, scan_lines

BOUNDS = {"pre": 0.999, "kept": 0.998, "true": 0.995}
"""Least share of blocks of code unchanged, of the HTML's words kept, of the markdown's words in the HTML."""

NOT_PAGES = re.compile(r"postgis(-en)?\.html$|.*cheatsheet.*")
"""Files in the manual's folder that no page links to as a page: the single-page manual and the cheat sheets."""

MADE_UP = re.compile(r"id-?\d|docContent$|ftn\.")
"""Ids that change with every build, the template's own, and the footnotes' (which are text at the page's end)."""

LINKABLE = {"section", "definition", "table", "example", "function"}
"""The kinds of ids that must all be there; the rest (marks in running text, steps) is only reported."""

INLINE = {"a", "abbr", "acronym", "b", "big", "cite", "code", "em", "font", "i", "kbd"}
INLINE |= {"q", "s", "small", "span", "strong", "tt", "u", "var"}
"""Elements that do not end a word. `sub` and `sup` do: 2³ is no number 23."""

CONTENTS = ("toc", "list-of-tables", "list-of-figures")
"""Classes of the tables of contents: links, whose words stand on the pages that they lead to."""

WORD = re.compile(r"\w+")
NUMBER = re.compile(r"(\s*)\d+[.)] ")
CODE_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
TARGET = re.compile(r"(?<!\\)\]\((?:[^\s()]|\([^\s()]*\))*\)")
ANCHORS = re.compile(r"(?:\s*\{#[^\s{}]+\})+\s*$")
ANCHOR = re.compile(r"\{#([^\s{}]+)\}")
TAG = re.compile(r"</?(?:sub|sup|br|a)\b[^<>]*>")
NAVIGATION = re.compile(r"\[(?:Prev|Up|Home|Next)\]\(.*\[(?:Prev|Up|Home|Next)\]\(|Submit correction")
BAR = re.compile(r"(?<!\\)\|")


@dataclass
class Report:
    """One page: counts, and what is wrong with it in words."""

    name: str
    found: bool = True
    pre: int = 0
    words: int = 0
    kept: int = 0
    written: int = 0
    true: int = 0
    ids: Counter[str] = field(default_factory=Counter)
    pre_misses: list[str] = field(default_factory=list)
    id_misses: list[tuple[str, str]] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[str, str]] = field(default_factory=list)

    @property
    def badness(self) -> int:
        return (
            (self.words - self.kept)
            + (self.written - self.true)
            + 20 * (len(self.pre_misses) + len(self.id_misses) + len(self.faults))
        )


# --- the HTML ---------------------------------------------------------------------------------------------


def content(data: bytes) -> etree._Element:
    """The element that holds the page's content, without navigation and permalinks."""
    root = lxml_html.document_fromstring(data, parser=lxml_html.HTMLParser(encoding="utf-8"))
    inner = root.xpath("//*[@id='docContent']")
    top: etree._Element = inner[0] if inner else root.find("body")
    for extra in top.xpath(
        ".//*[contains(@class,'navheader') or contains(@class,'navfooter')] | .//a[@class='id_link']"
        " | ./header | ./footer | .//script | .//style"
    ):
        extra.drop_tree()
    for comment in top.xpath(".//comment()"):
        comment.drop_tree()
    return top


def clean(text: str) -> str:
    """Blanks and marks that a conversion may change: NBSP, U+200B, U+FEFF, line ends."""
    return text.replace("\u00a0", " ").replace("\u200b", "").replace("\ufeff", "").replace("\r", "")


def text_of(element: etree._Element, skip: tuple[str, ...] = ()) -> str:
    """The text with a blank wherever an element ends a word; elements of a class in `skip` are left out."""
    parts: list[str] = []

    def walk(node: etree._Element) -> None:
        if (node.get("class") or "") in skip:
            return
        pad = "" if node.tag in INLINE else " "
        parts.append(pad + (node.text or ""))
        for child in node:
            walk(child)
            parts.append(child.tail or "")
        parts.append(pad)

    walk(element)
    return clean("".join(parts))


def code_blocks(top: etree._Element) -> Iterator[tuple[str, str]]:
    """Every `<pre>`: its text, and what it stands in."""
    for pre in top.iter("pre"):
        inside = [a.tag for a in pre.iterancestors() if a.tag in ("td", "th", "li", "dd", "blockquote", "pre")]
        yield trimmed(clean(pre.text_content())), inside[0] if inside else "body"


def trimmed(code: str) -> str:
    return "\n".join(line.rstrip() for line in code.split("\n")).strip("\n")


def linkable_ids(top: etree._Element) -> Iterator[tuple[str, str]]:
    """Each id that is the manual's own, with the kind of thing that it marks."""
    for element in top.xpath("descendant-or-self::*[@id]"):
        if not MADE_UP.match(element.get("id")):
            yield element.get("id"), id_kind(element)


def id_kind(element: etree._Element) -> str:
    css = element.get("class") or ""
    if element.tag == "dt":
        return "definition"
    if element.tag == "td" and "func_table_entry" in css:
        return "function"
    if css.split(" ")[0] in ("table", "informaltable"):
        return "table"
    if css.split(" ")[0] in ("example", "figure", "informalexample"):
        return "example"
    return "section" if element.tag in ("div", "section") else "other"


# --- the markdown -----------------------------------------------------------------------------------------


def plain_line(line: str) -> str:
    """A line outside fences without its markup: no anchors, targets, escapes, entities; code spans as they are."""
    line = NUMBER.sub(r"\1", ANCHORS.sub("", line), count=1) if NUMBER.match(line) else ANCHORS.sub("", line)
    parts, start = [], 0
    for span in CODE_SPAN.finditer(line):
        parts += [prose(line[start : span.start()]), span[2]]
        start = span.end()
    return "".join([*parts, prose(line[start:])])


def prose(text: str) -> str:
    text = TAG.sub(" ", TARGET.sub("]", text))
    return html.unescape(re.sub(r"\\([^\w\s]|_)", r"\1", text))


def without_code(line: str) -> str:
    return CODE_SPAN.sub("``", line)


def read_markdown(text: str) -> tuple[str, list[str], set[str], list[tuple[str, str]]]:
    """A body's plain text, its fenced blocks, the anchors, and what must not be in it."""
    plain: list[str] = []
    fences: list[str] = []
    anchors: set[str] = set()
    faults: list[tuple[str, str]] = []
    width = state = None
    for line, state in scan_lines(text):
        if state == "open":
            fences.append("")
        elif state == "code":
            fences[-1] += line + "\n"
            plain.append(line)
        if state:
            continue
        found = ANCHORS.search(line)
        anchors.update(ANCHOR.findall(found[0]) if found else [])
        plain.append(plain_line(line))
        bare = without_code(line)
        if NAVIGATION.search(line):
            faults.append(("navigation", line[:100]))
        if "\\_" in bare:
            faults.append(("\\_", line[:100]))
        cells = len(BAR.findall(line.strip().strip("|"))) + 1 if line.lstrip().startswith("|") else None
        if cells and width and cells != width:
            faults.append(("row of another width", f"{cells} cells, header {width}: {line[:80]}"))
        width = (width or cells) if cells else None
    if state in ("open", "code"):
        faults.append(("unclosed fence", text[-80:]))
    if "\u200b" in text:
        faults.append(("U+200B", text[max(0, text.index("\u200b") - 30) :][:60]))
    return "\n".join(plain), fences, anchors, faults


# --- the comparison ---------------------------------------------------------------------------------------


def compare(name: str, html_file: Path, markdown_file: Path | None) -> Report:
    """One page beside its markdown."""
    report = Report(name)
    top = content(html_file.read_bytes())
    if markdown_file is None:
        report.found = False
        return report
    text = markdown_file.read_text(encoding="utf-8")
    page = parse_page(text, name)
    plain, fences, anchors, report.faults = read_markdown(page.body)
    anchors.update(ANCHOR.findall(text.split("\n", 1)[0]))

    left = Counter(trimmed(fence) for fence in fences)
    everything = "\n".join(left)
    for code, inside in code_blocks(top):
        report.pre += 1
        if left[code] > 0:
            left[code] -= 1
        elif not code or f"\n{code}\n" in f"\n{everything}\n":
            pass  # nothing to show, or a part of a longer fence
        else:
            report.pre_misses.append(f"in {inside}, {miss_reason(code, fences, plain)}: {code[:70]!r}")

    for anchor, kind in linkable_ids(top):
        report.ids[kind] += 1
        if anchor not in anchors:
            report.id_misses.append((kind, anchor))

    everything_in_html = WORD.findall(text_of(top))
    wanted = Counter(WORD.findall(text_of(top, skip=CONTENTS)))
    below = WORD.findall(plain)
    have = Counter(below) + Counter(WORD.findall(plain_line(page.title)))
    report.lost = wanted - have
    report.words, report.kept = wanted.total(), wanted.total() - report.lost.total()

    allowed = Counter(everything_in_html) + Counter(WORD.findall(labels(top)))
    report.made = Counter(below) - allowed
    report.written, report.true = len(below), len(below) - report.made.total()

    glued = {a + b for a, b in pairwise(everything_in_html)}
    report.faults += [("run-together word", word) for word in report.made if word in glued and word not in allowed]
    return report


def miss_reason(code: str, fences: list[str], plain: str) -> str:
    if any("".join(fence.split()) == "".join(code.split()) for fence in fences):
        return "blanks differ"
    if "".join(code.split()) in "".join(plain.split()):
        return "not in a fence of its own"
    return "not there to the letter"


def labels(top: etree._Element) -> str:
    """Words that the HTML shows without writing them: pictures' alt texts, admonitions' titles."""
    alts = [image.get("alt") or "" for image in top.iter("img")]
    css = [
        (div.get("class") or "").capitalize()
        for div in top.iter("div")
        if (div.get("class") or "") in ("note", "tip", "warning", "caution", "important")
    ]
    return " ".join(alts + css)


def reports(source: str, folder: Path, docs: Path) -> list[Report]:
    """All pages of a manual, in order of their names."""
    files = {doc_name_of_file(f.relative_to(docs)): f for f in docs.glob(f"{source}__*.md")}
    pages = [f for f in sorted(folder.glob("*.html")) if not NOT_PAGES.match(f.name)]
    pages = [f for f in pages if f.stem != "index" or doc_name(source, "index") in files]  # a mere table of contents
    names = [doc_name(source, f.stem) for f in pages]
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(compare, names, pages, map(partial(files.get), names), chunksize=16))


# --- the printed table ------------------------------------------------------------------------------------


def show(source: str, all_pages: list[Report], worst: int) -> bool:
    """Print a source's table; true when every bound holds."""
    pages = [r for r in all_pages if r.found]
    missing = [r.name for r in all_pages if not r.found]
    pre, pre_missed = sum(r.pre for r in pages), sum(len(r.pre_misses) for r in pages)
    words, kept = sum(r.words for r in pages), sum(r.kept for r in pages)
    written, true = sum(r.written for r in pages), sum(r.true for r in pages)
    ids = sum((r.ids for r in pages), Counter[str]())
    id_missed = Counter(kind for r in pages for kind, _ in r.id_misses)
    faults = Counter(kind for r in pages for kind, _ in r.faults)

    print(f"\n## {source}\n")
    print(f"| {'':28} | {'of':>9} | {'missed':>7} | {'held':>8} | {'bound':>7} |\n|---|---|---|---|---|")
    verdicts = [
        row("pages found", len(all_pages), len(missing), 1.0),
        row("<pre> unchanged in a fence", pre, pre_missed, BOUNDS["pre"]),
        row("words of the HTML kept", words, words - kept, BOUNDS["kept"]),
        row("words written are the HTML's", written, written - true, BOUNDS["true"]),
        *(row(f"ids: {k}", ids[k], id_missed[k], 1.0 if k in LINKABLE else 0.0) for k in sorted(ids)),
    ]
    for kind in ("navigation", "\\_", "U+200B", "unclosed fence"):
        verdicts.append(faults[kind] == 0)
        print(f"| {kind:28} | {'':9} | {faults[kind]:7} | {'':8} | {'0':>7} |")
    for kind in ("run-together word", "row of another width"):
        print(f"| {kind:28} | {'':9} | {faults[kind]:7} | {'':8} | {'':7} |")

    if missing:
        print("\nmissing:", *missing[:40])
    show_worst(pages, worst)
    return all(verdicts)


def row(what: str, total: int, missed: int, bound: float) -> bool:
    share = 1 - missed / total if total else 1.0
    print(f"| {what:28} | {total:9} | {missed:7} | {share:8.3%} | {bound:7.1%} |")
    return share >= bound


def show_worst(pages: list[Report], count: int) -> None:
    misses = [(r.name, miss) for r in pages for miss in r.pre_misses]
    if misses and count:
        print(f"\n<pre> missed ({len(misses)}):")
        for name, miss in misses[: 2 * count]:
            print(f"  {name}: {miss}")
    for title, totals in (
        ("words lost most", sum((r.lost for r in pages), Counter[str]())),
        ("words made up most", sum((r.made for r in pages), Counter[str]())),
    ):
        if totals and count:
            print(f"\n{title}:", ", ".join(f"{word} {n}" for word, n in totals.most_common(25)))
    bad = sorted((r for r in pages if r.badness), key=lambda r: -r.badness)[:count]
    for r in bad:
        print(f"\n{r.name}: {r.words - r.kept} of {r.words} words lost, {r.written - r.true} of {r.written} made up")
        for label, items in (
            ("lost", [f"{w} {n}" for w, n in r.lost.most_common(12)]),
            ("made", [f"{w} {n}" for w, n in r.made.most_common(12)]),
            ("pre ", r.pre_misses[:3]),
            ("ids ", [f"{kind} {anchor}" for kind, anchor in r.id_misses[:8]]),
            ("also", [f"{kind}: {what}" for kind, what in r.faults[:5]]),
        ):
            if items:
                print(f"  {label}", "; ".join(items))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pg", type=Path, metavar="FOLDER", help="the PostgreSQL manual's HTML pages")
    parser.add_argument("--postgis", type=Path, metavar="FOLDER", help="the PostGIS manual's HTML pages")
    parser.add_argument("--docs", type=Path, default=Path("docs"), metavar="FOLDER", help="the converted pages")
    parser.add_argument("--worst", type=int, default=10, metavar="N", help="how many pages to show in detail")
    args = parser.parse_args()
    folders = {name: getattr(args, name) for name in ("pg", "postgis") if getattr(args, name)}
    if not folders:
        parser.error("name at least one folder of HTML pages: --pg FOLDER, --postgis FOLDER")
    for folder in (*folders.values(), args.docs):
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder")
    held = [show(source, reports(source, folder, args.docs), args.worst) for source, folder in folders.items()]
    print("\nevery bound holds" if all(held) else "\na bound is missed")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
