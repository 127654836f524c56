"""Tests for `arcadia worker` as a process with a real Redis: doorbell, drain and recovery after kill -9."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from celery import Celery

from arcadia_workers.contract.worker_api import private_queue
from tests.processes import has_ended
from tests.workers.conftest import claim
from tests.workers.redis_server import RedisServer
from tests.workers.waiting import PATIENCE_SECONDS, wait_until
from tests.workers.worker.test_jobs import offer
from tests.workers.worker_api import TOKEN, WorkerApi

REPOSITORY = Path(__file__).parents[3]

# The worker's main function, with a fake trainer and a fake job instead of the real ones.
WITH_FAKE_TRAINER = """
import sys
from functools import partial
from arcadia_workers.worker import __main__
__main__.Training = partial(__main__.Training, program=(sys.executable, sys.argv.pop(1)))
__main__.TRAINER = (sys.executable, "-c", "")  # ends at once, so that none is kept ready
__main__.Jobs = partial(__main__.Jobs, program=(sys.executable, sys.argv.pop(1)))
sys.exit(__main__.main())
"""
# The worker's main function without the wait for the directory of a worker that may be ending.
AT_ONCE = """
import sys
from arcadia_workers.worker import __main__, machine
machine.LOCK_SECONDS = 0.0
sys.exit(__main__.main())
"""


class WorkerProcess:
    """One worker, its Redis and its output."""

    def __init__(self, api: WorkerApi, redis: RedisServer, directory: Path) -> None:
        self.redis, self.directory, self._api = redis, directory, api
        self.output = directory / "output"
        self.start()

    def start(self, wait: bool = True) -> None:
        """Start the worker, and by default wait until it listens for doorbells."""
        fakes = [str(Path(__file__).parents[1] / f"fake_{name}.py") for name in ("trainer", "job")]
        options = ["--queue", "cpu", "--name", "tester", "--backend-url", self._api.url]
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    WITH_FAKE_TRAINER,
                    *fakes,
                    *options,
                    "--worker-dir",
                    str(self.directory / "runs"),
                ],
                env={
                    **os.environ,
                    "ARCADIA_WORKER_TOKEN": TOKEN,
                    "ARCADIA_BROKER_URL": self.redis.url,
                    "ARCADIA_KEEP_READY": "false",
                },
                cwd=REPOSITORY,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if wait:
            wait_until(lambda: "ready." in self.output.read_text())

    def ring(self, times: int = 1, queue: str = "cpu", task: str = "workers.look") -> None:
        """Ring the doorbell as the backend does."""
        with Celery(broker=self.redis.url, set_as_current=False) as bell:
            for _ in range(times):
                bell.send_task(task, args=[7], queue=queue, ignore_result=True)

    def trainer(self) -> psutil.Process:
        """Return the trainer's process."""
        file = self.directory / "runs" / "runs" / "7" / "attempt-1" / "trainer.pid"
        wait_until(file.exists)
        wait_until(file.read_text)
        return psutil.Process(int(file.read_text()))

    def close(self) -> None:
        """End the worker."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def worker(api: WorkerApi, tmp_path: Path) -> Iterator[WorkerProcess]:
    """Yield a worker that waits for doorbells."""
    redis = RedisServer(tmp_path)
    redis.start()
    worker = WorkerProcess(api, redis, tmp_path)
    yield worker
    worker.close()
    redis.kill()


def test_a_job_is_done_while_a_run_is_trained(api: WorkerApi, worker: WorkerProcess) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    worker.ring()
    trainer = worker.trainer()
    offer(api)
    # Doorbells for runs must not block the doorbell of the job, although the worker cannot take more runs.
    worker.ring(times=3)
    worker.ring(queue="jobs", task="workers.look_for_jobs")
    wait_until(lambda: api.job_releases)
    assert api.job_releases[0]["outcome"] == "finished"
    assert trainer.is_running()


@pytest.mark.nightly
def test_the_private_queue_of_the_worker_is_heard(api: WorkerApi, worker: WorkerProcess) -> None:
    api.claims.append(claim(8))
    worker.ring(queue=private_queue("tester"))
    wait_until(lambda: api.releases)


@pytest.mark.nightly
def test_the_doorbell_is_heard_after_redis_was_killed_three_times(api: WorkerApi, worker: WorkerProcess) -> None:
    for restarts in range(4):
        api.releases.clear()
        api.claims.append(claim(restarts))
        worker.ring()
        wait_until(lambda: api.releases)
        assert [(release["run"], release["outcome"]) for release in api.releases] == [(restarts, "finished")]
        worker.redis.kill()
        worker.redis.start()


@pytest.mark.nightly
def test_the_doorbell_is_heard_after_redis_was_killed_three_times_during_a_run(
    api: WorkerApi, worker: WorkerProcess
) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    worker.ring()
    trainer = worker.trainer()
    for _ in range(3):
        worker.redis.kill()
        worker.redis.start()
    received = len(api.points(7, 1))
    wait_until(lambda: len(api.points(7, 1)) > received + 20)
    assert trainer.is_running()
    api.desired = "stop"
    wait_until(lambda: api.releases)
    api.desired = "run"
    api.claims.append(claim(8))
    worker.ring()
    wait_until(lambda: len(api.releases) == 2)
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(7, "stopped"), (8, "finished")]


@pytest.mark.nightly
def test_ten_doorbells_train_a_run_only_once(api: WorkerApi, worker: WorkerProcess) -> None:
    api.claims.append(claim(points=50, interval=0.01))
    worker.ring(times=10)
    wait_until(lambda: api.releases)
    api.claims.append(claim(8))
    worker.ring()
    wait_until(lambda: len(api.releases) == 2)
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(7, "finished"), (8, "finished")]


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGTERM, id="SIGTERM"), pytest.param(signal.SIGINT, id="Ctrl-C", marks=pytest.mark.nightly)],
)
def test_a_stopping_worker_drains_its_run_and_exits(
    api: WorkerApi, worker: WorkerProcess, number: signal.Signals
) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    worker.ring()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    worker.process.send_signal(number)
    assert worker.process.wait(timeout=PATIENCE_SECONDS) == 0
    assert [release["outcome"] for release in api.releases] == ["drained"]
    assert api.events[7, 1][len(api.events[7, 1])]["kind"] == "stopped"
    assert api.goodbyes == 1


def test_a_worker_with_a_wrong_token_ends_and_its_next_start_delivers_the_events(
    api: WorkerApi, worker: WorkerProcess
) -> None:
    api.claims.append(claim(points=10**6, interval=0.01))
    worker.ring()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    trainer = worker.trainer()
    api.is_token_wrong = True
    assert worker.process.wait(timeout=PATIENCE_SECONDS) == os.EX_NOPERM
    message = f"{api.url} does not accept the worker token from ARCADIA_WORKER_TOKEN. Set it to"
    assert worker.output.read_text().count(message) == 1
    assert not trainer.is_running()
    assert not api.releases
    before = api.requests
    worker.start(wait=False)
    assert worker.process.wait(timeout=PATIENCE_SECONDS) == os.EX_NOPERM
    assert worker.output.read_text().count(message) == 1
    assert api.requests == before + 1
    api.is_token_wrong = False
    events = worker.directory / "runs" / "runs" / "7" / "attempt-1" / "events.jsonl"
    written = events.read_text().count("\n")
    worker.start()
    wait_until(lambda: api.releases)
    assert api.points(7, 1) == list(range(1, written + 1))
    assert [release["outcome"] for release in api.releases] == ["drained"]


def test_a_killed_worker_ends_its_trainer_and_its_restart_delivers_the_events(
    api: WorkerApi, worker: WorkerProcess
) -> None:
    api.claims.append(claim(points=10**6, interval=0.01, how="with child"))
    worker.ring()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    trainer = worker.trainer()
    family = [trainer, *trainer.children(recursive=True)]
    assert len(family) == 2
    worker.process.kill()
    worker.process.wait()
    wait_until(lambda: all(has_ended(process) for process in family))
    written = (worker.directory / "runs" / "runs" / "7" / "attempt-1" / "events.jsonl").read_text().count("\n")
    worker.start()
    wait_until(lambda: api.releases)
    assert api.releases[0]["outcome"] == "lost"
    assert api.points(7, 1) == list(range(1, written + 1))


def test_a_starting_worker_trains_queued_runs_without_a_doorbell(api: WorkerApi, worker: WorkerProcess) -> None:
    worker.close()
    worker.redis.kill()
    worker.redis.start()
    api.claims += [claim(7), claim(8)]
    worker.start()
    wait_until(lambda: len(api.releases) == 2)
    assert [(release["run"], release["outcome"]) for release in api.releases] == [(7, "finished"), (8, "finished")]


@pytest.mark.nightly
def test_a_stopping_worker_drains_a_run_claimed_at_its_start(api: WorkerApi, worker: WorkerProcess) -> None:
    worker.close()
    api.claims.append(claim(points=10**6, interval=0.01))
    worker.start()
    wait_until(lambda: len(api.points(7, 1)) > 5)
    worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(timeout=PATIENCE_SECONDS) == 0
    assert [release["outcome"] for release in api.releases] == ["drained"]
    assert api.events[7, 1][len(api.events[7, 1])]["kind"] == "stopped"
    assert api.goodbyes == 1


@pytest.mark.nightly
def test_two_workers_do_not_share_a_directory(worker: WorkerProcess) -> None:
    second = subprocess.run(
        [sys.executable, "-c", AT_ONCE, "--name", "second", "--worker-dir", str(worker.directory / "runs")],
        env={**os.environ, "ARCADIA_WORKER_TOKEN": TOKEN, "ARCADIA_BROKER_URL": worker.redis.url},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert second.returncode == 1
    assert "Choose another --worker-dir" in second.stderr


def start_alone(options: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Start a worker that must refuse to start."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
    return subprocess.run(
        [sys.executable, "-m", "arcadia_workers.worker", "--name", "lonely", *options],
        env={**others, "CUDA_VISIBLE_DEVICES": "", **environment},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@pytest.mark.nightly
def test_a_gpu_worker_without_a_gpu_says_how_to_get_one() -> None:
    worker = start_alone(["--queue", "gpu"], ARCADIA_WORKER_TOKEN=TOKEN, ARCADIA_BROKER_URL="redis://127.0.0.1:1")
    assert worker.returncode == os.EX_CONFIG
    assert worker.stderr.startswith("arcadia worker: The queue is gpu, but")
    assert "worker-gpu" in worker.stderr or "NVIDIA container toolkit" in worker.stderr
    assert "--queue cpu" in worker.stderr


def test_a_worker_names_a_secret_file_that_is_missing(tmp_path: Path) -> None:
    worker = start_alone([], ARCADIA_WORKER_TOKEN_FILE=str(tmp_path / "none"), ARCADIA_BROKER_URL="redis://127.0.0.1:1")
    assert worker.returncode == 1
    assert "ARCADIA_WORKER_TOKEN_FILE: cannot read" in worker.stderr


def test_a_missing_setting_is_named() -> None:
    worker = start_alone([])
    assert worker.returncode == 1
    assert "ARCADIA_WORKER_TOKEN: Field required" in worker.stderr
