"""Gorila's updates a second with 1, 2 and 4 bundles, and where their time goes: `python -m bench.gorila`."""

import argparse
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping

# Before torch is imported, as the trainer does it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from workers.trainer.algorithms import gorila
from workers.trainer.config import GorilaConfig
from workers.trainer.gorila.ray_cluster import RayCluster
from workers.trainer.run import NullRun

BUNDLES = (1, 2, 4)
WARM_UP_SECONDS = 5.0
SHOWN = ("gorila/actor_busy", "gorila/learner_busy", "gorila/shard_busy", "gorila/staleness")


class Measured(NullRun):
    """A run that is timed from some seconds after its first update on, for so long."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._begin: float | None = None
        self._first: tuple[float, int, int] | None = None
        self._values: defaultdict[str, list[float]] = defaultdict(list)
        self.updates_per_second = self.steps_per_second = 0.0

    def should_stop(self) -> bool:
        now = time.perf_counter()
        if self._begin is None:
            if self.updates:
                self._begin = now + WARM_UP_SECONDS
        elif self._first is None:
            if now >= self._begin:
                self._first = (now, self.step, self.updates)
        elif now >= self._first[0] + self._seconds:
            since, step, updates = self._first
            self.steps_per_second = (self.step - step) / (now - since)
            self.updates_per_second = (self.updates - updates) / (now - since)
            return True
        return False

    def metrics(self, values: Mapping[str, float]) -> None:
        if self._first:
            for name in SHOWN:
                if name in values:
                    self._values[name].append(values[name])

    def mean(self, name: str) -> float:
        """The mean of a metric over the time that was measured."""
        return statistics.fmean(self._values[name] or [0.0])


def config_of(env: str, bundles: int, shards: int) -> GorilaConfig:
    """The paper's method, begun at once."""
    return GorilaConfig(
        env=env,
        total_steps=10**9,
        num_actors=bundles,
        num_learners=bundles,
        num_shards=shards,
        replay_frames=20_000,
        learning_starts=400,
    )


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.gorila", description=__doc__)
    parser.add_argument("--env", default="ALE/Pong-v5")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of one measurement")
    parser.add_argument("--shards", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.env}, {options.shards} parameter shards, a minibatch of 32 every 4 steps\n")
    print("| bundles | updates/s | steps/s | acting | learning | waiting | shard busy | staleness |")
    print("|---|---|---|---|---|---|---|---|")
    for bundles in BUNDLES:
        run = Measured(options.seconds)
        with RayCluster() as cluster:
            gorila.train_on(cluster, config_of(options.env, bundles, options.shards), run)
        acting, learning, shard, staleness = map(run.mean, SHOWN)
        rates = f"{run.updates_per_second:,.1f} | {run.steps_per_second:,.0f}"
        waiting = max(0.0, 1 - acting - learning)
        shares = f"{acting:.0%} | {learning:.0%} | {waiting:.0%} | {shard:.0%}"
        print(f"| {bundles} | {rates} | {shares} | {staleness:.2f} |", flush=True)


if __name__ == "__main__":
    main()
