"""Two tiny manuals of our own invention, about tea, served over HTTP on loopback with faults on demand.

They stand for the two real sites: the same DocBook shapes, versions, spellings of links and odd redirects.
"""

from __future__ import annotations

import gzip
import hashlib
import socket
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

HOMES = {"pg": "/docs/18/", "postgis": "/docs/manual-3.5/"}


def pg_page(title: str, anchor: str, content: str, up: str = "", kind: str = "sect1") -> bytes:
    """A page as www.postgresql.org serves it: the site's own links around `#docContent`."""
    above = f'<a accesskey="u" href="{up}">Up</a>' if up else ""
    return f"""<!doctype html><html><head><title>PostgreSQL: Documentation: 18: {title}</title></head><body>
<a href="/docs/current/tea.html">current</a><a href="/docs/17/tea.html">17</a><a href="/account/">account</a>
<div id="docContent"><div class="navheader"><table><tr><th colspan="5">{title}</th></tr><tr><td>{above}</td>
<th>{up.removesuffix(".html").title()}</th></tr></table></div>
<div class="{kind}" id="{anchor}"><div class="titlepage"><h2 class="title">{title}</h2></div>{content}</div>
<div class="navfooter"><a href="index.html">Home</a></div></div></body></html>""".encode()


def gis_page(title: str, anchor: str, content: str, above: str = "") -> bytes:
    """A page as postgis.net serves it: no template, no charset."""
    return f"""<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>
<title>{title}</title></head><body><header><div class="navheader"><table><tr><th colspan="3">{title}</th></tr><tr>
<td/><th>{above}</th><td/></tr></table></div></header><div class="refentry" id="{anchor}"><div class="titlepage"/>
<div class="refnamediv"><h2>Name</h2><p>{title} — {content}</p></div></div></body></html>""".encode()


def toc(*names: str) -> str:
    """A table of contents."""
    return '<div class="toc">' + "".join(f'<p><a href="{name}">On {name}</a></p>' for name in names) + "</div>"


def pg_manual() -> dict[str, bytes]:
    """Nine pages in three levels; three of them are linked under several spellings, one under its old name."""
    leaves = {
        f"leaf-{n}.html": pg_page(f"Leaf {n}", f"LEAF-{n}", f"<p>Leaf {n} – unfurls.</p>", "tea.html") for n in range(5)
    }
    spellings = ("tea.htm", "tea.html?day=1", "/docs/18/", "/docs/17/tea.html", "index.html#X", "../19/tea.html")
    other = ("https://example.org/docs/18/far.html", "mailto:pot@example.org", "cup.svg", "gone-abroad.html")
    return {
        "index.html": pg_page(
            "PostgreSQL 18.6 Documentation", "TEA", toc("tea.html", "sql-pour.html", *spellings, *other), kind="book"
        ),
        "tea.html": pg_page("Tea", "TEA-CHAPTER", toc(*leaves, "teapot.html"), "index.html", "chapter"),
        "sql-pour.html": pg_page(
            "POUR", "SQL-POUR", '<p>POUR — fill. See <a href="leaf-0.html#LEAF-0">0</a>.</p>', "tea.html", "refentry"
        ),
        "kettle.html": pg_page("Kettle", "KETTLE", "<p>A kettle, once called teapot.</p>", "tea.html"),
        **leaves,
    }


def gis_manual() -> dict[str, bytes]:
    """Four pages; two differ only by case, one is also linked as its twin below `en/`."""
    links = '<a href="TopoPot.html">a</a> <a href="topopot.html">b</a> <a href="en/ST_Pour.html">c</a>'
    return {
        "index.html": gis_page("PostGIS 3.5.2 Manual", "manual", f"{links} <a href='postgis-en.html'>all</a>"),
        "ST_Pour.html": gis_page("ST_Pour", "ST_Pour", "Pours — über.", "Pouring"),
        "TopoPot.html": gis_page("TopoPot", "TopoPot", "A type."),
        "topopot.html": gis_page("topopot", "topopot", "Another type."),
    }


@dataclass
class Mirror:
    """The two sites. `pages` may be changed while they run; `faults` are used up, one per request for a name.

    A fault is a status (an int), "reset", "truncate", "stall" (until the mirror stops), or "hold" (until `release`).
    """

    pages: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"pg": pg_manual(), "postgis": gis_manual()})
    moved: dict[str, str] = field(
        default_factory=lambda: {"teapot.html": "kettle.html", "gone-abroad.html": "/docs/19/tea.html"}
    )
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    robots: str = ""
    retry_after: str = "0"
    validators: bool = False
    gzip: bool = False
    to_twin: bool = False
    latency: float = 0.0
    down: bool = False
    requests: list[tuple[str, int, float]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    most_at_once: int = 0
    held: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Mirror:
        self._lock, self._at_once = threading.Lock(), 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.mirror = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def origin(self, source: str) -> str:
        """Where a source is to be had here."""
        return f"http://127.0.0.1:{self._server.server_port}{HOMES[source]}"

    @property
    def origins(self) -> dict[str, str]:
        return {source: self.origin(source) for source in HOMES}

    def transfers(self) -> Counter[str]:
        """How often each path was answered with a page."""
        return Counter(path for path, status, _ in self.requests if status == 200 and path != "/robots.txt")

    def forget(self) -> None:
        """Start the log anew."""
        self.requests.clear()

    def save(self, folder: Path) -> Path:
        """The same pages as files, one folder for each source."""
        for source, pages in self.pages.items():
            (folder / source).mkdir(parents=True, exist_ok=True)
            for name, html in pages.items():
                (folder / source / name).write_bytes(html)
        return folder


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    mirror: Mirror

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed, or that gave up, is none of ours."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        mirror = cast(_Server, self.server).mirror
        path, started, status = urlsplit(self.path).path, time.monotonic(), 0
        with mirror._lock:
            mirror.agents.add(self.headers["User-Agent"])
            mirror._at_once += 1
            mirror.most_at_once = max(mirror.most_at_once, mirror._at_once)
            faults = mirror.faults.get(path.rsplit("/", 1)[1]) or [200]
            fault = "reset" if mirror.down else faults.pop(0)
        try:
            time.sleep(mirror.latency)
            status = self._respond(mirror, path, fault)
        finally:
            with mirror._lock:
                mirror._at_once -= 1
                mirror.requests.append((path, status, started))

    def _respond(self, mirror: Mirror, path: str, fault: int | str) -> int:
        if fault == "hold":
            mirror.held.set()
            mirror.release.wait()
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return 0
        if isinstance(fault, int) and fault != 200:
            return self._send(fault, b"later", {"Retry-After": mirror.retry_after})
        if path == "/robots.txt":
            return self._send(200 if mirror.robots else 404, mirror.robots.encode())
        source, home = next(((s, home) for s, home in HOMES.items() if path.startswith(home)), ("", "/"))
        name = path.removeprefix(home)
        if source == "postgis" and mirror.to_twin and not name.startswith("en/"):
            return self._send(302, b"", {"Location": f"{home}en/{name}"})
        if name in mirror.moved:
            return self._send(301, b"", {"Location": mirror.moved[name]})
        body = mirror.pages.get(source, {}).get(name.removeprefix("en/"))
        if body is None:
            return self._send(404, b"no such page")
        headers, tag = {"Content-Type": "text/html"}, f'"{hashlib.md5(body).hexdigest()}"'
        if mirror.validators:
            headers["ETag"] = tag
            if self.headers["If-None-Match"] == tag:
                return self._send(304, b"", headers)
        if mirror.gzip and "gzip" in self.headers["Accept-Encoding"]:
            body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
        keep = len(body) // 2 if fault in ("truncate", "stall") else len(body)
        self._send(200, body, headers, keep)
        if fault == "stall":
            self.wfile.flush()
            mirror.release.wait()
        self.close_connection = self.close_connection or keep < len(body)
        return 200

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None, keep: int | None = None) -> int:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body[:keep])
        return status

    def log_message(self, *_: Any) -> None:
        """The log is `Mirror.requests`."""
