# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""The client of one Arcadia server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from arcadia._sync.runs import Run
from arcadia._sync.transport import Transport
from arcadia.settings import resolve_token, resolve_url


class Client:
    """A client of one server. Close it, or use it as a context manager."""

    def __init__(
        self, url: str | None = None, token: str | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.url = resolve_url(url)
        self.transport = Transport(self.url, resolve_token(self.url, token), transport)

    def launch(
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
    ) -> Run:
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
        return Run(self, self.transport.post("/runs", body))

    def run(self, run_id: int) -> Run:
        """Return a run."""
        return Run(self, self.transport.get(f"/runs/{run_id}"))

    def close(self) -> None:
        """Close the connections."""
        self.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
