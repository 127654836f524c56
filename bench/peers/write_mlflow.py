"""Write the runs with MLflow's client, in the peers' venv: `python -m bench.peers.write_mlflow URI RUNS POINTS`."""

import json

from mlflow import MlflowClient  # type: ignore[import-not-found]
from mlflow.entities import Metric, Param, RunTag  # type: ignore[import-not-found]

from bench.arguments import read_arguments
from bench.peers.runs import EPOCH, METRICS, PROJECT, STEPS_PER_POINT, SyntheticRun, synthetic_runs

# Maximum number of items that MLflow accepts in one call.
BATCH_SIZE = 1_000


def main() -> None:
    """Write the runs and print their ids and that of the experiment as JSON."""
    kinds = {"uri": str, "runs": int, "points": int}
    uri, count, points = read_arguments("bench.peers.write_mlflow", __doc__, kinds)
    client = MlflowClient(tracking_uri=uri)
    experiment = client.create_experiment(PROJECT)
    ids = [write(client, experiment, run) for run in synthetic_runs(count, points)]
    print(json.dumps({"project": experiment, "runs": ids}))


def write(client: MlflowClient, experiment: str, run: SyntheticRun) -> str:
    """Write one run and return its id."""
    created = client.create_run(experiment, run_name=run.name)
    run_id = str(created.info.run_id)
    metrics = [
        Metric(name, value, int(1_000 * (EPOCH + point)), point * STEPS_PER_POINT)
        for point, row in enumerate(run.curves, start=1)
        for name, value in zip(METRICS, row, strict=True)
    ]
    parameters = [Param(name, str(value)) for name, value in run.parameters.items()]
    client.log_batch(run_id, params=parameters, tags=[RunTag(tag, "true") for tag in run.tags])
    for first in range(0, len(metrics), BATCH_SIZE):
        client.log_batch(run_id, metrics=metrics[first : first + BATCH_SIZE])
    client.set_terminated(run_id)
    return run_id


if __name__ == "__main__":
    main()
