"""Recorded episodes, repeated from their actions."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from workers.contract.protocols import EvaluationProtocol
from workers.trainer.errors import TrainerError
from workers.trainer.games import openings
from workers.trainer.games.games import PlayableGame
from workers.trainer.methods.trained_networks import Action


class OtherEpisodeError(TrainerError):
    """The actions of a recording do not lead to the same result."""


def begin(game: PlayableGame, protocol: EvaluationProtocol, seed: int, episode: int) -> None:
    """Bring a game to the first decision of a recorded episode."""
    openings.opening(protocol, None)(game, episode, openings.draws(protocol, seed, episode))


def recorded_actions(taken: Sequence[int] | Sequence[Sequence[float]]) -> Iterator[Action]:
    """Yield the actions of a recording as games take them."""
    for action in taken:
        yield action if isinstance(action, int) else np.array(action, dtype=np.float32)


def check_score(game: PlayableGame, score: float, when: str = "") -> None:
    """Raise OtherEpisodeError if the actions led to another score than the recorded one."""
    # Other machines round fractional rewards differently.
    if not math.isclose(game.score, score, rel_tol=1e-4, abs_tol=1e-4):
        raise OtherEpisodeError(
            f"the actions of the replay led to {game.score:g} points here{when}, not {score:g}: "
            "record the checkpoint again on this machine"
        )
