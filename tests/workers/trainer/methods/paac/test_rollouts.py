"""Tests that rollouts have each state with its action, for both halves of the environments."""

import pytest
import torch
from torch import Tensor

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.trainer.environments.environments import AtariEnvironments
from arcadia_workers.trainer.environments.episodes import EpisodeBook
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods.paac.framework import Actors, pick
from arcadia_workers.trainer.run.run import NullRun

CPU = torch.device("cpu")


def book(num_envs: int = 4) -> EpisodeBook:
    return EpisodeBook(NullRun(), num_envs, frames_per_step=4, step=0)


def by_pixels(states: Tensor, _rows: slice = slice(0)) -> Tensor:
    """Choose actions by the state alone."""
    return states.flatten(1).long().sum(1) % 4


def idle(states: Tensor, _rows: slice) -> Tensor:
    """Choose no-op actions."""
    return torch.zeros(len(states), dtype=torch.int64)


def unprepared(observations: Tensor, out: Tensor | None = None) -> Tensor:
    return observations if out is None else out.copy_(observations)


def worth(states: Tensor, _rows: slice = slice(0)) -> Tensor:
    """Return a value that depends only on the state."""
    return states.flatten(1).sum(1, dtype=torch.float32)


@pytest.mark.nightly
def test_the_two_halves_together_see_the_same_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cores", lambda: 2)
    config = PaacConfig(env="ALE/Breakout-v5", num_envs=4, num_workers=2, t_max=6, clip_rewards=False)
    actors = Actors(config, seed=3, device=CPU)
    actors.reset(unprepared)
    rollouts = []
    for _ in range(5):
        seen = actors.rollout(by_pixels, worth, book())
        assert torch.equal(seen.last_values, worth(seen.last_states))
        rollouts.append((seen.states.clone(), seen.actions.clone(), seen.rewards.clone(), seen.last_states.clone()))
    actors.close()

    for part, seed in enumerate((6, 7)):
        columns = slice(2 * part, 2 * part + 2)
        alone = AtariEnvironments(config, 2, 1, seed)
        state = torch.from_numpy(alone.reset())
        for states, actions, rewards, last_states in rollouts:
            for t in range(config.t_max):
                assert torch.equal(states[t, columns], state)
                assert torch.equal(actions[t, columns], by_pixels(state))
                alone.send(by_pixels(state).numpy())
                step = alone.receive()
                assert rewards[t, columns].tolist() == step.rewards.tolist()
                state = torch.from_numpy(step.observations)
            assert torch.equal(last_states[columns], state)
        alone.close()


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    ("envs", "allowed", "cores"),
    [(3, 2, 2), *(pytest.param(4, *less, marks=pytest.mark.nightly) for less in ((1, 2), (2, 1)))],
)
def test_few_environments_and_a_single_worker_are_not_split(
    envs: int, allowed: int, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "cores", lambda: cores)
    config = PaacConfig(env="ALE/Pong-v5", num_envs=envs, num_workers=allowed, t_max=2)
    actors, alone = Actors(config, seed=3, device=CPU), AtariEnvironments(config, envs, 1, seed=3)
    actors.reset(unprepared)
    states = actors.rollout(idle, worth, book(envs)).states
    actors.close()
    assert torch.equal(states[0], torch.from_numpy(alone.reset()))
    alone.close()


@pytest.mark.nightly
def test_an_odd_number_of_environments_is_also_split() -> None:
    config = PaacConfig(env="ALE/Pong-v5", num_envs=5, num_workers=2, t_max=2)
    actors = Actors(config, seed=1, device=CPU)
    actors.reset(unprepared)
    reported = book(5)
    rollout = actors.rollout(idle, worth, reported)
    actors.close()
    assert rollout.states.shape == (2, 5, 4, 84, 84)
    assert (reported.step, reported.frames) == (10, 40)


@pytest.mark.nightly
def test_lost_lives_end_returns_only_if_configured() -> None:
    def ends(life_loss_ends_episode: bool) -> int:
        config = PaacConfig(
            env="ALE/Breakout-v5",
            num_envs=4,
            num_workers=2,
            max_noops=1,
            t_max=60,
            life_loss_ends_episode=life_loss_ends_episode,
        )
        actors = Actors(config, seed=1, device=torch.device("cpu"))
        actors.reset(unprepared)
        rollout = actors.rollout(idle, worth, book())
        actors.close()
        return int(rollout.terminated.sum())

    assert ends(life_loss_ends_episode=False) < ends(life_loss_ends_episode=True)


def test_continuous_actions_reach_the_environments_as_they_were_chosen() -> None:
    config = PaacConfig(num_envs=3, t_max=4, clip_rewards=False).model_copy(update={"env": "Arcadia/Target-v0"})
    actors = Actors(config, seed=1, device=CPU)
    actors.reset(lambda seen, out=None: seen if out is None else out.copy_(seen))
    rollout = actors.rollout(lambda states, _rows: states, worth, book(3))  # aims at the observed point
    actors.close()
    assert torch.equal(rollout.actions, rollout.states)
    assert rollout.rewards.tolist() == [[0.0] * 3] * 4


def test_a_policy_can_see_which_states_start_an_episode() -> None:
    config = PaacConfig(env="Arcadia/Catch-v0", num_envs=2, t_max=4)
    actors = Actors(config, seed=1, device=CPU)
    opened, tops = [], []

    def look(states: Tensor, rows: slice) -> Tensor:
        opened.append(actors.openings(rows).tolist())
        tops.append((states[:, :5].sum(1) > 0).tolist())  # the ball is in the first row
        return idle(states, rows)

    actors.reset(unprepared)
    for _ in range(3):
        actors.rollout(look, lambda states, rows: look(states, rows).float(), book(2))
    actors.close()
    opened[0] = [True, True]  # nothing precedes the first episodes
    assert opened == tops
    assert sum(map(sum, opened)) > 4
    assert len(opened) == 3 * (4 + 1)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_picked_rows_keep_their_layout(layout: torch.memory_format) -> None:
    states = torch.randn(6, 4, 5, 5).contiguous(memory_format=layout)
    rows = torch.tensor([4, 0, 5])
    picked = pick(states, rows)
    assert torch.equal(picked, states[rows])
    assert picked.is_contiguous(memory_format=layout)
    assert torch.equal(pick(states[:, 0, 0], rows), states[rows, 0, 0])
