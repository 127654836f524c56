"""/alerts, /alert-rules, /score-rules, /alert-channels and /alert-deliveries."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Response
from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from arcadia_backend.accounts.audit import record_in
from arcadia_backend.alerts import rules, service
from arcadia_backend.alerts.addresses import check_apprise_url, check_webhook_url
from arcadia_backend.alerts.service import add_delivery, announce_alerts
from arcadia_backend.config import CurrentSettings, Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db
from arcadia_backend.database.rights import check_role
from arcadia_backend.database.scope import Role, current
from arcadia_backend.database.tables import Alert, AlertChannel, AlertDelivery, AlertRuleKind
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId
from arcadia_workers.contract.values import Id

MAX_CHANNELS = 50
SWITCHED_OFF = "The channel was switched off."


def find_channel(session: Session, channel_id: int, *, lock: bool = False) -> AlertChannel:
    """Return a channel. Raise NotFound if it does not exist."""
    channel = session.get(AlertChannel, channel_id, with_for_update=True if lock else None)
    if channel is None:
        raise NotFound(f"There is no channel {channel_id}.")
    return channel


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


router = APIRouter(tags=["alerts"])

Limit = Annotated[int, Query(ge=1, le=200)]
Before = Annotated[Id | None, Query(description="The next_cursor of the previous page.")]


@router.get("/alerts")
def list_alerts(
    db: Db,
    unread: Annotated[bool, Query(description="Return only unread alerts.")] = False,
    kind: Annotated[list[AlertRuleKind], Query(description="Return only alerts of these kinds.")] = [],  # noqa: B006
    run: Annotated[Id | None, Query(description="Return only alerts of this run.")] = None,
    limit: Limit = 50,
    before: Before = None,
) -> rules.AlertPage:
    """Return one page of alerts, newest first. They are kept for 90 days."""
    with db.read() as session:
        return service.list_alerts(session, unread=unread, kinds=kind, run_id=run, limit=limit, before=before)


@router.post("/alerts/read")
def mark_alerts_read(db: Db, marked: rules.MarkRead) -> rules.UnreadAlerts:
    """Mark alerts as read, and return how many unread ones remain."""
    with db.write() as session:
        service.mark_read(session, marked)
        return rules.UnreadAlerts(unread=service.count_unread(session))


@router.get("/alert-rules")
def list_alert_rules(db: Db) -> list[rules.AlertRule]:
    """Return the rule of each kind of alert, for people with a role in a project. All projects share them."""
    if not current().everything:
        check_role(db.read, current(), Role.VIEWER, None)
    with db.read() as session:
        return list(rules.read_rules(session).values())


@router.patch("/alert-rules/{kind}")
def edit_alert_rule(db: Db, kind: AlertRuleKind, changes: rules.EditAlertRule) -> rules.AlertRule:
    """Switch a kind of alert on or off, change its threshold, or let it ring the bell or not."""
    with db.write() as session:
        return rules.edit_rule(session, kind, changes)


@router.get("/score-rules")
def list_score_rules(
    db: Db,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
) -> list[rules.ScoreRule]:
    """Return the scores that raise an alert when a run of their project passes them."""
    with db.read() as session:
        return [rules.ScoreRule.model_validate(rule) for rule in rules.list_score_rules(session, project)]


@router.post("/score-rules", status_code=201)
def add_score_rule(db: Db, once: Idempotent, new: rules.AddScoreRule) -> rules.ScoreRule:
    """Add a score. Runs that are in training and have already passed it raise an alert too."""
    with once.write(db) as session:
        return once.store(session, rules.ScoreRule.model_validate(rules.add_score_rule(session, new)))


@router.delete("/score-rules/{rule_id}", status_code=204)
def remove_score_rule(db: Db, rule_id: PathId) -> Response:
    """Remove a score."""
    with db.write() as session:
        rules.remove_score_rule(session, rule_id)
    return Response(status_code=204)


@router.get("/alert-channels")
def list_alert_channels(db: Db) -> list[rules.AlertChannel]:
    """Return the channels without their secrets, oldest first."""
    with db.read() as session:
        channels = session.scalars(select(AlertChannel).order_by(AlertChannel.id)).all()
        return [to_schema(session, channel) for channel in channels]


@router.post("/alert-channels", status_code=201)
def add_alert_channel(db: Db, settings: CurrentSettings, once: Idempotent, new: rules.AddChannel) -> rules.AddedChannel:
    """Add a channel. Only this response contains the secret that signs the requests of a webhook."""
    check_address(settings, new)
    with once.write(db) as session:
        return once.store(session, add_channel(session, new))


@router.patch("/alert-channels/{channel_id}")
def edit_alert_channel(db: Db, channel_id: PathId, changes: rules.EditChannel) -> rules.AlertChannel:
    """Change a channel's name or kinds, or switch it on or off."""
    with db.write() as session:
        channel = find_channel(session, channel_id, lock=True)
        edit_channel(session, channel, changes)
        return to_schema(session, channel)


@router.delete("/alert-channels/{channel_id}", status_code=204)
def remove_alert_channel(db: Db, channel_id: PathId) -> Response:
    """Remove a channel with its history of deliveries."""
    with db.write() as session:
        session.delete(find_channel(session, channel_id, lock=True))
        announce_alerts(session)
    return Response(status_code=204)


@router.post("/alert-channels/{channel_id}/test", status_code=202)
def test_alert_channel(db: Db, channel_id: PathId) -> rules.AlertDelivery:
    """Send a test alert to a channel. The history of deliveries shows its outcome."""
    with db.write() as session:
        return send_test(session, find_channel(session, channel_id, lock=True))


@router.get("/alert-deliveries")
def list_alert_deliveries(
    db: Db,
    channel: Annotated[Id | None, Query(description="Return only deliveries to this channel.")] = None,
    limit: Limit = 50,
    before: Before = None,
) -> rules.DeliveryPage:
    """Return one page of deliveries, newest first."""
    with db.read() as session:
        return list_deliveries(session, channel, limit, before)


@router.post("/alert-deliveries/{delivery_id}/redeliver", status_code=202)
def redeliver_alert(db: Db, delivery_id: PathId) -> rules.AlertDelivery:
    """Send an alert to its channel again."""
    with db.write() as session:
        return send_again(session, delivery_id)
