"""Tests for n-step Q in PAAC's framework: a literal transcription, the target network, and learning."""

import numpy as np
import pytest
import torch
from torch import Tensor

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import PaacQConfig
from arcadia_workers.trainer.methods.paac import paac_q
from arcadia_workers.trainer.methods.paac.framework import Rollout
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.networks import ActionValues
from arcadia_workers.trainer.run.run import NullRun, TrainingState

T_MAX, N_E, ACTIONS = 4, 4, 3
CONFIG = PaacQConfig(env="CartPole-v1", num_envs=N_E, t_max=T_MAX, gamma=0.9)


def made_rollout(target: ActionValues) -> Rollout:
    """Return a rollout: one episode terminates, one is truncated, one loses a life, and one continues."""
    random = torch.Generator().manual_seed(0)
    terminated = torch.zeros(T_MAX, N_E, dtype=torch.bool)
    fresh = torch.zeros(T_MAX, N_E, dtype=torch.bool)
    terminated[1, 0] = True
    fresh[2, 0] = True
    fresh[3, 1] = True  # truncated at t = 2
    terminated[2, 2] = True  # a lost life
    rewards = torch.randn(T_MAX, N_E, generator=random)
    rewards[fresh] = 0
    last_states = torch.randn(N_E, 4, generator=random)
    return Rollout(
        states=torch.randn(T_MAX, N_E, 4, generator=random),
        actions=torch.randint(ACTIONS, (T_MAX, N_E), generator=random),
        rewards=rewards,
        terminated=terminated,
        fresh=fresh,
        last_states=last_states,
        last_values=paac_q.highest_value(target, last_states),
    )


def made_networks() -> tuple[ActionValues, ActionValues]:
    """Return networks with θ and a different θ⁻."""
    torch.manual_seed(1)
    network = networks.build_action_values(CONFIG, (4,), Discrete(ACTIONS))
    target = networks.build_action_values(CONFIG, (4,), Discrete(ACTIONS))
    return network, target


def q_loss(network: ActionValues, target: ActionValues, rollout: Rollout) -> paac_q.QLoss:
    """Return the loss that training computes."""
    return paac_q.q_loss(network(rollout.states.flatten(0, 1)), target, rollout, CONFIG.gamma)


def literal_loss(network: ActionValues, target: ActionValues, rollout: Rollout, gamma: float) -> Tensor:
    """Compute algorithm S1 for each environment: R backward from max_a Q(s, a; θ⁻), sample by sample."""
    loss = torch.zeros(())
    for i in range(N_E):
        R = target(rollout.last_states[i : i + 1]).detach().max()  # noqa: N806, the paper's letter
        for t in reversed(range(T_MAX)):
            state = rollout.states[t, i : i + 1]
            if rollout.fresh[t, i]:
                R = target(state).detach().max()  # noqa: N806
                continue
            R = rollout.rewards[t, i] + gamma * (0.0 if rollout.terminated[t, i] else R)  # noqa: N806
            loss = loss + (R - network(state)[0, rollout.actions[t, i]]) ** 2
    return loss / (N_E * T_MAX)


def test_loss_and_gradients_equal_a_literal_transcription_of_algorithm_s1() -> None:
    network, target = made_networks()
    rollout = made_rollout(target)

    loss = q_loss(network, target, rollout)
    gradients = torch.autograd.grad(loss.value, list(network.parameters()))
    literal = literal_loss(network, target, rollout, CONFIG.gamma)
    expected = torch.autograd.grad(literal, list(network.parameters()))

    torch.testing.assert_close(loss.value, literal)
    for ours, theirs in zip(gradients, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_a_fresh_rows_state_changes_gradients_after_a_time_limit_but_not_after_a_terminal_state() -> None:
    network, target = made_networks()

    def gradients(t: int, column: int) -> list[Tensor]:
        rollout = made_rollout(target)
        rollout.states[t, column] += 1
        rollout.actions[t, column] = 0
        loss = q_loss(network, target, rollout)
        return [gradient.clone() for gradient in torch.autograd.grad(loss.value, list(network.parameters()))]

    loss = q_loss(network, target, made_rollout(target))
    untouched = torch.autograd.grad(loss.value, list(network.parameters()))
    for ours, theirs in zip(gradients(2, 0), untouched, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert not torch.equal(gradients(3, 1)[0], untouched[0])


class SavesEveryUpdate(NullRun):
    """A run that saves a checkpoint after every update."""

    def checkpoint_due(self) -> bool:
        return True


def test_the_target_network_copies_the_weights_at_its_interval_of_frames() -> None:
    run = SavesEveryUpdate()
    config = PaacQConfig(
        env="CartPole-v1", num_envs=4, t_max=5, total_steps=400, target_update_frames=50, learning_rate=0.01
    )
    paac_q.train(config, run)

    def weights(state: TrainingState, network: str) -> list[Tensor]:
        return [tensor for name, tensor in sorted(state.tensors.items()) if name.startswith(network)]

    switches = 0
    for before, after in zip(run.saved, run.saved[1:-1], strict=False):
        if due := after.frames // 50 > before.frames // 50:
            assert all(map(torch.equal, weights(after, "target."), weights(after, "network.")))
        else:
            assert all(map(torch.equal, weights(after, "target."), weights(before, "target.")))
            assert not all(map(torch.equal, weights(after, "target."), weights(after, "network.")))
        switches += due
    assert switches == run.frames // 50


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(
            PaacQConfig(env="CartPole-v1", num_envs=4, total_steps=600, epsilon_anneal_frames=400, learning_rate=0.01),
            id="vector",
        ),
        pytest.param(
            PaacQConfig(env="ALE/Pong-v5", num_envs=4, num_workers=2, total_steps=300, precision="float32"),
            id="pixels",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_seeded_run_repeats_exactly_and_another_seed_does_not(config: PaacQConfig) -> None:
    def weights(seed: int) -> bytes:
        run = NullRun()
        paac_q.train(config.model_copy(update={"seed": seed}), run)
        return b"".join(tensor.numpy().tobytes() for tensor in run.saved[-1].tensors.values())

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)


def test_a_restored_run_continues_with_the_same_step_weights_statistics_and_target() -> None:
    config = PaacQConfig(env="CartPole-v1", num_envs=4, total_steps=400, target_update_frames=90, learning_rate=0.01)
    first = NullRun(stop_at_step=200)
    paac_q.train(config, first)
    saved = first.saved[-1]
    second = NullRun(restored=saved, stop_at_step=saved.step, step=saved.step)

    paac_q.train(config, second)  # stopped at once: saves the restored state

    assert second.saved[-1].step == saved.step
    assert saved.tensors.keys() == second.saved[-1].tensors.keys()
    for name, tensor in saved.tensors.items():
        assert torch.equal(second.saved[-1].tensors[name], tensor), name


def test_a_run_continues_after_another_kind_of_device_drew_the_random_numbers() -> None:
    config = PaacQConfig(env="CartPole-v1", num_envs=4, total_steps=400)
    first = NullRun(stop_at_step=200)
    paac_q.train(config, first)
    saved = first.saved[-1]
    saved.tensors["explore.random"] = torch.zeros(16, dtype=torch.uint8)  # the length of a GPU's state

    second = NullRun(restored=saved, step=saved.step)
    paac_q.train(config, second)

    assert second.saved[-1].step >= 400
    assert len(second.saved[-1].tensors["explore.random"]) > 16


def test_the_learning_rate_can_grow_with_the_number_of_environments() -> None:
    run = NullRun()
    config = PaacQConfig(
        env="CartPole-v1", num_envs=4, total_steps=20, learning_rate=0.5, learning_rate_decay="none"
    ).model_copy(update={"learning_rate_scale": "num_envs"})
    paac_q.train(config, run)
    assert run.reported[-1]["train/learning_rate"] == 2.0


@pytest.mark.nightly
def test_n_step_q_learns_catch() -> None:
    config = PaacQConfig(
        env="Arcadia/Catch-v0",
        num_envs=16,
        total_steps=100_000,
        learning_rate=0.02,
        rmsprop_epsilon=1e-5,
        max_grad_norm=1.0,
        final_epsilons=(0.05, 0.01),
        final_epsilon_probabilities=(0.5, 0.5),
        epsilon_anneal_frames=15_000,
        target_update_frames=500,
    )
    run = NullRun()
    paac_q.train(config, run)
    last = [episode_return for _, _, episode_return, _ in run.episodes[-1000:]]
    assert np.mean(last) >= 0.8
