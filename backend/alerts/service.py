"""Alerts: raise, end, list and mark them as read. Functions run in the caller's transaction."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from backend.alerts import schemas
from backend.alerts.rules import DEFAULTS, read_rules
from backend.database.columns import utc_now
from backend.database.engine import Database, after_commit
from backend.database.tables import Alert, AlertChannel, AlertDelivery, AlertKind, Measurement, Run
from backend.live.notices import publish
from workers.contract.events import DIVERGED, LogLevel
from workers.contract.values import storable

MAX_TITLE, MAX_TEXT = 300, 10_000
KEPT = timedelta(days=90)
# A script in a loop must not bury all other alerts.
MAX_SCRIPT_ALERTS = 100


@dataclass(frozen=True)
class NewAlert:
    """An alert to raise, if its rule is on and no alert has its key."""

    kind: AlertKind
    title: str
    text: str = ""
    # By default that of its kind.
    level: LogLevel | None = None
    run_id: int | None = None
    study_id: int | None = None
    key: str | None = None


def raise_alert(session: Session, new: NewAlert) -> int | None:
    """Add an alert with its deliveries. Return its id, or None if its rule is off or its key is known."""
    rule = read_rules(session)[new.kind]
    if not rule.enabled:
        return None
    now = utc_now()
    values = {
        "key": new.key,
        "kind": new.kind,
        "level": new.level or DEFAULTS[new.kind].level,
        "title": str(storable(new.title))[:MAX_TITLE],
        "text": str(storable(new.text))[:MAX_TEXT],
        "run_id": new.run_id,
        "study_id": new.study_id,
        "created_at": now,
        "read_at": None if rule.rings else now,
    }
    build: Any = (sqlite if session.get_bind().dialect.name == "sqlite" else postgresql).insert
    # The run or study of the alert may be new.
    session.flush()
    alert_id: int | None = session.scalar(
        build(Alert).values(**values).on_conflict_do_nothing(index_elements=["key"]).returning(Alert.id)
    )
    if alert_id is not None:
        _add_deliveries(session, alert_id, new.kind)
        announce_alerts(session)
    return alert_id


def announce_alerts(session: Session) -> None:
    """Notify open pages after the commit that alerts or their deliveries changed."""
    after_commit(session, lambda: publish("alerts.changed", {}))


def raise_run_end(session: Session, run: Run) -> None:
    """Raise an alert if a run has just finished or failed. The caller changes the run's state in this transaction."""
    if run.state not in ("finished", "failed") or run.origin == "imported":
        return
    if session.get(Measurement, run.id) is not None:
        return
    if run.state == "finished":
        score = "" if run.last_return is None else f" Its mean return is {run.last_return:.4g}."
        new = NewAlert("run_finished", f"{run.name} finished", f"Run {run.id} finished.{score}", run_id=run.id)
    else:
        message = run.failure_message or "It reported no error."
        has_diverged = message.startswith(DIVERGED)
        kind: AlertKind = "run_diverged" if has_diverged else "run_failed"
        new = NewAlert(kind, f"{run.name} {'diverged' if has_diverged else 'failed'}", message, run_id=run.id)
    raise_alert(session, new)


def count_script_alerts(session: Session, run: Run) -> int:
    """Return how many alerts the script of a run has raised."""
    query = select(func.count()).where(Alert.run_id == run.id, Alert.kind == "script")
    return session.scalar(query) or 0


def end_alerts(session: Session, keys: Iterable[str], now: datetime) -> None:
    """End the alerts of conditions that no longer hold, so that they may raise others."""
    ended = update(Alert).where(Alert.key.in_(tuple(keys))).values(key=None, ended_at=now)
    session.execute(ended)
    announce_alerts(session)


def list_alerts(
    session: Session,
    *,
    unread: bool,
    kinds: Iterable[AlertKind],
    run_id: int | None,
    limit: int,
    before: int | None,
) -> schemas.AlertPage:
    """Return one page of alerts, newest first. Test alerts are not listed."""
    query = select(Alert).where(Alert.kind != "test").order_by(Alert.id.desc()).limit(limit + 1)
    query = query.where(Alert.read_at.is_(None)) if unread else query
    query = query.where(Alert.kind.in_(chosen)) if (chosen := tuple(kinds)) else query
    query = query if run_id is None else query.where(Alert.run_id == run_id)
    query = query if before is None else query.where(Alert.id < before)
    found = session.scalars(query).all()
    items = [schemas.Alert.model_validate(alert) for alert in found[:limit]]
    return schemas.AlertPage(
        items=items, unread=count_unread(session), next_cursor=items[-1].id if len(found) > limit else None
    )


def count_unread(session: Session) -> int:
    """Return the number of unread alerts."""
    return session.scalar(select(func.count()).where(Alert.read_at.is_(None))) or 0


def mark_read(session: Session, marked: schemas.MarkRead) -> None:
    """Mark alerts as read."""
    chosen = or_(Alert.id.in_(marked.ids), Alert.id <= (marked.up_to or 0))
    session.execute(update(Alert).where(Alert.read_at.is_(None), chosen).values(read_at=utc_now()))
    announce_alerts(session)


def delete_old_alerts(database: Database, now: datetime) -> None:
    """Delete alerts that are older than 90 days, with their deliveries."""
    old = Alert.created_at < now - KEPT
    with database.read() as session:
        if session.scalar(select(Alert.id).where(old).limit(1)) is None:
            return
    with database.write() as session:
        session.execute(delete(Alert).where(old))


def _add_deliveries(session: Session, alert_id: int, kind: AlertKind) -> None:
    for channel in session.scalars(select(AlertChannel).where(AlertChannel.enabled)):
        if channel.kinds is None or kind in channel.kinds:
            add_delivery(session, alert_id, channel.id)


def add_delivery(session: Session, alert_id: int, channel_id: int) -> AlertDelivery:
    """Queue the delivery of an alert to a channel."""
    delivery = AlertDelivery(key=secrets.token_hex(16), alert_id=alert_id, channel_id=channel_id)
    session.add(delivery)
    session.flush()
    return delivery
