"""Tests for the parameter server: shards, the guard against old gradients, and updates of replicas."""

from typing import Any

import numpy as np
import pytest
import torch

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.methods.gorila.gorila import build
from arcadia_workers.trainer.methods.gorila.parameter_server import (
    ParameterShard,
    Replica,
    ShardState,
    first_statistics,
    joined,
    restored,
    slices,
    split,
)
from tests.workers.trainer.local_server import LocalServer, server_for, server_of

SIZE, UPDATES = 101, 30
RATE = 0.5
ADAGRAD: dict[str, Any] = {"env": "Arcadia/Catch-v0", "adagrad_epsilon": 0.1}
CONFIGS = {
    "adagrad": ADAGRAD,
    "rmsprop": {**ADAGRAD, "optimizer": "rmsprop", "rmsprop_decay": 0.9, "rmsprop_epsilon": 0.01},
    "centered_rmsprop": {
        **ADAGRAD,
        "optimizer": "centered_rmsprop",
        "rmsprop_decay": 0.9,
        "rmsprop_epsilon": 0.01,
    },
    "sgd": {**ADAGRAD, "optimizer": "sgd"},
}


def made_gradients() -> list[np.ndarray]:
    return list(np.random.default_rng(1).standard_normal((UPDATES, SIZE)).astype(np.float32))


def literal(optimizer: str, theta: np.ndarray, gradients: list[np.ndarray], rate: float) -> np.ndarray:
    """Apply the optimizer's rule to each number in float64."""
    theta = theta.astype(np.float64)
    statistics = np.ones(SIZE) if optimizer == "rmsprop" else np.zeros(SIZE)
    mean = np.zeros(SIZE)
    for g in gradients:
        for i in range(SIZE):
            if optimizer == "adagrad":
                statistics[i] += g[i] ** 2
                theta[i] -= rate * g[i] / (statistics[i] + 0.1) ** 0.5
            elif optimizer == "rmsprop":
                statistics[i] = 0.9 * statistics[i] + 0.1 * g[i] ** 2
                theta[i] -= rate * g[i] / (statistics[i] + 0.01) ** 0.5
            elif optimizer == "centered_rmsprop":
                mean[i] = 0.9 * mean[i] + 0.1 * g[i]
                statistics[i] = 0.9 * statistics[i] + 0.1 * g[i] ** 2
                theta[i] -= rate * g[i] / (statistics[i] - mean[i] ** 2 + 0.01) ** 0.5
            else:
                theta[i] -= rate * g[i]
    return theta


def apply(server: LocalServer, shards: int, gradients: list[np.ndarray], rate: float = 0.05) -> None:
    for g in gradients:
        server.push(g, [each.updates for each in server.ask([-1] * shards)()], rate)


@pytest.mark.parametrize("optimizer", CONFIGS)
@pytest.mark.parametrize("shards", [1, 2, 7])
def test_shards_together_equal_one_optimizer_on_the_whole_vector(optimizer: str, shards: int) -> None:
    config = GorilaConfig(**CONFIGS[optimizer], num_shards=shards)
    theta = np.random.default_rng(2).standard_normal(SIZE).astype(np.float32)
    server = server_of(config, theta)
    apply(server, shards, made_gradients())
    state = server.state
    assert state.updates == UPDATES
    np.testing.assert_allclose(state.values, literal(optimizer, theta, made_gradients(), 0.05), rtol=1e-4, atol=1e-5)


def test_shards_are_disjoint_and_cover_everything() -> None:
    for size, number in ((101, 7), (31, 31), (5, 2)):
        covered = np.zeros(size, dtype=int)
        for within in slices(size, number):
            covered[within] += 1
        assert (covered == 1).all()


@pytest.mark.parametrize("optimizer", CONFIGS)
def test_a_restored_server_continues_exactly(optimizer: str) -> None:
    config = GorilaConfig(**CONFIGS[optimizer], num_shards=3, target_update_interval=7)
    uninterrupted, first = (server_of(config, np.ones(SIZE, dtype=np.float32)) for _ in range(2))
    apply(uninterrupted, 3, made_gradients())
    apply(first, 3, made_gradients()[:17])
    other = config.model_copy(update={"num_shards": 5})  # a fork may have more shards
    second = LocalServer([ParameterShard(other, state) for state in split(first.state, 5)])
    apply(second, 5, made_gradients()[17:])
    for name in ("values", "statistics", "target"):
        assert np.array_equal(getattr(second.state, name), getattr(uninterrupted.state, name)), name
    assert second.state.updates == UPDATES


def test_gradients_older_than_the_threshold_are_discarded_and_counted() -> None:
    config = GorilaConfig(**ADAGRAD, max_staleness=3)
    server = server_of(config, np.zeros(SIZE, dtype=np.float32))
    gradient = np.ones(SIZE, dtype=np.float32)
    shard = ParameterShard(config, server.state)
    for of_updates, applied in (
        (0, True),
        (0, True),
        (2, True),
        (0, True),
        (0, False),
        (1, True),
        (1, False),
        (5, True),
    ):
        before, count = shard.state().values, shard.updates
        shard.push(gradient, of_updates, 0.1)
        assert (shard.updates == count + 1) is applied
        assert np.array_equal(shard.state().values, before) is not applied
    tally = shard.take_tally()
    assert (tally.applied, tally.discarded) == (6, 2)
    assert tally.staleness == {0: 3, 1: 1, 3: 2, 4: 2}
    assert shard.take_tally().staleness == {}


def test_theta_minus_equals_theta_after_the_last_multiple_of_n_updates() -> None:
    config = GorilaConfig(**ADAGRAD, num_shards=2, target_update_interval=4)
    server = server_of(config, np.zeros(SIZE, dtype=np.float32))
    seen = [server.state.values]
    for gradient in made_gradients()[:10]:
        apply(server, 2, [gradient])
        seen.append(server.state.values)
    assert np.array_equal(np.concatenate(server.target()), seen[8])


def test_only_callers_with_old_parameters_get_new_ones() -> None:
    server = server_of(GorilaConfig(**ADAGRAD, num_shards=2), np.zeros(SIZE, dtype=np.float32))
    assert all(each.values is not None for each in server.ask([-1, -1])())
    assert [each.values is None for each in server.ask([0, 1])()] == [True, False]


def test_a_restored_shard_continues_from_the_updates_that_others_saw() -> None:
    config = GorilaConfig(**ADAGRAD, target_update_interval=10, max_staleness=5)
    values = np.ones(3, dtype=np.float32)
    backup = ShardState(values, first_statistics(config, values), values * 0, 18)
    assert np.array_equal(restored(backup, 19, 10).target, values * 0)
    again = restored(backup, 21, 10)
    assert (again.updates, again.target.tolist()) == (21, values.tolist())
    assert restored(backup, 7, 10).updates == 18
    shard = ParameterShard(config, again)
    shard.push(values, 25, 0.1)  # gradients of parameters that were lost
    assert shard.updates == 22


def test_a_shard_shares_no_memory_with_its_initial_state() -> None:
    config = GorilaConfig(**ADAGRAD)
    values = np.zeros(SIZE, dtype=np.float32)
    state = ShardState(values, first_statistics(config, values), values, 0)
    for array in (state.values, state.statistics, state.target):
        array.flags.writeable = False  # like arrays from Ray
    shard = ParameterShard(config, state)
    shard.push(np.ones(SIZE, dtype=np.float32), 0, 0.1)
    assert not values.any()
    assert joined([shard.state()]).values.all()


class Case:
    """A replica of CartPole's network, its server of two shards, and the server's initial parameters."""

    def __init__(self) -> None:
        config = GorilaConfig(env="CartPole-v1", optimizer="sgd", num_shards=2)
        torch.manual_seed(1)
        network = build(config, *own_environment.interface(config))
        self.server: LocalServer = server_for(config, network)
        self.first = self.server.state.values
        self.replica = Replica(build(config, *own_environment.interface(config)), config.num_shards)

    def push(self) -> None:
        """Lower every parameter by RATE."""
        self.server.push(np.ones_like(self.first), self.replica.versions, RATE)

    def has(self, pushes: int) -> None:
        """Check that the replica has the server's parameters after this number of pushes."""
        assert self.replica.parameters.values.numpy() == pytest.approx(self.first - RATE * pushes, abs=1e-6)
        assert (self.replica.versions, self.replica.updates) == ([pushes, pushes], pushes)


def test_an_update_without_a_request_takes_the_servers_current_parameters() -> None:
    case = Case()
    case.push()
    case.replica.update(case.server)
    case.has(pushes=1)


def test_an_update_uses_the_requested_parameters_and_the_next_one_the_later_pushes() -> None:
    case = Case()
    case.replica.update(case.server)
    case.push()
    case.replica.ask(case.server)
    case.push()
    case.replica.update(case.server)
    case.has(pushes=1)
    case.replica.update(case.server)
    case.has(pushes=2)


def test_known_parameters_are_not_sent_again() -> None:
    case = Case()
    assert [case.replica.update(case.server) for _ in range(2)] == [case.first.nbytes, 0]
