"""Write the runs with Trackio's client. Runs in the peers' venv: `python -m bench.peers.write_trackio RUNS POINTS`."""

import contextlib
import json
import sys

import trackio  # type: ignore[import-not-found]

from bench.arguments import read_arguments
from bench.peers.runs import METRICS, PROJECT, STEPS_PER_POINT, SyntheticRun, synthetic_runs


def main() -> None:
    """Write the runs and print their ids as JSON."""
    kinds = {"runs": int, "points": int}
    count, points = read_arguments("bench.peers.write_trackio", __doc__, kinds)
    with contextlib.redirect_stdout(sys.stderr):
        ids = [write(run) for run in synthetic_runs(count, points)]
    print(json.dumps({"project": PROJECT, "runs": ids}))


def write(run: SyntheticRun) -> str:
    """Write one run and return its id. Trackio has no tags, so they are stored as a parameter."""
    config = {**run.parameters, "tags": list(run.tags)}
    # The other products do not record the machine by default.
    started = trackio.init(PROJECT, name=run.name, config=config, auto_log_cpu=False, auto_log_gpu=False)
    for point, row in enumerate(run.curves, start=1):
        trackio.log(dict(zip(METRICS, row, strict=True)), step=point * STEPS_PER_POINT)
    trackio.finish()
    return str(started.id)


if __name__ == "__main__":
    main()
