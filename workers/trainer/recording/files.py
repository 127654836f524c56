"""Files of a recording: a video of the game, and a synchronous video of what the network saw."""

from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from workers.trainer.environments.environments import Observations
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.video import Frame, VideoWriter, write_png

COLORS = 3


@dataclass(frozen=True)
class Files:
    """Paths of a recording's files. `seen` is written only if the network sees pixels."""

    video: Path
    seen: Path
    track: Path
    poster: Path


def files_in(folder: Path) -> Files:
    """Return the paths of a recording in its own folder."""
    return Files(folder / "recording.mp4", folder / "seen.mp4", folder / "track.npz", folder / "poster.png")


class RecordingVideos:
    """Writer of both videos. A picture of the second one is repeated until the agent sees another.

    The files appear at the end, the game's video last. If it exists, the recording is complete.
    """

    def __init__(self, files: Files, game: PlayableGame, *, sees_pixels: bool) -> None:
        self._files, self._scale = files, game.scale
        self._video = VideoWriter(files.video, game.pictures_per_second, game.scale)
        self._seen = VideoWriter(files.seen, game.pictures_per_second, 1) if sees_pixels else None
        self._screen: Frame | None = None
        self._posters: deque[Frame] = deque(maxlen=2)

    @property
    def pictures(self) -> int:
        """The number of pictures in the video so far."""
        return self._video.frames

    @property
    def seconds(self) -> float:
        """The length of the video so far."""
        return self._video.seconds

    def show(self, picture: Frame) -> None:
        """Add one picture of the game."""
        self._video.add(picture)
        if self._video.frames.bit_count() == 1:
            # The emulator may reuse the array.
            self._posters.append(picture.copy())

    def see(self, observation: Observations) -> None:
        """Add what the network sees from now on."""
        if self._seen is None:
            return
        while self._screen is not None and self._seen.frames < self._video.frames - 1:
            self._seen.add(self._screen)
        self._screen = seen_picture(observation)
        # Some environments draw fewer pictures than the agent sees.
        if self._seen.frames < self._video.frames:
            self._seen.add(self._screen)

    def __enter__(self) -> Self:
        self._open = ExitStack()
        self._open.enter_context(self._video)
        if self._seen:
            self._open.enter_context(self._seen)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def write_poster(self) -> None:
        """Write a picture from the second quarter of the episode: its last one often shows a failure.

        The length is known only at the end, so the candidates are the pictures 1, 2, 4, 8 and so on.
        """
        write_png(self._files.poster, self._posters[0], self._scale)


def seen_picture(observation: Observations) -> Frame:
    """Return the newest picture: the last of stacked gray ones, or the color picture."""
    planes = observation.astype(np.uint8)
    if len(planes) == COLORS:
        return np.ascontiguousarray(planes.transpose(1, 2, 0))
    return np.ascontiguousarray(np.repeat(planes[-1][:, :, None], COLORS, axis=2))
