"""Changes of practices. A job plans a practice. Then two runs train on, and a job measures each.

The state of a practice follows from its current job and its runs, so that it continues after any failure.
"""

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.accounts import audit
from arcadia_backend.accounts.roles import present_scope
from arcadia_backend.checkpoints.availability import find_chosen
from arcadia_backend.database import tables
from arcadia_backend.database.scope import acting_as, current
from arcadia_backend.database.tables import Job, Replay, Run
from arcadia_backend.errors import Conflict, FieldError, Invalid, Problem
from arcadia_backend.job_kinds import reviews
from arcadia_backend.job_kinds.practices.queries import (
    arms_of,
    before_of,
    find,
    find_in_progress,
    has_finished,
    plan_of,
    reviews_of_agent,
    runs_of,
    state_of,
    to_sentence,
    why_unusable,
)
from arcadia_backend.jobs import row_of_job
from arcadia_backend.metrics.points import training_seconds
from arcadia_backend.replays.players import find_player, read_track
from arcadia_backend.replays.service import find_replay
from arcadia_backend.runs import service as runs
from arcadia_backend.runs.schemas import ForkRun
from arcadia_backend.runs.states import Change, decide
from arcadia_backend.web.lookup import find_run, require_trained
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.jobs import PracticeParameters
from arcadia_workers.contract.practice import (
    ARMS,
    PracticeOptions,
    TooFewMistakesError,
    TrainedArm,
    mistakes_of,
    split,
)

# Other runs start first.
PRIORITY = -100
MAX_NAME = 180
# Only the training of both runs is compared.
SILENT = {"evaluate_every_steps": 0, "calibrate_every_steps": 0}


def start(session: Session, review_id: int, options: PracticeOptions) -> tuple[tables.Practice, Sequence[Run | Job]]:
    """Plan a practice, or continue one that was stopped. Return it with what was queued."""
    review, _ = reviews.find(session, review_id, lock=True)
    practice = session.scalar(select(tables.Practice).where(tables.Practice.replay_id == review.replay_id))
    if practice is not None:
        return practice, _continue(session, practice, options)
    replay = reviews.replay_of(session, review, lock=True)
    practice = tables.Practice(
        replay_id=replay.id, options=_settled(options, replay), arms=[], person_id=current().person_id
    )
    job = _plan(session, practice, replay, options)
    session.add(practice)
    session.flush()
    return practice, [job]


def _settled(options: PracticeOptions, replay: Replay) -> dict[str, object]:
    return options.model_copy(update={"steps": options.steps_after(replay.step)}).model_dump(mode="json")


def _plan(session: Session, practice: tables.Practice, replay: Replay, options: PracticeOptions) -> Job:
    """Queue the job that plans a practice."""
    run = find_run(session, replay.run_id)
    require_trained(run, "practice with")
    jobs.check_room(session, run, "practice")
    reviewed = reviews_of_agent(session, replay)
    try:
        split([mistakes_of(each.review) for each in reviewed], options.pairs)
    except TooFewMistakesError as error:
        raise Conflict(to_sentence(error)) from error
    checkpoint = find_player(session, run, read_track(session, replay))
    # The runs start from it once the plan is made.
    checkpoint.pinned = True
    parameters = PracticeParameters(protocol=reviewed[0].review.protocol, options=options, reviews=reviewed)
    job = jobs.enqueue(session, run, checkpoint, "practice", parameters, 0)
    practice.job_id, practice.plan, practice.arms = job.id, None, []
    return job


def _continue(session: Session, practice: tables.Practice, options: PracticeOptions) -> Sequence[Run | Job]:
    """Continue a practice that was stopped or has failed. Runs that have failed or were deleted are started again."""
    job = session.get_one(Job, practice.job_id)
    replay = find_replay(session, practice.replay_id)
    arms = arms_of(practice)
    trained = runs_of(session, arms, lock=True)
    state, _ = state_of(practice, job, arms, trained)
    if state in jobs.UNFINISHED:
        raise Conflict(f"Practice {practice.id} of this review is in progress. Wait until it is done, or cancel it.")
    if state == "done":
        raise Conflict(f"This review already has practice {practice.id}. Delete it first to practice again.")
    practice.person_id = current().person_id
    settled = _settled(options, replay)
    if changed := [name for name, value in settled.items() if value != practice.options[name]]:
        known = practice.options[changed[0]]
        message = f"practice {practice.id} has {known}: continue with that, or delete it first"
        raise Invalid(FieldError(field=changed[0], message=message))
    if practice.plan is None:
        planning = _plan(session, practice, replay, options)
        session.flush()
        jobs.remove(session, job)
        return [planning]
    if arms and has_finished(arms, trained):
        return [_measure_next(session, practice, job, arms)]
    if job.state != "done":
        jobs.set_state(session, job, "done")
    started = _start_runs(session, practice, job)
    paused = [run for run in trained.values() if isinstance(decide("resume", run), Change)]
    for run in paused:
        runs.act(session, run, "resume")
    return [*started, *paused]


def continue_due(session: Session, practice_id: int) -> Sequence[Run | Job]:
    """Queue the runs of a practice, or the job that measures the next one. Return what was queued.

    It checks again under the lock of the run, so several backends may call it.
    """
    practice, job = find(session, practice_id, lock=True)
    arms = arms_of(practice)
    if job.state != "done" or practice.document is not None or not has_finished(arms, runs_of(session, arms)):
        return []
    scope = present_scope(session, practice.person_id)
    if not scope.can_edit(find_run(session, job.require_run_id()).project_id):
        _end_without_right(session, practice, job)
        return []
    try:
        with acting_as(scope):
            queued = [_measure_next(session, practice, job, arms)] if arms else _start_runs(session, practice, job)
            session.flush()
            return queued
    except Problem as problem:
        jobs.set_state(session, job, "failed", problem.detail)
        return []


def find_without_right(session: Session) -> list[int]:
    """Return the ids of the practices in progress whose person may no longer launch runs in their project."""
    found = find_in_progress(session)
    scopes = {person_id: present_scope(session, person_id) for person_id in {each.person_id for each, _ in found}}
    return [practice.id for practice, project_id in found if not scopes[practice.person_id].can_edit(project_id)]


def end_if_without_right(session: Session, practice_id: int) -> None:
    """End a practice in progress. Check again under the lock of its run that its person may not continue it."""
    practice, job = find(session, practice_id, lock=True)
    if practice_id in find_without_right(session):
        _end_without_right(session, practice, job)


def _end_without_right(session: Session, practice: tables.Practice, job: Job) -> None:
    """End a practice whose person may no longer launch runs. Pause its runs, and record why."""
    reason = "Who started it may no longer launch runs here. An editor can continue the practice."
    jobs.set_state(session, job, "failed", reason)
    _act(session, practice, "pause")
    project_id = find_run(session, job.require_run_id()).project_id
    after = {"state": "failed", "reason": reason}
    audit.record(session, "stop", "practice", practice.id, project_id=project_id, after=after)


def _start_runs(session: Session, practice: tables.Practice, job: Job) -> list[Run]:
    """Start the runs of a practice, or those that cannot continue. Return them."""
    plan, known = plan_of(practice), arms_of(practice)
    run = find_run(session, job.require_run_id())
    checkpoint = find_player(session, run, read_track(session, find_replay(session, practice.replay_id)))
    trained = runs_of(session, known)
    usable = {(arm.name, arm.pair): arm for arm in known if why_unusable(arm, trained) is None}
    started, arms = [], []
    for pair in range(1, plan.options.pairs + 1):
        for name in ARMS:
            if arm := usable.get((name, pair)):
                arms.append(arm)
                continue
            changes = plan.changes(name, pair, run.config["seed"])
            title = f"{run.name[:MAX_NAME]} · {name}" + (f" {pair}" if plan.options.pairs > 1 else "")
            child = runs.fork(
                session, run, ForkRun(checkpoint_id=checkpoint.id, name=title, overrides=changes | SILENT)
            )
            child.priority = PRIORITY
            started.append(child)
            arms.append(TrainedArm(name=name, pair=pair, run_id=child.id, seed=changes["seed"]))
    _store_arms(practice, arms)
    jobs.announce(session, job)
    return started


def _store_arms(practice: tables.Practice, arms: Sequence[TrainedArm]) -> None:
    practice.arms = [arm.model_dump(mode="json") for arm in arms]


def _measure_next(session: Session, practice: tables.Practice, job: Job, arms: list[TrainedArm]) -> Job:
    """Replace the job by one that measures the next run."""
    plan = plan_of(practice)
    trained = training_seconds(session, [arm.run_id for arm in arms if arm.run_id])
    for arm in arms:
        arm.training_seconds = trained[arm.run_id or 0]
    _store_arms(practice, arms)
    following = next(arm for arm in arms if arm.measured is None)
    run = find_run(session, following.run_id or 0)
    parameters = PracticeParameters(
        protocol=plan.protocol, options=plan.options, plan=plan, before=before_of(practice), arms=arms
    )
    # It belongs to the reviewed run, so that a practice survives the deletion of its own runs.
    parent, checkpoint = find_run(session, job.require_run_id()), find_chosen(session, run, "newest")
    total = len(plan.held_out) + plan.options.evaluations
    measuring = jobs.enqueue(session, parent, checkpoint, "practice", parameters, total)
    practice.job_id = measuring.id
    session.flush()
    jobs.remove(session, job)
    return measuring


def cancel(session: Session, practice: tables.Practice, _job: Job) -> None:
    """Stop a practice: cancel its job, or pause its runs."""
    continue_due(session, practice.id)
    # Its next job may have been queued.
    practice, job = find(session, practice.id, lock=True)
    if job.state in jobs.UNFINISHED:
        jobs.cancel(session, job)
    elif practice.document is None and _act(session, practice, "pause"):
        jobs.announce(session, job)
    else:
        raise Conflict("The practice has already ended, so it cannot be cancelled.")


def _act(session: Session, practice: tables.Practice, action: Literal["pause", "stop"]) -> bool:
    """Pause or stop the runs of a practice that have not ended. Return False if there are none."""
    trained = runs_of(session, arms_of(practice), lock=True).values()
    unended = [run for run in trained if isinstance(decide(action, run), Change)]
    for run in unended:
        runs.act(session, run, action)
    return bool(unended)


def store_result(session: Session, job: Job, event: ev.PracticeEvent) -> None:
    """Store the plan of a practice, or what one of its agents does."""
    practice = row_of_job(session, tables.Practice, job)
    if event.plan is not None:
        practice.plan = {"plan": jobs.to_stored(event.plan), "before": jobs.to_stored(event.measured)}
        return
    arms = [TrainedArm.model_validate(each) for each in job.parameters["arms"]]
    next(arm for arm in arms if arm.measured is None).measured = event.measured
    _store_arms(practice, arms)
    practice.document = jobs.to_stored(event.document) if event.document else None


def has_result(session: Session, job: Job) -> bool:
    """Return True if a job has reported its plan or its measurement."""
    practice = row_of_job(session, tables.Practice, job)
    if job.parameters["plan"] is None:
        return practice.plan is not None
    known: list[dict[str, object]] = job.parameters["arms"]
    return practice.arms != known


def delete(session: Session, practice: tables.Practice, job: Job) -> None:
    """Delete a practice. Its runs are kept, and those of a practice in progress are stopped."""
    if practice.document is None:
        _act(session, practice, "stop")
    jobs.remove(session, job)
