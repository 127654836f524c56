"""One game: its tables, the picture of its best agent, and the runs that wait for a score."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.games import schemas
from backend.games.catalogue import find_game, slug_of
from backend.games.pictures import newest_of_games, newest_of_runs
from backend.games.scores import best_of_runs
from backend.games.tables import tables
from backend.games.waiting import waiting
from backend.models import Run


def game(session: Session, slug: str) -> schemas.Game:
    """A game by its name in addresses."""
    known = find_game(slug)
    found = best_of_runs(session, [known.id])
    scored = {each.run_id for each in found}
    every = tables(session, known.id, found)
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


def _picture(session: Session, env: str, every: Sequence[schemas.ScoreTable]) -> schemas.Picture | None:
    """The newest replay of the best run by the first protocol that has one, else of any run."""
    best = next((row.ours.run.id for table in every for row in table.rows if row.ours), None)
    pictures = newest_of_runs(session, [best]) if best is not None else {}
    return next(iter(pictures.values()), None) or newest_of_games(session, [env]).get(env)
