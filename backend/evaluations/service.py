"""Evaluations as users ask for them, and their results as workers bring them."""

import json

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from backend.checkpoints.best import comparable
from backend.checkpoints.superseded import superseded
from backend.checkpoints.wanted import wanted_checkpoint
from backend.database.tables import Checkpoint, Evaluation, EvaluationEpisode, Job, Origin, Run, StartSet
from backend.errors import Conflict, FieldError, Invalid, NotFound
from backend.evaluations.schemas import AskEvaluation, ScoredEpisode
from backend.evaluations.starting import wanted_starts
from backend.jobs import service as jobs
from backend.start_sets.service import noted
from backend.web.lookup import find_run
from workers.contract import events as ev
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.evaluation import acting_unfit_because, protocol_of, unfit_because
from workers.contract.jobs import EvaluationParameters
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.document import EvaluationDocument

# Of one run: as many as its checkpoints by two protocols, and some more.
MOST_WAITING = 50


def ask(session: Session, run: Run, wanted: AskEvaluation) -> Evaluation:
    """Have a worker evaluate a checkpoint; the run is locked, so that the checkpoint stays until it is evaluated."""
    protocol = protocol_of(run.config) if wanted.protocol is None else wanted.protocol
    usual = CONFIGURATIONS[run.algorithm].usual_acting
    if (refusal := unfit_because(protocol, run.env)) is not None:
        raise Invalid(FieldError(field="protocol", message=refusal))
    acting = wanted.acting or usual
    if (refusal := acting_unfit_because(acting, usual, run.env)) is not None:
        raise Invalid(FieldError(field="acting", message=refusal))
    starts = wanted_starts(session, run.env, protocol, wanted.start_set, wanted.episodes)
    checkpoint = wanted_checkpoint(session, run, wanted.checkpoint)
    if jobs.count_unfinished(session, run, "evaluation") >= MOST_WAITING:
        raise Conflict(f"{MOST_WAITING} evaluations of run {run.id} wait already. Ask again once one of them is done.")
    episodes = wanted.episodes or (starts.points if starts else PROTOCOLS[protocol].episodes)
    how = EvaluationParameters(protocol=protocol, acting=acting, seed=wanted.seed, episodes=episodes)
    return add(session, run, checkpoint, how, "asked", starts)


def add(
    session: Session,
    run: Run,
    checkpoint: Checkpoint,
    how: EvaluationParameters,
    origin: Origin,
    starts: StartSet | None = None,
) -> Evaluation:
    """Have a checkpoint evaluated like this."""
    job = jobs.enqueue(session, run, checkpoint, "evaluation", how.model_dump(mode="json"), how.episodes)
    evaluation = Evaluation(
        run_id=run.id,
        job_id=job.id,
        checkpoint_id=checkpoint.id,
        step=checkpoint.step,
        frames=checkpoint.frames,
        sha256=checkpoint.sha256,
        protocol=how.protocol,
        acting=how.acting.model_dump(mode="json"),
        seed=how.seed,
        origin=origin,
        start_set_id=starts.id if starts else None,
        starts=noted(starts) if starts else None,
    )
    session.add(evaluation)
    session.flush()
    return evaluation


def find_evaluation(session: Session, evaluation_id: int, *, lock: bool = False) -> tuple[Evaluation, Job]:
    """The evaluation with its job, or a problem that says there is none; a locked one has its run locked first."""
    evaluation = session.get(Evaluation, evaluation_id)
    if evaluation is not None and lock:
        find_run(session, evaluation.run_id, lock=True)
        # Gone meanwhile, or changed.
        evaluation = session.get(Evaluation, evaluation_id, populate_existing=True)
    job = session.get(Job, evaluation.job_id, with_for_update=True if lock else None) if evaluation else None
    if evaluation is None or job is None:
        raise NotFound(f"There is no evaluation {evaluation_id}.")
    return evaluation, job


def done(session: Session, run: Run) -> list[tuple[Evaluation, EvaluationDocument]]:
    """A run's evaluations that have found something and count, by checkpoint, with what they found."""
    query = select(Evaluation).join(Job, Job.id == Evaluation.job_id)
    query = query.join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id).where(~superseded())
    # Until it is done, what an attempt has found may be discarded yet.
    query = query.where(Evaluation.run_id == run.id, Evaluation.mean.is_not(None), Job.state == "done")
    query = query.order_by(Evaluation.step, Evaluation.id)
    return [(row, EvaluationDocument.model_validate(row.document)) for row in session.scalars(query)]


def best(session: Session, run: Run) -> int | None:
    """The number of the best evaluation of all that compare, also of a checkpoint that is no longer kept."""
    found = comparable(session, run).values()
    return max(found).evaluation_id if found else None


def keep_result(session: Session, job: Job, event: ev.Evaluation) -> None:
    """Store what an evaluation found."""
    evaluation = _of(session, job)
    # By its JSON, in which NaN and the infinities are words: PostgreSQL's JSON has no others.
    evaluation.document = json.loads(event.document.model_dump_json()) if event.document else None
    evaluation.mean = event.document.mean if event.document else None
    if event.document:
        _forget_episodes(session, evaluation)  # the document has them all


def keep_episode(session: Session, job: Job, event: ev.EvaluatedEpisode) -> None:
    """Store an episode that has ended, to be shown while others are played."""
    job.done = event.done
    session.merge(EvaluationEpisode(evaluation_id=_of(session, job).id, **event.episode.model_dump()))


def discard_result(session: Session, job: Job) -> None:
    """Forget what an earlier attempt found: the evaluation is done again."""
    evaluation = _of(session, job)
    evaluation.document = evaluation.mean = None
    _forget_episodes(session, evaluation)


def episodes(session: Session, evaluation: Evaluation) -> list[ScoredEpisode]:
    """The episodes of an evaluation by their numbers: what has ended so far, while it is played."""
    if evaluation.document is not None:
        return [ScoredEpisode.model_validate(row) for row in evaluation.document["episodes"]]
    query = select(EvaluationEpisode).where(EvaluationEpisode.evaluation_id == evaluation.id)
    rows = session.scalars(query.order_by(EvaluationEpisode.number))
    return [
        ScoredEpisode.model_validate({name: getattr(row, name) for name in ScoredEpisode.model_fields}) for row in rows
    ]


def _forget_episodes(session: Session, evaluation: Evaluation) -> None:
    session.execute(delete(EvaluationEpisode).where(EvaluationEpisode.evaluation_id == evaluation.id))


def has_result(session: Session, job: Job) -> bool:
    """Whether the evaluation has found something."""
    return _of(session, job).document is not None


def _of(session: Session, job: Job) -> Evaluation:
    return session.scalars(select(Evaluation).where(Evaluation.job_id == job.id)).one()
