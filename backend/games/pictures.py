"""Replays that represent games and runs."""

from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.database.tables import Replay, Run
from backend.games.schemas import Picture
from backend.projects.lookup import in_projects

COLUMNS = (Replay.run_id, Replay.step, Replay.file_id, Replay.poster_file_id)


def newest_of_runs(session: Session, run_ids: Collection[int]) -> dict[int, Picture]:
    """Return the replay of each run at the highest step."""
    query = select(*COLUMNS).where(Replay.run_id.in_(run_ids), Replay.file_id.is_not(None))
    rows = session.execute(query.order_by(Replay.step, Replay.id))
    return {row.run_id: Picture.model_validate(row, from_attributes=True) for row in rows}


def newest_of_games(session: Session, envs: Collection[str], projects: Collection[str] = ()) -> dict[str, Picture]:
    """Return the last recorded replay of each game, of some projects or of all."""
    newest = (
        select(func.max(Replay.id))
        .join(Run, Run.id == Replay.run_id)
        .where(Replay.file_id.is_not(None), Run.env.in_(envs), *in_projects(Run.project_id, projects))
        .group_by(Run.env)
    )
    query = select(Run.env, *COLUMNS).join(Run, Run.id == Replay.run_id).where(Replay.id.in_(newest))
    return {row.env: Picture.model_validate(row, from_attributes=True) for row in session.execute(query)}
