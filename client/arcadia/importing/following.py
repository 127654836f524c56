"""Following of a folder of TensorBoard: new files and records are sent as they are written."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

from arcadia.importing.sending import RunUpload
from arcadia.importing.tensorboard_files import find_runs
from arcadia.reporting.connection import Connection, UnavailableError

HEARTBEAT_SECONDS = 10.0


class Follower:
    """Upload of all runs in a folder, until it is closed."""

    def __init__(self, connection: Connection, folder: Path, project: str | None, show: Callable[[str], None]) -> None:
        self._connection, self._folder, self._project, self._show = connection, folder, project, show
        self._leader = f"follow-{secrets.token_hex(6)}"
        self._runs: dict[str, RunUpload] = {}
        self._heard: dict[str, float] = {}

    def send(self) -> int:
        """Send what is new. Return the number of events. A server that is down is tried again by the next call."""
        sent = 0
        try:
            for run in find_runs(self._folder):
                if run.key not in self._runs:
                    upload = self._runs[run.key] = RunUpload(self._connection, run, self._leader, self._project)
                    self._show(f"{run.name} is at {self._connection.url}{upload.path}")
                new = self._runs[run.key].send(run.files)
                sent += new
                if not new and time.monotonic() - self._heard.get(run.key, 0.0) < HEARTBEAT_SECONDS:
                    continue
                if not new:
                    self._runs[run.key].report_alive()
                self._heard[run.key] = time.monotonic()
        except UnavailableError as error:
            print(f"arcadia: {error} It is tried again.", file=sys.stderr, flush=True)
        return sent

    def close(self) -> None:
        """End the runs as finished. Following them again continues them."""
        self.send()
        for upload in self._runs.values():
            upload.end()
