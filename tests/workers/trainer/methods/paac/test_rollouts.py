"""Rollouts: states stand beside their actions, whichever half of the environments they came from."""

import pytest
import torch
from torch import Tensor

from workers.contract.config import PaacConfig
from workers.trainer.environments.environments import AtariEnvironments
from workers.trainer.environments.episodes import EpisodeBook
from workers.trainer.host import devices
from workers.trainer.methods.paac.rollouts import Actors
from workers.trainer.run.run import NullRun

CPU = torch.device("cpu")


def book(num_envs: int = 4) -> EpisodeBook:
    return EpisodeBook(NullRun(), num_envs, frames_per_step=4, step=0)


def by_pixels(states: Tensor, _rows: slice = slice(0)) -> Tensor:
    """A policy that depends only on the state."""
    return states.flatten(1).long().sum(1) % 4


def idle(states: Tensor, _rows: slice) -> Tensor:
    """A policy that does nothing."""
    return torch.zeros(len(states), dtype=torch.int64)


def unprepared(observations: Tensor, out: Tensor | None = None) -> Tensor:
    return observations if out is None else out.copy_(observations)


def worth(states: Tensor) -> Tensor:
    """A value that depends only on the state."""
    return states.flatten(1).sum(1, dtype=torch.float32)


def test_two_halves_together_see_what_each_would_see_alone(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_odd_number_of_environments_is_split_too() -> None:
    config = PaacConfig(env="ALE/Pong-v5", num_envs=5, num_workers=2, t_max=2)
    actors = Actors(config, seed=1, device=CPU)
    actors.reset(unprepared)
    reported = book(5)
    rollout = actors.rollout(idle, worth, reported)
    actors.close()
    assert rollout.states.shape == (2, 5, 4, 84, 84)
    assert (reported.step, reported.frames) == (10, 40)


def test_lost_lives_end_returns_only_when_the_configuration_says_so() -> None:
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
