"""The cache: fresh or rebuilt, never trusted, never in the way."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import until

from pgdocs.errors import BuildError
from pgdocs.search import cache
from pgdocs.search import index as index_module
from pgdocs.search.build import build
from pgdocs.search.index import DocumentSearchIndex

ROOT = Path(__file__).parent.parent
NOTE = "# {0}\n\nAll about {0}.\n"


def write(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.md").write_text(NOTE.format(name), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A folder of two notes, and the bytes of its cache."""
    docs = write(tmp_path_factory.mktemp("site") / "docs", "kettle", "teapot")
    DocumentSearchIndex(docs).build_index()
    return docs, docs.with_name("docs.cache.pkl").read_bytes()


@pytest.fixture
def site(tmp_path: Path, built: tuple[Path, bytes]) -> tuple[Path, Path]:
    """A fresh copy of that folder, with its cache beside it."""
    docs = write(tmp_path / "docs", "kettle", "teapot")
    file = docs.with_name("docs.cache.pkl")
    file.write_bytes(built[1])
    file.chmod(0o600)
    return docs, file


def builds(docs: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often opening the index over `docs` builds it (which is tested elsewhere)."""
    count = 0
    build = DocumentSearchIndex._build

    def counting(self: DocumentSearchIndex, *known: Sequence[Path]) -> dict[str, object]:
        nonlocal count
        count += 1
        return build(self, *known)

    monkeypatch.setattr(DocumentSearchIndex, "_build", counting)
    assert DocumentSearchIndex(docs).search("kettle")[0].doc_name == "kettle"
    return count


# --- fresh or not -------------------------------------------------------------------------------------------


def test_a_fresh_cache_is_loaded(site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same pages elsewhere, written at another time, need no new index: content counts, not time."""
    assert builds(site[0], monkeypatch) == 0


def test_touching_a_page_changes_nothing(site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy or a checkout sets new times, and the index stays."""
    os.utime(site[0] / "kettle.md", (1, 1))
    assert builds(site[0], monkeypatch) == 0


def edit(docs: Path) -> None:
    file = docs / "kettle.md"
    times = file.stat()
    file.write_text(NOTE.format("kettel"), encoding="utf-8")  # as long as before
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))


def add(docs: Path) -> None:
    write(docs, "cup")


def delete(docs: Path) -> None:
    (docs / "teapot.md").unlink()


def rename(docs: Path) -> None:
    (docs / "teapot.md").rename(docs / "pot.md")


@pytest.mark.parametrize("change", [edit, add, delete, rename])
def test_a_changed_folder_is_indexed_again(
    site: tuple[Path, Path], change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page edited, added, deleted or renamed counts."""
    change(site[0])
    assert builds(site[0], monkeypatch) == 1


def test_another_version_of_the_code_builds_again(site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """After an upgrade nobody searches with yesterday's index."""
    data = cache.loads(site[1].read_bytes())
    site[1].write_bytes(cache.dumps({**data, "code": "yesterday's"}))
    assert builds(site[0], monkeypatch) == 1


# --- not trusted --------------------------------------------------------------------------------------------


class Bomb:
    """A pickle that runs code when it is read."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (os.environ["PGDOCS_TEST_BOMB"],)


def bomb(blob: bytes) -> bytes:
    body = pickle.dumps(Bomb())
    rest = struct.pack(">QQ", len(body), 0) + body
    return cache.MAGIC + zlib.crc32(rest).to_bytes(4, "big") + rest


def flipped(blob: bytes) -> bytes:
    middle = len(blob) // 2
    return blob[:middle] + bytes([blob[middle] ^ 1]) + blob[middle + 1 :]


def remade(**parts: object) -> Callable[[bytes], bytes]:
    """The same cache with a right check sum and some parts that do not belong to the others."""
    return lambda blob: cache.dumps({**cache.loads(blob), **parts})


def with_field(name: str, part: str, change: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    """The same, where one array of one field has been changed."""

    def damage(blob: bytes) -> bytes:
        data = cache.loads(blob)
        field = {**data["fields"][name], part: change(data["fields"][name][part])}
        return cache.dumps({**data, "fields": {**data["fields"], name: field}})

    return damage


def with_symbol(place: int, value: object) -> Callable[[bytes], bytes]:
    def damage(blob: bytes) -> bytes:
        row: list[object] = ["kettle", "function", (), "", "kettle", "", "", "", (), "", "", (), False]
        row[place] = value
        return cache.dumps({**cache.loads(blob), "symbols": [tuple(row)]})

    return damage


def of_other_things(blob: bytes) -> bytes:
    return cache.dumps({"files": {}, "code": cache.code_version(), "page": "?"})


def without_a_part(blob: bytes) -> bytes:
    return cache.dumps({name: part for name, part in cache.loads(blob).items() if name != "fields"})


@pytest.mark.parametrize(
    "damage",
    [
        bomb,
        flipped,
        of_other_things,
        without_a_part,
        lambda blob: blob[: len(blob) // 3],
        lambda blob: b"",
        lambda blob: b"\x80\x05garbage" * 99,
        lambda blob: blob.replace(cache.MAGIC, b"pgdocs index 0\n"),
        lambda blob: blob[:19] + b"\xff" + blob[20:],  # the size of what follows
        lambda blob: blob + b"and more",
        with_field("body", "docs", lambda docs: docs + 60_000),
        with_field("page", "docs", lambda docs: docs[:-1]),
        with_field("head", "docs", lambda docs: docs.astype(np.int32)),
        with_field("body", "indptr", lambda ends: ends[::-1]),
        with_field("pair", "indptr", lambda ends: ends + 1),
        with_field("body", "values", lambda values: values * np.float16("nan")),
        with_field("phrase", "size", lambda size: 10**12),
        remade(terms="one", df=np.zeros(1, np.int32)),
        remade(cosine=np.zeros(1, np.float16)),
        remade(page=[("kettle",) * 7]),
        remade(page=[("kettle",) * 6 + (7,), ("teapot",) * 7]),
        remade(elsewhere=[7]),
        remade(phrase={"page": np.array([5], np.int32), "passage": np.array([0], np.int32)}),
        remade(passage={"page": np.array([0, 9], np.int32), "anchor": [], "section": [], "text": cache.Texts.of([])}),
        with_symbol(1, "no kind"),
        with_symbol(4, "no page"),
        with_symbol(2, (7,)),
    ],
)
def test_an_odd_cache_is_rebuilt_not_run(
    site: tuple[Path, Path],
    damage: Callable[[bytes], bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Crafted, damaged, cut off, or another thing altogether: the search works, and no code of the file has run."""
    monkeypatch.setenv("PGDOCS_TEST_BOMB", str(tmp_path / "exploded"))
    site[1].write_bytes(damage(site[1].read_bytes()))
    assert builds(site[0], monkeypatch) == 1
    assert not (tmp_path / "exploded").exists()
    assert cache.loads(site[1].read_bytes())["page"]


def test_the_bomb_would_go_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The test above means something: an ordinary reader runs the file's code."""
    monkeypatch.setenv("PGDOCS_TEST_BOMB", str(tmp_path / "exploded"))
    pickle.loads(pickle.dumps(Bomb()))
    assert (tmp_path / "exploded").exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_cache_that_others_may_write_is_ignored(
    site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With one line that says so; what is written instead is readable by the user alone."""
    site[1].chmod(0o666)
    assert builds(site[0], monkeypatch) == 1
    assert len([r for r in caplog.records if "others may write" in r.getMessage()]) == 1
    assert site[1].stat().st_mode & 0o077 == 0


def test_a_folder_in_its_place_is_no_error(
    site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The index then goes into the user's own cache folder, one file per docs folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "mine"))
    monkeypatch.setattr(cache, "_user_cache_dir", lambda: tmp_path / "mine")
    site[1].unlink()
    (site[1] / "something").mkdir(parents=True)
    assert builds(site[0], monkeypatch) == 1
    assert len(list((tmp_path / "mine").rglob("*.pkl"))) == 1
    assert builds(site[0], monkeypatch) == 0
    assert cache.cache_files(site[0])[1] != cache.cache_files(site[0].with_name("other"))[1]


def test_a_cache_that_cant_be_written_is_no_error(
    site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk costs a line in the log and a build at the next start, nothing else."""

    def full(self: Path, target: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    add(site[0])
    assert builds(site[0], monkeypatch) == 1
    assert "No space left" in caplog.text
    assert not list(site[0].parent.glob(".*.tmp"))


# --- only what changed --------------------------------------------------------------------------------------


def same_as_anew(docs: Path, before: dict[str, Any]) -> bool:
    """Whether an index made from the one before is that made from nothing, byte by byte."""
    return cache.dumps(build(docs, before=cache.loads(cache.dumps(before)))) == cache.dumps(build(docs))


def changed_at_random(docs: Path, chance: random.Random) -> None:
    """Edit, add, rename and delete some pages."""
    files = sorted(docs.glob("*.md"))
    for file in chance.sample(files, min(3, len(files))):
        text = file.read_text(encoding="utf-8")
        kind = chance.randrange(4)
        if kind == 0:
            file.write_text(text + f"\n\nA zeppelin{chance.randrange(9)} of the pages.\n", encoding="utf-8")
        elif kind == 1:
            file.write_text("\n".join(text.split("\n")[: chance.randrange(3, 60)]), encoding="utf-8")
        elif kind == 2:
            file.rename(file.with_name(f"aa{chance.randrange(10**6)}__{file.name}"))
        elif len(files) > 2:
            file.unlink()
    write(docs, f"cup{chance.randrange(99)}")


def test_an_index_made_from_the_one_before_is_the_same(own: Path) -> None:
    """Whatever has happened to the pages, and after several rounds: nobody can tell it from one built anew."""
    chance, before = random.Random(17), build(own)
    for _ in range(8):
        changed_at_random(own, chance)
        assert same_as_anew(own, before)
        before = build(own, before=before)


@pytest.mark.skipif(not os.environ.get("PGDOCS_DOCS"), reason="needs pages of whole manuals: set PGDOCS_DOCS")
def test_a_real_manual_is_rebuilt_the_same(tmp_path: Path) -> None:
    """All pages of both manuals, some of them changed."""
    docs = Path(shutil.copytree(os.environ["PGDOCS_DOCS"], tmp_path / "docs"))
    before = build(docs)
    changed_at_random(docs, random.Random(4))
    assert same_as_anew(docs, before)


def test_only_changed_pages_are_parsed(site: tuple[Path, Path], tmp_path: Path) -> None:
    """What the cache holds of a page that is still the same is taken as it is, also by the builder's process."""
    data = cache.loads(site[1].read_bytes())
    texts = [text.replace("All about", "Said only by the cache:") for text in data["passage"]["text"]]
    data["passage"]["text"] = cache.Texts.of(texts)
    site[1].write_bytes(cache.dumps(data))
    edit(site[0])
    index = DocumentSearchIndex(site[0])
    assert "Said only by the cache" in index.search("teapot")[0].snippet
    assert "Said only by the cache" not in index.search("kettel")[0].snippet
    index.build_index(force=True)
    assert "Said only by the cache" not in index.search("teapot")[0].snippet


def test_pages_without_a_word_are_pages(tmp_path: Path) -> None:
    """A folder of nothing but stop words is indexed, kept and found by its page's name."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "the.md").write_text("the\n", encoding="utf-8")
    for _ in range(2):
        assert DocumentSearchIndex(docs).search("kettle") == []
        assert DocumentSearchIndex(docs).get_document("the") == "the\n"
    kept = cache.read(cache.cache_files(docs)[0])
    assert kept
    assert kept["terms"] == ""


def test_a_cache_that_names_a_page_it_does_not_know_is_built_anew(site: tuple[Path, Path]) -> None:
    """One whose parts don't belong together costs a rebuild, never an answer."""
    docs, file = site
    index = DocumentSearchIndex(docs, file)
    index.build_index()
    data = cache.read(file)
    assert data
    name = next(iter(data["files"]))
    odd = {**data, "files": {other: told for other, told in data["files"].items() if other != name}}
    file.write_bytes(cache.dumps(odd))
    (docs / name).touch()
    assert DocumentSearchIndex(docs, file).search("kettle")
    assert name in (cache.read(file) or {})["files"]


# --- the process --------------------------------------------------------------------------------------------


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


SEARCH = """
import sys
from pgdocs.search.index import DocumentSearchIndex
index = DocumentSearchIndex(sys.argv[1])
print(index.search("kettle")[0].doc_name, *sorted({n.partition(".")[0] for n in sys.modules} & {"sklearn", "scipy"}))
"""


@pytest.mark.parametrize("cached", [True, False])
def test_a_searching_process_never_holds_scikit_learn(site: tuple[Path, Path], cached: bool) -> None:
    """It would double the process: also the one that had to build has built elsewhere."""
    if not cached:
        site[1].unlink()
    out, err = python(SEARCH, site[0]).communicate(timeout=60)
    assert (out.split(), err) == (["kettle"], "")


def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    """Both answer, and what they leave is one whole cache."""
    docs = write(tmp_path / "docs", "kettle", "teapot")
    both = [python(SEARCH, docs) for _ in range(2)]
    assert [process.communicate(timeout=120)[0].split() for process in both] == [["kettle"]] * 2
    assert cache.read(docs.with_name("docs.cache.pkl"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["docs", "docs.cache.pkl"]


def test_the_builder_ends_with_its_parent(tmp_path: Path) -> None:
    """Who is killed while the index is built leaves nobody behind."""
    docs = write(tmp_path / "docs", *(f"note{n}" for n in range(500)))
    child = subprocess.Popen(
        [sys.executable, "-m", "pgdocs.search.build", str(docs)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdin
    child.stdin.close()
    assert child.wait(timeout=20) != 0


def test_a_build_that_fails_says_why(site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is one sentence with the builder's own last line."""
    site[1].unlink()
    monkeypatch.setattr(sys, "executable", str(site[0] / "no-python-here"))
    with pytest.raises(BuildError, match="could not be built"):
        DocumentSearchIndex(site[0]).build_index()


# --- while it runs ------------------------------------------------------------------------------------------


def test_a_changed_page_is_found_while_it_runs(site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the new index is there the old one answers and says so; then the new page is found, the deleted one not."""
    monkeypatch.setattr(index_module, "CHECK_EVERY", 0.0)
    index = DocumentSearchIndex(site[0])
    index.build_index()
    assert not index.refresh()
    assert index.stale == ""
    (site[0] / "cup.md").write_text("# Cup\n\nA cup of porcelain.\n", encoding="utf-8")
    delete(site[0])
    assert index.refresh()
    assert "changed" in index.stale
    assert index.search("kettle")[0].doc_name == "kettle"
    until(lambda: not index.refresh(), 30, "the index is built again")
    assert index.search("porcelain")[0].doc_name == "cup"
    assert [info.doc_name for info in index.pages()] == ["cup", "kettle"]
    assert index.stale == ""


def test_looking_is_cheap(site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is looked at once in CHECK_EVERY seconds, however often one asks."""
    index = DocumentSearchIndex(site[0])
    index.build_index()
    scans: list[Path] = []
    scan = cache.scan

    def counting(folder: Path) -> dict[str, tuple[int, int]]:
        scans.append(folder)
        return scan(folder)

    monkeypatch.setattr(cache, "scan", counting)
    monkeypatch.setattr(index, "_checked", -1e9)
    for _ in range(5):
        index.refresh()
    assert len(scans) == 1


def test_a_folder_that_was_emptied_keeps_its_index(site: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who cleans up while the server runs gets yesterday's answers and a sentence, not errors."""
    monkeypatch.setattr(index_module, "CHECK_EVERY", 0.0)
    index = DocumentSearchIndex(site[0])
    index.build_index()
    for file in site[0].glob("*.md"):
        file.unlink()
    assert index.refresh()
    until(lambda: "No pages" in index.stale, 30, "the empty folder is seen")
    assert index.search("kettle")[0].doc_name == "kettle"
