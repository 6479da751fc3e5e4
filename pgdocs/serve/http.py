"""The same server over Streamable HTTP, stateless: any number of replicas behind any balancer.

For a machine that serves others, or a client that can't start processes. It listens on 127.0.0.1 unless told otherwise,
and answers only to names it knows: a web page in somebody's browser must not reach it under a name of its own.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgdocs.errors import PgdocsError
from pgdocs.serve.library import Library
from pgdocs.serve.mcp_server import make_server
from pgdocs.serve.wire import mend

LOCAL = ("127.0.0.1", "localhost", "[::1]")

PATH = "/mcp"

_ADDRESS = re.compile(rb"(?:https?://)?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?")
"""A Host or an Origin. The SDK takes what begins with a known name and a colon for that name at any port."""

GRACE = 1
"""Seconds that answers under way are given when the process is told to end."""


def serve_http(library: Library, host: str, port: int, allow_hosts: Sequence[str], structured: bool) -> None:
    """Serve until SIGINT or SIGTERM; port 0 is any free one. The address is told on stderr once it answers.

    Raises PgdocsError where the address can't be had.
    """
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise PgdocsError(
            f"Can't listen on {host}:{port} ({error.strerror or error}): choose another --port or --host."
        ) from error
    app = make_server(library, structured).streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=known(host, allow_hosts)
    )
    library.start()
    config = uvicorn.Config(_Door(app), log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE)
    shown = f"[{host}]" if ":" in host else host
    print(f"pgdocs serves MCP on http://{shown}:{listener.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
    with suppress(KeyboardInterrupt):  # Ctrl-C is how a person ends it
        uvicorn.Server(config).run(sockets=[listener])


def known(host: str, allow_hosts: Sequence[str]) -> TransportSecuritySettings:
    """The names that a request may be addressed to (Host) and the web pages it may come from (Origin), at any port.

    >>> known("127.0.0.1", ["docs.example.org"]).allowed_hosts[-2:]
    ['docs.example.org', 'docs.example.org:*']
    """
    names = [*LOCAL, *([] if _is_any(host) else [f"[{host}]" if ":" in host else host]), *allow_hosts]
    hosts = [form for name in dict.fromkeys(names) for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{form}" for form in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _is_any(host: str) -> bool:
    """Whether it is the address that stands for all of a machine's: nobody asks for it by that name."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


class _Door:
    """Before the SDK: 405 for GET and DELETE, as the protocol has it for a server without sessions (the SDK would open
    a stream that nothing is ever sent on, and hold it); a Host or an Origin that is no address is refused; bodies are
    mended as lines of stdin are."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def mended() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                message["body"] = mend(message.get("body", b""))
            return message

        refusal = None
        if scope["type"] == "http":
            from_where = [value for name, value in scope["headers"] if name in (b"host", b"origin")]
            if not all(map(_ADDRESS.fullmatch, from_where)):
                refusal = PlainTextResponse("This is no address of this server.", 421)
            elif scope["path"] == PATH and scope["method"] != "POST":
                refusal = PlainTextResponse("This server has no sessions: POST only.", 405, {"Allow": "POST"})
        if refusal:
            await refusal(scope, receive, send)
        else:
            await self.app(scope, mended, send)
