"""`arcadia up` as a user runs it: output, Ctrl-C, taken ports and killed processes."""

import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.processes import command_line, has_ended
from tests.server_process import free_port
from tests.workers.waiting import PATIENCE_SECONDS, wait_until

REPOSITORY = Path(__file__).parents[4]


class Up:
    """A running `arcadia up`."""

    def __init__(self, data: Path, descriptor: int | None = None, workers: int = 1) -> None:
        self.data, self.port, self.workers = data, free_port(), workers
        self.output = data.with_suffix(".output")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "arcadia_backend.cli", "up"),
                    *("--port", str(self.port), "--data", str(data), "--workers", str(workers)),
                ],
                env=environment,
                cwd=REPOSITORY,
                stdout=output if descriptor is None else descriptor,
                stderr=output,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # as `nohup` does
            )

    def lines(self) -> list[str]:
        """Return the printed lines."""
        return self.output.read_text().splitlines()

    def said(self, words: str) -> bool:
        """Return True if a line contains these words."""
        return any(words in line for line in self.lines())

    def health(self) -> dict[str, Any]:
        """Return the response of /health, or an empty one if there is none."""
        with contextlib.suppress(urllib.error.URLError, OSError):
            url = f"http://127.0.0.1:{self.port}/api/v1/health"
            with urllib.request.urlopen(url, timeout=5) as reply:
                return dict(json.load(reply))
        return {}

    def is_whole(self) -> bool:
        """Return True if the broker and all workers are connected."""
        health = self.health()
        return bool(health and health["broker"]["ok"] and health["workers"] == self.workers)

    def family(self) -> list[psutil.Process]:
        """Return all descendant processes."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def has_its_parts(self) -> bool:
        """Return True if Redis, the backend and the worker run. The worker may have further processes prepared."""
        return len(psutil.Process(self.process.pid).children()) == 3

    def part(self, words: str) -> psutil.Process:
        """Return a process by words of its command line.

        A new process has its parent's command line at first, so the words must not match `arcadia up` itself.
        """
        found: list[psutil.Process] = []

        def there() -> bool:
            found[:] = [process for process in self.family() if words in command_line(process)]
            return bool(found)

        wait_until(there)
        return found[0]

    def close(self) -> None:
        """Kill all processes."""
        family = self.family() if self.process.poll() is None else []
        self.process.kill()
        self.process.wait()
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


@contextlib.contextmanager
def started(directory: Path) -> Iterator[Up]:
    """Yield an installation that has started. Kill it afterwards."""
    up = Up(directory / "data")
    try:
        wait_until(lambda: up.is_whole() or up.process.poll() is not None)
        assert up.process.poll() is None, up.output.read_text()
        yield up
    finally:
        up.close()


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """Yield an installation that a test may stop."""
    with started(tmp_path) as up:
        yield up


@pytest.fixture(scope="module")
def lasting_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Yield an installation that the tests of this file share."""
    with started(tmp_path_factory.mktemp("lasting")) as up:
        yield up


def test_output_has_the_address_and_ctrl_c_stops_everything(up: Up) -> None:
    wait_until(lambda: f"arcadia  | Arcadia is at http://127.0.0.1:{up.port}" in up.lines())
    family = up.family()
    assert up.has_its_parts()
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(timeout=PATIENCE_SECONDS) == 0
    wait_until(lambda: all(has_ended(process) for process in family))
    assert up.lines()[-1] == "arcadia  | Stopped"
    assert all(line.split(" | ")[0].strip() in ("arcadia", "backend", "worker", "redis") for line in up.lines())


@pytest.mark.nightly
def test_output_has_steps_and_problems_and_the_log_has_everything_with_times(lasting_up: Up) -> None:
    wait_until(lambda: lasting_up.said("The log is"))
    words = ("Redis is ready after", "Backend is ready after", "Arcadia is at", "The data folder is", "The log is")
    # The backend may report a problem of this machine in between.
    own = [line.removeprefix("arcadia  | ") for line in lasting_up.lines() if line.startswith("arcadia")]
    assert [line.startswith(said) for line, said in zip(own, words, strict=False)] == [True] * len(words), own
    assert not lasting_up.said("INFO")
    assert not lasting_up.said("overcommit")
    log = lasting_up.data / "logs" / "arcadia.log"
    wait_until(lambda: "waits for runs in the queue cpu" in log.read_text())
    assert "Application startup complete" in log.read_text()
    times = re.compile(r"(arcadia|backend|worker|redis) +\| \d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
    assert all(times.match(line) for line in log.read_text().splitlines())


def ignores_hangups(process: psutil.Process) -> bool:
    """Return True if a process ignores SIGHUP."""
    (mask,) = re.findall(r"SigIgn:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
    return bool(int(mask, 16) & 1 << (signal.SIGHUP - 1))


@pytest.mark.nightly
def test_a_closed_terminal_ends_nothing_that_nohup_has_started(lasting_up: Up) -> None:
    assert ignores_hangups(psutil.Process(lasting_up.process.pid))
    # Celery installs its handlers before its worker is ready.
    wait_until(lambda: " ready." in (lasting_up.data / "logs" / "arcadia.log").read_text())
    assert ignores_hangups(lasting_up.part("arcadia_workers.worker"))
    assert lasting_up.has_its_parts()


@pytest.mark.nightly
def test_it_starts_several_workers(tmp_path: Path) -> None:
    up = Up(tmp_path / "data", workers=2)
    try:
        wait_until(lambda: up.is_whole() or up.process.poll() is not None)
        assert up.process.poll() is None, up.output.read_text()
        assert sorted(path.name for path in (up.data / "workers").iterdir()) == ["cpu-1", "cpu-2"]
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(timeout=PATIENCE_SECONDS) == 0
    finally:
        up.close()


def test_secrets_are_readable_only_by_their_owner_and_on_no_command_line(lasting_up: Up) -> None:
    token = (lasting_up.data / "worker-token").read_text().strip()
    config = lasting_up.data / "redis" / "redis.conf"
    password = next(line.split()[1] for line in config.read_text().splitlines() if line.startswith("requirepass"))
    for file in (lasting_up.data / "worker-token", config):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    arguments = " ".join(command_line(process) for process in lasting_up.family())
    assert token not in arguments
    assert password not in arguments
    assert not lasting_up.said(token)
    assert not lasting_up.said(password)


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("words", ["-server 127.0.0.1", "arcadia_backend.cli backend", "arcadia_workers.worker"])
def test_a_killed_process_is_restarted(lasting_up: Up, words: str) -> None:
    killed = lasting_up.part(words)
    killed.kill()
    wait_until(lambda: has_ended(killed))
    wait_until(lambda: lasting_up.is_whole() and lasting_up.has_its_parts())
    assert lasting_up.part(words).pid != killed.pid
    wait_until(lambda: lasting_up.said("was killed by SIGKILL; restarting it"))


@pytest.mark.nightly
def test_a_backend_killed_before_it_is_ready_is_restarted(tmp_path: Path) -> None:
    up = Up(tmp_path / "data")
    try:
        up.part("arcadia_backend.cli backend").kill()
        wait_until(lambda: up.is_whole() or up.process.poll() is not None)
        assert up.process.poll() is None, up.output.read_text()
        assert up.said("backend was killed by SIGKILL; restarting it")
    finally:
        up.close()


@pytest.mark.nightly
def test_no_process_survives_a_kill(up: Up) -> None:
    family = up.family()
    up.process.kill()
    up.process.wait()
    wait_until(lambda: all(has_ended(process) for process in family))


@pytest.mark.nightly
def test_processes_keep_running_when_nobody_reads_the_output(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    up = Up(tmp_path / "data", writing)
    os.close(writing)
    try:
        wait_until(up.is_whole)
        # `arcadia up | head` does the same.
        os.close(reading)
        for _ in range(2):
            killed = up.part("arcadia_workers.worker")
            killed.kill()
            wait_until(lambda killed=killed: has_ended(killed))  # type: ignore[misc]
            wait_until(lambda: up.is_whole() and up.has_its_parts())
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(timeout=PATIENCE_SECONDS) == 0
    finally:
        up.close()


def test_a_second_arcadia_up_on_the_same_folder_is_refused(lasting_up: Up) -> None:
    second = run_up("--port", str(free_port()), "--data", str(lasting_up.data))
    assert second.returncode == os.EX_TEMPFAIL
    assert "Another `arcadia up` already uses" in second.stderr
    assert "--data" in second.stderr


def test_a_taken_port_is_explained(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run_up("--port", str(port), "--data", str(tmp_path / "data"))
    assert refused.returncode == os.EX_TEMPFAIL
    assert f"port {port}" in refused.stderr
    assert f"arcadia up --port {port + 1}" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.nightly
def test_a_backend_that_cannot_start_reports_why_and_its_status_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "arcadia.db").write_text("This is no database, though it is long enough to be looked at." * 20)
    refused = run_up("--port", str(free_port()), "--data", str(tmp_path))
    assert refused.returncode == os.EX_CONFIG
    assert "backend  | arcadia: The database" in refused.stdout
    assert "file is not a database" in refused.stdout
    assert "Traceback" not in refused.stdout


def run_up(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `arcadia up` to its end."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
    return subprocess.run(
        [sys.executable, "-m", "arcadia_backend.cli", "up", *arguments],
        env=clean | environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
