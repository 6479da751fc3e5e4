"""`pgdocs probe`: servers that are right, wrong and broken, each a real process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pgdocs.serve.probe import ProbeError, Session, probe

POSIX = sys.platform != "win32"

SERVER = """\
import json, sys
MODE = sys.argv[1:]
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
if "chatty" in MODE:
    print("Listening on stdio", flush=True)
    print('{"not": "a message"}', flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, params, key = message.get("method"), message.get("params", {}), message.get("id")
    if method == "initialize":
        if "dies" in MODE:
            print("no such table", file=sys.stderr)
            print("on the wire", flush=True)
            sys.exit(7)
        if "asks" in MODE:
            say({"id": "r1", "method": "roots/list"})
            refused = json.loads(sys.stdin.readline())
            assert refused["error"]["code"] == -32601 and refused["id"] == "r1", refused
            say({"id": "p1", "method": "ping"})
            assert json.loads(sys.stdin.readline())["result"] == {}
        say({"method": "notifications/message", "params": {}})
        say({"id": key, "result": {"serverInfo": {"name": "toy", "version": "2"}, "capabilities": {}}})
    elif method == "tools/list":
        if "toolless" in MODE:
            say({"id": key, "error": {"code": -32601, "message": "Method not found"}})
        else:
            say({"id": key, "result": {"tools": [{"name": "echo"}]}})
    elif method == "tools/call":
        if "slow" in MODE:
            continue
        text = json.dumps(params["arguments"])
        say({"id": key, "result": {"content": [{"type": "text", "text": text}], "isError": "fails" in MODE}})
if "stays" in MODE:
    import time
    time.sleep(600)
"""


@pytest.fixture
def toy(tmp_path: Path) -> list[str]:
    """The command of a server of our own, to which ways of going wrong may be added."""
    file = tmp_path / "toy.py"
    file.write_text(SERVER, encoding="utf-8")
    return [sys.executable, str(file)]


def at_shell(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pgdocs.serve.cli", "probe", *arguments]
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8", check=False)


def test_it_times_each_phase_and_calls_a_tool(toy: list[str]) -> None:
    """Each by itself: the handshake, the tools, the call, the end; a slow phase is seen where it is."""
    started = time.perf_counter()
    report = probe(toy, "echo", {"x": 1})
    phases = (report.handshake, report.listed, report.called or 0, report.ended)
    assert min(phases) > 0
    assert sum(phases) <= time.perf_counter() - started
    assert (report.server, report.tools, report.text, report.exit_code) == ("toy 2", ("echo",), '{"x": 1}', 0)
    assert not report.junk
    assert not report.is_error


def test_what_the_server_asks_is_declined_rather_than_left_open(toy: list[str]) -> None:
    """A server that waits for its client's roots before it answers is no broken server."""
    assert probe([*toy, "asks"]).tools == ("echo",)


def test_every_line_that_is_no_message_is_reported(toy: list[str]) -> None:
    """A print on stdout breaks clients: it is shown, and the exit code is 1."""
    told = at_shell(*toy, "chatty")
    assert told.returncode == 1
    assert 'On stdout, no JSON-RPC:\nListening on stdio\n{"not": "a message"}' in told.stdout
    assert "2 lines on stdout are no JSON-RPC" in told.stderr
    assert json.loads(at_shell("--json", *toy, "chatty").stdout)["junk"][0] == "Listening on stdio"


def test_a_server_that_dies_is_quoted(toy: list[str]) -> None:
    """Its exit code, the end of its stderr, and what it left on stdout."""
    with pytest.raises(ProbeError) as error:
        probe([*toy, "dies"])
    for told in ("ended before it answered initialize, with exit code 7", "no such table", "on the wire"):
        assert told in str(error.value)


def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_said(toy: list[str]) -> None:
    """The phase that hangs is named."""
    started = time.monotonic()
    told = at_shell("--timeout", "0.5", "--tool", "echo", "--", *toy, "slow")
    assert told.returncode == 1
    assert "No answer to tools/call within 0.5 s." in told.stderr
    assert time.monotonic() - started < 15


def test_a_server_without_tools_is_told_apart_from_a_broken_one(toy: list[str]) -> None:
    """The server's own words for what it refuses."""
    with pytest.raises(ProbeError, match="tools/list is answered with an error: Method not found"):
        probe([*toy, "toolless"])


def test_a_tool_that_fails_is_a_failure(toy: list[str]) -> None:
    """isError: its text is shown, and a script notices."""
    told = at_shell("--tool", "echo", "--args", '{"x": 1}', "--", *toy, "fails")
    assert told.returncode == 1
    assert '{"x": 1}' in told.stdout
    assert "echo answered with an error" in told.stderr


@pytest.mark.skipif(not POSIX, reason="process groups of POSIX")
def test_a_server_behind_a_launcher_is_ended_too(toy: list[str], tmp_path: Path) -> None:
    """npx and uvx start the server as a child: killing the launcher alone would leave it running, holding our pipes."""
    code = f"import subprocess, sys; sys.exit(subprocess.run({[*toy, 'stays']!r}).returncode)"
    with Session([sys.executable, "-c", code]) as session:
        assert session.initialize()["result"]["serverInfo"]["name"] == "toy"
        started = time.monotonic()
        assert session.close(patience=0.2) == -9
        assert time.monotonic() - started < 10


@pytest.mark.parametrize("arguments", ["[]", "{", '"x"'])
def test_arguments_that_are_no_object_are_wrong_usage(arguments: str) -> None:
    """The sentence shows what one looks like."""
    told = at_shell("--args", arguments, "x")
    assert told.returncode == 2
    assert '\'{"query": "upsert"}\'' in told.stderr


def test_a_command_that_is_not_there_is_a_sentence() -> None:
    """With the name that was tried."""
    told = at_shell("no-such-server")
    assert told.returncode == 1
    assert "Can't start 'no-such-server'" in told.stderr
