"""pgdocs at the shell: the server's answers for people, and as JSON for scripts. Each command is a door to a module.

Exit codes: 0 fine, 1 it could not be done (one sentence on stderr), 2 wrong usage.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem, get_completion_class

from pgdocs.pages import doc_name_of_file, scan_lines, short_name, split_anchors
from pgdocs.search import STRATEGIES
from pgdocs.serve.click_classes import Asking, Group, clean
from pgdocs.serve.library import BUNDLED, Library, docs_folder, holdings, own_copy

if TYPE_CHECKING:
    from pgdocs.search.index import DocumentSearchIndex
    from pgdocs.serve.clients import Change, Client, Home


@click.group(
    cls=Group,
    invoke_without_command=True,
    epilog="""\
Example: pgdocs search upsert
         pgdocs ask "when to retry a transaction"
         pgdocs install --client claude-code

Exit codes: 0 fine, 1 it could not be done (a sentence on stderr says why), 2 wrong usage.
Colours only on a terminal; NO_COLOR=1 turns them off.""",
    context_settings={"max_content_width": 100},
)
@click.option("--docs", type=click.Path(path_type=Path), help="Folder of pages (default: $PGDOCS_DOCS, else docs/).")
@click.version_option(package_name="pgdocs-mcp")
@click.pass_context
def cli(ctx: click.Context, docs: Path | None) -> None:
    """Look things up in the PostgreSQL and PostGIS manuals, offline.

    Without a command it serves MCP when a client starts it, and shows this text on a terminal."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that can't print → is no reason to fail
    ctx.obj = Library(docs or docs_folder())
    if ctx.invoked_subcommand is None:
        if sys.stdin is None or sys.stdin.isatty():
            click.echo(ctx.get_help())
        else:
            ctx.invoke(serve)


def _print(text: str, index: DocumentSearchIndex, query: str = "") -> None:
    from pgdocs.serve.terminal import as_commands, is_colourful, paint

    if index.stale:
        click.echo(index.stale, err=True)
    text = as_commands(clean(text))
    click.echo(paint(text, query) if is_colourful() else text)


def _print_json(data: object) -> None:
    click.echo(json.dumps(data, indent=2))  # ASCII: any console can print it, any program reads it


def _sources(ctx: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(h.source, help=h.label) for h in holdings(_folder(ctx)) if h.source.startswith(typed)]


def _page_names(ctx: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    from pgdocs.search.cache import scan

    names = (short_name(doc_name_of_file(Path(file))) for file in scan(_folder(ctx)))
    return [
        CompletionItem(name) for name in names if name.startswith(typed) or name.partition("/")[2].startswith(typed)
    ]


def _folder(ctx: click.Context) -> Path:
    return ctx.find_root().params.get("docs") or docs_folder()


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
one_source = click.option(
    "--source", default="all", show_default=True, help="One source only: pg, postgis, …", shell_complete=_sources
)
one_kind = click.option("--kind", default="all", show_default=True, help="One kind of page: guide, reference, …")


@cli.command(epilog="Example: claude mcp add pgdocs -- pgdocs serve")
@click.option("--transport", type=click.Choice(["stdio", "http"]), default="stdio", show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="For http: the address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="For http; 0: any free.")
@click.option("--allow-host", "allow_hosts", multiple=True, metavar="NAME", help="For http: a name it is asked by too.")
@click.option("--structured", is_flag=True, help="Answers as data too (most clients then show no text).")
@click.pass_obj
def serve(
    library: Library, transport: str, host: str, port: int, allow_hosts: tuple[str, ...], structured: bool
) -> None:
    """Run the MCP server.

    On stdin and stdout (a client starts it), or over HTTP."""
    if transport == "http":
        from pgdocs.serve.http import serve_http

        serve_http(library, host, port, allow_hosts, structured)
    else:
        from pgdocs.serve.mcp_server import serve_stdio

        serve_stdio(library, structured)


@cli.command(cls=Asking, epilog='Example: pgdocs search "nearest neighbour" -n 3')
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--max-results", type=click.IntRange(1, 20), default=5, show_default=True)
@click.option("--strategy", type=click.Choice(STRATEGIES), default="hybrid", show_default=True)
@one_source
@one_kind
@click.option("--explain", is_flag=True, help="Show what each field gave the pages, and where the noise begins.")
@as_json
@click.pass_obj
def search(
    library: Library,
    query: tuple[str, ...],
    max_results: int,
    strategy: str,
    source: str,
    kind: str,
    explain: bool,
    as_json: bool,
) -> None:
    """Find the passages that answer a question."""
    from pgdocs.serve.text import search_text

    if explain and strategy != "hybrid":
        raise click.UsageError("--explain is for hybrid: leave --strategy out.")
    index, words = library.index(), " ".join(query)
    if explain:
        from pgdocs.serve.terminal import ranking

        rows = index.explain(words, max_results, source, kind)
        if as_json:
            _print_json([asdict(row) for row in rows])
        else:
            _print(ranking(rows), index)
    elif as_json:
        _print_json([asdict(result) for result in index.search(words, max_results, strategy, source, kind)])
    else:
        _print(search_text(index, words, max_results, strategy, source, kind), index, words)


@cli.command(cls=Asking, epilog='Example: pgdocs ask "when to retry a transaction" --budget 400 --compare')
@click.argument("task", nargs=-1, required=True)
@click.option("--budget", type=click.IntRange(200, 2000), default=800, show_default=True, help="Tokens at most.")
@one_source
@one_kind
@click.option("--compare", is_flag=True, help="Also show what five sections as they are would cost.")
@as_json
@click.pass_obj
def ask(
    library: Library, task: tuple[str, ...], budget: int, source: str, kind: str, compare: bool, as_json: bool
) -> None:
    """Answer a question in a few hundred tokens, as how_do_i does."""
    from pgdocs.search.context import context, naive

    index, words = library.index(), " ".join(task)
    answer = context(index, words, budget, source, kind)
    plain = naive(index, words, source) if compare else None
    if as_json:
        _print_json({**asdict(answer), **({"compare": asdict(plain)} if plain else {})})
    elif plain is None:
        _print(answer.text, index, words)
    else:
        rule = "\n\n" + "=" * 80 + "\n"
        pages = len({passage.doc_name for passage in plain.passages})
        saved = f"{answer.tokens:,} tokens instead of {plain.tokens:,} ({answer.tokens / max(plain.tokens, 1):.0%})"
        _print(
            f"The five best sections as they are: {plain.tokens:,} tokens, {pages} pages\n\n{plain.text}"
            f"{rule}pgdocs ask: {answer.tokens:,} tokens\n\n{answer.text}{rule}{saved}",
            index,
            words,
        )


@cli.command(cls=Asking, epilog="Example: pgdocs signature jsonb_set")
@click.argument("name")
@as_json
@click.pass_obj
def signature(library: Library, name: str, as_json: bool) -> None:
    """Show all signatures of a function, operator or setting."""
    from pgdocs.serve.text import signature_text

    index = library.index()
    text = signature_text(index, name)  # says what to do where there is none
    if as_json:
        _print_json([asdict(symbol) for symbol in index.symbols(name)])
    else:
        _print(text, index, name)


@cli.command(epilog="Example: pgdocs read sql-select --section DISTINCT")
@click.argument("page", default="", shell_complete=_page_names)
@click.option("--section", default="", help="An anchor or a heading: that section alone.")
@as_json
@click.pass_obj
def read(library: Library, page: str, section: str, as_json: bool) -> None:
    """Print a page or a section.

    Without PAGE, what there is; with a source or a chapter, its pages."""
    from pgdocs.serve.text import find_doc

    index = library.index()
    doc = find_doc(index, page, section)
    if as_json:
        _print_json({**doc.call, "title": doc.title, "path": doc.path, "url": doc.url, "markdown": doc.text})
    else:
        _print(doc.head + doc.text, index)


@cli.command(epilog="Example: pgdocs stats --json")
@as_json
@click.pass_obj
def stats(library: Library, as_json: bool) -> None:
    """Show what is indexed, and whether it is fresh.

    Versions, pages, sections, names, phrases, sizes; from what and when; stale and why. Builds nothing."""
    from pgdocs.serve.stats import stats, stats_text

    found = stats(library.docs_dir)
    if as_json:
        _print_json(asdict(found))
    else:
        click.echo(clean(stats_text(found)))


@cli.command(epilog="Example: pgdocs phrases --check")
@click.option("--check", is_flag=True, help="Report phrases that can't be used; exit 1 if there are any.")
@as_json
@click.pass_obj
def phrases(library: Library, check: bool, as_json: bool) -> None:
    """Count the phrases, or check them against the pages."""
    from pgdocs.search.cache import phrase_files

    report, problems = [], 0
    for file in phrase_files():
        lines = file.read_text(encoding="utf-8").splitlines()
        found = list(_unusable(library.index(), file.stem, lines)) if check else []
        problems += len(found)
        rows = [{"line": number, "problem": problem} for number, problem in found]
        report.append({"file": file.name, "phrases": len(lines), "problems": rows})
        if not as_json:
            click.echo(f"{file.name}: {len(lines):,} phrases")
            for number, problem in found:
                click.echo(f"{file.name}:{number}: {problem}")
    if as_json:
        _print_json(report)
    elif check and not problems:
        click.echo("All of them can be used.")
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
@as_json
@click.pass_context
def scrape(ctx: click.Context, arguments: tuple[str, ...], as_json: bool) -> None:
    """Fetch the manuals (needs pgdocs-mcp[scrape]).

    Several versions stand side by side: --add pg17 puts PostgreSQL 17 beside what is there."""
    try:
        from pgdocs.scrape.cli import main as scrape_main
    except ImportError as error:
        raise click.ClickException(f"{error}: pip install 'pgdocs-mcp[scrape]' brings what scraping needs.") from error
    _fill_folder(ctx, scrape_main, arguments, as_json)


@cli.command(
    context_settings={"ignore_unknown_options": True},
    add_help_option=False,
    epilog="""\
Example: pgdocs add handbook ~/work/handbook/docs
         pgdocs add fastapi --git https://github.com/fastapi/fastapi --subdir docs/en/docs --also docs_src""",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@as_json
@click.pass_context
def add(ctx: click.Context, arguments: tuple[str, ...], as_json: bool) -> None:
    """Index a folder of markdown or MDX beside the manuals.

    MkDocs, MDX, Terraform providers, plain markdown; from this machine or from a git repository."""
    from pgdocs.scrape.add import main as add_main

    _fill_folder(ctx, add_main, arguments, as_json)


def _fill_folder(
    ctx: click.Context, main: Callable[[Sequence[str]], int], arguments: tuple[str, ...], as_json: bool
) -> NoReturn:
    """Run what puts pages into the folder; the pages that come with a package are not the user's to change."""
    docs = ctx.obj.docs_dir
    if "--help" in arguments:
        click.echo(ctx.get_help() + "\n\nIts own options:\n")
    elif docs == BUNDLED / "docs":
        docs = own_copy()
    if not as_json:
        sys.exit(main(["--out", str(docs), *arguments]))
    with redirect_stdout(sys.stderr):
        code = main(["--out", str(docs), *arguments])
    _print_json({holding.source: holding._asdict() for holding in holdings(docs)})
    sys.exit(code)


@cli.command(epilog="Example: pgdocs wheel --out dist --source pg --source postgis")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="dist", show_default=True)
@click.option("--source", "names", multiple=True, help="Only this source; may be repeated.", shell_complete=_sources)
@as_json
@click.pass_obj
def wheel(library: Library, out: Path, names: tuple[str, ...], as_json: bool) -> None:
    """Pack code, pages and index into one wheel.

    It works offline after pip install, with nothing else to do. The manuals' licences are in it."""
    from pgdocs.serve.bundle import build_wheel

    file, built = build_wheel(library.docs_dir, out, names)
    if as_json:
        _print_json({"file": str(file), **built})
    else:
        labels = ", ".join(f"{told['label']} ({told['pages']:,} pages)" for told in built["sources"].values())
        click.echo(clean(f"{file}: {labels}, {file.stat().st_size / 1e6:.1f} MB"))


@cli.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""Example: pgdocs probe --tool search_docs --args '{"query": "upsert"}' -- npx -y some-mcp-server""",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--tool", default="", help="Call this tool too.")
@click.option("--args", "arguments", default="{}", metavar="JSON", help="Its arguments, an object.")
@click.option("--timeout", type=click.FloatRange(0.1, 600), default=30.0, show_default=True, help="Seconds per answer.")
@as_json
@click.pass_obj
def probe(library: Library, command: tuple[str, ...], tool: str, arguments: str, timeout: float, as_json: bool) -> None:
    """Start a stdio MCP server and report what a client sees.

    Any server; without COMMAND, this one. Raw JSON-RPC: how long each phase took, the tools, a tool's text, every
    line on stdout that is no message."""
    from pgdocs.serve.probe import probe

    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise click.BadParameter(
            f'{error}: give an object like \'{{"query": "upsert"}}\'.', param_hint="--args"
        ) from None
    if not isinstance(given, dict):
        raise click.BadParameter('not an object: give one like \'{"query": "upsert"}\'.', param_hint="--args")
    own = (sys.executable, "-m", "pgdocs.serve.cli", "--docs", str(library.docs_dir.absolute()), "serve")
    here = None if command else Path(__file__).parents[2]  # `-m` would take a `pgdocs` in the caller's folder
    report = probe(command or own, tool, given, patience=timeout, cwd=here)
    if as_json:
        _print_json(asdict(report))
    else:
        seconds = {"start and handshake": report.handshake, "list of tools": report.listed}
        seconds |= {tool: report.called} if report.called is not None else {}
        seconds["end"] = report.ended
        width = max(map(len, seconds))
        times = "\n".join(f"{what:{width}} {took:6.2f} s" for what, took in seconds.items())
        times += f" after stdin was closed, exit code {report.exit_code}"
        parts = [f"{report.server}: {', '.join(report.tools) or 'no tools'}\n\n{times}", report.text]
        for what, lines in (("On stdout, no JSON-RPC", report.junk), ("On stderr", report.stderr.splitlines())):
            if lines:
                parts.append(f"{what}:\n" + "\n".join(lines))
        click.echo(clean("\n\n".join(filter(None, parts))))
    if report.is_error:
        raise click.ClickException(f"{tool} answered with an error.")
    if report.junk:
        raise click.ClickException(f"{len(report.junk)} lines on stdout are no JSON-RPC: clients may choke on them.")


@cli.command(epilog="Example: pgdocs guard-demo")
@as_json
def guard_demo(as_json: bool) -> None:
    """Show a poisoned page and what the guard makes of it."""
    from pgdocs.serve.guard import demo

    if as_json:
        _print_json({"demo": demo()})
    else:
        click.echo(demo().rstrip("\n"))


# clients.CLIENTS by name: a command line that is only completed need not load what edits configurations
CLIENT_NAMES = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini", "opencode")


@cli.command(epilog="Example: pgdocs install --client claude-code --client cursor --yes")
@click.option("--client", "names", multiple=True, type=click.Choice(CLIENT_NAMES), help="May be repeated.")
@click.option("--uninstall", is_flag=True, help="Take the entry out again (of every client that has it).")
@click.option("--yes", is_flag=True, help="Don't ask.")
@as_json
@click.pass_context
def install(ctx: click.Context, names: tuple[str, ...], uninstall: bool, yes: bool, as_json: bool) -> None:
    """Connect MCP clients, or list those that are here.

    With --client: edit that client's configuration. Shows what it changes, asks, and keeps a copy beside the file."""
    from pgdocs.serve import clients

    home = clients.Home.here()
    docs = ctx.obj.docs_dir if ctx.find_root().params["docs"] or os.environ.get("PGDOCS_DOCS") else None
    server = clients.server_command(docs)
    if not names and not uninstall:
        known = clients.CLIENTS.values()
        _list_clients(
            [Found(c, c.file(home), clients.state(c, home, server), clients.folders(c, home)) for c in known], as_json
        )
        return
    done, failed = [], []
    for client in map(clients.CLIENTS.get, names or CLIENT_NAMES):
        assert client
        try:
            change = clients.uninstall(client, home) if uninstall else clients.install(client, home, server)
            if change.before != change.after or names:
                done.append(_change(client, home, change, yes, as_json))
        except clients.ClientError as error:
            failed.append(str(error))
            click.echo(clean(f"{client.label}: {error}"), err=True)
    if as_json:
        _print_json(done)
    elif not done and not failed:
        click.echo("No client has the entry.")
    if failed:
        raise click.ClickException(f"{len(failed)} of the configurations could not be changed.")


class Found(NamedTuple):
    """A client as the list shows it: the configuration that it has, and what of ours is in there."""

    client: Client
    file: Path
    state: str
    folders: list[str]


def _list_clients(found: list[Found], as_json: bool) -> None:
    if as_json:
        _print_json(
            [{"client": f.client.name, "file": str(f.file), "state": f.state, "folders": f.folders} for f in found]
        )
        return
    for client, file, state, folders in found:
        click.echo(f"{client.name:15} {state:10} {file}")
        for folder in folders:
            click.echo(f"{'':15} {'':10} in {folder}")
    if waiting := [f.client.name for f in found if f.state in ("found", "differs", "in part")]:
        click.echo(f"\nConnect with: pgdocs install --client {' --client '.join(waiting)}")


def _change(client: Client, home: Home, change: Change, yes: bool, as_json: bool) -> dict[str, Any]:
    """Show, ask, do, and say what was done. Raises ClientError."""
    from pgdocs.serve import clients
    from pgdocs.serve.terminal import is_colourful, paint_diff

    told = {"client": client.name, "file": str(change.file), "changed": False, "backup": None}
    if change.before == change.after:
        click.echo(f"{client.label}: nothing to change in {change.file}.", err=as_json)
        return told
    diff = clients.diff(change)
    click.echo(paint_diff(diff) if is_colourful() else diff, err=as_json)
    if not yes:
        if not sys.stdin or not sys.stdin.isatty():
            raise clients.ClientError(f"{change.file} is left alone: say --yes where nobody can be asked.")
        if not click.confirm(f"Change {change.file}?", err=True):
            return told
    backup = clients.write(change)
    kept = f" The file as it was: {backup}." if backup else ""
    if not client.is_here(home):
        kept += f" ({client.label} itself was not found here.)"
    click.echo(f"{client.label}: {'removed' if change.after is None else 'done'}. Restart it.{kept}", err=as_json)
    return {**told, "changed": True, "backup": str(backup) if backup else None}


@cli.command(epilog='Example: eval "$(pgdocs completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell's completion script.

    It completes commands, options, sources and page names:

    \b
    bash: echo 'eval "$(pgdocs completion bash)"' >> ~/.bashrc
    zsh:  echo 'eval "$(pgdocs completion zsh)"' >> ~/.zshrc
    fish: pgdocs completion fish > ~/.config/fish/completions/pgdocs.fish"""
    made = get_completion_class(shell)
    assert made
    click.echo(made(cli, {}, "pgdocs", "_PGDOCS_COMPLETE").source())


def main() -> None:
    """The console scripts `pgdocs` and `pgdocs-mcp`."""
    cli(prog_name="pgdocs")


if __name__ == "__main__":
    main()
