"""Tests for actor-learners and their main process: T, reports, checkpoints, crashes, and a killed trainer."""

import json
import resource
import time
import traceback
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from pydantic import JsonValue
from torch import nn

from arcadia_workers.contract import events
from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode
from arcadia_workers.trainer.host.memory import TooManyProcessesError
from arcadia_workers.trainer.host.processes import ActorCrashed, ActorFailed, Link
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.methods.asynchronous import shared_state
from arcadia_workers.trainer.methods.asynchronous.shared_state import Participant, SharedState, lay_out
from arcadia_workers.trainer.run.run import NullRun, TrainingState
from tests.processes import command_line
from tests.workers.trainer.conftest import StartTrainer
from tests.workers.trainer.trainers import of_kind
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

MEASURES = ("train/value_loss", "train/grad_norm")


def config_of(**fields: object) -> A3cConfig:
    return A3cConfig.model_validate({"env": "ALE/Pong-v5", "num_actors": 2, "total_steps": 1000, **fields})


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(2, 1)


def count(link: Link, config: A3cConfig, shared: SharedState) -> None:
    """Count steps as fast as possible and report some episodes."""
    own = Participant(link, config, shared)
    for step in range(1, 5001):
        own.count_step()
        if step % 1000 == 0:
            own.report_episode(FinishedEpisode(float(step), 1000))
            own.report_update(1000, {"train/grad_norm": 2.0, "train/value_loss": 10.0 * (link.number + 1)})


def crash(_link: Link, _config: A3cConfig, _shared: SharedState) -> None:
    raise ZeroDivisionError("nothing to divide by")


def go_on(link: Link, config: A3cConfig, shared: SharedState) -> None:
    own = Participant(link, config, shared)
    while own.goes_on:
        own.count_step()
        own.report_update(1, {"train/grad_norm": 2.0, "train/value_loss": 1.0})
        time.sleep(0.001)


def leave_a_rollout(link: Link, config: A3cConfig, shared: SharedState) -> None:
    """Learn from 20 steps, then end an episode after 7 more that are not learned from because of a stop."""
    own = Participant(link, config, shared)
    for _ in range(20):
        own.count_step()
    own.report_update(20, {"train/grad_norm": 2.0, "train/value_loss": 1.0})
    for _ in range(7):
        own.count_step()
    own.report_episode(FinishedEpisode(1.0, 27))


def test_the_limit_of_open_files_is_raised_for_all_actor_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 512))
    with pytest.raises(TooManyProcessesError, match=r"200 actor-learners need 1000 open files, .* at most 78"):
        shared_state.train(config_of(num_actors=200), NullRun(), network(), count, MEASURES)


def test_steps_are_counted_after_learning_from_them() -> None:
    run = NullRun(stop_at_step=40)
    shared_state.train(config_of(), run, network(), leave_a_rollout, MEASURES)
    assert (run.step, run.frames) == (40, 160)
    assert run.episodes == []
    (state,) = run.saved
    assert (state.step, state.frames) == (40, 160)


def test_no_step_is_lost_or_counted_twice() -> None:
    run = NullRun()
    shared_state.train(config_of(), run, network(), count, MEASURES)
    assert (run.step, run.frames) == (10_000, 40_000)


def test_episodes_are_reported_with_the_learned_steps() -> None:
    run = NullRun()
    shared_state.train(config_of(), run, network(), count, MEASURES)
    assert len(run.episodes) == 10
    for step, frames, episode_return, length in run.episodes:
        assert episode_return <= step <= 5000 + episode_return
        assert (frames, length) == (4 * step, 1000)


def test_metrics_are_means_over_all_updates_since_the_last_report() -> None:
    class Once(NullRun):
        def metrics_due(self) -> bool:
            return self.updates == 10

    run = Once()
    shared_state.train(config_of(), run, network(), count, MEASURES)
    assert [(received["train/value_loss"], received["train/grad_norm"]) for received in run.reported] == [(15.0, 2.0)]


def test_a_crash_ends_the_run_with_the_actor_learners_traceback() -> None:
    with pytest.raises(ActorCrashed, match=r"crash \d failed: ZeroDivisionError: nothing to divide by") as failure:
        shared_state.train(config_of(), NullRun(), network(), crash, MEASURES)
    assert "in crash\n" in "".join(traceback.format_exception(failure.value))


def is_actor_server(process: psutil.Process) -> bool:
    """Return True if a process starts actor-learners. This process may have children of other tests."""
    return "multiprocessing.forkserver" in command_line(process)


def test_a_killed_actor_learner_fails_the_run_with_its_name() -> None:
    class Killing(NullRun):
        killed = False

        def advance(self, step: int, frames: int, updates: int = 1) -> None:
            super().advance(step, frames, updates)
            # The trainer may advance several times before it notices the death.
            if step > 0 and not self.killed:
                self.killed = True
                servers = [each for each in psutil.Process().children() if is_actor_server(each)]
                next(actor for server in servers for actor in server.children()).kill()

    with pytest.raises(ActorFailed, match=r"go_on \d was killed by signal 9 \(SIGKILL\)"):
        shared_state.train(config_of(total_steps=10**9), Killing(), network(), go_on, MEASURES)


def test_a_run_that_stops_saves_t_and_all_shared_tensors() -> None:
    run = NullRun(stop_at_step=50)
    shared_state.train(config_of(), run, network(), go_on, MEASURES, {"target": torch.arange(3.0)})
    saved = run.saved[-1]
    assert saved.step == run.step >= 50
    assert saved.tensors.keys() == {"network.weight", "network.bias", "optimizer.statistics", "target"}
    assert saved.facts == {"optimizer": "shared_rmsprop"}


def made_state(rows: int, **facts: JsonValue) -> TrainingState:
    return TrainingState(
        step=300,
        frames=1200,
        tensors={
            "network.weight": torch.tensor([[5.0, 6.0]]),
            "network.bias": torch.tensor([7.0]),
            "optimizer.statistics": torch.arange(3.0 * rows).view(rows, 3),
            "target": torch.ones(2),
        },
        facts=facts,
    )


@pytest.mark.parametrize(
    ("optimizer", "saved_rows", "rows"),
    [("shared_rmsprop", 1, [0.0]), ("rmsprop", 2, [0.0, 3.0, 0.0]), ("momentum_sgd", 4, [0.0, 3.0, 6.0])],
)
def test_a_checkpoint_is_restored_to_any_number_of_actor_learners(
    optimizer: str, saved_rows: int, rows: list[float]
) -> None:
    config = config_of(num_actors=3, optimizer=optimizer)
    parameters = FlatParameters(network())
    shared = lay_out(config, made_state(saved_rows), parameters, MEASURES, {"target": torch.zeros(2)})
    assert (shared.T, shared.step, shared.first_step) == (300, 300, 300)
    assert shared.values.tolist() == [5.0, 6.0, 7.0]
    assert shared.statistics[:, 0].tolist() == rows
    assert shared.others["target"].tolist() == [1.0, 1.0]
    assert all(
        tensor.is_shared() for tensor in (shared.values, shared.statistics, shared.steps, shared.learned, shared.sums)
    )


@pytest.mark.parametrize(
    ("before", "optimizer", "statistics"),
    [
        ("rmsprop", "rmsprop", [0.0, 1.0, 2.0]),
        ("rmsprop", "shared_rmsprop", [0.0, 1.0, 2.0]),
        ("shared_rmsprop", "rmsprop", [0.0, 1.0, 2.0]),
        ("momentum_sgd", "momentum_sgd", [0.0, 1.0, 2.0]),
        ("momentum_sgd", "shared_rmsprop", [1.0, 1.0, 1.0]),
        ("shared_rmsprop", "momentum_sgd", [0.0, 0.0, 0.0]),
    ],
)
def test_a_fork_with_another_optimizer_begins_with_new_statistics(
    before: str, optimizer: str, statistics: list[float]
) -> None:
    config, parameters = config_of(num_actors=2, optimizer=optimizer), FlatParameters(network())
    shared = lay_out(config, made_state(1, optimizer=before), parameters, MEASURES, {})
    assert shared.values.tolist() == [5.0, 6.0, 7.0]
    assert shared.statistics.tolist() == [statistics] * len(shared.statistics)


class SilentLink(Link):
    """A link without a main process."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.stopping = False


def participant_of(number: int, restored: TrainingState | None = None, **fields: object) -> Participant:
    config = config_of(**fields)
    shared = lay_out(config, restored, FlatParameters(network()), MEASURES, {})
    return Participant(SilentLink(number), config, shared)


def test_the_learning_rate_falls_with_t_to_zero() -> None:
    own = participant_of(0, learning_rate=0.5, total_steps=4)
    rates = []
    for _ in range(5):
        rates.append(own.learning_rate)
        own.count_step()
    assert rates == [0.5, 0.375, 0.25, 0.125, 0.0]
    assert not own.goes_on


@pytest.mark.parametrize("wrong", [{"train/value_loss": 1.0}, {"train/value_loss": 1.0, "train/entropy": 2.0}])
def test_an_update_must_report_exactly_the_declared_metrics(wrong: dict[str, float]) -> None:
    with pytest.raises((KeyError, ValueError), match="grad_norm"):
        participant_of(0).report_update(5, wrong)


def test_every_actor_learner_has_a_different_seed_in_every_attempt() -> None:
    state = made_state(1)
    seeds = [
        participant_of(number, restored, seed=seed).seed
        for number in (0, 1)
        for restored in (None, state)
        for seed in (1, 2)
    ]
    assert len(set(seeds)) == 8
    assert seeds[0] == participant_of(0, seed=1).seed
    assert all(0 <= seed < 2**31 for seed in seeds)


def assert_gone(family: list[psutil.Process]) -> None:
    """Check that the processes end without being killed."""
    _, alive = psutil.wait_procs(family, timeout=PATIENCE_SECONDS)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive)


def a3c_config(directory: Path) -> str:
    """Write the configuration of a run that never finishes."""
    fields: dict[str, Any] = {"algorithm": "a3c", "env": "CartPole-v1", "num_actors": 2, "checkpoint_seconds": 1}
    path = directory / "config.json"
    path.write_text(json.dumps(fields))
    return str(path)


def test_sigterm_ends_the_run_with_all_processes(tmp_path: Path, start_trainer: StartTrainer) -> None:
    trainer = start_trainer(a3c_config(tmp_path))
    wait_until(lambda: of_kind(tmp_path / "run", events.Metrics))
    family = psutil.Process(trainer.pid).children(recursive=True)
    trainer.terminate()
    trainer.wait(timeout=PATIENCE_SECONDS)
    assert trainer.returncode == 0
    stopped = of_kind(tmp_path / "run", events.Stopped)[-1]
    assert of_kind(tmp_path / "run", events.CheckpointEvent)[-1].step == stopped.step > 0
    assert_gone(family)


@pytest.mark.nightly
def test_a_killed_trainer_leaves_no_process_behind(tmp_path: Path, start_trainer: StartTrainer) -> None:
    trainer = start_trainer(a3c_config(tmp_path))
    wait_until(lambda: of_kind(tmp_path / "run", events.Metrics))
    family = psutil.Process(trainer.pid).children(recursive=True)
    assert len(family) >= 3
    trainer.kill()
    trainer.wait()
    assert_gone(family)
