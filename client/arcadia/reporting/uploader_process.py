"""The uploader's process, as the script controls it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from arcadia.reporting.layout import (
    JournalDirectory,
    describe_conflicts,
    describe_left_out,
    let_continue,
    page_url,
    start_process,
)
from arcadia.settings import SOURCE_VARIABLE, TOKEN_VARIABLE, Token

RESTART_SECONDS = 5.0
POLL_SECONDS = 0.05
# Exit status of an uploader whose run or token the server rejected. The server would reject it again.
REJECTED = 3


class UploaderProcess:
    """A separate process that uploads a journal directory. It outlives the script if needed."""

    def __init__(self, directory: JournalDirectory, url: str, token: Token | None) -> None:
        self._directory, self.url, self.token = directory, url, token
        self._environment = {"ARCADIA_URL": url}
        if token:
            self._environment |= {TOKEN_VARIABLE: token, SOURCE_VARIABLE: token.source}
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._status: dict[str, Any] = {}
        self._status_version: tuple[int, int] | None = None
        self._printed: set[str] = set()

    def start(self) -> None:
        """Start the process."""
        self._started = time.monotonic()
        self._process = start_process("arcadia.reporting.uploader", self._directory, environment=self._environment)

    def keep_running(self) -> None:
        """Restart the process if it was killed, and print the run's page or a problem, each once."""
        if self._was_killed() and time.monotonic() - self._started >= RESTART_SECONDS:
            self.start()
        self._print_news()

    def read_desired(self) -> str:
        """Return the state that the server requests: run, stop or pause."""
        return str(self._read_status().get("desired") or "run")

    def wait_for_page(self, seconds: float) -> str | None:
        """Return the URL of the run's page, or None if the server does not answer in time."""
        return wait_for_page(self._read_status, seconds)

    def wait_for_rejection(self, seconds: float) -> str | None:
        """Wait until the server has answered. Return why it has rejected the run, or None if it has not."""
        self.wait_for_page(seconds)
        status = self._read_status()
        return str(status["problem"]) if status.get("rejected") else None

    def finish(self, seconds: float) -> None:
        """Wait until everything is uploaded, the server cannot be reached, or the time is up."""
        deadline = time.monotonic() + seconds
        if self._was_killed():
            self.start()
        # The uploader waits for the end of its input between two uploads.
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        while not self._directory.is_complete() and time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None or self._read_status().get("problem"):
                break
            time.sleep(POLL_SECONDS)
        self._print_news()
        status = self._read_status()
        if not (self._directory.is_complete() or status.get("rejected") or status.get("is_token_wrong")):
            self._print(
                "Not everything is uploaded yet. The uploader continues for an hour. If it is killed, or later, run: "
                f"arcadia sync {self._directory.path}"
            )
        if self._process is not None:
            let_continue(self._process)

    def _was_killed(self) -> bool:
        return self._process is not None and self._process.poll() not in (None, 0, REJECTED)

    def _page(self) -> str | None:
        return page_url(self._read_status())

    def _read_status(self) -> dict[str, Any]:
        """Return the status file's content. It is parsed after a change only."""
        try:
            status = self._directory.status.stat()
        except FileNotFoundError:
            return {}
        version = (status.st_mtime_ns, status.st_ino)
        if version != self._status_version:
            self._status, self._status_version = self._directory.read_status(), version
        return self._status

    def _print_news(self) -> None:
        if page := self._page():
            self._print(f"This run is at {page}")
        if conflicts := self._read_status().get("conflicts"):
            self._print(describe_conflicts(conflicts))
        status = self._read_status()
        for sentence in status.get("left_out", ()):
            self._print(sentence)
        if status.get("left_out") and self._directory.read_left_out():
            self._print(describe_left_out(self._directory))
        if status.get("is_token_wrong"):
            self._print(
                f"{status['problem']} Nothing is uploaded until then: events are kept in {self._directory.path}. "
                f"Upload them with: arcadia sync {self._directory.path}"
            )
        elif problem := status.get("problem"):
            self._print(f"{problem} Events are kept in {self._directory.path}.")

    def _print(self, message: str) -> None:
        if message not in self._printed:
            self._printed.add(message)
            print(f"arcadia: {message}", file=sys.stderr, flush=True)


def wait_for_page(read_status: Callable[[], Mapping[str, Any]], seconds: float) -> str | None:
    """Return the URL of a run's page from its status, or None if the server does not answer in time."""
    deadline = time.monotonic() + seconds
    while not (page := page_url(status := read_status())) and not status.get("problem"):
        if time.monotonic() >= deadline:
            break
        time.sleep(POLL_SECONDS)
    return page
