"""Simulation of futures side by side, in one forward pass of the network per decision."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
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
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.playing import Lane, Seat, emulated
from arcadia_workers.trainer.games.subjects import Subject, chooser
from arcadia_workers.trainer.games.video import Frame, VideoWriter
from arcadia_workers.trainer.methods.trainer import Action, NetworkOutput
from arcadia_workers.trainer.networks.agents import Memory
from arcadia_workers.trainer.recording.recording import StoppedError, discounted
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint

MAX_DECISIONS = 60


class Ghosts:
    """Writer of a video with one picture per decision that blends the futures. Ended futures disappear.

    A blended picture is halfway between the mean of the pictures and the value that differs most from it. So
    pixels that are equal in all futures are unchanged, and an object of one future remains visible among many.
    """

    def __init__(self, path: Path, game: AtariGame) -> None:
        self._video = VideoWriter(path, round(game.pictures_per_second / game.frames_per_step), game.scale)
        self._first = game.picture()
        self._count = 0

    def see(self, game: PlayableGame) -> None:
        """Add the current picture of a future."""
        if self._video.frames > MAX_DECISIONS:
            return
        picture = emulated(game).picture()
        if self._count == 0:
            self._least, self._most = picture.copy(), picture.copy()
            self._sum: NDArray[np.uint16] = picture.astype(np.uint16)
        else:
            np.minimum(self._least, picture, out=self._least)
            np.maximum(self._most, picture, out=self._most)
            np.add(self._sum, picture, out=self._sum)
        self._count += 1

    def blend(self) -> None:
        """Write the picture of all futures after a decision."""
        if self._count > 0:
            self._video.add(blended(self._least, self._most, self._sum, self._count))
        self._count = 0

    def __enter__(self) -> Self:
        self._video.__enter__()
        self._video.add(self._first)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._video.__exit__(kind, error, trace)


def blended(least: Frame, most: Frame, total: NDArray[np.uint16], count: int) -> Frame:
    """Return the picture halfway between the mean and the value that differs most from it."""
    mean = total.astype(np.float32) / count
    extreme = np.where(most - mean >= mean - least, most, least)
    return ((mean + extreme) / 2).round().astype(np.uint8)


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
) -> Generator[Moment, None, None]:
    """Play an episode as an evaluation does, and yield each decision.

    Another agent may watch the episode, to continue it. Recorded actions are taken first, instead of the agent's.
    """
    game = subject.open_game()
    lane = Lane(protocol, seed, subject.acting, game, playing.opening(protocol, None))
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
    return _player(checkpoint, config, protocol)


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
    return _player(checkpoint, config, player.protocol)


def _player(checkpoint: LoadedCheckpoint, config: RunConfig, protocol: EvaluationProtocol) -> Player:
    return Player(checkpoint, config, protocol, subjects.agent_subject(checkpoint, config, protocol, None))
