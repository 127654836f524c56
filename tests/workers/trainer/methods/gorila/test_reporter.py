"""Tests for the reports of Gorila's roles to the run, with prepared work."""

from collections import Counter

import pytest

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.contract.events import RolePlace
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode
from arcadia_workers.trainer.methods.gorila.parameter_server import ShardTally
from arcadia_workers.trainer.methods.gorila.reporter import (
    PLACES_SECONDS,
    CrewWork,
    Reporter,
    Stock,
    WorkRecord,
    histogram,
)
from arcadia_workers.trainer.run.run import NullRun


def place(number: int, times_lost: int = 0) -> RolePlace:
    return RolePlace(kind="bundle", number=number, host="sun (10.0.0.1)", times_lost=times_lost)


class MadeCrew:
    """A crew that returns prepared work."""

    def __init__(self, *works: CrewWork) -> None:
        self.step, self.updates = 40, 7
        self.places = [place(0, times_lost=2), place(1)]
        self._works = list(works)

    def take_work(self) -> CrewWork:
        return self._works.pop(0)


def record(**fields: float) -> WorkRecord:
    made = WorkRecord(steps=20, epsilon=0.5, fill=0.25, bytes_pushed=1000, bytes_pulled=3000, outliers=1)
    made.seconds["acting"], made.seconds["learning"] = 0.5, 1.0
    for value in fields.values():
        made.gradient({"train/value_loss": value})
    return made


def received(monkeypatch: pytest.MonkeyPatch, config: GorilaConfig, *works: CrewWork) -> tuple[NullRun, Reporter]:
    """Report work that took two seconds. Return the run and the reporter."""
    clock = iter([0.0, *[2.0] * 10])
    monkeypatch.setattr("arcadia_workers.trainer.methods.gorila.reporter.time.monotonic", lambda: next(clock))
    run, crew = NullRun(), MadeCrew(*works)
    reporter = Reporter(run, config, updates=5, facts={"stale": 10, "outliers": 20})
    for _ in works:
        reporter.report(crew)
    return run, reporter


def test_metrics_are_shares_of_time_and_means_over_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    config = GorilaConfig(env="ALE/Pong-v5", num_shards=2)
    tally = ShardTally(applied=3, discarded=1, staleness=Counter({0: 2, 5: 2}), busy_seconds=1.0)
    work = CrewWork([(30, FinishedEpisode(3.0, 12))], [record(a=1.0, b=3.0), record(c=5.0)], tally)
    run, reporter = received(monkeypatch, config, work)
    values = run.reported[-1]
    assert (run.step, run.frames, run.updates) == (40, 160, 2)
    assert run.episodes == [(30, 120, 3.0, 12)]
    assert values["train/value_loss"] == 3.0
    assert values["train/epsilon"] == 0.5
    assert values["gorila/actor_busy"] == 1.0 / (2 * 2)
    assert values["gorila/learner_busy"] == 2.0 / (2 * 2)
    assert values["gorila/shard_busy"] == 1.0 / (2 * 2)
    assert values["gorila/bytes_pushed_per_second"] == 1000
    assert values["gorila/bytes_pulled_per_second"] == 3000
    assert values["gorila/replay_fill"] == 0.25
    assert (values["gorila/discarded_stale"], values["gorila/discarded_outlier"]) == (10.5, 22)
    assert values["gorila/lost_roles"] == 2
    assert values["gorila/staleness"] == 2.5
    assert reporter.facts == {"stale": 10.5, "outliers": 22}


def test_the_global_replay_memory_has_its_own_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    config = GorilaConfig(mode="free", num_replays=2)
    stocks = {0: Stock(10, 0.5, 0.0), 1: Stock(20, 1.0, 0.0)}
    run, _ = received(monkeypatch, config, CrewWork(records=[record(a=1.0)], stocks=stocks, stock_seconds=1.0))
    assert run.reported[-1]["gorila/replay_fill"] == 0.75
    assert run.reported[-1]["gorila/replay_busy"] == 1.0 / (2 * 2)


def test_places_of_roles_are_reported_at_the_start_and_after_changes_but_not_for_each_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("arcadia_workers.trainer.methods.gorila.reporter.time.monotonic", lambda: now)
    run, crew = NullRun(), MadeCrew(*[CrewWork()] * 6)
    reporter = Reporter(run, GorilaConfig(), updates=5, facts={})
    first = crew.places
    for _ in range(2):
        reporter.report(crew)
        now += 2 * PLACES_SECONDS
    assert run.placed == [first]
    crew.places = second = [place(0, times_lost=3), place(1)]
    reporter.report(crew)
    assert run.placed == [first, second]
    for times_lost in (1, 2):
        now += PLACES_SECONDS / 4
        crew.places = third = [place(0, times_lost=3), place(1, times_lost)]
        reporter.report(crew)
    assert run.placed == [first, second]
    reporter.report(crew, last=True)
    assert run.placed == [first, second, third]


def test_the_histogram_counts_every_gradient_once() -> None:
    staleness = Counter({0: 5, 1: 2, 3: 1, 4: 1, 15: 1, 16: 1, 255: 1, 256: 1, 9999: 1})
    values = histogram(staleness)
    mean = values.pop("gorila/staleness")
    assert mean == pytest.approx(sum(k * n for k, n in staleness.items()) / staleness.total())
    assert list(values.values()) == [5, 3, 2, 1, 1, 2]
    names = list(values)
    assert names[:2] == ["gorila/staleness_0", "gorila/staleness_1_to_3"]
    assert names[-1] == "gorila/staleness_256_and_more"
    assert histogram(Counter()) == {}
