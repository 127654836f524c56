"""Overview of all games: their best scores, and the averages of methods over games."""

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run
from arcadia_backend.games import schemas
from arcadia_backend.games.scores import (
    FinishedEvaluation,
    best_by,
    best_of_runs,
    evaluations_of_runs,
    methods_of,
    reference,
    to_schemas,
)
from arcadia_backend.games.service import ATARI, GAMES, newest_of_games, newest_of_runs
from arcadia_backend.games.tables import published_scores
from arcadia_backend.projects.service import in_projects
from arcadia_workers.contract import published
from arcadia_workers.contract.inference.means import Floats
from arcadia_workers.contract.inference.samples import interquartile_mean, mean, median
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import NormalizedBy


def load_games(session: Session, projects: Collection[str] = ()) -> schemas.Games:
    """Return the games that have runs or published scores, by name. Runs are of some projects or of all."""
    wanted = (Run.env.in_(ATARI), *in_projects(Run.project_id, projects))
    counts = select(Run.env, func.count()).where(*wanted).group_by(Run.env)
    runs = {row[0]: row[1] for row in session.execute(counts)}
    every = evaluations_of_runs(session, ATARI, projects)
    methods = methods_of(session, every, ATARI, projects)
    best = best_of_runs(every)
    scored: dict[str, set[int]] = {}
    for each in best:
        scored.setdefault(each.env, set()).add(each.run_id)
    scores = _best_scores(session, best)
    pictures = newest_of_games(session, ATARI, projects)
    cards = [
        schemas.GameCard(
            slug=slug,
            name=game.title,
            env=game.id,
            runs=runs.get(game.id, 0),
            evaluated_runs=len(scored.get(game.id, ())),
            published=len(published_scores(game.id)),
            methods=methods.get(game.id, []),
            best=scores.get(game.id, []),
            picture=pictures.get(game.id),
        )
        for slug, game in GAMES.items()
    ]
    shown = sorted((card for card in cards if card.runs or card.published), key=lambda card: card.name)
    return schemas.Games(games=shown, averages=averages(shown), published_averages=_published_averages())


def _best_scores(session: Session, evaluations: Sequence[FinishedEvaluation]) -> dict[str, list[schemas.BestScore]]:
    """Return the best score of each game by each protocol, with a replay of its run."""
    chosen = best_by(evaluations, lambda each: (each.env, each.key))
    scores = to_schemas(session, chosen)
    pictures = newest_of_runs(session, {each.run_id for each in chosen})
    order = list(PROTOCOLS)
    by_game: dict[str, list[schemas.BestScore]] = {}
    for each in sorted(chosen, key=lambda each: order.index(each.key.protocol)):
        score = schemas.BestScore(**dict(scores[each.id]), picture=pictures.get(each.run_id))
        by_game.setdefault(each.env, []).append(score)
    return by_game


def averages(cards: Sequence[schemas.GameCard]) -> list[schemas.Average]:
    """Return averages of each method over the games with an evaluation, by protocol. The best method comes first."""
    by_method: dict[tuple[str, str], list[tuple[str, schemas.MethodScore]]] = {}
    for card in cards:
        for score in card.methods:
            by_method.setdefault((score.protocol, score.algorithm), []).append((card.env, score))
    order = list(PROTOCOLS)
    every = [_average(scores) for scores in by_method.values()]
    return sorted(every, key=lambda each: (order.index(each.protocol), -(each.median or -math.inf)))


def _average(scores: Sequence[tuple[str, schemas.MethodScore]]) -> schemas.Average:
    first = scores[0][1]
    normalized = [(env, score) for env, score in scores if math.isfinite(_percent(score))]
    percents = [_percent(score) for _, score in normalized]
    bases = [reference(env, score.protocol) for env, score in normalized]
    tables = {
        (by.source, by.table): schemas.Source(source=by.source, table=by.table)
        for by in bases
        if isinstance(by, NormalizedBy)
    }
    protocol = PROTOCOLS[first.protocol]
    return schemas.Average(
        protocol=protocol.name,
        algorithm=first.algorithm,
        method=first.method,
        title=protocol.title,
        sentence=protocol.sentence,
        # A game may have several scores, one from each start set.
        games=len({env for env, _ in scores}),
        normalized_games=len({env for env, _ in normalized}),
        runs=sum(score.runs for _, score in normalized),
        mean=_over(mean, percents),
        median=_over(median, percents),
        interquartile_mean=_over(interquartile_mean, percents),
        normalized_by=list(tables.values()),
    )


def _over(statistic: Callable[[Floats], Floats], percents: Sequence[float]) -> float | None:
    """Return a statistic over games, or None without any."""
    return float(statistic(np.array([percents]))) if percents else None


def _percent(score: schemas.MethodScore) -> float:
    return math.nan if score.human_normalized is None else score.human_normalized


def _published_averages() -> list[schemas.PublishedAverage]:
    return [
        schemas.PublishedAverage(
            **row.model_dump(include={"source", "table", "protocol", "method", "training_time"}),
            mean=row.mean_percent,
            median=row.median_percent,
        )
        for row in published.summaries()
    ]
