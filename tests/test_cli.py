"""pgdocs at the shell: a real process each, over the invented pages."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent / "fixtures" / "docs"


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented pages, with an index beside them after the first use."""
    return shutil.copytree(FIXTURES, tmp_path_factory.mktemp("pages") / "docs")


def pgdocs(docs: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "pgdocs.serve.cli", *arguments]
    environment = {**os.environ, "PGDOCS_DOCS": str(docs), "PYTHONIOENCODING": "utf-8", **env}
    return subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, check=False)


def test_search_prints_what_the_server_answers(docs: Path) -> None:
    """A question without quotes finds the passage, with its address."""
    found = pgdocs(docs, "search", "first", "row", "of", "each", "group", "-n", "2")
    assert found.returncode == 0
    assert "https://www.postgresql.org/docs/18/sql-select.html#SQL-DISTINCT\n" in found.stdout.decode().replace(
        "\r", ""
    )


def test_search_prints_json_for_scripts(docs: Path) -> None:
    """`--json` is a list of results with the fields of SearchResult."""
    (result,) = json.loads(pgdocs(docs, "search", "--json", "-n", "1", "--source", "postgis", "buffer").stdout)
    assert result["doc_name"] == "postgis__ST_Buffer"
    assert {"title", "url", "section", "score", "match_type", "snippet"} <= result.keys()


def test_signature_prints_text_and_json(docs: Path) -> None:
    """All overloads of a name, for eyes and for programs."""
    assert b"boolean ST_DWithin(geography gg1" in pgdocs(docs, "signature", "ST_DWithin").stdout
    (symbol,) = json.loads(pgdocs(docs, "signature", "--json", "jsonb_set").stdout)
    assert symbol["signatures"] == [
        "jsonb_set ( target jsonb, path text[], new_value jsonb [, create_if_missing boolean ] ) → jsonb"
    ]


def test_read_prints_pages_sections_and_lists(docs: Path) -> None:
    """A page in one piece, a section alone, the pages of a chapter, and without a name what there is."""
    assert b"## LIMIT Clause {#SQL-LIMIT}" in pgdocs(docs, "read", "sql-select").stdout
    section = json.loads(pgdocs(docs, "read", "--json", "sql-select", "--section", "distinct clause").stdout)
    assert section["markdown"].startswith("## DISTINCT Clause {#SQL-DISTINCT}")
    assert "LIMIT" not in section["markdown"]
    assert section["url"] == "https://www.postgresql.org/docs/18/sql-select.html#SQL-DISTINCT"
    assert b"- pg/sql-select: SELECT" in pgdocs(docs, "read", "SQL Commands").stdout
    assert b"## postgis: PostGIS 3.5 (5 pages)" in pgdocs(docs, "read").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["search"], 2, b"Missing argument"),
        (["search", "x", "-n", "0"], 2, b"1<=x<=20"),
        (["serach", "x"], 2, b"No such command"),
        (["search", "x", "--source", "mysql"], 1, b"use one of pg, postgis or all."),
        (["search", " "], 1, b"empty"),
        (["signature", "jsonb_sett"], 1, b"jsonb_set"),
        (["signature", "--json", "jsonb_sett"], 1, b"jsonb_set"),
        (["read", "sql-selct"], 1, b"did you mean pg/sql-select"),
        (["--docs", "nowhere", "search", "x"], 1, b"No pages in nowhere: run ./setup.sh or python scrape_docs.py."),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_an_exit_code(
    docs: Path, arguments: list[str], code: int, told: bytes
) -> None:
    """2 for wrong usage, 1 for the rest; the sentence is on stderr and stdout stays empty for the next program."""
    failed = pgdocs(docs, *arguments)
    assert failed.returncode == code
    assert told in failed.stderr
    assert failed.stdout == b""
    assert b"Traceback" not in failed.stderr


@pytest.mark.parametrize("command", ["", "search", "signature", "read", "phrases", "serve"])
def test_every_command_shows_an_example(docs: Path, command: str) -> None:
    """`--help` ends in a line that can be pasted."""
    told = pgdocs(docs, *filter(None, [command]), "--help").stdout.decode()
    assert re.search(rf"Example: .*pgdocs {command}", told)


def test_phrases_are_checked_against_the_pages(docs: Path) -> None:
    """A phrase for a page that isn't there can't help anybody: it is named with its line, and the exit code is 1."""
    counted = pgdocs(docs, "phrases")
    assert counted.returncode == 0
    assert b"pg.tsv: " in counted.stdout
    checked = pgdocs(docs, "phrases", "--check")
    assert checked.returncode == 1
    assert b"pg.tsv:1: there is no page 'acronyms'" in checked.stdout
    assert b"'sql-select'" not in checked.stdout


def test_serve_is_the_server(docs: Path) -> None:
    """`pgdocs serve` answers a handshake and ends with its input."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode() + b"\n"
    command = [sys.executable, "-m", "pgdocs.serve.cli", "--docs", str(docs), "serve"]
    served = subprocess.run(command, input=line, capture_output=True, timeout=10, check=True)
    assert json.loads(served.stdout)["result"]["serverInfo"]["name"] == "pgdocs"


def test_a_console_that_cannot_print_everything_is_no_failure(docs: Path) -> None:
    """On code page 1252 an arrow becomes a question mark rather than an exception."""
    found = pgdocs(docs, "signature", "jsonb_set", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert found.returncode == 0
    assert b"? jsonb" in found.stdout
