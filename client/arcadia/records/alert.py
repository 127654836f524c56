"""The fields of alerts, their channels and their deliveries."""

from __future__ import annotations

from datetime import datetime

from arcadia.records.record import Record


class Alert(Record):
    """Something that a person should know, such as a failed run."""

    @property
    def id(self) -> int:
        """Number of the alert."""
        return int(self.data["id"])

    @property
    def kind(self) -> str:
        """Kind, such as run_failed, study_verdict or script."""
        return str(self.data["kind"])

    @property
    def level(self) -> str:
        """One of info, warning and error."""
        return str(self.data["level"])

    @property
    def title(self) -> str:
        """Title."""
        return str(self.data["title"])

    @property
    def text(self) -> str:
        """Details. It may be empty."""
        return str(self.data["text"])

    @property
    def run_id(self) -> int | None:
        """Number of the run that it concerns."""
        return self._integer("run_id")

    @property
    def study_id(self) -> int | None:
        """Number of the study that it concerns."""
        return self._integer("study_id")

    @property
    def created_at(self) -> datetime:
        """Time when it was raised."""
        return self._required_time("created_at")

    @property
    def read_at(self) -> datetime | None:
        """Time when it was marked as read."""
        return self._time("read_at")

    @property
    def ended_at(self) -> datetime | None:
        """Time when its condition ended, such as a full disk."""
        return self._time("ended_at")

    def __repr__(self) -> str:
        return f"<Alert {self.id} {self.kind}: {self.title!r}>"


class AlertChannelRecord(Record):
    """The fields of a channel, which delivers alerts to another program."""

    @property
    def id(self) -> int:
        """Number of the channel."""
        return int(self.data["id"])

    @property
    def kind(self) -> str:
        """One of webhook and apprise."""
        return str(self.data["kind"])

    @property
    def name(self) -> str:
        """Name."""
        return str(self.data["name"])

    @property
    def address(self) -> str:
        """Address, without parts that may be secret."""
        return str(self.data["address"])

    @property
    def kinds(self) -> list[str] | None:
        """Kinds of alerts that it delivers. None means all."""
        kinds = self.data["kinds"]
        return None if kinds is None else list(kinds)

    @property
    def enabled(self) -> bool:
        """False if it is switched off."""
        return bool(self.data["enabled"])

    @property
    def problem(self) -> str | None:
        """Sentence that says why its newest delivery has not succeeded."""
        return self._text("problem")

    @property
    def secret(self) -> str | None:
        """Secret that signs the requests of a webhook. Only a channel that was just added has it."""
        return self._text("secret")

    def __repr__(self) -> str:
        return f"<AlertChannel {self.id} {self.name!r}: {self.kind} {self.address}>"


class AlertDelivery(Record):
    """An alert on its way to a channel."""

    @property
    def id(self) -> int:
        """Number of the delivery."""
        return int(self.data["id"])

    @property
    def alert_id(self) -> int:
        """Number of the alert."""
        return int(self.data["alert_id"])

    @property
    def channel_id(self) -> int:
        """Number of the channel."""
        return int(self.data["channel_id"])

    @property
    def state(self) -> str:
        """One of waiting, delivered and failed."""
        return str(self.data["state"])

    @property
    def tries(self) -> int:
        """Number of tries so far."""
        return int(self.data["tries"])

    @property
    def status(self) -> int | None:
        """HTTP status of the last response."""
        return self._integer("status")

    @property
    def error(self) -> str | None:
        """Sentence that says why the last try failed."""
        return self._text("error")

    @property
    def next_try_at(self) -> datetime | None:
        """Time of the next try."""
        return self._time("next_try_at")

    def __repr__(self) -> str:
        return f"<AlertDelivery {self.id} of alert {self.alert_id}: {self.state} after {self.tries} tries>"
