"""Which parts a storm kills, and when: drawn from a seed alone, so that a storm can be repeated."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from backend.startup.embedded.up import WORKER_NAME

Part = Literal["trainer", "leash", "worker", "backend", "redis", "up"]
PARTS: tuple[Part, ...] = get_args(Part)
GUEST = "guest"
WORKERS = (WORKER_NAME, GUEST)


@dataclass(frozen=True)
class Kill:
    """Kill a part, so many seconds after the kill before; a trainer, a leash or a worker is this worker's."""

    part: Part
    worker: str
    after: float


@dataclass(frozen=True)
class Gust:
    """One kill or a few, and how long it stays calm once everything is well again."""

    kills: tuple[Kill, ...]
    calm: float


def gusts(seed: int) -> Iterator[Gust]:
    """Draw gusts without end; every part comes once before one comes again."""
    drawn = random.Random(seed)
    parts: list[Part] = []
    while True:
        kills = []
        for number in range(drawn.choice((1, 1, 1, 2, 3))):
            parts = parts or drawn.sample(PARTS, len(PARTS))
            kills.append(Kill(parts.pop(), drawn.choice(WORKERS), drawn.uniform(0, 4) if number else 0.0))
        yield Gust(tuple(kills), drawn.uniform(1, 5))
