"""Synthetic finished runs, the same for every product. Only the standard library, because the peers' venv reads it."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

PROJECT = "peers"
METRICS = ("episode/return", "train/loss", "train/entropy")
COMPARED = 10
STEPS_PER_POINT = 100
EPOCH = 1_700_000_000.0


@dataclass(frozen=True)
class SyntheticRun:
    """A run with its parameters and tags. `curves` has one row of values per point, in the order of METRICS."""

    number: int
    name: str
    parameters: dict[str, float | int | str]
    tags: tuple[str, ...]
    curves: list[tuple[float, ...]]


def synthetic_runs(count: int, points: int) -> Iterator[SyntheticRun]:
    """Yield runs that learn with some noise."""
    for number in range(count):
        noise = random.Random(number)
        rate = round(10 ** noise.uniform(-4, -2), 6)
        yield SyntheticRun(
            number=number,
            name=f"run {number}",
            parameters=parameters(number, rate, points),
            tags=("baseline", f"group-{number % 10}"),
            curves=[values(point / points, rate, noise) for point in range(1, points + 1)],
        )


def parameters(number: int, rate: float, points: int) -> dict[str, float | int | str]:
    """Return the parameters of a run. Their names are fields of Arcadia's configuration."""
    return {
        "algorithm": "paac",
        "env": "CartPole-v1",
        "total_steps": points * STEPS_PER_POINT,
        "seed": number,
        "num_envs": 4,
        "t_max": 5,
        "hidden_units": 64,
        "learning_rate": rate,
        "gamma": (0.9, 0.95, 0.99)[number % 3],
        "entropy_cost": 0.01,
        "value_cost": 0.5,
        "max_grad_norm": 0.5,
    }


def values(progress: float, rate: float, noise: random.Random) -> tuple[float, ...]:
    """Return one value per metric at this progress between 0 and 1."""
    learned = 1 - math.exp(-progress * 1_000 * rate)
    mean, loss, entropy = 20 + 450 * learned, math.exp(-3 * learned), 0.69 * (1 - 0.8 * learned)
    return (mean + noise.gauss(0, 30), loss + noise.gauss(0, 0.05), entropy + noise.gauss(0, 0.01))
