"""Games: the catalog, pictures, the tables and the best agent of one, and the runs without a score."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from fastapi import Path
from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from arcadia_backend.colors import color_of
from arcadia_backend.database.tables import Checkpoint, Evaluation, Job, Replay, Run
from arcadia_backend.errors import NotFound
from arcadia_backend.games import schemas
from arcadia_backend.games.schemas import Picture, WaitingEvaluation, WaitingRun
from arcadia_backend.games.scores import FinishedEvaluation, TableKey, best_of_runs, evaluations_of_runs, methods_of
from arcadia_backend.games.tables import rank_tables, table_keys
from arcadia_backend.jobs import UNFINISHED, JobQueue, job_fields, read_queue
from arcadia_backend.projects.service import in_projects
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import ENVIRONMENTS, Environment, close_to, rom_of

Slug = Annotated[str, Path(max_length=100, description="Name of the game in URLs, such as ms-pacman.")]


def slug_of(env: str) -> str:
    """Return the name of a game in URLs."""
    return rom_of(env).replace("_", "-")


GAMES: dict[str, Environment] = {slug_of(game.id): game for game in ENVIRONMENTS.values() if game.family.has_game_pages}
ATARI = [game.id for game in GAMES.values()]


def find_game(slug: str) -> Environment:
    """Return the game. Raise NotFound, which suggests similar names, if there is none."""
    game = GAMES.get(slug)
    if game is None:
        close = [slug_of(env) for env in close_to(slug.replace("-", "")) if env in ATARI]
        hint = f"Did you mean {', '.join(close)}?" if close else "Games have names such as pong and ms-pacman."
        raise NotFound(f"There is no Atari game {slug[:80]!r}. {hint}")
    return game


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


MAX_RUNS = 50


def waiting_runs(
    session: Session, env: str, scored: Collection[int], projects: Collection[str] = ()
) -> tuple[list[WaitingRun], int]:
    """Return the newest runs without a score, and their total. Archived and reported runs are left out."""
    of_projects = in_projects(Run.project_id, projects)
    wanted = (Run.env == env, Run.origin == "trained", Run.archived_at.is_(None), *of_projects)
    listed = select(Run.id).where(*wanted).order_by(Run.id.desc())
    ids = [number for number in session.scalars(listed) if number not in scored]
    rows = session.execute(_runs_with_evaluations().where(Run.id.in_(ids[:MAX_RUNS]))).all()
    queue = read_queue(session, (row.Job for row in rows if row.Job is not None))
    return [_to_schema(row, queue) for row in rows], len(ids)


def _runs_with_evaluations() -> Select[*tuple[Any, ...]]:
    """Select runs, newest first, each with the evaluation to show."""
    kept = exists().where(Checkpoint.run_id == Run.id, Checkpoint.file_id.is_not(None))
    columns = (
        *(Run.id, Run.name, Run.algorithm, Run.state, Run.step, kept.label("kept"), Job),
        *(Evaluation.id.label("evaluation_id"), Evaluation.protocol, Evaluation.step.label("evaluated_step")),
    )
    # Show a running evaluation, else a queued one, else the last.
    under_way = [(Job.state == state).desc() for state in ("running", "queued")]
    of_run = select(Evaluation.id).join(Job, Job.id == Evaluation.job_id).where(Evaluation.run_id == Run.id)
    shown = of_run.order_by(*under_way, Evaluation.id.desc()).limit(1).correlate(Run).scalar_subquery()
    query = select(*columns).select_from(Run).outerjoin(Evaluation, Evaluation.id == shown)
    return query.outerjoin(Job, Job.id == Evaluation.job_id).order_by(Run.id.desc())


def _to_schema(row: Any, queue: JobQueue | None) -> WaitingRun:
    return WaitingRun(
        id=row.id,
        name=row.name,
        method=title_of(row.algorithm),
        color=color_of(row.id),
        state=row.state,
        step=row.step,
        has_checkpoint=row.kept,
        evaluation=_evaluation(row, row.Job, queue),
    )


def _evaluation(row: Any, job: Job | None, queue: JobQueue | None) -> WaitingEvaluation | None:
    if job is None or job.state not in (*UNFINISHED, "failed"):
        return None
    return WaitingEvaluation(
        **job_fields(job, queue),
        id=row.evaluation_id,
        protocol=row.protocol,
        step=row.evaluated_step,
        episodes_done=job.done,
        episodes_total=job.total,
    )


def read_game(session: Session, slug: str, projects: Collection[str] = ()) -> schemas.Game:
    """Return a game by its name in URLs, with the runs of some projects or of all."""
    known = find_game(slug)
    methods, best = _read_scores(session, known.id, projects)
    scored = {each.run_id for each in best}
    tables = rank_tables(session, known.id, best, methods, table_keys(known.id, best))
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
    methods, best = _read_scores(session, env, projects)
    return rank_tables(session, env, best, methods, table_keys(env, best), whole=True)


def read_table(session: Session, slug: str, wanted: TableKey, projects: Collection[str] = ()) -> schemas.ScoreTable:
    """Return one table of a game. Raise NotFound, which lists the game's tables, if there is none."""
    known = find_game(slug)
    methods, best = _read_scores(session, known.id, projects)
    known_keys = table_keys(known.id, best)
    if wanted not in known_keys:
        others = ", ".join(_describe(key.protocol, key.starts) for key in known_keys)
        raise NotFound(
            f"{known.title} has no scores by {_describe(repr(wanted.protocol), wanted.starts)}. "
            f"{f'It has scores by {others}.' if others else ''}".strip()
        )
    (table,) = rank_tables(session, known.id, best, methods, [wanted])
    return table


def _read_scores(
    session: Session, env: str, projects: Collection[str]
) -> tuple[list[schemas.MethodScore], list[FinishedEvaluation]]:
    """Return the scores of a game's methods, and the best evaluation of each run."""
    every = evaluations_of_runs(session, [env], projects)
    return methods_of(session, every, [env], projects).get(env, []), best_of_runs(every)


def _describe(protocol: str, starts: str | None) -> str:
    return protocol if starts is None else f"{protocol} with starts={starts}"


def _picture(
    session: Session, env: str, tables: Sequence[schemas.ScoreTable], projects: Collection[str]
) -> schemas.Picture | None:
    """Return the newest replay of the best run in the first table with runs, or of any run."""
    best = next((row.ours.run.id for table in tables for row in table.runs if row.ours), None)
    pictures = newest_of_runs(session, [best]) if best is not None else {}
    return next(iter(pictures.values()), None) or newest_of_games(session, [env], projects).get(env)
