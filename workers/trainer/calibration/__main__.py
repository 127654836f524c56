"""`arcadia calibrate`: compare an agent's values with simulated futures."""

import argparse
import sys
from collections.abc import Sequence

from workers.contract.calibrations import CalibrationDocument
from workers.trainer.calibration.request import parser, read
from workers.trainer.calibration.table import table
from workers.trainer.futures import program
from workers.trainer.stopping import StopRequest


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    return program.main(parser().parse_args(arguments), compute, table)


def compute(options: argparse.Namespace, stop: StopRequest) -> CalibrationDocument:
    """Compute the requested calibration."""
    request = read(options)
    from workers.trainer.calibration import calibrating  # loads torch, which takes seconds

    stop.interrupts = False
    return calibrating.calibrate(request, stop.requested)


if __name__ == "__main__":
    sys.exit(main())
