"""`arcadia evaluate`: evaluate a checkpoint's agent or the random policy with a protocol."""

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from workers.contract.plugins.loading import load_named_in_environment
from workers.contract.protocols.document import EvaluationDocument
from workers.trainer.errors import StopRequest, TrainerError, show
from workers.trainer.evaluation import request as requests
from workers.trainer.evaluation.report import JobReport, table
from workers.trainer.evaluation.request import EvaluateRequest, RequestError
from workers.trainer.run.journal import Journal


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    load_named_in_environment()
    try:
        request = requests.read(requests.parser().parse_args(arguments))
    except TrainerError as error:
        print(error, file=sys.stderr)
        return 2
    with ExitStack() as opened:
        folder = request.events
        report = JobReport(
            begin=(lambda: opened.enter_context(open_journal(folder))) if folder else None,
            command=["python", "-m", "workers.trainer.evaluate", *(sys.argv[1:] if arguments is None else arguments)],
        )
        return run_evaluation(request, report, StopRequest())


def open_journal(folder: Path) -> Journal:
    """Open the event file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Journal(folder)
    except OSError as error:
        raise RequestError(f"--dir {folder} cannot be used: {error.strerror}") from error


def run_evaluation(request: EvaluateRequest, report: JobReport, stop: StopRequest) -> int:
    """Evaluate, and print the result."""

    def show_result(document: EvaluationDocument) -> None:
        print(document.model_dump_json(indent=2) if request.json else table(document), flush=True)

    try:
        stop.listen()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        from workers.trainer.evaluation import evaluating  # loads torch, which takes seconds

        stop.interrupts = False
        document = evaluating.evaluate(request, report, stop.requested, show_result)
    except KeyboardInterrupt:
        document = None
    except Exception as error:
        report.failed(error)
        show(error)
        return 2 if isinstance(error, RequestError) else 1
    if document is None:
        report.stopped(f"{stop.reason} after {report.done} of {report.episodes} episodes")
        print(f"{stop.reason} after {report.done} of {report.episodes} episodes: there is no result", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
