"""Several versions of a manual side by side: how they are named, fetched, kept apart and searched.

The test with real manuals takes PostgreSQL 15 and PostGIS 3.3 from the folder that PGDOCS_PACKAGES names (what
`dpkg-deb -x` makes of Debian's postgresql-doc-15 and postgis-doc), or as they are installed, and is skipped elsewhere.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from mirror import Mirror, gis_page, pg_page, toc

from pgdocs.errors import ScrapeError, UnknownSource
from pgdocs.pages import Page, file_name, read_page, render_page
from pgdocs.scrape import crawl, workers
from pgdocs.scrape.cli import main
from pgdocs.scrape.convert import convert
from pgdocs.scrape.local import download_package, installed
from pgdocs.scrape.setup import get_manuals
from pgdocs.scrape.shelf import MANIFEST, read_json
from pgdocs.scrape.sources import SOURCES, source_of
from pgdocs.search.context import context
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.serve.text import search_text


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process for each crawl, and no time between two pages."""
    monkeypatch.setattr(workers, "WORKERS", 1)
    monkeypatch.setattr(crawl, "Options", partial(crawl.Options, delay=0))


def manual(folder: Path, version: str) -> Path:
    """A PostgreSQL manual of three pages as HTML."""
    folder.mkdir(parents=True)
    index = pg_page(f"PostgreSQL {version} Documentation", "TEA", toc("tea.html", "cup.html"), kind="book")
    (folder / "index.html").write_bytes(index)
    for name in ("tea", "cup"):
        html = pg_page(name.title(), name.upper(), f"<p>The {name} of {version}.</p>", "index.html")
        (folder / f"{name}.html").write_bytes(html)
    return folder


def scrape(docs: Path, *arguments: str) -> int:
    return main([f"--out={docs}", "--delay=0", *arguments])


def held(docs: Path) -> dict[str, str]:
    """The versions that the manifest tells of."""
    return {name: told["version"] for name, told in read_json(docs / MANIFEST).items()}


def labels(docs: Path, source: str) -> set[str]:
    """What the pages of a source say that they are of."""
    return {read_page(file, docs).path[0] for file in docs.glob(f"{source}__*.md")}


# --- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("pg", "https://www.postgresql.org/docs/18/"),
        ("pg13", "https://www.postgresql.org/docs/13/"),
        ("postgis3.6", "https://postgis.net/docs/manual-3.6/"),
    ],
)
def test_a_version_is_named_by_manual_and_number(name: str, base: str) -> None:
    """Each version has the address that its own site gives it."""
    assert source_of(name).base == base


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pg12", "PostgreSQL 12 can't be had: choose from 13, 14, 15, 16, 17, 18."),
        ("pgdevel", "the site forbids copies"),
        ("postgis34", "choose from 3.3, 3.4, 3.5, 3.6"),
        ("mysql8", "name one like pg, pg17, postgis, postgis3.4"),
    ],
)
def test_a_version_that_can_not_be_had_is_refused_with_those_that_can(name: str, says: str) -> None:
    """PostgreSQL's robots.txt forbids the development version; of others the user learns what to type."""
    with pytest.raises(ScrapeError, match=re.escape(says)):
        source_of(name)


@pytest.mark.parametrize("arguments", [["--add", "pg12"], ["--pg", "19"], ["--postgis", "2.5"], ["--from=pg9=x"]])
def test_a_wrong_version_is_wrong_usage(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and the versions that there are, before anything is fetched."""
    with pytest.raises(SystemExit) as exit_:
        scrape(tmp_path / "docs", *arguments)
    assert exit_.value.code == 2
    assert "choose from" in capsys.readouterr().err
    assert not (tmp_path / "docs").exists()


# --- fetching -----------------------------------------------------------------------------------------------


def test_versions_stand_side_by_side(tmp_path: Path) -> None:
    """Adding a version touches no page of another one."""
    docs = tmp_path / "docs"
    assert scrape(docs, "--source=pg", f"--from=pg={manual(tmp_path / 'new', '18.1')}") == 0
    before = {file.name: file.stat().st_mtime_ns for file in docs.glob("pg__*.md")}
    assert scrape(docs, "--add=pg17", f"--from=pg17={manual(tmp_path / 'old', '17.4')}") == 0
    assert held(docs) == {"pg": "18.1", "pg17": "17.4"}
    assert (labels(docs, "pg"), labels(docs, "pg17")) == ({"PostgreSQL 18"}, {"PostgreSQL 17"})
    assert {file.name: file.stat().st_mtime_ns for file in docs.glob("pg__*.md")} == before
    assert read_page(docs / "pg17__tea.md", docs).url == "https://www.postgresql.org/docs/17/tea.html"


def test_a_version_that_was_added_is_fetched_again_with_the_rest(tmp_path: Path) -> None:
    """Without --source a crawl goes over all that is there; nobody has to remember what was added."""
    docs, old = tmp_path / "docs", manual(tmp_path / "old", "17.4")
    new, gis = manual(tmp_path / "new", "18.1"), tmp_path / "gis"
    gis.mkdir()
    (gis / "index.html").write_bytes(gis_page("PostGIS 3.5.2 Manual", "manual", "All of it."))
    scrape(docs, "--add=pg17", f"--from=pg17={old}")
    origins = [f"--from=pg={new}", f"--from=postgis={gis}", f"--from=pg17={old}"]
    (old / "tea.html").write_bytes(pg_page("Tea", "TEA", "<p>A newer brew.</p>", "index.html"))
    assert scrape(docs, "--refresh", *origins) == 0
    assert set(held(docs)) == {"pg", "pg17", "postgis"}
    assert "A newer brew." in (docs / "pg17__tea.md").read_text(encoding="utf-8")


def test_a_copy_of_another_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PostgreSQL 15's pages under the name of 17 would be quoted as 17's."""
    docs = tmp_path / "docs"
    assert scrape(docs, "--add=pg17", f"--from=pg17={manual(tmp_path / 'old', '15.2')}") == 1
    assert "There is no PostgreSQL 17 manual in" in capsys.readouterr().err
    assert not list(docs.glob("*.md"))


def test_a_site_with_another_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same of a mirror: what it says of itself counts, not what it was named for."""
    with Mirror() as mirror:
        assert scrape(tmp_path / "docs", "--add=pg17", f"--from=pg17={mirror.origin('pg')}") == 1
    assert "has PostgreSQL 18.6, not PostgreSQL 17: name a mirror" in capsys.readouterr().err
    assert not list((tmp_path / "docs").glob("*.md"))


def test_of_several_copies_the_version_that_was_asked_for_is_taken(tmp_path: Path) -> None:
    """A folder of packages holds more than one manual."""
    for version in ("15.2", "17.4", "18.1"):
        manual(tmp_path / "share" / version, version)
    assert scrape(tmp_path / "docs", "--add=pg17", f"--from=pg17={tmp_path / 'share'}") == 0
    assert held(tmp_path / "docs") == {"pg17": "17.4"}


def test_the_default_version_is_what_somebody_asked_for_last(tmp_path: Path) -> None:
    """`--pg 16` holds for later crawls too, until another version is asked for."""
    docs = tmp_path / "docs"
    here = [f"--from=pg={tmp_path / 'share'}", "--source=pg"]
    for version in ("16.9", "18.1"):
        manual(tmp_path / "share" / version, version)
    assert scrape(docs, "--pg=16", *here) == 0
    assert (held(docs), labels(docs, "pg")) == ({"pg": "16.9"}, {"PostgreSQL 16"})
    assert scrape(docs, "--refresh", *here) == 0
    assert held(docs) == {"pg": "16.9"}
    assert scrape(docs, "--pg=18", *here) == 0
    assert (held(docs), labels(docs, "pg")) == ({"pg": "18.1"}, {"PostgreSQL 18"})


def test_several_versions_from_one_site_share_its_turns(tmp_path: Path) -> None:
    """Two crawls at once must not ask a site twice as often as it was promised."""
    with Mirror() as mirror:
        sources = [SOURCES["pg"], SOURCES["postgis"]]
        crawl.scrape(sources, tmp_path, mirror.origins, crawl.Options(delay=0.05))
        starts = sorted(started for _, _, started in mirror.requests)
    gaps = sorted(later - sooner for sooner, later in pairwise(starts))
    assert gaps[len(gaps) // 2] >= 0.04


# --- ./setup.sh ---------------------------------------------------------------------------------------------


def test_setup_brings_the_version_that_was_asked_for_in_place_of_another(tmp_path: Path) -> None:
    """`./setup.sh --pg 16` over a folder with 18: all pages are of 16 then."""
    docs, spare = tmp_path / "docs", tmp_path / "spare"
    scrape(docs, "--source=pg", f"--from=pg={manual(tmp_path / '18', '18.1')}")
    origins = {"pg": str(manual(tmp_path / "16", "16.9"))}
    assert get_manuals([SOURCES["pg"].pin("16")], docs, spare, origins) == []
    assert labels(docs, "pg") == {"PostgreSQL 16"}


@pytest.mark.skipif(sys.platform == "win32", reason="the tools that are stood in for are POSIX scripts")
def test_setup_takes_no_other_version_than_the_one_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed copy of 15 stands in for "the manual", but not for 16; what was there stays."""
    docs, tools = tmp_path / "docs", tmp_path / "bin"
    scrape(docs, "--source=pg", f"--from=pg={manual(tmp_path / '18', '18.1')}")
    copy = manual(tmp_path / "15", "15.2")
    tools.mkdir()
    for name, prints in {"pg_config": copy, "apt-cache": "postgresql-doc-15", "apt-get": "", "dpkg-deb": ""}.items():
        (tools / name).write_text(f"#!/bin/sh\necho '{prints}'\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setattr("pgdocs.scrape.local.PREFIXES", ())
    pinned = SOURCES["pg"].pin("16")
    assert (installed(SOURCES["pg"], ()), installed(pinned, ())) == (copy, None)
    with pytest.raises(ScrapeError, match="no package of the PostgreSQL 16 manual"):
        download_package(pinned, tmp_path / "packages")
    [(_, reasons)] = get_manuals([pinned], docs, tmp_path / "spare", {"pg": "http://127.0.0.1:9/"})
    assert reasons
    assert labels(docs, "pg") == {"PostgreSQL 18"}


# --- older pages --------------------------------------------------------------------------------------------


def test_pages_of_older_builds_keep_their_ids_and_letters() -> None:
    """Up to PostGIS 3.3 an id is an `a name`, a function's name is a `b`, and a page may be in ISO-8859-1."""
    html = """<html><head><meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1"><title>ST_Pour</title>
</head><body><div class="refentry" title="ST_Pour"><a name="ST_Pour"></a><div class="titlepage"></div>
<div class="refnamediv"><h2>Name</h2><p>ST_Pour — Pours it, déjà.</p></div><div class="refsynopsisdiv">
<h2>Synopsis</h2><div class="funcsynopsis"><p><code class="funcdef">cup <b class="fsfunc">ST_Pour</b>(</code>pot
<var class="pdparam">p1</var><code>)</code>;</p></div></div></div></body></html>"""
    page = convert(
        html.encode("latin-1", "xmlcharrefreplace"), "https://postgis.net/x/ST_Pour.html", SOURCES["postgis"]
    )
    assert (page.title, page.anchor) == ("ST_Pour", "ST_Pour")
    assert "Pours it, déjà." in page.body
    assert "`cup ST_Pour(pot p1)`" in page.body


# --- searching ----------------------------------------------------------------------------------------------

TOPICS = {
    "sql-pour": ("POUR", "POUR — fill a cup with tea from a pot, slowly."),
    "kettle": ("Kettles", "A kettle boils water for a pot of tea; descale it with vinegar."),
    "cup-sizes": ("Cup sizes", "Cups hold as much tea as their size says."),
}


def write(docs: Path, source: str, label: str, topics: Mapping[str, tuple[str, str]]) -> None:
    docs.mkdir(exist_ok=True)
    for slug, (title, text) in topics.items():
        url = f"https://example.org/{source}/{slug}.html"
        page = Page(
            f"{source}__{slug}", title, slug.upper(), url, (label, "Reference"), "reference", f"{text} {label}."
        )
        (docs / file_name(page.doc_name)).write_text(render_page(page), encoding="utf-8")


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> DocumentSearchIndex:
    """Two products, one of them in three versions; the older ones have more pages than the default one."""
    docs = tmp_path_factory.mktemp("versions") / "docs"
    strainer = {"strainer": ("Strainers", "A strainer keeps leaves out of the cup. It was dropped later.")}
    write(docs, "pg", "PostgreSQL 18", TOPICS)
    write(docs, "pg17", "PostgreSQL 17", {**TOPICS, **strainer})
    write(docs, "pg9.6", "PostgreSQL 9.6", {**TOPICS, **strainer})
    write(docs, "postgis", "PostGIS 3.5", {"ST_Pour": ("ST_Pour", "ST_Pour — pours a geometry into a cup.")})
    index = DocumentSearchIndex(docs)
    index.build_index()
    return index


def found(index: DocumentSearchIndex, query: str, source: str = "all") -> list[str]:
    return [result.doc_name for result in index.search(query, 10, source=source)]


def test_the_default_version_answers_and_its_twins_stay_away(versions: DocumentSearchIndex) -> None:
    """Three times the same page would push out what else there is."""
    for query in ("descale a kettle", "kettle", "how much tea does a cup hold", "kettle in PostgreSQL"):
        names = found(versions, query)
        assert names[0].startswith("pg__"), query
        slugs = [name.partition("__")[2] for name in names if name.startswith("pg")]
        assert len(slugs) == len(set(slugs)), query


def test_a_page_that_only_older_versions_have_is_found_once(versions: DocumentSearchIndex) -> None:
    """What the default version dropped is answered by the newest version that has it, which its path names."""
    assert [name for name in found(versions, "keep leaves out with a strainer") if "strainer" in name] == [
        "pg17__strainer"
    ]


def test_a_version_is_chosen_by_source_or_by_the_query(versions: DocumentSearchIndex) -> None:
    """Both ways lead to that version's page, and to no other's."""
    assert found(versions, "descale a kettle", "pg17")[0] == "pg17__kettle"
    for query in ("descale a kettle in PostgreSQL 17", "PG 17: descale a kettle", "postgres 17 descale kettle"):
        names = found(versions, query)
        assert names[0] == "pg17__kettle", query
        assert {name.partition("__")[0] for name in names} == {"pg17"}, query
    assert found(versions, "kettle in postgres 9.6")[0] == "pg9.6__kettle"


def test_the_version_in_a_query_is_not_searched_for(versions: DocumentSearchIndex) -> None:
    """Every page holds its version's number; `POUR in PG 17` is the name POUR all the same."""
    best = versions.search("POUR in PG 17")[0]
    assert (best.doc_name, best.score) == ("pg17__sql-pour", versions.search("POUR", source="pg17")[0].score)


def test_a_version_that_is_not_indexed_is_refused_with_those_that_are(versions: DocumentSearchIndex) -> None:
    """Another version's answer would be taken for this one's."""
    with pytest.raises(UnknownSource, match=r"'pg16': use one of pg, pg17, pg9\.6, postgis or all"):
        versions.search("kettle", source="pg16")


def test_an_answer_says_that_it_is_of_another_version(versions: DocumentSearchIndex) -> None:
    """Asked "in PG 16" where only others are there, silence would pass 18's answer off as 16's."""
    said = "PostgreSQL 16 is not indexed: what follows is of PostgreSQL 18, PostgreSQL 17, PostgreSQL 9.6."
    assert search_text(versions, "descale a kettle in PG 16").startswith(said)
    assert context(versions, "how do I descale a kettle in PostgreSQL 16").text.startswith(said)
    for query in (
        "descale a kettle in PG 17",
        "descale a kettle",
        "a kettle from before pg 16",
        "kettle in PostGIS 3.5",
    ):
        assert "is not indexed" not in search_text(versions, query), query


def test_signatures_are_those_of_the_default_version(versions: DocumentSearchIndex) -> None:
    """Each overload once, not once for each version."""
    assert [symbol.doc_name for symbol in versions.symbols("pour")] == ["pg__sql-pour"]


def test_pages_of_every_version_can_be_read(versions: DocumentSearchIndex) -> None:
    """By name and by URL; a bare name is the default version's."""
    assert versions.page("kettle").doc_name == "pg__kettle"
    assert versions.page("pg9.6/kettle").doc_name == "pg9.6__kettle"
    assert versions.page("https://example.org/pg17/kettle.html#KETTLE").doc_name == "pg17__kettle"


# --- real manuals -------------------------------------------------------------------------------------------


def test_the_systems_manuals_beside_each_other(tmp_path: Path) -> None:
    """PostgreSQL 15 and PostGIS 3.3 as Debian packs them: every page converted, functions found by name."""
    named, docs = os.environ.get("PGDOCS_PACKAGES"), tmp_path / "docs"
    sources = [source_of(name) for name in ("pg15", "postgis3.3")]
    folders = [Path(named) if named else installed(source) for source in sources]
    if not all(folders):
        pytest.skip("postgresql-doc-15 and postgis-doc 3.3 are not here: install them, or name them in PGDOCS_PACKAGES")
    origins = {source.name: str(folder) for source, folder in zip(sources, folders, strict=True)}
    reports = crawl.scrape(sources, docs, origins)
    assert [(report.label, report.failures, report.error) for report in reports] == [
        ("PostgreSQL 15", (), ""),
        ("PostGIS 3.3", (), ""),
    ]
    assert (reports[0].pages, reports[1].pages) == (1169, 636)
    index = DocumentSearchIndex(docs)
    for name, page in (("ST_Buffer", "postgis3.3__ST_Buffer"), ("jsonb_set", "pg15__functions-json")):
        assert index.symbols(name)[0].doc_name == page
        assert found(index, name)[0] == page
