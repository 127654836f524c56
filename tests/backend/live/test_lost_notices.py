"""Pages end with the server's documents, even if notices are lost, late, repeated or reordered."""

import asyncio
import random
from contextlib import ExitStack
from typing import Any

import pytest

from arcadia_backend.live import notices
from arcadia_backend.live.notices import REFETCH
from arcadia_backend.live.watches import Page
from tests.backend.live.simulation import ANA, RUN, RUN_CHANGED, RUNS, Server, SimulatedPage, run
from tests.workers.waiting import PATIENCE_SECONDS

PATHS = [RUNS, RUN]
CHANGES = 60


class Weather:
    """Random delays, and notices that are repeated, late, reordered or lost. A lost one ends in `refetch`."""

    def __init__(self, server: Server, seed: int) -> None:
        self.chance = random.Random(seed)
        self._server = server
        self._late: list[tuple[str, dict[str, Any]]] = []

    async def pause(self) -> None:
        """Let others run for a random time."""
        for _ in range(self.chance.randrange(6)):
            await asyncio.sleep(0)

    async def change_documents(self) -> None:
        """Change the documents at random, and announce each change."""
        for step in range(1, CHANGES):
            path = self.chance.choice(PATHS)
            self._server.documents[path] = self._changed(self._server.documents[path], step)
            self._announce(step)
            if self._late and self.chance.random() < 0.3:
                self._server.hub.publish(*self._late.pop(self.chance.randrange(len(self._late))))
            await self.pause()
        for notice in self._late:
            self._server.hub.publish(*notice)

    def _changed(self, document: Any, step: int) -> Any:
        if self.chance.random() < 0.1:
            return [{"id": n, "step": step, "tags": ["long"] * 20} for n in range(self.chance.randrange(5))]
        if isinstance(document, list):
            return [{**row, "step": step} if self.chance.random() < 0.5 else row for row in document]
        return {**document, "step": step}

    def _announce(self, step: int) -> None:
        notice = "run.changed", {"run_id": step}
        match self.chance.choice(["sent", "sent", "repeated", "late", "lost"]):
            case "late":
                self._late.append(notice)
            case "lost":
                self._late.append((REFETCH, {}))
            case "repeated":
                self._late.append(notice)
                self._server.hub.publish(*notice)
            case _:
                self._server.hub.publish(*notice)


async def show(server: Server, page: Page, simulated: SimulatedPage, weather: Weather) -> None:
    """Show all documents, and sometimes fetch one again, until cancelled."""

    async def fetch(path: str) -> None:
        await simulated.fetch(path)
        await weather.pause()
        server.watches.watch(page.id, ANA, simulated.shown(RUN_CHANGED))

    for path in PATHS:
        await fetch(path)
    while True:
        event = await page.stream.next(PATIENCE_SECONDS)
        if event and await simulated.receive(event):
            await weather.pause()
            server.watches.watch(page.id, ANA, simulated.shown(RUN_CHANGED))
        if weather.chance.random() < 0.1:
            await fetch(weather.chance.choice(PATHS))
        await weather.pause()


@pytest.mark.parametrize("seed", range(20))
def test_lost_late_repeated_and_reordered_notices_end_with_the_servers_documents(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "COALESCE_SECONDS", 0.0)

    async def work(server: Server) -> None:
        weather = Weather(server, seed)
        server.delay = weather.pause
        with ExitStack() as stack:
            pages = {stack.enter_context(server.watches.open(ANA)): SimulatedPage(server.get) for _ in range(3)}
            tasks = [asyncio.create_task(show(server, *each, weather)) for each in pages.items()]
            await weather.change_documents()
            while server.is_busy or any(simulated.documents != server.documents for simulated in pages.values()):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()

    run(work)
