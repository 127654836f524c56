"""An installation of real processes that a test can kill, stop and restart."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import httpx
import psutil

from arcadia_backend.startup.parts import die_with_parent
from tests.journals import Journals, assert_kept
from tests.prepared import start_copy
from tests.processes import command_line, trains
from tests.server_process import free_port
from tests.workers.redis_server import RedisServer
from tests.workers.waiting import PATIENCE_SECONDS

REPOSITORY = Path(__file__).parents[1]
TOKEN = "token-of-the-workers"
# Training uses all of its core, so it has a lower priority than the backend that tests wait for.
TRAINING_NICENESS = 10

# Small, and endless by default. They save only when they stop, because each checkpoint starts a process that loads
# torch. Tests that need checkpoints during training use SAVING.
CARTPOLE: dict[str, Any] = {
    "algorithm": "paac",
    "env": "CartPole-v1",
    "total_steps": 10**9,
    "num_envs": 4,
    "t_max": 8,
    "hidden_units": 16,
}
CATCH_BY_A3C: dict[str, Any] = {
    "algorithm": "a3c",
    "env": "Arcadia/Catch-v0",
    "total_steps": 10**9,
    "num_actors": 2,
    "hidden_units": 16,
}
CATCH_BY_GORILA: dict[str, Any] = {
    "algorithm": "gorila",
    "env": "Arcadia/Catch-v0",
    "total_steps": 10**9,
    "num_actors": 1,
    "num_learners": 1,
    "replay_frames": 2000,
    "learning_starts": 100,
    "hidden_units": 16,
}

SAVING: dict[str, Any] = {"checkpoint_seconds": 2}


class Process(Protocol):
    """A process that was started, such as `subprocess.Popen`."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int | None: ...
    def send_signal(self, sig: int) -> None: ...


class Service:
    """A process of the installation."""

    def __init__(
        self,
        name: str,
        command: list[str],
        environment: dict[str, str],
        directory: Path,
        niceness: int = 0,
        prefix: Sequence[str] = (),
    ) -> None:
        self.name, self._environment, self._niceness = name, environment, niceness
        self._command = [*prefix, sys.executable, "-m", *command]
        self.output = directory / f"{name}.output"
        self._process: Process | None = None

    def start(self) -> None:
        """Start the process, appending to its output."""
        with self.output.open("a") as output:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=REPOSITORY,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A separate session, because desktop Linux shares the cores among sessions.
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        os.setpriority(os.PRIO_PROCESS, self._process.pid, self._niceness)

    @property
    def process(self) -> psutil.Process:
        """Return the running process."""
        assert self._process is not None
        return psutil.Process(self._process.pid)

    @property
    def runs(self) -> bool:
        """Return True if the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def ended(self) -> int | None:
        """Return the exit status."""
        return self._process.poll() if self._process else None

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal that ends the process, and wait for it."""
        self.send(number)
        if self._process:
            self._process.wait(timeout=PATIENCE_SECONDS)


class PreparedBackend(Service):
    """A backend for tests of other things than its start."""

    def start(self) -> None:
        """Start the backend, appending to its output."""
        program = "import sys; from arcadia_backend.cli import main; sys.exit(main(['backend']))"
        self._process = start_copy(program, self._environment, output=self.output)


class Installation:
    """Redis, a backend on SQLite and the workers that a test starts."""

    def __init__(self, directory: Path, backend: type[Service] = Service, **settings: object) -> None:
        self.directory, self.port = directory, free_port()
        url = f"http://{settings.get('host', '127.0.0.1')}:{self.port}"
        self.redis = RedisServer(directory)
        self.journals = Journals(directory / "workers")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARCADIA_")}
        self._environment = environment | {
            # Prepared processes would compete with the ones that tests wait for.
            "ARCADIA_KEEP_READY": "false",
            "ARCADIA_WORKER_TOKEN": TOKEN,
            "ARCADIA_BROKER_URL": self.redis.url,
            "ARCADIA_BACKEND_URL": url,
            "ARCADIA_DATA_DIR": str(directory / "data"),
            "ARCADIA_PORT": str(self.port),
            "ARCADIA_SWEEP_SECONDS": "0.5",
            **{f"ARCADIA_{name.upper()}": str(value) for name, value in settings.items()},
        }
        self.backend = backend("backend", ["arcadia_backend.cli", "backend"], self._environment, directory)
        self.workers: dict[str, Service] = {}
        self.http = httpx.Client(
            base_url=f"{url}/api/v1/",
            headers={"Authorization": f"Bearer {settings['token']}"} if settings.get("token") else {},
            timeout=PATIENCE_SECONDS,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Start Redis and the backend for a block. Everything is stopped at its end."""
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self) -> None:
        """Start Redis and the backend if they are not running, and wait until they answer."""
        for part in (self.redis, self.backend):
            if not part.runs:
                part.start()
        self.wait_until(lambda: self.read("health")["broker"]["ok"])

    def worker(
        self,
        name: str,
        directory: Path | None = None,
        prefix: Sequence[str] = (),
        niceness: int = TRAINING_NICENESS,
        *,
        has_broker: bool = True,
        slots: int = 1,
    ) -> Service:
        """Start a worker and wait until the backend sees it, and all its slots.

        Without a broker it waits at the backend. Several slots are workers named with numbers.
        """
        options = [
            "--queue",
            "cpu",
            "--name",
            name,
            "--worker-dir",
            str(directory or self.directory / "workers" / name),
        ]
        options += ["--slots", str(slots)] if slots > 1 else []
        program = ["arcadia_workers.worker", *options]
        without = "" if has_broker else "BROKER_URL"
        self.workers[name] = self._service(name, program, niceness, prefix, without=without)
        self.workers[name].start()
        names = [name] if slots == 1 else [f"{name}-{slot + 1}" for slot in range(slots)]
        self.wait_until(lambda: all(self.state_of_worker(each) in ("idle", "busy") for each in names))
        return self.workers[name]

    def job(self, name: str, run: int, attempt: int = 1, prefix: Sequence[str] = ()) -> Service:
        """Start a worker for one run, as the job of a scheduler does. It has no broker."""
        options = ["--name", name, "--worker-dir", str(self.directory / "workers" / name)]
        options += ["--run", str(run), "--attempt", str(attempt), "--once"]
        job = self._service(name, ["arcadia_workers.worker", *options], TRAINING_NICENESS, prefix, without="BROKER_URL")
        self.workers[name] = job
        job.start()
        return job

    def dismiss_workers(self) -> None:
        """Stop the workers with SIGTERM, so that the backend knows that they are gone."""
        for worker in self.workers.values():
            worker.end(signal.SIGTERM)
        self.wait_until(lambda: not any(self.state_of_worker(name) in ("idle", "busy") for name in self.workers))
        self.workers.clear()

    def restart(self) -> None:
        """Restart the backend and the workers, which load the plug-ins that are installed now."""
        names = [*self.workers]
        self.dismiss_workers()
        self.backend.end(signal.SIGTERM)
        self.start()
        for name in names:
            self.worker(name)

    def close(self) -> None:
        """Stop everything."""
        for service in [*self.workers.values(), self.backend]:
            service.send(signal.SIGCONT)
            service.end()
        self.redis.kill()
        self.journals.close()
        self.http.close()

    def wait_until(
        self, condition: Callable[[], object], seconds: float = PATIENCE_SECONDS, interval: float = 0.1
    ) -> None:
        """Check a condition at an interval until it is true. Retry while the backend is unreachable."""
        deadline = time.monotonic() + seconds
        while True:
            self.journals.follow()
            with contextlib.suppress(httpx.TransportError):
                if condition():
                    return
            assert time.monotonic() < deadline, self.what_was_said()
            time.sleep(interval)

    def what_was_said(self) -> str:
        """Return the end of each process's output, for a test that timed out."""
        services = [self.backend, *self.workers.values()]
        return "waited in vain\n" + "\n".join(
            f"--- {service.name}\n{service.output.read_text()[-3000:]}"
            for service in services
            if service.output.exists()
        )

    def read(self, path: str) -> Any:
        """Get a document."""
        return self.http.get(path).raise_for_status().json()

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Post a document."""
        return self.http.post(path, json=body).raise_for_status().json()

    def run(self, run: int) -> dict[str, Any]:
        """Return a run."""
        return dict(self.read(f"runs/{run}"))

    def launch(self, config: dict[str, Any] = CARTPOLE, **changes: Any) -> int:
        """Launch a run, by default on CartPole, and return its number."""
        return int(self.post("runs", {"config": {**config, **changes}})["id"])

    def wait_for_state(self, run: int, state: str) -> dict[str, Any]:
        """Wait until a run is in a state."""
        self.wait_until(lambda: self.run(run)["state"] == state)
        return self.run(run)

    def wait_for_points(self, run: int, attempt: int, more: int = 20) -> None:
        """Wait until the backend has this many more points of an attempt."""
        self.journals.follow()
        wanted = self.journals.points(run, attempt) + more
        # Asking for the acknowledged events is cheaper than fetching all points.
        self.wait_until(lambda: self.journals.points(run, attempt) >= wanted)
        self.wait_until(lambda: len(self.points(run, attempt)) >= wanted)

    def wait_for_checkpoint(self, run: int, attempt: int | None = None) -> int:
        """Wait until the backend has a checkpoint of the given attempt, or of any, and return its step."""
        found: list[int] = []

        def look() -> bool:
            rows = self.read(f"runs/{run}/checkpoints")
            found[:] = [row["step"] for row in rows if attempt in (None, row["attempt"]) and row["available"]]
            return bool(found)

        self.wait_until(look)
        return max(found)

    def wait_for_replay(self, run: int) -> None:
        """Wait for a replay of a run that has ended. It may have none, because it waits for its last only a minute."""
        if not self.read(f"runs/{run}/replays"):
            recording = self.post(f"runs/{run}/recordings", {"seed": 1})["id"]
            self.wait_until(lambda: self.read(f"recordings/{recording}")["replay_id"])

    def points(self, run: int, attempt: int | None = None) -> list[dict[str, Any]]:
        """Return the points that the backend has."""
        lines = self.http.get(f"export/runs/{run}.jsonl").raise_for_status().iter_lines()
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
        return [row for row in rows if attempt in (None, row["attempt"])]

    def log(self, run: int) -> str:
        """Return a run's log as one text."""
        return "\n".join(line["message"] for line in self.read(f"runs/{run}/log?limit=1000")["items"])

    def state_of_worker(self, name: str) -> str | None:
        """Return a worker's state in the API, or None if it is not listed."""
        return next((row["state"] for row in self.read("workers") if row["name"] == name), None)

    def trainer(self, name: str) -> psutil.Process:
        """Return the trainer of a worker."""
        found: list[psutil.Process] = []

        def look() -> bool:
            below = self.workers[name].process.children(recursive=True)
            found[:] = [each for each in below if trains(each)]
            return bool(found)

        self.wait_until(look)
        return found[0]

    def actor_learners(self, name: str) -> list[psutil.Process]:
        """Return the child processes of a worker's trainer."""
        servers = [p for p in self.trainer(name).children() if "multiprocessing.forkserver" in command_line(p)]
        return [actor for server in servers for actor in server.children()]

    def roles(self, name: str, kind: str) -> list[psutil.Process]:
        """Return the Ray processes with a role, such as Bundle, of a worker's trainer."""
        below = self.trainer(name).children(recursive=True)
        return [role for role in below if command_line(role).startswith(f"ray::{kind}Role")]

    def assert_points_kept(self, run: int, whole: set[int]) -> None:
        """Check that every acknowledged point is stored once, and every point of the `whole` attempts."""
        self.journals.follow()
        assert_kept(self.points(run), self.journals, run, whole=whole)

    def _service(
        self, name: str, command: list[str], niceness: int = 0, prefix: Sequence[str] = (), without: str = ""
    ) -> Service:
        environment = {name: value for name, value in self._environment.items() if name != f"ARCADIA_{without}"}
        return Service(name, command, environment, self.directory, niceness, prefix)
