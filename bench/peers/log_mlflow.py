"""Log one run with MLflow's client, in the peers' venv: `python -m bench.peers.log_mlflow URL NUMBER POINTS`."""

import mlflow  # type: ignore[import-not-found]

from bench.arguments import read_arguments
from bench.peers.log_calls import report, time_calls
from bench.peers.runs import PROJECT


def main() -> None:
    """Log a run and print the measurements."""
    kinds = {"url": str, "number": int, "points": int}
    url, number, points = read_arguments("bench.peers.log_mlflow", __doc__, kinds)
    mlflow.set_tracking_uri(url)
    mlflow.set_experiment(PROJECT)
    with mlflow.start_run(run_name=f"run {number}"):
        mlflow.log_params({"seed": number})
        measured = time_calls(mlflow.log_metrics, number, points)
    report(measured)


if __name__ == "__main__":
    main()
