# Generated from arcadia/_async by client/generate_sync.py. Edit that instead.
"""Channels of alerts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arcadia.records.alert import AlertChannelRecord, AlertDelivery

if TYPE_CHECKING:
    from arcadia._sync.client import Client


class AlertChannel(AlertChannelRecord):
    """A channel, which delivers alerts to another program."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    def edit(
        self, *, name: str | None = None, enabled: bool | None = None, kinds: Sequence[str] | None = None
    ) -> AlertChannel:
        """Rename the channel, switch it on or off, or choose the kinds of alerts that it delivers."""
        changes = {"name": name, "enabled": enabled, "kinds": None if kinds is None else list(kinds)}
        body = {field: value for field, value in changes.items() if value is not None}
        self.data = self._client.transport.patch(self._path, body)
        return self

    def test(self) -> AlertDelivery:
        """Send a test alert. `deliveries` shows its outcome."""
        return AlertDelivery(self._client.transport.post(f"{self._path}/test"))

    def deliveries(self, limit: int | None = 50) -> list[AlertDelivery]:
        """List the deliveries to this channel, newest first."""
        return self._client.alert_deliveries(channel=self.id, limit=limit)

    def remove(self) -> None:
        """Remove the channel with its history."""
        self._client.transport.delete(self._path)

    @property
    def _path(self) -> str:
        return f"/alert-channels/{self.id}"
