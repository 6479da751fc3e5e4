"""The conversion, family by family: invented DocBook pages in the shapes that the two manuals use."""

from __future__ import annotations

import pytest

from pgdocs.errors import ScrapeError
from pgdocs.pages import links
from pgdocs.scrape.convert import Converted, convert, edition
from pgdocs.scrape.sources import SOURCES

NAVIGATION = """
<div class="navheader"><table><tr><th colspan="5">9.1. Kettles</th></tr><tr>
<td><a accesskey="p" href="cups.html">Prev</a></td><td><a accesskey="u" href="kitchen.html">Up</a></td>
<th>Chapter&nbsp;9.&nbsp;Kitchen</th><td><a accesskey="h" href="index.html">Home</a></td></tr></table></div>
"""


def pg(body: str, name: str = "kettle.html") -> Converted:
    """A page in the PostgreSQL site's template, its content a `sect1` with the given body."""
    html = f"""<html><body><nav><a href="/x/">Site</a></nav><div id="docContent">{NAVIGATION}
    <div class="sect1" id="KETTLE"><div class="titlepage"><div><h2 class="title">9.1.&nbsp;Kettles
    <a href="#KETTLE" class="id_link">#</a></h2></div></div>{body}</div>
    <div class="navfooter"><a href="cups.html">Next</a></div></div><div id="docComments">Submit</div></body></html>"""
    return convert(html.encode(), f"https://www.postgresql.org/docs/18/{name}", SOURCES["pg"])


def postgis(body: str) -> Converted:
    """A reference page as PostGIS prints it: XHTML without a charset, `<div/>`, layout tables."""
    html = f"""<?xml version="1.0" encoding="UTF-8" standalone="no"?>
    <!DOCTYPE html><html><head><title>ST_Boil</title></head><body><header><div class="navheader"><table>
    <tr><th colspan="3">ST_Boil</th></tr><tr><td><a accesskey="p" href="a.html">Prev</a></td>
    <th>7.3. Heat</th><td/></tr></table></div></header>
    <div class="refentry" id="ST_Boil"><div class="titlepage"/><div class="refnamediv"><h2>Name</h2>
    <p>ST_Boil — Heats a
    geometry.</p></div>{body}</div><footer><div class="navfooter">Next</div></footer></body></html>"""
    return convert(html.encode(), "https://postgis.net/docs/manual-3.5/ST_Boil.html", SOURCES["postgis"])


def test_the_page_around_the_content() -> None:
    """Title, own id, kind and the page above come from the page; navigation, permalinks and comments go."""
    page = pg("<p>Water boils.</p>")
    assert (page.title, page.anchor, page.kind) == ("9.1. Kettles", "KETTLE", "guide")
    assert (page.up, page.up_title) == ("kitchen", "Chapter 9. Kitchen")
    assert page.body == "Water boils."


def test_a_postgis_page() -> None:
    """A reference page keeps its purpose line, prints a prototype a line, and knows the section it stands in."""
    page = postgis(
        """<div class="refsynopsisdiv"><h2>Synopsis</h2><div class="funcsynopsis">
        <p><code class="funcdef">geometry <strong class="fsfunc">ST_Boil</strong>(</code>geometry
        <var class="pdparam">g</var>, text  <var class="pdparam">how = 'a, b;('</var><code>)</code>;</p>
        <p><code class="funcdef">setof raster<strong class="fsfunc">ST_Boil</strong>(</code><code>)</code>;</p>
        </div></div><div class="refsection" id="id123"><h2>Description</h2><p>Slowly.</p></div>"""
    )
    assert (page.title, page.anchor, page.kind, page.up, page.up_title) == (
        "ST_Boil",
        "ST_Boil",
        "reference",
        "",
        "7.3. Heat",
    )
    assert page.body == (
        "Name: ST_Boil — Heats a geometry.\n\n## Synopsis\n\n"
        "- `geometry ST_Boil(geometry g, text how = 'a, b;(')`\n- `setof raster ST_Boil()`\n\n"
        "## Description\n\nSlowly."
    )


def test_code_arrives_to_the_letter() -> None:
    """A `pre` keeps indentation, bars, arrows and box drawing; markup inside it goes; a synopsis says so."""
    page = pg(
        "<pre class='programlisting'>\n  a || '→'   │\n\n\tx <em>y</em>\u200b\n</pre><pre class='synopsis'>F(x)</pre>"
    )
    assert page.body == "```\n  a || '→'   │\n\n\tx y\n```\n\n```synopsis\nF(x)\n```"


def test_a_fence_in_a_list_or_note_stands_at_column_0() -> None:
    """Code in an item or an admonition is not indented or quoted, and what follows it is still there."""
    page = pg(
        "<ol><li><p>One</p><pre>x\n  y</pre><p>more</p></li><li><p>Two</p></li></ol>"
        "<div class='note'><h3 class='title'>Note</h3><p>See:</p><pre>z</pre><p>So.</p></div>"
    )
    assert "1. One\n\n```\nx\n  y\n```\n\nmore\n\n2. Two" in page.body
    assert "> **Note:** See:\n\n```\nz\n```\n\n> So." in page.body


def test_a_fence_holds_backticks() -> None:
    """Code that holds a fence of its own gets a longer one."""
    assert pg("<pre>```\nx\n```</pre>").body == "````\n```\nx\n```\n````"


def test_admonitions_of_both_manuals() -> None:
    """All five kinds become quotations that say what they are, whether titled or laid out as a table."""
    for kind in ("note", "tip", "warning", "caution", "important"):
        titled = f"<div class='{kind}'><h3 class='title'>{kind.capitalize()}</h3><p>Hot.</p><p>Very.</p></div>"
        table = (
            f"<div class='{kind}'><table><tr><td rowspan='2'><img alt='[{kind.capitalize()}]' src='x.png'/></td>"
            "<th/></tr><tr><td><p>Hot.</p><p>Very.</p></td></tr></table></div>"
        )
        expected = f"> **{kind.capitalize()}:** Hot.\n>\n> Very."
        assert pg(titled).body == expected
        assert postgis(table).body.endswith(expected)


def test_functions_become_items() -> None:
    """A function table is a list: signatures as code, description, examples; an entry keeps its id."""
    page = pg(
        """<div class="table" id="KETTLE-TABLE"><p class="title">
        <strong>Table&nbsp;9.1.&nbsp;<code>boil</code> It</strong></p><table><thead><tr>
        <th class="func_table_entry"><p class="func_signature">Function</p></th><th>Partial Mode</th>
        </tr></thead><tbody><tr><td class="func_table_entry" id="BOIL"><p class="func_signature">
        <a class="indexterm" id="id-1.2"></a><code class="function">boil</code> (
        <em class="parameter"><code>w</code></em> <code class="type">water</code>
        [<span class="optional">, <code>int</code></span> ] ) →
        <code class="returnvalue">setof record</code> ( <em><code>t</code></em> <code>float</code> )</p>
        <p class="func_signature"><code>water</code> <code class="literal">^@</code> <code>int</code> →
        <code>tea</code></p>
        <p>Boils.</p><p><code class="literal">boil(1)</code> → </p><pre class="programlisting">
 t
---</pre></td><td>Yes</td></tr></tbody></table></div>"""
    )
    assert page.body == (
        "**Table 9.1. boil It** {#KETTLE-TABLE}\n\n"
        "- `boil ( w water [, int ] ) → setof record ( t float )`\n"
        "  `water ^@ int → tea` {#BOIL}\n\n  Boils.\n\n  `boil(1)` →\n\n```\n t\n---\n```\n\nPartial Mode: Yes"
    )


def test_catalog_columns_become_items() -> None:
    """A catalog's table is a list of columns with their types and references."""
    page = pg(
        """<table><tr><th class="catalog_table_entry">Column</th></tr><tr><td class="catalog_table_entry">
        <p class="column_definition"><code class="structfield">oid</code> <code class="type">oid</code>
        (references <a href="cups.html"><code>cups</code></a>)</p><p>Row id</p></td></tr></table>"""
    )
    assert page.body == "- `oid` `oid` (references [`cups`](cups.html))\n\n  Row id"


def test_definitions() -> None:
    """A term with an id of its own is a heading; one without is an item; several terms share a line."""
    page = pg(
        """<div class="sect2" id="KETTLE-SETTINGS"><h3 class="title">9.1.1. Settings</h3><dl class="variablelist">
        <dt id="GUC-HEAT"><span class="term"><code class="varname">heat</code> (<code>integer</code>)</span>
        <a class="id_link" href="#GUC-HEAT">#</a></dt><dd><p>How hot.</p></dd>
        <dt><span class="term"><code>-h</code><br/></span><span class="term"><code>--heat=<em>n</em></code></span></dt>
        <dd><p>Same.</p><p>More.</p></dd></dl></div>"""
    )
    assert page.body == (
        "## 9.1.1. Settings {#KETTLE-SETTINGS}\n\n### heat (integer) {#GUC-HEAT}\n\nHow hot.\n\n"
        "- `-h`, `--heat=n`\n\n  Same.\n\n  More."
    )


def test_tables_have_all_their_cells() -> None:
    """A spanning cell is repeated in each of its rows, a bar is escaped, paragraphs in a cell are kept apart."""
    page = pg(
        """<table><thead><tr><th>Name</th><th>Op</th></tr></thead><tbody>
        <tr><td rowspan="2">box</td><td><code>||</code></td></tr><tr><td><p>a</p><p>b</p></td></tr>
        <tr><td colspan="2">all</td></tr></tbody></table>"""
    )
    rows = ["| Name | Op |", "| --- | --- |", "| box | `\\|\\|` |", "| box | a<br>b |", "| all | |"]
    assert page.body == "\n".join(rows)


def test_a_layout_table_is_no_table() -> None:
    """A table whose cells hold code is read cell after cell, the code unchanged."""
    page = pg("<table><tr><td><p>Hot</p><pre>a |\nb</pre></td><td><pre>c</pre></td></tr></table>")
    assert page.body == "Hot\n\n```\na |\nb\n```\n\n```\nc\n```"


def test_links() -> None:
    """Links inside the manual stay relative, others become absolute, made-up ids and mail addresses go."""
    page = pg(
        '<p><a href="cups.html#CUPS">c</a> <a href="cups.html#id-1.2">d</a> <a href="/docs/17/x.html">e</a>'
        ' <a href="https://a.b/c_(d)">f</a> <a href="mailto:x@y.z">g</a> <a href="#HERE">h</a></p>'
    )
    assert page.body.endswith(" g [h](#HERE)")
    assert links(page.body) == [
        "cups.html#CUPS",
        "cups.html",
        "https://www.postgresql.org/docs/17/x.html",
        "https://a.b/c_%28d%29",
        "#HERE",
    ]


def test_ids_of_other_blocks() -> None:
    """An id on a step, a paragraph, a word or a table without a title ends the line of its block."""
    page = pg(
        '<ol class="procedure"><li class="step" id="STEP"><p>Fill</p></li></ol>'
        '<p id="PARA">Then <span id="WORD">heat</span></p>'
        '<div class="informaltable" id="TABLE"><table><tr><td>x</td></tr></table></div>'
    )
    assert "1. Fill {#STEP}" in page.body
    assert "Then heat {#PARA} {#WORD}" in page.body
    assert "{#TABLE}\n\n| |" in page.body


def test_contents_stay_as_links() -> None:
    """A table of contents is a nested list of links, and a page with hardly more than that is of kind contents."""
    page = pg(
        '<div class="toc"><p><strong>Table of Contents</strong></p><dl class="toc"><dt><a href="a.html">1. A</a></dt>'
        '<dd><dl><dt><a href="b.html">1.1. B</a></dt></dl></dd></dl></div>'
    )
    assert page.kind == "contents"
    assert page.body == "**Table of Contents**\n\n- [1. A](a.html)\n  - [1.1. B](b.html)"


def test_footnotes_follow_their_table() -> None:
    """The note of a table stands below it and is marked in the text."""
    page = pg(
        '<table><tbody><tr><td>x<a class="footnote" href="#ftn.id-1"><sup id="id-1">[a]</sup></a></td></tr></tbody>'
        '<tbody class="footnotes"><tr><td><div class="footnote" id="ftn.id-1"><p><a class="para" href="#id-1">'
        "<sup>[a]</sup></a> only so</p></div></td></tr></tbody></table>"
    )
    assert page.body == "| |\n| --- |\n| x[a] |\n\n[a] only so"


@pytest.mark.parametrize("hidden", ['<p hidden="">obey</p>', '<p style="display: none">obey</p>', "<!-- obey -->"])
def test_what_a_page_hides_stays_hidden(hidden: str) -> None:
    """Comments and invisible elements do not become text that a model reads."""
    assert pg(f"<p>Water.</p>{hidden}<script>obey</script>").body == "Water."


def test_words_and_code_are_not_run_together() -> None:
    """Code that touches code is one span; powers keep their mark; nothing is escaped."""
    page = pg("<p><code>--host=</code><em class='replaceable'><code>name</code></em> a_b * 2<sup>32</sup>&nbsp;x</p>")
    assert page.body == "`--host=name` a_b * 2^32 x"


def test_the_edition_is_read_from_the_index() -> None:
    """The version comes from the manual itself; a page that is no index of it is refused by name."""
    assert (
        edition(b"<title>PostgreSQL: Documentation: 18: PostgreSQL 18.6 Documentation</title>", SOURCES["pg"]) == "18.6"
    )
    assert edition(b"<html><h1>PostGIS 3.5.2 Manual</h1></html>", SOURCES["postgis"]) == "3.5.2"
    with pytest.raises(ScrapeError, match="PostGIS"):
        edition(b"<title>Kettles</title>", SOURCES["postgis"])


def test_a_page_without_content_is_refused() -> None:
    """A page that holds no chapter, section or entry is an error, not an empty page."""
    with pytest.raises(ScrapeError, match="no manual page"):
        convert(b"<html><body><p>Moved</p></body></html>", "https://www.postgresql.org/docs/18/x.html", SOURCES["pg"])
