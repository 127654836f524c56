"""Evaluations: request one, schedule them, store their results, and read them."""

from collections.abc import Container, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.checkpoints.availability import find_chosen
from arcadia_backend.checkpoints.routes import can_catch_up, find_due, has_room
from arcadia_backend.checkpoints.service import (
    comparable_evaluations,
    is_superseded,
    superseded_ids,
    update_best,
    usual_acting_of,
    usual_protocol_of,
)
from arcadia_backend.database.tables import Checkpoint, Evaluation, EvaluationEpisode, Job, Origin, Run, StartSet
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.job_kinds.evaluations.schemas import (
    EvaluationPage,
    EvaluationRequest,
    EvaluationWithEpisodes,
    RunEvaluation,
    ScoredEpisode,
    UsedStarts,
)
from arcadia_backend.job_kinds.recordings import record_scheduled
from arcadia_backend.job_kinds.start_sets import find_start_set, load_start_sets, to_reference
from arcadia_backend.jobs import (
    JobQueue,
    checkpoint_columns,
    checkpoint_job_fields,
    find_with_job,
    read_queue,
    row_of_job,
    to_stored,
)
from arcadia_backend.web.lookup import find_run, refuse_without_agent
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.config.emulator import acting_unfit_because, unfit_because
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.jobs import EvaluationParameters
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import EvaluationDocument
from arcadia_workers.contract.protocols.starts import MOST_STARTS
from arcadia_workers.contract.worker_api import OfferedStarts


def missing_start_sets(session: Session, env: str, protocol: str) -> str | None:
    """Return a sentence if the protocol needs start points and the game has none, or else None."""
    player = PROTOCOLS[protocol].starts_from
    if player is None or load_start_sets(session, env, player):
        return None
    return f"{protocol} begins at start points, and {_none_yet(env, protocol)}"


def find_chosen_start_set(
    session: Session, env: str, protocol: str, number: int | None, episodes: int | None
) -> StartSet | None:
    """Return the start set that a request names, or None if the protocol needs none.

    Raise Invalid if the set does not fit the game and the protocol.
    """
    player = PROTOCOLS[protocol].starts_from
    if player is None:
        if number is not None:
            raise _unfit(f"{protocol} uses no start points: omit this, or use human-starts or agent-starts")
        return None
    if number is None:
        raise _unfit(f"{protocol} needs a set of start points: {_choice(session, env, protocol)}")
    # Lock it so that it is not deleted in the meantime.
    stored = session.get(StartSet, number, with_for_update=True)
    if stored is None:
        raise _unfit(f"there is no such set: {_choice(session, env, protocol)}")
    if (stored.env, stored.player) != (env, player):
        other = f"{stored.player}-starts in {ENVIRONMENTS[stored.env].title}"
        raise _unfit(f"{stored.name!r} is for {other}: {_choice(session, env, protocol)}")
    if stored.points > MOST_STARTS:
        # An earlier version allowed larger sets.
        many = f"{stored.name!r} has {stored.points:,} start points, and an evaluation plays at most {MOST_STARTS:,}"
        raise _unfit(f"{many}: export it, and import a part of it")
    if episodes is not None and episodes > stored.points:
        few = f"{stored.name!r} has {stored.points} start points, and an episode begins at each"
        raise Invalid(FieldError(field="episodes", message=f"{few}: request at most as many episodes"))
    return stored


def offer_start_set(session: Session, job: Job) -> OfferedStarts | None:
    """Return the start set that a worker must download for a job, or None if it needs none."""
    if (number := _start_set_id(session, job)) is None:
        return None
    stored = find_start_set(session, number)
    return OfferedStarts(sha256=stored.sha256, bytes=stored.bytes)


def start_set_of_job(session: Session, job: Job) -> StartSet:
    """Return the start set of a job's evaluation with its points. Raise NotFound if the job needs none."""
    if (number := _start_set_id(session, job)) is None:
        raise NotFound(f"Job {job.id} has no start points.")
    return find_start_set(session, number, content=True)


def _start_set_id(session: Session, job: Job) -> int | None:
    return session.scalar(select(Evaluation.start_set_id).where(Evaluation.job_id == job.id))


def _choice(session: Session, env: str, protocol: str) -> str:
    """Return a hint with the available sets."""
    sets = [f"{stored.id} ({stored.name})" for stored in load_start_sets(session, env, PROTOCOLS[protocol].starts_from)]
    return f"use {' or '.join(sets[:5])}" if sets else _none_yet(env, protocol)


def _none_yet(env: str, protocol: str) -> str:
    title = ENVIRONMENTS[env].title
    whose = "a person's" if PROTOCOLS[protocol].starts_from == "human" else "an agent's"
    return (
        f"there are none of {whose} play of {title} yet: import a set on the page of {title}, or POST it to /start-sets"
    )


def _unfit(message: str) -> Invalid:
    return Invalid(FieldError(field="start_set", message=message))


def request_evaluation(session: Session, run: Run, request: EvaluationRequest) -> Evaluation:
    """Queue the requested evaluation. The caller has locked the run, so the checkpoint is not pruned."""
    refuse_without_agent(run, "evaluate")
    protocol = usual_protocol_of(run) if request.protocol is None else request.protocol
    usual = usual_acting_of(run)
    if (reason := unfit_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=reason))
    acting = request.acting or usual
    if (reason := acting_unfit_because(acting, usual, run.env)) is not None:
        raise Invalid(FieldError(field="acting", message=reason))
    starts = find_chosen_start_set(session, run.env, protocol, request.start_set, request.episodes)
    checkpoint = find_chosen(session, run, request.checkpoint)
    jobs.check_room(session, run, "evaluation")
    episodes = request.episodes or (starts.points if starts else PROTOCOLS[protocol].episodes)
    parameters = EvaluationParameters(protocol=protocol, acting=acting, seed=request.seed, episodes=episodes)
    return create_evaluation(session, run, checkpoint, parameters, "asked", starts)


def create_evaluation(
    session: Session,
    run: Run,
    checkpoint: Checkpoint,
    parameters: EvaluationParameters,
    origin: Origin,
    starts: StartSet | None = None,
) -> Evaluation:
    """Create an evaluation and queue its job."""
    job = jobs.enqueue(session, run, checkpoint, "evaluation", parameters, parameters.episodes)
    evaluation = Evaluation(
        **checkpoint_columns(job, run, checkpoint),
        acting=parameters.acting.model_dump(mode="json"),
        origin=origin,
        start_set_id=starts.id if starts else None,
        starts=to_reference(starts) if starts else None,
    )
    session.add(evaluation)
    session.flush()
    return evaluation


def find_evaluation(session: Session, evaluation_id: int, *, lock: bool = False) -> tuple[Evaluation, Job]:
    """Return an evaluation and its job. Raise NotFound if it does not exist. With `lock`, lock its run first."""
    return find_with_job(session, Evaluation, evaluation_id, lock=lock)


def cancel_evaluation(session: Session, evaluation: Evaluation, job: Job) -> None:
    """Cancel an evaluation."""
    jobs.cancel(session, job)
    catch_up_schedule(session, find_run(session, evaluation.run_id))


def delete_evaluation(session: Session, evaluation: Evaluation, job: Job) -> None:
    """Delete an evaluation."""
    run = find_run(session, evaluation.run_id)
    jobs.remove(session, job)
    # Without it another checkpoint may be the best.
    update_best(session, run)
    catch_up_schedule(session, run)


def list_finished(session: Session, run: Run) -> list[tuple[Evaluation, EvaluationDocument]]:
    """Return the finished evaluations of a run that are not superseded, in order of their steps."""
    query = select(Evaluation).join(Job, Job.id == Evaluation.job_id)
    query = query.join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id).where(~is_superseded())
    # The result of an unfinished job may still be discarded.
    query = query.where(Evaluation.run_id == run.id, Evaluation.mean.is_not(None), Job.state == "done")
    query = query.order_by(Evaluation.step, Evaluation.id)
    return [(row, EvaluationDocument.model_validate(row.document)) for row in session.scalars(query)]


def find_best(session: Session, run: Run) -> int | None:
    """Return the id of the best comparable evaluation. Its checkpoint may have been pruned."""
    scores = comparable_evaluations(session, run).values()
    return max(scores).evaluation_id if scores else None


def store_result(session: Session, job: Job, event: ev.EvaluationEvent) -> None:
    """Store the result of an evaluation."""
    evaluation = row_of_job(session, Evaluation, job)
    evaluation.document = to_stored(event.document) if event.document else None
    evaluation.mean = event.document.mean if event.document else None
    if event.document:
        _delete_episodes(session, evaluation)  # The document has them all.


def store_episode(session: Session, job: Job, event: ev.EvaluatedEpisode) -> None:
    """Store a finished episode, so that it shows while the evaluation runs."""
    job.done = event.done
    columns = event.episode.model_dump(exclude={"play"})
    session.merge(EvaluationEpisode(evaluation_id=row_of_job(session, Evaluation, job).id, **columns))


def discard_result(session: Session, job: Job) -> None:
    """Delete the results of an earlier attempt."""
    evaluation = row_of_job(session, Evaluation, job)
    evaluation.document = evaluation.mean = None
    _delete_episodes(session, evaluation)


def list_episodes(session: Session, evaluation: Evaluation) -> list[ScoredEpisode]:
    """Return the finished episodes of an evaluation in order."""
    if evaluation.document is not None:
        return [ScoredEpisode.model_validate(row) for row in evaluation.document["episodes"]]
    query = select(EvaluationEpisode).where(EvaluationEpisode.evaluation_id == evaluation.id)
    rows = session.scalars(query.order_by(EvaluationEpisode.number))
    columns = [name for name in ScoredEpisode.model_fields if name != "play"]
    return [ScoredEpisode.model_validate({name: getattr(row, name) for name in columns}) for row in rows]


def _delete_episodes(session: Session, evaluation: Evaluation) -> None:
    session.execute(delete(EvaluationEpisode).where(EvaluationEpisode.evaluation_id == evaluation.id))


RESULT_FIELDS = (
    "mean",
    "median",
    "distinct",
    "standard_error",
    "interval",
    "human_normalized",
    "normalized_by",
    "not_normalized_because",
)
# Ids have at most this many digits.
MAX_CURSOR_DIGITS = 16


def read_page(session: Session, run: Run, limit: int, cursor: str | None) -> EvaluationPage:
    """Return one page of a run's evaluations, newest first."""
    of_run = Evaluation.run_id == run.id
    query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id).where(of_run)
    if cursor is not None:
        query = query.where(Evaluation.id < _read_cursor(cursor))
    rows = [(row[0], row[1]) for row in session.execute(query.order_by(Evaluation.id.desc()).limit(limit + 1))]
    best = find_best(session, run)
    return EvaluationPage(
        items=_to_schemas(session, run.id, rows[:limit]),
        next_cursor=str(rows[limit - 1][0].id) if len(rows) > limit else None,
        total=session.scalar(select(func.count()).select_from(Evaluation).where(of_run)) or 0,
        best=_to_schemas(session, run.id, [find_evaluation(session, best)])[0] if best else None,
    )


def with_episodes(session: Session, evaluation: Evaluation, job: Job) -> EvaluationWithEpisodes:
    """Return an evaluation with its episodes."""
    (one,) = _to_schemas(session, evaluation.run_id, [(evaluation, job)])
    return EvaluationWithEpisodes(**one.model_dump(), episodes=list_episodes(session, evaluation))


def list_by_step(session: Session, run: Run) -> list[RunEvaluation]:
    """Return all evaluations of a run in order of their steps."""
    query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id)
    query = query.where(Evaluation.run_id == run.id).order_by(Evaluation.step, Evaluation.id)
    return _to_schemas(session, run.id, [(row[0], row[1]) for row in session.execute(query)])


def _to_schemas(session: Session, run_id: int, rows: Sequence[tuple[Evaluation, Job]]) -> list[RunEvaluation]:
    queue = read_queue(session, (job for _, job in rows))
    starts = _used_start_sets(session, [evaluation for evaluation, _ in rows])
    superseded = superseded_ids(session, run_id)
    return [_to_schema(evaluation, job, queue, starts.get(evaluation.id), superseded) for evaluation, job in rows]


def _to_schema(
    evaluation: Evaluation, job: Job, queue: JobQueue | None, starts: UsedStarts | None, superseded: Container[int]
) -> RunEvaluation:
    # The result of an unfinished job may still be discarded.
    ended = job.state == "done" and evaluation.document is not None
    document = EvaluationDocument.model_validate(evaluation.document) if ended else None
    return RunEvaluation.model_validate(
        checkpoint_job_fields(evaluation, job, queue, superseded)
        | {name: getattr(document, name, None) for name in RESULT_FIELDS}
        | {
            "unlike_training": document.unlike_training if document else [],
            "start_set": starts,
            "acting": evaluation.acting,
            "episodes_done": job.done,
            "episodes_total": job.total,
        }
    )


def _read_cursor(cursor: str) -> int:
    if cursor.isascii() and cursor.isdecimal() and len(cursor) < MAX_CURSOR_DIGITS:
        return int(cursor)
    raise Invalid(FieldError(field="cursor", message="not a cursor of this list; start again without one"))


def schedule_evaluation(session: Session, run: Run) -> None:
    """Request an evaluation of the newest checkpoint if one is due."""
    every = run.config.get("evaluate_every_steps", 0)
    checkpoint = find_due(session, run, every, _last_scheduled(session, run)) if every else None
    if checkpoint is None or not has_room(session, run, Evaluation):
        return
    protocol, acting = usual_protocol_of(run), usual_acting_of(run)
    if protocol not in PROTOCOLS:  # of a plug-in that is missing
        return
    episodes = PROTOCOLS[protocol].episodes
    how = EvaluationParameters(protocol=protocol, acting=acting, seed=1, episodes=episodes)
    checkpoint.scheduled = True
    record_scheduled(session, run, create_evaluation(session, run, checkpoint, how, "schedule"))


def catch_up_schedule(session: Session, run: Run) -> None:
    """Request the evaluation that was skipped because too many others were unfinished, if there is room now.

    This way the last checkpoint of a run is evaluated too, even if the workers are behind.
    """
    if can_catch_up(session, run, Evaluation):
        schedule_evaluation(session, run)


def _last_scheduled(session: Session, run: Run) -> int:
    """Return the step of the last scheduled checkpoint that is not superseded."""
    current = (Checkpoint.run_id == run.id, ~is_superseded())
    query = select(func.max(Checkpoint.step)).where(*current, Checkpoint.scheduled)
    return session.scalar(query) or 0


def _used_start_sets(session: Session, evaluations: Sequence[Evaluation]) -> dict[int, UsedStarts]:
    """Return the start set of each evaluation that has one, by evaluation id."""
    ids = {row.start_set_id for row in evaluations if row.start_set_id is not None}
    kept = set(session.scalars(select(StartSet.id).where(StartSet.id.in_(ids)))) if ids else set()
    return {
        row.id: UsedStarts(id=row.start_set_id, kept=row.start_set_id in kept, **row.starts)
        for row in evaluations
        if row.start_set_id is not None and row.starts is not None
    }
