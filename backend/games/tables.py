"""Score tables of a game: methods and papers ranked by protocol, unranked scores of papers, and the best runs."""

import math
from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from backend.games import schemas
from backend.games.published import PublishedScore, published_scores
from backend.games.scores import FinishedEvaluation, TableKey, normalized, reference, to_schemas
from backend.kept_games.service import best_score
from workers.contract.protocols import PROTOCOLS

# Runs in a table, besides all published scores.
MAX_RUNS = 100


def table_keys(env: str, found: Sequence[FinishedEvaluation]) -> list[TableKey]:
    """Return the keys of a game's tables: tables with runs first, then other protocols, then scores without one."""
    ours = {each.key for each in found}
    papers = [TableKey(score.protocol, None) for score in published_scores(env)]
    order = list(PROTOCOLS)
    return sorted(
        dict.fromkeys([*(each.key for each in found), *papers]),
        key=lambda key: (key not in ours, key.protocol not in order, _position(key, order), key.starts or ""),
    )


def rank_tables(
    session: Session,
    env: str,
    found: Sequence[FinishedEvaluation],
    methods: Sequence[schemas.MethodScore],
    wanted: Sequence[TableKey],
    *,
    whole: bool = False,
) -> list[schemas.ScoreTable]:
    """Return these tables of a game with the best runs, or with all runs if `whole`."""
    most = None if whole else MAX_RUNS
    every = {key: sorted((each for each in found if each.key == key), key=_sort_key) for key in wanted}
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


def _sort_key(found: FinishedEvaluation) -> tuple[bool, bool, float]:
    return not found.ranked, math.isnan(found.mean), -found.mean


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
