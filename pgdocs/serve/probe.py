"""A stdio server seen from outside: raw JSON-RPC, each phase timed, every line that is none reported.

Knows the protocol's bare lines and nothing of any SDK, so that it tells what a client really gets.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
    junk: list[str] = field(default_factory=list)
    """Lines on stdout that are no JSON-RPC message."""

    def __enter__(self) -> Session:
        self.started = time.perf_counter()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(self.command, env=self.env, **pipes)  # type: ignore[call-overload]
        except OSError as error:
            raise ProbeError(f"Can't start {self.command[0]!r}: {error.strerror or error}.") from error
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._errors: list[str] = []
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
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
        """The next answer, to whatever request; notifications and the server's own requests are passed over."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                message = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise ProbeError(f"No answer to {method} within {PATIENCE:.0f} s.{self._last_words()}") from None
            if message is None:
                raise ProbeError(f"The server ended before it answered {method}.{self._last_words()}")
            if "method" not in message:
                return message

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
            self.process.kill()
            code = self.process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()
        return code

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

    def _last_words(self) -> str:
        words = self.stderr.strip().splitlines()[-5:]
        return " Its last words on stderr:\n" + "\n".join(words) if words else ""


@dataclass(frozen=True)
class Report:
    """What a probe saw: seconds from process start to each answer, the tools' names, the called tool's text."""

    handshake: float
    listed: float
    called: float | None
    ended: float
    exit_code: int
    server: str
    tools: tuple[str, ...]
    text: str
    junk: tuple[str, ...]
    stderr: str


def probe(
    command: Sequence[str],
    tool: str = "",
    arguments: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
) -> Report:
    """Start a server, shake hands, list its tools, call one if named, and let it end. Raises ProbeError."""
    with Session(command, env) as session:
        shaken = _result(session.initialize(), "initialize")
        handshake = time.perf_counter() - session.started
        tools = tuple(str(told["name"]) for told in _result(session.request("tools/list"), "tools/list")["tools"])
        listed = time.perf_counter() - session.started
        text, called = "", None
        if tool:
            result = _result(session.call(tool, arguments or {}), tool)
            called = time.perf_counter() - session.started
            text = "\n".join(str(part.get("text", "")) for part in result.get("content", ()))
        closing = time.perf_counter()
        code = session.close()
        info = shaken.get("serverInfo", {})
        name = f"{info.get('name', '?')} {info.get('version', '')}".strip()
        ended = time.perf_counter() - closing
        return Report(handshake, listed, called, ended, code, name, tools, text, tuple(session.junk), session.stderr)


def _result(answer: Mapping[str, Any], method: str) -> dict[str, Any]:
    if "result" not in answer:
        raise ProbeError(f"{method} is answered with an error: {answer.get('error', {}).get('message', answer)}.")
    return dict(answer["result"])
