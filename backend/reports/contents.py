"""What a block of a report shows now."""

from collections.abc import Sequence

from fastapi import FastAPI
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from backend.database.engine import Database
from backend.database.tables import Run
from backend.errors import NotFound
from backend.replays.service import find_replay
from backend.reports.blocks import AnyBlock, ChartBlock, DraftBlock, ReplayBlock, TableBlock
from backend.reports.drawing import draw, runs_at, with_runs
from backend.reports.schemas import BlockContent, ReplayContent
from backend.reports.tables import in_words_missing, table_of


async def content_of(db: Database, figures: FastAPI, block: AnyBlock) -> BlockContent:
    """The block's figure, table or replay, or in plain words why there is none."""
    if isinstance(block, ChartBlock):
        return await _chart(db, figures, block.address)
    if isinstance(block, DraftBlock):
        return BlockContent(problem="It is not finished.")
    return await run_in_threadpool(_read, db, block)


async def _chart(db: Database, figures: FastAPI, address: str) -> BlockContent:
    """The figure of those of its runs that are left."""
    named = runs_at(address)
    left = await run_in_threadpool(_left, db, named)
    missing = in_words_missing(named, left) if left else None
    drawn = await draw(figures, with_runs(address, left) if missing else address)
    if isinstance(drawn, str):
        return BlockContent(problem=drawn)
    return BlockContent(figure=drawn, missing=missing)


def _left(db: Database, runs: Sequence[int]) -> list[int]:
    with db.read() as session:
        found = set(session.scalars(select(Run.id).where(Run.id.in_(runs))))
    return [run for run in runs if run in found]


def _read(db: Database, block: AnyBlock) -> BlockContent:
    try:
        with db.read() as session:
            if isinstance(block, TableBlock):
                table, missing = table_of(session, block)
                return BlockContent(table=table, missing=missing)
            if isinstance(block, ReplayBlock):
                return BlockContent(replay=_replay(session, block))
    except NotFound as gone:
        return BlockContent(problem=gone.detail)
    return BlockContent()


def _replay(session: Session, block: ReplayBlock) -> ReplayContent:
    replay = find_replay(session, block.video)
    if replay.file_id is None:
        raise NotFound(f"The film of replay {replay.id} was removed.")
    return ReplayContent(
        run_id=replay.run_id,
        run_name=session.get_one(Run, replay.run_id).name,
        step=replay.step,
        episode_return=replay.episode_return,
        seconds=replay.seconds,
        file_id=replay.file_id,
        poster_file_id=replay.poster_file_id,
    )
