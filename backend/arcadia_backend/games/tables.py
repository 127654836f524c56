"""Score tables of a game: methods and papers ranked by protocol, unranked scores of papers, and the best runs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from sqlalchemy.orm import Session

from arcadia_backend.games import schemas
from arcadia_backend.games.schemas import BestScore, GameCard, ScoreTable, TableRow
from arcadia_backend.games.scores import FinishedEvaluation, TableKey, normalized, reference, to_schemas
from arcadia_backend.job_kinds.kept_games import best_score
from arcadia_backend.web.formats import csv_line
from arcadia_workers.contract import published
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.published import Score


@dataclass
class PublishedScore:
    """A player's score in a game, with the rows that print it."""

    protocol: str
    player: str
    score: float
    note: str | None
    rows: list[Score] = field(default_factory=list)


@cache
def published_scores(env: str) -> Sequence[PublishedScore]:
    """Return the published scores of a game. A citation of another paper's score is the same score."""
    scores: list[PublishedScore] = []
    for row in published.scores():
        if row.env != env:
            continue
        protocol, note = _protocol_and_note(row.protocol)
        same = next((one for one in scores if one.protocol == protocol and _cites(row, one.rows)), None)
        if same is None:
            same = PublishedScore(protocol, row.player, row.score, note)
            scores.append(same)
        same.rows.append(row)
    return scores


def _protocol_and_note(written: str) -> tuple[str, str | None]:
    """Split a row's protocol into the protocol and a note on the row."""
    protocol, _, note = written.partition("; ")
    return (written, None) if written in PROTOCOLS else (protocol, note or None)


def _cites(row: Score, rows: Sequence[Score]) -> bool:
    """Return True if a row prints the same score as these, such as A3C's 264 for the 263.9 of A3C FF."""
    return all(
        row.source != other.source
        and row.player.split()[0] == other.player.split()[0]
        and abs(row.score - other.score) <= 0.5 * 10.0 ** -min(_decimals(row.score), _decimals(other.score)) + 1e-9
        for other in rows
    )


def _decimals(score: float) -> int:
    return 0 if score == int(score) else len(f"{score!r}".partition(".")[2])


# Runs in a table, besides all published scores.
MAX_RUNS = 100


def table_keys(env: str, evaluations: Sequence[FinishedEvaluation]) -> list[TableKey]:
    """Return the keys of a game's tables: tables with runs first, then other protocols, then scores without one."""
    ours = {each.key for each in evaluations}
    papers = [TableKey(score.protocol, None) for score in published_scores(env)]
    order = list(PROTOCOLS)
    return sorted(
        dict.fromkeys([*(each.key for each in evaluations), *papers]),
        key=lambda key: (key not in ours, key.protocol not in order, _position(key, order), key.starts or ""),
    )


def rank_tables(
    session: Session,
    env: str,
    evaluations: Sequence[FinishedEvaluation],
    methods: Sequence[schemas.MethodScore],
    wanted: Sequence[TableKey],
    *,
    whole: bool = False,
) -> list[schemas.ScoreTable]:
    """Return these tables of a game with the best runs, or with all runs if `whole`."""
    most = None if whole else MAX_RUNS
    every = {key: sorted((each for each in evaluations if each.key == key), key=_sort_key) for key in wanted}
    scores = to_schemas(session, [each for ours in every.values() for each in ours[:most]])
    you = best_score(session, env)
    return [
        _table(
            env,
            key,
            [score for score in methods if TableKey(score.protocol, score.starts) == key],
            len(ours),
            [scores[each.id] for each in ours[:most]],
            you,
        )
        for key, ours in every.items()
    ]


def _position(key: TableKey, order: list[str]) -> int:
    return order.index(key.protocol) if key.protocol in order else 0


def _sort_key(evaluation: FinishedEvaluation) -> tuple[bool, bool, float]:
    return not evaluation.ranked, math.isnan(evaluation.mean), -evaluation.mean


def _table(
    env: str,
    key: TableKey,
    methods: Sequence[schemas.MethodScore],
    runs_total: int,
    runs: Sequence[schemas.RunScore],
    you: tuple[float, int] | None,
) -> schemas.ScoreTable:
    protocol = PROTOCOLS.get(key.protocol)
    by = reference(env, key.protocol) if protocol else "the papers do not state the protocol"
    papers = [score for score in published_scores(env) if TableKey(score.protocol, None) == key]
    rows = [_method_row(score) for score in methods]
    rows += [_paper_row(score, normalized(score.score, by)) for score in papers]
    ranked = _ranked(rows, is_comparable=protocol is not None)
    if you is not None:
        ranked = _insert_after_human(ranked, _kept_game_row(*you, normalized(you[0], by)))
    return schemas.ScoreTable(
        protocol=key.protocol,
        starts=key.starts,
        title=protocol.title if protocol else key.protocol[:1].upper() + key.protocol[1:],
        sentence=protocol.sentence if protocol else None,
        apart_because=None if runs else _apart_because(key.protocol),
        normalized_by=None if isinstance(by, str) else by,
        not_normalized_because=by if isinstance(by, str) else None,
        rows=ranked,
        runs_total=runs_total,
        runs=_sorted([_run_row(score) for score in runs]),
    )


def _apart_because(protocol: str) -> str:
    if protocol in PROTOCOLS:
        return f"No run has a score by {protocol}. Scores are comparable only within a protocol."
    if protocol.startswith("cited"):
        return "The paper cites these scores without their protocol, so they are not ranked with other scores."
    return "The paper's way of measuring is not a protocol here, so these scores are not ranked with others."


def unranked_because(score: schemas.RunScore) -> str | None:
    """Return why a run's score is not ranked, or None if it is."""
    if math.isnan(score.mean):
        return "its mean is not a number"
    whole = PROTOCOLS[score.protocol].episodes
    if score.short and score.episodes >= whole:
        return f"only the first {score.episodes} points of its start set"
    if score.short:
        return f"{score.episodes} of the protocol's {whole} episodes"
    return None


def _run_row(score: schemas.RunScore) -> schemas.TableRow:
    return schemas.TableRow(
        rank=None,
        unranked_because=unranked_because(score),
        player=f"{score.run.name} #{score.run.id}",
        score=score.mean,
        human_normalized=score.human_normalized,
        ours=score,
        sources=[],
        note=None,
    )


def _method_row(score: schemas.MethodScore) -> schemas.TableRow:
    return schemas.TableRow(
        rank=None,
        unranked_because=None,
        player=score.method,
        score=score.mean,
        human_normalized=score.human_normalized,
        method=score,
        ours=None,
        sources=[],
        note=None,
    )


def _paper_row(score: PublishedScore, percent: float | None) -> schemas.TableRow:
    return schemas.TableRow(
        rank=None,
        unranked_because=None,
        player=score.player,
        score=score.score,
        human_normalized=percent,
        ours=None,
        sources=[schemas.Source(source=row.source, table=row.table) for row in score.rows],
        note=score.note,
    )


def _kept_game_row(score: float, games: int, percent: float | None) -> schemas.TableRow:
    kept = "the only finished kept game" if games == 1 else f"the best of {games} finished kept games"
    return schemas.TableRow(
        rank=None,
        unranked_because=f"{kept}, without a protocol",
        player="You",
        score=score,
        human_normalized=percent,
        ours=None,
        sources=[],
        note=None,
    )


def _insert_after_human(rows: list[schemas.TableRow], you: schemas.TableRow) -> list[schemas.TableRow]:
    """Insert the user's best score after the published human, if the table has one."""
    place = next((place for place, row in enumerate(rows) if row.player == "human"), None)
    return rows if place is None else [*rows[: place + 1], you, *rows[place + 1 :]]


def _ranked(rows: Iterable[schemas.TableRow], *, is_comparable: bool) -> list[schemas.TableRow]:
    """Return the rows in order of rank. Equal scores share a rank."""
    ordered = _sorted(rows)
    places: dict[float, int] = {}
    for place, row in enumerate(ordered, start=1):
        row.rank = places.setdefault(row.score, place) if is_comparable else None
    return ordered


def _sorted(rows: Iterable[schemas.TableRow]) -> list[schemas.TableRow]:
    return sorted(rows, key=lambda row: (row.unranked_because is not None, math.isnan(row.score), -row.score))


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
