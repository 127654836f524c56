"""Tests of Gorila against a slow literal transcription of algorithm 1, and that all variants of DQN learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.methods.gorila import gorila
from arcadia_workers.trainer.methods.gorila.gorila import Bundle, LossWatch
from arcadia_workers.trainer.methods.gorila.replay_memory import Minibatch
from arcadia_workers.trainer.methods.gorila.reporter import WorkRecord
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.networks import ActionValues, DuelingValues
from tests.workers.trainer.local_server import LocalServer, server_for
from tests.workers.trainer.made_sequence import ACTIONS, READINGS, MadeSequence

STEPS = 60
ENDS = {7: "terminal", 13: "truncated", 17: "life", 20: "terminal", 29: "truncated", 41: "terminal", 42: "terminal"}
SETTINGS: dict[str, Any] = {
    "env": "Arcadia/Catch-v0",
    "num_actors": 1,
    "num_learners": 1,
    "num_shards": 3,
    "total_steps": STEPS,
    "t_max": 2,
    "pull_interval": 1,
    "batch_size": 6,
    "replay_frames": 100,
    "learning_starts": 10,
    "gamma": 0.9,
    "learning_rate": 0.05,
    # With a smaller ε, rounding errors of small gradients would become large steps.
    "adagrad_epsilon": 0.1,
    "max_grad_norm": 0.5,
    "target_update_interval": 7,
    "hidden_units": 8,
    "final_epsilon": 0.0,
    "epsilon_anneal_updates": 0,
}
CATCH: dict[str, Any] = {
    "env": "Arcadia/Catch-v0",
    "num_actors": 1,
    "num_learners": 1,
    "num_shards": 2,
    "total_steps": 16_000,
    "t_max": 2,
    "pull_interval": 2,
    "replay_frames": 5000,
    "learning_starts": 200,
    "learning_rate": 0.1,
    "target_update_interval": 100,
    "final_epsilon": 0.02,
    "epsilon_anneal_updates": 2000,
}
RELATIVES: dict[str, dict[str, Any]] = {
    "DQN": {},
    "errors not clipped": {"clip_errors": False},
    "double": {"double_q": True},
    "dueling": {"dueling": True},
    "prioritized": {"prioritized_replay": True},
    "RMSProp, rate falling": {"optimizer": "rmsprop", "learning_rate_decay": "linear"},
}


def fresh(config: GorilaConfig) -> ActionValues:
    torch.manual_seed(3)
    return networks.build_action_values(config, (READINGS,), Discrete(ACTIONS))


def times(number: int) -> Callable[[], bool]:
    """Return a condition that is true this number of times."""
    left = iter(range(number))
    return lambda: next(left, None) is not None


class LiteralDQN:
    """θ, θ⁻, θ⁺ and the equations in plain torch, tuple by tuple."""

    def __init__(self, config: GorilaConfig) -> None:
        self.config = config
        self.server, self.theta, self.theta_minus = (fresh(config) for _ in range(3))
        first = torch.ones if config.optimizer == "rmsprop" else torch.zeros
        self.statistics = [first(p.shape) for p in self.server.parameters()]
        self.updates = 0

    def greedy(self, state: np.ndarray) -> int:
        return int(self.theta(torch.from_numpy(state)).argmax())

    def target(self, r: float, s2: Tensor, terminal: bool) -> float:
        if terminal:
            return r
        if self.config.double_q:
            return r + self.config.gamma * float(self.theta_minus(s2).detach()[0, int(self.theta(s2).argmax())])
        return r + self.config.gamma * float(self.theta_minus(s2).detach().max())

    def gradients(self, batch: Minibatch) -> tuple[list[Tensor], list[float]]:
        """Return the gradients of equation 2, as the weighted mean over the minibatch."""
        total = [torch.zeros_like(p) for p in self.theta.parameters()]
        errors = []
        for i in range(len(batch.actions)):
            s, s2 = (torch.from_numpy(states[i : i + 1]) for states in (batch.states, batch.next_states))
            q = self.theta(s)[0, int(batch.actions[i])]
            error = self.target(float(batch.rewards[i]), s2, bool(batch.terminals[i])) - q.item()
            errors.append(error)
            step = min(max(error, -1.0), 1.0) if self.config.clip_errors else error
            for g, dq in zip(total, torch.autograd.grad(q, list(self.theta.parameters())), strict=True):
                g -= float(batch.weights[i]) * step * dq / len(batch.actions)
        norm = sum(float((g**2).sum()) for g in total) ** 0.5
        return [g * min(1.0, self.config.max_grad_norm / norm) for g in total], errors

    @torch.no_grad()
    def apply(self, gradients: list[Tensor], step: int) -> None:
        config = self.config
        eta = config.learning_rate * (1 - step / STEPS if config.learning_rate_decay == "linear" else 1)
        for p, s, g in zip(self.server.parameters(), self.statistics, gradients, strict=True):
            if config.optimizer == "rmsprop":
                s.copy_(config.rmsprop_decay * s + (1 - config.rmsprop_decay) * g**2)
                p.sub_(eta * g / torch.sqrt(s + config.rmsprop_epsilon))
            else:
                s.add_(g**2)
                p.sub_(eta * g / torch.sqrt(s + config.adagrad_epsilon))
        self.updates += 1

    def pull(self) -> None:
        self.theta.load_state_dict(self.server.state_dict())


def literal_algorithm_1(dqn: LiteralDQN, world: MadeSequence, batches: list[Minibatch], at_step: int) -> None:
    """Follow the paper line by line with given minibatches. test_replay_memory.py checks their contents."""
    config, drawn, synced = dqn.config, iter(batches), 0
    for t in range(1, STEPS + 1):
        outcome = world.step(np.array([dqn.greedy(world.observation)]))
        if outcome.over:
            world.begin_again()
            dqn.pull()
        dqn.pull()
        if t >= config.learning_starts and t % config.t_max == 0:
            if dqn.updates // config.target_update_interval > synced:
                dqn.theta_minus.load_state_dict(dqn.server.state_dict())
                synced = dqn.updates // config.target_update_interval
            dqn.apply(dqn.gradients(next(drawn))[0], at_step)
    assert next(drawn, None) is None


def worked(config: GorilaConfig, world: MadeSequence, monkeypatch: pytest.MonkeyPatch) -> tuple[LocalServer, list[Any]]:
    """Run one bundle on the sequence. Return its parameter server and the minibatches it learned from."""
    monkeypatch.setattr(gorila, "OwnEnvironment", lambda *_: world)
    bundle, server, batches = Bundle(config, config.num_shards, seed=1), server_for(config, fresh(config)), []
    sample = bundle.memory.sample

    def recorded(size: int, beta: float) -> Minibatch:
        batches.append(sample(size, beta))
        return batches[-1]

    monkeypatch.setattr(bundle.memory, "sample", recorded)
    bundle.work(server, step=20, record=WorkRecord(), goes_on=times(STEPS))
    return server, batches


def flat(network: nn.Module) -> Tensor:
    return torch.cat([p.detach().reshape(-1) for p in network.parameters()])


@pytest.mark.parametrize("changes", RELATIVES.values(), ids=RELATIVES)
def test_a_bundle_learns_what_a_literal_transcription_of_algorithm_1_learns(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = GorilaConfig(**{**SETTINGS, **changes})
    world, again = MadeSequence(ENDS), MadeSequence(ENDS)
    server, batches = worked(config, world, monkeypatch)

    literal = LiteralDQN(config)
    literal_algorithm_1(literal, again, batches, at_step=20)

    assert world.taken == again.taken
    assert server.state.updates == literal.updates == len(batches) == 26
    theta = torch.from_numpy(server.state.values)
    assert (theta - flat(fresh(config))).norm() > 0.1
    torch.testing.assert_close(theta, flat(literal.server), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("clips", [True, False])
def test_priorities_are_the_errors_used_for_learning(clips: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    config = GorilaConfig(**{**SETTINGS, "prioritized_replay": True, "clip_errors": clips})
    monkeypatch.setattr(gorila, "OwnEnvironment", lambda *_: MadeSequence(ENDS))
    bundle, server, reported = Bundle(config, config.num_shards, seed=1), server_for(config, fresh(config)), []
    monkeypatch.setattr(bundle.memory, "update_priorities", lambda _, errors: reported.extend(abs(errors)))
    bundle.work(server, step=20, record=WorkRecord(), goes_on=times(STEPS))
    assert (max(reported) <= 1) == clips


@pytest.mark.parametrize("double", [False, True], ids=["DQN", "double"])
def test_targets_of_terminal_states_are_their_rewards_and_others_bootstrap(double: bool) -> None:
    config = GorilaConfig(**{**SETTINGS, "double_q": double})
    network, target = fresh(config), fresh(config.model_copy(update={"hidden_units": 5}))
    states = np.random.default_rng(1).standard_normal((4, READINGS)).astype(np.float32)
    rewards = np.array([1.0, -1.0, 0.5, 0.0], dtype=np.float32)
    batch = Minibatch(
        states, np.zeros(4, dtype=np.int64), rewards, states, np.array([True, False, False, True]), *empty(4)
    )
    q, q_minus = (each(torch.from_numpy(states)).detach().numpy() for each in (network, target))
    best = (q if double else q_minus).argmax(axis=1)
    expected = rewards + 0.9 * q_minus[np.arange(4), best] * np.array([0, 1, 1, 0])
    assert gorila.targets(network, target, batch, config).numpy() == pytest.approx(expected, rel=1e-5)


def empty(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.float32)


def test_a_dueling_network_adds_the_value_to_advantages_with_mean_0() -> None:
    network = fresh(GorilaConfig(**{**SETTINGS, "dueling": True}))
    assert isinstance(network, DuelingValues)
    states = torch.randn(5, READINGS)
    features = network.body(states)
    assert features.shape[1] == 2 * SETTINGS["hidden_units"]
    value, advantages = network.values(features[:, :8]), network.advantages(features[:, 8:])
    torch.testing.assert_close(network(states), value + advantages - advantages.mean(dim=1, keepdim=True))
    torch.testing.assert_close(network(states).mean(dim=1), value[:, 0])


def test_epsilon_decreases_with_the_global_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    config = GorilaConfig(**{**SETTINGS, "final_epsilon": 0.1, "epsilon_anneal_updates": 10, "num_shards": 1})
    monkeypatch.setattr(gorila, "OwnEnvironment", lambda *_: MadeSequence({}))
    bundle, server, reported = Bundle(config, 1, seed=1), server_for(config, fresh(config)), []
    for _ in range(6):
        record = WorkRecord()
        bundle.work(server, 0, record, times(9))
        bundle.complete(record)
        reported.append((record.updates, record.epsilon))
    assert [updates for updates, _ in reported] == sorted(updates for updates, _ in reported)
    assert reported[-1][0] > 10
    assert [epsilon for _, epsilon in reported] == pytest.approx(
        [max(0.1, 1 - 0.09 * updates) for updates, _ in reported]
    )


def test_outliers_send_no_gradient_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    config = GorilaConfig(**SETTINGS)
    monkeypatch.setattr(gorila, "OwnEnvironment", lambda *_: MadeSequence({}))
    monkeypatch.setattr(LossWatch, "is_outlier", lambda *_: True)
    bundle, server, record = Bundle(config, 3, seed=1), server_for(config, fresh(config)), WorkRecord()
    bundle.work(server, 0, record, times(20))
    assert (record.outliers, record.gradients, record.bytes_pushed, server.state.updates) == (6, 0, 0, 0)


def made_small(name: str, **changes: Any) -> GorilaConfig:
    """Return a preset with one bundle and a small replay memory that begins to learn at once."""
    preset = PRESETS[name].config
    small: dict[str, Any] = {"num_actors": 1, "num_learners": 1, "num_shards": 3, "replay_frames": 2000}
    return GorilaConfig.model_validate({**preset.model_dump(), "learning_starts": 40, **small, **changes})


GORILA_PRESETS = [name for name, preset in PRESETS.items() if preset.config.algorithm == "gorila"]
# Larger networks with settings that the literal transcription also covers.
LARGE_PRESETS = {"gorila-paper", "dqn-nature", "double-dqn", "dueling-double-dqn"}


def trained(config: GorilaConfig, steps: int) -> tuple[WorkRecord, LocalServer]:
    """Let one bundle take this number of steps. Return its record and the server."""
    torch.manual_seed(config.seed)
    server = server_for(config, gorila.build(config, *own_environment.interface(config)))
    bundle, record = Bundle(config, config.num_shards, config.seed), WorkRecord()
    bundle.work(server, 0, record, times(steps))
    bundle.actor.close()
    return record, server


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] if name in LARGE_PRESETS else []) for name in GORILA_PRESETS],
)
def test_a_preset_makes_its_first_updates(name: str) -> None:
    record, server = trained(made_small(name), steps=100)
    assert record.steps == 100
    assert server.state.updates == record.gradients >= 5


@pytest.mark.parametrize("name", GORILA_PRESETS)
@pytest.mark.nightly
def test_every_preset_learns_a_trivial_environment(name: str) -> None:
    """Learn Identity with the preset's method, with rates and intervals for seconds instead of days."""
    adagrad = PRESETS[name].config.model_dump()["optimizer"] == "adagrad"
    quick = {"learning_rate": 0.03 if adagrad else 0.003}
    seconds = {"epsilon_anneal_updates": 300, "final_epsilon": 0.02, "target_update_interval": 25, "t_max": 2}
    config = made_small(name, env="Arcadia/Identity-v0", network="auto", pull_interval=2, **seconds, **quick)
    record, _ = trained(config, steps=1500)
    assert np.mean([episode.episode_return for _, episode in record.episodes[-20:]]) >= 8


@pytest.mark.nightly
def test_gorila_learns_to_catch() -> None:
    config = GorilaConfig(**CATCH)
    record, _ = trained(config, steps=16_000)
    assert np.mean([episode.episode_return for _, episode in record.episodes[-300:]]) >= 0.5
