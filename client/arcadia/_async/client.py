"""The client of one Arcadia server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from arcadia._async.runs import AsyncRun
from arcadia._async.transport import AsyncTransport
from arcadia.settings import resolve_token, resolve_url


class AsyncClient:
    """A client of one server. Close it, or use it as a context manager."""

    def __init__(
        self, url: str | None = None, token: str | None = None, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.url = resolve_url(url)
        self.transport = AsyncTransport(self.url, resolve_token(self.url, token), transport)

    async def launch(
        self,
        preset: str | None = None,
        *,
        name: str | None = None,
        seed: int | None = None,
        config: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        notes: str = "",
        priority: int = 0,
        queue: str | None = None,
        **changes: Any,
    ) -> AsyncRun:
        """Create a run from a preset with some fields changed, or from a complete configuration."""
        overrides = changes if seed is None else {**changes, "seed": seed}
        body = {
            "preset": preset,
            "config": None if config is None else dict(config),
            "overrides": overrides or None,
            "name": name,
            "tags": list(tags),
            "notes": notes,
            "priority": priority,
            "queue": queue,
        }
        return AsyncRun(self, await self.transport.post("/runs", body))

    async def run(self, run_id: int) -> AsyncRun:
        """Return a run."""
        return AsyncRun(self, await self.transport.get(f"/runs/{run_id}"))

    async def aclose(self) -> None:
        """Close the connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
