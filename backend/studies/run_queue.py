"""Creation of a study's runs, up to its limit of concurrent runs. Functions work inside the caller's transaction."""

from collections.abc import Mapping, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.configuration import configs
from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Run, Study, StudyPoint, StudyRun
from backend.errors import Invalid
from backend.live.notices import publish
from backend.runs.names import name_from_fields
from backend.runs.service import add_to_queue
from backend.studies.certainty import undecided_points
from backend.studies.planning import add_new_seeds, points_remaining
from backend.studies.points import point_config, read_specification
from backend.studies.results import load_planned_runs
from workers.contract.worker_api import ACTIVE, ENDED

# Pause a study after this many consecutive failures.
MAX_CONSECUTIVE_FAILURES = 5
# Limit runs created per transaction to keep locks short.
CREATE_BATCH_SIZE = 100

ACTIVE_STATES = ("queued", *ACTIVE)


def count_runs_by_state(session: Session, study_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return the number of runs of each study by state. Planned runs are not created yet, removed ones were purged."""
    query = (
        select(StudyRun.study_id, StudyRun.run_id.is_(None), Run.state, func.count())
        .outerjoin(Run, Run.id == StudyRun.run_id)
        .where(StudyRun.study_id.in_(study_ids))
        .group_by(StudyRun.study_id, StudyRun.run_id.is_(None), Run.state)
    )
    found: dict[int, dict[str, int]] = {study_id: {} for study_id in study_ids}
    for study_id, planned, state, count in session.execute(query):
        found[study_id]["planned" if planned else state or "removed"] = count
    return found


def has_work(session: Session, study: Study) -> bool:
    """Return True if a running study has work to do. Callers must re-check after locking its row."""
    found = count_runs_by_state(session, [study.id])[study.id]
    return _is_complete(session, study, found) or (_free_slots(study, found) > 0 and bool(found.get("planned")))


def needs_point(session: Session, study: Study) -> bool:
    """Return True if TPE should draw another point: there are free slots and no planned runs for them."""
    found = count_runs_by_state(session, [study.id])[study.id]
    return _free_slots(study, found) > found.get("planned", 0) and points_remaining(session, study) > 0


def queue_next_runs(session: Session, study: Study) -> list[Run]:
    """Queue the next runs, or finish the study if none remain. The caller holds the row lock."""
    if study.state != "running":
        return []
    found = count_runs_by_state(session, [study.id])[study.id]
    if reason := _failure_reason(session, study):
        pause_with_reason(session, study, reason)
        return []
    if _is_complete(session, study, found) and not _add_seeds_until_certain(session, study):
        study.state, study.finished_at = "finished", utc_now()
        announce_study(session, study)
    return _create_runs(session, study, min(_free_slots(study, found), CREATE_BATCH_SIZE))


def pause_with_reason(session: Session, study: Study, reason: str) -> None:
    """Pause a study until the user resumes it."""
    study.state, study.state_reason = "paused", reason
    announce_study(session, study)


def announce_study(session: Session, study: Study) -> None:
    """Notify open pages after the commit."""
    # The row may be expired after the commit.
    study_id = study.id
    after_commit(session, lambda: publish("study.changed", {"study_id": study_id}))


def _free_slots(study: Study, found: Mapping[str, int]) -> int:
    max_concurrent_runs = read_specification(study).max_concurrent_runs
    return max_concurrent_runs - sum(found.get(state, 0) for state in ACTIVE_STATES)


def _is_complete(session: Session, study: Study, found: Mapping[str, int]) -> bool:
    is_unfinished = any(found.get(state) for state in ("planned", "paused", *ACTIVE_STATES))
    return not is_unfinished and not points_remaining(session, study)


def _add_seeds_until_certain(session: Session, study: Study) -> bool:
    """Add a seed to each undecided point. Return False if there is none.

    The caller's transaction observes the results and adds the seeds, so a restart neither loses nor repeats any.
    """
    spec = read_specification(study)
    if spec.until is None:
        return False
    numbers = undecided_points(spec, load_planned_runs(session, study))
    add_new_seeds(session, study, numbers, 1)
    session.flush()
    return bool(numbers)


def _create_runs(session: Session, study: Study, limit: int) -> list[Run]:
    """Create the next runs: all points with the first seed, then all with the next one."""
    spec = read_specification(study)
    query = (
        select(StudyRun, StudyPoint.draw)
        .join(StudyPoint, (StudyPoint.study_id == StudyRun.study_id) & (StudyPoint.number == StudyRun.point))
        .where(StudyRun.study_id == study.id, StudyRun.run_id.is_(None))
        .order_by(StudyRun.seed, StudyRun.point)
    )
    created = []
    for planned, draw in session.execute(query.limit(max(0, limit))).all():
        try:
            config = point_config(spec, draw, planned.seed)
        except Invalid as refused:
            # It was valid when the study started, but this version of Arcadia has other presets or fields.
            pause_with_reason(session, study, f"Point {planned.point + 1} is invalid: {refused.detail}.")
            break
        varied = ["seed", *(field for axis in spec.axes for field in axis.fields)]
        name = name_from_fields(configs.to_document(config), varied)
        run = add_to_queue(session, config, name=name, priority=spec.priority, project_id=study.project_id)
        planned.run_id = run.id
        created.append(run)
    if created:
        announce_study(session, study)
    return created


def _failure_reason(session: Session, study: Study) -> str | None:
    """Return why the study must pause, or None: its last runs have all failed."""
    query = (
        select(Run.state, Run.failure_message)
        .join(StudyRun, StudyRun.run_id == Run.id)
        .where(StudyRun.study_id == study.id, Run.state.in_(ENDED), Run.finished_at >= study.started_at)
        .order_by(Run.finished_at.desc(), Run.id.desc())
        .limit(MAX_CONSECUTIVE_FAILURES)
    )
    rows = session.execute(query).all()
    if len(rows) < MAX_CONSECUTIVE_FAILURES or any(row.state != "failed" for row in rows):
        return None
    return f"The last {MAX_CONSECUTIVE_FAILURES} runs failed. Latest error: {rows[0].failure_message}"
