"""The README keeps its word: its command blocks run, its files exist, its pictures are there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [m[1] for m in re.finditer(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)]
"""The blocks that need no web: the others say `sh web`."""

LINES = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_the_readme_runs(line: str, tmp_path: Path) -> None:
    """What a reader pastes does what it says and exits with 0."""
    shutil.copytree(Path(__file__).parent / "fixtures" / "docs", tmp_path / "docs")
    (tmp_path / "handbook" / "docs").mkdir(parents=True)
    (tmp_path / "handbook" / "docs" / "intro.md").write_text("# Intro\n\nHow we brew.\n", encoding="utf-8")
    (tmp_path / ".claude.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".cursor").mkdir()
    command, *arguments = shlex.split(line, comments=True)
    assert command == "pgdocs"
    env = {**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PGDOCS_DOCS": str(tmp_path / "docs")}
    done = subprocess.run(
        [sys.executable, "-m", "pgdocs.serve.cli", *arguments],
        input="y\ny\n",
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_has_a_sentence() -> None:
    """A newcomer finds each module of the package in the README, and none that is gone."""
    listed = set(re.findall(r"`(\w+\.py)`", README[README.index("## Every file") :]))
    there = {file.name for file in ROOT.glob("pgdocs/**/*.py") if file.name != "__init__.py"}
    there |= {file.name for file in ROOT.glob("*.py")}
    assert there - listed == set()
    assert listed - there == set()


def test_the_pictures_are_there() -> None:
    """A link to a picture that is not in the repository shows a broken frame."""
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / picture).is_file(), picture


def test_the_figures_are_those_of_the_last_evaluation() -> None:
    """What the README says of the search stands in one row of eval/results.md, which a command has written."""
    results = (ROOT / "eval" / "results.md").read_text(encoding="utf-8").replace("*", "").splitlines()
    printed = [set(re.findall(r"\d+\.\d+|\d+", line)) for line in results if line.startswith("|")]
    figures = README[README.index("## Figures") : README.index("## Limits")].replace("*", "").splitlines()
    said = [set(re.findall(r"(?<=\| )(?:\d\.\d{2,3}|\d{3,4})(?= \|)", line)) for line in figures]
    claims = [numbers for numbers in said if numbers]
    assert len(claims) >= 14
    assert [numbers for numbers in claims if not any(numbers <= row for row in printed)] == []


def test_the_evaluation_is_of_all_questions() -> None:
    """The sets that eval/results.md names are as large as the files are now."""
    results = (ROOT / "eval" / "results.md").read_text(encoding="utf-8")
    for name, file in (("blind", "blind.jsonl"), ("blind, one answer", "blind_one_answer.jsonl")):
        count = len((ROOT / "eval" / file).read_text(encoding="utf-8").splitlines())
        assert f"{name} ({count}" in results
