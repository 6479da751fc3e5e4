"""A scripted model on loopback, as far as Claude Code needs one: it calls one tool, then says that it is done.

What the client sends is kept, so that a test sees exactly what a model would have seen.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Model(ThreadingHTTPServer):
    """Use as a context manager; `url` is the base URL, `seen` the bodies of all requests for a message."""

    daemon_threads = True

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Messages)
        self.tool, self.arguments = tool, arguments
        self.seen: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Model:
        self._thread = threading.Thread(target=self.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def tool_results(self) -> list[Any]:
        """The contents of the tool results in the conversation, in the order in which the model was shown them."""
        return [
            part.get("content")
            for body in self.seen
            for message in body.get("messages", [])
            if isinstance(message["content"], list)
            for part in message["content"]
            if part.get("type") == "tool_result"
        ]

    def block(self, body: dict[str, Any]) -> dict[str, Any]:
        """What the model says: the call, if the tool is offered and has not been called yet."""
        offered = [tool.get("name") for tool in body.get("tools") or []]
        if self.tool in offered and not self.tool_results():
            return {"type": "tool_use", "id": "toolu_1", "name": self.tool, "input": self.arguments}
        return {"type": "text", "text": "done"}


class _Messages(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, *_: object) -> None:
        """Silent."""

    def do_HEAD(self) -> None:
        self.answer(b"", "text/plain")

    def do_GET(self) -> None:
        self.answer(b"{}", "application/json", 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "count_tokens" in self.path:
            self.answer(b'{"input_tokens": 10}', "application/json")
        elif "/v1/messages" not in self.path:
            self.answer(b"{}", "application/json", 404)
        else:
            self.server.seen.append(body)
            self.message(body)

    def message(self, body: dict[str, Any]) -> None:
        block = self.server.block(body)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
        if not body.get("stream"):
            whole = {**message, "content": [block], "stop_reason": stop, "stop_sequence": None}
            self.answer(json.dumps(whole).encode(), "application/json")
            return
        if stop == "tool_use":
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        empty: dict[str, Any] = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": empty},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.answer(stream.encode(), "text/event-stream")

    def answer(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
