"""What somebody hostile or careless made of a folder, a cache, an environment: no trace, no hang, nothing foreign."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import POSIX, ROOT, cache_of, search, serving

from pgdocs.errors import NoPages, PageNotFound, ScrapeError
from pgdocs.pages import file_name
from pgdocs.scrape.convert import convert
from pgdocs.scrape.sources import SOURCES
from pgdocs.search import cache
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.serve.library import holdings
from pgdocs.serve.mcp_server import instructions
from pgdocs.serve.stats import stats

ODD_MANIFESTS = {
    "deep": '{"a":' * 100_000,
    "infinite": '{"pg": {"pages": 1e999}}',
    "endless": '{"pg": {"pages": ' + "9" * 4000 + "}}",
    "negative": '{"pg": {"pages": -5}}',
    "no object": '{"pg": [1], "postgis": 5}',
}


def pgdocs(*arguments: str, cwd: Path = ROOT, shell: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder, with what a shell would append to its line."""
    command = [str(Path(sys.executable).with_name("pgdocs")), *arguments]
    return subprocess.run(
        ["sh", "-c", f"{shlex.join(command)} {shell}"] if shell else command,
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("text", ODD_MANIFESTS.values(), ids=ODD_MANIFESTS)
def test_a_manifest_that_is_none_is_passed_over(pages: Path, text: str) -> None:
    """The server starts, and its instructions have the counts of the files and stay short."""
    (pages / ".manifest.json").write_text(text, encoding="utf-8")
    assert {holding.source: holding.pages for holding in holdings(pages)} == {"pg": 6, "postgis": 5}
    assert "(6 pages, source 'pg')" in instructions(pages)
    assert len(instructions(pages)) < 2_000
    with serving(pages) as session:
        session.initialize()
        assert "sql-select" in search(session)


@pytest.mark.skipif(not POSIX, reason="Windows has no such pipes")
def test_a_manifest_that_is_a_pipe_is_not_waited_for(pages: Path) -> None:
    """Nobody ever writes into it."""
    os.mkfifo(pages / ".manifest.json")
    assert len(holdings(pages)) == 2


@pytest.mark.skipif(not POSIX, reason="links need rights on Windows")
def test_a_link_out_of_the_folder_is_no_page(pages: Path, tmp_path: Path) -> None:
    """A repository that somebody else made must not hand a private file to a model; links inside are pages."""
    (tmp_path / "secret.md").write_text("# zeppelin\n\nthe key of the zeppelin\n", encoding="utf-8")
    (pages / "pg__out.md").symlink_to(tmp_path / "secret.md")
    (pages / "pg__inside.md").symlink_to("pg__sql-select.md")
    assert "pg__inside.md" in cache.scan(pages)
    index = DocumentSearchIndex(pages)
    assert not [r for r in index.search("zeppelin") if "zeppelin" in r.snippet]
    with pytest.raises(PageNotFound):
        index.get_document("pg/out")


def test_a_cache_names_no_file_outside(own: Path, tmp_path: Path) -> None:
    """One that came with the folder would have any file of the reader's shown as a page."""
    (tmp_path / "secret.md").write_text("the key", encoding="utf-8")
    data = cache.read(cache_of(own))
    assert data
    rows = [(*row[:-1], "../secret.md") for row in data["page"]]
    cache_of(own).write_bytes(cache.dumps({**data, "page": rows}))
    assert DocumentSearchIndex(own).get_document("sql-select").startswith("# SELECT")


def test_stats_of_a_cache_that_is_no_index(own: Path) -> None:
    """Whatever plain data it holds: there is no index yet."""
    data = cache.read(cache_of(own))
    assert data
    for odd in ({"a": 1}, {**data, "page": []}, {**data, "symbols": [(1, 2)]}):
        cache_of(own).write_bytes(cache.dumps(odd))
        assert (stats(own).state, stats(own).index) == ("missing", "")


@pytest.mark.skipif(not POSIX, reason="paths of other systems")
def test_a_folder_that_cant_be_one_is_told_in_a_sentence(tmp_path: Path) -> None:
    """A circle of links, a device, an unknown user's home, a name that no file can have."""
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for folder in (str(tmp_path / "circle"), "/dev/null", "~nobody-of-that-name/docs", "/" + "a" * 5_000):
        told = pgdocs("search", "zeppelin", PGDOCS_DOCS=folder)
        assert told.returncode == 1
        assert "No pages in" in told.stderr
        assert "Traceback" not in told.stderr


def test_a_root_folder_has_no_cache_beside_it() -> None:
    """`--docs /` of a container that holds nothing else."""
    root = Path(Path.cwd().anchor)
    assert all(file.parent != root for file in cache.cache_files(root))


@pytest.mark.skipif(not POSIX, reason="a shell's redirections")
@pytest.mark.parametrize(("shell", "code"), [(">&-", 0), ("| head -1", 0), (">/dev/full", 1)])
def test_an_output_that_takes_nothing(own: Path, shell: str, code: int) -> None:
    """Closed, closed early, full: no stack trace."""
    if "full" in shell and not Path("/dev/full").exists():
        pytest.skip("this system has no full device")
    told = pgdocs("--docs", str(own), "search", "upsert", shell=shell)
    assert told.returncode == code, told.stderr
    assert "Traceback" not in told.stderr


def test_the_callers_folder_decides_no_code(own: Path, tmp_path: Path) -> None:
    """A `pgdocs` or a `numpy` in the folder that one happens to be in is not run, nor by what we start."""
    here = tmp_path / "here"
    (here / "pgdocs").mkdir(parents=True)
    for name in ("pgdocs/__init__.py", "numpy.py", "click.py", "mcp.py", "json.py"):
        (here / name).write_text("open('ran', 'w')\nraise SystemExit(9)\n", encoding="utf-8")
    cache_of(own).unlink()  # so that a child has to build
    assert "sql-select" in pgdocs("--docs", str(own), "search", "first row of each group", cwd=here).stdout
    probed = pgdocs("--docs", str(own), "probe", "--tool", "search_docs", "--args", '{"query": "upsert"}', cwd=here)
    assert probed.returncode == 0, probed.stderr
    assert not (here / "ran").exists()


def test_an_odd_name_is_a_page_like_any(tmp_path: Path) -> None:
    """Blanks, line breaks, dots and dashes in names: each page is found and read, and nothing else is."""
    for slug in ("a b", "a\nb", "..", "-rf", "a%b", "ünï", "a" * 200):
        file = tmp_path / "docs" / file_name(f"pg__{slug}")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# Page\n\nAbout {slug}.\n", encoding="utf-8")
    index = DocumentSearchIndex(tmp_path / "docs")
    assert len(index.pages()) == 7
    for page in index.pages():
        assert index.page(page.doc_name).doc_name == page.doc_name
    with pytest.raises(NoPages):
        DocumentSearchIndex(tmp_path / "docs" / "pg__-rf.md").build_index()


def test_a_name_too_long_for_a_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    """A page whose name fits where it lies, and doesn't with the source's before it."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / f"{'n' * 250}.md").write_text("# Page\n", encoding="utf-8")
    told = pgdocs("--docs", str(tmp_path / "docs"), "add", "handbook", str(tmp_path / "pages"))
    assert told.returncode == 1
    assert told.stderr.startswith("Can't write ")
    assert not list((tmp_path / "docs").iterdir())


@pytest.mark.skipif(not POSIX, reason="runs bash")
def test_setup_stays_in_its_own_folder(tmp_path: Path) -> None:
    """With CDPATH set, `cd` would go to a folder of the same name elsewhere."""
    (tmp_path / "elsewhere" / "checkout").mkdir(parents=True)
    (tmp_path / "checkout").mkdir()
    script = (ROOT / "setup.sh").read_text(encoding="utf-8").partition("\ncd -- ")[0]
    (tmp_path / "checkout" / "setup.sh").write_text(script + '\necho "$here"\n', encoding="utf-8")
    env = {**os.environ, "CDPATH": str(tmp_path / "elsewhere")}
    told = subprocess.run(
        ["bash", "checkout/setup.sh"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert Path(told.stdout.strip()) == (tmp_path / "checkout").resolve()


# --- absurd sizes -------------------------------------------------------------------------------------------

SECTION = (
    '<html><body><div id="docContent"><div class="sect1" id="X"><h2 class="title">T</h2>{}</div></div></body></html>'
)


@pytest.mark.parametrize(
    "body",
    ["<div>" * 100_000, "<ul><li>" * 50_000, "<table><tr><td>" * 9_000, "<p>x</p>" * 100_000, "<dt>x</dt>" * 100_000],
    ids=["divs in divs", "lists in lists", "tables in tables", "paragraphs", "terms"],
)
def test_a_page_of_too_many_elements_is_refused_in_a_sentence(body: str) -> None:
    """It would take the stack, or hours: the scrape names it among its failures and goes on."""
    with pytest.raises(ScrapeError, match=r"x\.html is no manual page: it holds more than"):
        convert(SECTION.format(body).encode(), "https://www.postgresql.org/docs/18/x.html", SOURCES["pg"])


@pytest.mark.parametrize(
    "body",
    [
        "".join(f"## H{n} {{#h{n}}}\n\n" for n in range(20_000)),
        "| a | b |\n|---|---|\n" + "".join(f"| `x{n}` | word |\n" for n in range(40_000)),
        "- item\n\n" + "  paragraph\n\n" * 100_000,
        "```\n" + "select 1;\n" * 500_000 + "```\n",
        "x" + " {#a}" * 200_000 + " y\n",
        "[" * 50_000 + "a](" * 50_000,
    ],
    ids=["headings", "rows", "an item", "a fence", "anchors", "brackets"],
)
def test_an_absurd_page_is_a_page(tmp_path: Path, body: str) -> None:
    """It takes seconds, not hours, and what stands beside it is found as ever."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "absurd.md").write_text(f"# Absurd\n\n{body}\n", encoding="utf-8")
    (docs / "kettle.md").write_text("# Kettle\n\nIt boils zeppelins.\n", encoding="utf-8")
    assert [hit.doc_name for hit in DocumentSearchIndex(docs).search("boils zeppelins")] == ["kettle"]
