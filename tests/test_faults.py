"""The server under fire: hostile lines and arguments, floods, clients that vanish, odd surroundings."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    POSIX,
    SERVER,
    alive,
    bound_by_rights,
    cache_of,
    call,
    children,
    said,
    search,
    serving,
    until,
    write,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgdocs.serve.probe import INITIALIZE, Session, probe
from pgdocs.serve.text import MAX_ANSWER

LEAKS = ("Traceback", "pydantic", "Error executing", 'File "')
"""What no answer may hold: a sentence says what to do, a stack trace doesn't."""


@pytest.fixture(scope="module")
def server(indexed: Path) -> Iterator[Session]:
    """One server for everything that must leave it alive; its stdout is clean to the end, and it ends as it should."""
    with serving(indexed) as session:
        session.initialize()
        yield session
        assert "sql-select" in search(session)
        assert session.close(patience=1) == 0
        assert not session.junk


# --- lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"x" * 20_000_000,
        json.dumps({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": "y" * 20_000_000}}).encode(),
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping"' + b" " * 20_000_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
        b'{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "search_docs"}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody"}}',
        b'{"jsonrpc": "2.0", "method": "notifications/no/such", "params": []}',
        b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
        b"\0\0\0",
        b"\xef\xbb\xbf{}",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=lambda line: line[:60].decode("utf-8", "replace"),
)
def test_a_line_that_is_no_request_is_passed_over(server: Session, line: bytes) -> None:
    """Whatever arrives, the next request is answered as if nothing had happened."""
    write(server, line)
    assert "sql-select" in search(server)


def test_a_query_of_20_mb_is_refused_in_a_sentence(server: Session) -> None:
    """The error says how long a query may be, and doesn't repeat it."""
    text = search(server, "x" * 20_000_000)
    assert "use at most 10,000" in text
    assert len(text) < 500


def test_requests_that_make_no_sense_get_an_error_each(server: Session) -> None:
    """An unknown method, a call without a name, parameters of a wrong shape: an error with the request's own id."""
    requests: list[tuple[str, dict[str, Any]]] = [
        ("no/such", {}),
        ("tools/call", {}),
        ("tools/call", {"name": 5}),
        ("tools/call", {"name": "search_docs", "arguments": ["x"]}),
        ("tools/call", {"name": "no_such", "arguments": {}}),
        ("resources/read", {}),
        ("resources/read", {"uri": 7}),
        ("prompts/get", {"name": "no_such"}),
        ("completion/complete", {"ref": {}, "argument": {}}),
        ("logging/setLevel", {"level": "loudest"}),
    ]
    for method, params in requests:
        answer = server.request(method, params)
        assert answer["error"]["code"] in (-32601, -32602), answer
        assert not any(leak in json.dumps(answer) for leak in LEAKS[:1])
    write(server, b'{"jsonrpc": "2.0", "id": "a text", "method": "ping", "params": []}')
    write(server, b'{"jsonrpc": "2.0", "id": "another", "method": "ping"}')
    while server.answer().get("id") != "another":
        pass


@pytest.mark.parametrize("text", ["cut \ud83d off", "\udc00", "a\0b", "\0", "\x1b[2J\u202e\u200b\ufeff"])
@pytest.mark.parametrize(
    ("tool", "argument"),
    [("search_docs", "query"), ("get_function_signature", "name"), ("get_doc", "page"), ("how_do_i", "task")],
)
def test_characters_that_are_none_get_an_answer(server: Session, tool: str, argument: str, text: str) -> None:
    """A lone surrogate (half an emoji) or a NUL in an argument neither kills the writer nor leaves a caller waiting."""
    answer = server.call(tool, {argument: text})
    assert said(answer)
    json.dumps(answer, ensure_ascii=False).encode("utf-8")  # a lone surrogate would fail


def test_500_pipelined_calls_are_each_answered_once(server: Session) -> None:
    """A client that doesn't wait gets all its answers, each its own."""
    pages = ["sql-select", "queries-with", "release-18", "ST_Buffer", "ST_DWithin"]
    write(server, *(call(f"p{n}", "get_doc", page=pages[n % 5]) for n in range(500)))
    answers = [server.answer() for _ in range(500)]
    assert {answer["id"] for answer in answers} == {f"p{n}" for n in range(500)}
    for answer in answers:
        assert pages[int(answer["id"][1:]) % 5].lower() in said(answer).lower().replace("_", "_")


def test_cancelled_calls_leave_nothing_behind(server: Session) -> None:
    """A hundred calls cancelled at once: those behind them are answered, and none is answered twice."""
    for n in range(100):
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": f"c{n}"}}
        write(server, call(f"c{n}", "search_docs", query="select"), cancel)
    write(server, call("end", "search_docs", query="distinct"))
    seen = []
    while (answer := server.answer())["id"] != "end":
        seen.append(answer["id"])
    assert len(seen) == len(set(seen))
    assert "sql-select" in said(answer)


def test_a_client_that_reads_no_stderr_is_served(indexed: Path) -> None:
    """Ten thousand bad lines must not fill the pipe of the log: a server that waits for its log is hung."""
    ours, theirs = os.pipe()
    env = {**os.environ, "PGDOCS_DOCS": str(indexed)}
    pipe = subprocess.PIPE
    with subprocess.Popen(SERVER, stdin=pipe, stdout=pipe, stderr=theirs, env=env) as process:
        assert process.stdin
        assert process.stdout
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
        lines = [b"junk " * 20, b'{"jsonrpc": "2.0", "id": {}, "method": "x"}'] * 5_000
        wrong = [json.dumps(call(n, "search_docs", query=[n])).encode() for n in range(1, 1_000)]
        end = [json.dumps(call("end", "search_docs", query="select")).encode()]
        process.stdin.write(b"\n".join([json.dumps(hello).encode(), *lines, *wrong, *end, b""]))
        process.stdin.flush()
        for line in process.stdout:
            if json.loads(line).get("id") == "end":
                break
        else:
            pytest.fail("stdout ended")
        process.stdin.close()
        assert process.wait(1) == 0
    os.close(ours)
    os.close(theirs)


# --- arguments ----------------------------------------------------------------------------------------------

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10**6) | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
words = st.sampled_from(["select", "ST_Buffer", "->>", "pg/sql-select", "work_mem", "ü", "%", '"', "\\", "#", "/", "{"])
named = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(words, max_size=4).map(" ".join) | st.text() | anything
        for name in ("query", "name", "task", "page", "section", "source", "strategy")
    }
    | {name: st.integers(-3, 3_000) | anything for name in ("max_results", "part", "token_budget")},
)
TOOLS = ["search_docs", "get_function_signature", "how_do_i", "get_doc"]


@pytest.mark.parametrize("tool", TOOLS)
def test_any_arguments_get_an_answer_or_a_sentence(server: Session, slow: bool, tool: str) -> None:
    """Whatever a model puts into a tool's arguments, it gets text within the bound, or an error without a trace."""
    (known,) = (t["inputSchema"]["properties"] for t in _tools(server) if t["name"] == tool)

    @settings(
        max_examples=2_000 if slow else 60,
        deadline=None,
        database=None,
        derandomize=not slow,
        suppress_health_check=list(HealthCheck),
    )
    @given(named, st.booleans())
    def calls(arguments: dict[str, Any], fitting: bool) -> None:
        if fitting:
            arguments = {name: value for name, value in arguments.items() if name in known}
        answer = server.call(tool, arguments)
        text = said(answer)
        assert 0 < len(text) <= MAX_ANSWER
        assert not any(leak in text for leak in LEAKS), text
        if unknown := arguments.keys() - known.keys():
            assert answer["result"]["isError"]
            assert any(repr(name)[:40] in text for name in unknown)
            assert ", ".join(known) in text

    calls()


def test_any_address_and_any_completion_get_an_answer(server: Session, slow: bool) -> None:
    """The same for resources, the prompt and completion: a result or an error code of the protocol."""

    @settings(max_examples=1_000 if slow else 40, deadline=None, database=None, derandomize=not slow)
    @given(st.text(max_size=50), st.text(max_size=50), st.sampled_from(["source", "slug", "feature", "name", "x"]))
    def requests(text: str, other: str, argument: str) -> None:
        reference = {"type": "ref/resource", "uri": "pgdocs://docs/{source}/{slug}"}
        completion = {"ref": reference, "argument": {"name": argument, "value": text}}
        asked: list[tuple[str, dict[str, Any]]] = [
            ("resources/read", {"uri": f"pgdocs://docs/{text}/{other}"}),
            ("resources/read", {"uri": text}),
            ("prompts/get", {"name": "explain_feature", "arguments": {"feature": text}}),
            ("completion/complete", {**completion, "context": {"arguments": {"source": other}}}),
            ("completion/complete", {**completion, "ref": {"type": "ref/prompt", "name": other}}),
        ]
        for method, params in asked:
            answer = server.request(method, params)
            assert "result" in answer or answer["error"]["code"] == -32602, answer
            assert "Traceback" not in json.dumps(answer)

    requests()


def _tools(session: Session) -> list[dict[str, Any]]:
    return list(session.request("tools/list")["result"]["tools"])


# --- ends ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not POSIX, reason="Windows has no such signals and no ps")
@pytest.mark.parametrize("doing", ["nothing", "building", "answering", "rebuilding"])
@pytest.mark.parametrize("end", ["EOF", "stdout", "SIGINT", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_a_second_after_the_client(own: Path, doing: str, end: str) -> None:
    """However a client goes away and whatever the server is at: it ends, its child too, by the right code."""
    if doing == "building":
        cache_of(own).unlink()
    pipe, env = subprocess.PIPE, {**os.environ, "PGDOCS_DOCS": str(own)}
    with subprocess.Popen(SERVER, stdin=pipe, stdout=pipe, env=env) as process:
        assert process.stdin
        assert process.stdout

        def write(*messages: dict[str, Any]) -> None:
            assert process.stdin
            process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
            process.stdin.flush()

        def read(message: dict[str, Any]) -> str:
            assert process.stdout
            write(message)
            return process.stdout.readline().decode()

        read({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
        if doing == "building":
            write(call(1, "search_docs", query="select"))
        elif doing == "answering":
            write(*(call(n, "search_docs", query="select " * 200) for n in range(300)))
        elif doing == "rebuilding":
            read(call(1, "search_docs", query="select"))
            (own / "pg__new.md").write_text("# New\n\nA zeppelin.", encoding="utf-8")
            until(lambda: "have changed" in read(call(2, "search_docs", query="select")), 4, "the change is seen")
        if doing.endswith("building"):
            until(lambda: children(process.pid), 5, "a child builds")
        started = children(process.pid)
        if end == "EOF":
            process.stdin.close()
        elif end == "stdout":
            process.stdout.close()
        else:
            process.send_signal(signal.Signals[end])
        assert process.wait(timeout=1) == (-signal.Signals[end] if end.startswith("SIG") else 0)
        until(lambda: not any(map(alive, started)), 1, "its child has ended")


def test_a_server_without_a_client_ends_at_once(indexed: Path) -> None:
    """stdin at its end from the beginning, as under a supervisor: no process that waits for nobody."""
    env = {**os.environ, "PGDOCS_DOCS": str(indexed)}
    done = subprocess.run(SERVER, stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=10, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


# --- surroundings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "cp950:strict", "PYTHONUTF8": "0"},
        {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"},
        {"HOME": "", "USERPROFILE": "", "XDG_CACHE_HOME": "", "LOCALAPPDATA": ""},
    ],
    ids=lambda env: next(iter(env.items()))[0] + "=" + next(iter(env.values())),
)
def test_surroundings_change_nothing(own: Path, env: dict[str, str]) -> None:
    """Under a Windows code page, in the C locale, in Python's development mode, without a home: the same answers."""
    (own / "pg__arrows.md").write_text("# Arrows\n\nAn arrow → of ≤ one é zeppelin 🚂.\n", encoding="utf-8")
    with serving(own, **env) as session:
        session.initialize()
        assert "→ of ≤ one é zeppelin 🚂" in search(session, "→ é zeppelin")
        assert session.close() == 0
        assert not session.junk


@pytest.mark.parametrize("name", ["with blanks", "Größe – 文書 é", "%41 & 'quoted' $HOME", "-dash"])
def test_folders_may_be_called_anything(own: Path, name: str) -> None:
    """Blanks, letters beyond ASCII and signs of the shell in the path: pages are found, the cache lies beside them."""
    folder = own.parent / name / name
    folder.parent.mkdir()
    own.rename(folder)
    with serving(folder) as session:
        session.initialize()
        assert "sql-select" in search(session)
        assert "LIMIT" in said(session.call("get_doc", {"page": "sql-select"}))
    assert cache_of(folder).is_file()


@pytest.mark.skipif(not POSIX, reason="Windows lets nobody delete a working directory")
def test_a_deleted_working_directory_is_no_trouble(pages: Path, tmp_path: Path) -> None:
    """An editor that was started in a folder that is gone can start the server, and the server can build."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    inside = "import os, sys; os.chdir(sys.argv.pop(1)); " + script.partition("; ")[2]
    with serving(pages, command=[sys.executable, "-c", inside, str(gone), *SERVER[1:]]) as session:
        session.initialize()
        assert not gone.exists()
        assert "sql-select" in search(session)


def test_a_home_and_a_folder_that_cannot_be_written_cost_the_cache_alone(pages: Path, tmp_path: Path) -> None:
    """Where neither the folder nor the home can be written, every start builds, and answers all the same."""
    rights = bound_by_rights()
    home, folder = tmp_path / "home", tmp_path / "readonly" / "docs"
    home.mkdir()
    folder.parent.mkdir()
    pages.rename(folder)
    for path in (home, folder.parent):
        path.chmod(0o555)
    with serving(folder, command=[*rights, *SERVER], HOME=str(home), XDG_CACHE_HOME="") as session:
        session.initialize()
        assert "sql-select" in search(session)
        assert "Can't write the index cache" in session.stderr
    assert not [*home.iterdir()]
    assert [path.name for path in folder.parent.iterdir()] == ["docs"]


def test_a_user_that_the_system_does_not_know_is_served(own: Path) -> None:
    """A container started with any number as its user has no home at all: that is no reason not to answer."""
    if not POSIX or os.geteuid() or not shutil.which("setpriv"):
        pytest.skip("only root can become a user that doesn't exist")
    keep = "+dac_override,+dac_read_search"
    somebody = ["setpriv", "--reuid", "54321", "--clear-groups", f"--inh-caps={keep}", f"--ambient-caps={keep}", "--"]
    with serving(own, command=[*somebody, *SERVER], HOME="", XDG_CACHE_HOME="") as session:
        session.initialize()
        assert "sql-select" in search(session)


def test_the_probe_sees_a_clean_run(indexed: Path) -> None:
    """From start to end: handshake, tools, a call, exit code 0, nothing on stdout but the protocol, an empty log."""
    report = probe(SERVER, "search_docs", {"query": "select"}, {**os.environ, "PGDOCS_DOCS": str(indexed)})
    assert report.exit_code == 0
    assert report.junk == ()
    assert report.stderr == ""
    assert report.ended < 1
