"""Scores as CSV: all scores of a game, or the best scores of all games."""

from collections.abc import Iterable, Iterator

from backend.games.schemas import BestScore, GameCard, ScoreTable, TableRow
from backend.games.tables import unranked_because
from backend.web.csv_files import csv_line

GAME_COLUMNS = (
    *("protocol", "starts", "start_set", "rank", "player", "runs", "run", "method", "evaluation", "score"),
    *("interval_low", "interval_high", "episodes", "step", "frames", "acting", "human_normalized", "normalized_by"),
    *("published_in", "note"),
)
OVERVIEW_COLUMNS = (
    *("game", "env", "protocol", "start_set", "run", "name", "method", "evaluation", "score", "interval_low"),
    *("interval_high", "episodes", "step", "frames", "acting", "human_normalized", "normalized_by", "finished_at"),
    "note",
)


def game_csv(tables: Iterable[ScoreTable]) -> Iterator[str]:
    """Yield CSV lines with all scores of these tables."""
    yield csv_line(GAME_COLUMNS)
    for table in tables:
        for row in (*table.rows, *table.runs):
            yield csv_line(_row_cells(table, row))


def overview_csv(cards: Iterable[GameCard]) -> Iterator[str]:
    """Yield CSV lines with the best score of each game by each protocol."""
    yield csv_line(OVERVIEW_COLUMNS)
    for card in cards:
        for score in card.best:
            yield csv_line(_best_cells(card, score))


def _row_cells(table: ScoreTable, row: TableRow) -> tuple[object, ...]:
    ours, by = row.ours, table.normalized_by
    method = row.method
    low, high = (ours and ours.interval) or (method and method.interval) or (None, None)
    return (
        *(table.protocol, table.starts, ours and ours.start_set, row.rank, row.player, method and method.runs),
        ours and ours.run.id,
        *(
            ours.run.method if ours else method and method.method,
            ours and ours.evaluation_id,
            row.score,
            low,
            high,
            ours and ours.episodes,
            ours and ours.step,
            ours and ours.frames,
        ),
        *(ours and str(ours.acting), row.human_normalized, by and f"{by.source}, {by.table}"),
        "; ".join(f"{each.source}, {each.table}" for each in row.sources),
        row.note or row.unranked_because,
    )


def _best_cells(card: GameCard, score: BestScore) -> tuple[object, ...]:
    run, by = score.run, score.normalized_by
    return (
        *(card.name, card.env, score.protocol, score.start_set, run.id, run.name, run.method, score.evaluation_id),
        *(score.mean, *(score.interval or (None, None)), score.episodes, score.step, score.frames, str(score.acting)),
        *(score.human_normalized, by and f"{by.source}, {by.table}"),
        *(score.finished_at and score.finished_at.isoformat(), unranked_because(score)),
    )
