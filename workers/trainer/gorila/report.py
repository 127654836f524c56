"""What actors and learners tell of their work."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from workers.trainer.own_environment import Episode

Activity = Literal["acting", "learning", "waiting"]


def _zeros() -> defaultdict[str, float]:
    return defaultdict(float)


@dataclass
class Report:
    """What an actor, a learner, or a bundle of both did since the report before."""

    steps: int = 0
    # After how many of those steps each episode ended.
    episodes: list[tuple[int, Episode]] = field(default_factory=list)
    gradients: int = 0
    outliers: int = 0
    # Sums over all gradients.
    measures: defaultdict[str, float] = field(default_factory=_zeros)
    seconds: defaultdict[str, float] = field(default_factory=_zeros)
    bytes_pushed: int = 0
    bytes_pulled: int = 0
    # How many global updates it knows of, what its ε is, and how full its own replay memory.
    updates: int = 0
    epsilon: float = 1.0
    fill: float | None = None

    @contextmanager
    def timed(self, activity: Activity) -> Iterator[None]:
        """Count the time of an activity."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[activity] += time.perf_counter() - began

    def step(self, ended: Episode | None) -> None:
        """Count a step, and the episode that ended with it."""
        self.steps += 1
        if ended:
            self.episodes.append((self.steps, ended))

    def gradient(self, measures: Mapping[str, float]) -> None:
        """Count a gradient that was sent."""
        self.gradients += 1
        for name, value in measures.items():
            self.measures[name] += value
