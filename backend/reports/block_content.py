"""Current content of report blocks."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.engine import Database
from backend.database.tables import Run
from backend.errors import NotFound, Problem
from backend.replays.service import find_replay
from backend.reports.blocks import AnyBlock, ChartBlock, ReplayBlock, TableBlock, TextBlock
from backend.reports.figures import draw_figure, replace_runs, run_ids_in
from backend.reports.schemas import BlockContent, ReplayContent
from backend.reports.tables import build_table, describe_missing_runs


def read_content(db: Database, block: AnyBlock) -> BlockContent:
    """Return the block's figure, table or replay, or why it cannot be shown."""
    try:
        if isinstance(block, ChartBlock):
            return _draw_chart(db, block.address)
        with db.read() as session:
            if isinstance(block, TableBlock):
                table, missing = build_table(session, block)
                return BlockContent(table=table, missing=missing)
            if isinstance(block, ReplayBlock):
                return BlockContent(replay=_read_replay(session, block))
    except Problem as problem:
        return BlockContent(problem=problem.detail)
    return BlockContent() if isinstance(block, TextBlock) else BlockContent(problem="This block is not finished.")


def _draw_chart(db: Database, address: str) -> BlockContent:
    """Draw the figure of those of its runs that still exist."""
    runs = run_ids_in(address)
    left = _existing_runs(db, runs)
    missing = describe_missing_runs(runs, left) if left else None
    figure = draw_figure(db, replace_runs(address, left) if missing else address)
    return BlockContent(figure=figure, missing=missing)


def _existing_runs(db: Database, runs: Sequence[int]) -> list[int]:
    with db.read() as session:
        found = set(session.scalars(select(Run.id).where(Run.id.in_(runs))))
    return [run for run in runs if run in found]


def _read_replay(session: Session, block: ReplayBlock) -> ReplayContent:
    replay = find_replay(session, block.replay)
    if replay.file_id is None:
        raise NotFound(f"The video of replay {replay.id} was deleted.")
    return ReplayContent(
        run_id=replay.run_id,
        run_name=session.get_one(Run, replay.run_id).name,
        step=replay.step,
        episode_return=replay.episode_return,
        seconds=replay.seconds,
        file_id=replay.file_id,
        poster_file_id=replay.poster_file_id,
    )
