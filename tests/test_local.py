"""Manuals on this machine: folders, archives, the single-page manual, distributions' packages."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from lxml import html as lxml_html

from pgdocs.errors import ScrapeError
from pgdocs.scrape.local import MAX_PAGE, download_package, installed, open_local
from pgdocs.scrape.single import cut
from pgdocs.scrape.sources import SOURCES

PG, POSTGIS = SOURCES["pg"], SOURCES["postgis"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="scripts and links need a POSIX system")


def index(title: str) -> bytes:
    return f"<html><head><title>{title}</title></head><body><a href='sql-pour.html'>POUR</a></body></html>".encode()


PAGES = {"index.html": index("PostgreSQL 17.3 Documentation"), "sql-pour.html": "<p>Pour – the tea.</p>".encode()}


def write(folder: Path, pages: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, html in pages.items():
        (folder / name).write_bytes(html)
    return folder


def tar_of(file: Path, members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w") -> Path:
    with tarfile.open(file, mode) as archive:  # type: ignore[call-overload]
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file


def link(name: str, target: str, kind: bytes) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


# --- folders ----------------------------------------------------------------------------------------------


def test_a_folder_gives_its_pages_and_nothing_else(tmp_path: Path) -> None:
    """A page is read by its exact name; what is not there, not a page or outside of the folder is None."""
    folder = write(tmp_path / "html", PAGES)
    write(tmp_path, {"outside.html": b"x"})
    manual = open_local(folder, PG)
    assert manual.read("sql-pour.html") == PAGES["sql-pour.html"]
    assert [manual.read(name) for name in ("SQL-POUR.html", "nix.html", "../outside.html", "")] == [None] * 4


def test_the_index_page_itself_may_be_named(tmp_path: Path) -> None:
    """Who points to …/html/index.html means the manual that begins there."""
    folder = write(tmp_path / "html", PAGES)
    manual = open_local(folder / "index.html", PG)
    assert manual.read("sql-pour.html") == PAGES["sql-pour.html"]


def test_the_manual_is_found_anywhere_in_a_tree(tmp_path: Path) -> None:
    """In a mirror of several sites and versions the folder called as on the web wins, whatever else is newer."""
    write(tmp_path / "postgis.net/docs/manual-3.5", {"index.html": index("PostGIS 3.5.2 Manual")})
    write(tmp_path / "www.postgresql.org/docs/99", {"index.html": index("PostgreSQL 99.1 Documentation")})
    write(tmp_path / f"www.postgresql.org/docs/{PG.edition}", PAGES)
    manual = open_local(tmp_path, PG)
    assert manual.read("sql-pour.html")


def test_the_newest_version_wins_elsewhere(tmp_path: Path) -> None:
    """Without the web's folder names the newest manual is taken, by number and not by spelling."""
    for version in ("9.6", "16.2", "10.1"):
        pages = {"index.html": index(f"PostgreSQL {version} Documentation"), "is.html": version.encode()}
        write(tmp_path / f"v{version}", pages)
    manual = open_local(tmp_path, PG)
    assert manual.read("is.html") == b"16.2"


def test_the_other_manual_is_refused(tmp_path: Path) -> None:
    """A folder of another product never becomes pages of this one; the message says what is looked for."""
    folder = write(tmp_path / "html", {"index.html": index("PostGIS 3.5.2 Manual")})
    with pytest.raises(ScrapeError, match=r"no PostgreSQL manual in .*html: name the folder or archive with its index"):
        open_local(folder, PG)


@posix
def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """A link inside the folder is a page, one that leads out of it is not."""
    folder = write(tmp_path / "html", PAGES)
    write(tmp_path, {"secret.html": b"secret"})
    (folder / "in.html").symlink_to(folder / "sql-pour.html")
    (folder / "out.html").symlink_to(tmp_path / "secret.html")
    manual = open_local(folder, PG)
    assert manual.read("in.html") == PAGES["sql-pour.html"]
    assert manual.read("out.html") is None


# --- archives ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.bz2", "tar.xz", "zip", "whl"])
def test_an_archive_is_read_without_unpacking(tmp_path: Path, kind: str) -> None:
    """Every kind of archive gives the same pages, wherever the manual lies in it, and leaves no file behind."""
    file = tmp_path / f"manual.{kind}"
    names = {f"./deep/er/{name}": html for name, html in {**PAGES, "README": b"x"}.items()}
    if kind in ("zip", "whl"):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, html in names.items():
                archive.writestr(name, html)
    else:
        compression = kind.removeprefix("tar").removeprefix(".")
        tar_of(file, [(tarfile.TarInfo(name), html) for name, html in names.items()], f"w:{compression}")
    manual = open_local(file, PG)
    assert {name: manual.read(name) for name in PAGES} == PAGES
    assert manual.read("README") is None
    assert list(tmp_path.iterdir()) == [file]


def test_links_and_paths_out_of_a_tar_are_refused(tmp_path: Path) -> None:
    """Links, absolute names and `..` are no pages, even where they would be called like one."""
    good = [(tarfile.TarInfo(f"m/{name}"), html) for name, html in PAGES.items()]
    bad = [
        link("m/soft.html", "/etc/hostname", tarfile.SYMTYPE),
        link("m/hard.html", "m/sql-pour.html", tarfile.LNKTYPE),
        link("m/device.html", "", tarfile.CHRTYPE),
        (tarfile.TarInfo("m/../m/up.html"), b"x"),
        (tarfile.TarInfo("/m/root.html"), b"x"),
    ]
    manual = open_local(tar_of(tmp_path / "m.tar", good + bad), PG)
    assert manual.read("sql-pour.html")
    assert [manual.read(f"{name}.html") for name in ("soft", "hard", "device", "up", "root")] == [None] * 5


def test_links_and_paths_out_of_a_zip_are_refused(tmp_path: Path) -> None:
    """The same of a zip, whose links are files with a mode."""
    soft = zipfile.ZipInfo("m/soft.html")
    soft.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        for name, html in PAGES.items():
            archive.writestr(f"m/{name}", html)
        archive.writestr(soft, "/etc/hostname")
        archive.writestr("m/../m/up.html", "x")
        archive.writestr("/m/root.html", "x")
    manual = open_local(tmp_path / "m.zip", PG)
    assert manual.read("sql-pour.html")
    assert [manual.read(f"{name}.html") for name in ("soft", "up", "root")] == [None] * 3


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_page_that_swells_is_refused(tmp_path: Path, kind: str) -> None:
    """A few kilobytes that unpack to a page larger than any end in a sentence, not in full memory."""
    swollen, file = bytes(MAX_PAGE + 2), tmp_path / f"m.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("index.html", PAGES["index.html"])
            archive.writestr("bomb.html", swollen)
    else:
        members = {"index.html": PAGES["index.html"], "bomb.html": swollen}
        tar_of(file, [(tarfile.TarInfo(name), html) for name, html in members.items()], "w:gz")
    assert file.stat().st_size < 100_000
    with pytest.raises(ScrapeError, match=r"bomb\.html is too large"):
        open_local(file, PG)


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_tar_that_claims_too_much_is_refused(tmp_path: Path, kind: bytes) -> None:
    """A header that claims 8 GB, of a file or of a name, is not believed: nothing of it is unpacked or kept."""
    claim = tarfile.TarInfo("huge")
    claim.size, claim.type = 8 << 30, kind
    file = tmp_path / "m.tar.gz"
    file.write_bytes(gzip.compress(claim.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)))
    with pytest.raises(ScrapeError, match="more than"):
        open_local(file, PG)


def test_a_damaged_archive_is_a_sentence(tmp_path: Path) -> None:
    """An archive that broke off, or a file that is none, is told so with what to do."""
    whole = tar_of(tmp_path / "m.tar.xz", [(tarfile.TarInfo(n), os.urandom(5000)) for n in PAGES], "w:xz").read_bytes()
    (tmp_path / "half.tar.xz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "none.zip").write_bytes(b"no archive at all" * 100)
    for name in ("half.tar.xz", "none.zip"):
        with pytest.raises(ScrapeError, match=rf"{name} can't be read as a manual: .* Fetch it again\."):
            open_local(tmp_path / name, PG)
    with pytest.raises(ScrapeError, match=r"There is no .*nowhere"):
        open_local(tmp_path / "nowhere", PG)


# --- the single-page manual -------------------------------------------------------------------------------

TODAY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html><html><head><title>PostGIS 9.9.1 Manual</title></head><body><div class="book" id="id1">
<div class="titlepage"><h1 class="title">PostGIS 9.9.1 Manual</h1></div>
<div class="toc"><a href="#teas">1. Teas</a> <a href="#ST_Brew">ST_Brew</a> <a href="#id77">2. Complaints</a></div>
<section class="chapter" id="teas"><div class="titlepage"><h1 class="title">Chapter&#160;1.&#160;Teas</h1></div>
 <section class="section" id="Green"><div class="titlepage"/><div class="titlepage">
  <h2 class="title">1.1.&#160;Green Teas</h2></div>
  <p>See <a href="#ST_Brew">ST_Brew</a> in <a href="#Green">here</a>.</p>
  <div class="refentry" id="ST_Brew"><div class="titlepage"/><div class="refnamediv"><h2>Name</h2>
   <p>ST_Brew — Für immer ☕</p></div><div class="funcsynopsis"><p><code class="funcdef">tea
   <strong class="fsfunc">ST_Brew</strong>(</code><code>)</code>;</p></div>
   <div class="refsection" id="id5"><h2>See Also</h2><p><a href="#Green">Green</a> <a href="#id5">mine</a>
   <a href="#id77">x</a> <a href="https://example.org/#Green">web</a> <a href="#lost">lost</a></p></div></div>
  <div class="refentry.separator"><hr/></div>
  <div class="refentry" id="st_brew"><div class="refnamediv"><p>&amp;&amp; — Twin</p></div></div>
 </section></section>
<section class="chapter" id="id77"><div class="titlepage"><h1 class="title">Chapter&#160;2.&#160;Complaints</h1></div>
 <p>None.</p></section></div></body></html>"""


def of_old(manual: str) -> bytes:
    """The same manual as PostGIS 3.3's build writes it: anchors inside what they name, `b`, ISO-8859-1."""
    old = manual.split("?>\n")[1].replace("<head>", '<head><meta charset="ISO-8859-1">')
    old = old.replace("<strong", "<b").replace("</strong>", "</b>").replace("<section", "<div")
    old = old.replace("</section>", "</div>").replace('"section"', '"sect1"').replace('<div class="titlepage"/>', "")
    for name in ("id1", "teas", "Green", "id77"):
        before, after = old.split(f' id="{name}"')
        old = before + after.replace('class="title">', f'class="title"><a name="{name}"></a>', 1)
    for name in ("ST_Brew", "st_brew", "id5"):
        old = old.replace(f' id="{name}">', f'><a name="{name}"></a>')
    assert 'id="' not in old
    return old.encode("iso-8859-1", errors="xmlcharrefreplace")


def test_the_single_page_becomes_the_webs_pages(tmp_path: Path) -> None:
    """One page per entry and chapter, called as on the web, also where two names differ only by case."""
    folder = write(tmp_path / "postgis-doc", {"postgis.html": TODAY.encode()})
    names = ["index.html", "teas.html", "ST_Brew.html", "st_brew.html", "ch02.html"]
    assert list(cut(TODAY.encode())) == names
    for place in (tmp_path, folder, folder / "postgis.html"):
        manual = open_local(place, POSTGIS)
        pages = [manual.read(name) for name in names]
        assert None not in pages
        assert manual.read("postgis.html") is None


@pytest.mark.parametrize("manual", [TODAY.encode(), of_old(TODAY)], ids=["today", "3.3"])
def test_a_cut_page_stands_as_on_the_web(manual: bytes) -> None:
    """Its header names its section and the way up, its links lead to pages, its ids and letters are right."""
    pages = cut(manual)
    brew = lxml_html.document_fromstring(pages["ST_Brew.html"])
    assert brew.findtext(".//title") == "ST_Brew"
    assert brew.xpath("string(//div[@class='navheader']//tr[2]/th)") == "1.1.\xa0Green Teas"
    assert brew.xpath("//a[@accesskey='u']/@href") == ["teas.html#Green"]
    assert brew.xpath("//a[@accesskey='p' or @accesskey='n']/@href") == ["teas.html", "st_brew.html"] * 2
    assert brew.xpath("//body/div/@id") == ["ST_Brew"]
    assert brew.xpath("//div[@class='refsection']/@id") == ["id5"]
    assert brew.xpath("//strong[@class='fsfunc']/text()") == ["ST_Brew"]
    assert "Für immer" in brew.text_content()
    links = brew.xpath("//div[@class='refsection']//@href")
    assert links == ["teas.html#Green", "ST_Brew.html#id5", "ch02.html", "https://example.org/#Green", "#lost"]
    chapter = lxml_html.document_fromstring(pages["teas.html"])
    assert chapter.xpath("//*[@id]/@id") == ["teas", "Green"]
    assert chapter.xpath("//p/a/@href") == ["ST_Brew.html", "teas.html#Green"]
    assert not chapter.xpath("//hr")
    contents = lxml_html.document_fromstring(pages["index.html"])
    assert contents.xpath("//div[@class='toc']/a/@href") == ["teas.html", "ST_Brew.html", "ch02.html"]


def test_a_question_keeps_the_id_that_its_author_gave() -> None:
    """3.3's FAQ has two anchors in a question's cell; links lead to the one that the next build will have, too."""
    row = '<table><tr class="question"><td><a name="idm9"></a><a name="faq_why"></a><p>Why?</p></td></tr></table>'
    page = lxml_html.document_fromstring(cut(of_old(TODAY.replace("None.", row)))["ch02.html"])
    assert page.xpath("//tr[@class='question']/@id") == ["faq_why"]
    assert page.xpath("//a/@id") == ["idm9"]


@pytest.mark.parametrize("manual", [TODAY.encode(), of_old(TODAY)], ids=["today", "3.3"])
def test_cutting_loses_no_word(manual: bytes) -> None:
    """The pages' contents together are the manual's text, each word once."""
    whole = lxml_html.document_fromstring(
        manual.decode("utf-8" if manual.startswith(b"<?xml") else "latin-1").split("?>")[-1]
    )
    kept: list[str] = []
    for html in cut(manual).values():
        page = lxml_html.document_fromstring(html)
        for frame in page.xpath("//header | //footer"):
            frame.drop_tree()
        kept += page.body.text_content().split()
    assert sorted(kept) == sorted(whole.body.text_content().split())


def test_a_page_without_chapters_is_no_manual(tmp_path: Path) -> None:
    """A file of the right name and title with nothing to cut gives no pages rather than an error."""
    assert cut(index("PostGIS 3.5.2 Manual")) == {}


# --- what distributions have ------------------------------------------------------------------------------


def script(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def test_the_newest_installed_copy_is_found(tmp_path: Path) -> None:
    """Of several installed manuals the newest is taken; folders without a manual don't count."""
    debian, brew = tmp_path / "usr", tmp_path / "brew"
    write(debian / "share/doc/postgresql-doc-9.6/html", {"index.html": index("PostgreSQL 9.6.1 Documentation")})
    write(debian / "share/doc/postgresql/html", {})
    newest = brew / "opt/postgresql@16/share/doc/postgresql@16/html"
    write(newest, {"index.html": index("PostgreSQL 16.2 Documentation")})
    gis = write(debian / "share/doc/postgis-doc", {"postgis.html": TODAY.encode()})
    assert installed(POSTGIS, [debian, brew]) == gis
    assert installed(POSTGIS, [brew]) is None
    if not shutil.which("pg_config"):
        assert installed(PG, [debian, brew]) == newest


@posix
def test_pg_config_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was built by hand knows where its manual is; one that has none is passed over."""
    folder = write(tmp_path / "hand made", {"index.html": index("PostgreSQL 17.1 Documentation")})
    script(tmp_path / "bin", "pg_config", f'test "$1" = --htmldir && echo "{folder}"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    assert installed(PG, [tmp_path]) == folder
    shutil.rmtree(folder)
    assert installed(PG, [tmp_path]) is None
    script(tmp_path / "bin", "pg_config", "exit 3")
    assert installed(PG, [tmp_path]) is None


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs Debian's dpkg-deb")
def test_the_newest_package_is_fetched_without_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """apt downloads the package with the greatest number and it is unpacked, and nothing else stays behind."""
    tree = tmp_path / "tree"
    write(tree / "usr/share/doc/postgresql-doc-16/html", PAGES)
    write(tree / "DEBIAN", {"control": b"Package: postgresql-doc-16\nVersion: 1\nArchitecture: all\n"
                                       b"Maintainer: T <t@example.org>\nDescription: tea\n"})  # fmt: skip
    subprocess.run(["dpkg-deb", "-b", tree, tmp_path / "the.deb"], check=True, capture_output=True)
    tools = tmp_path / "bin"
    script(tools, "apt-cache", 'printf "postgresql-doc\\npostgresql-doc-9\\npostgresql-doc-16\\npostgresql-docs-99\\n"')
    script(tools, "apt-get", f'test "$*" = "download postgresql-doc-16" && cp "{tmp_path}/the.deb" ./the.deb')
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    into = tmp_path / "below" / "here"
    for _ in range(2):  # what an earlier run left is replaced
        folder = download_package(PG, into)
        assert folder is not None
        manual = open_local(folder, PG)
        assert manual.read("sql-pour.html") == PAGES["sql-pour.html"]
        assert list(into.iterdir()) == [folder]


@posix
def test_apt_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty package lists name their cure; a failing download is told in apt's own words; no apt is no error."""
    tools = tmp_path / "bin"
    script(tools, "apt-cache", "")
    script(tools, "apt-get", "echo 'E: no network' >&2; exit 100")
    script(tools, "dpkg-deb", "")
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    with pytest.raises(ScrapeError, match=r"no package of the PostGIS manual: run .*apt-get update"):
        download_package(POSTGIS, tmp_path)
    script(tools, "apt-cache", "echo postgis-doc")
    with pytest.raises(ScrapeError, match="apt-get download postgis-doc failed: E: no network"):
        download_package(POSTGIS, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert download_package(POSTGIS, tmp_path) is None
