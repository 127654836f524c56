"""The live games of this process: a stage for each, from the first connection to the last."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass

from backend.live_games.crossing import Crossing
from backend.live_games.stage import BEAT_SECONDS, Stage


@dataclass
class _Open:
    """An open stage, how many connections are on it, and what works for it."""

    stage: Stage
    working: asyncio.Task[None]
    users: int = 0


class Stages:
    """The open stages by the number of their job."""

    def __init__(self, broker_url: str) -> None:
        self._broker_url = broker_url
        self._open: dict[int, _Open] = {}
        # The event loop alone would not keep what still has something to do.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def viewers(self) -> int:
        """How many viewers are connected here."""
        return sum(len(each.stage.viewers) for each in self._open.values())

    @contextmanager
    def on(self, number: int) -> Iterator[Stage]:
        """Give the stage of a live game to a connection."""
        opened = self._open.get(number) or self._opened(number)
        opened.users += 1
        try:
            yield opened.stage
        finally:
            opened.users -= 1
            if not opened.users:
                del self._open[number]
                self._end(opened.working)

    def _end(self, working: asyncio.Task[None]) -> None:
        self._keep(working)
        working.cancel()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _opened(self, number: int) -> _Open:
        crossing = Crossing(self._broker_url, number) if self._broker_url else None
        stage = Stage(beyond=crossing.send) if crossing else Stage()
        opened = self._open[number] = _Open(stage, asyncio.create_task(_work(stage, crossing)))
        return opened


async def _work(stage: Stage, crossing: Crossing | None) -> None:
    async with AsyncExitStack() as stack:
        if crossing:
            await stack.enter_async_context(crossing.open(stage.hear))
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            stage.beat()
