"""Notices inside one process."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from arcadia_backend.live import notices
from arcadia_backend.live.notices import (
    COALESCE_SECONDS,
    PAGE_QUEUE_LIMIT,
    Notice,
    Stream,
    Topic,
    current_hub,
    publish,
    running,
)
from tests.workers.waiting import PATIENCE_SECONDS


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end with a timeout."""
    asyncio.run(asyncio.wait_for(work, PATIENCE_SECONDS))


async def names(stream: Stream, number: int) -> list[tuple[str, Any]]:
    """Return the next notices."""
    found = []
    for _ in range(number):
        notice = await stream.next(PATIENCE_SECONDS)
        assert isinstance(notice, Notice)
        found.append((notice.name, notice.payload))
    return found


def test_every_page_receives_notices_of_any_thread() -> None:
    async def work() -> None:
        async with running(""):
            with current_hub().join() as one, current_hub().join() as two:
                thread = threading.Thread(target=publish, args=("run.changed", {"run_id": 1}))
                thread.start()
                thread.join()
                assert await names(one, 1) == await names(two, 1) == [("run.changed", {"run_id": 1})]

    run(work())


def test_a_wait_that_ends_as_a_notice_comes_is_cancelled() -> None:
    async def work(rounds: int) -> bool:
        async with running(""):
            with current_hub().wait() as changes:
                changes.hears_all = True
                waiting = asyncio.create_task(changes.next(PATIENCE_SECONDS))
                for _ in range(5):
                    await asyncio.sleep(0)
                changes.put(Notice("1", "run.changed", "{}", {}))
                for _ in range(rounds):
                    await asyncio.sleep(0)
                if not waiting.cancel():
                    return False
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                return True

    cancelled = [asyncio.run(work(rounds)) for rounds in range(5)]
    assert any(cancelled)


def test_repeated_notices_are_merged_and_different_ones_are_not() -> None:
    async def work() -> None:
        async with running(""):
            with current_hub().join() as stream:
                for _ in range(50):
                    publish("run.metrics", {"run_id": 1})
                    publish("run.metrics", {"run_id": 2})
                publish("run.log", {"run_id": 1})
                assert await names(stream, 3) == [
                    ("run.metrics", {"run_id": 1}),
                    ("run.metrics", {"run_id": 2}),
                    ("run.log", {"run_id": 1}),
                ]
                assert await stream.next(0.3) is None
                publish("run.metrics", {"run_id": 1})
                assert await names(stream, 1) == [("run.metrics", {"run_id": 1})]

    run(work())


def test_a_merged_notice_comes_after_those_of_earlier_states() -> None:
    async def work() -> None:
        async with running(""):
            with current_hub().join() as stream:
                for state in ("queued", "running", "queued"):
                    publish("job.changed", {"id": 1, "state": state})
                assert await names(stream, 2) == [
                    ("job.changed", {"id": 1, "state": "running"}),
                    ("job.changed", {"id": 1, "state": "queued"}),
                ]

    run(work())


def test_ids_differ() -> None:
    async def work() -> None:
        async with running(""):
            with current_hub().join() as stream:
                publish("run.changed", {"run_id": 1})
                publish("run.changed", {"run_id": 2})
                first, second = await stream.next(PATIENCE_SECONDS), await stream.next(PATIENCE_SECONDS)
                assert first is not None
                assert second is not None
                assert first.id != second.id

    run(work())


def test_a_slow_page_must_refetch_and_its_queue_stays_bounded() -> None:
    async def work() -> None:
        async with running(""):
            with current_hub().join() as slow:
                for run_id in range(PAGE_QUEUE_LIMIT + 1):
                    publish("run.changed", {"run_id": run_id})
                assert await names(slow, 1) == [("refetch", {})]
                assert await slow.next(0.3) is None

    run(work())


def test_a_notice_is_delayed_only_by_a_fraction_of_a_second_for_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work() -> None:
        async with running(""):
            loop = asyncio.get_running_loop()
            delays: list[float] = []

            def at_once(delay: float, call: Callable[[], None]) -> None:
                delays.append(delay)
                loop.call_soon(call)

            monkeypatch.setattr(loop, "call_later", at_once)
            with current_hub().join() as stream:
                publish("run.metrics", {"run_id": 1})
                while not delays:  # A timeout would call call_later too.
                    await asyncio.sleep(0)
                assert delays == [COALESCE_SECONDS]
                monkeypatch.undo()
                assert await names(stream, 1) == [("run.metrics", {"run_id": 1})]

    assert COALESCE_SECONDS <= 0.1
    run(work())


def test_streams_end_with_the_application() -> None:
    async def work() -> None:
        async with running(""):
            hub = current_hub()
            with hub.join() as stream:
                publish("run.changed", {"run_id": 1})
                hub.end()
                assert await stream.next(PATIENCE_SECONDS) is None
            with hub.join() as late:
                assert await late.next(PATIENCE_SECONDS) is None

    run(work())


def test_publishing_without_an_application_does_nothing() -> None:
    async def work() -> None:
        async with running(""):
            pass

    run(work())
    publish("run.changed", {"run_id": 1})
    assert not notices._hubs


def test_a_page_that_leaves_is_removed() -> None:
    async def work() -> None:
        async with running(""):
            hub = current_hub()
            with pytest.raises(ZeroDivisionError), hub.join():
                raise ZeroDivisionError
            assert not hub.streams

    run(work())


def test_a_hub_knows_the_newest_notice_of_each_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "RECENT_NOTICES", 3)

    async def work() -> None:
        async with running("") as hub:
            with hub.join() as stream:
                ids = [hub.newest]
                for run_id in (1, 2, 1, 3, 4):
                    publish("run.changed", {"run_id": run_id})
                    ids.append(getattr(await stream.next(PATIENCE_SECONDS), "id", ""))

            def missed(run_id: int) -> list[bool]:
                topic = Topic(frozenset({"run.changed"}), {"run_id": run_id})
                return [hub.may_have_missed(each, [topic]) for each in ids]

            # Only the notice of run 2 was forgotten. Nothing is known about an id before it.
            assert missed(1) == [True, True, True, False, False, False]
            assert missed(2) == [True, True, False, False, False, False]
            assert missed(3) == [True, True, True, True, False, False]
            assert hub.may_have_missed(None, [])
            assert hub.may_have_missed(f"{'0' * 16}-1", [])
            assert hub.may_have_missed(f"{ids[0].partition('-')[0]}-6", [])

    run(work())


def test_a_notice_about_many_runs_is_about_each_run() -> None:
    def matches(payload: dict[str, Any], name: str = "run.changed") -> bool:
        topic = Topic(frozenset({"run.changed"}), {"run_id": 5})
        return topic.matches(Notice("1", name, "", payload))

    assert [matches({}), matches({"run_id": 5}), matches({"run_id": 6}), matches({}, "run.log")] == [
        True,
        True,
        False,
        False,
    ]
    evaluation = Topic(frozenset({"job.changed"}), {"kind": "evaluation"})
    assert not evaluation.matches(Notice("1", "job.changed", "", {}))
