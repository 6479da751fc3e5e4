"""The pickled index: what goes in, what may come out, when it is stale.

The file is MAGIC, a CRC of the rest, two sizes, a pickle of plain containers, texts and numbers, and the arrays' bytes;
an array stands in the pickle as (dtype, place, length). So the reader admits no class at all, and a crafted pickle
can't run anything; `fits` then says whether the parts belong together. The file is keyed by what the docs folder holds
(name, size and hash of each page), by the code that made it and by the phrase files; whatever is odd about it means a
rebuild, never an error.
"""

from __future__ import annotations

import contextlib
import io
import logging
import mmap
import os
import pickle
import stat
import struct
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, overload

import numpy as np

from pgdocs.pages import __file__ as _pages_file
from pgdocs.search.fits import fits

if TYPE_CHECKING:
    import hashlib

log = logging.getLogger("pgdocs")

MAGIC = b"pgdocs index 2\n"
_HEAD = struct.Struct(">IQQ")
"""CRC of what follows it, size of the pickle, size of the arrays."""

PHRASES_DIR = Path(__file__).parents[1] / "phrases"

ELSEWHERE = "elsewhere.tsv"
COUNTERPARTS = "counterparts.tsv"
"""Beside the phrase files: other products' names, with what each is; what they call what we have (`group_concat`)."""

Files = dict[str, tuple[int, int, str]]
"""Relative path → size, mtime in ns, hash."""

MOST = 1 << 32
"""Bytes of a cache, at most: what claims to be larger is damaged (10,000 pages take 0.1 GB)."""

_DTYPES = frozenset({"float16", "float32", "int32", "uint32", "uint16", "uint8", "bool"})


class Texts(Sequence[str]):
    """Many texts as one run of UTF-8, decoded when asked for: 11,000 passages take 10 MB instead of 14, and no time."""

    def __init__(self, joined: np.ndarray[Any, Any], ends: np.ndarray[Any, Any]) -> None:
        self.joined, self.ends = joined, ends

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        encoded = [text.encode("utf-8", "replace") for text in texts]
        return cls(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)])[1:].astype(np.int32))

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        start = self.ends[place - 1] if place else 0
        return self.joined[start : self.ends[place]].tobytes().decode("utf-8", "replace")


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
    """`data` (plain containers, arrays and Texts) as the bytes of a cache file."""
    arrays = bytearray()
    body = pickle.dumps(_pack(data, arrays, {}), protocol=5)
    head = _HEAD.pack(0, len(body), len(arrays))[4:]
    return b"".join((MAGIC, zlib.crc32(arrays, zlib.crc32(head + body)).to_bytes(4, "big"), head, body, arrays))


def loads(blob: bytes) -> dict[str, Any]:
    """The inverse of `dumps`. ValueError or pickle.UnpicklingError for anything else."""
    return load(io.BytesIO(blob))[0]


def load(stream: IO[bytes]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """The data in a stream, and the parts that make up its bytes, for `write`. Raises as `loads`.

    Both are read into memory of their own, which goes back to the system with its last reader: the C library would keep
    what it has given out in such large pieces, and a server that indexes again and again would grow.
    """
    start = stream.read(len(MAGIC) + _HEAD.size)
    if start[: len(MAGIC)] != MAGIC or len(start) < len(MAGIC) + _HEAD.size:
        raise ValueError("not an index of this version")
    crc, *sizes = _HEAD.unpack(start[len(MAGIC) :])
    (pickled, body), (_, arrays) = (_filled(stream, size) for size in sizes)
    if stream.read(1) or zlib.crc32(arrays, zlib.crc32(body, zlib.crc32(start[len(MAGIC) + 4 :]))) != crc:
        raise ValueError("damaged")
    data = _unpack(_PlainUnpickler(pickled).load(), arrays)
    if not isinstance(data, dict):
        raise ValueError("not an index")
    return data, (start, body, arrays)


def _filled(stream: IO[bytes], size: int) -> tuple[mmap.mmap, memoryview]:
    """The next `size` bytes of a stream, in memory that is not the C library's."""
    if size > MOST:
        raise ValueError("damaged")
    memory = mmap.mmap(-1, max(size, 1))
    view, at = memoryview(memory)[:size], 0
    while at < size:
        got = stream.readinto(view[at:])  # type: ignore[attr-defined]
        if not got:
            raise ValueError("cut off")
        at += got
    return memory, view.toreadonly()


def read(file: Path) -> dict[str, Any] | None:
    """The data in a cache file; None, with a line in the log, where there is none that can be trusted."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a file")
        if os.name == "posix" and status.st_uid not in (0, os.geteuid()):  # an installed one is root's
            raise ValueError("it is somebody else's")
        if os.name == "posix" and (status.st_mode & 0o002 or (status.st_mode & 0o020 and not _is_private(status))):
            raise ValueError("others may write to it")
        with file.open("rb") as stream:
            data, _ = load(stream)
        if data.get("code") == code_version():  # another version's is of no use anyway
            fits(data)
        return data
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever is odd about a cache means a rebuild
        log.warning("Ignoring the index cache %s: %s.", file, error)
        return None


def _is_private(status: os.stat_result) -> bool:
    """Whether the file's group is its owner alone: where every user has such a group, what pip installs is writable by
    it. Recognised as OpenSSH does: the group has the user's name and no other members."""
    import grp
    import pwd

    try:
        name, group = pwd.getpwuid(status.st_uid).pw_name, grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return group.gr_name == name and set(group.gr_mem) <= {name}


def write(file: Path, *parts: Any) -> bool:
    """Write bytes atomically, readable by the user alone. False, with a line in the log, where that can't be done."""
    import tempfile  # with shutil and the compressors behind it: not before there is something to write

    temporary = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
        with os.fdopen(handle, "wb") as out:
            out.writelines(parts)
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


def _pack(value: Any, arrays: bytearray, known: dict[Any, Any]) -> Any:
    """`value` as plain data; its arrays' bytes go to the end of `arrays`. Equal texts and tuples become one: the file
    does not depend on which of them were the same object, and a process that reads it has each once."""
    if isinstance(value, np.ndarray):
        arrays.extend(bytes(-len(arrays) % 8))
        packed = ("array", value.dtype.name, len(arrays), len(value))
        arrays.extend(value.tobytes())
        return packed
    if isinstance(value, Texts):
        return ("texts", _pack(value.joined, arrays, known), _pack(value.ends, arrays, known))
    if isinstance(value, dict):
        return {_pack(key, arrays, known): _pack(inner, arrays, known) for key, inner in value.items()}
    if isinstance(value, list):
        return [_pack(inner, arrays, known) for inner in value]
    if isinstance(value, tuple):
        value = tuple([_pack(inner, arrays, known) for inner in value])
    return known.setdefault(value, value) if isinstance(value, str | tuple) else value


def _unpack(value: Any, arrays: memoryview) -> Any:
    if isinstance(value, tuple) and len(value) == 4 and value[0] == "array":
        if value[1] not in _DTYPES:
            raise ValueError(f"array of {value[1]}")
        return np.frombuffer(arrays, value[1], count=value[3], offset=value[2]) if value[3] else np.empty(0, value[1])
    if isinstance(value, tuple) and len(value) == 3 and value[0] == "texts":
        return Texts(_unpack(value[1], arrays), _unpack(value[2], arrays))
    if isinstance(value, dict):
        return {key: _unpack(inner, arrays) for key, inner in value.items()}
    return value
