"""Manuals that are on this machine: a folder of HTML, an archive, a single-page manual, a distribution's package.

Whatever it is, it becomes a mapping from page names to bytes, so that the crawl reads it as it reads a site.
An archive is never unpacked: links, absolute names and `..` in it are passed over, and its size is bounded.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path, PurePosixPath
from typing import IO, cast

from pgdocs.errors import ScrapeError
from pgdocs.scrape.single import cut, decode
from pgdocs.scrape.sources import INDEX, Source

MAX_PAGE = 16 << 20
"""Bytes of one file: the largest of either manual, PostGIS on a single page, has 3.8 MB."""

MAX_MANUAL = 256 << 20
"""Bytes of all pages together, which are kept in memory: PostgreSQL's have 31 MB."""

MAX_ARCHIVE = 1 << 30
"""Bytes that are unpacked to get through a tar: PostgreSQL's whole source has some 200 MB."""

MAX_FILES = 100_000
"""Files that are looked at: both manuals have 2,500, PostgreSQL's whole source has 7,000."""

TITLE_BYTES = 16 << 10
"""A page's title stands within its first kilobyte, and a site's template may put something before it."""

PREFIXES = tuple(map(Path, ("/usr", "/usr/local", "/opt/homebrew", "/home/linuxbrew/.linuxbrew")))
"""Where systems install: Linux distributions, what was built by hand, Homebrew on three kinds of machine."""


@dataclass(frozen=True)
class Packaged:
    """How distributions hand out a manual."""

    folders: tuple[str, ...]
    """Patterns of its documentation folders below PREFIXES: Debian's, Fedora's, Homebrew's."""

    debian: str
    """Regular expression of Debian's package names; the one with the greatest number (group 1) is the newest."""

    install: str
    """What someone with root can do."""

    prints_folder: tuple[str, ...] = ()
    """A command that prints where the manual would be."""

    single: tuple[str, ...] = ()
    """What the file is called that holds the whole manual on one page, best first."""


PACKAGED = {
    "pg": Packaged(
        folders=("share/doc/postgresql*/html", "opt/postgresql*/share/doc/postgresql*/html"),
        debian=r"postgresql-doc-(\d+)",
        install="sudo apt install postgresql-doc (or dnf install postgresql-docs, brew install postgresql)",
        prints_folder=("pg_config", "--htmldir"),
    ),
    "postgis": Packaged(
        folders=("share/doc/postgis*", "opt/postgis*/share/doc/postgis*"),
        debian=r"postgis-doc()",
        install="sudo apt install postgis-doc",
        single=("postgis-en.html", "postgis.html"),
    ),
}
"""By what all editions are called; a source without an entry is had from its site or `--from` only."""


class LocalManual:
    """A manual's pages, file name → HTML. They can be read in any order and from several threads."""

    def __init__(self, pages: Mapping[str, bytes]) -> None:
        self._pages = pages

    def read(self, name: str) -> bytes | None:
        """The page of that name (`sql-select.html`, in its exact case); None if there is none."""
        return self._pages.get(name)


def open_local(path: Path, source: Source) -> LocalManual:
    """The manual of `source` in a folder, an archive (.tar.*, .zip, .whl) or a single HTML file.

    It may lie anywhere in there. Where there are several, the one whose folder is called as on the web is taken,
    else the newest. ScrapeError if there is none, or if it can't be read.
    """
    path = path.expanduser().absolute()
    path = path.parent if path.name == INDEX else path
    try:
        found = _find(path, source)
        if found:
            return LocalManual(_pages(path, found[1]))
    except FileNotFoundError:
        raise ScrapeError(f"There is no {path}: name a folder, an archive or a URL that exists.") from None
    except _DAMAGED as error:
        reason = str(error) or type(error).__name__
        raise ScrapeError(f"{path} can't be read as a manual: {reason}. Fetch it again.") from error
    names = " or ".join((INDEX, *_single_pages(source)))
    manual = source.label if source.pinned else source.product
    raise ScrapeError(f"There is no {manual} manual in {path}: name the folder or archive with its {names}.")


# --- finding the manual -----------------------------------------------------------------------------------


def _find(path: Path, source: Source) -> tuple[tuple[int, ...], PurePosixPath] | None:
    """The version and the first page (or the only one) of the manual to take from `path`."""
    single, on_the_web = _single_pages(source), PurePosixPath(source.base.split("://")[1]).parts[1:]
    best = None
    for file, read in _files(path):
        version = version_of(read(TITLE_BYTES), source) if file.name in (INDEX, *single) else ()
        if version and source.accepts(".".join(map(str, version))):
            folder = (*path.parts, *file.parent.parts)
            rank = single.index(file.name) if file.name in single else -1
            key = (folder[-len(on_the_web) :] == on_the_web, version, rank < 0, -len(folder), -rank)
            best = max(best or (key, file), (key, file))
    return (best[0][1], best[1]) if best else None


def version_of(html: bytes, source: Source) -> tuple[int, ...]:
    """The version that a first page's title names, `PostgreSQL 15.20 Documentation` → (15, 20); () if it names none."""
    title = re.search(r"<title[^>]*>(.*?)</title", decode(html), re.I | re.S)
    found = re.search(source.version, " ".join(unescape(title[1]).split())) if title else None
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def _pages(path: Path, first: PurePosixPath) -> dict[str, bytes]:
    """All pages of the manual that begins with `first`."""
    pages: dict[str, bytes] = {}
    total = 0
    for file, read in _files(path):
        if file == first or (first.name == INDEX and file.parent == first.parent):
            html = pages[file.name] = read(MAX_PAGE + 1)
            total += len(html)
            if len(html) > MAX_PAGE or total > MAX_MANUAL:
                raise ScrapeError(f"{path} holds more than a manual can have ({file} is too large): name another.")
    return pages if first.name == INDEX else cut(pages[first.name])


def _single_pages(source: Source) -> tuple[str, ...]:
    return PACKAGED[source.family].single if source.family in PACKAGED else ()


# --- folders and archives ---------------------------------------------------------------------------------

_File = tuple[PurePosixPath, Callable[[int], bytes]]
"""A file's name, and what reads so many of its bytes; that must be done before the next file is asked for."""

_DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
)
"""What a broken, encrypted or disguised archive raises."""

_OPENERS: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda raw: cast(IO[bytes], gzip.GzipFile(fileobj=raw)),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
"""How a tar is compressed, by its first bytes."""


def _files(path: Path) -> Iterator[_File]:
    """Every HTML file in a folder or an archive, or the one that `path` is."""
    if path.is_dir():
        files = _folder(path)
    elif path.suffix == ".html":
        files = iter([(PurePosixPath(path.name), partial(_head, path))])
    else:
        files = _zip(path) if zipfile.is_zipfile(path) else _tar(path)
    for number, (file, read) in enumerate(files):
        if number >= MAX_FILES:
            raise ScrapeError(f"{path} holds more than {MAX_FILES:,} files: name the manual's own folder or archive.")
        if file.suffix == ".html" and not file.is_absolute() and ".." not in file.parts:
            yield file, read


def _folder(path: Path) -> Iterator[_File]:
    root = path.resolve()
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if not file.is_symlink() or file.resolve().is_relative_to(root):
                yield PurePosixPath(file.relative_to(root).as_posix()), partial(_head, file)


def _head(file: Path, size: int) -> bytes:
    with file.open("rb") as stream:
        return stream.read(size)


def _zip(path: Path) -> Iterator[_File]:
    with zipfile.ZipFile(path) as archive:

        def head(info: zipfile.ZipInfo, size: int) -> bytes:
            with archive.open(info) as stream:
                return stream.read(size)

        for info in archive.infolist():
            if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16):
                yield PurePosixPath(info.filename), partial(head, info)


def _tar(path: Path) -> Iterator[_File]:
    with path.open("rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)
        with opener(raw) if opener else raw as plain:
            bounded = cast(IO[bytes], _Bounded(plain, path))
            with tarfile.open(fileobj=bounded, mode="r:") as archive:

                def head(member: tarfile.TarInfo, size: int) -> bytes:
                    stream = archive.extractfile(member)
                    return stream.read(size) if stream else b""

                for member in archive:
                    if member.isreg():
                        yield PurePosixPath(member.name), partial(head, member)


class _Bounded:
    """What tarfile reads from: no more of it than MAX_ARCHIVE, and no more at a time than a page can have.

    A tar's own headers may claim any size, and tarfile believes them.
    """

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path = file, path
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= MAX_PAGE + 1:
            raise ScrapeError(f"{self._path} holds more than a manual can have: name another archive.")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if offset > MAX_ARCHIVE:
            raise ScrapeError(
                f"{self._path} unpacks to more than {MAX_ARCHIVE >> 20} MB: name the manual's own archive."
            )
        return self._file.seek(offset, whence)


# --- what distributions have ------------------------------------------------------------------------------


def installed(source: Source, prefixes: Sequence[Path] = PREFIXES) -> Path | None:
    """The folder of the newest copy that is installed on this machine; None if there is none."""
    packaged = PACKAGED.get(source.family)
    if not packaged:
        return None
    folders = {folder for prefix in prefixes for pattern in packaged.folders for folder in prefix.glob(pattern)}
    if packaged.prints_folder and shutil.which(packaged.prints_folder[0]):
        with suppress(ScrapeError):  # one that fails knows no folder
            folders.add(Path(_run(packaged.prints_folder).strip()))
    versions = []
    for folder in sorted(folders):
        found = _find(folder, source) if folder.is_dir() else None
        if found:
            versions.append((found[0], folder))
    return max(versions)[1] if versions else None


def download_package(source: Source, into: Path) -> Path | None:
    """Have Debian's package manager fetch the newest package of the manual, unpack it below `into`, name the folder.

    Root is not needed. None where there is no apt, or no package known to distributions; ScrapeError if apt fails.
    """
    packaged = PACKAGED.get(source.family)
    if not packaged or not all(map(shutil.which, ("apt-get", "apt-cache", "dpkg-deb"))):
        return None
    names = _run(("apt-cache", "pkgnames")).split()
    known = [
        match
        for name in names
        if (match := re.fullmatch(packaged.debian, name)) and (not match[1] or source.accepts(match[1]))
    ]
    if not known:
        update = "apt-get update" if os.geteuid() == 0 else "sudo apt-get update"
        manual = source.label if source.pinned else source.product
        raise ScrapeError(f"apt knows no package of the {manual} manual: run {update}, then this again.")
    package = max(known, key=lambda match: int(match[1] or 0))[0]
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into) as work:
        _run(("apt-get", "download", package), cwd=Path(work), timeout=300)
        file = next(Path(work).glob("*.deb"))
        unpacked = Path(work, "unpacked")
        _run(("dpkg-deb", "-x", str(file), str(unpacked)))
        folder = into / package
        shutil.rmtree(folder, ignore_errors=True)
        unpacked.rename(folder)
    if source.pinned and not _find(folder, source):
        raise ScrapeError(f"The package {package} has another version than {source.label}.")
    return folder


def _run(command: Sequence[str], cwd: Path | None = None, timeout: float = 20) -> str:
    """What a program prints; ScrapeError with its own words if it fails or takes more than `timeout` seconds."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        raise ScrapeError(f"{' '.join(command)} failed: {last}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ScrapeError(f"{' '.join(command)} failed: {error}") from error
    return done.stdout
