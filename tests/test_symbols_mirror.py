"""Every name of both manuals resolves: the symbol table against a truth read from the HTML by selectors.

Nothing here uses the product's parsers but to compare: the HTML is read with lxml, the names with XPath. The manuals
are those of `PGDOCS_MIRROR` (a folder or an archive of both sites); the pages are scraped from it once.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from lxml import html

from pgdocs.pages import read_page
from pgdocs.search.cache import COUNTERPARTS, PHRASES_DIR
from pgdocs.search.names import SymbolTable
from pgdocs.search.symbols import Symbol, extract

ROOT = Path(__file__).resolve().parent.parent
MIRROR = Path(os.environ.get("PGDOCS_MIRROR") or ROOT.parent / "shared" / "manuals" / "manuals.tar.xz")
SITES = {"pg": "www.postgresql.org/docs/18/", "postgis": "postgis.net/docs/manual-3.5/"}

PROTOTYPE_PAGES = (
    r"fdw-callbacks|fdw-helpers|index-functions|tablesample|custom-scan|logicaldecoding-output|archive-mod|oauth-v"
)
"""Chapters whose blocks of code are prototypes of C functions."""

SYNOPSIS_PAGES = (
    r"ecpg-|lo-interfaces|functions-xml|textsearch-|pgcrypto|fuzzystrmatch|tablefunc|xml2|unaccent|pgprewarm"
)
"""Pages whose synopses are signatures; elsewhere they are commands and formats too."""

pytestmark = pytest.mark.skipif(not MIRROR.exists(), reason="needs a mirror of both manuals: set PGDOCS_MIRROR")


@dataclass
class Truth:
    """What the HTML says: (name, slug of the page, detail) each; the detail is a signature, an id, a column …"""

    signatures: list[tuple[str, str, str]] = field(default_factory=list)
    operators: list[tuple[str, str, str]] = field(default_factory=list)
    prototypes: list[tuple[str, str, str]] = field(default_factory=list)
    terms: list[tuple[str, str, str]] = field(default_factory=list)
    c_functions: list[tuple[str, str, str]] = field(default_factory=list)
    blocks: list[tuple[str, str, str]] = field(default_factory=list)
    references: list[tuple[str, str, str]] = field(default_factory=list)
    settings: list[tuple[str, str, str]] = field(default_factory=list)
    commands: list[tuple[str, str, str]] = field(default_factory=list)
    columns: list[tuple[str, str, str]] = field(default_factory=list)
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    psql: list[tuple[str, str, str]] = field(default_factory=list)
    types: list[tuple[str, str, str]] = field(default_factory=list)
    options: list[tuple[str, str, str]] = field(default_factory=list)
    pages: list[tuple[str, str, str]] = field(default_factory=list)


def text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().replace("\u200b", "").replace("\u00a0", " ").split())


def squash(signature: str) -> str:
    """White space, comments and a `;` at the end aside."""
    bare = re.sub(r"/\*.*?\*/", "", signature, flags=re.DOTALL).replace("\u200b", "").replace("\u00a0", "")
    return re.sub(r"\s+", "", bare).rstrip(";").replace("(void)", "()").casefold()


def html_pages() -> Iterator[tuple[str, str, bytes]]:
    """(source, slug, bytes) of every page of the mirror."""
    if MIRROR.is_dir():
        for source, site in SITES.items():
            for file in sorted((MIRROR / site).glob("*.html")):
                yield source, file.stem, file.read_bytes()
        return
    with tarfile.open(fileobj=io.BytesIO(MIRROR.read_bytes())) as archive:
        for member in archive:
            for source, site in SITES.items():
                head, found, name = member.name.partition(site)
                if found and not head.strip("./") and name.endswith(".html") and "/" not in name:
                    content = archive.extractfile(member)
                    if content:
                        yield source, Path(name).stem, content.read()


@pytest.fixture(scope="module")
def truth() -> Truth:
    found = Truth()
    for source, slug, data in html_pages():
        if re.match(r"release|bookindex|postgis$|postgis-en$|.*cheatsheet|PostGIS_Special", slug):
            continue
        tree = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
        content = tree.xpath("//*[@id='docContent']")
        read_pg(found, slug, content[0]) if source == "pg" and content else read_postgis(found, slug, tree)
    return found


def read_pg(truth: Truth, slug: str, page: html.HtmlElement) -> None:
    for signature in page.xpath(".//td[contains(@class,'func_table_entry')]/p[contains(@class,'func_signature')]"):
        names = [text(code) for code in signature.xpath(".//code[@class='function']")]
        literals = [text(code) for code in signature.xpath(".//code[@class='literal']")]
        symbols = [word for word in literals if re.fullmatch(r"[-+*/<>=~!@#%^&|`?]+", word)]
        if names and "." not in text(signature).split("(")[0]:
            truth.signatures.append((names[0], slug, text(signature)))
        elif symbols:
            truth.operators.append((symbols[0], slug, text(signature)))
    for row in page.xpath(".//tr[th[.='Operator']]/ancestor::table[1]//tr[td]"):
        literals = row.xpath("./td[1]/code[@class='literal']")
        if literals and "→" in text(row.xpath("./td[1]")[0]):
            truth.operators.append((text(literals[0]), slug, text(row.xpath("./td[1]")[0])))
    for term in page.xpath(".//dt[not(ancestor::div[@class='toc'])]//code[@class='function'][contains(., '(')]"):
        called = re.match(r"(?:[\w ]+[ *]+)?(\w+) ?\(", text(term))
        if called:
            truth.terms.append((called[1], slug, text(term)))
    for term in page.xpath(".//dt[starts-with(@id,'LIBPQ-PQ')][.//code[@class='function']]"):
        synopses = term.xpath("./following-sibling::dd[1]//pre[@class='synopsis']")
        if synopses:
            truth.c_functions.append(
                (text(term.xpath(".//code[@class='function']")[0]), slug, squash(text(synopses[0])))
            )
    for block in page.xpath(".//pre[@class='synopsis' or @class='programlisting']"):
        if re.match(PROTOTYPE_PAGES, slug) or (block.get("class") == "synopsis" and re.match(SYNOPSIS_PAGES, slug)):
            code = re.sub(r"/\*.*?\*/", "", block.text_content().strip(), flags=re.DOTALL)
            pointer = re.match(r"[\w\s]+\*?\(\*(\w+)\) ?\(", code)
            called = re.match(r"(?:[\w]+[\s*]+)*(\w+) ?\([^;]*\)", code)
            if (pointer or called) and not re.search(r"['{=]|^(?:return|SELECT|CREATE)", code):
                truth.blocks.append(((pointer or called)[1], slug, squash(code)))  # type: ignore[index]
    titles = page.xpath(".//div[@class='refnamediv']//span[@class='refentrytitle']")
    synopses = page.xpath(".//div[@class='refsynopsisdiv']//pre[@class='synopsis']")
    if titles and slug.startswith(("spi-", "contrib-dblink")):
        truth.references.append((text(titles[0]), slug, squash(text(synopses[0]))))
    if titles and slug.startswith("sql-"):
        truth.commands.append((text(titles[0]), slug, squash(text(synopses[0]))))
    for term in page.xpath(".//dt[starts-with(@id,'GUC-')]"):
        for name in term.xpath(".//code[@class='varname']|.//code[@class='literal'][not(../code[@class='varname'])]"):
            truth.settings.append((re.split(r"[ (]", text(name))[0], slug, term.get("id")))
    for table in page.xpath(".//div[@class='table'][.//p[@class='column_definition']]"):
        relation = text(table.xpath(".//p[@class='title']")[0]).split(". ", 1)[1].split(" ")[0].removesuffix("()")
        for column in table.xpath(".//p[@class='column_definition']/code[@class='structfield'][1]"):
            truth.columns.append((relation, slug, text(column)))
    for row in page.xpath(".//tr[td[1]/code[@class='literal']][td[2]/code[@class='symbol']]"):
        if slug == "errcodes-appendix":
            truth.errors.append((text(row[0]), slug, text(row[1])))
    for term in page.xpath(".//dt[starts-with(@id,'APP-PSQL-META-COMMAND') or starts-with(@id,'PSQL-METACOMMAND')]"):
        for code in term.xpath(".//span[@class='term']//code[@class='literal']"):
            command = re.match(r"\\(?:[A-Za-z_]+|\S)", text(code))
            if command:
                truth.psql.append((command[0], slug, term.get("id")))
    if slug == "datatype":
        for row in page.xpath(".//div[@class='table']//tr[td]"):
            cells = [" ".join(re.sub(r"\[[^\]]*\]", " ", text(cell)).split()) for cell in row]
            for name in [cells[0], *(cells[1].split(", ") if cells[1] else [])]:
                truth.types.append((name, slug, cells[2]))
    program = page.xpath(".//div[@class='refnamediv']//span[@class='refentrytitle']//text()")
    if program and re.search(
        r"reference-(?:client|server)|contrib-prog", " ".join(page.xpath(".//a[@accesskey='u']/@href"))
    ):
        for term in page.xpath(".//dt[starts-with(normalize-space(.), '-')]//code[@class='option']"):
            flag = re.match(r"--?[\w?][\w-]*", text(term))
            if flag:
                truth.options.append((f"{program[0].strip()} {flag[0]}", slug, flag[0]))


def read_postgis(truth: Truth, slug: str, page: html.HtmlElement) -> None:
    if page.xpath("//body/div[@class='refentry']"):
        truth.pages.append((text(page.xpath("//div[@class='refnamediv']/p")[0]).split(" — ")[0], slug, ""))
    for prototype in page.xpath("//div[@class='funcsynopsis']/p"):
        name = prototype.xpath(".//*[@class='fsfunc']")
        truth.prototypes.append((text(name[0]), slug, text(prototype)))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> SymbolTable:
    """The symbols of pages scraped from the mirror by the product; `PGDOCS_DOCS` may name such pages."""
    docs = Path(os.environ.get("PGDOCS_MIRROR_DOCS") or tmp_path_factory.mktemp("docs"))
    if not any(docs.glob("*.md")):
        command = [sys.executable, str(ROOT / "scrape_docs.py"), "--out", str(docs), "--delay", "0"]
        sources = [argument for source in SITES for argument in ("--from", f"{source}={MIRROR}")]
        subprocess.run([*command, *sources], check=True, capture_output=True, timeout=300)
    pages = [read_page(file, docs) for file in sorted(docs.glob("*.md"))]
    return SymbolTable(symbol for page in pages for symbol in extract(page))


def defined(table: SymbolTable, name: str, slug: str) -> list[Symbol]:
    """The definitions of a name that are on this page."""
    return [symbol for symbol in table.find(name) if symbol.doc_name.split("__", 1)[1] == slug]


def missing_signatures(table: SymbolTable, wanted: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [
        (name, slug, signature)
        for name, slug, signature in wanted
        if squash(signature) not in {squash(one) for s in defined(table, name, slug) for one in s.signatures}
    ]


def test_every_row_of_a_function_table_is_a_signature_of_its_name(table: SymbolTable, truth: Truth) -> None:
    """Asking for any function of a function table prints its signature as the manual has it, result included."""
    assert len(truth.signatures) > 900
    assert missing_signatures(table, truth.signatures) == []


def test_every_operator_is_found_by_its_symbol(table: SymbolTable, truth: Truth) -> None:
    """Asking for `->>` prints all its forms with operands and results, of core, contrib and PostGIS."""
    assert len(truth.operators) > 300
    assert missing_signatures(table, truth.operators) == []


def test_what_stands_for_another_products_name_is_defined(table: SymbolTable) -> None:
    """`group_concat` leads to string_agg: every name on our side of the list is one of the manuals'."""
    lines = (PHRASES_DIR / COUNTERPARTS).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    assert [(theirs, name) for theirs, ours in rows for name in ours.split(", ") if not table.find(name)] == []


def test_every_prototype_of_postgis_is_found(table: SymbolTable, truth: Truth) -> None:
    """Every overload of a PostGIS function or operator is under its name, verbatim."""
    assert len(truth.prototypes) > 950
    assert missing_signatures(table, truth.prototypes) == []


def test_every_postgis_page_is_found_under_its_own_name(table: SymbolTable, truth: Truth) -> None:
    """A page of PostGIS is found by the name in its title, also where its synopsis names another function."""
    assert len(truth.pages) == 672
    assert [(n, slug) for n, slug, _ in truth.pages if not all(defined(table, one, slug) for one in n.split("/"))] == []


def test_every_signature_in_a_list_of_terms_is_found(table: SymbolTable, truth: Truth) -> None:
    """amcheck, pageinspect, gin …: a term that is a whole prototype is that name's signature."""
    assert len(truth.terms) > 70
    assert missing_signatures(table, truth.terms) == []


def test_every_function_of_libpq_has_its_prototype(table: SymbolTable, truth: Truth) -> None:
    """Each documented libpq function gives its C prototype, also where the synopsis defines a struct beside it."""
    assert len(truth.c_functions) > 150
    lost = [
        (name, slug)
        for name, slug, synopsis in truth.c_functions
        if not any(squash(one) in synopsis for s in defined(table, name, slug) for one in s.signatures)
    ]
    assert lost == []


NO_PROTOTYPES = {
    "OutputPluginPrepareWrite": "a sequence of calls; its prototype is in running text",
    "method_name": "stands for any name",
}
"""Blocks that look like prototypes and are none, with the reason."""


def test_every_block_of_prototypes_is_found_by_its_first_name(table: SymbolTable, truth: Truth) -> None:
    """Callbacks of foreign data wrappers and index methods, pgtypes, XML and crypto functions: as the block prints."""
    assert len(truth.blocks) > 250
    lost = [
        (name, slug)
        for name, slug, code in truth.blocks
        if name not in NO_PROTOTYPES
        and not any(squash(one) in code for s in defined(table, name, slug) for one in s.signatures)
    ]
    assert lost == []


def test_every_reference_page_of_spi_and_dblink_has_its_signatures(table: SymbolTable, truth: Truth) -> None:
    """The synopsis of each SPI and dblink page is what its functions print, whole."""
    assert len(truth.references) > 60
    lost = []
    for name, slug, synopsis in truth.references:
        rest = synopsis
        for symbol in defined(table, name, slug):
            for one in symbol.signatures:
                rest = rest.replace(squash(one), "")
        if rest.strip(";"):
            lost.append((name, slug, rest))
    assert lost == LEFT_OVER_IN_SYNOPSES


LEFT_OVER_IN_SYNOPSES: list[tuple[str, str, str]] = []


def test_every_setting_is_found_at_its_own_anchor(table: SymbolTable, truth: Truth) -> None:
    """Each `GUC-` definition resolves to itself: 415 settings, and four values of one of them."""
    assert len({anchor for _, _, anchor in truth.settings}) == 419
    lost = [
        (name, anchor)
        for name, slug, anchor in truth.settings
        if not any(s.kind in ("setting", "parameter") and s.anchor == anchor for s in defined(table, name, slug))
    ]
    assert lost == []


def test_every_command_prints_its_synopsis(table: SymbolTable, truth: Truth) -> None:
    """CREATE INDEX and its like print the whole synopsis of their page; SELECT's page is TABLE's and WITH's too."""
    assert len(truth.commands) == 183
    lost = [
        (name, slug)
        for name, slug, synopsis in truth.commands
        if not any(
            s.kind == "command" and synopsis in squash("".join(s.signatures)) for s in defined(table, name, slug)
        )
    ]
    assert lost == []
    assert [table.find(name)[0].doc_name for name in ("TABLE", "WITH")] == ["pg__sql-select"] * 2


def test_every_catalog_and_view_has_all_its_columns(table: SymbolTable, truth: Truth) -> None:
    """System catalogs, views, the information schema and the statistics views: each column of each."""
    assert len({name for name, _, _ in truth.columns}) >= 190
    columns = {
        (s.name, slug): " ".join(s.signatures)
        for name, slug, _ in truth.columns
        for s in defined(table, name, slug)
        if s.kind == "catalog"
    }
    lost = [
        (n, slug, c)
        for n, slug, c in truth.columns
        if not re.search(rf"[( ]{re.escape(c)} ", columns.get((n, slug), ""))
    ]
    assert lost == []


def test_every_error_code_is_found_by_code_and_by_condition(table: SymbolTable, truth: Truth) -> None:
    """`23505` and `unique_violation` lead to the same row, and so for all SQLSTATEs."""
    assert len(truth.errors) > 240
    lost = []
    for code, slug, condition in truth.errors:
        for name in (code, condition):
            if not any(f"{code} {condition}" in s.signatures for s in defined(table, name, slug)):
                lost.append((code, condition))
    assert lost == []


def test_every_psql_command_is_found_in_its_exact_case(table: SymbolTable, truth: Truth) -> None:
    r"""`\dA` is not `\da`: each meta-command resolves to its own definition."""
    assert len(truth.psql) > 110
    lost = [
        (n, a)
        for n, slug, a in truth.psql
        if not any(s.kind == "psql" and s.anchor == a for s in defined(table, n, slug))
    ]
    assert lost == []


def test_every_data_type_is_found_by_its_names_and_aliases(table: SymbolTable, truth: Truth) -> None:
    """`timestamptz`, `int8`, `character varying`: all names in the overview of data types."""
    assert len(truth.types) > 55
    lost = [name for name, slug, _ in truth.types if not any(s.kind == "type" for s in defined(table, name, slug))]
    assert lost == []


def test_every_option_of_a_program_is_found(table: SymbolTable, truth: Truth) -> None:
    """`pg_dump --jobs` and `pg_dump -j` lead to the option on the page of the program."""
    assert len(truth.options) > 700
    lost = [
        (n, slug) for n, slug, flag in truth.options if not any(s.kind == "option" for s in defined(table, n, slug))
    ]
    assert lost == []
