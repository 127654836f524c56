"""Alerts, in the caller's transaction: raise, end, list and mark them as read, and check lasting conditions."""

import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Update, delete, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from arcadia_backend.alerts import rules
from arcadia_backend.alerts.rules import DEFAULTS, AlertRule, list_score_rules, read_rules
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.migrations import free_bytes
from arcadia_backend.database.rights import projects_of
from arcadia_backend.database.tables import (
    Alert,
    AlertChannel,
    AlertDelivery,
    AlertKind,
    ArchiveImport,
    Measurement,
    Run,
)
from arcadia_backend.live.notices import publish
from arcadia_backend.metrics.points import MetricClock
from arcadia_backend.workers import connected_workers
from arcadia_workers.contract.events import DIVERGED, LogLevel
from arcadia_workers.contract.values import storable
from arcadia_workers.contract.worker_api import WORKERS

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
        for channel in session.scalars(select(AlertChannel).where(AlertChannel.enabled)):
            if channel.kinds is None or new.kind in channel.kinds:
                add_delivery(session, alert_id, channel.id)
        announce_alerts(session, [(new.run_id, new.study_id)])
    return alert_id


def announce_alerts(session: Session, subjects: Iterable[tuple[int | None, int | None]] = ()) -> None:
    """Notify open pages after the commit that alerts about runs or studies changed.

    Alerts and deliveries without either are only for administrators, and so is their notice.
    """
    runs, studies = set[int](), set[int]()
    for run_id, study_id in subjects:
        runs |= {run_id} if run_id is not None else set()
        studies |= {study_id} if study_id is not None else set()
    projects = projects_of(session, "runs", runs) | projects_of(session, "studies", studies)
    for notice in [{"project_id": project} for project in sorted(projects)] or [{}]:
        after_commit(session, lambda notice=notice: publish("alerts.changed", notice))  # type: ignore[misc]


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
    announce_alerts(session, _change(session, ended))


def list_alerts(
    session: Session,
    *,
    unread: bool,
    kinds: Iterable[AlertKind],
    run_id: int | None,
    limit: int,
    before: int | None,
) -> rules.AlertPage:
    """Return one page of alerts, newest first. Test alerts are not listed."""
    query = select(Alert).where(Alert.kind != "test").order_by(Alert.id.desc()).limit(limit + 1)
    query = query.where(Alert.read_at.is_(None)) if unread else query
    query = query.where(Alert.kind.in_(chosen)) if (chosen := tuple(kinds)) else query
    query = query if run_id is None else query.where(Alert.run_id == run_id)
    query = query if before is None else query.where(Alert.id < before)
    alerts = session.scalars(query).all()
    items = [rules.Alert.model_validate(alert) for alert in alerts[:limit]]
    return rules.AlertPage(
        items=items, unread=count_unread(session), next_cursor=items[-1].id if len(alerts) > limit else None
    )


def count_unread(session: Session) -> int:
    """Return the number of unread alerts."""
    return session.scalar(select(func.count()).where(Alert.read_at.is_(None))) or 0


def mark_read(session: Session, marked: rules.MarkRead) -> None:
    """Mark alerts as read."""
    chosen = or_(Alert.id.in_(marked.ids), Alert.id <= (marked.up_to or 0))
    read = update(Alert).where(Alert.read_at.is_(None), chosen).values(read_at=utc_now())
    announce_alerts(session, _change(session, read))


def _change(session: Session, change: Update) -> list[tuple[int | None, int | None]]:
    """Change alerts. Return the runs and the studies that they are about."""
    return [(run, study) for run, study in session.execute(change.returning(Alert.run_id, Alert.study_id))]


def delete_old_alerts(database: Database, now: datetime) -> None:
    """Delete alerts that are older than 90 days, with their deliveries."""
    old = Alert.created_at < now - KEPT
    with database.read() as session:
        if session.scalar(select(Alert.id).where(old).limit(1)) is None:
            return
    with database.write() as session:
        session.execute(delete(Alert).where(old))


def add_delivery(session: Session, alert_id: int, channel_id: int) -> AlertDelivery:
    """Queue the delivery of an alert to a channel."""
    delivery = AlertDelivery(key=secrets.token_hex(16), alert_id=alert_id, channel_id=channel_id)
    session.add(delivery)
    session.flush()
    return delivery


GB = 1e9
LASTING: tuple[AlertKind, ...] = ("run_stalled", "no_worker", "disk_almost_full")
# A full disk ends as a condition only with this much more space, so that it raises one alert.
DISK_MARGIN = 1.2
# Scores of runs that ended earlier raise no alert.
SCORE_PERIOD = timedelta(days=1)


@dataclass(frozen=True)
class Condition:
    """A lasting condition, and how long it must hold before it raises its alert."""

    key: str
    seconds: float
    alert: NewAlert


class ConditionChecker:
    """Check of all conditions. Durations are measured by a clock that stops while the machine is suspended."""

    def __init__(self, database: Database, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._database, self._settings, self._clock = database, settings, clock
        self._since: dict[str, float] = {}

    def check(self, now: datetime | None = None) -> None:
        """Raise the alerts of conditions that hold, and end those of conditions that no longer hold."""
        now = now or utc_now()
        with self._database.read() as session:
            rules = read_rules(session)
            known = select(Alert.key, Alert.kind).where(Alert.key.is_not(None), Alert.kind.in_(LASTING))
            open_keys = {row.key for row in session.execute(known)}
            conditions = {each.key: each for each in _conditions(session, self._settings, rules, open_keys, now)}
            passed = list(_passed_scores(session, rules, now))
        monotonic = self._clock()
        self._since = {key: self._since.get(key, monotonic) for key in conditions}
        lasting = [each for key, each in conditions.items() if monotonic - self._since[key] >= each.seconds]
        new = [each.alert for each in lasting if each.key not in open_keys] + passed
        ended = open_keys - conditions.keys()
        if new or ended:
            with self._database.write() as session:
                for alert in new:
                    raise_alert(session, alert)
                end_alerts(session, ended, now)


def _conditions(
    session: Session, settings: Settings, rules: Mapping[AlertKind, AlertRule], open_keys: set[str], now: datetime
) -> Iterator[Condition]:
    limits = {kind: rules[kind].threshold or 0 for kind in LASTING if rules[kind].enabled}
    if minutes := limits.get("run_stalled"):
        yield from _stalled_runs(session, minutes)
    if minutes := limits.get("no_worker"):
        yield from _queues_without_workers(session, minutes, now)
    if gigabytes := limits.get("disk_almost_full"):
        yield from _full_disk(settings, gigabytes, is_open="disk" in open_keys)


def _stalled_runs(session: Session, minutes: float) -> Iterator[Condition]:
    """Yield every running run. The key changes with each point, so the condition holds while no point arrives."""
    clock = (MetricClock.run_id == Run.id) & (MetricClock.attempt == Run.attempt)
    columns = (Run.id, Run.name, Run.attempt, Run.step, Run.episodes, MetricClock.last)
    query = select(*columns).outerjoin(MetricClock, clock).where(Run.state == "running")
    for row in session.execute(query):
        text = f"Run {row.id} is at step {row.step:,}. No new point has arrived for {minutes:g} minutes."
        key = f"stalled:{row.id}:{row.attempt}:{row.step}:{row.episodes}:{row.last}"
        yield Condition(key, 60 * minutes, NewAlert("run_stalled", f"{row.name} stalled", text, run_id=row.id, key=key))


def _queues_without_workers(session: Session, minutes: float, now: datetime) -> Iterator[Condition]:
    """Yield the queues in which runs wait although no worker is connected."""
    is_waiting = (Run.state == "queued", Run.executor == WORKERS, Run.queue.is_not(None))
    waiting = session.scalars(select(Run.queue).where(*is_waiting).distinct()).all()
    served = {worker.queue for worker in connected_workers(session, now)} if waiting else set()
    for queue in set(waiting) - served:
        key = f"no_worker:{queue}"
        text = f"Runs wait in the queue {queue}. Start a worker with --queue {queue}; the page Workers has the command."
        title = f"No worker for the queue {queue}"
        yield Condition(key, 60 * minutes, NewAlert("no_worker", title, text, key=key))


def _full_disk(settings: Settings, gigabytes: float, *, is_open: bool) -> Iterator[Condition]:
    """Yield a condition if the disk of the data folder has little space."""
    free = free_bytes(settings.data_dir) / GB
    if free < gigabytes * (DISK_MARGIN if is_open else 1):
        text = f"The disk of the data folder has {free:.2g} GB left. Runs lose data when it is full. Free some space."
        yield Condition("disk", 0, NewAlert("disk_almost_full", "The disk is almost full", text, key="disk"))


def _passed_scores(session: Session, rules: Mapping[AlertKind, AlertRule], now: datetime) -> Iterator[NewAlert]:
    """Yield an alert for each run that has passed a score, unless there is one."""
    if not rules["score_passed"].enabled:
        return
    for rule in list_score_rules(session):
        recent = or_(Run.state == "running", Run.finished_at > max(rule.created_at, now - SCORE_PERIOD))
        # NaN is not between numbers, but PostgreSQL and SQLite order it above them.
        passed = Run.best_return.between(rule.score, sys.float_info.max)
        is_import = select(ArchiveImport.run_id).where(ArchiveImport.run_id == Run.id).exists()
        of_project = (Run.project_id == rule.project_id, Run.origin != "imported", ~is_import)
        query = select(Run.id, Run.name, Run.best_return).where(recent, passed, *of_project)
        query = query if rule.env is None else query.where(Run.env == rule.env)
        keys = {f"score:{rule.id}:{row.id}": row for row in session.execute(query)}
        raised = set(session.scalars(select(Alert.key).where(Alert.key.in_(keys)))) if keys else set()
        for key, row in keys.items():
            if key not in raised:
                text = f"Run {row.id} has a mean return of {row.best_return:.4g} over 100 episodes."
                title = f"{row.name} passed {rule.score:.6g}"
                yield NewAlert("score_passed", title, text, run_id=row.id, key=key)
