"""The server over HTTP, and answers as data: the same tools, names checked, any replica answers anybody."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from conftest import POSIX, SERVER, call, serving
from mcp import Client
from mcp_types import CallToolResult

ERAS = ["legacy", "2026-07-28"]
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_docs", {"query": "first row of each group"}),
    ("search_docs", {"query": "distance", "max_results": 20, "source": "postgis"}),
    ("search_docs", {"query": "xyzzy plugh"}),
    ("get_function_signature", {"name": "jsonb_set"}),
    ("get_function_signature", {"name": "ST_DWithin"}),
    ("get_doc", {"page": "sql-select"}),
    ("get_doc", {"page": "sql-select", "section": "SQL-LIMIT"}),
    ("get_doc", {}),
    ("get_doc", {"page": "postgis"}),
    ("how_do_i", {"task": "keep the first row of each group"}),
    ("how_do_i", {"task": "xyzzy plugh"}),
]


@contextmanager
def replica(docs: Path, *options: str, command: Sequence[str] = SERVER) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server on a port of its own, and its process."""
    command = [*command, "--transport", "http", "--port", "0", *options]
    env = {**os.environ, "PGDOCS_DOCS": str(docs)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stderr
            line = process.stderr.readline()
            found = re.fullmatch(r"pgdocs serves MCP on http://(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)/mcp\n", line)
            assert found, line
            yield int(found[1]), process
        finally:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def port(indexed: Path) -> Iterator[int]:
    with replica(indexed) as (port, _):
        yield port


def post(port: int, message: object, path: str = "/mcp", **headers: str) -> tuple[int, str]:
    """Status and body of one request, whatever its headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", path, body, {**JSON, **given})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


@pytest.mark.parametrize("era", ERAS)
def test_the_same_answers_as_over_stdio(indexed: Path, port: int, era: str) -> None:
    """Tools, texts, resources and errors don't depend on how one is connected."""

    async def over_http() -> list[Any]:
        async with Client(f"http://127.0.0.1:{port}/mcp", mode=era) as client:
            tools = await client.list_tools()
            answers = [await client.call_tool(name, arguments) for name, arguments in CALLS]
            page = await client.read_resource("pgdocs://docs/pg/sql-select")
            wrong = await client.call_tool("search_docs", {"q": "x"})
            assert all(answer.structured_content is None for answer in answers)
            assert wrong.is_error
            return [[tool.name for tool in tools.tools], *map(text_of, [*answers, wrong]), page.contents[0].text]  # type: ignore[union-attr]

    with serving(indexed) as session:
        session.initialize()
        tools = [tool["name"] for tool in session.request("tools/list")["result"]["tools"]]
        results = [session.call(name, arguments)["result"] for name, arguments in [*CALLS, ("search_docs", {"q": "x"})]]
        page = session.request("resources/read", {"uri": "pgdocs://docs/pg/sql-select"})["result"]["contents"][0]
        assert anyio.run(over_http) == [tools, *(result["content"][0]["text"] for result in results), page["text"]]


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:80"}, 200),
        ({"Host": "127.0.0.1"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "docs.example.org"}, 421),
        ({"Host": "127.0.0.1.example.org"}, 421),
        ({"Host": "localhost.example.org:80"}, 421),
        ({"Host": "127.0.0.1:80.example.org"}, 421),
        ({"Origin": "http://localhost:80@example.org"}, 421),
        ({"Origin": "https://evil.example.org"}, 403),
        ({"Origin": "http://localhost.example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/jsonp"}, 415),
    ],
)
def test_a_web_page_elsewhere_is_refused(port: int, headers: dict[str, str], status: int) -> None:
    """DNS rebinding: a page in a browser reaches the port under a name of its own, and gets nothing."""
    assert post(port, call(1, "search_docs", query="select"), **headers)[0] == status


def test_a_balancer_is_let_in_by_name(indexed: Path) -> None:
    """`--allow-host` names what stands in front; others stay out, and all addresses are listened on only on request."""
    with replica(indexed, "--host", "0.0.0.0", "--allow-host", "docs.example.org") as (port, _):
        for headers, status in [
            ({"Host": "docs.example.org"}, 200),
            ({"Host": "docs.example.org:8443", "Origin": "https://docs.example.org"}, 200),
            ({"Host": "other.example.org"}, 421),
            ({"Host": "0.0.0.0"}, 421),
        ]:
            assert post(port, call(1, "get_doc", page="sql-select"), **headers)[0] == status


META = {
    "io.modelcontextprotocol/protocolVersion": ERAS[1],
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(era: str, body: bytes, length: int | None = None) -> bytes:
    """A whole request as bytes; a `length` other than its body's is a promise that is not kept."""
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length or len(body)}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in JSON.items())
    if era != "legacy":
        head += f"MCP-Protocol-Version: {era}\r\nMcp-Method: tools/call\r\nMcp-Name: search_docs\r\n"
    return f"{head}\r\n".encode() + body


def message(era: str, query: str) -> bytes:
    told = call(1, "search_docs", query=query)
    return json.dumps(told if era == "legacy" else {**told, "params": {**told["params"], "_meta": META}}).encode()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"junk", -32700),
        (b"\xff", -32700),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"n": ' + b"1" * 5_000 + b"}}", -32700),
        (b"[]", -32600),
        (b"null", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600),
    ],
)
def test_what_is_no_message_is_refused_in_a_sentence(port: int, era: str, body: bytes, code: int) -> None:
    """A status and a JSON-RPC error of one sentence, never pydantic's, and never taken for a notification."""
    version = {} if era == "legacy" else {"MCP_Protocol_Version": era}
    status, answer = post(port, body, **version)
    assert (status, json.loads(answer)["error"]["code"]) == (400, code)
    assert len(answer) < 200


def test_other_paths_methods_and_sizes(port: int) -> None:
    """Each has its status; with or without a slash at its end, the path is the same."""
    assert post(port, call(1, "search_docs", query="x" * 2_000_000))[0] == 413
    assert post(port, call(1, "search_docs", query="x"), path="/other")[0] == 404
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request(method, "/mcp", headers=JSON)
        assert connection.getresponse().status == 405
        connection.close()
    status, answer = post(port, call(7, "search_docs", query="distinct"), path="/mcp/")
    assert status == 200
    assert "sql-select" in json.loads(answer)["result"]["content"][0]["text"]


def test_an_emoji_is_whole_wherever_the_network_cuts(port: int) -> None:
    """A body that arrives in pieces is mended as a whole: no pair is torn, and the half one at the end does no harm."""
    status, answer = post(port, call(1, "search_docs", query="\U0001f602" * 50_000 + "\ud83d"))
    assert status == 200
    assert "50,001 characters" in json.loads(answer)["result"]["content"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_goes_away_in_the_midst_leaves_nothing_on_stderr(indexed: Path, era: str) -> None:
    """Neither in its body nor while it is answered, nor one that breaks HTTP itself; the next one is served."""
    with replica(indexed) as (port, process):
        for bad in (
            request(era, b'{"jsonrpc"', length=500),
            request(era, message(era, "select")),
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: application/json\r\n\r\nnot hexadecimal\r\n",
            b"\x16\x03\x01\x02\x00\x01",
            b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as held:
                held.sendall(bad)
        assert post(port, call(1, "search_docs", query="distinct"))[0] == 200
        process.terminate()
        assert process.communicate(timeout=5) == ("", "")


HURRIED = [
    sys.executable,
    "-c",
    "import sys; from pgdocs.serve import cli, http; http.PATIENCE = 0.5; http.MAX_CONNECTIONS = 40; "
    "sys.argv[0] = 'serve'; cli.cli(['serve', *sys.argv[1:]])",
]
"""The server, that waits less and lets fewer in: nobody wants to wait for 20 seconds, or open 500 connections."""


def test_who_drips_bytes_is_let_go(indexed: Path) -> None:
    """A body that doesn't come is told so, a head that doesn't come ends the connection, also after a whole request."""
    with replica(indexed, command=HURRIED) as (port, _):
        for start, end in [
            (request("legacy", b"{", length=500), b"HTTP/1.1 408"),
            (b"POST /mcp HTTP/1.1\r\nHost: loc", b""),
            (request("legacy", message("legacy", "select")) + b"POST /m", b""),
        ]:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as held:
                held.sendall(start)
                whole = held.makefile("rb").read()
                assert whole.startswith(end or (b"HTTP/1.1 200" if b"select" in start else b""))


def test_who_holds_all_connections_keeps_nobody_out_for_long(indexed: Path) -> None:
    """Connections beyond the limit are refused, idle ones end, and the server serves again, with nothing on stderr."""
    with replica(indexed, command=HURRIED) as (port, process), ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)) for _ in range(80)]

        def closed(held: socket.socket) -> bool:
            with suppress(ConnectionResetError):
                return held.recv(1) == b""
            return True

        assert all(map(closed, idle))
        assert post(port, call(1, "search_docs", query="distinct"))[0] == 200
        process.terminate()
        assert process.communicate(timeout=5) == ("", "")


class Balancer(ThreadingHTTPServer):
    """Hands each request to the next replica, whoever sent the one before."""

    daemon_threads = True

    def __init__(self, ports: list[int]) -> None:
        super().__init__(("127.0.0.1", 0), _Forward)
        self.turns = itertools.cycle(ports)
        self.lock = threading.Lock()
        self.served: list[int] = []

    def next(self) -> int:
        with self.lock:
            self.served.append(next(self.turns))
            return self.served[-1]


class _Forward(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Balancer

    def forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", self.server.next(), timeout=20)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        told = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() in ("content-type", "allow"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)
        connection.close()

    do_GET = do_POST = do_DELETE = forward

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.mark.parametrize("era", ERAS)
def test_replicas_stand_behind_a_balancer_without_sticky_sessions(indexed: Path, era: str) -> None:
    """Each request of each session may meet another replica; one that is gone is replaced without anybody noticing."""

    async def sessions(url: str) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(session, url)

    async def session(url: str) -> None:
        async with Client(url, mode=era) as client:
            for _ in range(5):
                assert len((await client.list_tools()).tools) == 4
                assert "sql-select" in text_of(await client.call_tool(*CALLS[0]))
                assert (await client.read_resource("pgdocs://docs/pg/sql-select")).contents

    with ExitStack() as stack:
        ports = [stack.enter_context(replica(indexed))[0] for _ in range(2)]
        balancer = Balancer(ports)
        thread = threading.Thread(target=balancer.serve_forever)
        thread.start()
        try:
            anyio.run(sessions, f"http://127.0.0.1:{balancer.server_address[1]}/mcp")
        finally:
            balancer.shutdown()
            thread.join()
            balancer.server_close()
        assert {*balancer.served} == {*ports}
        assert abs(balancer.served.count(ports[0]) - balancer.served.count(ports[1])) <= 1


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_told_to(indexed: Path, end: signal.Signals) -> None:
    """Also with a client that holds its connection open; stdout stays empty, and stderr holds the address alone."""
    with replica(indexed) as (port, process), socket.create_connection(("127.0.0.1", port)) as held:
        held.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
        assert post(port, call(1, "search_docs", query="select"))[0] == 200
        process.send_signal(end)
        out, err = process.communicate(timeout=3)
        assert (out, err) == ("", "")
        assert process.returncode in (0, -end)


def test_an_address_that_is_taken_is_said(indexed: Path, port: int) -> None:
    """A sentence with the cure and exit code 1, no stack trace."""
    command = [*SERVER, "--transport", "http", "--port", str(port)]
    env = {**os.environ, "PGDOCS_DOCS": str(indexed)}
    failed = subprocess.run(command, capture_output=True, text=True, env=env, timeout=20, check=False)
    assert failed.returncode == 1
    assert f"Can't listen on 127.0.0.1:{port}" in failed.stderr
    assert "choose another --port" in failed.stderr
    assert "Traceback" not in failed.stderr


# --- answers as data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_data_says_all_that_the_text_says(indexed: Path, transport: str) -> None:
    """With `--structured` a client that drops the text loses nothing: every word and URL of it is in the data, which is
    what the tool's outputSchema announces."""
    with ExitStack() as stack:
        if transport == "stdio":
            session = stack.enter_context(serving(indexed, "--structured"))
            session.initialize()
            ask = session.request
        else:
            port, _ = stack.enter_context(replica(indexed, "--structured"))

            def ask(method: str, params: Any = None) -> dict[str, Any]:
                message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
                return dict(json.loads(post(port, message)[1]))

        schemas = {tool["name"]: tool["outputSchema"] for tool in ask("tools/list")["result"]["tools"]}
        for name, arguments in CALLS:
            result = ask("tools/call", {"name": name, "arguments": arguments})["result"]
            data = result["structuredContent"]
            jsonschema.validate(data, schemas[name])
            known = words(" ".join(texts(data))) | FRAME
            assert not [*filter(lambda word: word not in known, words(result["content"][0]["text"]))], (name, arguments)
        wrong = ask("tools/call", {"name": "get_doc", "arguments": {"page": "sql-selct"}})["result"]
        assert wrong["isError"]
        assert "structuredContent" not in wrong


FRAME = frozenset(
    "score read on with get_doc page section part of go this is the last example also defined in and more nearest "
    "pages which may not be about it nothing near try other words or for what there text its own here a to".split()
)
"""The text's own words around what it quotes."""


def words(text: str) -> set[str]:
    found = (word.strip(".") for word in re.findall(r"[\w.#-]+", text.casefold()))
    return {word for word in found if not re.fullmatch(r"[\d.#-]*", word)}


def texts(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield name
            yield from texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from texts(value)
    else:
        yield str(data)


def test_the_default_is_text_alone(indexed: Path) -> None:
    """Nobody gets data who didn't ask: the most used clients would hide the text behind it."""
    with serving(indexed) as session:
        session.initialize()
        assert not [tool for tool in session.request("tools/list")["result"]["tools"] if "outputSchema" in tool]
        assert "structuredContent" not in session.call("search_docs", {"query": "select"})["result"]


def test_options_are_those_of_the_shell(indexed: Path) -> None:
    """`python server.py` and `pgdocs serve` take the same ones; a wrong one is told with exit code 2."""
    for command in (SERVER, [sys.executable, "-m", "pgdocs.serve.cli", "serve"]):
        helped = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=20, check=True)
        assert all(option in helped.stdout for option in ("--transport", "--port", "--allow-host", "--structured"))
        wrong = subprocess.run(
            [*command, "--transport", "sse"], capture_output=True, text=True, timeout=20, check=False
        )
        assert (wrong.returncode, wrong.stdout) == (2, "")
