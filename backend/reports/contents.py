"""What a block of a report shows now."""

from fastapi import FastAPI
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from backend.db import Database
from backend.errors import NotFound
from backend.models import Run
from backend.reports.blocks import ChartBlock, ReplayBlock, TableBlock
from backend.reports.drawing import draw
from backend.reports.schemas import BlockContent, Replay
from backend.reports.service import AnyBlock
from backend.reports.tables import table_of
from backend.videos.service import find_video


async def content_of(db: Database, figures: FastAPI, block: AnyBlock) -> BlockContent:
    """The block's figure, table or replay, or in plain words why there is none."""
    if isinstance(block, ChartBlock):
        drawn = await draw(figures, block.address)
        return BlockContent(problem=drawn) if isinstance(drawn, str) else BlockContent(figure=drawn)
    return await run_in_threadpool(_read, db, block)


def _read(db: Database, block: AnyBlock) -> BlockContent:
    try:
        with db.read() as session:
            if isinstance(block, TableBlock):
                return BlockContent(table=table_of(session, block))
            if isinstance(block, ReplayBlock):
                return BlockContent(replay=_replay(session, block))
    except NotFound as gone:
        return BlockContent(problem=gone.detail)
    return BlockContent()


def _replay(session: Session, block: ReplayBlock) -> Replay:
    video = find_video(session, block.video)
    if video.file_id is None:
        raise NotFound(f"The film of replay {video.id} was removed.")
    return Replay(
        run_id=video.run_id,
        run_name=session.get_one(Run, video.run_id).name,
        step=video.step,
        episode_return=video.episode_return,
        seconds=video.seconds,
        file_id=video.file_id,
        poster_file_id=video.poster_file_id,
    )
