"""The recorded session: a picture that is well-formed, and holds nothing of the pages but titles and signatures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")
def test_the_recorded_session_holds_no_passage(tmp_path: Path) -> None:
    """Real commands, their addresses and signatures; of any text of the pages five words at most."""
    docs = shutil.copytree(ROOT / "tests" / "fixtures" / "docs", tmp_path / "docs")
    out = tmp_path / "pictures" / "session.svg"
    command = [sys.executable, str(ROOT / "scripts" / "record.py"), "--docs", str(docs), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    rows = ["".join(row.itertext()) for row in ElementTree.parse(out).iter("{http://www.w3.org/2000/svg}text")]
    assert "$ pgdocs signature ST_DWithin" in rows
    assert any(row.startswith("boolean ST_DWithin(") for row in rows)
    assert any(row.startswith("https://postgis.net/") for row in rows)
    prose = [
        line
        for page in docs.glob("*.md")
        for line in page.read_text(encoding="utf-8").partition("\n---\n")[2].splitlines()
        if len(line.split()) > 6 and not line.startswith(("#", "- `", "boolean", "geometry", "double"))
    ]
    assert prose
    for line in prose:
        assert not any(" ".join(line.split()[:6]) in row for row in rows)
