"""Tests for the speed limit of the environments, which a run can measure before it trains."""

import json
import resource
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from arcadia_workers.contract.action_names import Continuous, Discrete
from arcadia_workers.contract.config import A3cConfig, Ga3cConfig, PaacConfig
from arcadia_workers.contract.config.shared import Stepping
from arcadia_workers.trainer import session
from arcadia_workers.trainer.environments import environments, episodes
from arcadia_workers.trainer.errors import StopRequest
from arcadia_workers.trainer.host.processes import Link
from arcadia_workers.trainer.launching import Launch
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.recorder import Recorder

CEILING = "throughput/ceiling_steps_per_second"


class RecordedProcesses:
    """Processes that report prepared messages."""

    def __init__(self, *reported: list[tuple[int, Any]]) -> None:
        self.started = 0
        self._reported = iter(reported)

    def __enter__(self) -> "RecordedProcesses":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start(self, *_: object) -> None:
        self.started += 1

    def receive(self, _timeout: float) -> list[tuple[int, Any]]:
        return next(self._reported)


def test_rates_are_summed_from_the_time_when_all_processes_step(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = RecordedProcesses(
        [(0, (10.0, 1_000))],
        # The first process was alone until now, so it was faster.
        [(0, (11.0, 9_000)), (1, (20.0, 7))],
        [(0, (12.0, 9_500))],
        [(0, (13.0, 10_000)), (1, (21.0, 407))],
        [(1, (22.0, 507))],
    )
    monkeypatch.setattr(episodes, "Processes", lambda: processes)
    rate = episodes.measure(A3cConfig(env="CartPole-v1", num_actors=2), 2.0, lambda: False)
    assert rate == pytest.approx(1_000 / 2 + 500 / 2)
    assert processes.started == 2


def test_the_limit_of_open_files_is_raised_before_the_first_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    processes, raised = RecordedProcesses(), list[tuple[int, int]]()
    monkeypatch.setattr(episodes, "Processes", lambda: processes)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 20_000))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append((processes.started, limits[0])))
    episodes.measure(Ga3cConfig(env="CartPole-v1", num_agents=1000), 2.0, lambda: True)
    ((started, limit),) = raised
    assert started == 0
    assert limit > 3 * processes.started == 3 * 1000


class Resetting:
    """Three environments, one of which begins a new episode at each step, and the reports about them."""

    actions = Discrete(2)

    def __init__(self) -> None:
        self.received, self.reported = 0, list[int]()

    @property
    def stopping(self) -> bool:
        return self.received == 10

    def reset(self) -> None:
        pass

    def close(self) -> None:
        pass

    def receive(self) -> SimpleNamespace:
        self.received += 1
        return SimpleNamespace(fresh=np.array([False, True, False]))

    def send(self, what: Any) -> None:
        if isinstance(what, tuple):
            self.reported.append(what[1])


def test_a_new_episode_does_not_count_as_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    both = Resetting()
    monkeypatch.setattr(environments, "make", lambda *_: both)
    monkeypatch.setattr(episodes, "TELL_SECONDS", 0.0)
    episodes.step(cast(Link, both), PaacConfig(), Stepping(processes=1, envs=3), seed=1)
    assert both.reported[-1] == 2 * both.received


def test_a_stopping_run_ends_its_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "Processes", RecordedProcesses)
    assert episodes.measure(PaacConfig(env="CartPole-v1"), 2.0, lambda: True) is None


@pytest.mark.parametrize(
    ("config", "stepping"),
    [
        (PaacConfig(num_envs=64, num_workers=4), Stepping(processes=1, envs=64, threads=4)),
        (A3cConfig(num_actors=3), Stepping(processes=3)),
        (Ga3cConfig(num_agents=20), Stepping(processes=20)),
    ],
    ids=["paac", "a3c", "ga3c"],
)
def test_environments_step_as_they_do_in_training(config: Any, stepping: Stepping) -> None:
    assert config.stepping == stepping


def test_random_actions_are_valid_in_the_environment() -> None:
    chosen = episodes.drawn(Discrete(3), 5, seed=1)
    assert (chosen.shape[1], set(np.unique(chosen))) == (5, {0, 1, 2})
    numbers = episodes.drawn(Continuous((-1.0, 2.0), (0.0, 3.0)), 5, seed=1)
    assert numbers.shape[1:] == (5, 2)
    assert (numbers[..., 0].min() >= -1, numbers[..., 0].max() <= 0, numbers[..., 1].min() >= 2) == (True,) * 3


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    "config",
    [
        pytest.param(PaacConfig(env="CartPole-v1", num_envs=4, total_steps=400, ceiling_seconds=0.3), id="paac"),
        pytest.param(
            A3cConfig(env="CartPole-v1", num_actors=2, total_steps=400, ceiling_seconds=0.3),
            id="a3c",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            PaacConfig(env="CartPole-v1", num_envs=4, total_steps=400), id="unasked", marks=pytest.mark.nightly
        ),
    ],
)
def test_a_run_measures_its_environments_before_training_if_configured(
    config: PaacConfig | A3cConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A recorder would load torch to record a replay of the last checkpoint.
    monkeypatch.setattr(session, "Recorder", partial(Recorder, command=("true",)))
    with Journal(tmp_path) as journal:
        launch = Launch(config, tmp_path, resume=False, progress_bar=False)
        assert session.train(launch, journal, StopRequest()) == 0
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    reported = [event for event in events if CEILING in event.get("values", {})]
    assert len(reported) == (1 if config.ceiling_seconds else 0)
    for event in reported:
        assert event["values"][CEILING] > 0
        assert (event["step"], event["seq"]) == (0, 3)
    assert events[-1]["kind"] == "finished"
