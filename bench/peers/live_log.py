"""Log live runs with a peer's client, in the peers' venv: `python -m bench.peers.live_log PRODUCT URL RUNS`.

Each run has earlier points and then gets a point each second, until the process is terminated.
"""

import itertools
import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stdout

from bench.arguments import read_arguments
from bench.peers.runs import METRICS, PROJECT, STEPS_PER_POINT, SyntheticRun, synthetic_runs

EARLIER, POINTS, PERIOD_SECONDS = 200, 2_000, 1.0
# Logs the values of all metrics at a step.
Log = Callable[[dict[str, float], int], None]


def with_mlflow(url: str, project: str, run: SyntheticRun) -> tuple[str, Log]:
    """Start a run of MLflow. Return its id, and a function that logs to it."""
    from mlflow import MlflowClient  # type: ignore[import-not-found]
    from mlflow.entities import Metric  # type: ignore[import-not-found]

    client = MlflowClient(tracking_uri=url)
    run_id = str(client.create_run(project, run_name=run.name).info.run_id)

    def log(values: dict[str, float], step: int) -> None:
        now = int(1_000 * time.time())
        client.log_batch(run_id, metrics=[Metric(name, value, now, step) for name, value in values.items()])

    return run_id, log


def with_trackio(_url: str, project: str, run: SyntheticRun) -> tuple[str, Log]:
    """Start a run of Trackio, which belongs to the current thread. Return its id, and a function that logs to it."""
    import trackio  # type: ignore[import-not-found]

    started = trackio.init(project, name=run.name, auto_log_cpu=False, auto_log_gpu=False)
    return str(started.id), lambda values, step: trackio.log(values, step=step)


def project_of(product: str, url: str) -> str:
    """Return the project that the runs are in."""
    if product == "trackio":
        return PROJECT
    from mlflow import MlflowClient

    return str(MlflowClient(tracking_uri=url).create_experiment(PROJECT))


def main() -> None:
    """Log the runs, each in its own thread. Print their ids once the earlier points are logged."""
    kinds = {"product": str, "url": str, "runs": int}
    product, url, count = read_arguments("bench.peers.live_log", __doc__, kinds)
    start = {"mlflow": with_mlflow, "trackio": with_trackio}[product]
    # Trackio prints messages, also later.
    with redirect_stdout(sys.stderr):
        project = project_of(product, url)
        ids: dict[int, str] = {}
        ready = threading.Barrier(count + 1)

        def go_on(run: SyntheticRun) -> None:
            ids[run.number], log = start(url, project, run)
            for point, row in enumerate(itertools.cycle(run.curves), start=1):
                log(dict(zip(METRICS, row, strict=True)), point * STEPS_PER_POINT)
                if point == EARLIER:
                    ready.wait()
                if point >= EARLIER:
                    time.sleep(PERIOD_SECONDS)

        for run in synthetic_runs(count, POINTS):
            threading.Thread(target=go_on, args=(run,), daemon=True).start()
        ready.wait()
        written = {"project": project, "runs": [ids[number] for number in range(count)]}
        print(json.dumps(written), file=sys.__stdout__, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
