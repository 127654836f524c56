"""One episode recorded as a video and a track of observations, network outputs and rewards.

It plays the same episode as an evaluation with the same protocol, seed and number, in the same lane of `playing`.
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor
from torch.nn.functional import softplus

from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.archives import Column
from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.protocols import EvaluationProtocol
from arcadia_workers.contract.tracks import Numbers, Track, TrackHead, packed
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.games import PlayableGame
from arcadia_workers.trainer.games.playing import Lane, Open, Seat
from arcadia_workers.trainer.games.subjects import Subject
from arcadia_workers.trainer.games.video import Frame, VideoWriter, write_png
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.methods.trainer import Action, NetworkOutput, OutputKind
from arcadia_workers.trainer.run import durable_files
from arcadia_workers.trainer.run.checkpoints import LoadedCheckpoint

TYPES: dict[str, DTypeLike] = {
    "picture": np.int32,
    "numbers": np.float32,
    "value": np.float32,
    "score": np.float64,
    "lives": np.int16,
    "observation": np.float32,
    "reward": np.float64,
    "life_lost": np.bool_,
}


def kind_of_numbers(output_kind: OutputKind, actions: ActionSpace) -> Numbers:
    """Return the kind of a network's numbers."""
    return "gaussian" if isinstance(actions, Continuous) else output_kind


def displayed_numbers(numbers: Tensor, output_kind: OutputKind, actions: ActionSpace) -> Tensor:
    """Convert a network's numbers for display: logits to probabilities, x to σ²."""
    if isinstance(actions, Continuous):
        return torch.cat([numbers[..., : actions.size], softplus(numbers[..., actions.size :])], dim=-1)
    return torch.softmax(numbers, dim=-1) if output_kind == "policy" else numbers


def discounted(rewards: Sequence[float], ends: Sequence[bool], gamma: float, after: float) -> NDArray[np.float64]:
    """Return Gₜ = rₜ + γ Gₜ₊₁ of each decision, starting from `after` and from 0 after an end."""
    returns = np.zeros(len(rewards))
    following = after
    for t in reversed(range(len(rewards))):
        returns[t] = following = rewards[t] + gamma * (0.0 if ends[t] else following)
    return returns


class Diary:
    """The rows of an episode so far."""

    def __init__(self, output_kind: OutputKind, actions: ActionSpace, *, keeps_observations: bool) -> None:
        self._output_kind, self._actions, self._keeps_observations = output_kind, actions, keeps_observations
        self._rows: list[dict[str, object]] = []

    @property
    def empty(self) -> bool:
        """True if there is no decision yet."""
        return not self._rows

    def decide(self, picture: int, output: NetworkOutput, score: float, lives: int, observation: Observations) -> None:
        """Add what the agent sees and the network's output before it acts."""
        row: dict[str, object] = {
            "picture": picture,
            "numbers": displayed_numbers(output.numbers[0], self._output_kind, self._actions).numpy(),
            "value": float(output.values[0]),
            "score": score,
            "lives": lives,
        }
        if self._keeps_observations:
            row["observation"] = observation.copy()
        self._rows.append(row)

    def act(self, action: Action, reward: float, *, life_lost: bool) -> None:
        """Add the agent's action and its result."""
        self._rows[-1] |= {"action": action, "reward": reward, "life_lost": life_lost}

    def columns(self, head: TrackHead, after: float) -> dict[str, Column]:
        """Return all columns. `after` is the value at the end of the recording, or 0 if the episode ended."""
        columns = {name: np.array([row[name] for row in self._rows], dtype=TYPES.get(name)) for name in self._rows[0]}
        rewards = np.clip(columns["reward"], -1, 1) if head.clip_rewards else columns["reward"]
        ends = columns["life_lost"] if head.life_loss_ends_episode else np.zeros(len(rewards), dtype=np.bool_)
        behind = after if head.bootstraps or head.ended == "unfinished" else 0.0
        columns["obtained"] = discounted(rewards.tolist(), ends.tolist(), head.gamma, behind).astype(np.float32)
        return columns


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


Ended = Literal["over", "cut off", "unfinished"]


class StoppedError(TrainerError):
    """The user stopped the job."""


@dataclass(frozen=True)
class RecordedEpisode:
    """Episode to record."""

    protocol: EvaluationProtocol
    seed: int
    episode: int
    longest_seconds: float


def record(
    checkpoint: LoadedCheckpoint,
    config: RunConfig,
    wanted: RecordedEpisode,
    files: Files,
    should_stop: Callable[[], bool] = lambda: False,
) -> Track:
    """Record an episode of a checkpoint's agent. The video file appears last."""
    devices.compute_in(1)
    subject = subjects.agent_subject(checkpoint, config, wanted.protocol, None, filmed=True)
    game = subject.open_game()
    output_kind = subject.network.output_kind
    diary = Diary(output_kind, game.actions, keeps_observations=not config.environment.shows_pixels)
    try:
        with RecordingVideos(files, game, sees_pixels=config.environment.shows_pixels) as films:
            begin = playing.opening(wanted.protocol, None)
            ended, after = _play(subject, game, wanted, begin, films, diary, should_stop)
            head = TrackHead(
                env=config.env,
                algorithm=checkpoint.algorithm,
                checkpoint_step=checkpoint.file.step,
                checkpoint_sha256=checkpoint.file.sha256,
                protocol=wanted.protocol.name,
                acting=subject.acting,
                seed=wanted.seed,
                episode=wanted.episode,
                gamma=config.gamma,
                clip_rewards=config.clip_rewards,
                life_loss_ends_episode=config.life_loss_ends_episode,
                bootstraps=config.bootstraps,
                numbers_kind=kind_of_numbers(output_kind, game.actions),
                action_names=game.action_names,
                pictures=films.pictures,
                pictures_per_second=game.pictures_per_second,
                frames_per_action=game.frames_per_step,
                ended=ended,
                score=game.score,
            )
            track = Track(head, diary.columns(head, after))
            durable_files.write(files.track, packed(track))
            films.write_poster()
    finally:
        game.close()
    return track


def _play(
    subject: Subject,
    game: PlayableGame,
    wanted: RecordedEpisode,
    begin: Open,
    films: RecordingVideos,
    diary: Diary,
    should_stop: Callable[[], bool],
) -> tuple[Ended, float]:
    """Play to the end. Return how the episode ended and the value after it (0 after an end)."""
    lane, seat = Lane(wanted.protocol, wanted.seed, subject.acting, game, begin), Seat(subject, wanted.episode)
    lane.open(wanted.episode)
    game.show(films.show)
    while not game.over and (diary.empty or films.seconds < wanted.longest_seconds):
        if should_stop():
            raise StoppedError("the recording was stopped")
        output, score, lives = seat.predict(game.observation), game.score, game.lives
        diary.decide(films.pictures - 1, output, score, lives, game.observation)
        films.see(game.observation)
        action = lane.step(output.numbers)
        diary.act(action, game.score - score, life_lost=game.lives < lives)
    films.see(game.observation)
    if not game.over:
        return "unfinished", float(seat.predict(game.observation).values[0])
    return ("cut off", float(seat.predict(game.observation).values[0])) if game.cut_off else ("over", 0.0)
