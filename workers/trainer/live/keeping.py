"""Data of a game played by a person: the actions, and hashes of some screens."""

from collections.abc import Callable

from workers.contract.events import MOST_SCREENS, Continued
from workers.trainer.evaluation.report import KeptPlay
from workers.trainer.games.emulator import AtariGame
from workers.trainer.games.games import PlayableGame

Keeps = Callable[[KeptPlay], None]
"""Takes a game that is kept."""


class Record:
    """A game from its current frame on. If it continues a replay, an agent may play in it."""

    def __init__(self, game: PlayableGame, *, continues: bool) -> None:
        self._game, self._continues = game, continues
        self._frames, self._score = game.frames, game.score
        self._seen, self._agent_frames = game.frames, 0
        self._screens: list[bytes] = []
        self._kept = self._frames

    def see(self, *, by_agent: bool) -> None:
        """Record a decision. Without an agent, each frame is a decision, and its screen is hashed."""
        if by_agent:
            self._agent_frames += self._game.frames - self._seen
        elif not self._continues and isinstance(self._game, AtariGame):
            self._screens.append(bytes.fromhex(self._game.screen_hash()))
        self._seen = self._game.frames

    def kept(self) -> KeptPlay | None:
        """Return the game so far, or None if nothing is new since the last call."""
        game = self._game
        if game.frames == self._kept:
            return None
        self._kept = game.frames
        return KeptPlay(
            seed=game.seed,
            actions=tuple(game.trail),
            played=game.frames,
            score=game.score,
            ended="unfinished" if not game.over else "cut off" if game.cut_off else "over",
            emulator=game.emulator,
            screens=[] if self._continues else self._hashes(),
            continued=self._continued() if self._continues else None,
        )

    def _hashes(self) -> list[tuple[int, str]]:
        return [(frame, self._screens[frame - 1].hex()) for frame in spread(self._game.frames, MOST_SCREENS)]

    def _continued(self) -> Continued:
        return Continued(frames=self._frames, score=self._game.score - self._score, agent_frames=self._agent_frames)


def spread(frames: int, most: int) -> list[int]:
    """Return the middle frames of equal parts of a game, without the last frame."""
    number = min(most, frames - 1)
    return [(2 * part + 1) * (frames - 1) // (2 * number) + 1 for part in range(number)]
