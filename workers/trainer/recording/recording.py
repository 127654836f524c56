"""Recorder of one episode with its track of observations, network outputs and rewards.

It plays the same episode as an evaluation with the same protocol, seed and number, in the same lane of `playing`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from workers.contract.config import RunConfig
from workers.contract.protocols import EvaluationProtocol
from workers.contract.tracks import Track, TrackHead, packed
from workers.trainer.errors import TrainerError
from workers.trainer.games import openings, subjects
from workers.trainer.games.games import PlayableGame
from workers.trainer.games.openings import Open
from workers.trainer.games.playing import Lane, Seat
from workers.trainer.games.subjects import Subject
from workers.trainer.host import devices
from workers.trainer.recording.diary import Diary, kind_of_numbers
from workers.trainer.recording.files import Files, RecordingVideos
from workers.trainer.run import durable_files
from workers.trainer.run.checkpoints import LoadedCheckpoint

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
            begin = openings.opening(wanted.protocol, None)
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
