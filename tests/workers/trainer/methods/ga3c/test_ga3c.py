"""Tests that GA3C learns from every experience once, and learns, stops and fails correctly."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import psutil
import pytest
import torch

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.environments.environments import Actions, EnvironmentStep, Floats
from arcadia_workers.trainer.environments.own_environment import OwnEnvironment
from arcadia_workers.trainer.host.processes import ActorFailed
from arcadia_workers.trainer.methods.ga3c import ga3c
from arcadia_workers.trainer.methods.ga3c.experiences import Exchange, Experiences, Submission
from arcadia_workers.trainer.methods.ga3c.model import Model, TrainingBatch
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.run.run import NullRun
from tests.workers.trainer.methods.ga3c.learning import LEARNING

ACTIONS = 3


@dataclass(frozen=True)
class Scene:
    """The scripted result of one action."""

    terminated: bool = False
    truncated: bool = False
    life_lost: bool = False


PLAIN, DEATH, TIME_OUT, LOST_LIFE = Scene(), Scene(terminated=True), Scene(truncated=True), Scene(life_lost=True)


class Scripted:
    """An environment that plays a script. Observations are numbered, and each reward is ten times its number."""

    num_envs, frames_per_step = 1, 1
    observation_shape, actions = (1,), Discrete(ACTIONS)

    def __init__(self, script: list[Scene]) -> None:
        self._script = iter(script)
        self._seen = 0
        self._over = False
        self.rewards: list[float] = []
        self.acted: list[int] = []
        self.finished = False

    def reset(self) -> Floats:
        return self._observation()

    def send(self, actions: Actions) -> None:
        if not self._over:
            self.acted.append(int(actions[0]))

    def receive(self) -> EnvironmentStep:
        if self._over:
            self._over = False
            return self._step(self._observation(), 0.0, PLAIN, fresh=True)
        scene = next(self._script, PLAIN)
        observation = self._observation()
        reward = 10.0 * self._seen
        self.rewards.append(reward)
        self._over = scene.terminated or scene.truncated
        return self._step(observation, reward, scene, fresh=False)

    def close(self) -> None:
        return

    def _observation(self) -> Floats:
        self._seen += 1
        return np.full((1, 1), self._seen, dtype=np.float32)

    def _step(self, observation: Floats, reward: float, scene: Scene, fresh: bool) -> EnvironmentStep:
        flags = (np.array([flag]) for flag in (scene.terminated, scene.truncated, scene.life_lost, fresh))
        return EnvironmentStep(observation, np.array([reward], dtype=np.float32), *flags)


@contextmanager
def answering(exchange: Exchange) -> Iterator[None]:
    """Respond to all requests with a uniform policy, V(s) = s/1000 and version s."""

    def answer() -> None:
        while True:
            rows, dismissed = exchange.take_requests()
            table = exchange.experiences
            for row in rows:
                table.predictions[row, :-1] = 1 / ACTIONS
                table.predictions[row, -1] = table.states[row, 0] / 1000
                table.versions[row] = int(table.states[row, 0])
            exchange.answer(rows)
            if dismissed:
                return

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        exchange.dismiss_predictor()
        thread.join()


def exchange_for(config: Ga3cConfig, agents: int = 1) -> Exchange:
    return Exchange(Experiences.allocate(config, agents, (1,), ACTIONS))


@dataclass(frozen=True)
class Played:
    """The submissions of one agent in order."""

    environment: Scripted
    submissions: list[Submission]
    states: list[float]
    actions: list[int]
    returns: list[float]


def played(config: Ga3cConfig, script: list[Scene], monkeypatch: pytest.MonkeyPatch) -> Played:
    """Let an agent play a script and then stop it."""
    scripted = Scripted(script)
    monkeypatch.setattr("arcadia_workers.trainer.environments.environments.make", lambda *_: scripted)
    exchange = exchange_for(config)
    result = Played(scripted, [], [], [], [])

    def stopping() -> bool:
        return len(scripted.rewards) >= len(script)

    def agent() -> None:
        ga3c.play(config, OwnEnvironment(config, 1), np.random.default_rng(1), exchange.desk(0), stopping)
        exchange.dismiss_trainer()

    with answering(exchange), ThreadPoolExecutor(1) as pool:
        playing = pool.submit(agent)
        while submission := exchange.take_submission():
            rows = slice(submission.first_row, submission.first_row + submission.length)
            result.submissions.append(submission)
            result.states.extend(exchange.experiences.states[rows, 0].tolist())
            result.actions.extend(exchange.experiences.actions[rows].tolist())
            result.returns.extend(exchange.experiences.returns[rows].tolist())
            exchange.free(submission.first_row)
        playing.result()
    return result


def made_config(**fields: object) -> Ga3cConfig:
    return Ga3cConfig.model_validate({"env": "CartPole-v1", "t_max": 4, "clip_rewards": False, **fields})


SCRIPT = [
    *[PLAIN] * 4,  # a full rollout
    *[PLAIN, LOST_LIFE, DEATH],  # a shorter rollout
    DEATH,  # an episode with one step
    *[PLAIN] * 3,
    DEATH,  # an episode that ends with a full rollout
    *[PLAIN] * 5,
    TIME_OUT,
    *[PLAIN] * 3,
    TIME_OUT,  # the same, ended by a time limit
    TIME_OUT,
    *[PLAIN] * 2,  # the agent is stopped in the middle of a rollout
]


@pytest.mark.parametrize("t_max", [1, 2, 4, 50])
@pytest.mark.parametrize("life_loss_ends_episode", [False, True])
def test_every_reward_reaches_a_trainer_exactly_once_and_in_order(
    t_max: int, life_loss_ends_episode: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = made_config(gamma=0.0, t_max=t_max, life_loss_ends_episode=life_loss_ends_episode)
    result = played(config, SCRIPT, monkeypatch)
    assert result.returns == result.environment.rewards  # with γ = 0, returns are rewards
    assert result.actions == result.environment.acted
    assert len(result.environment.rewards) == len(SCRIPT)
    assert all(0 < submission.length <= t_max for submission in result.submissions[:-1])


def test_no_experience_pairs_states_of_two_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    result = played(made_config(), [PLAIN, DEATH, PLAIN, TIME_OUT, PLAIN], monkeypatch)
    # Observations 3 and 6 ended episodes, 4 and 7 started the next ones.
    assert result.states == [1, 2, 4, 5, 7]


def test_returns_bootstrap_from_the_value_unless_the_episode_terminated(monkeypatch: pytest.MonkeyPatch) -> None:
    result = played(made_config(gamma=1.0, t_max=2), [PLAIN, PLAIN, DEATH, TIME_OUT, PLAIN], monkeypatch)
    # Observations are 1 2 3 | 4, 5 6 | 7 8, and rewards 20 30 40, 60, 80.
    full, death, time_out, asked_to_stop = [20 + 30 + 0.003, 30 + 0.003], [40.0], [60 + 0.006], [80 + 0.008]
    assert result.returns == pytest.approx([*full, *death, *time_out, *asked_to_stop])


def test_a_lost_life_ends_the_return_but_not_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    script = [PLAIN, LOST_LIFE, PLAIN, DEATH]
    result = played(made_config(gamma=1.0, life_loss_ends_episode=True), script, monkeypatch)
    assert result.returns == [20 + 30, 30, 40 + 50, 50]
    episodes = [(each.episode_length, each.episode_return) for each in result.submissions if each.episode_length]
    assert episodes == [(4, 20 + 30 + 40 + 50)]


def test_episodes_report_their_raw_return_when_rewards_are_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    result = played(made_config(gamma=0.0, clip_rewards=True), [PLAIN, PLAIN, DEATH], monkeypatch)
    assert result.returns == [1, 1, 1]
    assert [submission.episode_return for submission in result.submissions if submission.episode_length] == [90]


def test_an_agent_waits_while_both_of_its_rollouts_are_queued() -> None:
    """Check that the training queue has at most two rollouts per agent, which bounds the policy lag."""
    exchange = exchange_for(made_config())
    desk = exchange.desk(0)
    first, second = desk.new_rollout(), desk.new_rollout()
    assert {first.first_row, second.first_row} == {0, 4}
    assert desk.free.waiting() == 0
    exchange.free(first.first_row)
    assert desk.new_rollout().first_row == first.first_row


def trained(exchange: Exchange, config: Ga3cConfig) -> Model:
    """Run a trainer on the waiting rollouts until it is dismissed. Return its model."""
    exchange.experiences.states.zero_()
    model = Model(config, networks.build(config, (1,), Discrete(ACTIONS)), torch.device("cpu"))
    ga3c.trainer(model, exchange, config)
    return model


def hand_in(exchange: Exchange, lengths: list[int]) -> None:
    """Submit a rollout of each length, one agent after the other."""
    for slot, length in enumerate(lengths):
        desk = exchange.desk(slot)
        rollout = desk.new_rollout()
        for _ in range(length):
            desk.keep(rollout, 0, 1.0)
        desk.submit(rollout, 0.0, 0.9)


@pytest.mark.parametrize(("least", "updates"), [(0, 5), (1, 5), (4, 3), (8, 2), (11, 1), (12, 1)])
def test_a_trainer_gathers_the_minimum_batch_and_learns_from_every_experience(least: int, updates: int) -> None:
    config = made_config(min_training_batch=least)
    exchange = exchange_for(config, agents=5)
    hand_in(exchange, [4, 1, 3, 2, 2])
    exchange.dismiss_trainer()
    model = trained(exchange, config)
    assert (model.step, model.updates) == (12, updates)
    assert all(exchange.desk(slot).free.waiting() == 2 for slot in range(5))


def test_nothing_is_learned_while_the_run_closes() -> None:
    config = made_config(min_training_batch=4)
    exchange = exchange_for(config)
    hand_in(exchange, [3])
    exchange.closing = True
    assert trained(exchange, config).step == 0


def test_actions_are_drawn_from_the_policy() -> None:
    policy = [0.5, 0.0, 0.3, 0.2]
    drawn = [ga3c.draw(policy, (i + 0.5) / 1000) for i in range(1000)]
    assert np.bincount(drawn).tolist() == [500, 0, 300, 200]
    assert ga3c.draw([0.4, 0.59, 0.0], 0.999) == 1


class LearningRun(NullRun):
    """A run that ends once the latest episodes are good."""

    def should_stop(self) -> bool:
        returns = [episode_return for _, _, episode_return, _ in self.episodes[-200:]]
        return len(returns) == 200 and float(np.mean(returns)) > 0.8


@pytest.mark.nightly
def test_ga3c_learns_catch() -> None:
    run = LearningRun()
    ga3c.train(LEARNING, run)
    assert run.step < 300_000
    assert [episode_return for _, _, episode_return, _ in run.episodes[-200:]].count(1.0) >= 180


def test_steps_episodes_and_updates_agree() -> None:
    run = NullRun()
    config = LEARNING.model_copy(update={"total_steps": 2000})
    ga3c.train(config, run)
    assert 2000 <= run.step < 2000 + 16 + 4
    assert run.frames == run.step
    # Episodes of Catch have five steps: one rollout with four steps and one with a single step.
    lengths = [length for _, _, _, length in run.episodes]
    assert set(lengths) == {5}
    assert run.step - 5 * 4 * 4 <= sum(lengths) <= run.step + 5
    assert run.step / (16 + 4) <= run.updates <= run.step / 16
    steps = [step for step, *_ in run.episodes]
    assert steps == sorted(steps)


def test_metrics_report_the_queues_and_the_numbers_of_agents_predictors_and_trainers() -> None:
    run = NullRun(stop_at_step=3000)
    ga3c.train(LEARNING, run)
    received = {name: value for report in run.reported for name, value in report.items()}  # the last value of each
    assert (received["ga3c/agents"], received["ga3c/predictors"], received["ga3c/trainers"]) == (4, 1, 1)
    assert 1 <= received["ga3c/prediction_batch"] <= 4
    assert 16 <= received["ga3c/training_batch"] < 20
    assert 0 <= received["ga3c/policy_lag"] < 10
    assert 0 <= received["ga3c/training_queue"] <= 2 * 4
    assert max(report["throughput/predictions_per_second"] for report in run.reported) > 0
    assert 0 < received["train/entropy"] <= np.log(3) + 1e-3
    assert {"train/policy_loss", "train/value_loss", "train/grad_norm", "train/learning_rate"} <= received.keys()


class KillingRun(NullRun):
    """A run that kills an agent in the middle of training."""

    def should_stop(self) -> bool:
        if self.step >= 500:
            family = psutil.Process().children(recursive=True)
            os.kill(next(each.pid for each in family if each.ppid() != os.getpid()), signal.SIGKILL)
        return False


def test_a_killed_agent_ends_the_run_with_an_error_and_leaves_no_process_behind() -> None:
    with pytest.raises(ActorFailed, match=r"agent \d+ was killed by signal 9"):
        ga3c.train(LEARNING, KillingRun())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ga3c")]


def test_a_trainer_that_fails_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def burn(*_: object) -> None:
        raise ValueError("the trainer burnt")

    monkeypatch.setattr(TrainingBatch, "add", burn)
    with pytest.raises(ValueError, match="the trainer burnt"):
        ga3c.train(LEARNING, NullRun())
