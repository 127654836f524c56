"""Routes of evaluations: choices, request, list, read, cancel, delete and export."""

from typing import Annotated, get_args

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from arcadia_backend.checkpoints.service import usual_acting_of, usual_protocol_of
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Evaluation, Run
from arcadia_backend.doorbell import Bell
from arcadia_backend.job_kinds.evaluations import schemas, service
from arcadia_backend.job_kinds.evaluations.schemas import episode_lines, evaluation_lines
from arcadia_backend.job_kinds.evaluations.service import missing_start_sets
from arcadia_backend.job_kinds.result_routes import add_job_routes
from arcadia_backend.job_kinds.start_sets import StartSet, load_start_sets, to_schema
from arcadia_backend.jobs import JobType, has_document
from arcadia_backend.web.formats import attachment
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import PathId, PathRun, find_run, refuse_without_agent
from arcadia_workers.contract import events as ev
from arcadia_workers.contract.config.emulator import acting_unfit_because, unfit_because
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, Acting, ActingName


class ProtocolChoice(BaseModel):
    """A protocol to choose."""

    name: str
    title: str
    sentence: str = Field(description="Description of the protocol.")
    source: str = Field(description="The paper and the place in it.")
    episodes: int = Field(description="Default number of episodes.")
    start_sets: list[StartSet] | None = Field(
        description="Start sets to choose from, for protocols that begin at start points."
    )
    unfit_because: str | None = Field(description="Why the protocol is unavailable, and what to do. Null if available.")


class ActingChoice(BaseModel):
    """A way to choose actions."""

    acting: Acting
    unfit_because: str | None = Field(description="Why it is unavailable for this run. Null if it is available.")


class EvaluationChoices(BaseModel):
    """Protocols and ways to choose actions, with their defaults."""

    protocols: list[ProtocolChoice]
    usual_protocol: str
    acting: list[ActingChoice]
    usual_acting: Acting = Field(description="The default, as in the method's paper.")


def choices(session: Session, run: Run) -> EvaluationChoices:
    """Return the choices for an evaluation of a run."""
    refuse_without_agent(run, "evaluate")
    usual = usual_acting_of(run)
    # Random play needs no checkpoint, so it is no choice for a run.
    ways = [EPSILON_GREEDY if name == EPSILON_GREEDY.name else Acting(name=name) for name in get_args(ActingName)]
    return EvaluationChoices(
        protocols=[_protocol(session, run.env, protocol) for protocol in PROTOCOLS.values()],
        usual_protocol=usual_protocol_of(run),
        acting=[
            ActingChoice(acting=way, unfit_because=acting_unfit_because(way, usual, run.env))
            for way in ways
            if way.name != "random"
        ],
        usual_acting=usual,
    )


def _protocol(session: Session, env: str, protocol: EvaluationProtocol) -> ProtocolChoice:
    unfit, sets = unfit_because(protocol.name, env), None
    if protocol.starts_from is not None and unfit is None:
        unfit = missing_start_sets(session, env, protocol.name)
        sets = [to_schema(stored) for stored in load_start_sets(session, env, protocol.starts_from)]
    return ProtocolChoice(
        name=protocol.name,
        title=protocol.title,
        sentence=protocol.sentence,
        source=protocol.source,
        episodes=protocol.episodes,
        start_sets=sets,
        unfit_because=unfit,
    )


router = APIRouter(tags=["evaluations"])
JOB = JobType(
    "evaluation",
    router,
    {ev.EvaluatedEpisode: service.store_episode, ev.EvaluationEvent: service.store_result},
    has_document(Evaluation),
    service.discard_result,
    Evaluation,
)
add_job_routes(
    JOB,
    schemas.EvaluationWithEpisodes,
    service.with_episodes,
    cancel=service.cancel_evaluation,
    cancel_text="Cancel a queued or running evaluation.",
    delete=service.delete_evaluation,
    delete_text="Permanently delete an evaluation. A running one is stopped. Its checkpoint stays.",
)


@router.post("/runs/{run_id}/evaluations", status_code=201)
def create_evaluation(
    db: Db, bell: Bell, once: Idempotent, run_id: PathId, request: schemas.EvaluationRequest
) -> schemas.EvaluationWithEpisodes:
    """Queue an evaluation of a checkpoint."""
    with once.write(db) as session:
        # Lock the run so that the checkpoint is not pruned in the meantime.
        evaluation = service.request_evaluation(session, find_run(session, run_id, lock=True), request)
        evaluation, job = service.find_evaluation(session, evaluation.id)
        bell.ring_after_commit(session, job)
        return once.store(session, service.with_episodes(session, evaluation, job))


@router.get("/runs/{run_id}/evaluations")
def list_evaluations(
    db: Db,
    run: PathRun,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> schemas.EvaluationPage:
    """List the evaluations of a run without their episodes, newest first."""
    with db.read() as session:
        return service.read_page(session, run, limit, cursor)


@router.get("/runs/{run_id}/evaluation-choices")
def list_evaluation_choices(db: Db, run: PathRun) -> EvaluationChoices:
    """List the protocols and ways to choose actions for an evaluation of the run."""
    with db.read() as session:
        return choices(session, run)


@router.get("/export/evaluations/{evaluation_id}.csv", response_class=StreamingResponse)
def export_evaluation(db: Db, evaluation_id: PathId) -> StreamingResponse:
    """Export the episodes of an evaluation as CSV."""
    with db.read() as session:
        evaluation = service.with_episodes(session, *service.find_evaluation(session, evaluation_id))
    return attachment(episode_lines(evaluation), f"evaluation-{evaluation_id}.csv")


@router.get("/export/runs/{run_id}/evaluations.csv", response_class=StreamingResponse)
def export_evaluations(db: Db, run: PathRun) -> StreamingResponse:
    """Export all evaluations of a run as CSV, in order of their steps."""
    with db.read() as session:
        evaluations = service.list_by_step(session, run)
    return attachment(evaluation_lines(evaluations), f"run-{run.id}-evaluations.csv")
