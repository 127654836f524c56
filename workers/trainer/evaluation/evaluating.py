"""One evaluation, from the checkpoint to the document."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument
from workers.contract.protocols.starts import StartSetFile
from workers.trainer.evaluation import starts, unlike_training, verdict
from workers.trainer.evaluation.report import JobReport
from workers.trainer.evaluation.request import EvaluateRequest, RequestError, check_fit
from workers.trainer.games import openings, subjects
from workers.trainer.games.playing import ActionTrail, play
from workers.trainer.games.subjects import Subject
from workers.trainer.host import devices


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
    points = starts.read(request.starts, protocol, subject.env) if request.starts else None
    episodes = _episodes(request, points)
    report.started(subject.checkpoint, request.seed, episodes)
    begin = openings.opening(protocol, points)
    played = []
    for one in play(subject, protocol, request.seed, range(episodes), begin, should_stop):
        report.episode(one.episode)
        played.append(one)
    if len(played) < episodes:
        return None
    found = verdict.document(subject, protocol, request.seed, points, [one.episode for one in played])
    report.evaluated(found)
    show_result(found)
    # After the result, because saving the set may fail, and the result may have taken hours.
    if request.save_starts:
        ordered = sorted(played, key=lambda one: one.episode.number)
        _save_starts(request, subject, [one.trail for one in ordered if one.trail])
    report.finished()
    return found


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
    return replace(subject, unlike_training=unlike_training.differences(config, request.protocol))


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
        starts.write(request.save_starts, starts.cut(subject.env, trails, number, request.seed, "agent", source))
