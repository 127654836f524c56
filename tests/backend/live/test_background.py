"""Background threads that work after changes and when something is due."""

import asyncio
import math
import queue
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from arcadia_backend.live import background
from arcadia_backend.live.background import BackgroundThread
from arcadia_backend.live.notices import publish, running
from tests.workers.waiting import PATIENCE_SECONDS


class Work:
    """Work that a test counts."""

    def __init__(self, due: float) -> None:
        self.done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._due = due

    def __call__(self) -> float:
        self.done.put(1)
        return self._due

    def wait(self) -> None:
        """Wait until the work was done once more."""
        self.done.get(timeout=PATIENCE_SECONDS)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine with an application's notices."""

    async def with_notices() -> None:
        async with running(""):
            await work

    asyncio.run(asyncio.wait_for(with_notices(), PATIENCE_SECONDS))


@pytest.fixture(autouse=True)
def _no_idle_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads rest without end, so that only changes and due work wake them."""
    monkeypatch.setattr(background, "IDLE_SECONDS", threading.TIMEOUT_MAX)


def test_a_change_wakes_a_resting_thread() -> None:
    work = Work(math.inf)

    async def change() -> None:
        thread = BackgroundThread("test", 0.01, work)
        thread.start()
        for _ in range(3):
            await asyncio.to_thread(work.wait)
            publish("run.changed", {"run_id": 1})
        await asyncio.to_thread(work.wait)
        await asyncio.to_thread(thread.stop)

    run(change())


def test_due_work_is_done_without_a_change() -> None:
    work = Work(0.02)
    thread = BackgroundThread("test", 0.01, work)
    thread.start()
    for _ in range(3):
        work.wait()
    thread.stop()


def test_a_thread_looks_now_and_then_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.02)
    work = Work(math.inf)
    thread = BackgroundThread("test", 0.01, work)
    thread.start()
    for _ in range(3):
        work.wait()
    thread.stop()


def test_a_change_during_the_work_is_not_missed() -> None:
    begun, seen = threading.Event(), threading.Event()

    def work() -> float:
        if begun.is_set():
            seen.set()
        begun.set()
        publish("run.changed", {"run_id": 1})
        return math.inf

    async def wait() -> None:
        thread = BackgroundThread("test", 0.01, work)
        thread.start()
        assert await asyncio.to_thread(seen.wait, PATIENCE_SECONDS)
        await asyncio.to_thread(thread.stop)

    run(wait())


def test_a_resting_thread_stops_at_once() -> None:
    work = Work(math.inf)
    thread = BackgroundThread("test", 0.01, work)
    thread.start()
    work.wait()
    thread.stop()
    assert not thread._thread.is_alive()
