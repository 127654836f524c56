"""A fake connection of a live game to its test, and helpers for orders of viewers."""

import queue
from collections.abc import Callable

from arcadia_workers.contract import live
from arcadia_workers.contract.live import AgentOnStage, Newer, Ordered, PictureHead, Scene


class FakeLine:
    """A connection that receives orders after given pictures and ends after the last requested picture."""

    def __init__(self, pictures: int, orders: Callable[[int], list[object]]) -> None:
        self.heard: queue.SimpleQueue[str | bytes | None] = queue.SimpleQueue()
        self.over: str | None = None
        self.scenes: list[Scene] = []
        self.heads: list[PictureHead] = []
        self.agents: list[AgentOnStage] = []
        self.pictures: list[bytes] = []
        self._most, self._orders = pictures, orders

    def send(self, message: str | bytes) -> None:
        if isinstance(message, str):
            scene = Scene.model_validate_json(message)
            self.scenes.append(scene)
            self.agents += [scene.agent] if scene.agent else []
            return
        head, picture = live.unpacked(message)
        self.heads.append(head)
        self.pictures.append(picture)
        for each in self._orders(len(self.heads)):
            self.say(each)
        if len(self.heads) >= self._most:
            self.over = "enough was seen"

    def say(self, what: object) -> None:
        """Send an order, given as a name or a dictionary, or the head or a part of a checkpoint."""
        if isinstance(what, str | dict):
            order = {"order": what} if isinstance(what, str) else dict(what)
            viewer = order.pop("viewer", "v1")
            what = Ordered.model_validate({"viewer": viewer, "order": order}).model_dump_json()
        if isinstance(what, Newer):
            what = what.model_dump_json()
        assert what is None or isinstance(what, str | bytes)
        self.heard.put(what)


def at(orders: dict[int, list[object]]) -> Callable[[int], list[object]]:
    """Return a function that gives orders after the pictures with these numbers."""
    return lambda seen: orders.get(seen, [])


def keys(*held: str, viewer: str = "v1") -> dict[str, object]:
    """Return an order that holds keys down."""
    return {"order": "keys", "held": held, "viewer": viewer}


def after(number: int, *orders: object) -> Callable[[int], list[object]]:
    """Return a function that gives orders after one picture."""
    return lambda seen: list(orders) if seen == number else []
