"""Conditions that are checked repeatedly: stalled runs, passed scores, queues without workers, and a full disk."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from backend.alerts.rules import list_score_rules, read_rules
from backend.alerts.schemas import AlertRule
from backend.alerts.service import NewAlert, end_alerts, raise_alert
from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.engine import Database
from backend.database.space import free_bytes
from backend.database.tables import Alert, AlertKind, ArchiveImport, Run
from backend.metrics.models import MetricClock
from backend.workers.presence import connected_workers

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
        lasting = self._lasting(conditions)
        new = [each.alert for each in lasting if each.key not in open_keys] + passed
        ended = open_keys - conditions.keys()
        if new or ended:
            with self._database.write() as session:
                for alert in new:
                    raise_alert(session, alert)
                end_alerts(session, ended, now)

    def _lasting(self, conditions: Mapping[str, Condition]) -> list[Condition]:
        """Return the conditions that have held for long enough."""
        monotonic = self._clock()
        self._since = {key: self._since.get(key, monotonic) for key in conditions}
        return [each for key, each in conditions.items() if monotonic - self._since[key] >= each.seconds]


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
    waiting = session.scalars(select(Run.queue).where(Run.state == "queued", Run.queue.is_not(None)).distinct()).all()
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
        query = select(Run.id, Run.name, Run.best_return).where(recent, passed, Run.origin != "imported", ~is_import)
        query = query if rule.env is None else query.where(Run.env == rule.env)
        keys = {f"score:{rule.id}:{row.id}": row for row in session.execute(query)}
        raised = set(session.scalars(select(Alert.key).where(Alert.key.in_(keys)))) if keys else set()
        for key, row in keys.items():
            if key not in raised:
                text = f"Run {row.id} has a mean return of {row.best_return:.4g} over 100 episodes."
                title = f"{row.name} passed {rule.score:.6g}"
                yield NewAlert("score_passed", title, text, run_id=row.id, key=key)
