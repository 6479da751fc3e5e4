"""`pgdocs wheel`: one file to hand around, installed where there is neither a checkout nor the web."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import PAGES, ROOT, said

from pgdocs.errors import BuildError, NoPages, UnknownSource
from pgdocs.serve.bundle import BUILT, LICENCES, build_wheel
from pgdocs.serve.probe import Session

TOLD = {
    "pg": {"version": "18.6", "label": "PostgreSQL 18", "pages": 6, "complete": True, "from": "/home/me/manual"},
    "postgis": {
        "version": "3.5.2",
        "label": "PostGIS 3.5",
        "pages": 4,
        "complete": True,
        "from": "https://postgis.net/",
    },
}


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented pages as a crawl leaves them, with its manifest."""
    folder = shutil.copytree(PAGES, tmp_path_factory.mktemp("bundle") / "docs")
    (folder / ".manifest.json").write_text(json.dumps(TOLD), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def wheel(docs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(docs, tmp_path_factory.mktemp("dist"))[0]


class Installed(NamedTuple):
    """A fresh environment that holds the wheel, and a home where it may keep things."""

    scripts: Path
    home: Path

    @property
    def env(self) -> dict[str, str]:
        """Its environment: no checkout, no folder of pages named, and every address of the web refused."""
        dropped = ("PGDOCS_DOCS", "PYTHONPATH", "XDG_CACHE_HOME", "XDG_DATA_HOME")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        home = {name: str(self.home) for name in ("HOME", "USERPROFILE", "LOCALAPPDATA")}
        return {**kept, **home, "https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [str(self.scripts / command[0]), *command[1:]],
            cwd=self.home,
            env=self.env,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment of its own; what it depends on is lent by ours, since the web is not there."""
    folder, home = tmp_path_factory.mktemp("venv"), tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(scripts / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    ours, theirs = (
        subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        for python in (sys.executable, str(scripts / "python"))
    )
    Path(theirs, "lent.pth").write_text(f"{ours}\n", encoding="utf-8")  # its own .pth files don't count: no checkout
    return Installed(scripts, home)


def test_what_is_installed_answers_at_once(installed: Installed) -> None:
    """`pgdocs search` after `pip install`: pages and index are in the package, nothing is built or written."""
    where = installed.run("python", "-c", "import pgdocs, search_index; print(pgdocs.__file__, search_index.__file__)")
    assert str(ROOT) not in where
    found = json.loads(installed.run("pgdocs", "search", "--json", "first row of each group"))
    assert found[0]["url"].startswith("https://www.postgresql.org/docs/18/")
    stats = json.loads(installed.run("pgdocs", "stats", "--json"))
    assert (stats["state"], stats["why"]) == ("fresh", [])
    assert not list(installed.home.rglob("*"))


def test_what_is_installed_serves(installed: Installed) -> None:
    """`pgdocs-mcp serve` is what a client starts: handshake, tools, an answer with its source."""
    with Session([str(installed.scripts / "pgdocs-mcp"), "serve"], installed.env) as session:
        session.initialize()
        answer = said(session.call("search_docs", {"query": "distance between two geometries"}))
    assert "https://postgis.net/docs/manual-3.5/" in answer


def test_what_is_installed_is_a_library(installed: Installed) -> None:
    """`from search_index import …` works there over any folder of the user's."""
    code = "from search_index import DocumentSearchIndex as D; i = D('x'); print(i.search('samovar')[0].doc_name)"
    folder = installed.home / "x"
    folder.mkdir()
    (folder / "tea__samovar.md").write_text("# Samovar\n\nBoils water for tea.\n", encoding="utf-8")
    try:
        assert installed.run("python", "-c", code).strip() == "tea__samovar"
    finally:
        for left in installed.home.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def test_what_is_added_stands_beside_the_manuals(installed: Installed) -> None:
    """`pgdocs add` in an installed package keeps its pages, and leaves the package as it is."""
    (installed.home / "x").mkdir()
    (installed.home / "x" / "samovar.md").write_text("# Samovar\n\nBoils water for tea.\n", encoding="utf-8")
    package = installed.run("python", "-c", "import pgdocs; print(pgdocs.__path__[0])").strip()
    before = sorted(Path(package, "manuals", "docs").iterdir())
    try:
        installed.run("pgdocs", "add", "tea", "x")
        assert {"pg", "postgis", "tea"} == {s["source"] for s in _stats(installed)}
        assert json.loads(installed.run("pgdocs", "search", "--json", "samovar"))[0]["doc_name"] == "tea__samovar"
        assert json.loads(installed.run("pgdocs", "search", "--json", "nearest neighbour", "--source", "postgis"))
        assert sorted(Path(package, "manuals", "docs").iterdir()) == before
    finally:
        for left in installed.home.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def _stats(installed: Installed) -> list[dict[str, object]]:
    sources: list[dict[str, object]] = json.loads(installed.run("pgdocs", "stats", "--json"))["sources"]
    return sources


def test_the_wheel_says_what_it_was_made_from(wheel: Path) -> None:
    """Versions, counts and a hash in the manifest, the versions in the file's name too; no folder of the builder's."""
    assert wheel.name.endswith("+pg18.6.postgis3.5.2-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        built = json.loads(archive.read(f"pgdocs/manuals/{BUILT}"))
        everything = b"".join(archive.read(name) for name in archive.namelist() if not name.endswith(".tsv"))
        pages = [name for name in archive.namelist() if re.fullmatch(r"pgdocs/manuals/docs/.*\.md", name)]
    assert {name: told["label"] for name, told in built["sources"].items()} == {
        "pg": "PostgreSQL 18.6",
        "postgis": "PostGIS 3.5.2",
    }
    assert built["pages"] == len(pages) == len(list(PAGES.glob("*.md")))
    assert re.fullmatch(r"[0-9a-f]{64}", built["sha256"])
    assert b"/home/me/manual" not in everything


def test_the_licences_of_both_manuals_are_in_it(wheel: Path) -> None:
    """Their texts, whom to credit, that the pages were converted, and one expression that a tool can read."""
    with zipfile.ZipFile(wheel) as archive:
        [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        told = archive.read(metadata).decode().partition("\n\n")[0].splitlines()
        folder = metadata.replace("METADATA", "licenses/")
        notice = archive.read(f"{folder}NOTICE").decode()
        assert b"ATTRIBUTION" in archive.read(f"{folder}CC-BY-SA-3.0.txt").upper()
        assert b"Regents of the University of California" in archive.read(f"{folder}PostgreSQL.txt")
        assert b"MIT License" in archive.read(f"{folder}LICENSE")
    assert "License-Expression: MIT AND PostgreSQL AND CC-BY-SA-3.0" in told
    assert {line for line in told if line.startswith("License-File: ")} == {
        f"License-File: {name}" for name in ("LICENSE", "NOTICE", "PostgreSQL.txt", "CC-BY-SA-3.0.txt")
    }
    assert "PostGIS 3.5.2 Documentation" in notice
    assert "PostgreSQL Global Development Group" in notice
    assert notice.count("Converted to markdown") == 2


def test_every_file_is_recorded_with_its_hash(wheel: Path) -> None:
    """Installers check RECORD, and uninstall by it."""
    with zipfile.ZipFile(wheel) as archive:
        [record] = [name for name in archive.namelist() if name.endswith("/RECORD")]
        rows = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
        assert {name for name, *_ in rows} == set(archive.namelist())
        for name, digest, size in rows:
            if name != record:
                content = archive.read(name)
                assert int(size) == len(content)
                assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip(
                    "="
                )


def test_the_same_pages_make_the_same_wheel(docs: Path, wheel: Path, tmp_path: Path) -> None:
    """Neither dates nor folders of the machine are in it, so that a build can be checked by its hash."""
    again = shutil.copytree(docs, tmp_path / "elsewhere", copy_function=shutil.copyfile)
    assert build_wheel(again, tmp_path)[0].read_bytes() == wheel.read_bytes()


def test_one_source_can_be_packed_alone(docs: Path, tmp_path: Path) -> None:
    """A wheel with PostGIS alone holds neither PostgreSQL's pages nor its licence."""
    (docs / "fastapi__first-steps.md").write_text("# First steps\n\nAn app.\n", encoding="utf-8")
    file, built = build_wheel(docs, tmp_path, ["postgis"])
    assert list(built["sources"]) == ["postgis"]
    assert built["licences"] == ["CC-BY-SA-3.0"]
    with zipfile.ZipFile(file) as archive:
        assert not [name for name in archive.namelist() if "docs/pg__" in name or "dist-info/licenses/Postgre" in name]


def test_the_shell_makes_it(docs: Path, tmp_path: Path) -> None:
    """`pgdocs wheel` prints the file and what is in it; without pages it fails with the cure."""
    command = [sys.executable, "-m", "pgdocs.serve.cli", "--docs"]
    shell = partial(subprocess.run, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    done = shell([*command, str(docs), "wheel", "--source=pg"])
    assert re.match(r"dist.pgdocs_mcp-\S+\+pg18\.6-py3-none-any\.whl: PostgreSQL 18\.6 \(6 pages\)", done.stdout)
    failed = shell([*command, "nowhere", "wheel"])
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "No pages in nowhere" in failed.stderr


def test_without_pages_no_wheel_is_made(tmp_path: Path) -> None:
    """An empty package would look like one that works."""
    (tmp_path / "docs").mkdir()
    for folder in ("docs", "missing"):
        with pytest.raises(NoPages):
            build_wheel(tmp_path / folder, tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def test_pages_whose_terms_are_unknown_are_not_handed_on(pages: Path, tmp_path: Path) -> None:
    """Somebody's own folder is not ours to publish; a source that is not there is told as such."""
    (pages / "fastapi__first-steps.md").write_text("# First steps\n\nAn app.\n", encoding="utf-8")
    cure = "pack the others alone, pgdocs wheel --source pg --source postgis"
    with pytest.raises(BuildError, match=f"terms of 'fastapi' are not known here: {cure}"):
        build_wheel(pages, tmp_path / "dist")
    with pytest.raises(UnknownSource):
        build_wheel(pages, tmp_path / "dist", ["mysql"])
    assert not (tmp_path / "dist").exists()


def test_a_wheel_names_its_sources_without_a_manifest(tmp_path: Path) -> None:
    """Pages that were copied without it: the installed server still knows what it has, also beside an added folder."""
    shutil.copytree(PAGES, tmp_path / "docs")
    file, _ = build_wheel(tmp_path / "docs", tmp_path / "dist")
    with zipfile.ZipFile(file) as wheel:
        told = json.loads(wheel.read("pgdocs/manuals/docs/.manifest.json"))
    assert {name: entry["label"] for name, entry in told.items()} == {"pg": "PostgreSQL 18", "postgis": "PostGIS 3.5"}


def test_every_licence_has_its_text() -> None:
    """What the metadata names is in the package."""
    for licence in LICENCES.values():
        assert len((ROOT / "pgdocs" / "licences" / f"{licence.spdx}.txt").read_text(encoding="utf-8")) > 1000


# --- the registry -------------------------------------------------------------------------------------------


def test_server_json_is_what_the_registry_takes() -> None:
    """Valid against its schema, and of the same name, version and command as the package."""
    jsonschema = pytest.importorskip("jsonschema")  # the MCP SDK brings it
    told = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    schema = json.loads((Path(__file__).parent / "fixtures" / "server.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(told, schema)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [package] = told["packages"]
    assert f'name = "{package["identifier"]}"' in project
    assert f'version = "{told["version"]}"' in project
    assert told["version"] == package["version"]
    assert f'{package["identifier"]} = "pgdocs.serve.cli:main"' in project
    assert f"<!-- mcp-name: {told['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")
