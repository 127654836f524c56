"""`python -m arcadia_workers.trainer.job`: run one job, for a worker or without a server."""

import argparse
import contextlib
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.jobs import (
    JOB_KINDS,
    CalibrationParameters,
    EvaluationParameters,
    FilmParameters,
    FuturesParameters,
    JobKind,
    JobRequest,
    PracticeParameters,
    RecordingParameters,
    ReviewParameters,
    SaliencyParameters,
    StartPointsParameters,
)
from arcadia_workers.contract.live import LiveAddress, LiveParameters, PlayParameters
from arcadia_workers.contract.plugins.loading import load_named_in_environment
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.review import ReviewDocument
from arcadia_workers.contract.tracks import packed_saliency
from arcadia_workers.trainer import commands
from arcadia_workers.trainer.errors import StopRequest
from arcadia_workers.trainer.evaluation.report import JobReport
from arcadia_workers.trainer.evaluation.request import EvaluateRequest
from arcadia_workers.trainer.futures.request import FuturesRequest
from arcadia_workers.trainer.run import durable_files
from arcadia_workers.trainer.run.journal import Journal

# On a desktop, each session gets a share of the cores regardless of niceness. This file sets the session's niceness.
SESSION_NICENESS = Path("/proc/self/autogroup")
SALIENCY_FILE = "saliency.npz"
# A review reports what it knows this often, so that a killed one repeats only a little.
KNOWN_SECONDS = 3.0


def awaited_arguments(pipe: Path) -> list[str]:
    """Load the modules of live games and recordings, then wait for the arguments in a named pipe."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    for module in ("arcadia_workers.trainer.games.subjects", "arcadia_workers.trainer.live.show"):
        importlib.import_module(module)
    with pipe.open() as line:
        return [str(argument) for argument in json.loads(line.readline())]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested job. Return the exit status."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] and given[0] in commands.COMMANDS:
        return commands.main(given)
    load_named_in_environment()
    if given[:1] == ["--wait-for-arguments"]:
        given = awaited_arguments(Path(given[1]))
    parser = argparse.ArgumentParser(prog="python -m arcadia_workers.trainer.job", description=__doc__)
    parser.add_argument("request", type=Path, metavar="REQUEST.json", help="the job request")
    parser.add_argument("--dir", type=Path, required=True, metavar="DIR", help="the job's directory")
    parser.add_argument("--nice", type=int, default=0, metavar="N", help="niceness, 0 to 19")
    options = parser.parse_args(given)
    give_way(options.nice)
    job = JobRequest.model_validate_json(options.request.read_bytes())
    with Journal(options.dir) as journal:
        command = ["python", "-m", "arcadia_workers.trainer.job", *given]
        report, stop = JobReport(journal, command=command), StopRequest()
        return commands.run(partial(do_job, job, options.dir), report, stop)


def give_way(niceness: int) -> None:
    """Lower the priority of this process."""
    total = os.nice(niceness)
    with contextlib.suppress(OSError):  # other systems use only the niceness of the process
        SESSION_NICENESS.write_text(str(total))


@dataclass(frozen=True)
class Place:
    """Where a job is done: in a directory, with the checkpoint of a step or the address of a live game, if any."""

    directory: Path
    step: int | None
    live: LiveAddress | None


Work = Callable[[Any, Place, JobReport, StopRequest], None]
"""Does a job with its parameters, and reports the result."""


def do_job(job: JobRequest, directory: Path, report: JobReport, stop: StopRequest) -> None:
    """Do the requested job."""
    parameters = JOB_KINDS[job.kind].parameters.model_validate(job.parameters)
    WORK[job.kind](parameters, Place(directory, job.step, job.live), report, stop)


def evaluate(which: EvaluationParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Evaluate the checkpoint."""
    from arcadia_workers.trainer.evaluation import evaluating  # loads torch, which takes seconds

    stop.interrupts = False
    protocol = PROTOCOLS[which.protocol]
    request = EvaluateRequest(
        protocol=protocol,
        run_directory=place.directory,
        step=place.step,
        env=None,
        episodes=which.episodes,
        seed=which.seed,
        acting=which.acting,
        starts=place.directory / layout.STARTS if protocol.starts_from else None,
    )
    if evaluating.evaluate(request, report, stop.requested, lambda _document: None) is None:
        raise KeyboardInterrupt


def record_episode(which: RecordingParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Record the requested episode."""
    from arcadia_workers.trainer.games import subjects  # loads torch, which takes seconds
    from arcadia_workers.trainer.recording.replays import record_replay

    stop.interrupts = False
    checkpoint, config = subjects.read(place.directory, place.step)
    report.started(checkpoint.file, which.seed)
    report.recorded(checkpoint.file.file, record_replay(place.directory, checkpoint, config, which, stop.requested))


def compute_saliency(which: SaliencyParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Compute the saliency of a recording."""
    from arcadia_workers.trainer.games import subjects  # loads torch, which takes seconds
    from arcadia_workers.trainer.recording.retracing import salient

    stop.interrupts = False
    checkpoint, config = subjects.read(place.directory, place.step)
    report.started(checkpoint.file, which.seed)
    total = len(which.actions)
    maps = salient(checkpoint, config, which, lambda done: report.advanced(done, total), stop.requested)
    durable_files.write(place.directory / SALIENCY_FILE, packed_saliency(maps))
    report.result(events.SaliencyEvent, file=SALIENCY_FILE)


def simulate_futures(which: FuturesParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Simulate how a recorded episode could continue from one of its decisions."""
    from arcadia_workers.trainer.futures import experiment, simulating  # loads torch, which takes seconds
    from arcadia_workers.trainer.recording.retracing import recorded_actions

    stop.interrupts = False
    player = simulating.load(place.directory, place.step, which.protocol)
    report.started(player.checkpoint.file, which.seed)
    request = FuturesRequest(
        place.directory, place.step, which.protocol, which.seed, which.episode, which, videos=place.directory
    )
    actions = [*recorded_actions(which.actions)]
    document = experiment.simulated(
        request, player, actions=actions, should_stop=stop.requested, advance=report.advanced
    )
    report.result(events.FuturesEvent, document=document)


def calibrate(which: CalibrationParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Compare the critic of a checkpoint with simulated futures."""
    from arcadia_workers.trainer.calibration import calibrating  # loads torch, which takes seconds
    from arcadia_workers.trainer.futures import simulating

    stop.interrupts = False
    player = simulating.load(place.directory, place.step, which.protocol)
    report.started(player.checkpoint.file, which.seed, which.episodes)
    document = calibrating.calibration(which, player, report.advanced, stop.requested)
    report.result(events.CalibrationEvent, document=document)


def review_episode(which: ReviewParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Find the decisions of a recorded episode at which the agent lost, or those of a person's game."""
    from arcadia_workers.trainer.futures import simulating  # loads torch, which takes seconds
    from arcadia_workers.trainer.recording.recording import StoppedError
    from arcadia_workers.trainer.review import ReviewRequest, reviewing

    stop.interrupts = False
    if which.kept:
        player = reviewing.watcher(place.directory, place.step, which.kept)
    else:
        player = simulating.load(place.directory, place.step, which.protocol)
    report.started(player.checkpoint.file, which.seed)
    request = ReviewRequest(place.directory, place.step, which.protocol, which.seed, which.episode, which, which.kept)
    reported = time.monotonic()

    def advance(known: ReviewDocument, done: int, total: int) -> None:
        nonlocal reported
        report.advanced(done, total)
        if time.monotonic() - reported >= KNOWN_SECONDS:
            report.known(events.ReviewEvent, document=known)
            reported = time.monotonic()

    document = reviewing.reviewed(
        request, player, actions=which.actions, known=which.known, should_stop=stop.requested, advance=advance
    )
    if stop.requested():
        report.known(events.ReviewEvent, document=document)
        raise StoppedError("the review was stopped")
    report.result(events.ReviewEvent, document=document)


def practice_mistakes(which: PracticeParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Plan a practice, or measure one of its arms."""
    from arcadia_workers.trainer.futures import simulating  # loads torch, which takes seconds
    from arcadia_workers.trainer.host import devices
    from arcadia_workers.trainer.practice import practicing

    stop.interrupts = False
    devices.compute_in(1)
    player = simulating.load(place.directory, place.step, which.protocol)
    report.started(player.checkpoint.file, which.plan.evaluation_seed if which.plan else 0)
    if which.plan is None:
        practicing.plan_for_job(player, which, report, stop.requested)
    else:
        practicing.measure_for_job(player, which.plan, which, report, stop.requested)


def film_kept_game(which: FilmParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Render the video of a game that a person played."""
    from arcadia_workers.trainer.recording import replays  # loads torch, which takes seconds

    stop.interrupts = False
    report.started(None, which.seed)
    replays.film(which, place.directory, lambda done: report.advanced(done, which.played), stop.requested)
    report.result(events.Film, file=replays.FILM, poster=replays.POSTER)


def save_start_points(which: StartPointsParameters, _place: Place, report: JobReport, stop: StopRequest) -> None:
    """Repeat a recorded episode and report start points at its decisions."""
    from arcadia_workers.trainer.recording import retracing  # loads torch, which takes seconds

    stop.interrupts = False
    report.started(None, which.seed)
    total = len(which.decisions)
    points = retracing.points(which, lambda done: report.advanced(done, total), stop.requested)
    report.result(events.StartPointsEvent, **asdict(points))


def play_live(which: LiveParameters | PlayParameters, place: Place, report: JobReport, stop: StopRequest) -> None:
    """Play in real time for viewers, by an agent or one of the viewers, until nobody watches."""
    from arcadia_workers.trainer.games import subjects  # loads torch, which takes seconds
    from arcadia_workers.trainer.host import devices
    from arcadia_workers.trainer.live import live_agent
    from arcadia_workers.trainer.live.connection import LiveConnection
    from arcadia_workers.trainer.live.show import Show
    from arcadia_workers.trainer.recording.recording import StoppedError

    if place.live is None:
        raise ValueError("a live game's request names the backend's address")
    stop.interrupts = False
    devices.compute_in(1)
    played = which if isinstance(which, PlayParameters) else None
    if played and played.origin is None:
        staging = live_agent.of_people(played.env)
        report.started(None, seed=0)
    else:
        checkpoint, config = subjects.read(place.directory, place.step)
        report.started(checkpoint.file, seed=0)
        if played and played.origin:
            staging = live_agent.of_replay(checkpoint, config, played.origin, stop.requested)
        else:
            staging = live_agent.of_agent(checkpoint, config)
    with LiveConnection(place.live) as line:
        ended = Show(line, staging, place.directory, report.kept).play(stop.requested)
    if stop.requested():
        raise StoppedError("the live game was stopped")
    report.ended(ended)


WORK: dict[JobKind, Work] = {
    "evaluation": evaluate,
    "recording": record_episode,
    "saliency": compute_saliency,
    "futures": simulate_futures,
    "calibration": calibrate,
    "review": review_episode,
    "practice": practice_mistakes,
    "live": play_live,
    "play": play_live,
    "film": film_kept_game,
    "start_points": save_start_points,
}


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is on the disk. Unloading torch would take seconds.
    os._exit(status)
