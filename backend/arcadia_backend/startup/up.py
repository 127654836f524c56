"""`arcadia up`: Redis, the backend and CPU workers on one machine with one command, in a locked data folder."""

import asyncio
import fcntl
import json
import os
import secrets
import signal
import sys
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from pathlib import Path

from arcadia_backend.accounts.commands import first_link
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import open_database
from arcadia_backend.refusals import NotNowError
from arcadia_backend.startup.checks import make_private_folder, refuse_taken_port
from arcadia_backend.startup.parts import Output, PrivateRedis, SupervisedProcess, free_port, private_redis


class FolderInUseError(NotNowError):
    """Another `arcadia up` uses the data folder."""


def lock(folder: Path) -> int:
    """Lock the folder until the process ends. Return the descriptor that holds the lock."""
    make_private_folder(folder)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise FolderInUseError(
            f"Another `arcadia up` already uses {folder}. Stop it first, or give this one its own folder with --data."
        ) from None
    return descriptor


def worker_token(folder: Path) -> str:
    """Return the worker token. Create it at the first start, readable only by its owner."""
    file = folder / "worker-token"
    if not file.exists():
        fresh = file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as writing:
            writing.write(secrets.token_urlsafe(32) + "\n")
        fresh.replace(file)
    return file.read_text().strip()


# Long enough for a busy machine.
START_TIMEOUT_SECONDS = 300.0
# A worker waits for its trainer, and then delivers the last events.
WORKER_STOP_SECONDS, BACKEND_STOP_SECONDS, REDIS_STOP_SECONDS = 60.0, 10.0, 5.0
MAX_RESPONSE_BYTES = 100_000
WORKER_NAME = "cpu-1"


def up(settings: Settings, workers: int = 1) -> int:
    """Run everything until Ctrl-C."""
    lock(settings.data_dir)
    settings = settings.model_copy(update={"port": settings.port or free_port()})
    refuse_taken_port(settings.host, settings.port, "up")
    redis = private_redis(settings.data_dir.resolve() / "redis")
    return asyncio.run(LocalInstallation(settings, redis, workers).run())


def page_url(settings: Settings) -> str:
    """Return the URL of the server on this machine."""
    return settings.model_copy(update={"public_url": ""}).address


def create_first_link(settings: Settings) -> str | None:
    """Return a one-time link for the first administrator, or None if there is an account."""
    database = open_database(settings)
    try:
        return first_link(database, settings.address)
    finally:
        database.close()


class LocalInstallation:
    """The processes of one installation."""

    def __init__(self, settings: Settings, redis: PrivateRedis, workers: int) -> None:
        self._redis_server = redis
        data_dir = settings.data_dir.resolve()
        self._log = settings.data_dir / "logs" / "arcadia.log"
        self._output = Output(log=self._log)
        self._url = page_url(settings)
        # Other machines reach the server, so somebody must have an account.
        self._first_link = None if settings.is_loopback else lambda: create_first_link(settings)
        shared = {
            "PYTHONUNBUFFERED": "1",
            "ARCADIA_BROKER_URL": redis.url,
            "ARCADIA_WORKER_TOKEN": settings.worker_token.get_secret_value() or worker_token(data_dir),
        }
        ours = {name: value for name, value in os.environ.items() if name.upper().startswith("ARCADIA_")}
        for name in shared:
            ours.pop(f"{name}_FILE", None)
        plain = {name: value for name, value in os.environ.items() if name not in ours}
        backend = {"ARCADIA_DATA_DIR": str(data_dir), "ARCADIA_HOST": settings.host, "ARCADIA_PORT": str(settings.port)}
        for_worker = ("ARCADIA_STOP_GRACE_SECONDS", "ARCADIA_RAY_ADDRESS", "ARCADIA_BUILD")
        passed_on = {name: value for name, value in ours.items() if name in for_worker}
        shared |= {"ARCADIA_PLUGINS": ",".join(settings.plugins)}
        self._redis = SupervisedProcess("redis", redis.command, plain, self._output)
        self._backend = SupervisedProcess(
            "backend",
            [sys.executable, "-m", "arcadia_backend.cli", "backend"],
            plain | ours | shared | backend,
            self._output,
        )
        worker = plain | passed_on | shared | {"ARCADIA_BACKEND_URL": self._url}
        self._workers = [
            self._worker(name, worker, data_dir / "workers", alone=workers == 1)
            for name in (WORKER_NAME, *(f"cpu-{number}" for number in range(2, workers + 1)))
        ]
        self._interrupted = asyncio.Event()
        self._interrupts = 0
        self._status = 1

    def _worker(self, name: str, environment: Mapping[str, str], directory: Path, *, alone: bool) -> SupervisedProcess:
        command = [sys.executable, "-m", "arcadia_workers.worker", "--queue", "cpu", "--name", name]
        own = {"ARCADIA_WORKER_DIR": str(directory / name)}
        return SupervisedProcess("worker" if alone else name, command, {**environment, **own}, self._output)

    async def run(self) -> int:
        """Start all processes, wait for Ctrl-C, and stop them."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` ignores it
                loop.add_signal_handler(number, self._on_interrupt)
        try:
            started = await self._start()
            if started:
                await self._interrupted.wait()
            return 0 if started or self._interrupted.is_set() else self._status
        finally:
            # Stop the workers first, so that they can deliver the last events to the backend.
            self._output.say("arcadia", "Stopping (press Ctrl-C again to stop immediately)")
            await asyncio.gather(*(worker.stop(WORKER_STOP_SECONDS) for worker in self._workers))
            await self._backend.stop(BACKEND_STOP_SECONDS)
            await self._redis.stop(REDIS_STOP_SECONDS)
            self._output.say("arcadia", "Stopped")
            self._output.close()

    async def _start(self) -> bool:
        """Start each process when those before it respond. Return False if one fails or Ctrl-C comes first."""
        if not await self._begin(self._redis, self._redis_server.is_ready):
            return False
        if not await self._begin(self._backend, self._backend_is_ready):
            return False
        self._output.say("arcadia", f"Arcadia is at {self._url}")
        if self._first_link is not None and (link := await asyncio.to_thread(self._first_link)):
            self._output.say("arcadia", f"Create the first account within an hour: {link}")
        self._output.say("arcadia", f"The data folder is {self._log.parents[1].resolve()}")
        self._output.say("arcadia", f"The log is {self._log}")
        for worker in self._workers:
            worker.started.set()  # It retries until the backend responds.
            worker.start()
        return True

    async def _begin(self, process: SupervisedProcess, is_ready: Callable[[], bool]) -> bool:
        process.start()
        began = asyncio.get_running_loop().time()
        deadline = began + START_TIMEOUT_SECONDS
        while not await asyncio.to_thread(is_ready):
            if process.failed_to_start.is_set():
                # The backend has printed why it cannot start. Exit with its status.
                self._status = max(process.returncode, 1)
                self._output.say("arcadia", f"The log is {self._log}")
                return False
            if self._interrupted.is_set():
                return False
            if asyncio.get_running_loop().time() > deadline:
                self._output.say("arcadia", f"{process.name} does not respond after {START_TIMEOUT_SECONDS:g} s")
                return False
            await asyncio.sleep(0.05)
        process.started.set()
        seconds = asyncio.get_running_loop().time() - began
        self._output.say("arcadia", f"{process.name.capitalize()} is ready after {seconds:.1f} s")
        return True

    def _backend_is_ready(self) -> bool:
        try:
            # Use no proxy: the address is on this machine.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"{self._url}/api/v1/health", timeout=2) as reply:
                # Another program may have taken the port.
                return "database" in json.loads(reply.read(MAX_RESPONSE_BYTES))
        except (OSError, HTTPException, ValueError, TypeError):
            return False

    def _on_interrupt(self) -> None:
        self._interrupts += 1
        self._interrupted.set()
        if self._interrupts > 1:
            for process in (*self._workers, self._backend, self._redis):
                process.signal(signal.SIGKILL)
