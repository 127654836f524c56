"""Tests for PAAC: its losses against a literal transcription of algorithm 1, its determinism, and learning."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.trainer.learning.optimizers import FlatParameters, RMSProp, clip_to_norm
from arcadia_workers.trainer.methods.paac import paac
from arcadia_workers.trainer.methods.paac.framework import Rollout
from arcadia_workers.trainer.methods.paac.paac import WeightedLosses
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.gradients import SideBySide
from arcadia_workers.trainer.networks.networks import ActorCritic
from arcadia_workers.trainer.networks.outputs import Tape
from arcadia_workers.trainer.run.run import NullRun

T_MAX, N_E = 4, 3


def made_rollout(shape: tuple[int, ...], num_actions: int) -> Rollout:
    """Return a rollout in which one episode terminates, one is truncated by a time limit and one continues."""
    random = torch.Generator().manual_seed(0)
    terminated = torch.zeros(T_MAX, N_E, dtype=torch.bool)
    fresh = torch.zeros(T_MAX, N_E, dtype=torch.bool)
    terminated[1, 0] = True
    fresh[2, 0] = True
    fresh[3, 1] = True  # truncated at t = 2
    rewards = torch.randn(T_MAX, N_E, generator=random)
    rewards[fresh] = 0
    return Rollout(
        states=torch.randn(T_MAX, N_E, *shape, generator=random),
        actions=torch.randint(num_actions, (T_MAX, N_E), generator=random),
        rewards=rewards,
        terminated=terminated,
        fresh=fresh,
        last_states=torch.randn(N_E, *shape, generator=random),
        last_values=torch.randn(N_E, generator=random),
    )


def settings(config: PaacConfig) -> paac.UpdateSettings:
    return paac.UpdateSettings(config.learning_rate, config.entropy_cost, config.value_cost, config.max_grad_norm)


def literal_losses(network: ActorCritic, rollout: Rollout, config: PaacConfig) -> tuple[Tensor, Tensor, Tensor]:
    """Compute algorithm 1, lines 12–18, sample by sample. Return sums for −dθ, for dθ_v, and of the entropy."""
    policy, value, entropy = torch.zeros(()), torch.zeros(()), torch.zeros(())
    for i in range(N_E):
        R = rollout.last_values[i]  # noqa: N806, the paper's letter
        for t in reversed(range(T_MAX)):
            logits, v = network(rollout.states[t, i].unsqueeze(0))
            if rollout.fresh[t, i]:
                R = v.detach()[0]  # noqa: N806
                continue
            R = rollout.rewards[t, i] + config.gamma * (0.0 if rollout.terminated[t, i] else R)  # noqa: N806
            pi = torch.softmax(logits[0], dim=-1)
            policy = policy - (R - v.detach()[0]) * torch.log(pi[rollout.actions[t, i]])
            value = value + (R - v[0]) ** 2
            entropy = entropy - sum((p * torch.log(p) for p in pi), torch.zeros(()))
    samples = N_E * T_MAX
    return policy / samples, value / samples, entropy / samples


def found(network: ActorCritic, rollout: Rollout, config: PaacConfig) -> tuple[WeightedLosses, list[Tensor]]:
    """Return the losses and gradients that training computes, after acting like training."""
    FlatParameters(network)  # makes room for the gradients
    tape = Tape(network.body, N_E * T_MAX, SideBySide(2))
    for states in rollout.states:
        tape.act(network.prepare(states))
    losses = paac.find_gradients(network, tape, rollout, config, settings(config))
    return losses, [p.grad.clone() for p in network.parameters() if p.grad is not None]


@pytest.mark.parametrize(("env", "shape"), [("CartPole-v1", (4,)), ("ALE/Pong-v5", (4, 84, 84))])
def test_losses_and_gradients_equal_a_literal_transcription_of_algorithm_1(env: str, shape: tuple[int, ...]) -> None:
    config = PaacConfig(env=env, num_envs=N_E, t_max=T_MAX, entropy_cost=0.03, value_cost=0.7)
    torch.manual_seed(1)
    network = networks.build(config, shape, Discrete(5))
    rollout = made_rollout(shape, 5)

    losses, gradients = found(network, rollout, config)
    policy, value, entropy = literal_losses(network, rollout, config)
    expected = torch.autograd.grad(policy - 0.03 * entropy + 0.7 * value, list(network.parameters()))

    means = [*losses.metrics().values()]
    assert means == pytest.approx([policy.item(), value.item(), entropy.item()], rel=1e-4)
    for ours, theirs in zip(gradients, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def authors_update(network: ActorCritic, rollout: Rollout, entropy_cost: float, clip: float) -> list[Tensor]:
    """Return the parameters after one update like in the authors' code, which starts with a mean square of 1."""
    policy, value, entropy = literal_losses(network, rollout, PaacConfig())
    critic_loss_mean = 0.25 * value
    actor_objective_mean = policy - entropy_cost * entropy
    loss = 5 * (actor_objective_mean + critic_loss_mean)  # loss_scaling
    parameters = list(network.parameters())
    gradients = torch.autograd.grad(loss, parameters)
    norm = torch.sqrt(sum((gradient.square().sum() for gradient in gradients), torch.zeros(())))
    after = []
    for parameter, found_gradient in zip(parameters, gradients, strict=True):
        gradient = found_gradient * clip / max(norm, torch.tensor(clip))
        mean_square = 0.99 * torch.ones_like(gradient) + 0.01 * gradient**2
        after.append(parameter.detach() - 0.0224 * gradient / torch.sqrt(mean_square + 0.1))
    return after


@pytest.mark.parametrize(("kind", "entropy_cost", "clip"), [("paper", 0.01, 40.0), ("code", 0.02, 3.0)])
@pytest.mark.parametrize("rewards", [1, 100])
def test_the_papers_presets_take_the_same_step_as_the_authors_code(
    kind: str, entropy_cost: float, clip: float, rewards: int
) -> None:
    preset = PRESETS[f"paac-{kind}-nips"].config
    assert isinstance(preset, PaacConfig)
    torch.manual_seed(1)
    network = networks.build(preset, (4, 84, 84), Discrete(5))
    rollout = made_rollout((4, 84, 84), 5)
    rollout.rewards.mul_(rewards)  # large rewards exceed the limit of the gradient's norm
    expected = authors_update(network, rollout, entropy_cost, clip)

    parameters = FlatParameters(network)
    optimizer = RMSProp(parameters, preset.rmsprop_decay, preset.rmsprop_epsilon)
    tape = Tape(network.body, N_E * T_MAX, SideBySide(2))
    for states in rollout.states:
        tape.act(network.prepare(states))
    paac.find_gradients(network, tape, rollout, preset, settings(preset))
    norm = clip_to_norm(parameters.gradients, preset.max_grad_norm)
    optimizer.step(preset.initial_learning_rate)

    assert (norm > clip) == (rewards == 100)
    for ours, theirs in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(ours.detach(), theirs, rtol=1e-4, atol=1e-6)


def test_fresh_rows_do_not_affect_the_gradient() -> None:
    config = PaacConfig(env="CartPole-v1", num_envs=N_E, t_max=T_MAX)
    network = networks.build(config, (4,), Discrete(5))
    rollout = made_rollout((4,), 5)
    _, before = found(network, rollout, config)

    rollout.actions[2, 0] = (rollout.actions[2, 0] + 1) % 5
    rollout.states[2, 0] += 1  # the row after a terminal state
    _, after = found(network, rollout, config)

    for ours, theirs in zip(after, before, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(PaacConfig(env="CartPole-v1", num_envs=4, total_steps=600, learning_rate=0.01), id="vector"),
        pytest.param(
            PaacConfig(env="ALE/Pong-v5", num_envs=4, num_workers=2, total_steps=300, precision="float32"),
            id="pixels",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_seeded_run_repeats_exactly_and_another_seed_does_not(config: PaacConfig) -> None:
    def weights(seed: int) -> bytes:
        run = NullRun()
        paac.train(config.model_copy(update={"seed": seed}), run)
        return b"".join(tensor.numpy().tobytes() for tensor in run.saved[-1].tensors.values())

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)


def test_a_restored_run_continues_at_its_step_with_the_same_network_and_statistics() -> None:
    config = PaacConfig(env="CartPole-v1", num_envs=4, total_steps=400)
    first = NullRun(stop_at_step=200)
    paac.train(config, first)
    saved = first.saved[-1]
    second = NullRun(restored=saved, stop_at_step=saved.step)
    second.step = saved.step

    paac.train(config, second)  # stopped at once: saves the restored state

    assert second.saved[-1].step == saved.step
    for name, tensor in saved.tensors.items():
        assert torch.equal(second.saved[-1].tensors[name], tensor), name


def test_a_run_continues_after_another_kind_of_device_drew_the_random_numbers() -> None:
    config = PaacConfig(env="CartPole-v1", num_envs=4, total_steps=400)
    first = NullRun(stop_at_step=200)
    paac.train(config, first)
    saved = first.saved[-1]
    saved.tensors["sampler.random"] = torch.zeros(16, dtype=torch.uint8)  # the length of a GPU's state

    second = NullRun(restored=saved, step=saved.step)
    paac.train(config, second)

    assert second.saved[-1].step >= 400
    assert len(second.saved[-1].tensors["sampler.random"]) > 16


def test_steps_count_decisions_and_frames_count_emulator_frames() -> None:
    run = NullRun()
    paac.train(PaacConfig(env="ALE/Pong-v5", num_envs=2, num_workers=1, t_max=5, total_steps=20), run)
    assert (run.step, run.frames) == (20, 80)


@pytest.mark.parametrize("num_envs", [16, 64, 256])
def test_the_learning_rate_grows_with_the_number_of_environments(num_envs: int) -> None:
    run = NullRun(stop_at_step=1)
    config = PaacConfig(
        env="CartPole-v1",
        num_envs=num_envs,
        learning_rate=0.0007,
        learning_rate_scale="num_envs",
        learning_rate_decay="none",
    )
    paac.train(config, run)
    assert run.reported[0]["train/learning_rate"] == pytest.approx(0.0007 * num_envs)
    assert run.step == 5 * num_envs


def test_time_shares_of_environment_selection_and_learning_are_reported() -> None:
    run = NullRun()
    paac.train(PaacConfig(env="ALE/Pong-v5", num_envs=2, num_workers=1, total_steps=40), run)
    shares = [run.reported[-1][f"time/{activity}"] for activity in ("environment", "selection", "learning")]
    assert all(0 < share < 1 for share in shares)
    assert sum(shares) == pytest.approx(1)


@pytest.mark.nightly
def test_the_cartpole_preset_learns_within_a_third_of_its_steps() -> None:
    preset = PRESETS["paac-cartpole"].config
    assert isinstance(preset, PaacConfig)
    run = NullRun(stop_at_step=preset.total_steps // 3)
    paac.train(preset, run)
    last = [episode_return for _, _, episode_return, _ in run.episodes[-20:]]
    assert np.mean(last) >= 400


@dataclass
class UntilLearned(NullRun):
    """A run that ends once the mean return of 100 episodes reaches the goal."""

    goal: float = 0.0

    @property
    def has_learned(self) -> bool:
        """Return True if the last 100 episodes reach the goal."""
        last = [episode_return for _, _, episode_return, _ in self.episodes[-100:]]
        return len(last) == 100 and float(np.mean(last)) >= self.goal

    def should_stop(self) -> bool:
        """Return True once the run has learned or must stop."""
        return self.has_learned or super().should_stop()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("name", "goal"), [("paac-catch", 0.8), ("paac-identity", 8.0)])
@pytest.mark.nightly
def test_the_presets_of_small_worlds_learn_within_their_steps(name: str, goal: float, seed: int) -> None:
    config = PRESETS[name].config.model_copy(update={"seed": seed})
    assert isinstance(config, PaacConfig)
    run = UntilLearned(goal=goal)
    paac.train(config, run)
    assert run.has_learned
