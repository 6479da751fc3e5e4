"""What the tests of added folders share: files written, added and read back."""

from __future__ import annotations

from pathlib import Path

from pgdocs.pages import Page, read_page
from pgdocs.scrape.add import main
from pgdocs.scrape.flavours import clean


def put(root: Path, files: dict[str, str]) -> Path:
    """Write files, each by its path below a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def add(docs: Path, *arguments: object) -> int:
    """Add to a folder of pages as the command does: its exit code."""
    return main([*map(str, arguments), f"--out={docs}"])


def page(docs: Path, name: str) -> Page:
    """One of the pages."""
    return read_page(docs / f"{name}.md", docs)


def pages(docs: Path) -> list[str]:
    """The names of all pages."""
    return sorted(file.stem for file in docs.glob("*.md"))


def cleaned(text: str, flavour: str) -> str:
    """A text without what a flavour writes beside markdown."""
    return clean(text, flavour, lambda name: None)
