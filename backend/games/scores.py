"""Scores of runs: the best finished evaluation of each run by each protocol.

Only the newest evaluation of each checkpoint counts. Complete evaluations are better than those with too few
episodes, and numbers are better than NaN. Archived runs count too.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, case, null, select
from sqlalchemy.orm import Session

from backend.checkpoints.superseded import is_superseded
from backend.colors import color_of
from backend.database.tables import Checkpoint, Evaluation, Job, Run
from backend.games import schemas
from backend.projects.lookup import in_projects
from workers.contract.config.problems import title_of
from workers.contract.environment_families import ATARI
from workers.contract.protocols import PROTOCOLS, fitting_protocols
from workers.contract.protocols.acting import Acting
from workers.contract.protocols.document import NormalizedBy
from workers.contract.published import normalizing

# Protocols whose scores are comparable only from the same start set.
OWN_STARTS = [protocol.name for protocol in PROTOCOLS.values() if protocol.starts_from == "agent"]
# Fewer parameters than a query may have.
IDS_PER_QUERY = 10_000


class TableKey(NamedTuple):
    """Protocol and start set of a score table. Scores are comparable only if both are the same."""

    protocol: str
    starts: str | None


class FinishedEvaluation(NamedTuple):
    """The fields of a finished evaluation that rankings use."""

    id: int
    run_id: int
    env: str
    key: TableKey
    checkpoint_id: int
    acting: str
    mean: float
    episodes: int
    # Size of the start set, if it used one.
    points: int | None

    @property
    def short(self) -> bool:
        """Return True if it has fewer episodes than the protocol or its start set requires."""
        return self.episodes < max(PROTOCOLS[self.key.protocol].episodes, self.points or 0)

    @property
    def ranked(self) -> bool:
        """Return True if it can be ranked."""
        return not self.short and not math.isnan(self.mean)

    @property
    def quality(self) -> tuple[bool, bool, float]:
        """Return a sort key that is larger for better evaluations."""
        wrong = math.isnan(self.mean)
        return not wrong, not self.short, 0.0 if wrong else self.mean


def select_finished() -> Select[*tuple[Any, ...]]:
    """Select finished evaluations of Atari games by a protocol, without superseded ones."""
    starts = Evaluation.document["starts"]["sha256"].as_string()
    of_set = case((Evaluation.protocol.in_(OWN_STARTS), starts), else_=null())
    points = Evaluation.starts["points"].as_integer()
    columns = (
        *(Evaluation.id, Evaluation.run_id, Run.env, Evaluation.protocol, of_set),
        *(Evaluation.checkpoint_id, Evaluation.acting, Evaluation.mean, Job.total, points),
    )
    return (
        select(*columns)
        .join(Job, Job.id == Evaluation.job_id)
        .join(Run, Run.id == Evaluation.run_id)
        .join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id)
        .where(Job.state == "done", Evaluation.mean.is_not(None), Evaluation.protocol.in_(fitting_protocols(ATARI)))
        .where(~is_superseded())
    )


def best_of_runs(session: Session, envs: Collection[str], projects: Collection[str] = ()) -> list[FinishedEvaluation]:
    """Return the best evaluation of each run in these games by each protocol, of some projects or of all."""
    wanted = (Run.env.in_(envs), *in_projects(Run.project_id, projects))
    rows = session.execute(select_finished().where(*wanted).order_by(Evaluation.id))
    every = (
        FinishedEvaluation(
            number, run_id, env, TableKey(protocol, starts), checkpoint, str(Acting.model_validate(acting)), *found
        )
        for number, run_id, env, protocol, starts, checkpoint, acting, *found in rows
    )
    # The best of repeated evaluations would be the luckiest one, so the newest counts.
    newest = {(one.run_id, one.key, one.checkpoint_id, one.acting, one.short): one for one in every}
    return best_by(newest.values(), lambda found: (found.run_id, found.key))


def best_by(every: Iterable[FinishedEvaluation], key: Any) -> list[FinishedEvaluation]:
    """Return the best evaluation of each key. The earliest wins a tie."""
    chosen: dict[Any, FinishedEvaluation] = {}
    for found in every:
        held = chosen.setdefault(key(found), found)
        if found.quality > held.quality:
            chosen[key(found)] = found
    return list(chosen.values())


def to_schemas(session: Session, chosen: Sequence[FinishedEvaluation]) -> dict[int, schemas.RunScore]:
    """Return the API schemas of these evaluations, by ID."""
    columns = (
        *(Evaluation.id, Evaluation.step, Evaluation.frames, Evaluation.acting, Evaluation.starts, Job.finished_at),
        *(Run.name, Run.algorithm, Run.archived_at, Evaluation.document["interval"].label("interval")),
    )
    query = select(*columns).join(Job, Job.id == Evaluation.job_id).join(Run, Run.id == Evaluation.run_id)
    found: dict[int, schemas.RunScore] = {}
    for first in range(0, len(chosen), IDS_PER_QUERY):
        portion = {each.id: each for each in chosen[first : first + IDS_PER_QUERY]}
        rows = session.execute(query.where(Evaluation.id.in_(portion)))
        found |= {row.id: _to_schema(portion[row.id], row) for row in rows}
    return found


def _to_schema(found: FinishedEvaluation, row: Any) -> schemas.RunScore:
    by = reference(found.env, found.key.protocol)
    return schemas.RunScore(
        evaluation_id=found.id,
        protocol=found.key.protocol,
        run=schemas.ScoredRun(
            id=found.run_id,
            name=row.name,
            algorithm=row.algorithm,
            method=title_of(row.algorithm),
            color=color_of(found.run_id),
            archived=row.archived_at is not None,
        ),
        mean=found.mean,
        interval=row.interval,
        episodes=found.episodes,
        short=found.short,
        step=row.step,
        frames=row.frames,
        start_set=row.starts["name"] if row.starts else None,
        acting=row.acting,
        finished_at=row.finished_at,
        human_normalized=normalized(found.mean, by),
        normalized_by=by if isinstance(by, NormalizedBy) else None,
        not_normalized_because=by if isinstance(by, str) else None,
    )


@cache
def reference(env: str, protocol: str) -> NormalizedBy | str:
    """Return the random and human scores for normalization, or why there are none."""
    return normalizing.reference(env, protocol)


def normalized(score: float, by: NormalizedBy | str) -> float | None:
    """Return a human-normalized score in percent, or None if there is no human score."""
    return normalizing.normalized(score, by) if isinstance(by, NormalizedBy) else None
