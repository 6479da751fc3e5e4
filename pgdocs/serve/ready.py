"""The end of ./setup.sh: build the index, ask the real server a question, print how to connect a client."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import time

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from pgdocs.errors import PgdocsError
from pgdocs.search.index import DocumentSearchIndex
from pgdocs.serve.library import CHECKOUT, docs_folder

QUESTION = "how to build an index on a large table"
"""Something that either manual answers, in every edition."""

LINES, WIDTH = 16, 110
"""What is printed of the answer: enough to see titles, URLs and passages."""

TIMEOUT = 60.0
"""Seconds for the server to start, load the index and answer; it takes two."""


def main() -> int:
    """0: the server answers. 1: it does not, and the reason is on stderr."""
    started = time.monotonic()
    try:
        index = DocumentSearchIndex(docs_folder())
        index.build_index()
        sources = ", ".join(f"{source.label}: {source.pages:,} pages" for source in index.sources())
        print(f"Index ready in {time.monotonic() - started:.1f} s ({sources})")
        answer = asyncio.run(asyncio.wait_for(_ask(QUESTION), TIMEOUT))
    except Exception as error:  # whatever it is: the server that was promised is not there
        cause: BaseException = error
        while inner := getattr(cause, "exceptions", None):  # the SDK's task groups wrap what happened in them
            cause = inner[0]
        print(f"The server does not answer: {str(cause) or type(cause).__name__}", file=sys.stderr)
        return 1
    print(f"\nThe server was asked: {QUESTION}\n")
    for line in answer.splitlines()[:LINES]:
        print(f"    {line if len(line) <= WIDTH else line[:WIDTH] + '…'}".rstrip())
    print(f"\n{how_to_connect([sys.executable, str(CHECKOUT / 'server.py')])}")
    return 0


async def _ask(question: str) -> str:
    """One search through the server as a client starts it."""
    server = StdioServerParameters(
        command=sys.executable, args=[str(CHECKOUT / "server.py")], env={"PGDOCS_DOCS": str(docs_folder())}
    )
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool("search_docs", {"query": question, "max_results": 2})
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if result.is_error or "http" not in text:
        raise PgdocsError(text or "an empty answer")
    return text


def how_to_connect(command: list[str]) -> str:
    """What to paste: the line for Claude Code, the block for clients that are configured in JSON."""
    block = json.dumps(
        {"mcpServers": {"pgdocs": {"command": command[0], "args": command[1:]}}}, indent=2, ensure_ascii=False
    )
    line = f"claude mcp add pgdocs -- {shlex.join(command)}"
    return (
        f"Claude Code, for the folder where you run it (--scope user before pgdocs: for all):\n\n    {line}\n\n"
        f"Other clients:\n\n{block}"
    )


if __name__ == "__main__":
    sys.exit(main())
