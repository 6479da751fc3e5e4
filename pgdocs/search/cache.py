"""The pickled index: what goes in, what may come out, when it is stale.

The file is MAGIC, a CRC of the rest, then one pickle of plain containers, texts and numbers; arrays stand in it as
(dtype, bytes). So the reader admits no class at all, and a crafted pickle can't run anything. It is keyed by what
the docs folder holds (name, size and hash of each page), by the code that made it and by the phrase files; whatever
is odd about it means a rebuild, never an error.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import pickle
import stat
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pgdocs.pages import __file__ as _pages_file

if TYPE_CHECKING:
    import hashlib

log = logging.getLogger("pgdocs")

MAGIC = b"pgdocs index 1\n"

PHRASES_DIR = Path(__file__).parents[1] / "phrases"

ELSEWHERE = "elsewhere.tsv"
COUNTERPARTS = "counterparts.tsv"
"""Beside the phrase files: other products' names, with what each is; what they call what we have (`group_concat`)."""

Files = dict[str, tuple[int, int, str]]
"""Relative path → size, mtime in ns, hash."""

_DTYPES = frozenset({"float16", "float32", "int32", "uint32", "uint16", "uint8", "bool"})


# --- what the index is made from ----------------------------------------------------------------------------


def scan(docs_dir: Path) -> dict[str, tuple[int, int]]:
    """The markdown files below `docs_dir`: relative path → (size, mtime in ns). Hidden folders are left out, and links
    that lead out of it: a folder that somebody else made must not have a private file of ours read to a model."""
    root = os.path.realpath(docs_dir)
    found: dict[str, tuple[int, int]] = {}
    folders = [(docs_dir, "")]
    while folders:
        folder, prefix = folders.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append((Path(entry.path), f"{prefix}{entry.name}/"))
                    elif entry.name.endswith(".md") and entry.is_file() and _is_below(root, entry):
                        status = entry.stat()
                        found[prefix + entry.name] = (status.st_size, status.st_mtime_ns)
    return dict(sorted(found.items()))


def _is_below(root: str, entry: os.DirEntry[str]) -> bool:
    return not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(root)


def fingerprint(docs_dir: Path, known: Mapping[str, tuple[int, int, str]] | None = None) -> Files:
    """The folder's content. A file whose size and time are those of `known` is taken as unchanged, unread."""
    files: Files = {}
    for name, (size, mtime) in scan(docs_dir).items():
        old = (known or {}).get(name)
        if old and old[:2] == (size, mtime):
            files[name] = old
        else:
            with contextlib.suppress(OSError):  # gone since the scan
                files[name] = (size, mtime, _hash([docs_dir / name]))
    return files


def same_content(a: Mapping[str, tuple[int, int, str]], b: Mapping[str, tuple[int, int, str]]) -> bool:
    """Whether two fingerprints hold the same pages; when they were written doesn't count."""
    return {name: f[2] for name, f in a.items()} == {name: f[2] for name, f in b.items()}


def code_version() -> str:
    """A hash over the code and the phrase files that an index depends on."""
    return _hash([Path(_pages_file), *sorted(Path(__file__).parent.glob("*.py")), *sorted(PHRASES_DIR.glob("*.tsv"))])


def _hash(files: Iterable[Path]) -> str:
    digest = _blake2b(16)
    for file in files:
        digest.update(file.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()


def _blake2b(size: int) -> hashlib.blake2b:
    import hashlib  # it brings OpenSSL along: `import search_index` needs neither

    return hashlib.blake2b(digest_size=size)


def phrase_files(phrases_dir: Path = PHRASES_DIR) -> list[Path]:
    """The phrase files, one for each manual."""
    return sorted(file for file in phrases_dir.glob("*.tsv") if file.name not in (ELSEWHERE, COUNTERPARTS))


# --- the file -----------------------------------------------------------------------------------------------


def cache_files(docs_dir: Path) -> list[Path]:
    """Where the cache of a docs folder may lie, best first: beside it, else in the user's cache folder."""
    docs_dir = Path(os.path.realpath(docs_dir))  # Path.resolve fails on links in a circle
    digest = _blake2b(8)
    digest.update(str(docs_dir).encode("utf-8", "surrogateescape"))
    files = [docs_dir.with_name(docs_dir.name + ".cache.pkl")] if docs_dir.name else []  # nothing is beside /
    with contextlib.suppress(RuntimeError):  # a user whom the system doesn't know has no home, and no second place
        files.append(_user_cache_dir() / "pgdocs" / f"{digest.hexdigest()}.cache.pkl")
    return files


def _user_cache_dir() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def dumps(data: Mapping[str, Any]) -> bytes:
    """`data` (plain containers and arrays) as the bytes of a cache file."""
    body = pickle.dumps(_pack(data), protocol=5)
    return MAGIC + zlib.crc32(body).to_bytes(4, "big") + body


def loads(blob: bytes) -> dict[str, Any]:
    """The inverse of `dumps`. ValueError or pickle.UnpicklingError for anything else."""
    start = len(MAGIC) + 4
    if blob[: len(MAGIC)] != MAGIC:
        raise ValueError("not an index of this version")
    if zlib.crc32(memoryview(blob)[start:]) != int.from_bytes(blob[len(MAGIC) : start], "big"):
        raise ValueError("damaged")
    file = io.BytesIO(blob)  # shares the bytes as long as nobody writes
    file.seek(start)
    data = _unpack(_PlainUnpickler(file).load())
    if not isinstance(data, dict):
        raise ValueError("not an index")
    return data


def read(file: Path) -> dict[str, Any] | None:
    """The data in a cache file; None, with a line in the log, where there is none that can be trusted."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a file")
        if os.name == "posix" and status.st_mode & 0o022:
            raise ValueError("others may write to it")
        if os.name == "posix" and status.st_uid not in (0, os.getuid()):  # an installed one is root's
            raise ValueError("it is somebody else's")
        return loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever is odd about a cache means a rebuild
        log.warning("Ignoring the index cache %s: %s.", file, error)
        return None


def write(file: Path, blob: bytes) -> bool:
    """Write atomically, readable by the user alone. False, with a line in the log, where that can't be done."""
    import tempfile  # with shutil and the compressors behind it: not before there is something to write

    temporary = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(blob)
        Path(temporary).replace(file)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        log.warning("Can't write the index cache %s: %s.", file, error.strerror or error)
        return False
    return True


class _PlainUnpickler(pickle.Unpickler):
    """Admits no class and no function: containers, texts and numbers need none."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it holds {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it refers to something outside")


def _pack(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.name, value.tobytes())
    if isinstance(value, dict):
        return {key: _pack(inner) for key, inner in value.items()}
    return value


def _unpack(value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == 3 and value[0] == "array":
        if value[1] not in _DTYPES:
            raise ValueError(f"array of {value[1]}")
        return np.frombuffer(value[2], dtype=value[1])
    if isinstance(value, dict):
        return {key: _unpack(inner) for key, inner in value.items()}
    return value
