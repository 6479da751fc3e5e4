"""A folder of markdown or MDX → pages: which files are pages, what they are called, and what they may include."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from pgdocs.errors import ScrapeError
from pgdocs.pages import PATH_SEPARATOR, Page, doc_name, split_anchors
from pgdocs.scrape.flavours import clean, resolve
from pgdocs.scrape.prose import front_matter, prose, scan

SUFFIXES = (".html.markdown", ".html.md", ".markdown", ".mdx", ".md")

MAX_FILE = 2 << 20
"""Bytes of one file: the longest page of the folders tried (Terraform's aws_s3_bucket and the like) has 0.2 MB."""

MAX_PAGES = 50_000
"""Pages of one folder: Terraform's largest provider has some 3,500."""

MAX_DEPTH, MAX_INCLUDED = 8, 500_000
"""How deep includes may lie in one another, and the characters that one page may include in all: a file that includes
itself twice would never end."""

_POINTER = b"version https://git-lfs.github.com/spec/"
"""What a file begins with that stands for one which Git LFS keeps."""

_LEFT_OUT = re.compile(
    r"change-?log|changes|history|release[-_]notes|contributing|code[-_]of[-_]conduct|security|licen[cs]e|authors"
    r"|maintainers|governance|newsletter|sponsors?|summary|404|_.*|readme-.*",
    re.IGNORECASE,
)
"""Names of files about the project or its site rather than about what it documents; with `_` begin parts of pages."""

_NO_PAGES = frozenset(("node_modules", "cdktf", "overrides", "partials", "includes", "snippets", "__tests__"))
"""Folders that hold parts of pages, or every page a second time (Terraform's in other languages)."""

_TERRAFORM = {
    "r": ("resources", "Resources", "resource"),
    "resources": ("resources", "Resources", "resource"),
    "d": ("data-sources", "Data Sources", "datasource"),
    "data-sources": ("data-sources", "Data Sources", "datasource"),
    "guides": ("guides", "Guides", "guide"),
    "functions": ("functions", "Functions", "function"),
    "ephemeral-resources": ("ephemeral-resources", "Ephemeral Resources", "ephemeral"),
    "list-resources": ("list-resources", "List Resources", "list"),
    "actions": ("actions", "Actions", "action"),
}
"""A provider's folder → what the registry calls it in URLs, what people call it, and the kind of its pages."""

_KINDS = (
    (r"(?:.*/)?tutorials?(?:/|$)", "tutorial"),
    (r"(?:.*/)?(?:reference|api|cli)(?:/|$)", "reference"),
    (r"(?:.*/)?(?:releases?|whats-?new|upgrading)(?:/|$)", "release"),
)
"""(pattern of a page's path, kind) for the other flavours; the rest are guides."""


@dataclass
class Folder:
    """A folder to index as the source `name`. Pages are below `pages`, and nothing outside of `root` is read.

    `url` is a page's address with `{path}` in it, "" where its pages have none.
    """

    name: str
    root: Path
    pages: Path
    flavour: str
    label: str
    url: str = ""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """(file, what could not be included), for the manifest."""

    def read(self) -> list[Page]:
        """All pages, in the order of their paths. Raises ScrapeError where there is none."""
        taken: dict[str, Page] = {}
        for file in sorted(self._files(), key=lambda file: (file.name.startswith("index."), file.as_posix())):
            path = self.path_of(file)
            slug = (path or "index").replace("/", "__")
            while slug in taken:  # tutorial.md beside tutorial/index.md
                slug += "__index"
            taken[slug] = self._page(file, path, slug)
        if not taken:
            raise ScrapeError(f"No markdown in {self.pages}: name the folder that holds the pages with --subdir.")
        return sorted(taken.values(), key=lambda page: page.doc_name)

    # --- files and their names --------------------------------------------------------------------------------

    def _files(self) -> Iterator[Path]:
        count = 0
        for above, folders, names in os.walk(self.pages):
            folders[:] = sorted(f for f in folders if f not in _NO_PAGES and not f.startswith((".", "_")))
            for name in sorted(names):
                file, suffix = Path(above, name), _suffix(name)
                if not suffix or _LEFT_OUT.fullmatch(name.removesuffix(suffix)) or name.startswith("."):
                    continue
                if _is_inside(file, self.root) and file.stat().st_size <= MAX_FILE:
                    if problem := _problem(file):
                        self.problems.append((file.relative_to(self.root).as_posix(), problem))
                        continue
                    count += 1
                    if count > MAX_PAGES:
                        raise ScrapeError(
                            f"{self.pages} holds more than {MAX_PAGES:,} pages: name a part with --subdir."
                        )
                    yield file

    def path_of(self, file: Path) -> str:
        """A page's place on its site: `tutorial/first-steps`; `tutorial` and "" for the index of a folder."""
        path = file.relative_to(self.pages).as_posix().removesuffix(_suffix(file.name))
        first, slash, rest = path.partition("/")
        if self.flavour == "terraform" and slash and first in _TERRAFORM:
            path = f"{_TERRAFORM[first][0]}/{rest}"
        return re.sub(r"(?:^|/)index$", "", path)

    def address(self, path: str) -> str:
        """The URL of the page at that place; "" where the folder's pages have none."""
        return re.sub(r"(?<!:)//+", "/", self.url.format(path=quote(path, safe="/%"))) if self.url else ""

    # --- one page ---------------------------------------------------------------------------------------------

    def _page(self, file: Path, path: str, slug: str) -> Page:
        values, text = front_matter(_text(file))
        text = clean(text, self.flavour, _Include(self, file))
        text = prose(text, lambda part: _relinked(part, self, file.parent))
        heading, body = _heading(text)
        named = heading or values.get("title") or values.get("page_title") or PurePosixPath(path or self.name).name
        title, anchors = split_anchors(re.sub(r"\\([_*<>])", r"\1", named))
        trail, kind = self._place(path, values)
        steps = (step.replace(PATH_SEPARATOR, " > ") for step in (self.label, *trail))
        name = doc_name(self.name, slug)
        return Page(name, title, "".join(anchors[:1]), self.address(path), tuple(steps), kind, _anchored(body))

    def _place(self, path: str, values: dict[str, str]) -> tuple[list[str], str]:
        """What a page stands below, and its kind."""
        *above, _ = path.split("/")
        if self.flavour == "terraform":
            _, called, kind = _TERRAFORM.get(above[0] if above else "", ("", "", "guide"))
            return [step for step in (called, values.get("subcategory", "")) if step], kind
        kind = next((kind for pattern, kind in _KINDS if re.match(pattern, path)), "guide")
        return [re.sub(r"[-_]+", " ", step).capitalize() for step in above], kind


class _Include:
    """Reads what a page includes: from where it lies, from where its site is configured, never from outside."""

    def __init__(self, folder: Folder, file: Path, above: _Include | None = None) -> None:
        self._folder, self._file = folder, file
        self._depth: int = above._depth + 1 if above else 0
        self._left: list[int] = above._left if above else [MAX_INCLUDED]

    def __call__(self, name: str) -> str | None:
        folder = self._folder
        inside = name.removeprefix("@site/").lstrip("/")
        here = [self._file.parent, *(p for p in self._file.parents if p.is_relative_to(folder.root))]
        for base in dict.fromkeys(here):
            for suffix in ("", ".mdx", ".md"):
                file = base / (inside + suffix)
                if _is_inside(file, folder.root):
                    return self._read(name, file)
        self._failed(f"{name!r} is not there: name its folder with --also")
        return None

    def _read(self, name: str, file: Path) -> str | None:
        if self._depth >= MAX_DEPTH or file.stat().st_size > min(MAX_FILE, self._left[0]):
            self._failed(f"{name!r}: too many or too large")
            return None
        text = _text(file)
        self._left[0] -= len(text)
        if not _suffix(file.name):
            return text
        return resolve(front_matter(text).text, self._folder.flavour, _Include(self._folder, file, self))

    def _failed(self, what: str) -> None:
        self._folder.problems.append((self._file.relative_to(self._folder.root).as_posix(), what))


def flavour_of(pages: Path, root: Path) -> str:
    """What kind of folder this is, by what lies in it and above it."""
    if _mkdocs(pages, root):
        return "mkdocs"
    if any((pages / name).is_dir() for name in ("r", "d", "resources", "data-sources")):
        return "terraform"
    return "mdx" if next(pages.rglob("*.mdx"), None) else "markdown"


def site(pages: Path, root: Path) -> dict[str, str]:
    """`site_name`, `site_url` and `docs_dir` of the mkdocs.yml that the pages belong to, as far as it has them."""
    file = _mkdocs(pages, root)
    return _settings(file) if file else {}


def _mkdocs(pages: Path, root: Path) -> Path | None:
    """The configuration that the pages belong to: in their folder, above it, or, as in most projects, beside `root`.

    That one must name `root` as its pages: what lies there otherwise (in /tmp) may be anybody's."""
    for folder in (pages, *pages.parents):
        for name in ("mkdocs.yml", "mkdocs.yaml"):
            file = folder / name
            if not _is_inside(file, folder):
                continue
            if folder.is_relative_to(root):
                return file
            if folder == root.parent and (folder / _settings(file).get("docs_dir", "docs")).resolve() == root.resolve():
                return file
    return None


def _settings(file: Path) -> dict[str, str]:
    """What we want to know of a mkdocs.yml; it is rarely plain YAML: other lines of it name Python's objects."""
    line = r"^(site_name|site_url|docs_dir):[ \t]*(['\"]?)(.*?)\2[ \t]*(?:[ \t]#.*)?$"
    return {key: value for key, _, value in re.findall(line, _text(file), re.M) if value}


def _is_inside(file: Path, root: Path) -> bool:
    """Whether this is a file below `root`, wherever links and `..` lead."""
    try:
        return file.is_file() and file.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError):  # a name that no file can have
        return False


def _problem(file: Path) -> str:
    """Why a page can't be had, "" where it can."""
    try:
        with file.open("rb") as stream:
            is_elsewhere = stream.read(len(_POINTER)) == _POINTER
    except OSError as error:
        return f"can't be read: {error.strerror}"
    return "is kept in Git LFS: clone it with git lfs" if is_elsewhere else ""


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _suffix(name: str) -> str:
    """`.md` or its like as the name spells it, "" for what is no page."""
    return next((name[-len(suffix) :] for suffix in SUFFIXES if name.lower().endswith(suffix)), "")


def _heading(text: str) -> tuple[str, str]:
    """The first heading, if it is the page's title, and the rest; any further one of that level is a section."""
    title, body = "", []
    is_first = True
    for line, fenced in scan(text):
        found = None if fenced else re.match(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$", line)
        if found and found[1] == "#":
            if is_first:
                title = found[2]
            else:
                body.append(f"#{line}")
        else:
            body.append(line)
        is_first = is_first and not found
    return title, "\n".join(body).strip("\n")


def _anchored(body: str) -> str:
    """Every heading with the id that site generators give it: its words in lower case, joined by hyphens."""
    lines, seen = [], set[str]()
    for line, fenced in scan(body):
        found = None if fenced else re.match(r"#{2,6} +(.*\S)", line)
        title, anchors = split_anchors(line) if found else (line, [])
        if found and not anchors:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[1]).lower()
            name = again = re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", words)).strip("-") or "section"
            count = 0
            while again in seen:
                count += 1
                again = f"{name}-{count}"
            anchors = [again]
        seen.update(anchors)
        lines.append(f"{title.rstrip()} {{#{anchors[0]}}}" if found else line)
    return "\n".join(lines)


def _relinked(text: str, folder: Folder, here: Path) -> str:
    """Links to other pages of the folder → their addresses; without those, as they are."""

    def change(match: re.Match[str]) -> str:
        target, mark, anchor = match[1].partition("#")
        suffix = _suffix(target)
        if not folder.url or not suffix or re.match(r"\w+:|/", target):
            return match[0]
        file = Path(posixpath.normpath((here / target).as_posix()))
        if not file.is_relative_to(folder.pages):
            return match[0]
        return f"]({folder.address(folder.path_of(file))}{mark}{anchor})"

    return re.sub(r"(?<=[^\\])\]\(([^()\s]+)\)", change, text)
