"""Playing for every protocol: several episodes side by side, in one forward pass of the network per step.

Episode n is always played in lane n mod LANES, and the network always reads LANES rows. So the number of episodes and
their ends do not change how numbers are rounded, and an episode's score depends only on its seed.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from arcadia_workers.contract.protocols import EvaluationProtocol
from arcadia_workers.contract.protocols.document import Acting, PlayedEpisode
from arcadia_workers.contract.protocols.starts import SEEDS, HeldAction, Start, StartSetFile
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.games.emulator import EMULATOR, AtariGame
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.subjects import Choose, Subject, chooser
from arcadia_workers.trainer.methods.trainer import Action, NetworkOutput
from arcadia_workers.trainer.networks.agents import Memory

NO_ACTION = 0


class StartPointError(TrainerError):
    """A start point cannot be reached with this emulator."""


@dataclass(frozen=True)
class Draws:
    """Random numbers of one episode. They depend only on the evaluation's seed and the episode's number."""

    emulator_seed: int
    noops: int
    acting_seed: int


Open = Callable[[PlayableGame, int, Draws], None]
"""Brings a game to the frame at which the agent takes over, given the number of the episode."""


def draws(protocol: EvaluationProtocol, seed: int, number: int) -> Draws:
    """Draw an episode's random numbers."""
    random = np.random.default_rng([seed, number])
    emulator_seed, acting_seed = (int(drawn) for drawn in random.integers(SEEDS, size=2))
    least, most = protocol.noops or (0, 0)
    return Draws(emulator_seed, int(random.integers(least, most + 1)), acting_seed)


def opening(protocol: EvaluationProtocol, starts: StartSetFile | None) -> Open:
    """Return the function that opens the episodes of a protocol."""
    if protocol.opening == "no-ops":
        return _after_noops
    if protocol.opening == "plain":
        return _plainly
    if starts is None:
        raise ValueError(f"{protocol.name} needs a set of start points")
    return lambda game, number, _: _go_to(game, number, starts)


def _plainly(game: PlayableGame, _number: int, drawn: Draws) -> None:
    game.begin(drawn.emulator_seed)


def _after_noops(game: PlayableGame, _number: int, drawn: Draws) -> None:
    emulated(game).begin(drawn.emulator_seed)
    emulated(game).hold([(NO_ACTION, drawn.noops)])


def _go_to(game: PlayableGame, number: int, starts: StartSetFile) -> None:
    start = starts.starts[number]
    arrive(emulated(game), start)
    if game.over or game.frames != start.frames or emulated(game).screen_hash() != start.screen:
        raise StartPointError(
            f"start point {number} of {starts.env} leads to a different screen than the stored one: "
            f"the set was made with {starts.emulator}, but this host has {EMULATOR}"
        )


def arrive(game: AtariGame, start: Start) -> None:
    """Replay the actions up to a start point."""
    game.begin(start.seed)
    game.hold(start.actions)


def emulated(game: PlayableGame) -> AtariGame:
    """Return the game as an Atari game. Raise TypeError if it is not one."""
    if not isinstance(game, AtariGame):
        raise TypeError(f"{type(game).__name__} is not an Atari game")
    return game


LANES = 8
PLAY_BYTES = 8


@dataclass(frozen=True)
class ActionTrail:
    """Actions of an Atari game from its reset to its end."""

    seed: int
    actions: tuple[HeldAction, ...]
    frames: int


@dataclass(frozen=True)
class Played:
    """Finished episode, with its trail if it was an Atari game."""

    episode: PlayedEpisode
    trail: ActionTrail | None


class Lane:
    """Game that plays some of the episodes in sequence."""

    def __init__(
        self, protocol: EvaluationProtocol, seed: int, acting: Acting, game: PlayableGame, begin: Open
    ) -> None:
        self._protocol, self._seed, self._acting, self._begin = protocol, seed, acting, begin
        self.game = game

    def open(self, number: int) -> None:
        """Begin an episode."""
        drawn = draws(self._protocol, self._seed, number)
        self._begin(self.game, number, drawn)
        self._number, self._length = number, 0
        self._play = hashlib.blake2b(digest_size=PLAY_BYTES)
        self._frames_before = self.game.frames
        self._score_before = self.game.score if self._protocol.own_points_only else 0.0
        self.choose: Choose = chooser(self._acting, self.game.actions, drawn.acting_seed)

    def step(self, numbers: torch.Tensor) -> Action:
        """Choose an action from the network's numbers, take it and return it."""
        action = self.choose(numbers)
        self.take(action)
        return action

    def take(self, action: Action) -> None:
        """Take an action."""
        self.game.step(action)
        self._length += 1
        self._play.update(np.asarray(action).tobytes())

    def ended(self) -> Played:
        """Return the finished episode."""
        game = self.game
        episode = PlayedEpisode(
            number=self._number,
            score=game.score - self._score_before,
            frames=game.frames,
            frames_before=self._frames_before,
            length=self._length,
            ended="cut off" if game.cut_off else "over",
            play=self._play.hexdigest(),
        )
        trail = ActionTrail(game.seed, tuple(game.trail), game.frames) if isinstance(game, AtariGame) else None
        return Played(episode, trail)


class Seat:
    """Network that follows one episode, in the row that the episode has in an evaluation."""

    def __init__(self, subject: Subject, episode: int) -> None:
        self._network, self._row = subject.network, slice(episode % LANES, episode % LANES + 1)
        self._observations = np.zeros((LANES, *subject.observation_shape), dtype=subject.observation_type)
        self._memory: Memory = subject.network.initial_memory(LANES)

    @property
    def memory(self) -> Memory:
        """The memory of the episode so far: one row."""
        return tuple((h[self._row], c[self._row]) for h, c in self._memory)

    def predict(self, observation: Observations) -> NetworkOutput:
        """Return the network's output for the next observation, and remember it."""
        self._observations[self._row] = observation
        output, self._memory = self._network.predict(torch.from_numpy(self._observations), self._memory)
        return NetworkOutput(output.numbers[self._row], output.values[self._row])


def play(
    subject: Subject,
    protocol: EvaluationProtocol,
    seed: int,
    numbers: Sequence[int],
    begin: Open,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Played]:
    """Play the episodes with these numbers and yield each when it ends. Stop early if `should_stop` says so."""
    waiting = {row: [number for number in numbers if number % LANES == row] for row in range(LANES)}
    rows = [row for row in waiting if waiting[row]]
    lanes = {row: Lane(protocol, seed, subject.acting, subject.open_game(), begin) for row in rows}
    observations = np.zeros((LANES, *subject.observation_shape), dtype=subject.observation_type)
    memory = subject.network.initial_memory(LANES)
    try:
        for row in rows:
            lanes[row].open(waiting[row].pop(0))
        while rows and not should_stop():
            for row in rows:
                observations[row] = lanes[row].game.observation
            output, memory = subject.network.predict(torch.from_numpy(observations), memory)
            for row in rows:
                lanes[row].step(output.numbers[row : row + 1])
            for row in [row for row in rows if lanes[row].game.over]:
                yield lanes[row].ended()
                if waiting[row]:
                    lanes[row].open(waiting[row].pop(0))
                    forget(memory, row)
                else:
                    rows.remove(row)
    finally:
        for lane in lanes.values():
            lane.game.close()


def forget(memory: Memory, row: int) -> None:
    """Clear an LSTM's memory of one lane before another episode."""
    for h, c in memory:
        h[row], c[row] = 0, 0
