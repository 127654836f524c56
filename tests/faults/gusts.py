"""Schedule of a storm's kills. It depends only on a seed, so that a storm can be repeated."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from arcadia_backend.startup.up import WORKER_NAME

Part = Literal["trainer", "leash", "worker", "backend", "redis", "up", "script", "ray"]
PARTS: tuple[Part, ...] = get_args(Part)
GUEST = "guest"
WORKERS = (WORKER_NAME, GUEST)


@dataclass(frozen=True)
class Kill:
    """A kill of a part, `after` seconds after the previous one.

    A trainer, leash or worker belongs to `worker`, which also chooses one of the two scripts.
    """

    part: Part
    worker: str
    after: float


@dataclass(frozen=True)
class Gust:
    """One or more kills, and the calm seconds after everything has recovered."""

    kills: tuple[Kill, ...]
    calm: float


def gusts(seed: int) -> Iterator[Gust]:
    """Yield random gusts endlessly. Every part is killed once before any part is killed again."""
    drawn = random.Random(seed)
    parts: list[Part] = []
    while True:
        kills = []
        for number in range(drawn.choice((1, 1, 1, 2, 3))):
            parts = parts or drawn.sample(PARTS, len(PARTS))
            kills.append(Kill(parts.pop(), drawn.choice(WORKERS), drawn.uniform(0, 4) if number else 0.0))
        yield Gust(tuple(kills), drawn.uniform(1, 5))
