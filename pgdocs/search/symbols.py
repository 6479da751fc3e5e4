"""Every name that a page defines: functions, operators, settings, commands, catalogs, types, error codes, options.

`extract(page)` reads the page format alone. What a page defines follows from where it stands (its `Path:`) and from
the shape of its text:

    - `lower ( text ) → text` {#FUNCTION-LOWER}     a list item of code: signatures, then what they do, then an example
    ### work_mem (integer) {#GUC-WORK-MEM}          a heading that is a definition: setting, option, psql command
    ```synopsis                                     a fence of prototypes
    - `relname` `name` (references …)               a column, below the caption or heading of its relation
    | `23505` | `unique_violation` |                a row of a table whose header says what it lists
    ST_Buffer — Computes …                          a reference page is about the name that it begins with
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pgdocs.pages import Block, Page, Section, split_anchors, split_blocks, split_cells, split_sections, unlink
from pgdocs.search.places import COLUMNS, NO_NAMES, extension_of, place_of
from pgdocs.search.signatures import OPERATOR, has_result, is_c_code, name_of, outside_brackets, squeeze, statements

RELATION = re.compile(r"Table \S+ `?([\w.]+)(?:\(\))?`? (?:Output )?(?:Columns|View|Catalog)")
"""The caption of a list of columns, and in it the relation that they are of."""

SETTING = re.compile(
    r"[a-z][\w.]* \([a-z_]+(?: point| precision)?\)|[A-Z][\w.]* \((?:boolean|enum|integer|string)\)|[a-z_]+ = '\w+'"
)
"""The heading of a setting: its name and its type (or the value that it may have)."""

CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
"""A code span: as many backticks behind it as before it."""

MAX_EXAMPLE = 700
"""Characters of an example, at most: it shows a call, it doesn't replace the page."""


@dataclass(frozen=True, slots=True)  # thousands of them
class Symbol:
    """One definition of a name. `signatures` are in the manual's notation, one per overload, result included.

    `url` leads to the definition; `path` is the page's. `weak` marks what is only spoken of in running text or listed
    in an overview: it counts where a name has no other definition.
    """

    name: str
    kind: str
    signatures: tuple[str, ...]
    purpose: str
    doc_name: str
    anchor: str
    url: str
    title: str
    path: tuple[str, ...]
    example: str = ""
    extension: str = ""
    aliases: tuple[str, ...] = ()
    weak: bool = False


@dataclass
class _Reader:
    """A page while it is read: where we are in it, and what has been found."""

    page: Page
    place: str
    extension: str
    found: list[Symbol] = field(default_factory=list)
    anchor: str = ""

    @property
    def is_command(self) -> bool:
        """True on the pages of commands, whose text is full of synopses that define nothing."""
        return self.place in ("command", "embedded") and self.page.kind == "reference"

    @property
    def is_program(self) -> bool:
        """True on the pages of programs, whose options are defined by list items and headings that begin with `-`."""
        return self.place in ("program", "pgbench") and self.page.kind == "reference"

    def add(
        self,
        name: str,
        kind: str,
        signatures: Iterable[str] = (),
        purpose: str = "",
        *,
        anchor: str = "",
        example: str = "",
        aliases: Iterable[str] = (),
        weak: bool = False,
    ) -> None:
        anchor = anchor or self.anchor
        page = self.page
        self.found.append(
            Symbol(
                name,
                kind,
                tuple(dict.fromkeys(signatures)),
                purpose,
                page.doc_name,
                anchor,
                page.url + (f"#{anchor}" if anchor and page.url else ""),
                page.title,
                page.path,
                example[:MAX_EXAMPLE],
                self.extension,
                tuple(alias for alias in dict.fromkeys(aliases) if alias != name),
                weak,
            )
        )


def extract(page: Page) -> list[Symbol]:
    """All definitions on a page, in the order of the text; signatures of one name are gathered where they stand."""
    if page.kind in NO_NAMES:
        return []
    reader = _Reader(page, place_of(page), extension_of(page), anchor=page.anchor)
    sections = split_sections(page)
    if page.kind == "reference":
        _reference(reader, sections)
    _types(reader, sections[0])
    for section in sections:
        reader.anchor = section.anchor or reader.anchor
        _section(reader, section)
    return _gathered(reader.found)


def _gathered(found: list[Symbol]) -> list[Symbol]:
    """One symbol per name, kind and anchor: overloads that stand in entries of their own come together."""
    together: dict[tuple[str, str, str, bool], Symbol] = {}
    for symbol in found:
        key = (symbol.name, symbol.kind, symbol.anchor, symbol.weak)
        first = together.get(key)
        together[key] = (
            symbol
            if first is None
            else replace(
                first,
                signatures=tuple(dict.fromkeys(first.signatures + symbol.signatures)),
                purpose=first.purpose or symbol.purpose,
                example=first.example or symbol.example,
                aliases=tuple(dict.fromkeys(first.aliases + symbol.aliases)),
            )
        )
    return list(together.values())


# --- a page about one name ------------------------------------------------------------------------------------


def _reference(reader: _Reader, sections: list[Section]) -> None:
    """The page's own name, from its title and the line "NAME, NAME — purpose"."""
    page = reader.page
    title, purpose, names = _bare(page.title), "", []
    for block in split_blocks(sections[0].text)[:3]:
        named = re.match(r"(?:\w+: )?(.{1,120}?) — (.+)", plain(block.text).replace("\n", " "))
        if block.kind == "text" and named:
            names, purpose = [name.strip() for name in named[1].split(", ")], named[2]
            break
    synopsis = next((s for s in sections if s.title == "Synopsis"), None)
    example = next((e for s in sections if s.title.startswith("Example") for e in _fences(s)), "")
    fences = _fences(synopsis) if synopsis else []
    prototypes = [p for p in _prototypes(synopsis, fences) if name_of(p)] if synopsis else []
    if reader.is_command or reader.is_program:
        kind = "program" if reader.is_program else reader.place
        reader.add(title, kind, fences, purpose, example=example, aliases=names)
    elif not prototypes and names:
        kind = reader.place if reader.place in ("type", "setting") else "topic"
        reader.add(title, kind, [], purpose, example=example, aliases=[page.slug])
    elif prototypes:
        defined = dict.fromkeys(name_of(p) for p in prototypes)
        for name in defined:
            own = [p for p in prototypes if name_of(p) == name]
            kind = _kind(reader, name, own[0])
            alias = [*names, page.slug] if len(defined) == 1 else []
            reader.add(name, kind, own, purpose, example=example, aliases=[*alias, title] if alias else [])


def _types(reader: _Reader, lead: Section) -> None:
    """The types that a page is about: its title begins with their name, or it says "the data type `hstore`"."""
    texts = [unlink(block.text) for block in split_blocks(lead.text) if block.kind == "text"][:4]
    text = " ".join(texts)
    if reader.place == "type":
        word = _bare(reader.page.title).partition(" ")[0].casefold()
        names = [name for name in re.findall(r"`([a-z]\w*)`", text) if name.startswith(word)]
    else:
        name = re.escape(reader.extension or " ")
        said = re.search(rf"types?,? `{name}`|`{name}` (?:data ?)?type", text)
        names = [reader.extension] if said else []
    for name in dict.fromkeys(names):
        reader.add(name, "type", [], sentence(texts[0]))


def _prototypes(synopsis: Section, fences: list[str]) -> list[str]:
    """What a synopsis prints, as list items of code or as fences."""
    items = [spans[0] for block in split_blocks(synopsis.text) if (spans := _defined(block))]
    return items or [p for fence in fences for p in statements(fence)]


# --- a section --------------------------------------------------------------------------------------------------


def _section(reader: _Reader, section: Section) -> None:
    """A heading that defines something, and the definitions in the text below it."""
    blocks = split_blocks(section.text)
    _heading(reader, section, blocks)
    if section.title == "Synopsis" and reader.page.kind == "reference":
        return
    relation, caption = "", ""
    columns: list[tuple[str, str]] = []
    for number, block in enumerate(blocks):
        if block.kind == "text":
            text, anchors = split_anchors(block.text)
            reader.anchor = (anchors or [reader.anchor])[0]
            named = RELATION.search(plain(text)) if text.lstrip("*").startswith("Table") else None
            relation, caption = (named[1], reader.anchor) if named else (relation, caption)
            _running_text(reader, text)
        elif block.kind == "table":
            _table(reader, block)
        elif block.kind == "fence":
            _fence(reader, section, blocks, number)
        elif block.kind == "item":
            column = re.match(r"- `([\w.]+)` `([^`]+)`", block.text)
            if column and (relation or _is_relation(section)):
                columns.append((column[1], column[2]))
            else:
                _item(reader, blocks, number)
    if columns:
        name = relation or _bare(section.title)
        anchor = section.anchor or caption
        reader.add(
            name,
            "catalog",
            [f"{name} ({', '.join(f'{c} {t}' for c, t in columns)})"],
            _next_text(blocks),
            anchor=anchor,
        )
        for column_name, type_ in columns:
            reader.add(
                f"{name}.{column_name}", "column", [f"{column_name} {type_}"], anchor=anchor, aliases=[column_name]
            )


def _is_relation(section: Section) -> bool:
    return bool(re.fullmatch(r"[a-z][a-z_0-9]+", _bare(section.title)))


def _heading(reader: _Reader, section: Section, blocks: list[Block]) -> None:
    """A definition with an id of its own: setting, option, psql command, C function, parameter."""
    title, purpose = section.title, _next_text(blocks)
    settings = re.split(r" ?, ", title)
    if section.anchor and all(SETTING.fullmatch(setting) for setting in settings):
        purpose = _with_default(purpose, blocks)
        for setting in settings:
            reader.add(setting.split(" ")[0], "setting", [setting], purpose, example=_first_fence(blocks))
    elif title.startswith("\\"):
        forms = re.split(r",? (?=\\)", re.sub(r" or (?=\\)", " ", title))
        names = [found[0] for form in forms if (found := re.match(r"\\(?:[A-Za-z_]+|\S)", form))]
        for name in dict.fromkeys(names):
            reader.add(
                name,
                "pgbench" if reader.place == "pgbench" else "psql",
                title.split(", \\")[:1] if len(set(names)) == 1 else [title],
                purpose,
            )
    elif title.startswith("-"):
        _option(reader, title, purpose)
    elif section.anchor and re.match(r"[\w.]+\(", title) and _is_signature(reader, title):
        name = name_of(title)
        reader.add(name, _kind(reader, name, title), [title], purpose, example=_first_fence(blocks))
    elif reader.place == "type" and section.level > 1 and re.fullmatch(r"[a-z]\w*", _bare(title)):
        reader.add(_bare(title), "type", [], purpose)
    elif section.level > 1 and section.anchor and re.fullmatch(r"[!+]?(?:[a-z]\w*|\d*[A-Z][A-Z_0-9]+)", title):
        reader.add(title, "parameter", [], purpose, weak=True)
    elif reader.is_command and re.fullmatch(r"[A-Z]{2,}(?: [A-Z]+)* Clause", title):
        form = _code(blocks[1]) if len(blocks) > 1 and blocks[1].kind == "fence" else ""
        reader.add(title.removesuffix(" Clause"), "clause", [form] * bool(form), purpose)
    else:
        named = re.search(r"\bThe (\w+)\(\) Function$", title)
        if named:
            reader.add(named[1], "function", [f"{named[1]}()"], purpose, example=_first_fence(blocks))


def _option(reader: _Reader, forms: str, purpose: str) -> None:
    """`-j njobs, --jobs=njobs`: an option of the program that the page is about."""
    program = _bare(reader.page.title) if reader.is_program else ""
    flags = re.findall(r"(?:^|(?<=[\s,`(]))(--?[A-Za-z0-9?][\w-]*)", forms)
    if flags:
        long = next((flag for flag in flags if flag.startswith("--")), flags[0])
        others = [f"{program} {flag}".strip() for flag in flags] + flags
        reader.add(f"{program} {long}".strip(), "option", [forms], purpose, aliases=others)


def _item(reader: _Reader, blocks: list[Block], number: int) -> None:
    """A list item that begins with code: signatures, or an option's forms; any other is running text."""
    block = blocks[number]
    spans = _defined(block)
    paragraphs = [unlink(p) for p in re.split(r"\n\s*\n", block.text)[1:]]
    following = blocks[number + 1 : number + 4]
    purpose = next((sentence(p.strip()) for p in paragraphs if not _is_example(p)), "") or _next_text(following)
    anchor = "".join(split_anchors(block.text.split("\n\n")[0])[1][:1])
    if spans and reader.is_program and re.match(r"--?[\w?]", spans[0]):
        _option(reader, ", ".join(spans), purpose)
        return
    if reader.place == "type" and (listed := re.findall(r"`([a-z]\w*)` — ", block.text)):
        for name in listed:
            reader.add(name, "type", [], plain(block.text.removeprefix("- ")))
        return
    if reader.place == "environment" and (variable := re.match(r"- `([A-Z]+)`", block.text)):
        reader.add(variable[1], "parameter", [], sentence(block.text.removeprefix("- ")), anchor=anchor, weak=True)
        return
    told = reader.place == "pl" or bool(paragraphs) or (bool(following) and following[0].kind == "fence")
    signatures = [span for span in spans if told and not reader.is_command and _is_signature(reader, span)]
    if not signatures:
        _running_text(reader, block.text)
        return
    example = next((p.strip().replace("`", "") for p in paragraphs if _is_example(p)), "")
    if not example and following and following[0].kind == "fence":
        example = _code(following[0])
    elif example.endswith("→") and following and following[0].kind == "fence":
        example += "\n" + _code(following[0])
    for signature in signatures:
        name = _tcl_name(reader, signature) or name_of(signature)
        reader.add(name, _kind(reader, name, signature), [signature], purpose, anchor=anchor, example=example)


def _defined(block: Block) -> list[str]:
    """The code spans that an item's first paragraph consists of; [] where it holds other words too."""
    first, _ = split_anchors(re.split(r"\n\s*\n", block.text)[0])
    text = unlink(re.sub(r"^\s*[-*+]\s+", "", first))
    only_code = re.fullmatch(r"(?:[\s,\[\]:|=.]|or\b|\(\w+\))*", CODE.sub("", text))
    return [" ".join(span.split()) for _, span in CODE.findall(text)] if only_code else []


def _is_signature(reader: _Reader, span: str) -> bool:
    """Whether an item's code is a prototype: it has a result, or arguments with types, or stands among such."""
    if has_result(span):
        return bool(name_of(span))
    if reader.place == "pl":
        return bool(re.fullmatch(r"[\w.]+\(.*\)|[a-z_]+ [?\w].*", span))
    typed = re.search(r"^\w+ \( .*\)$|[\w.\]*]\(.*\w[ *]+\w.*\)$|\(\)$", span)
    return bool(typed) and bool(name_of(span)) and ("'" not in span or " ( " in span)


def _tcl_name(reader: _Reader, signature: str) -> str:
    """Tcl calls a command by its first word, without parentheses."""
    return signature.partition(" ")[0] if reader.place == "pl" and "(" not in signature else ""


def _is_example(paragraph: str) -> bool:
    return paragraph.lstrip().startswith("`") and "` →" in paragraph


def _fence(reader: _Reader, section: Section, blocks: list[Block], number: int) -> None:
    """A fence of prototypes: one that is called a synopsis, or C and nothing else."""
    block = blocks[number]
    if reader.is_command or reader.is_program:
        return
    code = _code(block)
    if not _is_synopsis(block) and not (reader.place == "c" and is_c_code(code)):
        return
    title = _bare(section.title)
    after, before = _next_text(blocks[number + 1 : number + 3]), _next_text(blocks[:number])
    definition = bool(section.anchor) and re.fullmatch(r"\w+", section.title)
    example = next((block for block in blocks[number + 1 :] if block.kind == "fence"), Block("fence", ""))
    shown = "" if _is_synopsis(example) or is_c_code(_code(example)) else _code(example)
    for prototype in statements(code):
        name = _name_in_synopsis(reader, prototype, title)
        if name:
            purpose = before if definition and before else after or before
            reader.add(name, _kind(reader, name, prototype), [prototype], purpose, example=shown)


def _is_synopsis(block: Block) -> bool:
    return block.text.lstrip("`~ ").startswith("synopsis")


def _name_in_synopsis(reader: _Reader, prototype: str, title: str) -> str:
    """The name that a prototype in running text defines; "" for the many synopses that are commands or formats."""
    if reader.place == "plpgsql":
        statement = re.sub(r"^\[ <<label>> \] ", "", prototype)
        words = re.match(r"[A-Z]+(?: (?:\[ [A-Z]+ \] )?[A-Z]{3,})*", statement)
        name = re.sub(r"\[ [A-Z]+ \] ", "", words[0]) if words else ""
        return "" if name.startswith("SELECT") else re.sub(r" (?:WHEN|FROM)$", "", name)
    if re.fullmatch(r"[A-Z]+(?: [A-Z]+)*", title) and re.match(rf"(?:\w+ ){{0,2}}{title}\b", prototype):
        return title
    if re.fullmatch(r"\w+::\w+", prototype):
        return "::"
    if re.match(r"[A-Z]{3,} (?!FOR \(|\()[\w\[{<]", prototype) and not has_result(prototype):
        return ""
    if has_result(prototype) or re.fullmatch(r"[A-Z_]+", prototype):
        return name_of(prototype)
    calls = re.search(r"[\w)\]]\s?\(.*\)$", prototype) and not re.search(r"^'| \| ", outside_brackets(prototype))
    return name_of(prototype) if calls else ""


def _running_text(reader: _Reader, text: str) -> None:
    """Prototypes within a sentence: `errmsg(const char *msg, ...)`. Programmers' chapters document functions so."""
    if reader.place not in ("c", "extension"):
        return
    text = re.sub(r"^(?:[-*+]|\d+[.)])\s+", "", " ".join(unlink(text).split()))
    for _, span in CODE.findall(text):
        called = re.fullmatch(r"(?:\w+[ *]+)*(\w{3,})\((.*)\)", span)
        if called and not called[2] and reader.place == "c":
            continue  # only the mention of a C function
        if called and not re.search(r"['\"=]|, \d+$|^(?:\d+|[A-Z]+|\.\.\.)$", called[2]):
            said = text[: text.index(span)].rfind(". ") + 1
            reader.add(called[1], _kind(reader, called[1], span), [squeeze(span)], sentence(text[said:]), weak=True)


# --- tables -----------------------------------------------------------------------------------------------------


def _table(reader: _Reader, block: Block) -> None:
    """The rows of a table whose header says that it lists names."""
    rows = [split_cells(row) for row in block.text.split("\n")]
    head = [plain(cell).strip("*").casefold() for cell in rows[0]]
    kind = COLUMNS.get(head[0], "")
    if not kind or (kind == "type" and reader.place != "type" and head[0] != "data type"):
        return
    group = ""
    for cells in rows[2:]:
        texts = [plain(cell) for cell in cells]
        if cells[0].startswith("**"):
            group = texts[0].strip("*")
        elif kind == "errcode" and len(texts) > 1:
            reader.add(texts[1], kind, [f"{texts[0]} {texts[1]}"], group, aliases=[texts[0]])
        elif kind == "operator" and has_result(texts[0]):
            reader.add(name_of(texts[0]), kind, [texts[0]], sentence(texts[-1]))
        elif kind == "function" and re.search(r"\w\(.*\)", texts[0]) and "`" in cells[0]:
            reader.add(name_of(texts[0]), _kind(reader, "", texts[0]), [texts[0]], sentence(texts[-1]), weak=True)
        elif kind == "catalog" and "`" in cells[0]:
            reader.add(texts[0], kind, [], sentence(texts[-1]), weak=True)
        elif kind == "type" and "`" in cells[0]:
            _type(reader, texts, head)


def _type(reader: _Reader, texts: list[str], head: list[str]) -> None:
    """`bit varying [ (n) ]`, also called `varbit [ (n) ]`: without its modifiers, and with the words in brackets."""
    whole = texts[0] + (f", {texts[1]}" if "aliases" in head else "")
    plain_names = outside_brackets(whole)
    with_options = re.sub(r"[\[\]]", " ", re.sub(r"\([^()]*\)", " ", whole))
    names = [" ".join(name.split()) for name in f"{plain_names}, {with_options}".split(",")]
    description = head.index("description") if "description" in head else -1
    reader.add(names[0], "type", [], sentence(texts[description]), aliases=[name for name in names if name])


# --- small things -----------------------------------------------------------------------------------------------


def _kind(reader: _Reader, name: str, prototype: str) -> str:
    """What a prototype is: its place says it, unless its notation does."""
    if reader.place == "pgbench":
        return "pgbench"
    if name.startswith(".") or reader.place in ("pl", "plpgsql"):
        return "jsonpath" if name.startswith(".") else reader.place
    if re.fullmatch(OPERATOR, name) or (re.fullmatch(r"[A-Z ]+", name) and not prototype.startswith(name)):
        return "operator"
    if reader.place == "c" and not has_result(prototype):
        return "c"
    if re.search(r"\b(?:win)?set \w", prototype.split("(", 1)[-1]):
        return "window" if "winset " in prototype else "aggregate"
    if reader.place in ("aggregate", "window"):
        return reader.place
    keywords = re.fullmatch(r"[A-Z][A-Z_ ]+", name) and prototype.startswith(name)
    return "syntax" if keywords or "(" not in prototype else "function"


def _bare(title: str) -> str:
    """A title without its number and without what follows a dash: `52.6. pg_attrdef` → `pg_attrdef`."""
    return re.sub(r"^(?:[A-Z]\.)?[\d.]+\s+|^[A-Z](?:\.\d+)*\.\s+", "", title).split(" — ")[0].strip()


def plain(text: str) -> str:
    """Markdown without links, code marks and escapes."""
    return re.sub(r"\\([^\w\s])", r"\1", unlink(text).replace("`", "")).strip()


def sentence(text: str) -> str:
    """The first sentence of a paragraph, without links."""
    text = " ".join(unlink(text).split())
    end = re.search(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\.)[.:](?=\s+[A-Z`(“])|\.$", text)
    return text[: end.start() + 1].rstrip(":") if end else text[:300]


def _next_text(blocks: Iterable[Block]) -> str:
    for block in blocks:
        if block.kind == "text" and not block.text.startswith("**"):
            return sentence(split_anchors(block.text)[0])
        if block.kind in ("item", "heading", "table"):
            break
    return ""


def _with_default(purpose: str, blocks: list[Block]) -> str:
    """A setting's purpose, with the sentences that give its default and its unit."""
    texts = " ".join(" ".join(unlink(block.text).split()) for block in blocks if block.kind == "text")
    sentences = re.split(r"(?<=[.)])\s+(?=[A-Z])", texts)
    default = next((s for s in sentences if re.search(r"\b[Dd]efault", s)), "")
    unit = next((s for s in sentences if "without units" in s), "")
    return " ".join(dict.fromkeys(s for s in (purpose, default, unit) if s))


def _fences(section: Section) -> list[str]:
    return [_code(block) for block in split_blocks(section.text) if block.kind == "fence"]


def _first_fence(blocks: Iterable[Block]) -> str:
    return next((_code(block) for block in blocks if block.kind == "fence"), "")


def _code(block: Block) -> str:
    return "\n".join(block.text.split("\n")[1:-1])
