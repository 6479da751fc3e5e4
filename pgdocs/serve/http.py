"""The same server over Streamable HTTP, stateless: any number of replicas behind any balancer.

For a machine that serves others, or a client that can't start processes. It listens on 127.0.0.1 unless told otherwise,
and answers only to names it knows: a web page in somebody's browser must not reach it under a name of its own.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST, PARSE_ERROR
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from pgdocs.errors import PgdocsError
from pgdocs.serve.library import Library
from pgdocs.serve.mcp_server import make_server
from pgdocs.serve.wire import mend

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""What programs on this machine call it, as the header Host spells it: the names that nobody need allow."""

PATH = "/mcp"
"""Where the SDKs' servers answer by default, and so what people type into a client's configuration."""

_ADDRESS = re.compile(r"(?:https?://)?(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?")
"""A Host or an Origin. The SDK takes what begins with a known name and a colon for that name at any port."""

MAX_BODY = 1 << 20
"""Bytes of a message: the longest that is answered has less than a tenth of them."""

PATIENCE = 20.0
"""Seconds for a request's head, and for its body: a slow line takes less, and who drips bytes is let go."""

MAX_CONNECTIONS = 500
"""At once, idle ones too: half the files that a process may usually open. When none is left, asyncio fills stderr."""

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
    config = uvicorn.Config(
        _Door(app),
        http=_Connection,
        backlog=MAX_CONNECTIONS // 4,  # so many are taken before the first of them can be refused
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
    )
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


class _Connection(H11Protocol):
    """Closed where it is one too many, or where no request's head comes in time: uvicorn leaves that to a proxy.

    None of its options does either (0.31.1, the SDK's least, to 0.54.0): limit_concurrency looks at a connection when
    its head is there, timeout_keep_alive begins after a first answer and ends with any byte, and an ASGI app is called
    with a whole head. So we go by this class, in both versions the same."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        self._await_head(self.cycle)

    def on_response_complete(self) -> None:
        answered = self.cycle
        super().on_response_complete()
        self._await_head(answered)

    def _await_head(self, before: RequestResponseCycle) -> None:
        def look() -> None:
            if self.cycle is before:
                self.transport.close()

        self.loop.call_later(PATIENCE, look)


class _Door:
    """Before the SDK, which then gets whole and sound messages: what no client sends on purpose is refused here, with a
    status and a sentence. (The SDK holds a GET's stream open for ever, prints a trace when a client goes away in the
    midst of its body, and takes a request without a proper id for a notification.) A body is mended as stdin is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = {**scope, "path": scope["path"].rstrip("/") or "/"}  # the SDK would redirect, and to http
        body: bytes | None = b""
        refusal = _refused(scope)
        if not refusal and scope["path"] == PATH:
            try:
                with anyio.fail_after(PATIENCE):
                    body = await _body(receive)
            except TimeoutError:
                refusal = PlainTextResponse("The body did not come in time.", 408, {"Connection": "close"})
            if body is None:  # nobody is there to be answered
                return
            refusal = refusal or _unsound(body)
        unread: list[Message] = [{"type": "http.request", "body": mend(body or b"")}]

        async def whole() -> Message:
            return unread.pop() if unread else await receive()

        await (refusal or self.app)(scope, whole, send)


def _refused(scope: Scope) -> Response | None:
    """The answer to a head that says that the request is not for us or none of the protocol's."""
    headers = Headers(scope=scope)
    if not all(_ADDRESS.fullmatch(value) for name in ("host", "origin") for value in headers.getlist(name)):
        return PlainTextResponse("This is no address of this server.", 421)
    if scope["path"] != PATH:
        return None
    if scope["method"] != "POST":
        return PlainTextResponse("This server has no sessions: POST only.", 405, {"Allow": "POST"})
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return PlainTextResponse("Send a message as Content-Type: application/json.", 415)
    return None


async def _body(receive: Receive) -> bytes | None:
    """The whole of it, or what is more than a body may be; None where the client goes away before."""
    body = bytearray()
    while len(body) <= MAX_BODY:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return bytes(body)


def _unsound(body: bytes) -> Response | None:
    """The answer to a body that is no message."""
    if len(body) > MAX_BODY:
        return PlainTextResponse("The body is larger than any request.", 413)
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return _error(PARSE_ERROR, "The body is not JSON.")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(INVALID_REQUEST, 'The body is no JSON-RPC message: send one object with "jsonrpc": "2.0".')
    if type(message.get("id", "")) not in (str, int):
        return _error(INVALID_REQUEST, "The id is neither a string nor an integer.")
    if not isinstance(message.get("method"), str) and not {"result", "error"} & {*message}:
        return _error(INVALID_REQUEST, "The message names no method.")
    return None


def _error(code: int, message: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}, 400)
