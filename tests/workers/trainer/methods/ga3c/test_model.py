"""Tests for GA3C's model: equation 5 against a literal transcription, training batches, and the policy lag."""

import pytest
import torch
from torch import Tensor

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode
from arcadia_workers.trainer.learning.returns import Losses
from arcadia_workers.trainer.methods.ga3c.experiences import Experiences, Submission
from arcadia_workers.trainer.methods.ga3c.model import Model, TrainingBatch, guarded_losses, padded
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.networks import ActorCritic

ACTIONS, BATCH = 5, 6


def made_config(**fields: object) -> Ga3cConfig:
    return Ga3cConfig.model_validate(
        {"env": "CartPole-v1", "entropy_cost": 0.03, "value_cost": 0.7, "t_max": 3, "learning_rate": 0.1, **fields}
    )


def made_network(config: Ga3cConfig) -> ActorCritic:
    torch.manual_seed(1)
    return networks.build(config, (4,), Discrete(ACTIONS))


def made_experiences(config: Ga3cConfig) -> Experiences:
    """Return the experiences of two agents, all with the first version."""
    random = torch.Generator().manual_seed(0)
    experiences = Experiences.allocate(config, 2, (4,), ACTIONS)
    rows = len(experiences.states)
    experiences.states[:] = torch.randn(rows, 4, generator=random)
    experiences.actions[:] = torch.randint(ACTIONS, (rows,), generator=random)
    experiences.returns[:] = torch.randn(rows, generator=random)
    experiences.versions[:] = 0
    return experiences


def losses_of(network: ActorCritic, states: Tensor, actions: Tensor, returns: Tensor, config: Ga3cConfig) -> Losses:
    logits, values = network(states)
    return guarded_losses(logits, values, actions, returns, config, config.entropy_cost, config.value_cost)


def literal_loss(network: ActorCritic, states: Tensor, actions: Tensor, returns: Tensor, config: Ga3cConfig) -> Tensor:
    """Return the sum of the losses of equations 5 and 2, computed separately for each experience."""
    epsilon, total = config.log_epsilon, torch.zeros(())
    for s, a, R in zip(states, actions, returns, strict=True):  # noqa: N806, the paper's letter
        logits, value = network(s.unsqueeze(0))
        pi = torch.exp(logits[0]) / torch.exp(logits[0]).sum()
        entropy = torch.zeros(())
        for p in pi:
            entropy = entropy - (p + epsilon) * torch.log(p + epsilon)
        ascent = torch.log(pi[a] + epsilon) * (R - value.detach()[0]) + config.entropy_cost * entropy
        total = total - ascent + config.value_cost * (R - value[0]) ** 2
    return total


def test_the_loss_and_its_gradients_equal_a_literal_transcription_of_equation_5() -> None:
    for epsilon in (1e-6, 0.2):
        config = made_config(log_epsilon=epsilon)
        network, table = made_network(config), made_experiences(config)
        states, actions, returns = table.states[:BATCH], table.actions[:BATCH], table.returns[:BATCH]

        loss = losses_of(network, states, actions, returns, config).total
        expected = literal_loss(network, states, actions, returns, config)

        torch.testing.assert_close(loss, expected)
        parameters = list(network.parameters())
        for ours, theirs in zip(
            torch.autograd.grad(loss, parameters), torch.autograd.grad(expected, parameters), strict=True
        ):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_gradients_stay_finite_if_an_action_becomes_impossible() -> None:
    config = made_config()
    network = made_network(config)
    with torch.no_grad():
        network.policy.bias.copy_(torch.tensor([0.0, -500, -500, -500, -500]))
    states, actions, returns = torch.randn(3, 4), torch.tensor([1, 2, 3]), torch.ones(3)

    losses = losses_of(network, states, actions, returns, config)
    gradients = torch.autograd.grad(losses.total, list(network.parameters()))

    assert torch.isfinite(losses.total)
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_a_prediction_is_written_to_its_states_row_with_the_networks_version() -> None:
    config = made_config()
    network, table = made_network(config), made_experiences(config)
    model = Model(config, network, torch.device("cpu"))
    model.updates = 7
    table.predictions[:] = -1

    model.predict(table, [5, 2])

    logits, values = network(table.states[[5, 2]])
    torch.testing.assert_close(table.predictions[[5, 2], :-1], torch.softmax(logits, -1).detach())
    torch.testing.assert_close(table.predictions[[5, 2], -1], values.detach())
    assert table.versions[[5, 2]].tolist() == [7, 7]
    assert (table.predictions[[0, 1, 3, 4]] == -1).all()
    tally = model.take_tally()
    assert (tally.predictions, tally.prediction_batches) == (2, 1)


def test_rows_are_padded_to_a_power_of_two() -> None:
    assert [len(padded(list(range(count)))) for count in (1, 2, 3, 4, 5, 8, 9, 17)] == [1, 2, 4, 4, 8, 8, 16, 32]
    assert padded([7, 2, 5]) == [7, 2, 5, 5]


def test_a_batch_is_full_at_the_minimum_size_and_keeps_copies() -> None:
    config = made_config(min_training_batch=4)
    table = made_experiences(config)
    before = table.states.clone()
    batch = TrainingBatch(table, config)
    batch.add(Submission(0, 3, 0, 0.0))
    assert not batch.is_full
    batch.add(Submission(6, 0, 0, 0.0))  # an agent that left before its first step
    assert not batch.is_full
    batch.add(Submission(9, 2, 12, 3.5))
    assert batch.is_full
    table.states.zero_()  # the agents overwrite their rows

    assert torch.equal(batch.states, before[[0, 1, 2, 9, 10]])
    assert torch.equal(batch.actions, table.actions[[0, 1, 2, 9, 10]])
    assert torch.equal(batch.returns, table.returns[[0, 1, 2, 9, 10]])
    assert batch.episodes == [FinishedEpisode(3.5, 12)]
    batch.clear()
    assert (batch.size, batch.episodes) == (0, [])


def after_an_update_of_shifted_states(shift: float, centered: bool) -> Tensor:
    """Return a network's outputs after an update with shifted states and biases that offset the shift."""
    config = made_config(centered_inputs=centered, learning_rate=0.01, rmsprop_epsilon=1e-6)
    network, table = made_network(config), made_experiences(config)
    table.states[:] += shift
    model = Model(config, network, torch.device("cpu"))
    named = model.parameters.named()
    named["body.layers.0.bias"] -= shift * named["body.layers.0.weight"].sum(1)
    batch = TrainingBatch(table, config)
    batch.add(Submission(0, 3, 0, 0.0))
    model.train(batch)
    logits, values = network(torch.randn(8, 4, generator=torch.Generator().manual_seed(3)) + shift)
    return torch.cat((logits, values.unsqueeze(1)), 1).detach()


@pytest.mark.parametrize("centered", [True, False])
def test_with_centered_inputs_a_constant_shift_of_states_changes_no_update(centered: bool) -> None:
    plain, shifted = (after_an_update_of_shifted_states(shift, centered) for shift in (0.0, 3.0))
    assert torch.allclose(plain, shifted, rtol=1e-2, atol=1e-3) == centered


def test_single_experiences_change_the_weights_with_centered_inputs() -> None:
    config = made_config(centered_inputs=True, learning_rate=0.01)
    network, table = made_network(config), made_experiences(config)
    model = Model(config, network, torch.device("cpu"))
    batch, weight = TrainingBatch(table, config), model.parameters.named()["body.layers.0.weight"]
    moved = []
    for row in range(2):
        before = weight.clone()
        batch.add(Submission(row, 1, 0, 0.0))
        model.train(batch)
        batch.clear()
        moved.append((weight - before).abs().max().item())
    # A single first state gives no centered input. The second state differs from the running mean.
    assert moved[0] < 1e-5 < moved[1]


def test_the_policy_lag_is_the_mean_number_of_updates_since_acting() -> None:
    config = made_config()
    table = made_experiences(config)
    model = Model(config, made_network(config), torch.device("cpu"))
    batch = TrainingBatch(table, config)
    lags = []
    for _ in range(3):
        model.predict(table, [0, 1, 2])
        for rows in (Submission(0, 3, 0, 0.0), Submission(3, 3, 0, 0.0)):  # the second was predicted first
            batch.add(rows)
            model.train(batch)
            batch.clear()
            tally = model.take_tally()
            lags.append(tally.lag / tally.experiences)
    assert lags == [0, 1, 0, 3, 0, 5]


def test_an_update_counts_its_steps_and_its_episodes_and_stops_at_the_last_step() -> None:
    config = made_config(total_steps=5)
    table = made_experiences(config)
    model = Model(config, made_network(config), torch.device("cpu"))
    batch = TrainingBatch(table, config)
    batch.add(Submission(0, 3, 10, -1.0))
    for _ in range(4):
        model.train(batch)
    assert (model.step, model.updates) == (6, 2)
    assert model.take_episodes() == [(3, FinishedEpisode(-1.0, 10)), (6, FinishedEpisode(-1.0, 10))]
    assert model.take_episodes() == []
    last = model.take_tally().last
    assert last is not None
    assert last.learning_rate == 0.1 * (1 - 3 / 5)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_an_update_of_a_network_of_pixels_follows_the_gradients_of_equation_5(precision: torch.dtype) -> None:
    config = made_config(env="ALE/Pong-v5", min_training_batch=6, learning_rate_decay="none", max_grad_norm=1e6)
    torch.manual_seed(1)
    network = networks.build(config, (4, 84, 84), Discrete(ACTIONS), precision)
    table = Experiences.allocate(config, 2, (4, 84, 84), ACTIONS)
    table.states[:] = torch.randint(256, table.states.shape, dtype=torch.uint8)
    table.actions[:] = torch.randint(ACTIONS, table.actions.shape)
    table.returns[:] = torch.randn(table.returns.shape)
    table.versions[:] = 0
    model = Model(config, network, torch.device("cpu"))
    batch = TrainingBatch(table, config)
    for first_row in (3, 9):
        batch.add(Submission(first_row, 3, 0, 0.0))
    parameters = model.parameters
    parameters.backward(losses_of(network, batch.states, batch.actions, batch.returns, config).total)
    expected, before = parameters.gradients.clone(), parameters.values.clone()

    model.train(batch)

    mean_square = config.rmsprop_decay + (1 - config.rmsprop_decay) * expected**2
    step = -config.learning_rate * expected / (mean_square + config.rmsprop_epsilon).sqrt()
    difference = (parameters.values - before - step).norm() / step.norm()
    assert difference < (1e-4 if precision is torch.float32 else 0.05)


def test_batches_of_pixels_may_have_one_experience() -> None:
    config = made_config(env="ALE/Pong-v5", min_training_batch=0, t_max=5)
    network = networks.build(config, (4, 84, 84), Discrete(ACTIONS), torch.float32)
    table = Experiences.allocate(config, 1, (4, 84, 84), ACTIONS)
    table.states[:] = torch.randint(256, table.states.shape, dtype=torch.uint8)
    table.actions[:], table.returns[:], table.versions[:] = 0, 1.0, 0
    model = Model(config, network, torch.device("cpu"))
    batch = TrainingBatch(table, config)
    for length in (5, 1, 3) * 90:
        batch.add(Submission(0, length, 0, 0.0))
        model.train(batch)
        batch.clear()
    assert (model.step, model.updates) == (810, 270)
    assert "network/value_spread" in model.network_metrics()


def test_an_update_lowers_the_loss() -> None:
    config = made_config(learning_rate=0.001, max_grad_norm=1e6)
    table = made_experiences(config)
    network = made_network(config)
    model = Model(config, network, torch.device("cpu"))
    batch = TrainingBatch(table, config)
    batch.add(Submission(0, 3, 0, 0.0))

    def loss() -> float:
        return losses_of(network, batch.states, batch.actions, batch.returns, config).total.item()

    before = loss()
    model.train(batch)
    assert loss() < before
