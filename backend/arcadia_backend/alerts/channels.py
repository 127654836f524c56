"""Channels of alerts, and their deliveries."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlsplit

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from arcadia_backend.accounts.audit import record_in
from arcadia_backend.alerts import rules
from arcadia_backend.alerts.addresses import check_apprise_url, check_webhook_url
from arcadia_backend.alerts.service import add_delivery, announce_alerts
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import Alert, AlertChannel, AlertDelivery
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound

MAX_CHANNELS = 50
SWITCHED_OFF = "The channel was switched off."


def find_channel(session: Session, channel_id: int, *, lock: bool = False) -> AlertChannel:
    """Return a channel. Raise NotFound if it does not exist."""
    channel = session.get(AlertChannel, channel_id, with_for_update=True if lock else None)
    if channel is None:
        raise NotFound(f"There is no channel {channel_id}.")
    return channel


def list_channels(session: Session) -> list[rules.AlertChannel]:
    """Return the channels without their secrets, oldest first."""
    channels = session.scalars(select(AlertChannel).order_by(AlertChannel.id)).all()
    return [to_schema(session, channel) for channel in channels]


def check_address(settings: Settings, new: rules.AddChannel) -> None:
    """Raise Invalid if alerts cannot be delivered to an address. Host names are resolved only at a delivery."""
    try:
        if new.kind == "webhook":
            check_webhook_url(new.url)
        else:
            check_apprise_url(new.url, allow_private=settings.alerts_private)
    except ValueError as error:
        raise Invalid(FieldError(field="url", message=str(error))) from None


def add_channel(session: Session, new: rules.AddChannel) -> rules.AddedChannel:
    """Add a channel, and return it with its new secret."""
    if len(session.scalars(select(AlertChannel.id)).all()) >= MAX_CHANNELS:
        raise Conflict(f"There are already {MAX_CHANNELS} channels, which is the limit. Remove one first.")
    secret = secrets.token_hex(32) if new.kind == "webhook" else None
    channel = AlertChannel(kind=new.kind, name=new.name, url=new.url, secret=secret, kinds=_plain(new.kinds))
    session.add(channel)
    session.flush()
    announce_alerts(session)
    return rules.AddedChannel(**to_schema(session, channel).model_dump(), secret=channel.secret)


def edit_channel(session: Session, channel: AlertChannel, changes: rules.EditChannel) -> None:
    """Change the name or the kinds of a channel, or switch it on or off. Waiting deliveries end when it is off."""
    channel.name = changes.name or channel.name
    if "kinds" in changes.model_fields_set:
        channel.kinds = _plain(changes.kinds)
    if changes.enabled is not None:
        channel.enabled = changes.enabled
    if not channel.enabled:
        waiting = (AlertDelivery.channel_id == channel.id, AlertDelivery.state == "waiting")
        ended = {"state": "failed", "next_try_at": None, "ended_at": utc_now(), "error": SWITCHED_OFF}
        session.execute(update(AlertDelivery).where(*waiting).values(**ended))
    session.flush()
    announce_alerts(session)


def remove_channel(session: Session, channel_id: int) -> None:
    """Remove a channel with its history of deliveries."""
    session.delete(find_channel(session, channel_id, lock=True))
    announce_alerts(session)


def send_test(session: Session, channel: AlertChannel) -> rules.AlertDelivery:
    """Queue a test alert for one channel."""
    _refuse_switched_off(channel)
    now = utc_now()
    text = f"This is a test of the channel {channel.name}."
    alert = Alert(kind="test", level="info", title="Test of Arcadia's alerts", text=text, read_at=now)
    session.add(alert)
    session.flush()
    delivery = add_delivery(session, alert.id, channel.id)
    record_in(session, [None], "test", "alert channel", channel.id, channel.name)
    announce_alerts(session)
    return _to_delivery(delivery, alert.title, channel.name)


def send_again(session: Session, delivery_id: int) -> rules.AlertDelivery:
    """Queue a delivery again, with all of its tries. A delivery that is still waiting is tried immediately."""
    row = session.execute(
        _deliveries().where(AlertDelivery.id == delivery_id).with_for_update(of=AlertDelivery)
    ).first()
    if row is None:
        raise NotFound(f"There is no delivery {delivery_id}.")
    delivery, title, channel = row
    _refuse_switched_off(channel)
    delivery.state, delivery.tries, delivery.next_try_at, delivery.ended_at = "waiting", 0, utc_now(), None
    session.flush()
    record_in(session, [None], "send again", "alert channel", channel.id, channel.name, {"alert": title})
    announce_alerts(session)
    return _to_delivery(delivery, title, channel.name)


def list_deliveries(session: Session, channel_id: int | None, limit: int, before: int | None) -> rules.DeliveryPage:
    """Return one page of deliveries, newest first."""
    query = _deliveries().order_by(AlertDelivery.id.desc()).limit(limit + 1)
    query = query if channel_id is None else query.where(AlertDelivery.channel_id == channel_id)
    query = query if before is None else query.where(AlertDelivery.id < before)
    rows = session.execute(query).all()
    items = [_to_delivery(delivery, title, channel.name) for delivery, title, channel in rows[:limit]]
    return rules.DeliveryPage(items=items, next_cursor=items[-1].id if len(rows) > limit else None)


def to_schema(session: Session, channel: AlertChannel) -> rules.AlertChannel:
    """Return a channel without its secrets."""
    newest = select(AlertDelivery.error).where(AlertDelivery.channel_id == channel.id)
    return rules.AlertChannel(
        id=channel.id,
        kind=channel.kind,
        name=channel.name,
        address=shorten(channel),
        kinds=channel.kinds,
        enabled=channel.enabled,
        created_at=channel.created_at,
        problem=session.scalar(newest.order_by(AlertDelivery.id.desc()).limit(1)),
    )


def shorten(channel: AlertChannel) -> str:
    """Return the beginning of an address. The rest may contain a secret, as the addresses of Slack do."""
    parts = urlsplit(channel.url)
    if channel.kind == "apprise":
        return f"{parts.scheme}://…"
    has_more = parts.path not in ("", "/") or parts.query or parts.fragment
    return f"{parts.scheme}://{parts.netloc}/{'…' if has_more else ''}"


def _deliveries() -> Select[AlertDelivery, str, AlertChannel]:
    return (
        select(AlertDelivery, Alert.title, AlertChannel)
        .join(Alert, Alert.id == AlertDelivery.alert_id)
        .join(AlertChannel, AlertChannel.id == AlertDelivery.channel_id)
    )


def _to_delivery(delivery: AlertDelivery, title: str, channel: str) -> rules.AlertDelivery:
    same = rules.AlertDelivery.model_fields.keys() - {"title", "channel"}
    values: dict[str, str | int | datetime | None] = {name: getattr(delivery, name) for name in same}
    return rules.AlertDelivery.model_validate({**values, "title": title, "channel": channel})


def _refuse_switched_off(channel: AlertChannel) -> None:
    if not channel.enabled:
        raise Conflict(f"The channel {channel.name} is switched off. Switch it on first.")


def _plain(kinds: Sequence[str] | None) -> list[str] | None:
    return None if kinds is None else list(dict.fromkeys(kinds))
