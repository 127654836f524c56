"""A game's tables: runs and papers ranked within a protocol, and what no run is ranked with apart."""

import math
from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from backend.games import schemas
from backend.games.published import PublishedScore, published_scores
from backend.games.scores import Found, Like, normalised, reference, told
from backend.kept_games.service import best_score
from workers.contract.protocols import PROTOCOLS

# Of a table; published scores are all in it.
MOST_RUNS = 100


def likes(env: str, found: Sequence[Found]) -> list[Like]:
    """What a game's tables are of: those with runs, then the other protocols, then what is of no protocol."""
    ours = {each.like for each in found}
    papers = [Like(score.protocol, None) for score in published_scores(env)]
    order = list(PROTOCOLS)
    return sorted(
        dict.fromkeys([*(each.like for each in found), *papers]),
        key=lambda like: (like not in ours, like.protocol not in order, _place(like, order), like.starts or ""),
    )


def tables(
    session: Session, env: str, found: Sequence[Found], wanted: Sequence[Like], *, whole: bool = False
) -> list[schemas.ScoreTable]:
    """These tables of a game, each with its best runs, or with all."""
    most = None if whole else MOST_RUNS
    every = {like: sorted((each for each in found if each.like == like), key=_order) for like in wanted}
    scores = told(session, [each for ours in every.values() for each in ours[:most]])
    you = best_score(session, env)
    return [_table(env, like, ours, [scores[each.id] for each in ours[:most]], you) for like, ours in every.items()]


def _place(like: Like, order: list[str]) -> int:
    return order.index(like.protocol) if like.protocol in order else 0


def _order(found: Found) -> tuple[bool, bool, float]:
    return not found.ranked, math.isnan(found.mean), -found.mean


def _table(
    env: str,
    like: Like,
    ours: Sequence[Found],
    shown: Sequence[schemas.RunScore],
    you: tuple[float, int] | None,
) -> schemas.ScoreTable:
    protocol = PROTOCOLS.get(like.protocol)
    by = reference(env, like.protocol) if protocol else "the papers do not say by which protocol it was measured"
    papers = [score for score in published_scores(env) if Like(score.protocol, None) == like]
    rows = [_of_run(score) for score in shown]
    rows += [_of_paper(score, normalised(score.score, by)) for score in papers]
    scores = [*(each.mean for each in ours if each.ranked), *(score.score for score in papers)]
    ranked = _ranked(rows, scores if protocol else [])
    if you is not None:
        ranked = _beside_the_human(ranked, _of_you(*you, normalised(you[0], by)))
    return schemas.ScoreTable(
        protocol=like.protocol,
        starts=like.starts,
        title=protocol.title if protocol else like.protocol[:1].upper() + like.protocol[1:],
        sentence=protocol.sentence if protocol else None,
        apart_because=None if ours else _apart_because(like.protocol),
        normalised_by=None if isinstance(by, str) else by,
        not_normalised_because=by if isinstance(by, str) else None,
        runs_total=len(ours),
        rows=ranked,
    )


def _apart_because(protocol: str) -> str:
    if protocol in PROTOCOLS:
        return f"No run has a score by {protocol}, and scores compare only within a protocol."
    if protocol.startswith("cited"):
        return (
            "The paper cites these scores and does not say by which protocol they were measured, so that they are "
            "ranked with no others."
        )
    return "The paper measured in a way that is no protocol here, so that these scores are ranked with no others."


def unranked_because(score: schemas.RunScore) -> str | None:
    """Why a run's score is ranked with no others; None if it is."""
    if math.isnan(score.mean):
        return "its mean is no number"
    whole = PROTOCOLS[score.protocol].episodes
    if score.short and score.episodes >= whole:
        return f"only the first {score.episodes} points of its set"
    if score.short:
        return f"{score.episodes} of the protocol's {whole} episodes"
    return None


def _of_run(score: schemas.RunScore) -> schemas.TableRow:
    return schemas.TableRow(
        rank=None,
        unranked_because=unranked_because(score),
        player=f"{score.run.name} #{score.run.id}",
        score=score.mean,
        human_normalised=score.human_normalised,
        ours=score,
        sources=[],
        note=None,
    )


def _of_paper(score: PublishedScore, percent: float | None) -> schemas.TableRow:
    return schemas.TableRow(
        rank=None,
        unranked_because=None,
        player=score.player,
        score=score.score,
        human_normalised=percent,
        ours=None,
        sources=[schemas.Source(source=row.source, table=row.table) for row in score.rows],
        note=score.note,
    )


def _of_you(score: float, games: int, percent: float | None) -> schemas.TableRow:
    kept = "the one finished game that was kept" if games == 1 else f"the best of {games} finished games that were kept"
    return schemas.TableRow(
        rank=None,
        unranked_because=f"{kept}, by no protocol",
        player="You",
        score=score,
        human_normalised=percent,
        ours=None,
        sources=[],
        note=None,
    )


def _beside_the_human(rows: list[schemas.TableRow], you: schemas.TableRow) -> list[schemas.TableRow]:
    """Put a person's best behind the published human; a table without one has no place for it."""
    place = next((place for place, row in enumerate(rows) if row.player == "human"), None)
    return rows if place is None else [*rows[: place + 1], you, *rows[place + 1 :]]


def _ranked(rows: Iterable[schemas.TableRow], scores: Iterable[float]) -> list[schemas.TableRow]:
    """The best first, with its place among all scores; equal ones share a rank. What is not ranked comes last."""
    places: dict[float, int] = {}
    for place, score in enumerate(sorted(scores, reverse=True), start=1):
        places.setdefault(score, place)
    ordered = sorted(rows, key=lambda row: (row.unranked_because is not None, math.isnan(row.score), -row.score))
    for row in ordered:
        row.rank = places.get(row.score) if row.unranked_because is None else None
    return ordered
