"""The fields of workers, presets, environments and the health of the server."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arcadia.records.record import Record


class Worker(Record):
    """A worker."""

    @property
    def name(self) -> str:
        """Name of the worker."""
        return str(self.data["name"])

    @property
    def host(self) -> str:
        """Host that it runs on."""
        return str(self.data["host"])

    @property
    def queue(self) -> str:
        """The queue that it takes runs from, cpu or gpu."""
        return str(self.data["queue"])

    @property
    def state(self) -> str:
        """One of idle, busy and gone."""
        return str(self.data["state"])

    @property
    def run_id(self) -> int | None:
        """Number of the run that it trains."""
        return self._integer("run_id")

    @property
    def device(self) -> str:
        """Device of the networks, such as cpu."""
        return str(self.data["device"])

    @property
    def cores(self) -> int:
        """Number of processor cores."""
        return int(self.data["cores"])

    @property
    def last_seen_at(self) -> datetime:
        """Time of the last heartbeat."""
        return self._required_time("last_seen_at")

    def __repr__(self) -> str:
        return f"<Worker {self.name!r} on {self.host}: {self.state}>"


class Preset(Record):
    """A named configuration that runs start from."""

    @property
    def name(self) -> str:
        """Name, as `launch` takes it."""
        return str(self.data["name"])

    @property
    def title(self) -> str:
        """Title for display."""
        return str(self.data["title"])

    @property
    def description(self) -> str:
        """Sentence that says what the preset shows."""
        return str(self.data["shows"])

    @property
    def config(self) -> dict[str, Any]:
        """All settings."""
        return dict(self.data["config"])

    @property
    def env(self) -> str:
        """Environment."""
        return str(self.config["env"])

    @property
    def algorithm(self) -> str:
        """Method."""
        return str(self.config["algorithm"])

    def __repr__(self) -> str:
        return f"<Preset {self.name!r}: {self.algorithm} on {self.env}>"


class Health(Record):
    """Health of the server."""

    @property
    def version(self) -> str:
        """Version of the server."""
        return str(self.data["version"])

    @property
    def is_ok(self) -> bool:
        """True if the database, the broker and the disk are fine."""
        return bool(self.data["status"] == "ok")

    @property
    def problems(self) -> list[str]:
        """Problems, as sentences."""
        parts = ("database", "broker", "disk")
        return [f"{part}: {self.data[part]['detail']}" for part in parts if not self.data[part]["ok"]]

    @property
    def workers(self) -> int:
        """Number of connected workers."""
        return int(self.data["workers"])

    def __repr__(self) -> str:
        workers = f"{self.workers} worker{'' if self.workers == 1 else 's'}"
        return f"<Health {self.data['status']}, version {self.version}, {workers}>"
