"""Arcadia as a measured product."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.peers.product import REPOSITORY, Written
from bench.peers.requests import Request, get
from bench.peers.runs import COMPARED, EPOCH, METRICS, STEPS_PER_POINT, SyntheticRun, synthetic_runs
from tests.factories import Api, event, started
from tests.installation import TOKEN, Installation

EVENTS_PER_REQUEST = 1_000


class Arcadia:
    """Arcadia with SQLite and Redis, without workers."""

    name = "Arcadia"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def version(self) -> str:
        """Return the commit, because a release has no other number."""
        command = ["git", "describe", "--always", "--dirty"]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=REPOSITORY).stdout.strip()

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve the runs. Yield the address."""
        with Installation(self._folder, sweep_seconds=2.0) as installation:
            yield f"http://127.0.0.1:{installation.port}"

    def write(self, runs: int, points: int) -> Written:
        """Launch the runs and report them through the API of workers, as trainers do."""
        with self.serve() as url, client(url) as user, client(url, TOKEN) as worker:
            api = Api(user, worker)
            return Written("", [write(api, run) for run in synthetic_runs(runs, points)])

    def requests(self, written: Written) -> Mapping[str, list[Request]]:
        """Return the requests of each measurement. Curves are read as Arcadia's client reads them."""
        curve = {"names": METRICS[0], "buckets": 5_000}
        return {
            "list-1000": [get("/api/v1/runs", limit=1_000)],
            "list-200": [get("/api/v1/runs", limit=200)],
            "curves": [get(f"/api/v1/runs/{run}/metrics", **curve) for run in written.runs[:COMPARED]],
        }

    def page(self, written: Written) -> str:
        """Return the path of the page that compares the first runs."""
        return f"/compare?runs={','.join(written.runs[:COMPARED])}"


def client(url: str, token: str | None = None) -> httpx.Client:
    """Return a client of the API for a user, or for a worker with its token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=url, trust_env=False, timeout=60, headers=headers)


def write(api: Api, run: SyntheticRun) -> str:
    """Launch a run, report its points and finish it. Return its number."""
    launched = api.launch(name=run.name, config=run.parameters, tags=list(run.tags))
    run_id, attempt = int(launched["id"]), int(api.claim()["attempt"])
    total = len(run.curves) * STEPS_PER_POINT
    events = [started(), *reported(run), event(len(run.curves) + 2, "finished", total)]
    for first in range(0, len(events), EVENTS_PER_REQUEST):
        api.send(run_id, attempt, *events[first : first + EVENTS_PER_REQUEST]).raise_for_status()
    api.release(run_id, attempt, "finished").raise_for_status()
    return str(run_id)


def reported(run: SyntheticRun) -> Iterator[dict[str, object]]:
    """Yield one event per point. The return is that of an episode that ended there, so its length is also stored."""
    for point, row in enumerate(run.curves, start=1):
        step = point * STEPS_PER_POINT
        place = {"step": step, "frames": step, "time": EPOCH + point}
        episode = {"step": step, "frames": step, "episode_return": row[0], "length": STEPS_PER_POINT}
        values = dict(zip(METRICS[1:], row[1:], strict=True))
        yield {"seq": point + 1, "kind": "metrics", **place, "values": values, "episodes": [episode]}
