"""Scores of runs: the best and the last finished evaluation of each run by each protocol, and the means of methods.

Only the newest evaluation of each checkpoint counts. Complete evaluations are better than those with too few
episodes, and numbers are better than NaN. Archived runs count too.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import case, null, select
from sqlalchemy.orm import Session

from arcadia_backend.checkpoints.service import is_superseded
from arcadia_backend.colors import color_of
from arcadia_backend.database.tables import Checkpoint, Evaluation, Job, Run
from arcadia_backend.games import schemas
from arcadia_backend.projects.service import in_projects
from arcadia_workers.contract import published
from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.environment_families import ATARI
from arcadia_workers.contract.games import score_bounds
from arcadia_workers.contract.inference.means import t_interval
from arcadia_workers.contract.protocols import PROTOCOLS, fitting_protocols
from arcadia_workers.contract.protocols.document import Acting, NormalizedBy

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
    algorithm: str
    key: TableKey
    checkpoint_id: int
    step: int
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

    @property
    def recency(self) -> tuple[bool, bool, int, int]:
        """Return a sort key that is larger for later checkpoints, first those that act as the method usually does."""
        return self.ranked, self.acting == _usual_acting(self.algorithm), self.step, self.id


def evaluations_of_runs(
    session: Session, envs: Collection[str], projects: Collection[str] = ()
) -> list[FinishedEvaluation]:
    """Return the newest evaluation of each checkpoint in these games by each protocol, of some projects or of all."""
    wanted = (Run.env.in_(envs), *in_projects(Run.project_id, projects))
    starts = Evaluation.document["starts"]["sha256"].as_string()
    of_set = case((Evaluation.protocol.in_(OWN_STARTS), starts), else_=null())
    points = Evaluation.starts["points"].as_integer()
    columns = (
        *(Evaluation.id, Evaluation.run_id, Run.env, Run.algorithm, Evaluation.protocol, of_set),
        *(Evaluation.checkpoint_id, Evaluation.step, Evaluation.acting, Evaluation.mean, Job.total, points),
    )
    rows = session.execute(
        select(*columns)
        .join(Job, Job.id == Evaluation.job_id)
        .join(Run, Run.id == Evaluation.run_id)
        .join(Checkpoint, Checkpoint.id == Evaluation.checkpoint_id)
        .where(Job.state == "done", Evaluation.mean.is_not(None), Evaluation.protocol.in_(fitting_protocols(ATARI)))
        .where(~is_superseded(), *wanted)
        .order_by(Evaluation.id)
    )
    every = (
        FinishedEvaluation(
            number, run_id, env, algorithm, TableKey(*key), checkpoint, step, _acting(acting), *means_and_points
        )
        for number, run_id, env, algorithm, *key, checkpoint, step, acting, mean, total, points in rows
        for means_and_points in [(mean, total, points)]
    )
    # The best of repeated evaluations would be the luckiest one, so the newest counts.
    return list({(one.run_id, one.key, one.checkpoint_id, one.acting, one.short): one for one in every}.values())


def best_of_runs(every: Iterable[FinishedEvaluation]) -> list[FinishedEvaluation]:
    """Return the best evaluation of each run by each protocol."""
    return best_by(every, lambda evaluation: (evaluation.run_id, evaluation.key))


def methods_of(
    session: Session, every: Sequence[FinishedEvaluation], envs: Collection[str], projects: Collection[str] = ()
) -> dict[str, list[schemas.MethodScore]]:
    """Return the mean of the last evaluations of each method's runs by each protocol, best first, by game."""
    last: dict[tuple[int, TableKey], FinishedEvaluation] = {}
    for each in sorted(every, key=lambda evaluation: evaluation.recency):
        if each.ranked and math.isfinite(each.mean):
            last[each.run_id, each.key] = each
    groups: dict[tuple[str, TableKey, str], list[FinishedEvaluation]] = {}
    for each in last.values():
        groups.setdefault((each.env, each.key, each.algorithm), []).append(each)
    failed = select(Run.id, Run.env, Run.algorithm).where(Run.env.in_(envs), Run.state == "failed")
    broken = session.execute(failed.where(*in_projects(Run.project_id, projects))).all()
    methods: dict[str, list[schemas.MethodScore]] = {}
    for (env, key, algorithm), members in groups.items():
        without = sum((row.id, key) not in last for row in broken if (row.env, row.algorithm) == (env, algorithm))
        methods.setdefault(env, []).append(_to_method(env, key, algorithm, members, without))
    return {env: sorted(scores, key=lambda score: -score.mean) for env, scores in methods.items()}


def _to_method(
    env: str, key: TableKey, algorithm: str, members: Sequence[FinishedEvaluation], failed: int
) -> schemas.MethodScore:
    scores, steps = [each.mean for each in members], [each.step for each in members]
    mean = float(np.mean(scores))
    return schemas.MethodScore(
        protocol=key.protocol,
        starts=key.starts,
        algorithm=algorithm,
        method=title_of(algorithm),
        runs=len(scores),
        failed=failed,
        mean=mean,
        interval=t_interval(scores, score_bounds(env)),
        steps=(min(steps), max(steps)),
        human_normalized=normalized(mean, reference(env, key.protocol)),
    )


def _acting(document: Any) -> str:
    return str(Acting.model_validate(document))


def _usual_acting(algorithm: str) -> str | None:
    """Return the way in which a method's agents usually act. It is unknown for a missing plug-in."""
    config_class = CONFIGURATIONS.get(algorithm)
    return str(config_class.usual_acting) if config_class else None


def best_by(every: Iterable[FinishedEvaluation], key: Any) -> list[FinishedEvaluation]:
    """Return the best evaluation of each key. The earliest wins a tie."""
    chosen: dict[Any, FinishedEvaluation] = {}
    for evaluation in every:
        held = chosen.setdefault(key(evaluation), evaluation)
        if evaluation.quality > held.quality:
            chosen[key(evaluation)] = evaluation
    return list(chosen.values())


def to_schemas(session: Session, chosen: Sequence[FinishedEvaluation]) -> dict[int, schemas.RunScore]:
    """Return the API schemas of these evaluations, by ID."""
    columns = (
        *(Evaluation.id, Evaluation.step, Evaluation.frames, Evaluation.acting, Evaluation.starts, Job.finished_at),
        *(Run.name, Run.algorithm, Run.archived_at, Evaluation.document["interval"].label("interval")),
    )
    query = select(*columns).join(Job, Job.id == Evaluation.job_id).join(Run, Run.id == Evaluation.run_id)
    scores: dict[int, schemas.RunScore] = {}
    for first in range(0, len(chosen), IDS_PER_QUERY):
        portion = {each.id: each for each in chosen[first : first + IDS_PER_QUERY]}
        rows = session.execute(query.where(Evaluation.id.in_(portion)))
        scores |= {row.id: _to_schema(portion[row.id], row) for row in rows}
    return scores


def _to_schema(evaluation: FinishedEvaluation, row: Any) -> schemas.RunScore:
    by = reference(evaluation.env, evaluation.key.protocol)
    return schemas.RunScore(
        evaluation_id=evaluation.id,
        protocol=evaluation.key.protocol,
        run=schemas.ScoredRun(
            id=evaluation.run_id,
            name=row.name,
            algorithm=row.algorithm,
            method=title_of(row.algorithm),
            color=color_of(evaluation.run_id),
            archived=row.archived_at is not None,
        ),
        mean=evaluation.mean,
        interval=row.interval,
        episodes=evaluation.episodes,
        short=evaluation.short,
        step=row.step,
        frames=row.frames,
        start_set=row.starts["name"] if row.starts else None,
        acting=row.acting,
        finished_at=row.finished_at,
        human_normalized=normalized(evaluation.mean, by),
        normalized_by=by if isinstance(by, NormalizedBy) else None,
        not_normalized_because=by if isinstance(by, str) else None,
    )


@cache
def reference(env: str, protocol: str) -> NormalizedBy | str:
    """Return the random and human scores for normalization, or why there are none."""
    return published.reference(env, protocol)


def normalized(score: float, by: NormalizedBy | str) -> float | None:
    """Return a human-normalized score in percent, or None if there is no human score."""
    return published.normalized(score, by) if isinstance(by, NormalizedBy) else None
