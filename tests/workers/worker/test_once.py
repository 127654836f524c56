"""Tests for `arcadia worker --run N --attempt A --once` as a process: no broker, no shared folder."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.processes import has_ended
from tests.workers.conftest import FAKE_TRAINER, claim
from tests.workers.waiting import PATIENCE_SECONDS, wait_until
from tests.workers.worker_api import TOKEN, WorkerApi

REPOSITORY = Path(__file__).parents[3]

# The worker's main function with a fake trainer.
WITH_FAKE_TRAINER = f"""
import sys
from arcadia_workers.worker import __main__, once
real = once.OneRun
def fake(*arguments):
    work = real(*arguments)
    work.program = {FAKE_TRAINER!r}
    return work
once.OneRun = fake
sys.exit(__main__.main())
"""


class Once:
    """A worker that trains run 7 and ends."""

    def __init__(self, url: str, directory: Path, *options: str, **environment: str) -> None:
        command = [sys.executable, "-c", WITH_FAKE_TRAINER, "--run", "7", "--attempt", "3", "--once"]
        others = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
        self.output = directory / "output"
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [*command, "--backend-url", url, "--worker-dir", str(directory / "worker"), *options],
                env={**others, "ARCADIA_WORKER_TOKEN": TOKEN, **environment},
                cwd=REPOSITORY,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def wait(self) -> int:
        """Return the exit status."""
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()


@contextmanager
def once(url: str, directory: Path, *options: str, **environment: str) -> Iterator[Once]:
    """Start the worker, and kill it after the block."""
    worker = Once(url, directory, *options, **environment)
    try:
        yield worker
    finally:
        worker.close()


def test_it_trains_the_run_without_a_broker_and_ends(api: WorkerApi, tmp_path: Path) -> None:
    # The backend gives a later attempt if the job runs again.
    api.claims.append(claim(attempt=4))
    with once(api.url, tmp_path) as worker:
        assert worker.wait() == 0, worker.output.read_text()
    assert api.asked_for == [(7, 3)]
    assert [(each["run"], each["attempt"], each["outcome"]) for each in api.releases] == [(7, 4, "finished")]
    assert api.points(7, 4) == list(range(1, 23))
    assert api.goodbyes == 1
    assert not (tmp_path / "worker").exists(), "everything was delivered"


def test_it_says_that_there_is_nothing_to_do(api: WorkerApi, tmp_path: Path) -> None:
    with once(api.url, tmp_path) as worker:
        assert worker.wait() == 0
    assert "There is nothing to do: run 7 is stopped." in worker.output.read_text()
    assert not (tmp_path / "worker").exists()
    assert not api.releases


def test_sigterm_saves_a_checkpoint_and_releases_the_run(api: WorkerApi, tmp_path: Path) -> None:
    api.claims.append(claim(attempt=3, points=10**6, interval=0.01))
    with once(api.url, tmp_path) as worker:
        wait_until(lambda: len(api.points(7, 3)) > 5)
        worker.process.send_signal(signal.SIGTERM)
        assert worker.wait() == 0
    assert [each["outcome"] for each in api.releases] == ["drained"]
    kinds = [event["kind"] for event in api.events[7, 3].values()]
    assert kinds[-2:] == ["checkpoint", "stopped"]


def test_a_job_that_is_started_again_delivers_what_the_killed_one_left(api: WorkerApi, tmp_path: Path) -> None:
    api.claims += [claim(attempt=3, points=10**6, interval=0.01), claim(attempt=4)]
    with once(api.url, tmp_path) as first:
        wait_until(lambda: len(api.points(7, 3)) > 5)
        below = psutil.Process(first.process.pid).children(recursive=True)
    wait_until(lambda: all(has_ended(process) for process in below))
    written = (tmp_path / "worker" / "runs" / "7" / "attempt-3" / "events.jsonl").read_text().count("\n")
    with once(api.url, tmp_path) as second:
        assert second.wait() == 0
    assert api.points(7, 3) == list(range(1, written + 1))
    assert [(each["attempt"], each["outcome"]) for each in api.releases] == [(3, "lost"), (4, "finished")]
    assert api.asked_for == [(7, 3), (7, 3)]


def test_an_attempt_that_lost_its_run_stops_without_a_release(api: WorkerApi, tmp_path: Path) -> None:
    api.claims.append(claim(attempt=3, points=10**6, interval=0.01))
    with once(api.url, tmp_path) as worker:
        wait_until(lambda: len(api.points(7, 3)) > 5)
        api.stale = True
        assert worker.wait() == 0
    assert not api.releases
    assert not (tmp_path / "worker").exists()


def test_a_private_authority_signs_the_backend(tmp_path: Path) -> None:
    key, certificate, both = (tmp_path / name for name in ("key.pem", "certificate.pem", "both.pem"))
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=arcadia"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    both.write_text(key.read_text() + certificate.read_text())
    api = WorkerApi(certificate=both)
    try:
        api.claims.append(claim(attempt=3))
        with once(api.url, tmp_path, "--ca-file", str(certificate)) as worker:
            assert worker.wait() == 0, worker.output.read_text()
        assert [each["outcome"] for each in api.releases] == ["finished"]
    finally:
        api.close()
    with once(api.url, tmp_path, ARCADIA_CA_FILE=str(tmp_path / "none.pem")) as worker:
        assert worker.wait() == 1
    assert "ARCADIA_CA_FILE: Value error, cannot read certificates from" in worker.output.read_text()


def test_it_ends_with_an_error_if_the_run_cannot_be_claimed(api: WorkerApi, tmp_path: Path) -> None:
    api.is_token_wrong = True
    with once(api.url, tmp_path) as worker:
        assert worker.wait() == os.EX_NOPERM
    options = [sys.executable, "-m", "arcadia_workers.worker", "--run", "7", "--once"]
    incomplete = subprocess.run(options, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert incomplete.returncode == 2
    assert "--run, --attempt and --once are used together" in incomplete.stderr
