"""One game: its tables, the replay of its best agent, and the runs without a score."""

from collections.abc import Collection, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.errors import NotFound
from backend.games import schemas
from backend.games.catalog import find_game, slug_of
from backend.games.pictures import newest_of_games, newest_of_runs
from backend.games.scores import TableKey, best_of_runs, evaluations_of_runs, methods_of
from backend.games.tables import rank_tables, table_keys
from backend.games.waiting import waiting_runs
from backend.projects.lookup import in_projects


def read_game(session: Session, slug: str, projects: Collection[str] = ()) -> schemas.Game:
    """Return a game by its name in URLs, with the runs of some projects or of all."""
    known = find_game(slug)
    every = evaluations_of_runs(session, [known.id], projects)
    methods = methods_of(session, every, [known.id], projects).get(known.id, [])
    found = best_of_runs(every)
    scored = {each.run_id for each in found}
    tables = rank_tables(session, known.id, found, methods, table_keys(known.id, found))
    unscored, total = waiting_runs(session, known.id, scored, projects)
    listed = (Run.env == known.id, *in_projects(Run.project_id, projects))
    return schemas.Game(
        slug=slug_of(known.id),
        name=known.title,
        env=known.id,
        runs=session.scalar(select(func.count()).select_from(Run).where(*listed)) or 0,
        evaluated_runs=len(scored),
        picture=_picture(session, known.id, tables, projects),
        tables=tables,
        waiting=unscored,
        waiting_total=total,
    )


def read_all_scores(session: Session, slug: str, projects: Collection[str] = ()) -> list[schemas.ScoreTable]:
    """Return a game's tables with every run."""
    env = find_game(slug).id
    every = evaluations_of_runs(session, [env], projects)
    methods = methods_of(session, every, [env], projects).get(env, [])
    found = best_of_runs(every)
    return rank_tables(session, env, found, methods, table_keys(env, found), whole=True)


def read_table(session: Session, slug: str, wanted: TableKey, projects: Collection[str] = ()) -> schemas.ScoreTable:
    """Return one table of a game. Raise NotFound, which lists the game's tables, if there is none."""
    known = find_game(slug)
    every = evaluations_of_runs(session, [known.id], projects)
    methods = methods_of(session, every, [known.id], projects).get(known.id, [])
    found = best_of_runs(every)
    known_keys = table_keys(known.id, found)
    if wanted not in known_keys:
        others = ", ".join(_describe(key.protocol, key.starts) for key in known_keys)
        raise NotFound(
            f"{known.title} has no scores by {_describe(repr(wanted.protocol), wanted.starts)}. "
            f"{f'It has scores by {others}.' if others else ''}".strip()
        )
    (table,) = rank_tables(session, known.id, found, methods, [wanted])
    return table


def _describe(protocol: str, starts: str | None) -> str:
    return protocol if starts is None else f"{protocol} with starts={starts}"


def _picture(
    session: Session, env: str, tables: Sequence[schemas.ScoreTable], projects: Collection[str]
) -> schemas.Picture | None:
    """Return the newest replay of the best run in the first table with runs, or of any run."""
    best = next((row.ours.run.id for table in tables for row in table.runs if row.ours), None)
    pictures = newest_of_runs(session, [best]) if best is not None else {}
    return next(iter(pictures.values()), None) or newest_of_games(session, [env], projects).get(env)
