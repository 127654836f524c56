"""The stages of a process, from the first connection to the last."""

import asyncio
import gc
import weakref

import pytest

from backend.live_games import stages
from backend.live_games.stages import Stages


def test_connections_are_closed_to_the_end_after_the_last_viewer_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    closing: list[weakref.ref[asyncio.Future[None]]] = []
    closed = False

    async def work(*_: object) -> None:
        nonlocal closed
        try:
            await asyncio.Event().wait()
        finally:
            # As when a connection to Redis is closed: only what waits holds what it waits for.
            answer = asyncio.get_running_loop().create_future()
            closing.append(weakref.ref(answer))
            await answer
            closed = True

    async def open_and_leave() -> None:
        opened = Stages("")
        with opened.on(1):
            await asyncio.sleep(0)
        while not closing:
            await asyncio.sleep(0)
        gc.collect()
        answer = closing[0]()
        assert answer is not None, "what closes connections was thrown away"
        answer.set_result(None)
        del answer
        while not closed:
            await asyncio.sleep(0)

    monkeypatch.setattr(stages, "_work", work)
    asyncio.run(asyncio.wait_for(open_and_leave(), 60))
