"""Fixtures with a real backend, a test that acts as its worker, and the command in this process."""

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from arcadia.cli.main import main

from tests.factories import Api, checkpoint_path, event, metrics, video
from tests.installation import TOKEN as WORKER_TOKEN
from tests.installation import Installation, PreparedBackend
from tests.workers.waiting import PATIENCE_SECONDS

TOKEN = "user-token"


@dataclass(frozen=True)
class Outcome:
    """The exit status and the output of a command."""

    status: int
    out: str
    err: str


Arcadia = Callable[..., Outcome]


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation with a token and no worker."""
    with Installation(
        tmp_path_factory.mktemp("installation"), PreparedBackend, token=TOKEN, lease_seconds=3_600
    ) as installation:
        yield installation


@pytest.fixture(scope="session")
def url(installation: Installation) -> str:
    """Return the URL of the backend."""
    return f"http://127.0.0.1:{installation.port}"


@pytest.fixture(scope="session")
def api(url: str) -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""

    def connect(token: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False)

    with connect(TOKEN) as user, connect(WORKER_TOKEN) as worker:
        found = Api(user, worker)
        found.beat().raise_for_status()
        yield found


@pytest.fixture(autouse=True)
def _empty_queue(api: Api) -> Iterator[None]:
    """Stop runs and jobs that a test leaves in the queue, so that the next test claims its own."""
    yield
    for study in api.user.get("/api/v1/studies").json()["items"]:
        api.user.post(f"/api/v1/studies/{study['id']}/stop")
    left = api.user.get("/api/v1/runs", params={"state": ["queued", "starting", "running", "paused"]}).json()["items"]
    for run in left:
        api.act(run["id"], "stop")
        if run["state"] in ("starting", "running"):
            api.release(run["id"], run["attempt"], "stopped")
    while (claimed := api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"})).status_code == 200:
        job = claimed.json()
        api.release_job(job["job_id"], job["attempt"], "failed", message="left by a test")


def finish(api: Api, run: int, attempt: int, seq: int = 2) -> None:
    """End a run as a trainer does."""
    api.send(run, attempt, event(seq, "finished", 1_000)).raise_for_status()
    api.release(run, attempt, "finished").raise_for_status()


def train(api: Api, **more: object) -> int:
    """Train a run to its end, with returns, two checkpoints and a replay, and return its number."""
    run, attempt = api.running(**more)
    api.send(run, attempt, metrics(2, 400, {"train/entropy": 0.5}, [10.0, 20.0])).raise_for_status()
    api.save(run, attempt, 3, 400, return_mean=15.0)
    api.send(run, attempt, metrics(4, 1_000, {"train/entropy": 0.25}, [40.0, 60.0])).raise_for_status()
    api.save(run, attempt, 5, 1_000, kept=[checkpoint_path(400), checkpoint_path(1_000)], best=True, return_mean=32.5)
    api.upload(run, attempt, "replays/400.mp4", b"a video", kind="video")
    api.upload(run, attempt, "replays/400.png", b"a picture", kind="poster")
    api.send(run, attempt, video(6, 1_000, 400)).raise_for_status()
    finish(api, run, attempt, 7)
    return run


@pytest.fixture(scope="module")
def trained(api: Api) -> int:
    """Return a finished run with metrics, checkpoints and a replay."""
    return train(api, name="trained")


@pytest.fixture
def environment(url: str, tmp_path: Path) -> dict[str, str]:
    """Return the variables of a user who has set URL and token."""
    return {"ARCADIA_URL": url, "ARCADIA_TOKEN": TOKEN, "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "80"}


@pytest.fixture
def arcadia(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Arcadia:
    """Return a function that runs the command in this process."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["arcadia", *map(str, arguments)])
        capsys.readouterr()
        try:
            status = main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def meanwhile() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Yield a function that runs a callable in a thread, and check at the end that it succeeded."""
    threads: list[threading.Thread] = []
    errors: list[BaseException] = []

    def start(call: Callable[[], object]) -> None:
        def guarded() -> None:
            try:
                call()
            except BaseException as error:
                errors.append(error)

        threads.append(threading.Thread(target=guarded))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert errors == []
