"""A run of the server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arcadia.errors import WaitTimeoutError

if TYPE_CHECKING:
    from arcadia._async.client import AsyncClient

# Length of one waiting request. Proxies often end requests after a minute.
WAIT_SECONDS = 25.0
ENDED_STATES = frozenset({"finished", "failed", "stopped"})


class AsyncRun:
    """A run. Its properties show the state of the last response; `refresh()` reads it again."""

    def __init__(self, client: AsyncClient, data: Mapping[str, Any]) -> None:
        self._client = client
        self.data: dict[str, Any] = dict(data)

    @property
    def id(self) -> int:
        """Return the number of the run."""
        return int(self.data["id"])

    @property
    def name(self) -> str:
        """Return the name."""
        return str(self.data["name"])

    @property
    def state(self) -> str:
        """Return the state, such as queued, running or finished."""
        return str(self.data["state"])

    @property
    def has_ended(self) -> bool:
        """Return True if the run is finished, failed or stopped."""
        return self.state in ENDED_STATES

    async def refresh(self) -> AsyncRun:
        """Read the run again."""
        self.data = await self._client.transport.get(f"/runs/{self.id}")
        return self

    async def wait(self, timeout: float | None = None) -> AsyncRun:
        """Wait until the run has ended or is paused. Raise WaitTimeoutError after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.has_ended and self.state != "paused":
            seconds = WAIT_SECONDS if deadline is None else min(WAIT_SECONDS, deadline - time.monotonic())
            if seconds <= 0:
                raise WaitTimeoutError(f"Run {self.id} is still {self.state} after {timeout:g} seconds. It continues.")
            self.data = await self._client.transport.get(f"/runs/{self.id}", wait="finished", timeout=round(seconds, 3))
        return self

    def __repr__(self) -> str:
        return f"<Run {self.id} {self.name!r}: {self.state}>"
