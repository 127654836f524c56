"""One game: its tables, the picture of its best agent, and the runs that wait for a score."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import NotFound
from backend.games import schemas
from backend.games.catalogue import find_game, slug_of
from backend.games.pictures import newest_of_games, newest_of_runs
from backend.games.scores import Like, best_of_runs
from backend.games.tables import likes, tables
from backend.games.waiting import waiting


def game(session: Session, slug: str) -> schemas.Game:
    """A game by its name in addresses."""
    known = find_game(slug)
    found = best_of_runs(session, [known.id])
    scored = {each.run_id for each in found}
    every = tables(session, known.id, found, likes(known.id, found))
    without, total = waiting(session, known.id, scored)
    return schemas.Game(
        slug=slug_of(known.id),
        name=known.title,
        env=known.id,
        runs=session.scalar(select(func.count()).select_from(Run).where(Run.env == known.id)) or 0,
        evaluated_runs=len(scored),
        picture=_picture(session, known.id, every),
        tables=every,
        waiting=without,
        waiting_total=total,
    )


def whole_tables(session: Session, slug: str) -> list[schemas.ScoreTable]:
    """A game's tables with every run."""
    env = find_game(slug).id
    found = best_of_runs(session, [env])
    return tables(session, env, found, likes(env, found), whole=True)


def table(session: Session, slug: str, wanted: Like) -> schemas.ScoreTable:
    """One table of a game, or a problem that names those that there are."""
    known = find_game(slug)
    found = best_of_runs(session, [known.id])
    there = likes(known.id, found)
    if wanted not in there:
        others = ", ".join(_named(like.protocol, like.starts) for like in there)
        raise NotFound(
            f"{known.title} has no scores by {_named(repr(wanted.protocol), wanted.starts)}. "
            f"{f'It has some by {others}.' if others else ''}".strip()
        )
    (one,) = tables(session, known.id, found, [wanted])
    return one


def _named(protocol: str, starts: str | None) -> str:
    return protocol if starts is None else f"{protocol} with starts={starts}"


def _picture(session: Session, env: str, every: Sequence[schemas.ScoreTable]) -> schemas.Picture | None:
    """The newest replay of the best run by the first protocol that has one, else of any run."""
    best = next((row.ours.run.id for table in every for row in table.rows if row.ours), None)
    pictures = newest_of_runs(session, [best]) if best is not None else {}
    return next(iter(pictures.values()), None) or newest_of_games(session, [env]).get(env)
