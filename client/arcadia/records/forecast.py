"""The fields of a forecast."""

from __future__ import annotations

from arcadia.records.record import Record


class RunForecast(Record):
    """A run's needs, the resources of the connected workers, and the expected start."""

    @property
    def queue(self) -> str:
        """The queue that it would wait in, cpu or gpu."""
        return str(self.data["queue"])

    @property
    def seconds(self) -> float | None:
        """Duration on a worker, at the speed of earlier runs here. None if no run like it was measured."""
        return self._number("seconds")

    @property
    def steps_per_second(self) -> float | None:
        """Speed of the earlier runs."""
        return self._number("steps_per_second")

    @property
    def measured_runs(self) -> int:
        """Number of earlier runs behind the forecast."""
        return int(self.data["measured_runs"])

    @property
    def measured_on(self) -> str | None:
        """Method and environment of the earlier runs."""
        return self._text("measured_on")

    @property
    def memory_bytes(self) -> float | None:
        """Largest memory of the earlier runs."""
        return self._number("memory_bytes")

    @property
    def gpu_memory_bytes(self) -> float | None:
        """Largest GPU memory of the earlier runs."""
        return self._number("gpu_memory_bytes")

    @property
    def cores(self) -> float | None:
        """Cores that the earlier runs kept busy."""
        return self._number("cores")

    @property
    def workers(self) -> int:
        """Number of connected workers of the queue."""
        return int(self.data["capacity"]["workers"])

    @property
    def idle_workers(self) -> int:
        """Number of them that train nothing."""
        return int(self.data["capacity"]["idle"])

    @property
    def runs_ahead(self) -> int:
        """Number of queued runs that start earlier."""
        return int(self.data["runs_ahead"])

    @property
    def starts_in_seconds(self) -> float | None:
        """Expected wait. None if it is unknown."""
        return self._number("starts_in_seconds")

    @property
    def start_unknown(self) -> str | None:
        """Sentence that says why the start is unknown."""
        return self._text("start_unknown")

    def __repr__(self) -> str:
        seconds = "an unknown time" if self.seconds is None else f"{self.seconds:,.0f} s"
        return f"<RunForecast: {seconds} on a {self.queue} worker>"
