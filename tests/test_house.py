"""The plan of the house: which part may import which, what starts up light, what the doors hand on."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WINGS = {
    "pgdocs/scrape": {"pgdocs.errors", "pgdocs.pages", "pgdocs.scrape"},
    "pgdocs/search": {"pgdocs.errors", "pgdocs.pages", "pgdocs.search"},
    "pgdocs/serve": {"pgdocs.errors", "pgdocs.pages", "pgdocs.search", "pgdocs.serve", "pgdocs.scrape"},
    "pgdocs": {"pgdocs.errors"},
}


def imported(file: Path) -> set[str]:
    """Every module of the package that a file imports, at its top or late."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "pgdocs" else set()
    return {name for name in names if name.startswith("pgdocs.")}


@pytest.mark.parametrize("wing", sorted(WINGS))
def test_no_wing_imports_upwards(wing: str) -> None:
    """serve → search → pages ← scrape: a change in one wing can't break another that does not know it."""
    for file in (ROOT / wing).glob("*.py"):
        for name in imported(file):
            assert any(name == ok or name.startswith(ok + ".") for ok in WINGS[wing]), f"{file.name} imports {name}"


def test_only_the_shell_starts_a_scrape() -> None:
    """The server half never needs the scraper's libraries: of serve/, only the command line reaches scrape/."""
    users = {f.name for f in (ROOT / "pgdocs/serve").glob("*.py") if any("scrape" in n for n in imported(f))}
    assert users <= {"cli.py"}


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(result.stdout.split())


@pytest.mark.parametrize("door", ["import server", "import search_index", "import pgdocs.serve.mcp_server"])
def test_starting_up_is_light(door: str) -> None:
    """Neither the server nor the library loads what only building or scraping needs: that would double the start."""
    assert not loaded(door) & {"sklearn", "scipy", "httpx", "bs4", "lxml", "markdownify", "tqdm"}


def test_the_library_does_not_load_the_protocol() -> None:
    """`import search_index` in a REPL does not pay for the MCP SDK."""
    assert "mcp" not in loaded("import search_index")


def test_no_file_outgrows_its_room() -> None:
    """A module past 550 lines is two: newcomers read files, not scrolls."""
    files = ROOT.glob("pgdocs/**/*.py")
    assert not {f.name: n for f in files if (n := len(f.read_text(encoding="utf-8").splitlines())) > 550}


def test_every_module_says_why_it_exists() -> None:
    """Each file begins with a docstring, the tests too."""
    for file in [*ROOT.glob("*.py"), *ROOT.glob("pgdocs/**/*.py"), *ROOT.glob("tests/*.py"), *ROOT.glob("eval/*.py")]:
        assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), file
