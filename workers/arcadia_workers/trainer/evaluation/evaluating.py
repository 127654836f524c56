"""One evaluation, from the checkpoint to the document, with its start points."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import ale_py
import numpy as np
from pydantic import ValidationError

from arcadia_workers.contract.config import RunConfig
from arcadia_workers.contract.games import score_bounds
from arcadia_workers.contract.inference.means import clustered_mean_error
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.contract.protocols.document import EvaluationDocument, NormalizedBy, PlayedEpisode, StartsUsed
from arcadia_workers.contract.protocols.protocol import StartPlayer
from arcadia_workers.contract.protocols.starts import HeldAction, Start, StartSetFile, before
from arcadia_workers.contract.published import normalized, reference
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.evaluation.report import JobReport
from arcadia_workers.trainer.evaluation.request import EvaluateRequest, RequestError, check_fit
from arcadia_workers.trainer.games import playing, subjects
from arcadia_workers.trainer.games.emulator import EMULATOR, AtariGame, game_of
from arcadia_workers.trainer.games.playing import NO_ACTION, ActionTrail, play
from arcadia_workers.trainer.games.subjects import Subject
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.run import durable_files, provenance


class StartsError(TrainerError):
    """A set of start points cannot be used or created."""


def read_starts(path: Path, protocol: EvaluationProtocol, env: str) -> StartSetFile:
    """Read the start set of a protocol for a game."""
    try:
        starts = StartSetFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise StartsError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise StartsError(f"{path} is not a set of start points: {where}: {first['msg']}") from error
    if starts.player != protocol.starts_from:
        raise StartsError(
            f"{path} holds start points of {_whose(starts.player)} play, but {protocol.name} starts from "
            f"{_whose(protocol.starts_from)} play: use {starts.player}-starts"
        )
    if starts.env != env:
        raise StartsError(f"{path} holds start points of {starts.env}, but the game is {env}")
    return starts


def write(path: Path, starts: StartSetFile) -> None:
    """Write a set as JSON."""
    try:
        durable_files.write(path, starts.model_dump_json().encode() + b"\n")
    except OSError as error:
        raise StartsError(f"{path} cannot be written: {error.strerror}") from error


def cut(
    env: str, trails: Sequence[ActionTrail], number: int, seed: int, player: StartPlayer, source: str
) -> StartSetFile:
    """Cut recorded play at random frames, all equally likely, and store the screen's hash at each."""
    # Every frame between a reset and the last one.
    ends = np.cumsum([trail.frames - 1 for trail in trails])
    if not trails or ends[-1] < number:
        raise StartsError(f"the play is too short for {number} start points: record more episodes of {env}")
    moments = np.sort(np.random.default_rng(seed).choice(int(ends[-1]), size=number, replace=False))
    starts: list[Start] = []
    for i, trail in enumerate(trails):
        own = moments[np.searchsorted(ends, moments, side="right") == i]
        starts += _cut_one(env, trail, [int(moment - ends[i] + trail.frames) for moment in own])
    return StartSetFile(env=env, player=player, source=source, emulator=EMULATOR, starts=tuple(starts))


def _cut_one(env: str, trail: ActionTrail, frames: Sequence[int]) -> list[Start]:
    """Replay one trail and return the start points at these frames, in ascending order."""
    game = AtariGame(env, cap_frames=None, frames_per_step=1)
    game.begin(trail.seed)
    starts = []
    for frame in frames:
        actions = before(trail.actions, frame)
        game.hold(after(actions, game.frames))
        starts.append(Start(seed=trail.seed, actions=actions, screen=game.screen_hash()))
    return starts


def after(actions: Sequence[HeldAction], frame: int) -> tuple[HeldAction, ...]:
    """Return the actions from a frame on."""
    kept: list[HeldAction] = []
    for action, frames in actions:
        if frames > frame:
            kept.append((action, frames - max(frame, 0)))
        frame -= frames
    return tuple(kept)


def _whose(player: StartPlayer | None) -> str:
    return {"human": "a person's", "agent": "an agent's", None: "no"}[player]


def document(
    subject: Subject,
    protocol: EvaluationProtocol,
    seed: int,
    starts: StartSetFile | None,
    episodes: Sequence[PlayedEpisode],
) -> EvaluationDocument:
    """Return the document of an evaluation."""
    ordered = sorted(episodes, key=lambda episode: episode.number)
    scores = [episode.score for episode in ordered]
    mean = float(np.mean(scores))
    # Greedy agents play few different games from few different starts, and the others prove nothing more.
    plays = [(episode.play or episode.number, episode.score, episode.length) for episode in ordered]
    error = clustered_mean_error(scores, plays)
    by = reference(subject.env, protocol.name)
    return EvaluationDocument(
        protocol=protocol.name,
        env=subject.env,
        algorithm=subject.algorithm,
        checkpoint_step=subject.checkpoint.step if subject.checkpoint else None,
        checkpoint_sha256=subject.checkpoint.sha256 if subject.checkpoint else None,
        acting=subject.acting,
        seed=seed,
        frames_per_action=subject.frames_per_action,
        unlike_training=list(subject.unlike_training),
        starts=_used(starts),
        scores=scores,
        mean=mean,
        median=float(np.median(scores)),
        distinct=len({*plays}),
        standard_error=error and error.standard_error,
        interval=score_bounds(subject.env).clip(*error.interval) if error and error.interval else None,
        human_normalized=normalized(mean, by) if isinstance(by, NormalizedBy) else None,
        normalized_by=by if isinstance(by, NormalizedBy) else None,
        not_normalized_because=by if isinstance(by, str) else None,
        episodes=ordered,
        versions=provenance.captured(
            {"algorithm": subject.algorithm, "env": subject.env, "evaluation_protocol": protocol.name}
        ),
    )


def _used(starts: StartSetFile | None) -> StartsUsed | None:
    if starts is None:
        return None
    return StartsUsed(player=starts.player, sha256=starts.sha256, starts=len(starts.starts), source=starts.source)


NO_NOOPS = (0, 0)
FIRE = ale_py.Action.FIRE.value
# After this time a game shows whether FIRE was pressed.
FRAMES_AFTER_FIRE = 30


def differences(config: RunConfig, protocol: EvaluationProtocol) -> tuple[str, ...]:
    """Return each difference as a sentence."""
    if protocol.opening == "plain":
        return ()
    sentences = []
    begins_alone = protocol.opening == "no-ops"
    if begins_alone and config.fire_at_reset and fire_opens(config.env):
        sentences.append(
            "In training FIRE was pressed in the first frame of every episode. In this protocol the agent has to "
            "press it, and may never have seen how a game continues without it. To train for it, turn off Fire at "
            "reset."
        )
    # With a maximum of 1 no-op, training always has 1 or always none.
    if begins_alone and config.max_noops <= 1 and protocol.noops != NO_NOOPS:
        sentences.append(
            "In training every episode began in the same frame. In this protocol it begins after a random number of "
            "frames without action. To train for it, set Maximum no-ops to 30."
        )
    if config.repeat_action_probability != protocol.repeat_action_probability:
        sentences.append(
            f"In training the emulator {_repeats(config.repeat_action_probability)}. In this protocol it "
            f"{_repeats(protocol.repeat_action_probability)}. To train for it, set Repeat-action probability to "
            f"{protocol.repeat_action_probability:g}."
        )
    if protocol.full_action_set and config.action_set != "full":
        sentences.append(
            "In training the agent chose among the actions that have an effect in its game, and it still does. In "
            "this protocol agents choose among all 18 actions. To train for it, set Action set to full."
        )
    if protocol.full_action_set and config.life_loss_ends_episode:
        sentences.append(
            "In training a lost life ended the episode. In this protocol agents get no signal of lost lives. To train "
            "for it, turn off Life loss ends episode."
        )
    return tuple(sentences)


def _repeats(probability: float) -> str:
    if not probability:
        return "never repeats an action by chance"
    return f"repeats the previous frame's action with a probability of {probability:g}"


def fire_opens(env: str) -> bool:
    """Return True if training presses FIRE in the first frame of this game and it changes the game."""
    _, minimal = game_of(env)
    if ale_py.Action.FIRE not in minimal:
        return False
    game = AtariGame(env, cap_frames=None, frames_per_step=1, action_set="full")
    screens = []
    for first in (FIRE, NO_ACTION):
        game.begin(seed=0)
        game.hold([(first, 1), (NO_ACTION, FRAMES_AFTER_FIRE)])
        screens.append(game.screen_hash())
    game.close()
    return screens[0] != screens[1]


def evaluate(
    request: EvaluateRequest,
    report: JobReport,
    should_stop: Callable[[], bool],
    show_result: Callable[[EvaluationDocument], None] = lambda _: None,
) -> EvaluationDocument | None:
    """Play the requested episodes and return the document, or None if it was stopped before the last one ended."""
    devices.compute_in(1)
    subject = _subject(request)
    protocol = request.protocol
    points = read_starts(request.starts, protocol, subject.env) if request.starts else None
    episodes = _episodes(request, points)
    report.started(subject.checkpoint, request.seed, episodes)
    begin = playing.opening(protocol, points)
    played = []
    for one in play(subject, protocol, request.seed, range(episodes), begin, should_stop):
        report.episode(one.episode)
        played.append(one)
    if len(played) < episodes:
        return None
    evaluation = document(subject, protocol, request.seed, points, [one.episode for one in played])
    report.evaluated(evaluation)
    show_result(evaluation)
    # After the result, because saving the set may fail, and the result may have taken hours.
    if request.save_starts:
        ordered = sorted(played, key=lambda one: one.episode.number)
        _save_starts(request, subject, [one.trail for one in ordered if one.trail])
    report.finished()
    return evaluation


def _subject(request: EvaluateRequest) -> Subject:
    """Return who plays. Check that the protocol fits the environment before anything is opened."""
    if request.env:
        check_fit(request.protocol, request.env, bool(request.save_starts))
        return subjects.random_subject(request.env, request.protocol)
    if request.run_directory is None:
        raise RequestError("name the run to evaluate: --run-dir DIR")
    checkpoint, config = subjects.read(request.run_directory, request.step)
    check_fit(request.protocol, config.env, bool(request.save_starts))
    subject = subjects.agent_subject(checkpoint, config, request.protocol, request.acting)
    if checkpoint.algorithm != config.algorithm:  # another library trained it, with unknown settings
        return subject
    return replace(subject, unlike_training=differences(config, request.protocol))


def _episodes(request: EvaluateRequest, points: StartSetFile | None) -> int:
    """Return the number of episodes: as requested, or the protocol's, or one per start point."""
    if points is None:
        return request.episodes or request.protocol.episodes
    available = len(points.starts)
    if request.episodes and request.episodes > available:
        raise RequestError(f"--episodes {request.episodes}: {request.starts} has {available} start points")
    return request.episodes or available


def _save_starts(request: EvaluateRequest, subject: Subject, trails: Sequence[ActionTrail]) -> None:
    if request.save_starts:
        number = PROTOCOLS["agent-starts"].episodes
        step = subject.checkpoint.step if subject.checkpoint else None
        who = f"{subject.algorithm} at step {step:,}" if step is not None else "the random policy"
        source = f"{who}, acting {subject.acting}, by {request.protocol.name} with seed {request.seed}"
        write(request.save_starts, cut(subject.env, trails, number, request.seed, "agent", source))
