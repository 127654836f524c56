"""Data of a game played by a person: the actions, and hashes of some screens."""

from collections.abc import Callable

from workers.contract.events import MOST_SCREENS
from workers.trainer.evaluation.report import KeptPlay
from workers.trainer.games.emulator import EMULATOR, AtariGame

Keeps = Callable[[KeptPlay], None]
"""Takes a game that is kept."""


class Record:
    """Screens of one game so far."""

    def __init__(self) -> None:
        self._screens: list[bytes] = []
        self._kept = 0

    def see(self, game: AtariGame) -> None:
        """Record the screen's hash after a frame."""
        self._screens.append(bytes.fromhex(game.screen_hash()))

    def kept(self, game: AtariGame) -> KeptPlay | None:
        """Return the game so far, or None if nothing is new since the last call."""
        if game.frames == self._kept:
            return None
        self._kept = game.frames
        return KeptPlay(
            seed=game.seed,
            actions=tuple(game.trail),
            played=game.frames,
            score=game.score,
            ended="unfinished" if not game.over else "cut off" if game.cut_off else "over",
            emulator=EMULATOR,
            screens=[(frame, self._screens[frame - 1].hex()) for frame in spread(game.frames, MOST_SCREENS)],
        )


def spread(frames: int, most: int) -> list[int]:
    """Return the middle frames of equal parts of a game, without the last frame."""
    number = min(most, frames - 1)
    return [(2 * part + 1) * (frames - 1) // (2 * number) + 1 for part in range(number)]
