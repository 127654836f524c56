"""Tests that centered updates equal those of layers that read x − c, and that they prevent dead filters."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.trainer.learning.optimizers import STATES_OF_A_MEAN, Centering, FlatParameters, RMSProp
from arcadia_workers.trainer.methods.paac import paac
from arcadia_workers.trainer.methods.paac.framework import Rollout
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.networks import ActorCritic, measured
from arcadia_workers.trainer.networks.outputs import Tape
from arcadia_workers.trainer.run.run import NullRun

BACKGROUND, RATE = 87, 0.001


class LiterallyCentered(nn.Module):
    """The convolutions and the hidden layer of arch_nips, with W and b′ = b + Wc. Each layer reads x − c."""

    def __init__(self, network: ActorCritic, means: list[Tensor]) -> None:
        super().__init__()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        self.means = [mean.view(1, -1, 1, 1) if i < 2 else mean for i, mean in enumerate(means)]
        body = dict(network.body.named_parameters())
        for name, mean in zip(("convolutions.0", "convolutions.1", "hidden"), self.means, strict=True):
            weight = body[f"{name}.weight"].detach().clone()
            shift = (weight * mean).flatten(1).sum(1)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(body[f"{name}.bias"].detach() + shift))

    def forward(self, pixels: Tensor) -> Tensor:
        x: Tensor = pixels / 255
        for i, stride in enumerate((4, 2)):
            x = F.relu(F.conv2d(x - self.means[i], self.weights[i], self.biases[i], stride))
        return F.relu(F.linear(x.flatten(1) - self.means[2], self.weights[2], self.biases[2]))


def literal_step(parameters: nn.Module, loss: Tensor, learning_rate: float, epsilon: float) -> None:
    """Take RMSProp's first step, with g = 0.99 · 1 + 0.01 · Δθ²."""
    gradients = torch.autograd.grad(loss, list(parameters.parameters()))
    with torch.no_grad():
        for parameter, gradient in zip(parameters.parameters(), gradients, strict=True):
            parameter.sub_(learning_rate * gradient / (0.99 + 0.01 * gradient.square() + epsilon).sqrt())


def test_an_update_equals_that_of_layers_with_centered_inputs() -> None:
    torch.manual_seed(0)
    network = networks.build(PaacConfig(), (4, 84, 84), Discrete(3))
    pixels = torch.randint(256, (6, 4, 84, 84)).float()
    direction = torch.randn(256)
    parameters = FlatParameters(network)
    tape = Tape(network.body, 6)
    tape.act(pixels)
    means = tape.input_means(pixels)
    literal = LiterallyCentered(network, means)
    torch.testing.assert_close(literal(pixels), tape.recall(), rtol=1e-4, atol=1e-5)

    literal_step(literal, (literal(pixels) @ direction).sum(), learning_rate=0.01, epsilon=1e-3)
    tape.backward(pixels, direction.expand(6, -1))
    correct = Centering(network.body, parameters).center(means)
    RMSProp(parameters, decay=0.99, epsilon=1e-3).step(0.01, correct)

    torch.testing.assert_close(network.body(pixels), literal(pixels), rtol=1e-3, atol=1e-4)


def test_a_run_with_centered_inputs_learns_from_vectors_and_repeats_exactly() -> None:
    def weights(centered: bool) -> bytes:
        run = NullRun()
        config = PaacConfig(env="CartPole-v1", num_envs=4, total_steps=600, centered_inputs=centered)
        paac.train(config, run)
        return b"".join(tensor.numpy().tobytes() for tensor in run.saved[-1].tensors.values())

    assert weights(centered=True) == weights(centered=True)
    assert weights(centered=True) != weights(centered=False)


def test_concurrent_writes_are_not_mistaken_for_the_optimizers_step() -> None:
    torch.manual_seed(0)
    network = networks.build(PaacConfig(), (4, 84, 84), Discrete(3))
    pixels = torch.randint(256, (6, 4, 84, 84)).float()
    parameters, tape = FlatParameters(network), Tape(network.body, 6)
    tape.act(pixels)
    theirs = torch.randn_like(parameters.values) / 100

    def after_a_step(interrupted: bool) -> Tensor:
        values = parameters.values.clone()
        parameters.gradients.copy_(torch.linspace(-1, 1, len(values)))
        correct = Centering(network.body, parameters).center(tape.input_means(pixels))

        def interrupt(step: Tensor) -> None:
            parameters.values.add_(theirs)
            correct(step)

        RMSProp(parameters, decay=0.99, epsilon=1e-3).step(0.01, interrupt if interrupted else correct)
        found = parameters.values.clone()
        parameters.values.copy_(values)
        return found

    torch.testing.assert_close(after_a_step(interrupted=True), after_a_step(interrupted=False) + theirs)


def noisy_rollout(random: torch.Generator, steps: int, environments: int) -> Rollout:
    """Return screens with background and one moving block, and returns that do not depend on the state."""
    shape = (steps, environments)
    states = torch.full((*shape, 4, 84, 84), float(BACKGROUND))
    for state in states.flatten(0, 1):
        x, y = (int(i) for i in torch.randint(80, (2,), generator=random))
        state[:, y : y + 4, x : x + 4] = 236.0
    none = torch.zeros(shape, dtype=torch.bool)
    return Rollout(
        states=states,
        actions=torch.randint(3, shape, generator=random),
        rewards=torch.randint(-1, 2, (1, 1), generator=random).expand(shape).float(),
        terminated=~none,
        fresh=none,
        last_states=states[-1],
        last_values=torch.zeros(environments),
    )


def dead_filters(centered: bool, updates: int = 20) -> float:
    """Return the share of dead filters in the first layer after some updates with scale-free steps."""
    config = PaacConfig(num_envs=4, t_max=2, value_cost=0.25)
    torch.manual_seed(1)
    network = networks.build(config, (4, 84, 84), Discrete(3))
    parameters = FlatParameters(network)
    optimizer = RMSProp(parameters, 0.99, 1e-10, mean_square=torch.full_like(parameters.values, 1e-10))
    centering, tape = Centering(network.body, parameters), Tape(network.body, 8)
    random = torch.Generator().manual_seed(2)
    for _ in range(updates):
        tape.rewind()
        rollout = noisy_rollout(random, 2, 4)
        for states in rollout.states:
            tape.act(states)
        settings = paac.UpdateSettings(
            config.learning_rate, config.entropy_cost, config.value_cost, config.max_grad_norm
        )
        paac.find_gradients(network, tape, rollout, config, settings)
        correct = centering.center(tape.input_means(rollout.states.flatten(0, 1))) if centered else None
        optimizer.step(RATE, correct)
    last = torch.cat([noisy_rollout(random, 2, 4).states.flatten(0, 1) for _ in range(8)])
    return measured(network, last)["network/dead_convolution_1"]


def test_shared_background_kills_filters_unless_updates_are_centered() -> None:
    assert dead_filters(centered=False) > 0.8
    assert dead_filters(centered=True) < 0.5


def parted(states: int) -> float:
    """Return how far the features of two places move apart.

    Alternate rollouts push one place down and the other up. Each rollout counts as `states` states.
    """
    torch.manual_seed(0)
    network = networks.build(PaacConfig(env="CartPole-v1"), (4,), Discrete(2))
    parameters, tape = FlatParameters(network), Tape(network.body, 3)
    centering = Centering(network.body, parameters)
    places = torch.tensor([[0.5, 1.0, 0.5, 1.0], [1.0, 0.5, 1.0, 0.5]])
    before = network.body(places).detach()
    for place, down in [(places[:1], 1.0), (places[1:], -1.0)] * 10:
        tape.rewind()
        for _ in range(3):
            tape.act(place)
        seen = place.repeat(3, 1)
        tape.backward(seen, torch.full_like(tape.recall(), down))
        correct = centering.center(tape.input_means(seen), states)
        step = parameters.gradients.clone()
        correct(step)
        parameters.values.sub_(0.01 * step)
        parameters.changed()
    below, above = network.body(places).detach() - before
    return float((above - below).mean())


def test_features_shared_within_one_rollout_are_learned_if_the_mean_covers_several() -> None:
    assert parted(STATES_OF_A_MEAN) == pytest.approx(0, abs=0.01)
    assert parted(states=20) > 0.1
