"""What users do with studies; every function works inside the caller's transaction."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.engine import after_commit
from backend.database.tables import Run, Study, StudyPoint, StudyRun, StudyState
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.live.notices import publish
from backend.runs import service as runs
from backend.runs.states import Change, decide
from backend.studies import planning
from backend.studies.points import Draw, read_specification
from backend.studies.results import best_points
from backend.studies.run_queue import announce_study
from backend.studies.sampling import random_draws
from backend.studies.schemas import Action, EditStudy, ExtendStudy, SteerAction
from backend.studies.specification import Specification

# Why an action is refused, by state.
_REFUSALS: dict[Action, dict[StudyState, str]] = {
    "pause": {
        "paused": "is paused already",
        "stopped": "has been stopped, so there is nothing to pause",
        "finished": "has finished, so there is nothing to pause",
    },
    "resume": {
        "running": "is running already",
        "finished": "has finished; extend it by more seeds or points to go on",
    },
    "stop": {"stopped": "has been stopped already", "finished": "has finished, so there is nothing to stop"},
    "delete": {"running": "is still running: stop or pause it first"},
}


def find_study(session: Session, study_id: int, *, lock: bool = False) -> Study:
    """The study, or a problem that says there is none."""
    study = session.get(Study, study_id, with_for_update=True if lock else None)
    if study is None:
        raise NotFound(f"There is no study {study_id}.")
    return study


def refusal(study: Study, action: Action) -> str | None:
    """Why an action is not possible now, or None if it is."""
    reason = _REFUSALS[action].get(study.state)
    return None if reason is None else f"Study {study.id} {reason}."


def start(session: Session, asked: Specification, draws: Sequence[Draw]) -> Study:
    """Store a study that begins with these points; the caller has its first runs made."""
    document = asked.model_dump(mode="json", exclude={"name", "question"})
    study = Study(name=asked.name, question=asked.question, specification=document, state="running")
    session.add(study)
    session.flush()
    planning.add_points(session, study, draws, asked.seeds)
    session.flush()
    announce_study(session, study)
    return study


def act(session: Session, study: Study, action: SteerAction) -> Sequence[Run]:
    """Pause, resume or stop a study with its runs that have not ended; return these."""
    if (reason := refusal(study, action)) is not None:
        raise Conflict(reason)
    if action == "resume":
        _begin_again(study)
    else:
        study.state = "paused" if action == "pause" else "stopped"
        study.finished_at = utc_now() if action == "stop" else None
    study.state_reason = None
    found = _its_runs(session, study)
    for run in found:
        if isinstance(decide(action, run), Change):
            runs.act(session, run, action)
    announce_study(session, study)
    return found


def delete(session: Session, study: Study) -> None:
    """Remove a study and what it plans; its runs stay."""
    if (reason := refusal(study, "delete")) is not None:
        raise Conflict(reason)
    study_id = study.id
    session.delete(study)
    after_commit(session, lambda: publish("study.removed", {"study_id": study_id}))


def edit(session: Session, study: Study, changes: EditStudy) -> None:
    """Change what the user wrote about a study."""
    study.name = study.name if changes.name is None else changes.name
    study.question = study.question if changes.question is None else changes.question
    announce_study(session, study)


def extend(session: Session, study: Study, wanted: ExtendStudy, most: int) -> None:
    """Plan more seeds of some points, or more points; one that has ended goes on, a paused one waits."""
    if wanted.points is None and wanted.seeds is None:
        raise Invalid(FieldError(field="seeds", message="say how many more seeds or points"))
    asked = read_specification(study)
    if wanted.points is not None:
        _more_points(session, study, asked, wanted.points, most)
    if wanted.seeds is not None:
        chosen = _chosen(session, study, wanted)
        _refuse_too_many(session, study, "seeds", len(chosen) * wanted.seeds, most)
        planning.add_new_seeds(session, study, chosen, wanted.seeds)
    session.flush()
    if study.state != "paused":
        _begin_again(study)
    announce_study(session, study)


def _begin_again(study: Study) -> None:
    study.state, study.state_reason, study.started_at, study.finished_at = "running", None, utc_now(), None


def _refuse_too_many(session: Session, study: Study, field: str, more: int, most: int) -> None:
    """Refuse more runs than a study may have, before any of them is planned."""
    count = planning.run_count(session, study) + more
    if count > most:
        message = f"the study would have {count:,} runs; it may have {most:,} (ARCADIA_MAX_STUDY_RUNS)"
        raise Invalid(FieldError(field=field, message=message))


def _more_points(session: Session, study: Study, asked: Specification, count: int, most: int) -> None:
    if asked.sampler == "grid":
        message = "a grid has all its points; clone the study with more values instead"
        raise Invalid(FieldError(field="points", message=message))
    _refuse_too_many(session, study, "points", count * len(asked.seeds), most)
    drawn = asked.points or 0
    if asked.sampler == "random":
        planning.add_points(session, study, random_draws(asked, drawn, count), asked.seeds)
    study.specification = {**study.specification, "points": drawn + count}


def _chosen(session: Session, study: Study, wanted: ExtendStudy) -> Sequence[int]:
    """The points that are to have more seeds."""
    there = session.scalars(select(StudyPoint.number).where(StudyPoint.study_id == study.id)).all()
    if wanted.of is not None:
        if missing := sorted({*wanted.of} - {*there}):
            raise Invalid(FieldError(field="of", message=f"the study has no point {missing[0]}"))
        return [*dict.fromkeys(wanted.of)]
    if wanted.best is None:
        return there
    best = best_points(session, study, wanted.best)
    if not best:
        raise Conflict(f"No run of study {study.id} has finished yet, so no point is the best.")
    return best


def _its_runs(session: Session, study: Study) -> Sequence[Run]:
    """Its runs that have not ended, locked."""
    ids = select(StudyRun.run_id).where(StudyRun.study_id == study.id, StudyRun.run_id.is_not(None))
    unended = Run.state.in_(("queued", "starting", "running", "paused"))
    return session.scalars(select(Run).where(Run.id.in_(ids), unended).order_by(Run.id).with_for_update()).all()
