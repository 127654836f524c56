"""MLflow as a measured product."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from arcadia_backend.startup.parts import free_port
from bench.peers.product import Venv, Written, query_list, read_written
from bench.peers.requests import Request, get, post
from bench.peers.runs import COMPARED, METRICS
from bench.peers.servers import server


class MLflow:
    """`mlflow server` with its defaults: SQLite in the current folder and four server processes."""

    name = "MLflow"

    def __init__(self, folder: Path, venv: Venv) -> None:
        self._folder, self._venv = folder, venv
        folder.mkdir(parents=True, exist_ok=True)

    def version(self) -> str:
        """Return the installed version."""
        return self._venv.version("mlflow")

    def write(self, runs: int, points: int) -> Written:
        """Write the runs with MlflowClient into the database that the server uses by default."""
        uri = f"sqlite:///{self._folder / 'mlflow.db'}"
        return read_written(self._venv.run("-m", "bench.peers.write_mlflow", uri, str(runs), str(points)))

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve the runs. Yield the address."""
        port = free_port()
        command = self._venv.command("-m", "mlflow", "server", "--port", str(port))
        with server(command, f"http://127.0.0.1:{port}", self._folder, self._venv.environment) as url:
            yield url

    def requests(self, written: Written) -> Mapping[str, list[Request]]:
        """Return the requests of each measurement. The history of several runs is one request, as on its pages."""
        curves = {"metric_key": METRICS[0], "run_id": written.runs[:COMPARED]}
        return {
            "list-1000": [search(written, 1_000)],
            "list-200": [search(written, 200)],
            "curves": [get("/ajax-api/2.0/mlflow/metrics/get-history-bulk", **curves)],
        }

    def page(self, written: Written) -> str:
        """Return the path of the page of one metric of the first runs, to which the comparison of runs links."""
        runs, metric = query_list(written.runs[:COMPARED]), query_list([METRICS[0]])
        query = {
            "runs": runs,
            "metric": json.dumps(METRICS[0]),
            "experiments": query_list([written.project]),
            "plot_metric_keys": metric,
        }
        return "/#/metric?" + "&".join(f"{name}={quote(value)}" for name, value in query.items())


def search(written: Written, count: int) -> Request:
    """Return the request that lists runs."""
    body = {"experiment_ids": [written.project], "max_results": count, "order_by": ["attributes.start_time DESC"]}
    return post("/ajax-api/2.0/mlflow/runs/search", json.dumps(body))
