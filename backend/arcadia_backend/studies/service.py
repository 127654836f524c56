"""Operations on studies. Every function works inside the caller's transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend import caps, configuration
from arcadia_backend.accounts import audit
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import after_commit
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Run, Study, StudyPoint, StudyRun, StudyState
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.live.notices import Topic, publish
from arcadia_backend.projects.schemas import MoveItems
from arcadia_backend.projects.service import find_project, move, resolve
from arcadia_backend.runs import service as runs
from arcadia_backend.runs.names import name_from_fields
from arcadia_backend.runs.service import add_to_queue, choose_executor
from arcadia_backend.runs.states import Change, decide
from arcadia_backend.studies import planning
from arcadia_backend.studies.planning import add_new_seeds, points_remaining
from arcadia_backend.studies.points import Draw, point_config, random_draws, read_specification
from arcadia_backend.studies.results import best_points, load_planned_runs, undecided_points
from arcadia_backend.studies.schemas import Action, EditStudy, ExtendStudy, SteerAction
from arcadia_backend.studies.specification import Specification
from arcadia_workers.contract.worker_api import ACTIVE, ENDED, WORKERS

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
    counts: dict[int, dict[str, int]] = {study_id: {} for study_id in study_ids}
    for study_id, planned, state, count in session.execute(query):
        counts[study_id]["planned" if planned else state or "removed"] = count
    return counts


def has_work(session: Session, study: Study) -> bool:
    """Return True if a running study has work to do. Callers must re-check after locking its row."""
    counts = count_runs_by_state(session, [study.id])[study.id]
    return _is_complete(session, study, counts) or (_free_slots(study, counts) > 0 and bool(counts.get("planned")))


def needs_point(session: Session, study: Study) -> bool:
    """Return True if TPE should draw another point: there are free slots and no planned runs for them."""
    counts = count_runs_by_state(session, [study.id])[study.id]
    return _free_slots(study, counts) > counts.get("planned", 0) and points_remaining(session, study) > 0


def queue_next_runs(session: Session, study: Study) -> list[Run]:
    """Queue the next runs, or finish the study if none remain. The caller holds the row lock."""
    if study.state != "running":
        return []
    counts = count_runs_by_state(session, [study.id])[study.id]
    if reason := _failure_reason(session, study):
        pause_with_reason(session, study, reason)
        return []
    if _is_complete(session, study, counts) and not _add_seeds_until_certain(session, study):
        study.state, study.finished_at = "finished", utc_now()
        announce_study(session, study)
    return _create_runs(session, study, min(_free_slots(study, counts), CREATE_BATCH_SIZE))


def pause_with_reason(session: Session, study: Study, reason: str) -> None:
    """Pause a study until the user resumes it. Its runs that wait at a scheduler would fail too, so pause them."""
    study.state, study.state_reason = "paused", reason
    for run in _lock_unended_runs(session, study):
        if run.state == "queued" and run.executor != WORKERS:
            runs.act(session, run, "pause")
    announce_study(session, study)


def pause_without_right(session: Session, study: Study) -> None:
    """Pause a study whose person may no longer launch runs in its project, and record why."""
    if study.state != "running":
        return
    reason = f"{study.started_by or 'Who started it'} may no longer launch runs here. An editor can resume the study."
    pause_with_reason(session, study, reason)
    after = {"state": "paused", "reason": reason}
    audit.record(session, "pause", "study", study.id, study.name, project_id=study.project_id, after=after)


def announce_study(session: Session, study: Study) -> None:
    """Notify open pages after the commit."""
    # The row may be expired after the commit.
    study_id = study.id
    after_commit(session, lambda: publish("study.changed", {"study_id": study_id}))


def _free_slots(study: Study, counts: Mapping[str, int]) -> int:
    """Return how many runs may be queued. A scheduler limits itself how many of them train at once."""
    spec = read_specification(study)
    if spec.executor not in (None, WORKERS) and spec.sampler != "tpe":
        return counts.get("planned", 0)
    return spec.max_concurrent_runs - sum(counts.get(state, 0) for state in ACTIVE_STATES)


def _is_complete(session: Session, study: Study, counts: Mapping[str, int]) -> bool:
    is_unfinished = any(counts.get(state) for state in ("planned", "paused", *ACTIVE_STATES))
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
        name = name_from_fields(configuration.to_document(config), varied)
        by: dict[str, Any] = {"person_id": study.person_id, "launched_by": study.started_by}
        by |= {"executor": spec.executor or WORKERS, "job_options": spec.job_options}
        by |= {"needs": spec.needs.to_text(), "interruptible": spec.interruptible}
        run = add_to_queue(session, config, name=name, priority=spec.priority, project_id=study.project_id, **by)
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


# Why an action is not allowed, by state.
_NOT_ALLOWED: dict[Action, dict[StudyState, str]] = {
    "pause": {
        "paused": "is already paused",
        "stopped": "has already stopped",
        "finished": "has already finished",
    },
    "resume": {
        "running": "is already running",
        "finished": "has finished; extend it with seeds or points to continue",
    },
    "stop": {"stopped": "has already stopped", "finished": "has already finished"},
    "delete": {"running": "is still running: stop or pause it first"},
}


def find_study(session: Session, study_id: int, *, lock: bool = False) -> Study:
    """Return the study. Raise NotFound if it does not exist."""
    study = session.get(Study, study_id, with_for_update=True if lock else None)
    if study is None:
        raise NotFound(f"There is no study {study_id}.")
    return study


def in_progress(session: Session, study_id: int) -> Topic | None:
    """Return the topic of a running study, or None if it is not running."""
    if find_study(session, study_id).state != "running":
        return None
    return Topic(frozenset({"study.changed", "study.removed"}), {"study_id": study_id})


def why_not_allowed(study: Study, action: Action) -> str | None:
    """Return why an action is not allowed, or None if it is allowed."""
    reason = _NOT_ALLOWED[action].get(study.state)
    return None if reason is None else f"Study {study.id} {reason}."


def start(session: Session, spec: Specification, draws: Sequence[Draw], project: str | None = None) -> Study:
    """Store a study with these points. The caller queues its first runs."""
    project_id = resolve(session, project)
    document = spec.model_dump(mode="json", exclude={"name", "question"})
    caps.require_hours(session, project_id)
    document["executor"] = choose_executor(session, spec.executor, project_id, spec.job_options)
    columns = {"name": spec.name, "question": spec.question, "project_id": project_id}
    study = Study(**columns, specification=document, state="running")
    session.add(study)
    session.flush()
    planning.add_points(session, study, draws, spec.seeds)
    session.flush()
    announce_study(session, study)
    return study


def act(session: Session, study: Study, action: SteerAction) -> Sequence[Run]:
    """Pause, resume or stop a study with its unended runs, and return these runs."""
    if (reason := why_not_allowed(study, action)) is not None:
        raise Conflict(reason)
    if action == "resume":
        _set_running(study)
        if (scope := current()).person_id is not None:
            # Its next runs are launched with the rights of this person.
            study.person_id, study.started_by = scope.person_id, scope.name[:100] or None
    else:
        study.state = "paused" if action == "pause" else "stopped"
        study.finished_at = utc_now() if action == "stop" else None
    study.state_reason = None
    unended = _lock_unended_runs(session, study)
    for run in unended:
        if isinstance(decide(action, run), Change):
            runs.act(session, run, action)
    announce_study(session, study)
    return unended


def delete(session: Session, study: Study) -> None:
    """Delete a study with its plan. Its runs are kept."""
    if (reason := why_not_allowed(study, "delete")) is not None:
        raise Conflict(reason)
    # With the project, because it can no longer be looked up.
    notice = {"study_id": study.id, "project_id": study.project_id}
    session.delete(study)
    after_commit(session, lambda: publish("study.removed", notice))


def edit(session: Session, study: Study, changes: EditStudy) -> None:
    """Change the name, the question or the project of a study."""
    study.name = study.name if changes.name is None else changes.name
    study.question = study.question if changes.question is None else changes.question
    if changes.project is not None:
        project = find_project(session, resolve(session, changes.project))
        move(session, project, MoveItems(studies=[study.id]))
        session.refresh(study, ["project_id", "project"])
    announce_study(session, study)


def extend(session: Session, study: Study, extension: ExtendStudy, max_runs: int) -> None:
    """Add seeds to some points, or add points. An ended study continues, a paused one stays paused."""
    if extension.points is None and extension.seeds is None:
        raise Invalid(FieldError(field="seeds", message="give the number of seeds or points to add"))
    spec = read_specification(study)
    if extension.points is not None:
        if spec.sampler == "grid":
            message = "a grid has all its points; clone the study with more values instead"
            raise Invalid(FieldError(field="points", message=message))
        if spec.until is not None:
            message = "a study until certain compares a fixed set of points; clone the study with more points instead"
            raise Invalid(FieldError(field="points", message=message))
        _check_run_limit(session, study, "points", extension.points * len(spec.seeds), max_runs)
        drawn = spec.points or 0
        if spec.sampler == "random":
            planning.add_points(session, study, random_draws(spec, drawn, extension.points), spec.seeds)
        study.specification = {**study.specification, "points": drawn + extension.points}
    if extension.seeds is not None:
        numbers = _points_to_extend(session, study, extension)
        _check_run_limit(session, study, "seeds", len(numbers) * extension.seeds, max_runs)
        planning.add_new_seeds(session, study, numbers, extension.seeds)
    session.flush()
    if study.state != "paused":
        _set_running(study)
    announce_study(session, study)


def _set_running(study: Study) -> None:
    study.state, study.state_reason, study.started_at, study.finished_at = "running", None, utc_now(), None


def _check_run_limit(session: Session, study: Study, field: str, more: int, max_runs: int) -> None:
    """Raise Invalid if the study would have more runs than allowed."""
    count = planning.run_count(session, study) + more
    if count > max_runs:
        message = f"the study would have {count:,} runs; it may have {max_runs:,} (ARCADIA_MAX_STUDY_RUNS)"
        raise Invalid(FieldError(field=field, message=message))


def _points_to_extend(session: Session, study: Study, extension: ExtendStudy) -> Sequence[int]:
    """Return the numbers of the points that get more seeds."""
    existing = session.scalars(select(StudyPoint.number).where(StudyPoint.study_id == study.id)).all()
    if extension.of is not None:
        if missing := sorted({*extension.of} - {*existing}):
            raise Invalid(FieldError(field="of", message=f"the study has no point {missing[0]}"))
        return [*dict.fromkeys(extension.of)]
    if extension.best is None:
        return existing
    best = best_points(session, study, read_specification(study), extension.best)
    if not best:
        raise Conflict(f"No run of study {study.id} has finished yet, so the best points are unknown.")
    return best


def _lock_unended_runs(session: Session, study: Study) -> Sequence[Run]:
    """Return the runs of a study that have not ended, with row locks."""
    ids = select(StudyRun.run_id).where(StudyRun.study_id == study.id, StudyRun.run_id.is_not(None))
    unended = Run.state.in_(("queued", "starting", "running", "paused"))
    return session.scalars(select(Run).where(Run.id.in_(ids), unended).order_by(Run.id).with_for_update()).all()
