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

from pgdocs.serve.cli import cli

ROOT = Path(__file__).parents[1]
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
    assert b"Read on with pgdocs read pg/sql-select --section SQL-DISTINCT." in found.stdout


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


@pytest.mark.parametrize("arguments", [["signature", "->>"], ["search", "jsonb", "->>", "text"], ["ask", "-|-"]])
def test_an_operator_is_no_option(docs: Path, arguments: list[str]) -> None:
    """What begins with a hyphen can be asked about as it is; a mistyped option is wrong usage all the same."""
    assert b"No such option" not in pgdocs(docs, *arguments).stderr
    assert pgdocs(docs, *arguments, "--sourc", "pg").returncode == 2


def test_advice_names_the_command(docs: Path) -> None:
    """A person at a shell is not told to call a tool."""
    told = pgdocs(docs, "read", "qqqq").stderr + pgdocs(docs, "signature", "qqqq").stderr
    assert b"pgdocs search finds pages" in told
    assert b"Next: pgdocs search with" in told
    assert b"search_docs" not in told


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
        (["search", "x", "--source", "mysql"], 2, b"use one of pg, postgis or all."),
        (["search", " "], 2, b"empty"),
        (["search", "x", "--explain", "--strategy", "fuzzy"], 2, b"leave --strategy out."),
        (["ask", "x", "--budget", "1"], 2, b"200<=x<=2000"),
        (["ask", "x", "--source", "mysql"], 2, b"use one of pg, postgis or all."),
        (["install", "--client", "emacs"], 2, b"'claude-code'"),
        (["completion", "tcsh"], 2, b"'fish'"),
        (["signature", "jsonb_sett"], 1, b"jsonb_set"),
        (["signature", "--json", "jsonb_sett"], 1, b"jsonb_set"),
        (["read", "sql-selct"], 1, b"did you mean pg/sql-select"),
        (["--docs", "nowhere", "search", "x"], 1, b"No pages in nowhere: run ./setup.sh or python scrape_docs.py."),
        (["--docs", "nowhere", "stats"], 1, b"No pages in nowhere: run ./setup.sh or python scrape_docs.py."),
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


COMMANDS = sorted(cli.commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does_and_shows_an_example(docs: Path, command: str) -> None:
    """`--help` begins with a sentence and ends in a line that can be pasted; the list of commands cuts none short."""
    told = pgdocs(docs, command, "--help").stdout.decode()
    assert re.match(rf"Usage: pgdocs {command} .*\n\n  [A-Z].*\.", told)
    assert re.search(rf"Example: .*pgdocs {command}", told)
    line = re.search(rf"^  {command} .*", pgdocs(docs, "--help").stdout.decode(), re.MULTILINE)
    assert line
    assert not line[0].endswith("...")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command: str) -> None:
    """What nobody reads about, nobody uses."""
    assert f"pgdocs {command}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"serve", "completion"}))
def test_every_answer_can_be_had_as_json(command: str) -> None:
    """Scripts need no screen scraping; a server and a shell script are no answers."""
    assert "--json" in [option for parameter in cli.commands[command].params for option in parameter.opts]


def test_the_help_tells_the_exit_codes(docs: Path) -> None:
    """They are part of what scripts rely on."""
    assert b"Exit codes: 0 fine, 1 it could not be done" in pgdocs(docs, "--help").stdout


def test_ask_prints_a_cited_block(docs: Path) -> None:
    """The same block that the tool gives, within its budget; as JSON with its tokens and passages."""
    asked = pgdocs(docs, "ask", "which", "expressions", "DISTINCT", "ON", "takes", "--budget", "300")
    assert asked.returncode == 0
    assert b"https://www.postgresql.org/docs/18/sql-select.html#SQL-DISTINCT" in asked.stdout
    answer = json.loads(pgdocs(docs, "ask", "DISTINCT ON", "--json", "--compare").stdout)
    assert answer["passages"][0]["doc_name"] == "pg__sql-select"
    assert answer["tokens"] <= 800
    assert len(answer["compare"]["passages"]) > 1


def test_ask_compares_with_the_sections_as_they_are(docs: Path) -> None:
    """What it saves is told in tokens, last, under both texts."""
    told = pgdocs(docs, "ask", "DISTINCT ON", "--compare").stdout.decode()
    assert re.match(r"The five best sections as they are: [\d,]+ tokens, \d pages", told)
    assert re.search(r"\d+ tokens instead of [\d,]+ \(\d+%\)\s*$", told)


def test_stats_tell_what_is_indexed_and_whether_it_is_fresh(docs: Path, tmp_path: Path) -> None:
    """Counts by source, and of a folder that changed, which pages."""
    folder = tmp_path / "docs"
    shutil.copytree(FIXTURES, folder)
    first = json.loads(pgdocs(folder, "stats", "--json").stdout)
    assert first["state"] == "missing"
    assert [(s["source"], s["pages"]) for s in first["sources"]] == [("pg", 6), ("postgis", 5)]
    assert not list(tmp_path.glob("*.pkl"))
    pgdocs(folder, "search", "x")
    manifest = {"pg": {"version": "18.1", "label": "PostgreSQL 18", "pages": 6, "complete": False}}
    manifest["pg"].update(fetched="2026-01-02T03:04:05+00:00", **{"from": "https://example.org/docs/"})
    (folder / ".manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    fresh = json.loads(pgdocs(folder, "stats", "--json").stdout)
    assert (fresh["state"], fresh["why"]) == ("fresh", [])
    pg, postgis = fresh["sources"]
    assert (pg["label"], postgis["label"]) == ("PostgreSQL 18.1", "PostGIS 3.5")
    assert (pg["complete"], postgis["complete"]) == (False, None)
    assert all(pg[count] > 0 for count in ("sections", "names", "phrases", "bytes"))
    (folder / "pg__new.md").write_text("# New\n", encoding="utf-8")
    (folder / "pg__sql-select.md").unlink()
    with (folder / "pg__release-18.md").open("a", encoding="utf-8") as file:
        file.write("\nmore\n")
    told = pgdocs(folder, "stats").stdout.decode()
    assert "state  stale" in told
    for why in ("1 page new: pg__new.md", "1 page gone: pg__sql-select.md", "1 page changed: pg__release-18.md"):
        assert why in told
    assert "pg from https://example.org/docs/, 2026-01-02T03:04:05+00:00, incomplete" in told


def test_the_guard_can_be_seen_at_work(docs: Path) -> None:
    """A poisoned page, what leaves, and why."""
    shown = pgdocs(docs, "guard-demo").stdout.decode()
    assert shown.index("as it came") < shown.index("as it leaves") < shown.index("found")


def test_phrases_are_checked_against_the_pages(docs: Path) -> None:
    """A phrase for a page that isn't there can't help anybody: it is named with its line, and the exit code is 1."""
    counted = pgdocs(docs, "phrases")
    assert counted.returncode == 0
    assert b"pg.tsv: " in counted.stdout
    assert b"elsewhere" not in counted.stdout
    checked = pgdocs(docs, "phrases", "--check")
    assert checked.returncode == 1
    assert b"pg.tsv:1: there is no page 'acronyms'" in checked.stdout
    assert b"'sql-select'" not in checked.stdout
    report = {row["file"]: row for row in json.loads(pgdocs(docs, "phrases", "--check", "--json").stdout)}
    assert report["pg.tsv"]["problems"][0] == {"line": 1, "problem": "there is no page 'acronyms'"}


def test_phrases_that_can_be_used_are_said_to_be(tmp_path: Path) -> None:
    """Silence would leave open whether anything was checked."""
    (tmp_path / "handbook__tea.md").write_text("# Tea\n", encoding="utf-8")
    checked = pgdocs(tmp_path, "phrases", "--check")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, b"All of them can be used.")


def test_serve_is_the_server(docs: Path) -> None:
    """`pgdocs serve` answers a handshake and ends with its input."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode() + b"\n"
    command = [sys.executable, "-m", "pgdocs.serve.cli", "--docs", str(docs), "serve"]
    served = subprocess.run(command, input=line, capture_output=True, timeout=10, check=True)
    assert json.loads(served.stdout)["result"]["serverInfo"]["name"] == "pgdocs"


def test_without_a_command_a_client_gets_the_server(docs: Path) -> None:
    """`claude mcp add pgdocs -- pgdocs-mcp` is all it takes."""
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    command = [sys.executable, "-m", "pgdocs.serve.cli", "--docs", str(docs)]
    served = subprocess.run(command, input=ping, capture_output=True, timeout=10, check=True)
    assert json.loads(served.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell(docs: Path, shell: str) -> None:
    """Each script calls us for what may follow; where that shell is here, it reads it without a complaint."""
    script = pgdocs(docs, "completion", shell)
    assert f"_PGDOCS_COMPLETE={shell}_complete".encode() in script.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script.stdout, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (["sea"], "search"),
        (["search", "--source", "postg"], "postgis"),
        (["read", "sql-sel"], "pg/sql-select"),
        (["install", "--client", "claude-d"], "claude-desktop"),
    ],
)
def test_completion_knows_commands_sources_and_pages(docs: Path, typed: list[str], completed: str) -> None:
    """Without opening the index: it is waited for between two keys."""
    words = {"COMP_WORDS": " ".join(["pgdocs", *typed]), "COMP_CWORD": str(len(typed))}
    told = pgdocs(docs, _PGDOCS_COMPLETE="bash_complete", **words).stdout.decode()
    assert completed in [line.partition(",")[2] for line in told.splitlines()]


def terminal(docs: Path, *arguments: str, **env: str) -> str:
    """What a command writes on a terminal of its own."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "PGDOCS_DOCS": str(docs), "TERM": "xterm-256color", **env}
    if "NO_COLOR" not in env:
        environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "pgdocs.serve.cli", *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 65_536):
                written += piece
        except OSError:  # Linux ends a terminal so
            pass
        os.close(ours)
    assert process.returncode == 0
    return written.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_colours_are_for_terminals_alone(docs: Path) -> None:
    """The words asked for are highlighted in any form of theirs; a pipe and NO_COLOR get the plain text."""
    shown = terminal(docs, "search", "distinct", "rows", "-n", "1")
    assert "\x1b[33m\x1b[1mDISTINCT\x1b[0m" in shown
    assert re.search(r"\x1b\[33m\x1b\[1mrow\x1b\[0m", shown)
    assert "\x1b[36mhttps://www.postgresql.org/docs/18/sql-select.html#SQL-DISTINCT\x1b[0m" in shown
    plain = terminal(docs, "search", "distinct", "rows", "-n", "1", NO_COLOR="1")
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d*m", "", shown) == plain
    assert pgdocs(docs, "search", "distinct", "rows", "-n", "1").stdout.decode().split() == plain.split()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_without_a_command_a_person_gets_help(docs: Path) -> None:
    """Rather than a server that waits for a client."""
    assert "Commands:" in terminal(docs)


def test_a_console_that_cannot_print_everything_is_no_failure(docs: Path) -> None:
    """On code page 1252 an arrow becomes a question mark rather than an exception."""
    found = pgdocs(docs, "signature", "jsonb_set", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert found.returncode == 0
    assert b"? jsonb" in found.stdout
