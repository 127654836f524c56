"""`arcadia calibrate`: compare an agent's values with simulated futures."""

import argparse
import sys
from collections.abc import Sequence

from workers.contract.futures import CalibrationDocument
from workers.trainer.calibration import parser, read, table
from workers.trainer.errors import StopRequest
from workers.trainer.futures.request import run_program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    return run_program(parser().parse_args(arguments), compute, table)


def compute(options: argparse.Namespace, stop: StopRequest) -> CalibrationDocument:
    """Compute the requested calibration."""
    request = read(options)
    from workers.trainer.calibration import calibrating  # loads torch, which takes seconds

    stop.interrupts = False
    return calibrating.calibrate(request, stop.requested)


if __name__ == "__main__":
    sys.exit(main())
