"""The processes that convert pages: apart from the crawl, so that it never waits for its own computing."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

WORKERS = 2
"""Faster than any site at a polite pace; each takes some 70 MB."""

T = TypeVar("T")


class Workers:
    """A pool that starts with the first page, if there is one to convert at all."""

    _pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a module's function in a worker. BrokenExecutor if a worker was killed."""
        self._pool = self._pool or _start()
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)


def _start() -> ProcessPoolExecutor:
    """All workers at once. They start from nothing on every system alike, and leave Ctrl-C to their parent."""
    pool = ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn"), _begin)
    with _interrupts_ignored():
        for _ in range(WORKERS):
            pool.submit(int)
    return pool


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started in here ignore Ctrl-C from their first moment, before any code of ours runs in them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _begin() -> None:
    """In a worker: ignore Ctrl-C where that isn't inherited (Windows), and end when the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
