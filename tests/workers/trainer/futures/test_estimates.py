"""Tests that means of futures are unbiased and their intervals cover the exact value at the stated rate."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from arcadia_workers.contract.action_names import ActionSpace, Discrete
from arcadia_workers.contract.config import PaacConfig, RunConfig
from arcadia_workers.contract.futures import Until
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.protocols.starts import HeldAction
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.environments.worlds.puzzles import COLUMNS, ROWS
from arcadia_workers.trainer.futures.simulating import Moment, Plan, draws, estimate, future, moments, simulate
from arcadia_workers.trainer.games.games import NO_LIVES, Watch
from arcadia_workers.trainer.games.subjects import Subject
from arcadia_workers.trainer.methods.trainer import Action, NetworkOutput, OutputKind
from arcadia_workers.trainer.networks.agents import Memory
from tests.workers.trainer.evaluation import made_checkpoint

CATCH = PaacConfig(env="Arcadia/Catch-v0", gamma=0.9)
TRIALS = [pytest.param(1000, 0.93, 0.97, marks=pytest.mark.nightly), (50, 0.86, 1.0)]


def coverage(
    subject: Subject, config: RunConfig, moment: Moment, plan: Plan, solved: float, trials: int
) -> tuple[float, float]:
    """Return how often the interval covers the value, and the mean of all futures."""
    covered, means = 0, []
    for trial in range(trials):
        branches = simulate(subject, moment, draws(trial, 0, 0, range(64)), plan)
        found = estimate([future(branch, config).discounted_return for branch in branches])
        assert found.interval
        assert found.mean is not None
        covered += found.interval[0] <= solved <= found.interval[1]
        means.append(found.mean)
    return covered / trials, float(np.mean(means))


# Catch with the network of a checkpoint


def board(row: int, ball: int, paddle: int) -> torch.Tensor:
    """Return an observation of Catch."""
    seen = torch.zeros(1, ROWS * COLUMNS)
    seen[0, (ROWS - 1) * COLUMNS + paddle] = 1
    seen[0, row * COLUMNS + ball] = 1
    return seen


def solved(subject: Subject, gamma: float, row: int, ball: int, paddle: int) -> float:
    """Return the exact value of a state of Catch under the network's policy from all continuations."""
    policy = torch.softmax(subject.network.predict(board(row, ball, paddle), ())[0].numbers[0], dim=-1).tolist()
    value = 0.0
    for action, probability in enumerate(policy):
        moved = min(max(paddle + action - 1, 0), COLUMNS - 1)
        if row + 1 == ROWS - 1:
            value += probability * (1.0 if moved == ball else -1.0)
        else:
            value += probability * gamma * solved(subject, gamma, row + 1, ball, moved)
    return value


@pytest.mark.parametrize(("trials", "least", "most"), TRIALS)
def test_intervals_cover_the_exact_value_of_catch(trials: int, least: float, most: float, tmp_path: Path) -> None:
    subject = made_checkpoint.subject(tmp_path, CATCH, PROTOCOLS["episodes"], SAMPLED)
    moment = next(moments(subject, PROTOCOLS["episodes"], 1, 0))
    ball = int(np.asarray(moment.game.observation)[:COLUMNS].argmax())
    value = solved(subject, CATCH.gamma, 0, ball, COLUMNS // 2)
    share, mean = coverage(subject, CATCH, moment, Plan(horizon=10), value, trials)
    assert least <= share <= most
    assert mean == pytest.approx(value, abs=4 * CATCH.gamma**4 / (64 * trials) ** 0.5)


# A chain: action 1 gives reward 1, action 0 costs a life, and the game continues with probability 0.8


CONTINUES, POLICY = 0.8, 0.7


class Chain:
    """A game without states. If lost lives do not end the return, its exact value is V = π(1)·1 + 0.8·γ·V."""

    observation_shape: tuple[int, ...] = (1,)
    actions: ActionSpace = Discrete(2)
    action_names: tuple[str, ...] = ("lose", "earn")
    frames_per_step: int = 1
    pictures_per_second: int = 1
    scale: int = 1
    cut_off: bool = False
    emulator: str = "chain"
    emulator_number: int = 0
    can_rest: bool = False
    trail: Sequence[HeldAction] = ()
    lives: int

    def __init__(self, seed: int) -> None:
        self.observation: Observations = np.zeros(1, dtype=np.float32)
        self.begin(seed)

    def show(self, watch: Watch) -> None:
        watch(np.zeros((1, 1, 3), dtype=np.uint8))

    def begin(self, seed: int) -> None:
        self.seed, self._random = seed, np.random.default_rng(seed)
        self.score, self.frames, self.over, self.lives = 0.0, 0, False, 3

    def begin_another(self) -> None:
        self.begin(self.seed + 1)

    def step(self, action: Action) -> None:
        self.score += float(action)
        self.lives -= int(action == 0)
        self.frames += 1
        self.over = bool(self._random.random() >= CONTINUES)

    def play(self, choose: Callable[[], str]) -> None:
        self.step(self.action_names.index(choose()))

    def hold(self, actions: Iterable[HeldAction]) -> None:
        for action, _frames in actions:
            self.step(action)

    def decisions(self, trail: Iterable[HeldAction]) -> list[int]:
        return [action for action, _ in trail]

    def name_of(self, action: Action) -> str:
        return self.action_names[int(action)]

    def branch(self, seeds: Sequence[int]) -> "list[Chain]":
        return [Chain(seed) for seed in seeds]

    def filmed_branch(self, seed: int) -> "Chain":
        return Chain(seed)

    def fingerprint(self) -> None:
        return None

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Critic:
    """A network with the policy (0.3, 0.7) and a given value."""

    value: float
    output_kind: OutputKind = "policy"

    def initial_memory(self, episodes: int) -> Memory:  # noqa: ARG002
        return ()

    def predict(self, observations: torch.Tensor, memory: Memory) -> tuple[NetworkOutput, Memory]:
        numbers = torch.tensor([1 - POLICY, POLICY]).log().repeat(len(observations), 1)
        return NetworkOutput(numbers, torch.full((len(observations),), self.value)), memory


def chain(config: RunConfig, horizon: int, trials: int) -> tuple[float, float, float]:
    """Return the exact value of the chain, the coverage of the intervals and the mean of the futures."""
    # If a lost life ends the return, only the earning action continues.
    continues = CONTINUES * (POLICY if config.life_loss_ends_episode else 1.0)
    value = POLICY / (1 - continues * config.gamma)
    subject = Subject("CartPole-v1", Critic(value), SAMPLED, lambda: Chain(0), (1,), np.float32, 1)
    moment = Moment(0, Chain(0), (), subject.network.predict(torch.zeros(1, 1), ())[0], 0)
    return value, *coverage(subject, config, moment, Plan(horizon), value, trials)


@pytest.mark.required_cases(2)
@pytest.mark.parametrize(("trials", "least", "most"), TRIALS)
@pytest.mark.parametrize(("horizon", "life_loss_ends_episode"), [(3, False), (500, True), (3, True), (500, False)])
def test_intervals_cover_the_exact_value_of_a_chain(
    horizon: int, life_loss_ends_episode: bool, trials: int, least: float, most: float
) -> None:
    config = PaacConfig(env="CartPole-v1", gamma=0.9).model_copy(
        update={"life_loss_ends_episode": life_loss_ends_episode}
    )
    value, share, mean = chain(config, horizon, trials)
    assert least <= share <= most
    assert mean == pytest.approx(value, abs=12 / (64 * trials) ** 0.5)


def test_futures_are_split_by_how_their_return_ends() -> None:
    config = PaacConfig(env="CartPole-v1", gamma=0.5, clip_rewards=True)
    subject = Subject("CartPole-v1", Critic(8.0), SAMPLED, lambda: Chain(0), (1,), np.float32, 1)
    moment = Moment(0, Chain(0), (), subject.network.predict(torch.zeros(1, 1), ())[0], 0)
    branches = simulate(subject, moment, draws(1, 0, 0, range(64)), Plan(3, first=(1, 1, 1)))
    found = [future(branch, config) for branch in branches]
    assert {each.ended for each in found} == {"over", "stopped"}
    for each in found:
        assert (each.bootstrap is None) == (each.ended == "over")
        assert each.bootstrap in (None, 1.0)
        rewards = sum(0.5**t for t in range(each.decisions))
        assert each.discounted_return == pytest.approx(rewards + (each.bootstrap or 0))
        assert each.score == each.decisions


@pytest.mark.parametrize("until", ["reward", "life"])
def test_futures_stop_at_a_reward_or_a_lost_life(until: Until) -> None:
    config = PaacConfig(env="CartPole-v1")
    subject = Subject("CartPole-v1", Critic(1.0), SAMPLED, lambda: Chain(0), (1,), np.float32, 1)
    moment = Moment(0, Chain(0), (), subject.network.predict(torch.zeros(1, 1), ())[0], 0)
    plan = Plan(50, until)
    found = [future(branch, config) for branch in simulate(subject, moment, draws(1, 0, 0, range(64)), plan)]
    stopped = [each for each in found if each.ended == "stopped"]
    assert stopped
    for each in stopped:
        assert each.score == (1 if until == "reward" else each.decisions - 1)
        assert (each.life_lost_after == each.decisions) == (until == "life" or each.decisions == 0)


def test_a_game_without_lives_loses_none(tmp_path: Path) -> None:
    subject = made_checkpoint.subject(tmp_path, CATCH, PROTOCOLS["episodes"], SAMPLED)
    moment = next(moments(subject, PROTOCOLS["episodes"], 1, 0))
    assert moment.game.lives == NO_LIVES
    branches = simulate(subject, moment, draws(1, 0, 0, range(8)), Plan(10))
    assert {future(branch, CATCH).life_lost_after for branch in branches} == {None}
