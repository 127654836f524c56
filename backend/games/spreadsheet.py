"""A game's tables as CSV, a line a score."""

import csv
import io
from collections.abc import Iterator

from backend.games.schemas import Game, ScoreTable, TableRow
from backend.json_numbers import spelled

COLUMNS = (
    *("protocol", "starts", "rank", "player", "run", "method", "score", "interval_low", "interval_high", "episodes"),
    *("step", "frames", "acting", "human_normalised", "normalised_by", "published_in", "note"),
)


def csv_lines(game: Game) -> Iterator[str]:
    """Every score of every table."""
    yield _line(COLUMNS)
    for table in game.tables:
        for row in table.rows:
            yield _line(_cells(table, row))


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


def _line(cells: tuple[object, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([_cell(cell) for cell in cells])
    return line.getvalue()


def _cell(cell: object) -> object:
    """Spell numbers as the API does, and keep a spreadsheet from running a name as a formula."""
    if isinstance(cell, float):
        return spelled(cell)
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t") else cell
