"""Evaluations: request one, and store its results."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.checkpoints.best import comparable_evaluations
from backend.checkpoints.choice import find_chosen
from backend.checkpoints.playing import usual_acting_of, usual_protocol_of
from backend.checkpoints.superseded import is_superseded
from backend.database.tables import Checkpoint, Evaluation, EvaluationEpisode, Job, Origin, Run, StartSet
from backend.errors import FieldError, Invalid, NotFound
from backend.evaluations.schemas import EvaluationRequest, ScoredEpisode
from backend.evaluations.start_points import find_chosen_start_set
from backend.jobs import service as jobs
from backend.jobs.results import find_with_job, row_of_job, to_stored
from backend.start_sets.service import to_reference
from backend.web.lookup import refuse_without_agent
from workers.contract import events as ev
from workers.contract.config.evaluation import acting_unfit_because, unfit_because
from workers.contract.jobs import EvaluationParameters
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument

# Limit unfinished evaluations of a run. This is enough for all its checkpoints by two protocols.
MAX_UNFINISHED = 50


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
    jobs.check_room(session, run, "evaluation", MAX_UNFINISHED, "unfinished evaluations")
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
    job = jobs.enqueue(session, run, checkpoint, "evaluation", parameters.model_dump(mode="json"), parameters.episodes)
    evaluation = Evaluation(
        run_id=run.id,
        job_id=job.id,
        checkpoint_id=checkpoint.id,
        step=checkpoint.step,
        frames=checkpoint.frames,
        sha256=checkpoint.sha256,
        protocol=parameters.protocol,
        acting=parameters.acting.model_dump(mode="json"),
        seed=parameters.seed,
        origin=origin,
        start_set_id=starts.id if starts else None,
        starts=to_reference(starts) if starts else None,
    )
    session.add(evaluation)
    session.flush()
    return evaluation


def find_evaluation(session: Session, evaluation_id: int, *, lock: bool = False) -> tuple[Evaluation, Job]:
    """Return an evaluation and its job. Raise NotFound if it does not exist. With `lock`, lock its run first."""
    found = find_with_job(session, Evaluation, evaluation_id, lock=lock)
    if found is None:
        raise NotFound(f"There is no evaluation {evaluation_id}.")
    return found


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


def has_result(session: Session, job: Job) -> bool:
    """Return True if the evaluation has a result."""
    return row_of_job(session, Evaluation, job).document is not None
