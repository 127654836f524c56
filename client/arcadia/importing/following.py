"""Upload of a TensorBoard folder while a program writes to it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from arcadia.importing.sending import RunUpload
from arcadia.importing.tensorboard_files import find_runs
from arcadia.reporting.connection import Connection, UnavailableError
from arcadia.reporting.upload import HEARTBEAT_SECONDS


class Follower:
    """Upload of all runs in a folder, until it is closed."""

    def __init__(self, connection: Connection, folder: Path, project: str | None, show: Callable[[str], None]) -> None:
        self._connection, self._folder, self._project, self._show = connection, folder, project, show
        self._leader = f"follow-{secrets.token_hex(6)}"
        self._runs: dict[str, RunUpload] = {}

    def send(self) -> int:
        """Send new events and return their number. If the server is unavailable, the next call sends them."""
        sent = 0
        try:
            for run in find_runs(self._folder):
                if run.key not in self._runs:
                    upload = self._runs[run.key] = RunUpload(self._connection, run, self._leader, self._project)
                    self._show(f"{run.name} is at {self._connection.url}{upload.path}")
                sent += self._runs[run.key].send(run.files)
                self._runs[run.key].report_alive(HEARTBEAT_SECONDS)
        except UnavailableError as error:
            print(f"arcadia: {error} Trying again.", file=sys.stderr, flush=True)
        return sent

    def close(self) -> None:
        """End the runs as finished. Following them again continues them."""
        self.send()
        for upload in self._runs.values():
            upload.end()
