"""Reads of practices: their reviews, their cost, their state, and the schemas made from them."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.database import tables
from arcadia_backend.database.tables import Job, Replay, Run
from arcadia_backend.errors import Conflict
from arcadia_backend.job_kinds import reviews
from arcadia_backend.job_kinds.practices import schemas
from arcadia_backend.job_kinds.practices.schemas import PracticeCostPreview, PracticeRun, Stage
from arcadia_backend.jobs import find_with_job, job_fields, read_queue
from arcadia_backend.live.notices import Topic
from arcadia_backend.replays.players import find_player, read_track
from arcadia_backend.runs.history import measure
from arcadia_backend.web.lookup import find_run, why_not_trained
from arcadia_workers.contract.jobs import RecordedReview
from arcadia_workers.contract.layout import DEFAULT_KEPT
from arcadia_workers.contract.practice import (
    ARMS,
    FUTURES,
    AgentMeasurement,
    PracticeOptions,
    PracticePlan,
    TooFewMistakesError,
    TrainedArm,
    mistakes_of,
    smallest_improvement,
    split,
)
from arcadia_workers.contract.review import ReviewDocument
from arcadia_workers.contract.worker_api import ACTIVE, JobState

MAX_REVIEWS = 200


def find(session: Session, practice_id: int, *, lock: bool = False) -> tuple[tables.Practice, Job]:
    """Return a practice with its current job. Raise NotFound if it does not exist. With `lock`, lock its run first."""
    return find_with_job(session, tables.Practice, practice_id, lock=lock)


def reviews_of_agent(session: Session, replay: Replay) -> list[RecordedReview]:
    """Return the finished reviews of the checkpoint that played a replay, in the order of their episodes.

    Raise Conflict if that of the replay is not finished.
    """
    head = read_track(session, replay).head
    query = (
        select(tables.Review, Replay)
        .join(Replay, Replay.id == tables.Review.replay_id)
        .join(Job, Job.id == tables.Review.job_id)
        .where(Replay.run_id == replay.run_id, Replay.step == replay.step, Replay.track_file_id.is_not(None))
        .where(Job.state.not_in(jobs.UNFINISHED))
        .order_by(tables.Review.id.desc())
    )
    found: dict[tuple[int, int], RecordedReview] = {}
    for review, played in session.execute(query.limit(MAX_REVIEWS)):
        if review.document is None:
            continue
        document = ReviewDocument.model_validate(review.document)
        track = read_track(session, played)
        ours = (track.head.checkpoint_sha256, track.head.protocol)
        if ours == (head.checkpoint_sha256, head.protocol):
            short = document.model_copy(
                update={"reviewed": [each.model_copy(update={"log_capitals": []}) for each in document.reviewed]}
            )
            recorded = RecordedReview(review=short, actions=track.columns["action"].tolist())
            found.setdefault((document.seed, document.episode), recorded)
    if (head.seed, head.episode) not in found:
        raise Conflict(f"The review of replay {replay.id} is not finished. Wait until it is done.")
    return [found[key] for key in sorted(found)]


def to_sentence(error: Exception) -> str:
    """Return the message of an error as a sentence."""
    text = str(error)
    return f"{text[0].upper()}{text[1:]}."


def preview(session: Session, review_id: int, options: PracticeOptions) -> PracticeCostPreview:
    """Return what a practice would cost, from the time that earlier runs and the reviews took."""
    review, _ = reviews.find(session, review_id)
    replay = reviews.replay_of(session, review)
    run = find_run(session, replay.run_id)
    reviewed = reviews_of_agent(session, replay)
    clause = why_not_trained(run)
    refused = f"Arcadia cannot practice with run {run.id}, because {clause}." if clause else None
    practiced = held_out = 0
    smallest = None
    try:
        chosen = split([mistakes_of(each.review) for each in reviewed], options.pairs)
        practiced, held_out = (sum(len(mistakes) for _, mistakes in part) for part in chosen)
        scales = [each.scale for _, mistakes in chosen[1] for each in mistakes]
        smallest = smallest_improvement(scales, options.pairs)
    except TooFewMistakesError as error:
        refused = to_sentence(error)
    checkpoint = find_player(session, run, read_track(session, replay))
    count, steps = len(ARMS) * options.pairs, options.steps_after(checkpoint.step)
    documents = [each.review for each in reviewed]
    per_future = sum(each.seconds for each in documents) / max(1, sum(each.simulations for each in documents))
    decisions = sum(each.decisions for each in documents) / len(documents)
    measured = measure(session, run.algorithm, run.env, run.queue)
    playing = options.evaluations * count * decisions / measured.steps_per_second if measured else 0.0
    return PracticeCostPreview(
        reviews=len(reviewed),
        practiced=practiced,
        held_out=held_out,
        smallest_improvement=smallest,
        steps=steps,
        runs=count,
        training_steps=count * steps,
        training_seconds=count * steps / measured.steps_per_second if measured else None,
        measuring_seconds=FUTURES * held_out * (count + 1) * per_future + playing,
        disk_bytes=count * (run.config.get("checkpoints_kept", DEFAULT_KEPT) + 1) * checkpoint.bytes,
        refused=refused,
    )


def arms_of(practice: tables.Practice) -> list[TrainedArm]:
    """Return the arms of a practice, without their runs."""
    return [TrainedArm.model_validate(each) for each in practice.arms]


def runs_of(session: Session, arms: Sequence[TrainedArm], *, lock: bool = False) -> dict[int, Run]:
    """Return the runs of arms that still exist, by id."""
    query = select(Run).where(Run.id.in_([arm.run_id for arm in arms])).order_by(Run.id)
    return {run.id: run for run in session.scalars(query.with_for_update() if lock else query)}


def plan_of(practice: tables.Practice) -> PracticePlan:
    """Return the plan of a practice."""
    return PracticePlan.model_validate((practice.plan or {})["plan"])


def before_of(practice: tables.Practice) -> AgentMeasurement:
    """Return what the agent did at the held-out moments before practice."""
    return AgentMeasurement.model_validate((practice.plan or {})["before"])


def find_due(session: Session) -> list[int]:
    """Return the ids of the practices that can continue: their plan is made, or their runs have finished."""
    query = select(tables.Practice).join(Job, Job.id == tables.Practice.job_id)
    waiting = session.scalars(query.where(Job.state == "done", tables.Practice.document.is_(None))).all()
    of_practices = [(practice.id, arms_of(practice)) for practice in waiting]
    return [practice_id for practice_id, arms in of_practices if has_finished(arms, runs_of(session, arms))]


def find_in_progress(session: Session) -> list[tuple[tables.Practice, int]]:
    """Return the practices in progress that a person has started, with their projects."""
    query = (
        select(tables.Practice, Job, Run.project_id)
        .join(Job, Job.id == tables.Practice.job_id)
        .join(Run, Run.id == Job.run_id)
        .where(tables.Practice.document.is_(None), tables.Practice.person_id.is_not(None))
        .where(Job.state.in_((*jobs.UNFINISHED, "done")))
    )
    found = []
    for practice, job, project_id in session.execute(query):
        arms = arms_of(practice)
        if state_of(practice, job, arms, runs_of(session, arms))[0] in jobs.UNFINISHED:
            found.append((practice, project_id))
    return found


def has_finished(arms: Sequence[TrainedArm], trained: Mapping[int, Run]) -> bool:
    """Return True if all runs are measured or finished, or if there are none yet."""
    states = [run.state for arm in arms if not arm.measured and (run := trained.get(arm.run_id or 0))]
    return states == ["finished"] * sum(arm.measured is None for arm in arms)


def why_unusable(arm: TrainedArm, trained: Mapping[int, Run]) -> str | None:
    """Return why an arm must be trained again, as a sentence, or None if it need not."""
    run = trained.get(arm.run_id or 0)
    if arm.measured or (run and run.state not in ("failed", "stopped")):
        return None
    if run is None:
        return f"The run of the {arm.name} was deleted."
    return (
        f"Run {run.id} of the {arm.name} was stopped."
        if run.state == "stopped"
        else (f"Run {run.id} of the {arm.name} has failed: {run.failure_message}")
    )


def in_progress(session: Session, practice_id: int) -> Topic | None:
    """Return the topic of a practice in progress, or None if it has ended."""
    practice, job = find(session, practice_id)
    arms = arms_of(practice)
    state, _ = state_of(practice, job, arms, runs_of(session, arms))
    if state not in jobs.UNFINISHED:
        return None
    return Topic(frozenset({"job.changed", "run.changed", "run.removed"}), {})


def load(session: Session, replay: Replay) -> list[schemas.Practice]:
    """Return the practices of the review of a replay: none or one."""
    query = select(tables.Practice, Job).join(Job, Job.id == tables.Practice.job_id)
    rows = session.execute(query.where(tables.Practice.replay_id == replay.id)).all()
    return [to_schema(session, practice, job) for practice, job in rows]


def state_of(
    practice: tables.Practice, job: Job, arms: Sequence[TrainedArm], trained: Mapping[int, Run]
) -> tuple[JobState, str | None]:
    """Return the state of a practice and the reason of an early end, except for that of its job."""
    if practice.document is not None:
        return "done", None
    if job.state != "done" or not arms:
        return ("running" if job.state == "done" else job.state), None
    if reason := next((why for arm in arms if (why := why_unusable(arm, trained))), None):
        return "failed", reason
    pausing = [run for run in trained.values() if run.desired == "pause"]
    if any(run.state in ACTIVE for run in pausing):
        return "running", "Cancelling."
    if pausing:
        return "cancelled", f"Run {pausing[0].id} is paused."
    is_waiting = all(run.state == "queued" for run in trained.values())
    return ("queued", "Its runs wait for a worker.") if is_waiting else ("running", None)


def to_schema(session: Session, practice: tables.Practice, job: Job) -> schemas.Practice:
    """Convert a practice to its API schema."""
    arms = arms_of(practice)
    trained = runs_of(session, arms)
    state, reason = state_of(practice, job, arms, trained)
    fields = job_fields(job, read_queue(session, [job])) | {"state": state}
    plan, before = (plan_of(practice), before_of(practice)) if practice.plan else (None, None)
    shown = [_shown(arm, trained.get(arm.run_id or 0)) for arm in arms]
    measuring = bool(arms) and has_finished(arms, trained)
    stage: Stage = "measuring" if measuring else "training" if plan else "planning"
    if stage == "training" and plan:
        fields |= {"done": sum(each.steps for each in shown), "total": plan.steps * len(ARMS) * plan.options.pairs}
    if reason or state != job.state:
        fields["reason"] = reason
    if state in jobs.UNFINISHED:
        fields["finished_at"] = None
    return schemas.Practice.model_validate(
        practice.options
        | fields
        | {
            "id": practice.id,
            "replay_id": practice.replay_id,
            "run_id": job.run_id,
            "step": session.get_one(Replay, practice.replay_id).step,
            "stage": stage,
            "practiced": len(plan.practiced) if plan else None,
            "held_out": len(plan.held_out) if plan else None,
            "outcome_before": _mean([each.outcome for each in before.moments]) if before else None,
            "probability_before": _mean([each.probability for each in before.moments]) if before else None,
            "arms": shown,
            "document": practice.document,
        }
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _shown(arm: TrainedArm, run: Run | None) -> PracticeRun:
    measured = arm.measured
    return PracticeRun(
        name=arm.name,
        pair=arm.pair,
        run_id=run.id if run else None,
        state=run.state if run else None,
        steps=run.step - (run.parent_step or 0) if run else 0,
        outcome=_mean([each.outcome for each in measured.moments]) if measured else None,
        probability=_mean([each.probability for each in measured.moments]) if measured else None,
        score=_mean([each.score for each in measured.episodes]) if measured else None,
    )
