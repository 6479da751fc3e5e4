"""The answers as data, for programs that asked for it: each says all that the text of pgdocs/serve/text.py says.

Off by default: the most used clients show their model only the data and drop the text where there are both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from pgdocs.pages import short_name, unlink
from pgdocs.serve import text

if TYPE_CHECKING:
    from pgdocs.search.index import DocumentSearchIndex


@dataclass(frozen=True)
class Result:
    """A page with its best passage; `score` runs from 0 to 1."""

    page: str
    title: str
    section: str
    path: tuple[str, ...]
    url: str
    score: float
    match_type: str
    passage: str


@dataclass(frozen=True)
class Found:
    """Where `confident` is false, `note` says so and no result may be an answer."""

    confident: bool
    results: list[Result]
    note: str = ""
    read_on: dict[str, str] = field(default_factory=dict)
    """Arguments for get_doc."""


@dataclass(frozen=True)
class Definition:
    """Where the answer has no more room, only the address: a page's title and its URL."""

    title: str
    url: str
    name: str = ""
    kind: str = ""
    extension: str = ""
    path: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    purpose: str = ""
    example: str = ""


@dataclass(frozen=True)
class Definitions:
    definitions: list[Definition]
    note: str = ""


@dataclass(frozen=True)
class Document:
    """A part of a page, of a section or of a list of pages; `call` are get_doc's arguments for all of it."""

    title: str
    path: tuple[str, ...]
    url: str
    markdown: str
    part: int
    parts: int
    call: dict[str, str]
    note: str = ""


@dataclass(frozen=True)
class Passage:
    page: str
    path: tuple[str, ...]
    url: str
    text: str


@dataclass(frozen=True)
class Context:
    """The passages that answer a task; none, and `note`, where the manuals have no confident answer."""

    passages: list[Passage]
    note: str = ""


def search(
    index: DocumentSearchIndex,
    query: str,
    max_results: int = 5,
    strategy: str = "hybrid",
    source: str = "all",
    kind: str = "all",
) -> Found:
    told = text.find(index, query, max_results, strategy, source, kind)
    found = [
        Result(
            short_name(result.doc_name),
            result.title,
            result.section,
            result.path,
            result.url,
            round(result.score, 3),
            result.match_type,
            text.shown_passage(number, told, 0),
        )
        for number, result in enumerate(told.results, 1)
    ]
    more = text.read_on(told.results[0]) if told.results else {"page": ""}
    notes = (told.before, "" if told.confident else told.after)
    return Found(told.confident, found, "\n\n".join(filter(None, notes)), more)


def signature(index: DocumentSearchIndex, name: str) -> Definitions:
    found: list[Definition] = []
    size = 0
    for symbol in text.definitions(index, name):
        url = symbol.url or short_name(symbol.doc_name)
        whole = Definition(
            symbol.title,
            url,
            symbol.name,
            symbol.kind,
            symbol.extension,
            symbol.path,
            symbol.signatures,
            unlink(symbol.purpose),
            symbol.example,
        )
        size += len(str(whole))
        found.append(whole if size < text.MAX_SIGNATURES or not found else Definition(symbol.title, url))
    most = text.MAX_SIGNATURES // 100
    rest = f"… and {len(found) - most} more." if len(found) > most else ""
    return Definitions(found[:most], rest)


def document(index: DocumentSearchIndex, page: str = "", section: str = "", part: int = 1) -> Document:
    doc, piece, of = text.part_of(text.find_doc(index, page, section), part)
    return Document(doc.title, doc.path, doc.url, piece.shown, part, of, doc.call, doc.note)


def context(
    index: DocumentSearchIndex, task: str, token_budget: int = 800, source: str = "all", kind: str = "all"
) -> Context:
    found = text.answering(index, task, token_budget, source, kind)
    passages = [Passage(short_name(p.doc_name), p.path, p.url, p.text) for p in found.passages]
    return Context(passages, index.missing_version(task) if passages else f"{found.text}\n\n{text.ELSEWHERE}")


ANSWERS: dict[str, tuple[Callable[..., Any], type]] = {
    "search_docs": (search, Found),
    "get_function_signature": (signature, Definitions),
    "get_doc": (document, Document),
    "how_do_i": (context, Context),
}
"""Tool → the function that makes its data from the index and the tool's arguments, and the type of that."""


def answer(tool: str, index: DocumentSearchIndex, arguments: tuple[Any, ...], clean: Callable[[str], str]) -> Any:
    """A tool's data as JSON has it, each text of it cleaned, with the index's own line where it is out of date."""
    data = asdict(ANSWERS[tool][0](index, *arguments))
    data["note"] = "\n\n".join(filter(None, [index.stale, data["note"]]))
    return _cleaned(data, clean)


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(inner, clean) for name, inner in value.items()}
    return [_cleaned(inner, clean) for inner in value] if isinstance(value, list | tuple) else value


@cache
def schema(tool: str) -> dict[str, Any]:
    """The JSON schema of a tool's data."""
    return TypeAdapter(ANSWERS[tool][1]).json_schema()
