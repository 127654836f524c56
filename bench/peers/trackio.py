"""Trackio as a measured product."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from arcadia_backend.startup.parts import free_port
from bench.peers.product import Venv, Written, read_written
from bench.peers.requests import Request, post
from bench.peers.runs import COMPARED, METRICS
from bench.peers.servers import server

# `trackio show` opens a browser, so this calls its function directly.
SHOW = "import sys, trackio; trackio.show(sys.argv[1], open_browser=False, server_port=int(sys.argv[2]))"


class Trackio:
    """Trackio's local dashboard with its defaults."""

    name = "Trackio"

    def __init__(self, folder: Path, venv: Venv) -> None:
        self._folder, self._venv = folder, venv
        folder.mkdir(parents=True, exist_ok=True)

    def version(self) -> str:
        """Return the installed version."""
        return self._venv.version("trackio")

    def write(self, runs: int, points: int) -> Written:
        """Write the runs with `trackio.init`, `log` and `finish`."""
        place = {"TRACKIO_DIR": str(self._folder)}
        return read_written(self._venv.run("-m", "bench.peers.write_trackio", str(runs), str(points), **place))

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve the runs. Yield the address."""
        port = free_port()
        environment = self._venv.environment | {"TRACKIO_DIR": str(self._folder)}
        command = self._venv.command("-c", SHOW, "peers", str(port))
        with server(command, f"http://127.0.0.1:{port}", self._folder, environment) as url:
            yield url

    def requests(self, written: Written) -> Mapping[str, list[Request]]:
        """Return the requests of each measurement. A list has no pages, so there is none of 200 runs."""
        return {
            "list-1000": [call("get_runs_for_project", written), call("get_run_configs", written)],
            "curves": [
                call("get_metric_values", written, run=None, run_id=run, metric_name=METRICS[0])
                for run in written.runs[:COMPARED]
            ],
        }

    def page(self, written: Written) -> str:
        """Return the path of the page of the metrics of the first runs."""
        runs = ",".join(written.runs[:COMPARED])
        return f"/?project={written.project}&run_ids={runs}"


def call(function: str, written: Written, **parameters: object) -> Request:
    """Return the request that calls a function of Trackio's API."""
    return post(f"/api/{function}", json.dumps({"project": written.project, **parameters}))
