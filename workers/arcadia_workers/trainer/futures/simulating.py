"""Simulation of futures side by side, in one forward pass of the network per decision."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.config.emulator import protocol_of
from arcadia_workers.contract.futures import FAN, Future, MeanReturn, Until
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.inference.means import t_interval
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.contract.protocols.starts import SEEDS
from arcadia_workers.trainer.evaluation.request import RequestError, check_fit
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.playing import Lane, Open, Seat
from arcadia_workers.trainer.games.subjects import Subject, chooser
from arcadia_workers.trainer.methods.trainer import Action, NetworkOutput
from arcadia_workers.trainer.networks.agents import Memory
from arcadia_workers.trainer.recording.recording import StoppedError, discounted
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint


@dataclass(frozen=True)
class Moment:
    """A decision before it is taken.

    `memory` and `output` belong to the agent that acts in the futures. `memory` is from before the observation.
    """

    decision: int
    game: PlayableGame
    memory: Memory
    output: NetworkOutput
    action: Action


def moments(
    subject: Subject,
    protocol: EvaluationProtocol,
    seed: int,
    episode: int,
    *,
    other: Subject | None = None,
    actions: Sequence[Action] = (),
    begin: Open | None = None,
) -> Generator[Moment, None, None]:
    """Play an episode as an evaluation does, and yield each decision.

    Another agent may watch the episode, to continue it. Recorded actions are taken first, instead of the agent's.
    `begin` opens an episode that the protocol does not open.
    """
    game = subject.open_game()
    lane = Lane(protocol, seed, subject.acting, game, begin or playing.opening(protocol, None))
    seat = Seat(subject, episode)
    watching = Seat(other, episode) if other else seat
    try:
        lane.open(episode)
        for decision in count():
            if game.over:
                return
            memory = watching.memory
            seen = output = seat.predict(game.observation)
            if watching is not seat:
                seen = watching.predict(game.observation)
            action = lane.choose(output.numbers)
            if decision < len(actions):
                action = actions[decision]
            yield Moment(decision, game, memory, seen, action)
            lane.take(action)
    finally:
        game.close()


@dataclass(frozen=True)
class Plan:
    """Rules of futures: the forced first actions, the temperature, the longest length and other ends."""

    horizon: int
    until: Until = "horizon"
    first: tuple[Action, ...] = ()
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

    @property
    def is_free(self) -> bool:
        """True if the agent takes the next decision."""
        return not self.ended and len(self.rewards) >= len(self._plan.first)

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

    def follow(self, other: "Branch") -> None:
        """Continue as another future that has ended, and that was equal after the decisions of this one."""
        decisions = len(self.rewards)
        self.actions += other.actions[decisions:]
        self.rewards += other.rewards[decisions:]
        self.lives_lost += other.lives_lost[decisions:]
        self.game, self.value = other.game, other.value


class Spectator(Protocol):
    """Watches futures that are played one after another."""

    def see(self, game: PlayableGame) -> None:
        """See a future after its decision."""

    def blend(self) -> None:
        """All futures have taken their decision."""


class ParallelFutures:
    """Futures of several plans and draws, played in one forward pass of the network per decision.

    Futures of a draw that have become equal continue equally, because they share their random numbers. So only one of
    them is played, and the others follow it.
    """

    def __init__(self, agent: Subject, moment: Moment, drawn: Sequence[FutureSeeds], plans: Sequence[Plan]) -> None:
        self._network, self._draws = agent.network, len(drawn)
        self.games = moment.game.branch([each.game_seed for _ in plans for each in drawn])
        chosen = [(plan, each.acting_seed) for plan in plans for each in drawn]
        self.branches = [Branch(agent, game, seed, plan) for game, (plan, seed) in zip(self.games, chosen, strict=True)]
        self._rows = list(range(len(self.games)))
        self._memory = tuple((h.repeat(len(self._rows), 1), c.repeat(len(self._rows), 1)) for h, c in moment.memory)
        self._followers: list[tuple[Branch, Branch]] = []

    def decide(self, step: Callable[[Iterable[tuple[Branch, Tensor]]], object]) -> bool:
        """Take a decision in each future that has not ended. Return False if all have."""
        playing = [self.branches[row] for row in self._rows]
        observations = torch.from_numpy(np.stack([branch.game.observation for branch in playing]))
        output, self._memory = self._network.predict(observations, self._memory)
        for branch, value in zip(playing, output.values.tolist(), strict=True):
            branch.value = value if branch.ended else None
        step((branch, each) for branch, each in zip(playing, output.numbers.split(1), strict=True) if not branch.ended)
        self._keep([place for place, branch in enumerate(playing) if branch.value is None])
        if len(self.branches) > self._draws:
            self._keep([*self._different()])
        return bool(self._rows)

    def _keep(self, places: Sequence[int]) -> None:
        self._rows = [self._rows[place] for place in places]
        self._memory = tuple((h[places], c[places]) for h, c in self._memory)

    def _different(self) -> Iterator[int]:
        """Yield the places of all open futures, but of equal ones only the first. The others follow it."""
        firsts: dict[tuple[Any, ...], Branch] = {}
        for place, row in enumerate(self._rows):
            branch = self.branches[row]
            seen = branch.game.fingerprint() if branch.is_free else None
            remembered = [part[place].numpy().tobytes() for layer in self._memory for part in layer]
            first = firsts.setdefault((row % self._draws, seen, *remembered), branch) if seen else branch
            if first is branch:
                yield place
            else:
                self._followers.append((branch, first))

    def end(self) -> None:
        """Close the games. Continue the futures that followed others."""
        for game in self.games:
            game.close()
        # The last ones first: the future that a branch follows may itself follow another one later.
        for branch, first in reversed(self._followers):
            branch.follow(first)


def simulate_each(
    agent: Subject,
    moment: Moment,
    drawn: Sequence[FutureSeeds],
    plans: Sequence[Plan],
    should_stop: Callable[[], bool] = lambda: False,
    advance: Callable[[int], None] = lambda _: None,
    spectator: Spectator | None = None,
) -> list[list[Branch]]:
    """Play one future per plan and draw from a moment to its end. The plans differ only in their forced actions.

    `advance` receives the number of decisions played.
    """

    def step(taken: Iterable[tuple[Branch, Tensor]]) -> None:
        for branch, numbers in taken:
            branch.step(numbers)
            if spectator:
                spectator.see(branch.game)

    def step_in_threads(taken: Iterable[tuple[Branch, Tensor]]) -> None:
        [*threads.map(step, by_emulator(taken))]

    played = ParallelFutures(agent, moment, drawn, plans)
    try:
        # Pictures of a game must be taken before another one steps.
        with ThreadPoolExecutor() as threads:
            for decisions in count(1):
                if should_stop():
                    raise StoppedError("the futures were stopped")
                is_going = played.decide(step if spectator else step_in_threads)
                if spectator:
                    spectator.blend()
                if not is_going:
                    break
                advance(decisions)
    finally:
        played.end()
    return [played.branches[start : start + len(drawn)] for start in range(0, len(played.branches), len(drawn))]


def by_emulator(taken: Iterable[tuple[Branch, Tensor]]) -> list[list[tuple[Branch, Tensor]]]:
    """Group decisions by the emulator that plays them. Different emulators play at the same time."""
    groups: dict[int, list[tuple[Branch, Tensor]]] = {}
    for branch, numbers in taken:
        groups.setdefault(branch.game.emulator_number, []).append((branch, numbers))
    return [*groups.values()]


def simulate(
    agent: Subject,
    moment: Moment,
    drawn: Sequence[FutureSeeds],
    plan: Plan,
    should_stop: Callable[[], bool] = lambda: False,
    advance: Callable[[int], None] = lambda _: None,
    spectator: Spectator | None = None,
) -> list[Branch]:
    """Play one future per draw from a moment to its end."""
    return simulate_each(agent, moment, drawn, [plan], should_stop, advance, spectator)[0]


def future(branch: Branch, config: RunConfig) -> Future:
    """Return the result of a finished future.

    The return is computed as training computes the targets of the value: with its discount, clipped rewards and lost
    lives. Where the future was stopped, it continues with the value of the last state.
    """
    game, value = branch.game, branch.value or 0.0
    rewards = np.clip(branch.rewards, -1, 1) if config.clip_rewards else np.asarray(branch.rewards)
    ends = branch.lives_lost if config.life_loss_ends_episode else [False] * len(rewards)
    is_bootstrapped = not any(ends) and (config.bootstraps if game.cut_off else not game.over)
    lost = np.flatnonzero(branch.lives_lost)
    return Future(
        discounted_return=float(discounted(rewards.tolist(), ends, config.gamma, value * is_bootstrapped)[0]),
        bootstrap=config.gamma ** len(rewards) * value if is_bootstrapped else None,
        score=sum(branch.rewards),
        decisions=len(rewards),
        life_lost_after=int(lost[0]) + 1 if len(lost) else None,
        ended="cut off" if game.cut_off else "over" if game.over else "stopped",
    )


def estimate(values: Sequence[float]) -> MeanReturn:
    """Return the mean with its interval."""
    mean = float(np.mean(values)) if values else None
    return MeanReturn(count=len(values), mean=mean, interval=t_interval(values))


def score_fan(branches: Sequence[Branch]) -> list[list[float]]:
    """Return quantiles of the score after each decision. Futures that have ended keep their score."""
    longest = max(len(branch.rewards) for branch in branches)
    scores = [np.cumsum(np.pad(branch.rewards, (0, longest - len(branch.rewards)))) for branch in branches]
    quantiles: list[list[float]] = np.quantile(scores, FAN, axis=0).T.tolist()
    return quantiles


def survival(futures: Sequence[Future]) -> list[float]:
    """Return the share of futures that have neither lost a life nor ended by the game, after each decision."""
    deaths = [each.life_lost_after or (each.decisions if each.ended == "over" else None) for each in futures]
    longest = max(each.decisions for each in futures)
    alive = [[death is None or death > decision for death in deaths] for decision in range(1, longest + 1)]
    return [float(np.mean(row)) for row in alive]


@dataclass(frozen=True)
class Player:
    """The agent of a checkpoint, with the configuration of its training."""

    checkpoint: LoadedCheckpoint
    config: RunConfig
    protocol: EvaluationProtocol
    subject: Subject


def load(directory: Path, step: int | None, protocol_name: str | None) -> Player:
    """Load a checkpoint's agent, by default with the protocol of its run."""
    checkpoint, config = subjects.read(directory, step)
    protocol = PROTOCOLS[protocol_name or protocol_of(config.model_dump())]
    check_fit(protocol, config.env, saves_starts=False)
    return player_of(checkpoint, config, protocol)


def load_other(directory: Path, step: int | None, player: Player) -> Player:
    """Load another agent that can continue a player's episodes."""
    checkpoint, config = subjects.read(directory, step)
    if config.env != player.config.env:
        titles = [f"{ENVIRONMENTS[env].title} ({env})" for env in (config.env, player.config.env)]
        raise RequestError(f"the agent in {directory} plays {titles[0]}, not {titles[1]}: name one of the same game")
    if config.action_set != player.config.action_set:
        raise RequestError(
            f"the agent in {directory} uses the {config.action_set} action set, not the {player.config.action_set} "
            "one: name an agent with the same actions"
        )
    return player_of(checkpoint, config, player.protocol)


def player_of(checkpoint: LoadedCheckpoint, config: RunConfig, protocol: EvaluationProtocol) -> Player:
    """Return the agent of a checkpoint, as it plays by a protocol."""
    return Player(checkpoint, config, protocol, subjects.agent_subject(checkpoint, config, protocol, None))
