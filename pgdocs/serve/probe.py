"""A stdio server seen from outside: raw JSON-RPC, each phase timed, every line that is none reported.

Knows the protocol's bare lines and nothing of any SDK, so that it tells what a client really gets.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from pgdocs.errors import PgdocsError

CLIENT = {"name": "pgdocs-probe", "version": "1"}

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}

PATIENCE = 30.0
"""Seconds to wait for an answer: what Claude Code gives a server to start."""


class ProbeError(PgdocsError):
    """The server could not be started, ended, or gave no answer in time; the text holds the end of its stderr."""


@dataclass
class Session:
    """A running server. Use as a context manager: it ends the process by closing its stdin, by force if need be."""

    command: Sequence[str]
    env: Mapping[str, str] | None = None
    patience: float = PATIENCE
    cwd: Path | None = None
    junk: list[str] = field(default_factory=list)
    """Lines on stdout that are no JSON-RPC message."""

    def __enter__(self) -> Session:
        self.started = time.perf_counter()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        program = shutil.which(self.command[0]) or self.command[0]  # on Windows `npx` is npx.cmd
        command = [program, *self.command[1:]]
        try:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(  # type: ignore[call-overload]
                command, env=self.env, cwd=self.cwd, start_new_session=True, **pipes
            )
        except OSError as error:
            raise ProbeError(f"Can't start {self.command[0]!r}: {error.strerror or error}.") from error
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._errors: list[str] = []
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()
        self._number = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The whole answer, `result` or `error` in it. Raises ProbeError where none comes."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": dict(params or {})})
        while (answer := self.answer(method)).get("id") != self._number:
            pass
        return answer

    def answer(self, method: str = "a request") -> dict[str, Any]:
        """The next answer, to whatever request. Notifications are passed over; what the server asks itself is declined,
        so that none waits for it."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                message = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise ProbeError(f"No answer to {method} within {self.patience:g} s.{self.last_words()}") from None
            if message is None:
                self._answers.put(None)
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(1)
                self._threads[1].join(1)
                raise ProbeError(f"The server ended before it answered {method}{self._how()}.{self.last_words()}")
            if "method" not in message:
                return message
            if message["method"] == "ping":
                self.send({"jsonrpc": "2.0", "id": message.get("id"), "result": {}})
            elif "id" in message:
                declined = {"code": -32601, "message": "pgdocs-probe has no such method"}
                self.send({"jsonrpc": "2.0", "id": message["id"], "error": declined})

    def initialize(self) -> dict[str, Any]:
        """The handshake of the 2025 protocol."""
        answer = self.request("initialize", INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": dict(arguments)})

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one line; a server that is gone is noticed when its answer is waited for."""
        assert self.process.stdin
        with suppress(OSError):
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def close(self, patience: float = 5.0) -> int:
        """Close stdin and wait; the exit code, -9 where the process had to be killed."""
        assert self.process.stdin
        with suppress(OSError):
            self.process.stdin.close()
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self._kill()
            code = self.process.wait()
        for thread, pipe in zip(self._threads, (self.process.stdout, self.process.stderr), strict=True):
            thread.join(1)
            if thread.is_alive():  # a child of the server's holds the pipe
                self._kill()
                thread.join(1)
            if pipe and not thread.is_alive():
                pipe.close()
        return code

    def _kill(self) -> None:
        """End the server and what it has started: launchers like npx and uvx are not the server themselves."""
        with suppress(OSError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)  # its own session, so its own group

    @property
    def stderr(self) -> str:
        """What the server has said on stderr so far."""
        return "".join(self._errors)

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            try:
                message = json.loads(line)
                if message["jsonrpc"] != "2.0":
                    raise ValueError
            except (ValueError, TypeError, KeyError):
                self.junk.append(line.decode("utf-8", "replace").rstrip("\r\n"))
            else:
                self._answers.put(message)
        self._answers.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._errors.append(line.decode("utf-8", "replace"))

    def _how(self) -> str:
        code = self.process.poll()
        return f", with exit code {code}" if code is not None else ""

    def last_words(self) -> str:
        """The end of its stderr, and what it put on stdout that is no message: an addition to an error's text."""
        said = {"Its last words on stderr": self.stderr.strip().splitlines(), "On stdout, no JSON-RPC": self.junk}
        return "".join(f"\n{where}:\n" + "\n".join(lines[-5:]) for where, lines in said.items() if lines)


@dataclass(frozen=True)
class Report:
    """What a probe saw: the seconds of each phase (start and handshake, list, call, end), the tools' names,
    the called tool's text."""

    handshake: float
    listed: float
    called: float | None
    ended: float
    exit_code: int
    server: str
    tools: tuple[str, ...]
    text: str
    is_error: bool
    junk: tuple[str, ...]
    stderr: str


def probe(
    command: Sequence[str],
    tool: str = "",
    arguments: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
    cwd: Path | None = None,
) -> Report:
    """Start a server, shake hands, list its tools, call one if named, and let it end; `patience` are the seconds to
    wait for each answer. Raises ProbeError."""
    with Session(command, env, patience, cwd) as session:
        shaken = _result(session, session.initialize(), "initialize")
        handshake = time.perf_counter() - session.started
        listing = _result(session, session.request("tools/list"), "tools/list")
        tools = tuple(str(told.get("name", "?")) for told in listing.get("tools", ()))
        listed = time.perf_counter() - session.started - handshake
        text, called, is_error = "", None, False
        if tool:
            calling = time.perf_counter()
            result = _result(session, session.call(tool, arguments or {}), tool)
            called = time.perf_counter() - calling
            text = "\n".join(str(part.get("text", f"({part.get('type')})")) for part in result.get("content", ()))
            text = text or json.dumps(result.get("structuredContent", ""))
            is_error = bool(result.get("isError"))
        closing = time.perf_counter()
        code = session.close()
        info = shaken.get("serverInfo", {})
        name = f"{info.get('name', '?')} {info.get('version', '')}".strip()
        ended = time.perf_counter() - closing
        junk, stderr = tuple(session.junk), session.stderr
        return Report(handshake, listed, called, ended, code, name, tools, text, is_error, junk, stderr)


def _result(session: Session, answer: Mapping[str, Any], method: str) -> dict[str, Any]:
    error, result = answer.get("error"), answer.get("result")
    if not isinstance(result, dict):
        told = error.get("message") if isinstance(error, dict) else answer
        raise ProbeError(f"{method} is answered with an error: {told}.{session.last_words()}")
    return result
