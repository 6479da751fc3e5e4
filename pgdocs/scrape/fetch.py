"""One web site, asked politely: in turns, within robots.txt, again after a fault, and never outside its scope."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

import anyio
import httpx

from pgdocs.errors import ScrapeError
from pgdocs.scrape.local import MAX_PAGE
from pgdocs.scrape.sources import Source

AGENT = "pgdocs-mcp"
"""How robots.txt may call us."""

TIMEOUT = httpx.Timeout(15, connect=10)
"""Seconds. Both sites answer within one; 15 s without a byte is a stalled connection, and a new one is quicker."""

DEADLINE = 120.0
"""Seconds for a whole page, 2 MB at most: the bound for a site that sends a byte now and then."""

TRIES = 7
"""Requests for one page. With one answer in eight spoilt, a crawl of 2,000 pages loses none in a thousand runs."""

FEW_TRIES = 3
"""The same at a site that never answered, or failed to with the page before: without a network it takes seconds."""

BACKOFF = (0.5, 30.0)
"""Seconds before the second try and at most; each wait is twice the one before, less up to half of it at random."""

PATIENCE = 60.0
"""Seconds of `Retry-After` that we follow; whoever wants us to wait longer is asked again by the next run. A site that
wants more than that between any two pages is not crawled."""

HOPS = 5
"""Redirects for one page before it counts as a circle."""

GIVE_UP = 5
"""Pages in a row that fail after all tries: then the site is down, and the rest would only fail as well."""

NO_ADDRESS = "redirected to what is no address"

NEVER = ("", "")
"""The validators of a page that the server gave none for."""


@dataclass(frozen=True)
class Answer:
    """What a site has under a page's name: `status` is 200 (a body), 301 (`moved`), 304 (unchanged) or 404.

    `moved` is the page's other name, None where the redirect leaves the manual. `validators`: ETag, Last-Modified.
    """

    status: int
    body: bytes = b""
    validators: tuple[str, str] = NEVER
    moved: str | None = None


class Site:
    """The pages of `source` below `origin`, its own base or a mirror of it. `delay`: seconds between requests.

    `free_at` says by host when it may be asked again: several editions of a manual share their site's turns.
    """

    def __init__(
        self, client: httpx.AsyncClient, source: Source, origin: str, delay: float, free_at: dict[str, float]
    ) -> None:
        self._client, self._source, self._origin, self._delay = client, source, origin, delay
        self._home = origin  # where pages are asked for: the origin, or its twin once a page was redirected there
        self._host, self._free_at = urlsplit(origin).netloc, free_at
        self._answered = False
        self._failed_in_a_row = 0
        self._robots: asyncio.Task[RobotFileParser] | None = None

    @property
    def is_down(self) -> bool:
        """Whether asking for more pages is a waste of time."""
        return self._failed_in_a_row >= GIVE_UP

    async def ask(self, name: str, validators: tuple[str, str] = NEVER) -> Answer:
        """The page `name`; with validators only if it changed. ScrapeError where the site doesn't tell."""
        rules = await self._rules()
        url = self._home + name
        headers = {"If-None-Match": validators[0], "If-Modified-Since": validators[1]}
        for _ in range(HOPS):
            if not rules.can_fetch(AGENT, url):
                raise ScrapeError("robots.txt forbids it")
            response, body = await self._get(url, {key: value for key, value in headers.items() if value})
            if response.status_code in (404, 410):
                return Answer(404)
            if response.status_code in (200, 304):
                self._home = urljoin(url, ".")
                tags = (response.headers.get("ETag", ""), response.headers.get("Last-Modified", ""))
                return Answer(response.status_code, body, tags)
            if not response.has_redirect_location:
                raise ScrapeError(f"HTTP {response.status_code}")
            try:
                url = urljoin(url, response.headers["Location"])
            except ValueError as error:
                raise ScrapeError(NO_ADDRESS) from error
            moved = self._source.page_name(url, self._origin)
            if moved != name:
                return Answer(301, moved=moved)
        raise ScrapeError(f"more than {HOPS} redirects")

    async def _rules(self) -> RobotFileParser:
        """The site's robots.txt, read once, whoever asks first; without it the site is as good as down."""
        self._robots = self._robots or asyncio.ensure_future(self._read_robots())
        try:
            return await asyncio.shield(self._robots)
        except ScrapeError:
            self._failed_in_a_row = GIVE_UP
            raise

    async def _read_robots(self) -> RobotFileParser:
        """The rules of robots.txt; none where there is no such file."""
        rules = RobotFileParser()
        response, body = await self._get(urljoin(self._origin, "/robots.txt"), {})
        if response.status_code in (401, 403):
            raise ScrapeError("the site forbids robots")
        rules.parse(body.decode("utf-8", "replace").splitlines() if response.status_code == 200 else [])
        wanted = float(rules.crawl_delay(AGENT) or 0)
        if wanted > PATIENCE:
            raise ScrapeError(f"robots.txt asks to wait {wanted:.0f} s between two pages")
        self._delay = max(self._delay, wanted)
        return rules

    async def _get(self, url: str, headers: dict[str, str]) -> tuple[httpx.Response, bytes]:
        """An answer that is not a passing fault, and its body, complete. ScrapeError after the last try."""
        attempt = 0
        while True:
            await self._turn()
            try:
                with anyio.fail_after(DEADLINE):  # asyncio.wait_for may swallow a Ctrl-C before Python 3.12
                    async with self._client.stream("GET", url, headers=headers) as response:
                        body = await _body(response)
            except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
                if isinstance(error.__context__, httpx.InvalidURL):  # no fault that passes
                    self._answered, self._failed_in_a_row = True, 0
                    raise ScrapeError(NO_ADDRESS) from error
                reason = _reason(error)
            else:
                self._answered = True
                if response.status_code != 429 and response.status_code < 500:
                    self._failed_in_a_row = 0
                    return response, body
                reason = f"HTTP {response.status_code}"
                asked_for = time.monotonic() + _retry_after(response)
                self._free_at[self._host] = max(self._free_at[self._host], asked_for)
            attempt += 1
            if attempt >= (TRIES if self._answered and not self._failed_in_a_row else FEW_TRIES):
                self._failed_in_a_row += 1
                raise ScrapeError(f"{reason}, {attempt} times")
            await asyncio.sleep(min(BACKOFF[1], BACKOFF[0] * 2 ** (attempt - 1)) * random.uniform(0.5, 1))

    async def _turn(self) -> None:
        """Wait for our turn: `delay` after the request before, and after the time that the site asked us to wait."""
        now = time.monotonic()
        start = max(now, self._free_at.get(self._host, now))
        self._free_at[self._host] = start + self._delay
        await asyncio.sleep(start - now)


def new_client() -> httpx.AsyncClient:
    """A client that says who it is, follows no redirect by itself, and uses no proxy for this machine."""
    try:
        agent = f"{AGENT}/{version('pgdocs-mcp')}"
    except PackageNotFoundError:  # run from a checkout that was never installed
        agent = AGENT
    return httpx.AsyncClient(
        headers={"User-Agent": f"{agent} (copies this manual once, for a local search)", "Accept": "text/html, */*"},
        timeout=TIMEOUT,
        mounts={"all://127.0.0.1": None, "all://localhost": None, "all://[::1]": None},
    )


async def _body(response: httpx.Response) -> bytes:
    """Unpacked, for as long as it can be a page: a few kilobytes may unpack to more than there is memory."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_PAGE:
            raise ScrapeError(f"larger than {MAX_PAGE >> 20} MB")
    return bytes(body)


def _reason(error: Exception) -> str:
    """What went wrong, in words: many of httpx's errors have no text of their own."""
    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {TIMEOUT.connect:.0f} s"
    if isinstance(error, httpx.TimeoutException):
        return f"nothing came for {TIMEOUT.read:.0f} s"
    if isinstance(error, TimeoutError):
        return f"not complete after {DEADLINE:.0f} s"
    return str(error) or "the connection broke"


def _retry_after(response: httpx.Response) -> float:
    """The header in seconds, given as seconds or as a date; 0 without one."""
    value = response.headers.get("Retry-After", "").strip()
    try:
        seconds = float(value) if value.isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), PATIENCE)
