"""Names and their definitions, from invented pages in the page format, family by family."""

from __future__ import annotations

import time

import pytest

from pgdocs.pages import Page
from pgdocs.search.names import SymbolTable, readings
from pgdocs.search.places import KINDS, PLACES
from pgdocs.search.signatures import compact, is_c_code, name_of, statements
from pgdocs.search.symbols import Symbol, extract

PRODUCT = "Larder 4"


def page(
    body: str, *path: str, title: str = "9.1. Jars", kind: str = "guide", name: str = "pg__jars", anchor: str = "JARS"
) -> Page:
    return Page(name, title, anchor, f"https://example.org/{name}.html", (PRODUCT, *path), kind, body)


def table(*pages: Page) -> SymbolTable:
    return SymbolTable(symbol for one in pages for symbol in extract(one))


def only(symbols: list[Symbol]) -> Symbol:
    assert len(symbols) == 1, symbols
    return symbols[0]


JARS = page(
    """**Table 9.1. Functions of jars** {#JAR-FUNCTIONS}

- `fill_jar ( jar jam [, level integer ] ) → jam`
  `fill_jar ( jar pickle ) → pickle`

  Fills a jar, see [Section 3](x.html). Says nothing else.

  `fill_jar('plum', 3)` → `plum!`
- `seal ( jam ) → boolean` {#FUNCTION-SEAL}

  Closes it.
- `jam ->>> integer → text`

  Takes a spoonful as text.

  `'plum' ->>> 2` → `pl`
- `jam ->>> text → text`

  Takes a named spoonful.
- `jam IS [NOT] SEALED → boolean`

  Looks.
- `- jam → jam`

  Empties.
- `today_jar → jam`

  The jar of the day.
""",
    "Part II. Pantry",
)


def test_overloads_of_an_entry_come_with_purpose_example_and_url() -> None:
    """A function table's entry gives all its signatures, the first sentence, the first example and a link to it."""
    symbol = only(table(JARS).find("fill_jar"))
    assert symbol.signatures == (
        "fill_jar ( jar jam [, level integer ] ) → jam",
        "fill_jar ( jar pickle ) → pickle",
    )
    assert symbol.purpose == "Fills a jar, see Section 3."
    assert symbol.example == "fill_jar('plum', 3) → plum!"
    assert symbol.url == "https://example.org/pg__jars.html#JAR-FUNCTIONS"
    assert (symbol.kind, symbol.path) == ("function", (PRODUCT, "Part II. Pantry"))


def test_an_entry_with_an_id_of_its_own_is_linked_there() -> None:
    """`seal` has its own anchor: the link leads there, not to the table."""
    assert only(table(JARS).find("seal")).anchor == "FUNCTION-SEAL"


def test_operators_gather_their_forms_and_answer_for_the_operands_asked() -> None:
    """`->>>` gives both forms; `jam ->>> text`, with or without blanks, gives the form that was asked for first."""
    names = table(JARS)
    forms = only(names.find("->>>")).signatures
    assert forms == ("jam ->>> integer → text", "jam ->>> text → text")
    assert only(names.find("jam ->>> text")).signatures[0] == forms[1]
    assert only(names.find("jam->>>text")).signatures[0] == forms[1]
    assert only(names.find("what ->>> does")).signatures == forms


def test_constructs_without_parentheses_are_names_too() -> None:
    """A keyword operator, a unary operator and a parameterless construct are found as they are written."""
    names = table(JARS)
    assert only(names.find("is sealed")).signatures == ("jam IS [NOT] SEALED → boolean",)
    assert only(names.find("-")).signatures == ("- jam → jam",)
    assert only(names.find("TODAY_JAR")).kind == "syntax"


@pytest.mark.parametrize(
    "typed",
    ["fill_jar", "FILL_JAR", "pantry.fill_jar", "fill_jar()", "fill_jar(", "fill_jar('plum', now())", " `fill_jar`; "],
)
def test_a_name_is_found_however_it_is_typed(typed: str) -> None:
    """Case, schema, parentheses, arguments, quotes and a semicolon don't matter."""
    assert only(table(JARS).find(typed)).name == "fill_jar"


@pytest.mark.parametrize("typed", ["", "   ", ";", "no_such_jar", "((", "\\", "\x00", "%" * 5000])
def test_what_is_no_name_finds_nothing(typed: str) -> None:
    """Nonsense gives an empty answer, not an error and not some other name."""
    names = table(JARS)
    assert names.find(typed) == []
    assert isinstance(names.near(typed), list)


def test_near_names_are_those_that_differ_by_a_letter_or_two() -> None:
    """A slip of the pen is answered with the name that was meant; a short or far word with none."""
    names = table(JARS)
    assert names.near("fil_jar") == ["fill_jar"]
    assert names.near("fill_jra()")[:1] == ["fill_jar"]
    assert names.near("ab") == []
    assert names.near("completely_else") == []


def test_a_synopsis_fence_is_cut_into_its_prototypes() -> None:
    """Several prototypes of a fence, over several lines, go to their own names; other fences are only examples."""
    body = """## Sealing {#SEALING}

```synopsis
wax ( jar jam,
      colour text ) → jam

unwax ( jar jam ) returns jam
LIDS ( [ colour ] )
```

Puts wax on.

```
wax ( 'plum', 'red' )
```
"""
    names = table(page(body))
    assert only(names.find("wax")).signatures == ("wax ( jar jam, colour text ) → jam",)
    assert only(names.find("wax")).example == "wax ( 'plum', 'red' )"
    assert only(names.find("unwax")).purpose == "Puts wax on."
    assert only(names.find("LIDS")).kind == "syntax"


def test_c_prototypes_are_found_in_programmers_chapters_only() -> None:
    """A fence of C on a page about an interface defines functions and callbacks; elsewhere it is an example."""
    body = """```
Jar *
OpenJar (Shelf *shelf, /* which one */
         int number);
```

Opens.

```
void (*OnOpen) (Jar *jar);
```
"""
    names = table(page(body, "Part V. Server Programming"))
    assert only(names.find("OpenJar")).signatures == ("Jar * OpenJar (Shelf *shelf, int number)",)
    assert only(names.find("onopen")).kind == "c"
    assert table(page(body, "Part I. Tutorial")).names == []


def test_prototypes_in_running_text_count_where_there_is_no_other() -> None:
    """`jarerr(const char *msg)` in a sentence defines it; a call of a function that is defined elsewhere does not."""
    body = """- `jarerr(const char *msg, ...)` reports a broken jar.

Calls `OpenJar(shelf)` first.

## OpenJar {#OPENJAR}

Opens.

```synopsis
Jar *OpenJar(Shelf *shelf);
```
"""
    names = table(page(body, "Part V. Server Programming"))
    assert only(names.find("jarerr")).signatures == ("jarerr(const char *msg, ...)",)
    assert only(names.find("jarerr")).purpose.endswith("reports a broken jar.")
    assert only(names.find("OpenJar")).signatures == ("Jar *OpenJar(Shelf *shelf)",)


def test_a_reference_page_is_found_by_its_title_and_by_what_it_defines() -> None:
    """A page whose synopsis prints another name is found under both, and by its slug."""
    body = """Name: Jar_Lid — Makes a lid. Or two.

## Synopsis

- `lid Jar_LidOf(jam plum, text colour = 'a;(b')`
- `lid Jar_LidOf(jam plum)`

## Examples

```
SELECT Jar_Lid(p);
```
"""
    names = table(
        page(body, "7.1. Lids", title="Jar_Lid", kind="reference", name="gis__RT_Jar_Lid", anchor="RT_Jar_Lid")
    )
    for typed in ("Jar_LidOf", "jar_lid", "RT_Jar_Lid"):
        symbol = only(names.find(typed))
        assert symbol.signatures == ("lid Jar_LidOf(jam plum, text colour = 'a;(b')", "lid Jar_LidOf(jam plum)")
        assert symbol.example == "SELECT Jar_Lid(p);"


def test_the_kind_of_a_function_shows_in_its_notation() -> None:
    """`jam set` is an aggregate's argument, `winset` a window function's."""
    assert name_of("jam JarUnion(jam set jars)") == "JarUnion"
    body = "Name: JarUnion — Joins.\n\n## Synopsis\n\n- `jam JarUnion(jam set jars)`\n- `jam JarUnion(jam one)`"
    found = extract(page(body, "7.1. Lids", title="JarUnion", kind="reference"))
    assert {symbol.kind for symbol in found} == {"aggregate"}


def test_settings_say_their_type_default_and_unit() -> None:
    """A setting's heading is its signature; its purpose goes on with the default and the unit."""
    body = """### shelf_mem (integer) {#GUC-SHELF-MEM}

Sets the room. More words. If this value is specified without units, it is taken as jars. The default is 4 jars (`4J`).

### shelf_light (boolean) , shelf_door (enum) {#GUC-SHELF-LIGHT}

Both at once.
"""
    names = table(page(body))
    symbol = only(names.find("SHELF_MEM"))
    assert (symbol.kind, symbol.signatures, symbol.anchor) == ("setting", ("shelf_mem (integer)",), "GUC-SHELF-MEM")
    assert symbol.purpose == (
        "Sets the room. The default is 4 jars (`4J`). If this value is specified without units, it is taken as jars."
    )
    assert only(names.find("shelf_door")).signatures == ("shelf_door (enum)",)


def test_commands_print_their_synopsis_and_answer_to_every_name_of_the_page() -> None:
    """The synopsis of a command is one signature, line by line; its clauses are found too, after commands."""
    body = """STORE JAR, KEEP — store a jar

## Synopsis

```synopsis
STORE [ ALL ] JAR name
    [ ON SHELF number ]
```

## ON SHELF Clause {#SQL-SHELF}

Where it goes:

```
ON SHELF number
```

- `WITH ( lid [, ...] )`

  No function.
"""
    names = table(page(body, "Part VI. Reference", "SQL Commands", title="STORE JAR", kind="reference"))
    assert only(names.find("store  jar")).signatures == ("STORE [ ALL ] JAR name\n    [ ON SHELF number ]",)
    assert only(names.find("KEEP")).purpose == "store a jar"
    assert only(names.find("ON SHELF")).signatures == ("ON SHELF number",)
    assert names.find("WITH") == []


def test_options_are_found_with_and_without_their_program() -> None:
    """`jarctl -s`, `jarctl --size=3` and `--size` lead to the option, whether it has an anchor or not."""
    body = """jarctl — controls jars

## Synopsis

```synopsis
jarctl [option...]
```

## Options

- `-s number`, `--size=number`

  How big.

### -q, --quiet {#JARCTL-QUIET}

Says nothing.
"""
    names = table(page(body, "Part VI. Reference", "Larder Client Applications", title="jarctl", kind="reference"))
    for typed in ("jarctl -s", "jarctl --size=3", "--size", "-s"):
        assert only(names.find(typed)).purpose == "How big."
    assert only(names.find("jarctl --quiet")).anchor == "JARCTL-QUIET"
    assert only(names.find("jarctl")).signatures == ("jarctl [option...]",)
    assert "jarctl --size" not in names.names


def test_backslash_commands_keep_their_case() -> None:
    r"""`\jA` is not `\ja`; modifiers behind a command are no part of its name."""
    body = """#### \\ja[Sx] [ pattern ] {#JA-LC}

Lists jars.

#### \\jA[x+] {#JA-UC}

Lists shelves.

#### \\o or \\out [ file ] {#OUT}

Sends.
"""
    names = table(page(body))
    assert only(names.find("\\ja")).anchor == "JA-LC"
    assert only(names.find("\\jA+")).anchor == "JA-UC"
    assert only(names.find("\\out")).anchor == only(names.find("\\o")).anchor == "OUT"


def test_a_relation_has_its_columns_and_each_column_is_found() -> None:
    """A catalog prints its columns with their types; a column is found with and without its relation."""
    body = """The catalog `jar_shelf` stores shelves.

**Table 52.1. `jar_shelf` Columns**

- `oid` `oid`

  Row identifier

- `shname` `name` (references [`jar_room`](r.html).`oid`)

  Name of it
"""
    names = table(page(body, "Part VII. Internals", title="52.1. jar_shelf", kind="reference"))
    symbol = only(names.find("pantry.jar_shelf"))
    assert (symbol.kind, symbol.signatures) == ("catalog", ("jar_shelf (oid oid, shname name)",))
    assert symbol.purpose == "The catalog `jar_shelf` stores shelves."
    assert only(names.find("shname")).name == only(names.find("jar_shelf.shname")).name == "jar_shelf.shname"


def test_error_codes_are_found_by_code_and_by_condition() -> None:
    """`99J01` and its condition name are one definition, with the class that it is in."""
    body = """| Error Code | Condition Name |
| --- | --- |
| **Class 99 — Broken Jars** |  |
| `99J01` | `jar_broken` |
"""
    names = table(page(body))
    assert only(names.find("99J01")) == only(names.find("JAR_BROKEN"))
    assert only(names.find("99j01")).signatures == ("99J01 jar_broken",)
    assert only(names.find("99J01")).purpose == "Class 99 — Broken Jars"


def test_types_are_found_by_aliases_modifiers_and_the_page_about_them_comes_first() -> None:
    """`jamz`, `jam(3)` and `jam[]` are the type; its own page goes before the overview."""
    overview = page(
        "| Name | Aliases | Description |\n| --- | --- | --- |\n"
        "| `jam [ (p, s) ] with sugar` | `jamz`, `sweet` | sugared |\n| `jam [ (n) ] [ without sugar ]` |  | plain |\n",
        title="Chapter 8. Data Types",
        name="pg__types",
    )
    own = page(
        "| Name | Storage Size | Description |\n| --- | --- | --- |\n| `jam [ (p, s) ] with sugar` | 8 bytes | own |\n",
        "Chapter 8. Data Types",
        name="pg__types-jam",
    )
    names = table(overview, own)
    assert [symbol.purpose for symbol in names.find("jamz")] == ["own", "sugared"]
    assert only(names.find("jam(3)")).purpose == "plain"
    assert only(names.find("jam[]")) == only(names.find("jam without sugar"))


def test_core_before_extensions_and_sources_in_their_order() -> None:
    """Of the same operator in core, an extension and another source, that is the order of the answer."""
    entry = "- `jam && jam → boolean`\n\n  Meets."
    contrib = page(entry, "Additional Supplied Modules", title="F.9. jars — more jars", name="pg__a_contrib")
    core = page(entry, "Part II. Pantry", name="pg__z_core")
    other = page(entry, name="gis__a")
    found = table(contrib, core, other).find("&&")
    assert [symbol.doc_name for symbol in found] == ["pg__z_core", "pg__a_contrib", "gis__a"]
    assert [symbol.extension for symbol in found] == ["", "jars", ""]


def test_release_notes_and_lists_of_links_define_nothing() -> None:
    """A page that only speaks of names is never the definition of one."""
    assert extract(page(JARS.body, kind="release")) == extract(page(JARS.body, kind="contents")) == []


def test_statements_keep_what_belongs_together() -> None:
    """A prototype ends at `;`, at a blank line or where the next begins, never within brackets."""
    assert statements("a ( x,\n  y ) → z\nb ( ) → c\n") == ["a ( x, y ) → z", "b ( ) → c"]
    assert statements("int\nf (int a,\n   int b);\nvoid g(void);") == ["int f (int a, int b)", "void g(void)"]
    assert statements("a(x text)\nreturns setof record\nb(y text)\nreturns int") == [
        "a(x text) returns setof record",
        "b(y text) returns int",
    ]


@pytest.mark.parametrize(
    ("prototype", "name"),
    [
        ("jar * (*MakeJar) (int size)", "MakeJar"),
        ("typedef void (*JarCB) (struct Jar *jar)", "JarCB"),
        ("void *jar_find(const char *name, void (*init) (void *p))", "jar_find"),
        ("(jam, jam) jar_split(jam one)", "jar_split"),
        ("(1) jam jar_one(jam one)", "jar_one"),
        ("double precision <~>( jam A , jam B )", "<~>"),
        ('LABEL FOR ( "any" ) → text', "LABEL FOR"),
        ("(a1, b1) TOUCHES (a2, b2)", "TOUCHES"),
        ("jar . lids() → number", ".lids()"),
        ("expression NOT IN (subquery)", "NOT IN"),
        ("jam | jam → jam", "|"),
        ("jam", "jam"),
        ("", ""),
    ],
)
def test_the_name_in_a_prototype(prototype: str, name: str) -> None:
    """Whatever the notation, the name that is defined is told from types, operands and callbacks."""
    assert name_of(prototype) == name


def test_sql_is_not_mistaken_for_c() -> None:
    """A call, a query and a statement are no prototypes, though they look like it."""
    assert is_c_code("Jar *f(int a);\nextern PGDLLIMPORT int b;")
    assert not is_c_code("SELECT f(a);")
    assert not is_c_code("CALL fill(1, 2);")
    assert not is_c_code("return f(a);")


def test_compact_sees_through_white_space_comments_and_void() -> None:
    """Two prints of one prototype compare equal."""
    assert compact("int f ( void ) ;") == compact("int  f(/* nothing */)") == "intf()"


def test_every_place_and_symbol_has_a_kind_in_words() -> None:
    """No kind that a page can give is without words and rank in an answer."""
    known = set(KINDS) | {"extension", "environment"}
    assert {kind for _, kind in PLACES} <= known
    assert {symbol.kind for symbol in extract(JARS)} <= set(KINDS)


def test_readings_never_go_wild() -> None:
    """However long or odd a text is, its readings are few and come at once."""
    started = time.perf_counter()
    for text in ("(" * 3000, "a " * 3000, "- " * 3000, "->" * 3000, "\\" * 3000, "a.b." * 3000, "[" * 3000):
        assert len(readings(text)) < 12
    assert time.perf_counter() - started < 2
