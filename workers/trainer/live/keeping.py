"""What is kept of a game that only people have played: the actions, and what the screen showed on the way."""

from collections.abc import Callable

from workers.contract.events import MOST_SCREENS
from workers.trainer.evaluation.report import KeptPlay
from workers.trainer.games.emulator import EMULATOR, AtariGame

Keeps = Callable[[KeptPlay], None]
"""Takes a game that is kept."""


class Record:
    """The screens of one game so far."""

    def __init__(self) -> None:
        self._screens: list[bytes] = []
        self._kept = 0

    def see(self, game: AtariGame) -> None:
        """Note what the screen shows after a frame."""
        self._screens.append(bytes.fromhex(game.screen_hash()))

    def kept(self, game: AtariGame) -> KeptPlay | None:
        """Return the game so far, unless that is nothing, or nothing new since it was kept last."""
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
    """Return frames in the middles of equal parts of a game; not its last one, where it may be over."""
    number = min(most, frames - 1)
    return [(2 * part + 1) * (frames - 1) // (2 * number) + 1 for part in range(number)]
