"""`python -m workers.trainer.errand`: do one errand for a run, in little haste; a worker starts it."""

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workers.contract.errands import ErrandRequest, EvaluationParameters, RecordingParameters
from workers.contract.live import LiveAddress
from workers.contract.protocols import PROTOCOLS
from workers.trainer.evaluate import carry_out
from workers.trainer.evaluation.report import Report
from workers.trainer.evaluation.request import Request
from workers.trainer.run.journal import Journal
from workers.trainer.stopping import StopRequest

# On a desktop each session has a share of the cores whatever its processes' niceness: this is the session's own.
SESSION_NICENESS = Path("/proc/self/autogroup")


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the request says; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m workers.trainer.errand", description=__doc__)
    parser.add_argument("request", type=Path, metavar="REQUEST.json", help="what to do")
    parser.add_argument("--dir", type=Path, required=True, metavar="DIR", help="has the checkpoint, gets events.jsonl")
    parser.add_argument(
        "--nice", type=int, default=0, metavar="N", help="how far to give way to other programs, 0 to 19"
    )
    options = parser.parse_args(arguments)
    give_way(options.nice)
    asked = ErrandRequest.model_validate_json(options.request.read_bytes())
    with Journal(options.dir) as journal:
        report, stop = Report(journal), StopRequest()
        if asked.kind == "recording":
            return film(asked, options.dir, report, stop)
        if asked.kind == "live":
            return play_live(asked, options.dir, report, stop)
        return carry_out(evaluation(asked, options.dir), report, stop)


def give_way(niceness: int) -> None:
    """Let other programs go first."""
    os.nice(niceness)
    with contextlib.suppress(OSError):  # systems without it go by the niceness of the process alone
        SESSION_NICENESS.write_text(str(niceness))


def evaluation(asked: ErrandRequest, directory: Path) -> Request:
    """Say what is evaluated and how."""
    how = EvaluationParameters.model_validate(asked.parameters)
    return Request(
        protocol=PROTOCOLS[how.protocol],
        run_directory=directory,
        step=asked.step,
        env=None,
        episodes=how.episodes,
        seed=how.seed,
        acting=how.acting,
        starts=None,
        save_starts=None,
        events=None,
        json=True,
    )


def film(asked: ErrandRequest, directory: Path, report: Report, stop: StopRequest) -> int:
    """Record the episode that was asked for; its files lie beside the checkpoint."""
    try:
        stop.listen()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        from workers.trainer.evaluation import subjects  # loads torch, which takes seconds
        from workers.trainer.recording.replays import record_replay

        stop.interrupts = False
        which = RecordingParameters.model_validate(asked.parameters)
        checkpoint, config = subjects.read(directory, asked.step)
        report.started(checkpoint.file.step, checkpoint.file.frames, which.seed, 1)
        replay = record_replay(directory, checkpoint, config, which, stop.requested)
    except KeyboardInterrupt:
        report.stopped(f"{stop.reason} before anything was recorded")
        return 1
    except Exception as error:
        if stop.requested():
            report.stopped(f"{stop.reason} while it was recorded")
            return 1
        report.failed(error)
        print(error, file=sys.stderr)
        return 1
    report.recorded(checkpoint.file.file, replay)
    return 0


def address_of(asked: ErrandRequest) -> LiveAddress:
    """Return where a live game reaches the backend."""
    if asked.live is None:
        raise ValueError("a live game's request names the backend's address")
    return asked.live


def play_live(asked: ErrandRequest, directory: Path, report: Report, stop: StopRequest) -> int:
    """Play in real time for those who watch, until nobody does."""
    try:
        stop.listen()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        import torch  # which takes seconds to load

        from workers.trainer.evaluation import subjects
        from workers.trainer.watching.line import Line
        from workers.trainer.watching.show import Show

        stop.interrupts = False
        torch.set_num_threads(1)
        checkpoint, config = subjects.read(directory, asked.step)
        report.started(checkpoint.file.step, checkpoint.file.frames, 0, 1)
        with Line(address_of(asked)) as line:
            ended = Show(line, checkpoint, config, directory).play(stop.requested)
    except KeyboardInterrupt:
        report.stopped(f"{stop.reason} before the game began")
        return 1
    except Exception as error:
        report.failed(error)
        print(error, file=sys.stderr)
        return 1
    if stop.requested():
        report.stopped(f"{stop.reason} while it was played")
        return 1
    report.ended(ended)
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # All is on the disk. Taking torch apart would cost seconds.
    os._exit(status)
