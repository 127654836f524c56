"""A game's tables as CSV, a line a score."""

from collections.abc import Iterator

from backend.games.schemas import Game, ScoreTable, TableRow
from backend.spreadsheet import csv_line

COLUMNS = (
    *("protocol", "starts", "rank", "player", "run", "method", "score", "interval_low", "interval_high", "episodes"),
    *("step", "frames", "acting", "human_normalised", "normalised_by", "published_in", "note"),
)


def csv_lines(game: Game) -> Iterator[str]:
    """Every score of every table."""
    yield csv_line(COLUMNS)
    for table in game.tables:
        for row in table.rows:
            yield csv_line(_cells(table, row))


def _cells(table: ScoreTable, row: TableRow) -> tuple[object, ...]:
    ours, by = row.ours, table.normalised_by
    low, high = (ours and ours.interval) or (None, None)
    return (
        *(table.protocol, table.starts, row.rank, row.player, ours and ours.run.id, ours and ours.run.method),
        *(row.score, low, high, ours and ours.episodes, ours and ours.step, ours and ours.frames),
        *(ours and str(ours.acting), row.human_normalised, by and f"{by.source}, {by.table}"),
        "; ".join(f"{each.source}, {each.table}" for each in row.sources),
        row.note or row.unranked_because,
    )
