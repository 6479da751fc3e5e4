"""pgdocs at the shell: the server's answers for people, and as JSON for scripts.

Exit codes: 0 fine, 1 it could not be done (one sentence on stderr), 2 wrong usage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pgdocs.errors import PgdocsError
from pgdocs.pages import scan_lines, split_anchors
from pgdocs.serve.guard import clean
from pgdocs.serve.library import Library, docs_folder

if TYPE_CHECKING:
    from pgdocs.search.index import DocumentSearchIndex

PHRASES = Path(__file__).parents[1] / "phrases"


class _Group(click.Group):
    """Shows an error of ours as its sentence, and leaves examples in help texts as they are."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PgdocsError as error:
            raise click.ClickException(clean(str(error))) from error


@click.group(cls=_Group, epilog="Example: pgdocs search upsert", context_settings={"max_content_width": 100})
@click.option("--docs", type=click.Path(path_type=Path), help="Folder of pages (default: $PGDOCS_DOCS, else docs/).")
@click.version_option(package_name="pgdocs-mcp")
@click.pass_context
def cli(ctx: click.Context, docs: Path | None) -> None:
    """Look things up in the PostgreSQL and PostGIS manuals, offline."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that can't print → is no reason to fail
    ctx.obj = Library(docs or docs_folder())


def _print(text: str, index: DocumentSearchIndex) -> None:
    if index.stale:
        click.echo(index.stale, err=True)
    click.echo(clean(text))


def _print_json(data: object) -> None:
    click.echo(json.dumps(data, indent=2))  # ASCII: any console can print it, any program reads it


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@cli.command(epilog="Example: claude mcp add pgdocs -- pgdocs serve")
@click.pass_obj
def serve(library: Library) -> None:
    """Run the MCP server on stdin and stdout (a client starts it)."""
    from pgdocs.serve.mcp_server import serve_stdio

    serve_stdio(library)


@cli.command(epilog='Example: pgdocs search "first row of each group" -n 3')
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--max-results", type=click.IntRange(1, 20), default=5, show_default=True)
@click.option(
    "--strategy", type=click.Choice(["hybrid", "exact", "fuzzy", "semantic"]), default="hybrid", show_default=True
)
@click.option("--source", default="all", show_default=True, help="One source only: pg, postgis, …")
@as_json
@click.pass_obj
def search(
    library: Library, query: tuple[str, ...], max_results: int, strategy: str, source: str, as_json: bool
) -> None:
    """Find the passages that answer a question."""
    from pgdocs.serve.text import search_text

    index, words = library.index(), " ".join(query)
    if as_json:
        _print_json([asdict(result) for result in index.search(words, max_results, strategy, source)])
    else:
        _print(search_text(index, words, max_results, strategy, source), index)


@cli.command(epilog="Example: pgdocs signature jsonb_set")
@click.argument("name")
@as_json
@click.pass_obj
def signature(library: Library, name: str, as_json: bool) -> None:
    """Show all signatures of a function, operator, setting or command."""
    from pgdocs.serve.text import signature_text

    index = library.index()
    text = signature_text(index, name)  # says what to do where there is none
    if as_json:
        _print_json([asdict(symbol) for symbol in index.symbols(name)])
    else:
        _print(text, index)


@cli.command(epilog="Example: pgdocs read sql-select --section DISTINCT")
@click.argument("page", default="")
@click.option("--section", default="", help="An anchor or a heading: that section alone.")
@as_json
@click.pass_obj
def read(library: Library, page: str, section: str, as_json: bool) -> None:
    """Print a page or a section; without PAGE, what there is; with a source or a chapter, its pages."""
    from pgdocs.serve.text import find_doc

    index = library.index()
    doc = find_doc(index, page, section)
    if as_json:
        _print_json({**doc.call, "title": doc.title, "path": doc.path, "url": doc.url, "markdown": doc.text})
    else:
        _print(doc.head + doc.text, index)


@cli.command(epilog="Example: pgdocs phrases --check")
@click.option("--check", is_flag=True, help="Report phrases that can't be used; exit 1 if there are any.")
@click.pass_obj
def phrases(library: Library, check: bool) -> None:
    """Count the phrases of each phrase file, or check them against the pages."""
    problems = 0
    for file in sorted(PHRASES.glob("*.tsv")):
        lines = file.read_text(encoding="utf-8").splitlines()
        click.echo(f"{file.name}: {len(lines):,} phrases")
        for number, problem in _unusable(library.index(), file.stem, lines) if check else ():
            problems += 1
            click.echo(f"{file.name}:{number}: {problem}")
    if problems:
        raise click.ClickException(f"{problems} phrases can't be used.")


def _unusable(index: DocumentSearchIndex, source: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    """(line number, what is wrong with it) for each line of a phrase file. A source that is not indexed is skipped."""
    if source not in [known.name for known in index.sources()]:
        return
    pages = {page.slug: page.doc_name for page in index.pages(source)}
    anchors: dict[str, set[str]] = {}
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(lines, 1):
        slug, anchor, phrase = [*line.split("\t"), "", ""][:3]
        if line.count("\t") != 2 or not phrase.strip():
            yield number, "not slug, anchor and phrase with a tab between each"
        elif slug not in pages:
            yield number, f"there is no page {slug!r}"
        elif (slug, phrase.casefold()) in seen:
            yield number, f"twice for {slug}: {phrase}"
        elif anchor:
            if slug not in anchors:
                text = index.get_document(pages[slug])
                anchors[slug] = {a for line, state in scan_lines(text) if not state for a in split_anchors(line)[1]}
            if anchor not in anchors[slug]:
                yield number, f"{slug} has no anchor {anchor!r}"
        seen.add((slug, phrase.casefold()))


@cli.command(
    context_settings={"ignore_unknown_options": True},
    add_help_option=False,
    epilog="Example: pgdocs scrape --source pg",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def scrape(library: Library, arguments: tuple[str, ...]) -> None:
    """Fetch the manuals (needs pgdocs-mcp[scrape]); `pgdocs scrape --help` lists its options."""
    try:
        from pgdocs.scrape.cli import main as scrape_main
    except ImportError as error:
        raise click.ClickException(f"{error}: pip install 'pgdocs-mcp[scrape]' brings what scraping needs.") from error
    sys.exit(scrape_main(["--out", str(library.docs_dir), *arguments]))


def main() -> None:
    """The console script `pgdocs`."""
    cli(prog_name="pgdocs")


if __name__ == "__main__":
    main()
