"""Tests that a killed pytest leaves none of the processes of its fixtures behind."""

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.processes import has_ended
from tests.workers.waiting import wait_until

REPOSITORY = Path(__file__).parents[2]
# The sleeper stands for processes of other fixtures, such as PostgreSQL, which only their teardown ends.
TESTS = """
import os, subprocess, time
from pathlib import Path

import pytest

from tests.installation import Service
from tests.workers.redis_server import RedisServer


@pytest.fixture
def services(tmp_path):
    redis, server = RedisServer(tmp_path), Service("server", ["http.server", "0"], dict(os.environ), tmp_path)
    redis.start()
    server.start()
    yield
    redis.kill()
    server.end()


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield process
    process.kill()


def test_endless(services, sleeper):
    {said}.write_text("started")
    time.sleep(600)
"""


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_pytest_leaves_no_process_behind(number: signal.Signals, tmp_path: Path) -> None:
    started, file = tmp_path / "started", tmp_path / "test_endless.py"
    file.write_text(TESTS.format(said=f"Path({str(started)!r})"))
    options = ["-n0", "-p", "tests.conftest", "-p", "no:cacheprovider", "--rootdir", str(REPOSITORY)]
    with (tmp_path / "output").open("wb") as output:
        killed = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, f"--basetemp={tmp_path / 'basetemp'}", str(file)],
            cwd=REPOSITORY,
            stdout=output,
            stderr=output,
        )
    family: list[psutil.Process] = []
    try:
        wait_until(lambda: started.exists() or killed.poll() is not None)
        assert killed.poll() is None, (tmp_path / "output").read_text()
        family = psutil.Process(killed.pid).children(recursive=True)
        assert len(family) == len(["Redis", "server", "sleeper"])
        # Only a SIGTERM leaves time for teardowns.
        ending = [process for process in family if number == signal.SIGTERM or process.name() != "sleep"]
        killed.send_signal(number)
        killed.wait()
        wait_until(lambda: all(has_ended(process) for process in ending))
    finally:
        killed.kill()
        killed.wait()
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
