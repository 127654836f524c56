# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Objects with a state that changes over time: runs, studies and jobs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from arcadia.errors import WaitTimeoutError
from arcadia.progress import ProgressBar
from arcadia.records.record import Record

if TYPE_CHECKING:
    from arcadia._sync.client import Client

# Length of one waiting request. Proxies often end requests after a minute.
WAIT_SECONDS = 25.0
# With a progress bar, poll the server more often.
PROGRESS_SECONDS = 1.0

SomeResource = TypeVar("SomeResource", bound="Resource")


class Resource(Record):
    """An object of the server. Its properties show the state of the last response; `refresh()` reads it again."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    @property
    def _path(self) -> str:
        """Path in the API."""
        raise NotImplementedError

    @property
    def _title(self) -> str:
        """Noun and number, for messages and the progress bar."""
        raise NotImplementedError

    @property
    def _is_pending(self) -> bool:
        """True while there is something to wait for."""
        raise NotImplementedError

    @property
    def _share(self) -> float:
        """Share that is done, from 0 to 1."""
        raise NotImplementedError

    @property
    def _status(self) -> str:
        """Text next to the progress bar."""
        return str(self.data["state"])

    def refresh(self: SomeResource) -> SomeResource:
        """Read the object again."""
        self.data = self._client.transport.get(self._path)
        return self

    def wait(self: SomeResource, timeout: float | None = None, *, progress: bool = True) -> SomeResource:
        """Wait until it has ended or is paused. Raise WaitTimeoutError after `timeout` seconds.

        A terminal or a notebook shows a progress bar. While the server is unreachable, retry.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with ProgressBar(self._title, wanted=progress) as bar:
            longest = PROGRESS_SECONDS if bar.is_shown else WAIT_SECONDS
            while self._is_pending:
                seconds = min(longest, deadline - time.monotonic())
                if seconds <= 0:
                    state = self.data["state"]
                    raise WaitTimeoutError(f"{self._title} is still {state} after {timeout:g} seconds. It continues.")
                self.data = self._client.transport.get_patiently(
                    self._path, deadline, wait="finished", timeout=round(seconds, 3)
                )
                bar.update(self._share, self._status)
        return self
