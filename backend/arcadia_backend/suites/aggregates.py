"""Scores of a study over its games, and statistics over them as rliable defines them (Agarwal et al. 2021).

The score of a run is its last comparable evaluation, because choosing its best checkpoint would favor luck. Only
finished runs count. Scores are human-normalized, in percent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.checkpoints.service import comparable_evaluations_of
from arcadia_backend.comparisons.schemas import Estimate
from arcadia_backend.configuration import to_document
from arcadia_backend.database.tables import Evaluation, Job, Run, Study
from arcadia_backend.errors import NotFound
from arcadia_backend.games.schemas import Source
from arcadia_backend.games.scores import normalized, reference
from arcadia_backend.games.service import ATARI, slug_of
from arcadia_backend.jobs import UNFINISHED
from arcadia_backend.studies.points import point_config, point_values, read_specification
from arcadia_backend.studies.results import Point, load_points
from arcadia_backend.studies.specification import Specification, point_label
from arcadia_backend.suites import service
from arcadia_workers.contract import published
from arcadia_workers.contract.config.emulator import protocol_of
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.inference.samples import (
    interquartile_of_all,
    mean_of_means,
    median_of_means,
    over_tasks,
)
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import NormalizedBy

# Enough for ends that vary by about 1 % of an interval's width between seeds. The page shows five statistics.
DRAWS = 10_000
HUMAN = 100.0

Statistic = Callable[[Sequence[Floats]], Floats]


@dataclass(frozen=True)
class RunScores:
    """Scores of finished runs, and evaluations under way, by run."""

    final: Mapping[int, float]
    under_way: Mapping[int, tuple[int, int]]


def read_aggregates(session: Session, study: Study) -> service.Aggregates:
    """Return the results of a study over its games. Raise NotFound if it does not vary the game."""
    spec = read_specification(study)
    if not varies_game(spec):
        raise NotFound(f"Study {study.id} does not vary the game, so it has no aggregates over games.")
    points = load_points(session, study)
    run_ids = _run_ids(points)
    runs = session.scalars(select(Run).where(Run.id.in_(run_ids), Run.state == "finished")).all()
    final = {
        run_id: max(evaluations.values(), key=lambda each: (each.step, each.evaluation_id)).score
        for run_id, evaluations in comparable_evaluations_of(session, runs).items()
        if evaluations
    }
    query = select(Evaluation.run_id, func.sum(Job.done), func.sum(Job.total)).join(Job, Job.id == Evaluation.job_id)
    query = query.where(Evaluation.run_id.in_(run_ids), Job.state.in_(UNFINISHED)).group_by(Evaluation.run_id)
    under_way = {run_id: (int(done), int(total)) for run_id, done, total in session.execute(query)}
    scores = RunScores({run_id: score for run_id, score in final.items() if np.isfinite(score)}, under_way)
    groups: dict[str, list[tuple[str, Point]]] = {}
    for point in points:
        values = point_values(spec, point.draw)
        env = str(values.pop("env"))
        groups.setdefault(point_label(values) if values else "", []).append((env, point))
    first = published.atari_5_weights()[0]
    return service.Aggregates(
        results=[_result(spec, label, group, scores) for label, group in groups.items()],
        estimate_source=Source(source=first.source, table=first.table),
    )


def varies_game(spec: Specification) -> bool:
    """Return True if a study has an axis of games."""
    return any(axis.fields == ["env"] and set(map(str, axis.values or [])) <= {*ATARI} for axis in spec.axes)


def _run_ids(points: Sequence[Point]) -> list[int]:
    return [run.run_id for point in points for run in point.runs if run.run_id is not None]


def _result(
    spec: Specification, label: str, group: Sequence[tuple[str, Point]], scores: RunScores
) -> service.SuiteResult:
    config = point_config(spec, group[0][1].draw, spec.seeds[0])
    protocol = protocol_of(to_document(config))
    percents: dict[str, Floats] = {}
    games: list[service.SuiteGame] = []
    tables: dict[tuple[str, str], Source] = {}
    for env, point in group:
        by = reference(env, protocol)
        finals = [scores.final[run_id] for run_id in _run_ids([point]) if run_id in scores.final]
        shares = [share for share in (normalized(score, by) for score in finals) if share is not None]
        if shares:
            percents[env] = np.array(shares)[:, np.newaxis]
        if isinstance(by, NormalizedBy):
            tables[by.source, by.table] = Source(source=by.source, table=by.table)
        games.append(_game(env, point, finals, shares, by, scores.under_way))
    return service.SuiteResult(
        label=label or title_of(config.algorithm),
        protocol=protocol,
        protocol_title=PROTOCOLS[protocol].title,
        games=games,
        normalized_games=len(percents),
        seeds=min(map(len, percents.values()), default=0),
        normalized_by=[*tables.values()],
        **_statistics(percents),
    )


def _game(
    env: str,
    point: Point,
    scores: Sequence[float],
    shares: Sequence[float],
    by: NormalizedBy | str,
    under_way: Mapping[int, tuple[int, int]],
) -> service.SuiteGame:
    playing = [under_way[run_id] for run_id in _run_ids([point]) if run_id in under_way]
    return service.SuiteGame(
        env=env,
        name=env_title(env),
        slug=slug_of(env),
        runs=len(point.runs),
        finished=sum(run.state == "finished" for run in point.runs),
        failed=sum(run.state == "failed" for run in point.runs),
        scored=len(scores),
        score=float(np.mean(scores)) if scores else None,
        percent=float(np.mean(shares)) if shares else None,
        not_normalized_because=by if isinstance(by, str) else None,
        episodes_done=sum(done for done, _ in playing),
        episodes_total=sum(total for _, total in playing),
    )


def _statistics(percents: Mapping[str, Floats]) -> dict[str, Any]:
    """Return the statistics over all games with a normalized score."""
    tasks = [*percents.values()]
    chosen = {row.env: row.weight for row in published.atari_5_weights()}
    of_atari_5 = [percents[env] for env in chosen if env in percents]
    weights = np.array([*chosen.values()])
    return {
        "median": _estimate(tasks, median_of_means),
        "interquartile_mean": _estimate(tasks, interquartile_of_all),
        "mean": _estimate(tasks, mean_of_means),
        "optimality_gap": _estimate(tasks, optimality_gap),
        "estimated_median": _estimate(of_atari_5, lambda drawn: estimated_median(drawn, weights))
        if len(of_atari_5) == len(chosen)
        else None,
    }


def _estimate(tasks: Sequence[Floats], statistic: Statistic) -> Estimate | None:
    """Return a statistic with its interval, if each game has enough runs for one."""
    if not tasks:
        return None
    value, ends = over_tasks(tasks, statistic, DRAWS)
    low, high = (float(end[0]) for end in ends)
    if not np.isfinite([low, high]).all():
        return Estimate(value=float(value[0]), low=None, high=None)
    return Estimate(value=float(value[0]), low=low, high=high)


def optimality_gap(tasks: Sequence[Floats]) -> Floats:
    """Return the mean amount by which runs miss the human score. More than human does not make up for less."""
    return np.asarray(np.mean([(HUMAN - np.minimum(task, HUMAN)).mean(axis=-2) for task in tasks], axis=0))


def estimated_median(tasks: Sequence[Floats], weights: Floats) -> Floats:
    """Estimate the median over 57 games from the games of Atari-5 (Aitchison et al. 2023).

    The weights belong to log10(1 + score). Scores below that of the random player count as 0.
    """
    logarithms = np.log10(1 + np.maximum(0.0, np.array([task.mean(axis=-2) for task in tasks])))
    return np.asarray(10 ** np.tensordot(weights, logarithms, axes=1) - 1)
