"""Short runs that measure the training speed of methods on this host."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import Attempt, Measurement, Run
from backend.metrics.visibility import training_seconds
from backend.runs import service as runs
from backend.runs.speed import kind_label, measure
from workers.contract.config import RunConfig
from workers.contract.worker_api import ACTIVE, ENDED

NAME_PREFIX = "Measure "
MIN_TRAINING_SECONDS = 30.0
# Stop measurements that report nothing for this long after the claim.
MAX_DURATION = timedelta(minutes=5)


def queue_measurements(session: Session, configs: Iterable[RunConfig]) -> list[Run]:
    """Queue a run for each method with unknown speed, unless a measurement is already queued or active."""
    wanted: dict[str, RunConfig] = {}
    for config in configs:
        if measure(session, config.algorithm, config.env) is None:
            wanted.setdefault(config.algorithm, config)
    unfinished = select(Run.algorithm).join(Measurement, Measurement.run_id == Run.id).where(Run.state.not_in(ENDED))
    for algorithm in session.scalars(unfinished):
        wanted.pop(algorithm, None)
    return [_queue(session, config) for config in wanted.values()]


def _queue(session: Session, config: RunConfig) -> Run:
    config_without_evaluations = config.model_copy(update={"evaluate_every_steps": 0, "calibrate_every_steps": 0})
    run = runs.add_to_queue(
        session, config_without_evaluations, name=NAME_PREFIX + kind_label((config.algorithm, config.env))
    )
    session.add(Measurement(run_id=run.id))
    session.flush()
    return run


def has_work(session: Session) -> bool:
    """Return True if a measurement must be stopped or archived."""
    found = _open(session)
    return any(run.state in ENDED for run in found) or bool(_stoppable(session, found))


def end_measurements(session: Session) -> None:
    """Stop measurements that have trained long enough, and archive those that have ended."""
    found = _open(session, lock=True)
    for run in _stoppable(session, found):
        runs.act(session, run, "stop")
    for run in found:
        if run.state in ENDED:
            runs.act(session, run, "archive")


def _open(session: Session, *, lock: bool = False) -> Sequence[Run]:
    query = select(Run).join(Measurement, Measurement.run_id == Run.id).where(Run.archived_at.is_(None))
    query = query.order_by(Run.id)
    return session.scalars(query.with_for_update(of=Run) if lock else query).all()


def _stoppable(session: Session, found: Sequence[Run]) -> list[Run]:
    running = [run for run in found if run.state in ACTIVE and run.desired == "run"]
    ids = [run.id for run in running]
    trained = training_seconds(session, ids)
    claimed = select(Attempt.run_id).where(Attempt.run_id.in_(ids), Attempt.claimed_at < utc_now() - MAX_DURATION)
    overdue = {*session.scalars(claimed)}
    return [run for run in running if trained[run.id] >= MIN_TRAINING_SECONDS or run.id in overdue]
