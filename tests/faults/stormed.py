"""The installation of a storm: `arcadia up` and a second worker, the guest. Both are restarted as by a user."""

import contextlib
import signal
import time
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path

import httpx
import psutil

from arcadia_backend.startup.up import WORKER_NAME
from tests.faults.gusts import GUEST, WORKERS, Part
from tests.faults.scripts import Scripts
from tests.installation import Installation
from tests.journals import Journals
from tests.processes import command_line, trains

# `arcadia up` first stops its worker, whose trainer may use its whole grace period.
END_SECONDS = 90.0
# Words of the command lines of Ray's processes.
RAY = ("raylet/raylet", "ray::BundleRole", "gcs/gcs_server", "ray::DashboardAgent", "ray::ShardRole", "log_monitor.py")


class Stormed(Installation):
    """An installation of `arcadia up` with a second worker."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, sweep_seconds=2)
        self._data = directory / "data"
        self.journals = Journals(self._data / "workers")
        self.up = self._service("arcadia", ["arcadia_backend.cli", "up"])
        self.http.timeout = httpx.Timeout(5)
        self.family: dict[int, psutil.Process] = {}
        self.scripts = Scripts(self, directory)
        self._ray = cycle(RAY)

    def start(self) -> None:
        """Start all parts, and wait until they are healthy."""
        self.up.start()
        self.wait_until(lambda: self.keep_running(scripts=False) is None and self.is_healthy())

    def keep_running(self, *, scripts: bool = True) -> str | None:
        """Restart `arcadia up`, the guest or a script if it has ended, as a user would. Return its name, or None."""
        if self.up.ended is not None:
            self._forget_broker()
            self.up.start()
            return "arcadia"
        url = self._broker_url()
        if url and (GUEST not in self.workers or self.workers[GUEST].ended is not None):
            self._start_guest(url)
            return GUEST
        return self.scripts.keep_running() if scripts else None

    def is_healthy(self) -> bool:
        """Return True if all parts respond and both workers are online."""
        health = self.read("health")
        return bool(health["status"] == "ok" and health["workers"] == len(WORKERS))

    def part(self, part: Part, worker: str) -> psutil.Process | None:
        """Return the process of a part, or None if it is not running. `worker` selects the trainer, leash or worker."""
        with contextlib.suppress(psutil.NoSuchProcess):
            if part == "up":
                return None if self.up.ended is not None else self.up.process
            if part == "script":
                return self.scripts.process(WORKERS.index(worker))
            if part == "ray":
                return self._ray_process()
            if part in ("backend", "redis"):
                # Redis and Valkey show their address after their name in their command line.
                return _first(
                    self.up.process.children(),
                    "arcadia_backend.cli backend" if part == "backend" else "-server 127.0.0.1",
                )
            of = self._worker(worker)
            if part == "worker" or of is None:
                return of
            trainer = next((each for each in of.children(recursive=True) if trains(each)), None)
            return trainer.parent() if part == "leash" and trainer else trainer
        return None

    def dying_with(self, victim: psutil.Process) -> list[psutil.Process]:
        """Return a process and all that must end with it. The guest ends with `arcadia up`, whose Redis it uses."""
        # Ray may end with one of its processes or start another one, and an uploader outlives its script.
        if self.scripts.has(victim) or any(words in command_line(victim) for words in RAY):
            return [victim]
        guest = self.workers[GUEST]
        with_guest = victim == self.up.process and guest.ended is None
        return family_of(victim) + (family_of(guest.process) if with_guest else [])

    def close(self) -> None:
        """Kill all remaining processes."""
        self.remember()
        self.scripts.close()
        for service in (self.up, *self.workers.values()):
            service.end()
        for process in self.family.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        super().close()

    def remember(self) -> None:
        """Record all current processes."""
        for service in (self.up, *self.workers.values()):
            with contextlib.suppress(psutil.NoSuchProcess, AssertionError):
                if service.ended is None:
                    for process in family_of(service.process):
                        self.family[process.pid] = process

    def end(self) -> None:
        """Stop everything as a user does, and wait for the end."""
        self.remember()
        services = (*self.workers.values(), self.up)
        for service in services:
            service.send(signal.SIGTERM)
        until = time.monotonic() + END_SECONDS
        while any(service.ended is None for service in services) and time.monotonic() < until:
            self.remember()
            time.sleep(0.1)

    def _start_guest(self, broker_url: str) -> None:
        self._environment["ARCADIA_BROKER_URL"] = broker_url
        options = ["--queue", "cpu", "--name", GUEST, "--worker-dir", str(self._data / "workers" / GUEST)]
        self.workers[GUEST] = self._service(GUEST, ["arcadia_workers.worker", *options])
        self.workers[GUEST].start()

    def _forget_broker(self) -> None:
        """Stop the guest, because its Redis ended with `arcadia up` and the next one has another address."""
        if GUEST in self.workers:
            self.workers[GUEST].end()
        (self._data / "redis" / "redis.conf").unlink(missing_ok=True)

    def _ray_process(self) -> psutil.Process | None:
        """Return a Ray process of a run of Gorila that has started all of its roles, each kind in turn."""
        for worker in filter(None, map(self._worker, WORKERS)):
            below = worker.children(recursive=True)
            if any("ray::BundleRole" in command_line(each) for each in below):
                return _first(below, next(self._ray))
        return None

    def _worker(self, name: str) -> psutil.Process | None:
        if name == WORKER_NAME:
            return _first(self.up.process.children(), "arcadia_workers.worker")
        return self.workers[name].process if self.workers[name].ended is None else None

    def _broker_url(self) -> str | None:
        """Return the URL of the private Redis, or None until `arcadia up` has written its settings."""
        with contextlib.suppress(FileNotFoundError):
            lines = (self._data / "redis" / "redis.conf").read_text().splitlines()
            settings = dict(line.split(maxsplit=1) for line in lines)
            if {"port", "requirepass", "maxmemory"} <= settings.keys():
                return f"redis://:{settings['requirepass']}@127.0.0.1:{settings['port']}/0"
        return None


def family_of(process: psutil.Process) -> list[psutil.Process]:
    """Return a process and all of its descendants."""
    return [process, *process.children(recursive=True)]


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that still run. Zombies do not count."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _first(processes: Iterable[psutil.Process], words: str) -> psutil.Process | None:
    """Return the first process whose command line contains these words, or None."""
    for process in processes:
        if words in command_line(process):
            return process
    return None
