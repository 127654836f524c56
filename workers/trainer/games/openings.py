"""Starts of episodes for each protocol, up to the frame at which the agent takes over."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workers.contract.protocols import EvaluationProtocol
from workers.contract.protocols.starts import SEEDS, Start, StartSetFile
from workers.trainer.errors import TrainerError
from workers.trainer.games.emulator import EMULATOR, AtariGame
from workers.trainer.games.games import PlayableGame

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
