"""What the index finds → the text of an answer, for agents and people alike. Pure: an index and arguments in, text out.

Every answer names product and version, where in the manual it comes from, and its URL; none is longer than MAX_ANSWER.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pgdocs.errors import BadQuery, PageNotFound, PgdocsError
from pgdocs.pages import PATH_SEPARATOR, Page, short_name, slug_of_url, unlink
from pgdocs.search import MAX_QUERY, NO_ANSWER, checked
from pgdocs.serve.parts import Part, cut, find_passage, headings_of, is_called, trail

if TYPE_CHECKING:
    from pgdocs.search.context import Context
    from pgdocs.search.index import DocumentSearchIndex, PageInfo, SearchResult
    from pgdocs.search.symbols import Symbol

MAX_ANSWER = 9_000
"""Characters of any answer: Codex cuts at about 12 kB in the middle, others at 10 kB or 25,000 tokens."""

MAX_FRAME = 1_500
"""Of these for what stands around it: title, path, URL, how to go on, a line about an index that is being rebuilt."""

MAX_FIRST, MAX_RESULT = 2_200, 900
"""Characters of the first search result and of each other: the first holds the answer more often than not, and the five
of a default search stay under some 1,500 tokens."""

MAX_WEAK = 450
"""Characters of a result where none is an answer: enough to see what it is about."""

FAINT = 0.2
"""A result with a lower score is left out behind a confident first one: some 1,200 questions brought up 18 of them, and
none was an answer."""

MAX_SIGNATURES = 6_000
"""Characters of an answer about a name: `ST_Union` and `+` have many definitions, the first ones are what is meant."""

MENTIONING = 20
"""Pages that are looked through for a name that nothing defines."""

ELSEWHERE = "Next: search_docs with other words, in English, or with the name of what does it."
"""What to do where no answer is confident."""

_VERSION = re.compile(r"/(?:manual-)?(\d+(?:\.\d+)*|devel|dev|master)/")
"""The version in a URL of a manual."""
_DANGLING = re.compile(r"(?:\s*(?:…|\n\*\*[^\n]*\*\*))+$")
"""At the end of a passage that was cut: a caption whose text is gone, a mark that something is left out."""


# --- search_docs ------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """What a search found, what has to be said before it, and how to go on. Without `confident` none is an answer."""

    results: list[SearchResult]
    confident: bool
    before: str
    after: str


def find(
    index: DocumentSearchIndex,
    query: str,
    max_results: int = 5,
    strategy: str = "hybrid",
    source: str = "all",
    kind: str = "all",
) -> Found:
    """The results that are worth reading, best first. Raises BadQuery, UnknownSource."""
    from pgdocs.search.rank import CONFIDENT  # a server imports this file before its handshake, and numpy after it

    source, kind = source_named(index, source), kind.strip().lower() or "all"
    results = index.search(query, max_results, strategy, source, kind)
    confident = bool(results) and (strategy != "hybrid" or results[0].score >= CONFIDENT)
    if confident and strategy == "hybrid":
        results = [result for result in results if result.score >= FAINT]
    before = [] if confident else [NO_ANSWER]
    before += filter(None, [index.missing_version(query)])
    if not results:
        given = {"source": source, "kind": kind}
        narrow = [f"{name}={value!r}" for name, value in given.items() if value != "all"]
        before.append(f"Nothing in {' and '.join(narrow)} is near it." if narrow else "Nothing is near it.")
        wider = "search without that, or with other words" if narrow else "try other words"
        return Found(
            [], False, "\n\n".join(before), f'Next: {wider}, in English; get_doc(page="") lists what there is.'
        )
    if not confident:
        before.append("The nearest pages, which may not be about it:")
        after = ELSEWHERE
    else:
        after = f"Read on with get_doc({_written(read_on(results[0]))})."
    return Found(results, confident, "\n\n".join(before), after)


def search_text(
    index: DocumentSearchIndex,
    query: str,
    max_results: int = 5,
    strategy: str = "hybrid",
    source: str = "all",
    kind: str = "all",
) -> str:
    """Ranked passages, or the nearest ones, in short, under a first line that says that none is an answer."""
    found = find(index, query, max_results, strategy, source, kind)
    shown = [_result(number, result, found) for number, result in enumerate(found.results, 1)]
    return "\n\n".join(filter(None, [found.before, *shown, f"---\n{found.after}" if shown else found.after]))


def read_on(result: SearchResult) -> dict[str, str]:
    """The arguments of get_doc for what a result cites."""
    page, anchor = short_name(result.doc_name), result.section and result.url.partition("#")[2]
    whole = page.rpartition("/")[2].casefold() == anchor.casefold()  # the page's own
    return {"page": page} | ({"section": anchor} if anchor and not whole else {})


def _result(number: int, result: SearchResult, found: Found) -> str:
    title = result.title if result.section in ("", result.title) else f"{result.title}{PATH_SEPARATOR}{result.section}"
    about = f"{short_name(result.doc_name)} · score {result.score:.2f}"
    head = "\n".join(filter(None, [f"## {number}. {_clip(title, 150)}", _where(result.path), result.url, about]))
    return f"{head}\n\n{shown_passage(number, found, len(head))}"


def shown_passage(number: int, found: Found, beside: int) -> str:
    """As much of the passage of result `number` as fits into its share of an answer, beside so many characters about
    it."""
    room = MAX_FIRST if number == 1 else min(MAX_RESULT, (MAX_ANSWER - MAX_FRAME - MAX_FIRST) // len(found.results))
    if not found.confident:
        room = min(room, MAX_WEAK)
    passage, *rest = cut(unlink(found.results[number - 1].snippet).strip(), max(room - beside - 8, 80))
    if passage.closes:
        return f"{passage.shown}\n…"
    shown = _DANGLING.sub("", passage.shown) if rest else passage.shown
    return shown + (" …" if rest else "")


# --- how_do_i ---------------------------------------------------------------------------------------------


def context_text(
    index: DocumentSearchIndex, task: str, token_budget: int = 800, source: str = "all", kind: str = "all"
) -> str:
    """The least text that answers a task, within a budget of tokens."""
    found = answering(index, task, token_budget, source, kind)
    return found.text if found.passages else f"{found.text}\n\n{ELSEWHERE}"


def fitting(answer: str, note: str, token_budget: int) -> str:
    """An answer with the guard's note, if any, in the budget that it was made for: blocks go at the end."""
    if not note:
        return answer
    from pgdocs.pages import join_blocks, split_blocks
    from pgdocs.search.budget import count_tokens
    from pgdocs.search.context import MAX_BUDGET, MIN_BUDGET

    blocks = split_blocks(answer)
    budget = min(max(token_budget, MIN_BUDGET), MAX_BUDGET)
    while len(blocks) > 1 and count_tokens(join_blocks(blocks) + note) > budget:
        blocks.pop()
    return join_blocks(blocks) + note


def answering(
    index: DocumentSearchIndex, task: str, token_budget: int = 800, source: str = "all", kind: str = "all"
) -> Context:
    """The passages that answer a task; none where no answer is confident. Raises BadQuery, UnknownSource."""
    from pgdocs.search.context import context

    source, kind = source_named(index, source), kind.strip().lower() or "all"
    return context(index, checked(task, "task"), token_budget, source, kind)


# --- get_function_signature -------------------------------------------------------------------------------


def signature_text(index: DocumentSearchIndex, name: str) -> str:
    """All definitions of a name. Raises PgdocsError (near names, pages that mention it) where there is none."""
    symbols = definitions(index, name)
    found = [_symbol(symbol) for symbol in symbols]
    if sum(map(len, found)) > MAX_SIGNATURES:  # `&&` has 15 definitions: rather all of them than an example each
        found = [_symbol(replace(symbol, example="")) for symbol in symbols]
    text, shown = "", 0
    while shown < len(found) and len(text) + len(found[shown]) + 2 <= MAX_SIGNATURES - 1_000 * (shown > 0):
        text += "\n\n" * bool(text) + found[shown]
        shown += 1
    for number, symbol in enumerate(symbols[shown:]):
        line = f"{symbol.title}: {symbol.url or short_name(symbol.doc_name)}"
        if len(text) + len(line) > MAX_SIGNATURES - 100:
            return f"{text}\n\n… and {len(symbols) - shown - number} more."
        text += ("\n\nAlso defined in:\n" if number == 0 else "\n") + line
    return text


def definitions(index: DocumentSearchIndex, name: str) -> list[Symbol]:
    """All definitions of a name, the likeliest first. Raises PgdocsError where there is none."""
    name = checked(name, "name").strip().strip("`")
    symbols = index.symbols(name)
    if not symbols:
        raise PgdocsError(_no_symbol(index, name))
    return symbols


def _symbol(symbol: Symbol) -> str:
    from pgdocs.search.places import KINDS  # as above: not before the handshake

    where = _where((*symbol.path, symbol.title))
    signatures = "\n".join(symbol.signatures) or symbol.name
    fenced = cut(f"```\n{signatures}\n```", MAX_SIGNATURES // 2)
    lines = [f"## {symbol.name} ({KINDS[symbol.kind]})", where, symbol.url, "", fenced[0].shown, ""]
    if symbol.extension:
        lines += [f"Extension: {symbol.extension}", ""]
    if len(fenced) > 1:
        lines += ["… and more, on the page.", ""]
    if symbol.purpose:
        lines += [_clip(unlink(symbol.purpose), 400), ""]
    if symbol.example:
        lines += ["Example:", cut(_fenced(symbol.example), 1_200)[0].shown]
    return "\n".join(lines).rstrip()


def _fenced(example: str) -> str:
    return example if example.lstrip().startswith(("```", "~~~")) else f"```\n{example}\n```"


def _no_symbol(index: DocumentSearchIndex, name: str) -> str:
    from pgdocs.search.rank import CONFIDENT

    name = _clip(name, 80)
    lines = [f"There is no function, operator, setting or command {name!r} in the indexed manuals."]
    if ours := index.counterparts(name):
        lines.append(f"It is another product's name for what is here {', '.join(ours)}: ask for that.")
    elif near := _names_in(index, name) or index.near_names(name):
        lines.append(f"Did you mean {', '.join(near[:8])}?")
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    about = [
        result
        for number, result in enumerate(index.search(name, MENTIONING))
        if (number == 0 and result.score >= CONFIDENT)  # it may have another word for it
        or (result.kind != "contents" and word.search(index.get_document(result.doc_name)))
    ]
    if about:
        lines.append("Pages to look at:")
        lines += [f"- {r.title}: {r.url or short_name(r.doc_name)}" for r in about[:5]]
    return "\n".join([*lines, "Next: search_docs with what it should do."])


def _names_in(index: DocumentSearchIndex, text: str) -> list[str]:
    """The names that a text of several words holds, longest first from each word on: `CREATE INDEX CONCURRENTLY`."""
    words = re.findall(r"\\?\w[\w.]*", text)
    found: list[str] = []
    while words and len(found) < 5:
        known = next((n for n in range(min(len(words), 3), 0, -1) if index.symbols(" ".join(words[:n]))), 0)
        found += [" ".join(words[:known])] * bool(known)
        words = words[known or 1 :]
    return found


# --- get_doc ----------------------------------------------------------------------------------------------


class Doc(NamedTuple):
    """What a page name (and a section) stands for, and the arguments that ask for it again. A list has no title."""

    text: str
    call: dict[str, str]
    title: str = ""
    path: tuple[str, ...] = ()
    url: str = ""
    note: str = ""

    @property
    def head(self) -> str:
        lines = [f"# {_clip(self.title, 300)}", _where(self.path), self.url]
        head = "\n".join(filter(None, lines)) + "\n\n---\n\n" if self.title else ""
        return f"{self.note}\n\n{head}" if self.note else head


def doc_text(index: DocumentSearchIndex, page: str = "", section: str = "", part: int = 1) -> str:
    """A part of what `find_doc` finds, with how to go on. Raises PageNotFound; BadQuery for a part that is not."""
    doc, piece, of = part_of(find_doc(index, page, section), part)
    shown = doc.head + piece.shown
    if of == 1:
        return shown
    on = f"Go on with get_doc({_written(doc.call)}, part={part + 1})." if part < of else "This is the last part."
    return f"{shown}\n\n---\nPart {part} of {of}. {on}"


def part_of(doc: Doc, number: int) -> tuple[Doc, Part, int]:
    """Part `number` (from 1) of those that fit into an answer each, the document by the title and URL that this part
    begins under, and how many parts there are. Raises BadQuery where it is none of them."""
    parts = cut(doc.text, MAX_ANSWER - MAX_FRAME)
    if number > len(parts) == 1:
        raise BadQuery(f"There is no part {number}: all of it is one part, so leave the part out.")
    if not 1 <= number <= len(parts):
        raise BadQuery(f"There is no part {number}: it has {len(parts)}, so ask for part=1 to part={len(parts)}.")
    if doc.title and number > 1:
        start = sum(part.text.count("\n") for part in parts[: number - 1])
        above = trail(headings_of(doc.text)[1 if doc.call.get("section") else 0 :], start)
        anchor = next((a for heading in reversed(above) for a in heading.anchors), "")
        url = f"{doc.url.partition('#')[0]}#{anchor}" if doc.url and anchor else doc.url
        doc = doc._replace(title=PATH_SEPARATOR.join((doc.title, *(h.title for h in above))), url=url)
    return doc, parts[number - 1], len(parts)


def find_doc(index: DocumentSearchIndex, page: str = "", section: str = "") -> Doc:
    """A page or a section of it; a list of what there is where `page` is empty, a source or a chapter.

    A page is named by its slug, its URL or its title. Raises PageNotFound, with near names, for a page or a section."""
    page = page.strip(" \t\r\n\"'`<>").removeprefix("pgdocs://docs/").removeprefix("pgdocs://docs")
    section = section.strip()
    if len(page) > MAX_QUERY or len(section) > MAX_QUERY:
        raise BadQuery(f"A page or a section is named by at most {MAX_QUERY:,} characters.")
    name, _, fragment = page.partition("#") if page[:1] != "#" else (page, "", "")
    section = section.rpartition("#")[2] or fragment
    source = _source(index, page)
    if section and (source or not page):
        raise BadQuery(f"The section {_clip(section, 80)!r} is of a page: name the page, too.")
    if not page:
        return Doc(overview_text(index), {"page": ""})
    if source:
        return Doc(source_text(index, source), {"page": source})
    try:
        found = _page(index, name)
    except PageNotFound as error:
        if chapter := _chapter_text(index, page):
            return Doc(chapter, {"page": page})
        titled = _titled(index, name)
        if len(titled) != 1:
            raise PageNotFound(_clip(name, 200), [*titled, *_defining(index, name), *error.near][:5]) from error
        found = index.page(titled[0])
    try:
        passage = find_passage(found, section)
    except PageNotFound:
        here = f"{short_name(found.doc_name)}#"
        defined = next((name for name in _defining(index, section) if name.startswith(here)), "")
        if not defined:
            raise
        passage = find_passage(found, defined.removeprefix(here))
    title = PATH_SEPARATOR.join((found.title, *passage.trail))
    url = found.url and (found.url + (f"#{passage.anchor}" if passage.anchor else ""))
    call = {"page": short_name(found.doc_name)} | ({"section": passage.anchor or section} if section else {})
    text = passage.text or "(There is no text of its own here.)"
    return Doc(text, call, title, found.path, url, _of_another_version(name, found))


def source_named(index: DocumentSearchIndex, name: str) -> str:
    """`pg` for `PG` and `PostgreSQL`, `all` for nothing; what is no source stays as it is, to be refused."""
    return _source(index, name.strip()) or name.strip() or "all"


def _source(index: DocumentSearchIndex, name: str) -> str:
    """The source that is called so, or whose product is; else ""."""
    from pgdocs.search.scope import split_label

    wanted = name.rstrip("/").casefold()
    sources = index.sources()
    named = (s.name for s in sources if wanted in (s.name.casefold(), split_label(s.label)[0].casefold()))
    return name if name in {source.name for source in sources} else next(named, "")


def _titled(index: DocumentSearchIndex, title: str) -> list[str]:
    """The pages of that title, or of that number in their manual; of a page in several versions the first one."""
    from pgdocs.search.scope import split_label

    order = {source.name: (number, split_label(source.label)[0]) for number, source in enumerate(index.sources())}
    found = [page for page in index.pages() if is_called(page.title, title.casefold())]
    first: dict[tuple[str, str], PageInfo] = {}
    for page in sorted(found, key=lambda page: order[page.source]):
        first.setdefault((order[page.source][1], page.slug), page)
    return [short_name(page.doc_name) for page in first.values()]


def _defining(index: DocumentSearchIndex, name: str) -> list[str]:
    """Where a name is defined, as get_doc takes it."""
    symbols = [symbol for symbol in index.symbols(name) if symbol.name.casefold() == name.casefold()]
    anchored = ((short_name(s.doc_name), s.url.partition("#")[2]) for s in symbols)
    return list(dict.fromkeys(f"{page}#{anchor}" if anchor else page for page, anchor in anchored))


def _of_another_version(name: str, found: Page) -> str:
    """A line that says so where a URL is of another version than the page that is shown for it."""
    asked, have = _VERSION.search(name), _VERSION.search(found.url)
    if "://" not in name or not asked or not have or asked[1] == have[1]:
        return ""
    return f"Version {asked[1]} is not indexed: what follows is of {(found.path or (short_name(found.doc_name),))[0]}."


def overview_text(index: DocumentSearchIndex) -> str:
    """What there is: all sources and their chapters, with counts."""
    lines = ["# What is indexed"]
    for source in index.sources():
        lines += ["", f"## {source.name}: {source.label} ({source.pages:,} pages)", ""]
        lines += _chapter_lines(_chapters(index.pages(source.name)))
    return "\n".join([*lines, "", 'get_doc(page="…") lists the pages of a source (its short name) or of a chapter.'])


def _chapter_lines(chapters: dict[str, list[PageInfo]]) -> Iterator[str]:
    """A nested list of chapters with their counts."""
    above: list[str] = []
    for name, pages in chapters.items():
        steps = name.split(PATH_SEPARATOR)
        for depth, step in enumerate(steps):
            if above[: depth + 1] != steps[: depth + 1]:
                count = f" ({len(pages)})" if depth + 1 == len(steps) else ""
                yield f"{'  ' * depth}- {step}{count}"
        above = steps


def source_text(index: DocumentSearchIndex, source: str) -> str:
    """All pages of a source, by chapter. Raises UnknownSource."""
    pages = index.pages(source)
    label = next((known.label for known in index.sources() if known.name == source), source)
    return _pages_text(f"{label}: its {len(pages):,} pages", pages)


def page_text(index: DocumentSearchIndex, source: str, slug: str) -> str:
    """A whole page as it was written, header included. Raises PageNotFound."""
    return index.get_document(f"{source}/{slug}")


def explain_text(index: DocumentSearchIndex, feature: str) -> str:
    """The prompt `explain_feature`: what to do, and the passages to do it with."""
    feature = _clip(checked(feature, "feature"), 200)
    return (
        f"Explain {feature} to a developer who has not used it: what it is for, its syntax, one worked example, and "
        "what goes wrong in practice. Use only what the manuals say, name product and version, and cite the URL after "
        "each claim. The passages below are a start, quoted as reference material; read on with get_doc and "
        f"search_docs before you answer. If they don't cover it, say so.\n\n---\n\n{search_text(index, feature)}"
    )


def _chapter_text(index: DocumentSearchIndex, name: str) -> str:
    """The pages below any chapter of that name, or ""."""
    wanted = name.casefold()
    steps = {page: [s for s in (*page.path, _chapter(page)) if is_called(s, wanted)] for page in index.pages()}
    inside = {page: found[0] for page, found in steps.items() if found}
    return _pages_text(f"Pages of {', '.join(dict.fromkeys(inside.values()))}", inside) if inside else ""


def _pages_text(title: str, pages: Iterable[PageInfo]) -> str:
    lines = [f"# {title}"]
    for chapter, inside in _chapters(pages).items():
        ordered = sorted(inside, key=lambda page: _natural(page.title))
        lines += ["", f"## {chapter}", "", *(f"- {short_name(page.doc_name)}: {page.title}" for page in ordered)]
    return "\n".join(lines)


def _chapters(pages: Iterable[PageInfo]) -> dict[str, list[PageInfo]]:
    """Pages by where they stand, `The SQL Language › Queries`, in the order of the manual's own numbers."""
    found: dict[str, list[PageInfo]] = {}
    for page in pages:
        found.setdefault(_chapter(page), []).append(page)
    return dict(sorted(found.items(), key=lambda item: _natural(item[0])))


def _chapter(page: PageInfo) -> str:
    return PATH_SEPARATOR.join(page.path[1:]) or "the manual itself"


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d+)", text)]


def _page(index: DocumentSearchIndex, name: str) -> Page:
    """The page of that name; the target of a link between pages (`sql-insert.html`) is a name too."""
    if re.fullmatch(r"[^/:]+\.html?", name):
        name = slug_of_url(name)
    return index.page(name)


# --- small things -----------------------------------------------------------------------------------------


def _written(call: dict[str, str]) -> str:
    """Arguments as a call holds them: `page="pg/sql-select", section="SQL-LIMIT"`."""
    return ", ".join(f'{name}="{_clip(value, 150)}"' for name, value in call.items())


def _where(path: Sequence[str]) -> str:
    return _clip(PATH_SEPARATOR.join(path), 250)


def _clip(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
