"""Lineage of a run: its ancestors, and the evaluations, forks and agents of its checkpoints."""

from collections import defaultdict
from collections.abc import Iterable

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.aliases import names_of_checkpoints
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Checkpoint, Evaluation, Job, Run, RunOrigin
from arcadia_backend.web.formats import JsonNumber
from arcadia_backend.web.lookup import PathId, find_run
from arcadia_workers.contract.worker_api import State


class LineageRun(BaseModel):
    """A run in a lineage."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    state: State
    origin: RunOrigin
    step: int | None = Field(default=None, description="Of a parent: the step of the checkpoint that was used.")


class LineageEvaluation(BaseModel):
    """A finished evaluation of a checkpoint."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    protocol: str
    mean: JsonNumber
    episodes: int


class LineageCheckpoint(BaseModel):
    """A checkpoint with its evaluations, forks and agents."""

    id: int
    step: int
    available: bool = Field(description="Whether its file exists, so that its agent can be exported.")
    aliases: list[str]
    evaluations: list[LineageEvaluation]
    forks: list[LineageRun]
    agents: list[LineageRun] = Field(description="Runs that an agent file of this checkpoint was imported as.")


class Lineage(BaseModel):
    """The lineage of a run."""

    ancestors: list[LineageRun] = Field(description="The runs that it continues, the oldest first.")
    ancestor_deleted: bool = Field(
        description="Whether an ancestor before those was deleted, or is in a project to which you have no access."
    )
    run: LineageRun
    checkpoints: list[LineageCheckpoint] = Field(
        description="Checkpoints in order of their steps. A deleted one is listed if it has evaluations, forks or "
        "agents."
    )


MAX_ANCESTORS = 100


def read_lineage(session: Session, run: Run) -> Lineage:
    """Return the lineage of a run."""
    ancestors, is_deleted = _ancestors(session, run)
    return Lineage(
        ancestors=ancestors, ancestor_deleted=is_deleted, run=_to_schema(run), checkpoints=_checkpoints(session, run)
    )


def _ancestors(session: Session, run: Run) -> tuple[list[LineageRun], bool]:
    """Return the runs before this one, and whether the oldest of them has a parent that was deleted."""
    ancestors: list[LineageRun] = []
    seen = {run.id}
    while (parent := _parent(session, run)) is not None and len(ancestors) < MAX_ANCESTORS:
        source, step = parent
        if source is None or source.id in seen:
            return ancestors[::-1], True
        seen.add(source.id)
        ancestors.append(_to_schema(source, step))
        run = source
    return ancestors[::-1], False


def _parent(session: Session, run: Run) -> tuple[Run | None, int | None] | None:
    """Return the run that this one continues or was exported from, with the step, or None if it has no parent."""
    if run.parent_run_id is not None:
        return session.get(Run, run.parent_run_id), run.parent_step
    query = select(Checkpoint.source_sha256).where(Checkpoint.run_id == run.id, Checkpoint.source_sha256.is_not(None))
    source = session.scalar(query.limit(1)) if run.origin == "agent" else None
    if source is None:
        return None
    checkpoint = session.scalar(select(Checkpoint).where(Checkpoint.sha256 == source, Checkpoint.run_id != run.id))
    # The agent may have been exported from another installation.
    return (session.get_one(Run, checkpoint.run_id), checkpoint.step) if checkpoint is not None else None


def _checkpoints(session: Session, run: Run) -> list[LineageCheckpoint]:
    rows = session.scalars(
        select(Checkpoint).where(Checkpoint.run_id == run.id).order_by(Checkpoint.step, Checkpoint.id)
    ).all()
    aliases, evaluations = names_of_checkpoints(session, [run.id]), _evaluations(session, run)
    forks, agents = _forks(session, run), _agents(session, [row.sha256 for row in rows])
    checkpoints = [
        LineageCheckpoint(
            id=row.id,
            step=row.step,
            available=row.file_id is not None,
            aliases=aliases.get(row.id, []),
            evaluations=evaluations[row.id],
            forks=forks[row.id],
            agents=[each for each in agents[row.sha256] if each.id != run.id],
        )
        for row in rows
    ]
    return [each for each in checkpoints if each.available or each.evaluations or each.forks or each.agents]


def _evaluations(session: Session, run: Run) -> dict[int, list[LineageEvaluation]]:
    query = select(Evaluation, Job.total).join(Job, Job.id == Evaluation.job_id)
    query = query.where(Evaluation.run_id == run.id, Evaluation.mean.is_not(None), Job.state == "done")
    evaluations: dict[int, list[LineageEvaluation]] = defaultdict(list)
    for evaluation, episodes in session.execute(query.order_by(Evaluation.id)):
        evaluations[evaluation.checkpoint_id].append(
            LineageEvaluation(id=evaluation.id, protocol=evaluation.protocol, mean=evaluation.mean, episodes=episodes)
        )
    return evaluations


def _forks(session: Session, run: Run) -> dict[int | None, list[LineageRun]]:
    forks: dict[int | None, list[LineageRun]] = defaultdict(list)
    for fork in session.scalars(select(Run).where(Run.parent_run_id == run.id).order_by(Run.id)):
        forks[fork.parent_checkpoint_id].append(_to_schema(fork, fork.parent_step))
    return forks


def _agents(session: Session, hashes: Iterable[str]) -> dict[str | None, list[LineageRun]]:
    query = select(Checkpoint.source_sha256, Run).join(Run, Run.id == Checkpoint.run_id)
    agents: dict[str | None, list[LineageRun]] = defaultdict(list)
    for source, agent in session.execute(query.where(Checkpoint.source_sha256.in_(hashes)).order_by(Run.id)):
        agents[source].append(_to_schema(agent))
    return agents


def _to_schema(run: Run, step: int | None = None) -> LineageRun:
    return LineageRun(id=run.id, name=run.name, state=run.state, origin=run.origin, step=step)


router = APIRouter(tags=["runs"])


@router.get("/runs/{run_id}/lineage")
def show_lineage(db: Db, run_id: PathId) -> Lineage:
    """Return the ancestors of a run, and the evaluations, forks and imported agents of its checkpoints."""
    with db.read() as session:
        return read_lineage(session, find_run(session, run_id))
