"""Simulation of futures side by side, in one forward pass of the network per decision."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from workers.contract.futures import Until
from workers.contract.protocols.starts import SEEDS
from workers.trainer.futures.ghosts import Ghosts
from workers.trainer.futures.moments import Moment
from workers.trainer.games.acting import chooser
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.subjects import Subject
from workers.trainer.methods.trained_networks import Action
from workers.trainer.recording.recording import StoppedError


@dataclass(frozen=True)
class Plan:
    """Rules of futures: the forced first actions, the temperature, the longest length and other ends."""

    horizon: int
    until: Until | Literal["outcome"] = "horizon"
    first: tuple[int, ...] = ()
    temperature: float = 1.0


@dataclass(frozen=True)
class FutureSeeds:
    """Random numbers of one future. Plans of the same moment share them (common random numbers)."""

    game_seed: int
    acting_seed: int


def draws(seed: int, episode: int, decision: int, futures: Iterable[int]) -> list[FutureSeeds]:
    """Draw the random numbers of futures of a decision, by their numbers."""
    return [
        FutureSeeds(*np.random.default_rng([seed, episode, decision, future]).integers(SEEDS, size=2).tolist())
        for future in futures
    ]


class Branch:
    """A future in progress. `value` is that of its last state, once the network has seen it."""

    def __init__(self, agent: Subject, game: PlayableGame, acting_seed: int, plan: Plan) -> None:
        self.game = game
        self.actions: list[Action] = []
        self.rewards: list[float] = []
        self.lives_lost: list[bool] = []
        self.value: float | None = None
        self._choose = chooser(agent.acting, game.actions, acting_seed, plan.temperature)
        self._plan = plan

    @property
    def ended(self) -> bool:
        """True if the future takes no more decisions."""
        if self.game.over or len(self.rewards) == self._plan.horizon:
            return True
        reward, life = self.rewards[-1:], self.lives_lost[-1:]
        stops = {"horizon": (), "reward": reward, "life": life, "outcome": (*reward, *life)}
        return any(stops[self._plan.until])

    def step(self, numbers: Tensor) -> None:
        """Take a decision. A forced action uses up the same random numbers."""
        decision, score, lives = len(self.rewards), self.game.score, self.game.lives
        action = self._choose(numbers)
        if decision < len(self._plan.first):
            action = self._plan.first[decision]
        self.game.step(action)
        self.actions.append(action)
        self.rewards.append(self.game.score - score)
        self.lives_lost.append(self.game.lives < lives)


def simulate(
    agent: Subject,
    moment: Moment,
    drawn: Sequence[FutureSeeds],
    plan: Plan,
    should_stop: Callable[[], bool] = lambda: False,
    advance: Callable[[int], None] = lambda _: None,
    ghosts: Ghosts | None = None,
) -> list[Branch]:
    """Play one future per draw from a moment to its end. `advance` receives the number of decisions played."""
    games = moment.game.branch([each.game_seed for each in drawn])
    branches = [Branch(agent, game, each.acting_seed, plan) for game, each in zip(games, drawn, strict=True)]
    observations = np.stack([game.observation for game in games])
    memory = tuple((h.repeat(len(games), 1), c.repeat(len(games), 1)) for h, c in moment.memory)
    open_rows = list(range(len(games)))
    played = 0
    try:
        while open_rows:
            if should_stop():
                raise StoppedError("the futures were stopped")
            output, memory = agent.network.predict(torch.from_numpy(observations), memory)
            for row in open_rows:
                branch = branches[row]
                if branch.ended:
                    branch.value = float(output.values[row])
                else:
                    branch.step(output.numbers[row : row + 1])
                    observations[row] = branch.game.observation
                    if ghosts:
                        ghosts.see(branch.game)
            if ghosts:
                ghosts.blend()
            open_rows = [row for row in open_rows if branches[row].value is None]
            played += bool(open_rows)
            advance(played)
    finally:
        for game in games:
            game.close()
    return branches
