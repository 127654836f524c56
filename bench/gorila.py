"""Measure Gorila's updates per second with and without Ray, and the time of each part: `python -m bench.gorila`."""

import argparse
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

# Set this before importing torch, as the trainer does.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods.gorila import gorila
from arcadia_workers.trainer.methods.gorila.ray_cluster import RayCluster
from arcadia_workers.trainer.methods.gorila.reporter import WorkRecord
from arcadia_workers.trainer.methods.gorila.train import train_on
from arcadia_workers.trainer.run.run import NullRun
from tests.workers.trainer.local_server import server_for

BUNDLES = (1, 2, 4)
WARM_UP_SECONDS = 5.0
ACTIVITIES = ("acting", "learning", "waiting")
SHOWN = ("gorila/actor_busy", "gorila/learner_busy", "gorila/shard_busy", "gorila/staleness")


@dataclass(frozen=True)
class Row:
    """One measurement. Milliseconds are those of a bundle per gradient."""

    bundles: str
    updates: float
    steps: float
    milliseconds: tuple[float, ...]
    shard_busy: str
    staleness: float

    def __str__(self) -> str:
        times = " | ".join(f"{each:.1f}" for each in self.milliseconds)
        rates = f"{self.updates:,.1f} | {self.steps:,.0f}"
        return f"| {self.bundles} | {rates} | {times} | {self.shard_busy} | {self.staleness:.2f} |"


class Measured(NullRun):
    """A run that is measured for some seconds, after its first update and a warm-up."""

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
        """Return the mean of a metric over the measured time."""
        return statistics.fmean(self._values[name] or [0.0])


def config_of(options: argparse.Namespace, bundles: int) -> GorilaConfig:
    """Return the configuration of the paper's method, but with immediate learning."""
    return GorilaConfig(
        env=options.env,
        total_steps=10**9,
        num_actors=bundles,
        num_learners=bundles,
        num_shards=options.shards,
        t_max=options.t_max,
        pull_interval=options.t_max,
        batch_size=options.batch,
        replay_frames=20_000,
        learning_starts=400,
    )


def in_one_process(config: GorilaConfig, seconds: float) -> Row:
    """Measure one bundle and its parameter server in one process, taking turns."""
    devices.compute_in(1)
    server = server_for(config, gorila.build(config, *own_environment.interface(config)))
    bundle = gorila.Bundle(config, config.num_shards, config.seed)

    def work(seconds: float) -> WorkRecord:
        record, end = WorkRecord(), time.perf_counter() + seconds
        bundle.work(server, 0, record, lambda: time.perf_counter() < end)
        return record

    work(WARM_UP_SECONDS)
    record = work(seconds)
    bundle.actor.close()
    times = tuple(record.seconds[activity] / record.gradients * 1000 for activity in ACTIVITIES)
    return Row("1, without Ray", record.gradients / seconds, record.steps / seconds, times, "–", 0.0)


def on_ray(config: GorilaConfig, seconds: float) -> Row:
    """Measure bundles and shards as processes of a private Ray."""
    run = Measured(seconds)
    with RayCluster() as cluster:
        train_on(cluster, config, run)
    acting, learning, shard_busy, staleness = map(run.mean, SHOWN)
    for_each = config.num_actors / run.updates_per_second * 1000
    times = (acting * for_each, learning * for_each, max(0.0, 1 - acting - learning) * for_each)
    rates = run.updates_per_second, run.steps_per_second
    return Row(str(config.num_actors), *rates, times, f"{shard_busy:.0%}", staleness)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.gorila", description=__doc__)
    parser.add_argument("--env", default="ALE/Pong-v5")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of one measurement")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--t-max", type=int, default=4, help="steps for each gradient")
    parser.add_argument("--batch", type=int, default=32, help="transitions for each gradient")
    options = parser.parse_args()
    work = f"a minibatch of {options.batch} every {options.t_max} steps"
    print(f"{options.env}, {options.shards} parameter shards, {work}\n")
    print("| bundles | updates/s | steps/s | acting, ms | learning, ms | waiting, ms | shard busy | staleness |")
    print("|---|---|---|---|---|---|---|---|")
    print(in_one_process(config_of(options, 1), options.seconds), flush=True)
    for bundles in BUNDLES:
        print(on_ray(config_of(options, bundles), options.seconds), flush=True)


if __name__ == "__main__":
    main()
