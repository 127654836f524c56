"""Workers without a broker, which wait at the backend for the doorbell."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.live import bells as waiting
from arcadia_backend.live.bells import MOST_WOKEN, Waits
from arcadia_backend.live.notices import RIGHTS_CHANGED, RUNG, Notice
from arcadia_workers.contract.worker_api import Noun, private_queue
from tests.factories import Api

LONG = 60.0


async def is_there() -> bool:
    return False


class Bells:
    """Waits of workers of the queue cpu, whose first look is over."""

    def __init__(self) -> None:
        self.waits = Waits(cast("Database", None))
        self.done: dict[str, set[Noun]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def wait(self, *names: str, is_gone: Callable[[], Awaitable[bool]] = is_there) -> None:
        """Let workers wait, in this order."""
        for name in names:
            self._tasks.append(asyncio.create_task(self._wait(name, is_gone)))
            await asyncio.sleep(0)

    async def _wait(self, name: str, is_gone: Callable[[], Awaitable[bool]]) -> None:
        self.done.pop(name, None)
        queues = {"cpu", "jobs", private_queue(name)}
        self.done[name] = await self.waits.wait(name, queues, LONG, is_gone)

    async def ring(self, queue: str, look: Noun = "runs") -> dict[str, set[Noun]]:
        """Ring, and return the workers that have ended their wait."""
        self.waits.put(Notice("1", RUNG, "", {"queue": queue, "look": look}))
        await self.settle()
        return self.done

    async def settle(self) -> None:
        """Let woken tasks end."""
        for _ in range(5):
            await asyncio.sleep(0)

    async def close(self) -> None:
        """End all waits."""
        self.waits.end()
        await asyncio.gather(*self._tasks)


def played(scene: Callable[[Bells], Awaitable[None]]) -> None:
    """Play a scene with three workers that have looked once."""

    async def play() -> None:
        bells = Bells()
        await bells.wait("one", "two", "three")
        await bells.settle()
        assert bells.done == {name: {"runs", "jobs"} for name in ("one", "two", "three")}
        bells.done.clear()
        await scene(bells)
        await bells.close()

    asyncio.run(play())


def test_a_ring_is_for_the_workers_of_its_queue() -> None:
    async def scene(bells: Bells) -> None:
        await bells.wait("one", "two")
        assert await bells.ring("gpu") == {}
        assert await bells.ring(private_queue("two")) == {"two": {"runs"}}
        assert await bells.ring("jobs", "jobs") == {"one": {"jobs"}, "two": {"runs"}}

    played(scene)


def test_a_ring_between_two_waits_is_not_lost() -> None:
    async def scene(bells: Bells) -> None:
        assert await bells.ring("jobs", "jobs") == {}
        await bells.wait("one")
        await bells.settle()
        assert bells.done == {"one": {"jobs"}}
        bells.done.clear()
        await bells.wait("one")
        await bells.settle()
        assert bells.done == {}

    played(scene)


def test_a_ring_wakes_those_who_wait_longest() -> None:
    async def scene(bells: Bells) -> None:
        names = [f"worker-{number}" for number in range(MOST_WOKEN + 2)]
        await bells.wait(*names)
        await bells.settle()
        bells.done.clear()
        await bells.wait(*names)
        assert set(await bells.ring("cpu")) == set(names[:MOST_WOKEN])

    played(scene)


def test_waits_end_when_rights_change() -> None:
    async def scene(bells: Bells) -> None:
        await bells.wait("one", "two")
        bells.waits.put(Notice("1", RIGHTS_CHANGED, "", {}))
        await bells.settle()
        assert bells.done == {"one": set(), "two": set()}

    played(scene)


def test_a_worker_that_waits_again_ends_its_earlier_wait() -> None:
    async def scene(bells: Bells) -> None:
        await bells.wait("one")
        await bells.wait("one")
        await bells.settle()
        assert bells.done == {"one": set()}
        bells.done.clear()
        assert await bells.ring("cpu") == {"one": {"runs"}}

    played(scene)


def test_a_wait_ends_when_its_worker_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "CONNECTION_SECONDS", 0.001)

    async def is_gone() -> bool:
        return True

    async def scene(bells: Bells) -> None:
        await bells.wait("one", is_gone=is_gone)
        while "one" not in bells.done:
            await asyncio.sleep(0.001)
        assert bells.done == {"one": set()}

    played(scene)


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"seconds": 1_000}, "less than or equal to 55"),
        ({"name": "a b"}, "name"),
        ({"queue": "tpu"}, "'tpu' is not one of 'cpu' or 'gpu'"),
    ],
)
def test_a_wrong_wait_is_refused(api: Api, query: dict[str, Any], detail: str) -> None:
    wait = {"name": "one", "queue": "cpu", "jobs": True, "seconds": 0, **query}
    answer = api.worker.get("/api/v1/worker/bell", params=wait)
    assert answer.status_code == 422
    assert detail in answer.text


def test_only_workers_wait(api: Api) -> None:
    wait: dict[str, Any] = {"name": "one", "queue": "cpu", "jobs": True, "seconds": 0}
    assert api.worker.get("/api/v1/worker/bell", params=wait).json() == {"look": ["jobs", "runs"]}
    assert api.worker.get("/api/v1/worker/bell", params=wait).json() == {"look": []}
    refused = api.user.get("/api/v1/worker/bell", params=wait, headers={"Authorization": "Bearer wrong"})
    assert refused.status_code == 401
