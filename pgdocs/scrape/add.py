"""`pgdocs add`: index a folder of markdown or MDX beside the manuals, from this machine or from a git repository."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path

from pgdocs.errors import ScrapeError
from pgdocs.pages import Page
from pgdocs.scrape.flavours import FLAVOURS
from pgdocs.scrape.folder import Folder, flavour_of, site
from pgdocs.scrape.shelf import MANIFEST, Shelf, prepare, read_json, write_json
from pgdocs.scrape.sources import SOURCES

NAME = re.compile(r"[a-z][a-z0-9.-]{0,29}")
"""What a source may be called: it is the prefix of its files, and an argument of the tools."""

SHOWN = 10
"""Problems that are printed; the manifest has them all."""

PATIENCE = 600.0
"""Seconds for a clone: only one version of a few folders is fetched."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Index one folder. 0: done; 1: it could not be had; 2: wrong usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if bool(options.folder) == bool(options.git):
        parser.error("name a FOLDER or a repository with --git, not both")
    if options.folder and (options.ref or options.also):
        parser.error("--ref and --also are for a repository with --git")
    try:
        with ExitStack() as stack:
            if options.git:
                root = Path(stack.enter_context(tempfile.TemporaryDirectory()), "clone")
                version = clone(options.git, root, [options.subdir, *options.also], options.ref)
            else:
                root, version = options.folder, ""
            pages, problems, label = _read(options, root)
            new, removed = _write(options, pages, label, version, problems)
    except ScrapeError as error:
        print(error, file=sys.stderr)
        return 1
    print(
        f"{options.name}: {label}, {len(pages):,} pages ({new:,} new or changed, {removed:,} removed) in {options.out}"
    )
    for file, problem in problems[:SHOWN]:
        print(f"{file}: {problem}", file=sys.stderr)
    if len(problems) > SHOWN:
        print(f"… and {len(problems) - SHOWN} more, all named in the folder's {MANIFEST}", file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pgdocs add",
        description="Index a folder of markdown or MDX beside the manuals: MkDocs, Docusaurus, Terraform and the like.",
        epilog="Example: pgdocs add fastapi --git https://github.com/fastapi/fastapi --subdir docs/en/docs "
        "--also docs_src",
    )
    parser.add_argument("name", metavar="NAME", type=name_option, help="what source= calls it")
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=folder_option, help="where it lies")
    parser.add_argument("--git", metavar="URL", help="fetch one version of some folders of a repository instead")
    parser.add_argument("--subdir", default="", metavar="DIR", help="only the pages below this folder of it")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="DIR",
        help="of a repository: fetch this folder too, whose files the pages include",
    )
    parser.add_argument("--ref", default="", metavar="TAG", help="of a repository: a tag or a branch")
    parser.add_argument("--flavour", choices=FLAVOURS, help="what kind of folder it is, if that is not seen at once")
    parser.add_argument("--label", default="", help='what answers call it: "FastAPI 0.115"')
    parser.add_argument("--url", default="", help="a page's address: https://fastapi.tiangolo.com/{path}/")
    parser.add_argument("--out", type=Path, default=Path("docs"), metavar="DIR", help="default: docs")
    return parser


def name_option(text: str) -> str:
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r}: use up to 30 small letters, digits, hyphens and dots")
    if re.sub(r"[\d.]+$", "", text) in SOURCES:
        raise argparse.ArgumentTypeError(f"{text!r} is a manual's name: pgdocs scrape --add {text} fetches that")
    return text


def folder_option(text: str) -> Path:
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return folder.resolve()


def _read(options: argparse.Namespace, root: Path) -> tuple[list[Page], list[tuple[str, str]], str]:
    """The pages, what they lack, and what they are called."""
    root = root.resolve()
    inside = (root / options.subdir).resolve()
    if not inside.is_dir() or not inside.is_relative_to(root):
        raise ScrapeError(f"There is no folder {options.subdir} in {options.git or root}: name another with --subdir.")
    told = site(inside, root)
    url = options.url or (f"{told['site_url'].rstrip('/')}/{{path}}/" if told.get("site_url") else "")
    if url and not re.fullmatch(r"https?://[^\s{}]*\{path\}[^\s{}]*", url):
        raise ScrapeError("--url must be an address with {path} in it: https://example.org/docs/{path}.")
    label = options.label or told.get("site_name") or options.name
    folder = Folder(options.name, root, inside, options.flavour or flavour_of(inside, root), label, url)
    pages = folder.read()
    return pages, list(dict.fromkeys(folder.problems)), label


def _write(
    options: argparse.Namespace, pages: Sequence[Page], label: str, version: str, problems: Sequence[tuple[str, str]]
) -> tuple[int, int]:
    """Put the pages on their shelf; how many are new or changed, and how many are gone."""
    prepare(options.out)
    shelf = Shelf(options.out, options.name)
    gone = shelf.slugs - {page.slug for page in pages}
    new = sum(shelf.write(page) for page in pages)
    for slug in gone:
        shelf.remove(slug)
    entry = {
        "version": version,
        "label": label,
        "pages": len(pages),
        "complete": True,  # every page is here; what could not be included, the folder lacks
        "failures": problems,
        "fetched": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "from": options.git or str(options.folder),
    }
    write_json(options.out / MANIFEST, {**read_json(options.out / MANIFEST), options.name: entry})
    return new, len(gone)


def clone(url: str, into: Path, folders: Sequence[str], ref: str = "") -> str:
    """Fetch one version of `folders` (all, where one is "") of a repository into `into`; its tag or commit."""
    wanted = [folder.strip("/") for folder in folders]
    sparse = ["--filter=blob:none", "--sparse"] if all(wanted) else []
    branch = [f"--branch={ref}"] if ref else []
    _git("clone", "--quiet", "--depth=1", *sparse, *branch, "--", url, str(into))
    if sparse:
        _git("sparse-checkout", "set", "--", *wanted, inside=into)
    return ref or _git("rev-parse", "--short", "HEAD", inside=into).strip()


def _git(*arguments: str, inside: Path | None = None) -> str:
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file"}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=inside,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        raise ScrapeError(f"git {arguments[0]} failed ({last}): check the address, --ref and --subdir.") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ScrapeError(f"git could not be run ({error}): install it, or name a folder.") from error
    return done.stdout
