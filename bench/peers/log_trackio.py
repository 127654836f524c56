"""Log one run with Trackio's client, in the peers' venv: `python -m bench.peers.log_trackio NUMBER POINTS`."""

import contextlib
import sys

import trackio  # type: ignore[import-not-found]

from bench.arguments import read_arguments
from bench.peers.log_calls import report, time_calls
from bench.peers.runs import PROJECT


def main() -> None:
    """Log a run and print the measurements."""
    kinds = {"number": int, "points": int}
    number, points = read_arguments("bench.peers.log_trackio", __doc__, kinds)
    with contextlib.redirect_stdout(sys.stderr):
        # The other products do not record the machine by default.
        trackio.init(PROJECT, name=f"run {number}", config={"seed": number}, auto_log_cpu=False, auto_log_gpu=False)
        measured = time_calls(trackio.log, number, points)
        trackio.finish()
    report(measured)


if __name__ == "__main__":
    main()
