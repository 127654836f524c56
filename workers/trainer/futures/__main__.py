"""`arcadia futures`: simulate how an episode continues from one of its decisions."""

import argparse
import sys
from collections.abc import Sequence

from workers.contract.futures import FuturesDocument
from workers.trainer.errors import StopRequest
from workers.trainer.futures.request import parser, read, run_program, table


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    return run_program(parser().parse_args(arguments), compute, table)


def compute(options: argparse.Namespace, stop: StopRequest) -> FuturesDocument:
    """Simulate the requested futures."""
    request = read(options)
    from workers.trainer.futures import experiment  # loads torch, which takes seconds

    stop.interrupts = False
    return experiment.run(request, stop.requested)


if __name__ == "__main__":
    sys.exit(main())
