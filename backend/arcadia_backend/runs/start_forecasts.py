"""Stored forecasts of starts, compared with what happened: how often "in 9 of 10 cases by" was true."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from math import floor, log2
from statistics import median, quantiles
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from sqlalchemy import and_, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import Attempt, Run, StartForecast
from arcadia_backend.runs.start_steps import queued_at
from arcadia_backend.runs.starts import COVERED
from arcadia_backend.runs.waiting import QUEUE_ORDER, read_waiting
from arcadia_backend.workers import open_workers
from arcadia_workers.contract.inference.means import clustered_share_interval
from arcadia_workers.contract.worker_api import WORKERS, QueueName

# Forecasts that one pass stores for each queue, so that a launch of thousands of runs does not hold up others.
MAX_STORED_RUNS = 500
KEPT = timedelta(days=365)
# With fewer forecasts nothing is said.
MIN_FORECASTS = 10
MIN_SECONDS = 1.0

_IS_IN_QUEUE = (Run.state == "queued", Run.executor == WORKERS, Run.archived_at.is_(None))
_STILL_WAITS = and_(*_IS_IN_QUEUE, Run.queued_at == StartForecast.queued_at, Run.queue == StartForecast.queue)


def follow_starts(database: Database, now: datetime) -> None:
    """Store forecasts of runs that entered a queue, and what happened to earlier ones.

    Several backends may do this at once: a forecast is stored once for each entry, and outcomes are read from attempts.
    """
    _store_outcomes(database, now)
    with database.read() as session:
        workers = open_workers(session, now)
    # Without workers there is no forecast. It is made when one connects.
    for queue in sorted({worker.queue for worker in workers}):
        _store_forecasts(database, queue)


def delete_old(session: Session, now: datetime) -> None:
    """Delete the forecasts that are no longer shown."""
    session.execute(delete(StartForecast).where(StartForecast.made_at < now - KEPT))


def _store_forecasts(database: Database, queue: QueueName) -> None:
    has_forecast = select(StartForecast.id).where(
        StartForecast.run_id == Run.id, StartForecast.queued_at == Run.queued_at
    )
    missing = select(Run.id, Run.attempt, Run.queued_at).where(
        *_IS_IN_QUEUE, Run.queue == queue, Run.queued_at.is_not(None), ~has_forecast.exists()
    )
    with database.read() as session:
        entries = session.execute(missing.order_by(*QUEUE_ORDER).limit(MAX_STORED_RUNS)).all()
        if not entries:
            return
        open_now = [worker for worker in open_workers(session, utc_now()) if worker.queue == queue]
        waiting = read_waiting(session, queue, open_now)
    rows = []
    for run_id, attempt, entered in entries:
        if run_id in waiting.places:
            start = waiting.starts.get(run_id)
            by = None if start is None or start.by is None else waiting.now + timedelta(seconds=start.by)
            rows.append(
                {
                    "run_id": run_id,
                    "queue": queue,
                    "attempt": attempt + 1,
                    "queued_at": entered,
                    "made_at": waiting.now,
                    "runs_ahead": waiting.count_ahead(run_id),
                    "expected_at": start and waiting.now + timedelta(seconds=start.expected),
                    "by_at": by,
                    "is_waiting": True,
                }
            )
    with database.write() as session:
        # Read again under the lock: a run may have been deleted or queued again. Another backend may have stored rows.
        ids = [row["run_id"] for row in rows]
        locked = session.execute(select(Run.id, Run.queued_at).where(Run.id.in_(ids)).with_for_update())
        still = {tuple(row) for row in locked}
        rows = [row for row in rows if (row["run_id"], row["queued_at"]) in still]
        if rows:
            build = (sqlite if session.get_bind().dialect.name == "sqlite" else postgresql).insert
            session.execute(build(StartForecast).on_conflict_do_nothing(), rows)


def _store_outcomes(database: Database, now: datetime) -> None:
    is_due = (StartForecast.work_added.is_(None)) & (StartForecast.by_at <= now)
    decided = (
        select(StartForecast, Attempt, _STILL_WAITS.label("still_waits"))
        .join(Run, Run.id == StartForecast.run_id)
        .outerjoin(Attempt, and_(Attempt.run_id == StartForecast.run_id, Attempt.attempt == StartForecast.attempt))
        .where(StartForecast.is_waiting, ~_STILL_WAITS | is_due)
        .order_by(StartForecast.queue)
    )
    with database.read() as session:
        if session.execute(decided.limit(1)).first() is None:
            return
    with database.write() as session:
        for queue, group in groupby(session.execute(decided).all(), lambda row: row[0].queue):
            rows = list(group)
            added = _later_entries(session, queue, min(row[0].made_at for row in rows))
            for forecast, attempt, still_waits in rows:
                _store_outcome(session, forecast, attempt, now, added, still_waits=still_waits)


class _Entry(NamedTuple):
    run_id: int
    queued_at: datetime
    started_at: datetime


def _later_entries(session: Session, queue: QueueName, since: datetime) -> list[_Entry]:
    """Return the starts of a queue since a time, with the times at which the runs were queued."""
    starts = select(Attempt).join(Run, Run.id == Attempt.run_id)
    starts = starts.where(Attempt.claimed_at > since, Run.queue == queue, Run.executor == WORKERS)
    found = ((attempt, queued_at(attempt)) for attempt in session.scalars(starts))
    return [_Entry(each.run_id, entered, each.claimed_at) for each, entered in found if entered and entered > since]


def _store_outcome(
    session: Session,
    forecast: StartForecast,
    attempt: Attempt | None,
    now: datetime,
    entries: Collection[_Entry],
    *,
    still_waits: bool,
) -> None:
    has_started = attempt is not None and queued_at(attempt) == forecast.queued_at
    forecast.is_waiting = still_waits
    if has_started and attempt is not None:
        forecast.started_at = attempt.claimed_at
    elif not still_waits and forecast.work_added is None:
        # It left the queue before its time, so nobody knows when it would have started.
        session.delete(forecast)
        return
    if forecast.work_added is None:
        end = min(filter(None, (forecast.started_at, forecast.by_at, now)))
        forecast.work_added = any(
            entry.run_id != forecast.run_id and forecast.made_at < entry.queued_at and entry.started_at < end
            for entry in entries
        )


class StartScore(BaseModel):
    """How many runs started by the stated time. `share` is null below 10 forecasts, and the interval below 5 days."""

    forecasts: int = Field(description="Forecasts whose stated time has passed.")
    on_time: int = Field(description="Those whose run had started by then.")
    share: float | None
    low: float | None = Field(
        description="Lower end of the 95 % interval (Wilson). Forecasts of one day count for less if they are alike."
    )
    high: float | None


class WaitBin(BaseModel):
    """Forecasts with similar waits, and how long their runs really waited, in seconds."""

    forecasts: int
    expected: float = Field(description="Median of the expected waits.")
    middle: float = Field(description="Median of the real waits.")
    early: float = Field(description="Lower quartile of the real waits.")
    late: float = Field(description="Upper quartile of the real waits.")


class StartCalibration(BaseModel):
    """Forecasts of starts compared with what happened, over all projects."""

    days: int
    stated_share: float = Field(description="Share of runs that start by the stated time, as forecasts say.")
    min_forecasts: int = Field(description="With fewer forecasts there is no share.")
    undisturbed: StartScore = Field(description="Forecasts whose run nobody overtook with work that was added later.")
    all: StartScore
    relative_error: float | None = Field(
        description="Median difference of expected and real wait over the real wait, of undisturbed runs. "
        "Null below 10 forecasts."
    )
    waiting: int = Field(description="Forecasts of runs that wait, and whose stated time has not passed.")
    without_time: int = Field(description="Forecasts without a stated time: too few runs had ended, or too many wait.")
    waits: list[WaitBin] = Field(description="Of undisturbed forecasts. A run that still waits counts until now.")


class DueForecast(NamedTuple):
    """A forecast whose stated time has passed."""

    made_at: datetime
    expected_at: datetime
    by_at: datetime
    started_at: datetime | None
    is_waiting: bool
    work_added: bool

    @property
    def is_on_time(self) -> bool:
        """True if its run started by the stated time."""
        return self.started_at is not None and self.started_at <= self.by_at


def score(outcomes: Sequence[DueForecast]) -> StartScore:
    """Return how many runs started by the stated time."""
    days: dict[date, list[bool]] = {}
    for each in outcomes:
        days.setdefault(each.made_at.date(), []).append(each.is_on_time)
    count, on_time = len(outcomes), sum(each.is_on_time for each in outcomes)
    if count < MIN_FORECASTS:
        return StartScore(forecasts=count, on_time=on_time, share=None, low=None, high=None)
    # Runs that wait on the same day are late together.
    low, high = clustered_share_interval([(len(day), sum(day)) for day in days.values()]) or (None, None)
    return StartScore(forecasts=count, on_time=on_time, share=on_time / count, low=low, high=high)


def read_calibration(session: Session, days: int) -> StartCalibration:
    """Return the forecasts whose stated time was in the last days, compared with what happened."""
    now = utc_now()
    columns = [getattr(StartForecast, name) for name in DueForecast._fields]
    # Chosen by the stated time and not by the start, so that late runs are not left out.
    in_period = (StartForecast.by_at > now - timedelta(days=days), StartForecast.by_at <= now)
    query = select(*columns).where(*in_period, StartForecast.work_added.is_not(None))
    count = select(func.count()).select_from(StartForecast)
    # Sums of all projects, without a run that is named.
    with backend_rights(session):
        outcomes = [DueForecast(*row) for row in session.execute(query)]
        waiting = session.scalars(count.where(StartForecast.is_waiting, StartForecast.by_at > now)).one()
        without_time = session.scalars(
            count.where(StartForecast.made_at > now - timedelta(days=days), StartForecast.by_at.is_(None))
        ).one()
    undisturbed = [each for each in outcomes if not each.work_added]
    errors = [
        abs((each.expected_at - each.started_at).total_seconds()) / _seconds(each.started_at - each.made_at)
        for each in undisturbed
        if each.started_at is not None
    ]
    return StartCalibration(
        days=days,
        stated_share=COVERED,
        min_forecasts=MIN_FORECASTS,
        undisturbed=score(undisturbed),
        all=score(outcomes),
        relative_error=median(errors) if len(errors) >= MIN_FORECASTS else None,
        waiting=waiting,
        without_time=without_time,
        waits=list(_wait_bins(undisturbed, now)) if len(undisturbed) >= MIN_FORECASTS else [],
    )


def _wait_bins(outcomes: Iterable[DueForecast], now: datetime) -> Iterable[WaitBin]:
    """Yield bins of expected waits, each twice as wide as the one before."""
    bins: dict[int, list[tuple[float, float]]] = {}
    for each in outcomes:
        if each.started_at is not None or each.is_waiting:
            expected = _seconds(each.expected_at - each.made_at)
            bins.setdefault(floor(log2(expected)), []).append(
                (expected, _seconds((each.started_at or now) - each.made_at))
            )
    for _, waits in sorted(bins.items()):
        real = [wait for _, wait in waits]
        early, middle, late = quantiles(real, n=4, method="inclusive") if len(real) > 1 else real * 3
        expected = median(wait for wait, _ in waits)
        yield WaitBin(forecasts=len(waits), expected=expected, middle=middle, early=early, late=late)


def _seconds(wait: timedelta) -> float:
    return max(MIN_SECONDS, wait.total_seconds())


router = APIRouter(tags=["runs"])


@router.get("/start-forecasts")
def show_start_forecasts(
    db: Db,
    days: Annotated[int, Query(ge=1, le=KEPT.days, description="Stated times in this many days until now.")] = 30,
) -> StartCalibration:
    """Return how often waiting runs started by the time that was forecast, over all projects."""
    with db.read() as session:
        return read_calibration(session, days)
