"""`python -m workers.trainer.job`: do one job for a run, in little haste; a worker starts it."""

import argparse
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from workers.contract import layout
from workers.contract.jobs import (
    EvaluationParameters,
    FilmParameters,
    JobRequest,
    RecordingParameters,
    SaliencyParameters,
)
from workers.contract.live import LiveAddress, PlayParameters
from workers.contract.protocols import PROTOCOLS
from workers.contract.saliency import packed
from workers.contract.worker_api import JobKind
from workers.trainer.evaluate import carry_out
from workers.trainer.evaluation.report import JobReport
from workers.trainer.evaluation.request import EvaluateRequest
from workers.trainer.run import durable_files
from workers.trainer.run.journal import Journal
from workers.trainer.stopping import StopRequest

# On a desktop each session has a share of the cores whatever its processes' niceness: this is the session's own.
SESSION_NICENESS = Path("/proc/self/autogroup")
SALIENCY_FILE = "saliency.npz"


def awaited_arguments(pipe: Path) -> list[str]:
    """Load what live games and recordings need, then wait for the arguments in a named pipe."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    for module in ("workers.trainer.games.subjects", "workers.trainer.live.show"):
        importlib.import_module(module)
    with pipe.open() as line:
        return [str(argument) for argument in json.loads(line.readline())]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the request says; return the exit status."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == ["--wait-for-arguments"]:
        given = awaited_arguments(Path(given[1]))
    parser = argparse.ArgumentParser(prog="python -m workers.trainer.job", description=__doc__)
    parser.add_argument("request", type=Path, metavar="REQUEST.json", help="what to do")
    parser.add_argument("--dir", type=Path, required=True, metavar="DIR", help="has the checkpoint, gets events.jsonl")
    parser.add_argument(
        "--nice", type=int, default=0, metavar="N", help="how far to give way to other programs, 0 to 19"
    )
    options = parser.parse_args(given)
    give_way(options.nice)
    asked = JobRequest.model_validate_json(options.request.read_bytes())
    with Journal(options.dir) as journal:
        report, stop = JobReport(journal), StopRequest()
        if asked.kind == "evaluation":
            return carry_out(evaluation(asked, options.dir), report, stop)
        return carried_out(WORK[asked.kind], asked, options.dir, report, stop)


def give_way(niceness: int) -> None:
    """Let other programs go first."""
    total = os.nice(niceness)
    with contextlib.suppress(OSError):  # systems without it go by the niceness of the process alone
        SESSION_NICENESS.write_text(str(total))


def evaluation(asked: JobRequest, directory: Path) -> EvaluateRequest:
    """Say what is evaluated and how."""
    how = EvaluationParameters.model_validate(asked.parameters)
    protocol = PROTOCOLS[how.protocol]
    return EvaluateRequest(
        protocol=protocol,
        run_directory=directory,
        step=asked.step,
        env=None,
        episodes=how.episodes,
        seed=how.seed,
        acting=how.acting,
        starts=directory / layout.STARTS if protocol.starts_from else None,
        save_starts=None,
        events=None,
        json=True,
    )


Work = Callable[[JobRequest, Path, JobReport, StopRequest], None]
"""Does a job beside its checkpoint, and reports what came of it."""


def carried_out(work: Work, asked: JobRequest, directory: Path, report: JobReport, stop: StopRequest) -> int:
    """Do what was asked for; return the exit status."""
    try:
        stop.listen()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        work(asked, directory, report, stop)
    except KeyboardInterrupt:
        report.stopped(f"{stop.reason} before it began")
        return 1
    except Exception as error:
        if stop.requested():
            report.stopped(f"{stop.reason} on the way")
            return 1
        report.failed(error)
        print(error, file=sys.stderr)
        return 1
    return 0


def film(asked: JobRequest, directory: Path, report: JobReport, stop: StopRequest) -> None:
    """Record the episode that was asked for."""
    from workers.trainer.games import subjects  # loads torch, which takes seconds
    from workers.trainer.recording.replays import record_replay

    stop.interrupts = False
    which = RecordingParameters.model_validate(asked.parameters)
    checkpoint, config = subjects.read(directory, asked.step)
    report.started(checkpoint.file.step, checkpoint.file.frames, which.seed, 1)
    report.recorded(checkpoint.file.file, record_replay(directory, checkpoint, config, which, stop.requested))


def shed_light(asked: JobRequest, directory: Path, report: JobReport, stop: StopRequest) -> None:
    """Compute the saliency of a recording."""
    from workers.trainer.games import subjects  # loads torch, which takes seconds
    from workers.trainer.recording.retracing import salient

    stop.interrupts = False
    which = SaliencyParameters.model_validate(asked.parameters)
    checkpoint, config = subjects.read(directory, asked.step)
    report.started(checkpoint.file.step, checkpoint.file.frames, which.seed, 1)
    total = len(which.actions)
    found = salient(checkpoint, config, which, lambda done: report.advanced(done, total), stop.requested)
    durable_files.write(directory / SALIENCY_FILE, packed(found))
    report.salient(SALIENCY_FILE)


def film_kept_game(asked: JobRequest, directory: Path, report: JobReport, stop: StopRequest) -> None:
    """Film a game that a person has played."""
    from workers.trainer.recording import kept_games  # loads torch, which takes seconds

    stop.interrupts = False
    which = FilmParameters.model_validate(asked.parameters)
    report.started(0, 0, which.seed, 1)
    kept_games.film(which, directory, lambda done: report.advanced(done, which.played), stop.requested)
    report.filmed(kept_games.FILM, kept_games.POSTER)


def address_of(asked: JobRequest) -> LiveAddress:
    """Return where a live game reaches the backend."""
    if asked.live is None:
        raise ValueError("a live game's request names the backend's address")
    return asked.live


def play_live(asked: JobRequest, directory: Path, report: JobReport, stop: StopRequest) -> None:
    """Play in real time for those who watch, by an agent or by a person among them, until nobody watches."""
    from workers.trainer.games import subjects  # loads torch, which takes seconds
    from workers.trainer.host import devices
    from workers.trainer.live import stagings
    from workers.trainer.live.connection import LiveConnection
    from workers.trainer.live.show import Show
    from workers.trainer.recording.recording import StoppedError

    stop.interrupts = False
    devices.compute_in(1)
    if asked.kind == "play":
        staging = stagings.of_people(PlayParameters.model_validate(asked.parameters).env)
        report.started(0, 0, 0, 1)
    else:
        checkpoint, config = subjects.read(directory, asked.step)
        staging = stagings.of_agent(checkpoint, config)
        report.started(checkpoint.file.step, checkpoint.file.frames, 0, 1)
    with LiveConnection(address_of(asked)) as line:
        ended = Show(line, staging, directory, report.kept).play(stop.requested)
    if stop.requested():
        raise StoppedError("the live game was stopped")
    report.ended(ended)


WORK: dict[JobKind, Work] = {
    "recording": film,
    "saliency": shed_light,
    "live": play_live,
    "play": play_live,
    "film": film_kept_game,
}


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # All is on the disk. Taking torch apart would cost seconds.
    os._exit(status)
