"""Current content of report blocks, with their tables."""

from collections.abc import Container, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.comparisons.groups import run_labels
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Review, Run
from arcadia_backend.errors import NotFound, Problem
from arcadia_backend.job_kinds.evaluations.service import list_finished
from arcadia_backend.job_kinds.practices.queries import load as load_practices
from arcadia_backend.job_kinds.reviews import load as load_reviews
from arcadia_backend.replays.service import find_replay
from arcadia_backend.reports.schemas import (
    AnyBlock,
    BlockContent,
    ChartBlock,
    PracticeBlock,
    PracticeContent,
    ReplayBlock,
    ReplayContent,
    ReportTable,
    ReviewBlock,
    ReviewContent,
    TableBlock,
    TextBlock,
    draw_figure,
    replace_runs,
    run_ids_in,
)
from arcadia_backend.runs.names import field_titles, format_value
from arcadia_backend.studies.queries import to_schema
from arcadia_backend.studies.service import find_study
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title

TITLES = {
    "name": "Run",
    "method": "Method",
    "env": "Game",
    "state": "State",
    "step": "Steps",
    "frames": "Frames",
    "episodes": "Episodes",
    "last_return": "Last return",
    "best_return": "Best return",
    "steps_per_second": "Steps/s",
}
EVALUATION_HEADER = ["Run", "Step", "Protocol", "Episodes", "Mean", "95 % from", "95 % to", "Human-normalized %"]
POINT_HEADER = ["Point", "Finished runs", "Failed runs", "Mean return", "95 % from", "95 % to"]
CONFIG_PREFIX = "config."

Cell = str | int | float | None


def build_table(session: Session, block: TableBlock) -> tuple[ReportTable, str | None]:
    """Return the current table, and a sentence about its deleted runs."""
    if block.of == "study":
        points = to_schema(session, find_study(session, block.numbers[0])).table
        rows: list[list[Cell]] = [[each.label, each.n, each.failed, each.mean, each.low, each.high] for each in points]
        return ReportTable(header=POINT_HEADER, rows=rows), None
    numbers = list(dict.fromkeys(block.numbers))
    runs_by_id = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(numbers)))}
    runs = [runs_by_id[number] for number in numbers if number in runs_by_id]
    missing = describe_missing_runs(numbers, runs_by_id)
    if block.of == "evaluations":
        return ReportTable(header=EVALUATION_HEADER, rows=_evaluation_rows(session, runs)), missing
    titles = TITLES | {CONFIG_PREFIX + name: title for name, title in field_titles().items()}
    names = _run_names(runs)
    rows = [[names[run.id] if column == "name" else _cell(run, column) for column in block.columns] for run in runs]
    return ReportTable(header=[titles.get(column, column) for column in block.columns], rows=rows), missing


def _evaluation_rows(session: Session, runs: Sequence[Run]) -> list[list[Cell]]:
    names = _run_names(runs)
    return [
        [
            names[run.id],
            evaluation.step,
            evaluation.protocol,
            len(score.scores),
            score.mean,
            *(score.interval or (None, None)),
            score.human_normalized,
        ]
        for run in runs
        for evaluation, score in list_finished(session, run)
    ]


def _run_names(runs: Sequence[Run]) -> dict[int, str]:
    """Return the label of each run, with its id even if there is only one run."""
    return run_labels(runs) if len(runs) > 1 else {run.id: f"{run.name} #{run.id}" for run in runs}


def describe_missing_runs(numbers: Sequence[int], existing: Container[int]) -> str | None:
    """Return a sentence that lists the deleted runs, or None."""
    missing = [str(number) for number in numbers if number not in existing]
    if not missing:
        return None
    return f"Run {missing[0]} was deleted." if len(missing) == 1 else f"Runs {', '.join(missing)} were deleted."


def _cell(run: Run, column: str) -> Cell:
    if column.startswith(CONFIG_PREFIX):
        value: Any = run.config.get(column.removeprefix(CONFIG_PREFIX))
        return None if value is None else value if _is_number(value) else format_value(value)
    if column == "method":
        return title_of(run.algorithm)
    cell: Cell = env_title(run.env) if column == "env" else getattr(run, column)
    return cell


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_content(db: Database, block: AnyBlock) -> BlockContent:
    """Return the block's figure, table, replay, review or practice, or why it cannot be shown."""
    try:
        if isinstance(block, ChartBlock):
            return _draw_chart(db, block.address)
        with db.read() as session:
            if isinstance(block, TableBlock):
                table, missing = build_table(session, block)
                return BlockContent(table=table, missing=missing)
            if isinstance(block, ReplayBlock):
                return BlockContent(replay=_read_replay(session, block))
            if isinstance(block, ReviewBlock):
                return BlockContent(review=_read_review(session, block))
            if isinstance(block, PracticeBlock):
                return BlockContent(practice=_read_practice(session, block))
    except Problem as problem:
        return BlockContent(problem=problem.detail)
    return BlockContent() if isinstance(block, TextBlock) else BlockContent(problem="This block is not finished.")


def _draw_chart(db: Database, address: str) -> BlockContent:
    """Draw the figure of those of its runs that still exist."""
    runs = run_ids_in(address)
    with db.read() as session:
        existing = set(session.scalars(select(Run.id).where(Run.id.in_(runs))))
    left = [run for run in runs if run in existing]
    missing = describe_missing_runs(runs, left) if left else None
    figure = draw_figure(db, replace_runs(address, left) if missing else address)
    return BlockContent(figure=figure, missing=missing)


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


def _read_review(session: Session, block: ReviewBlock) -> ReviewContent:
    replay = find_replay(session, block.replay)
    found = next(
        (each.document for each in load_reviews(session, Review.replay_id == replay.id) if each.document), None
    )
    if found is None:
        raise NotFound(f"Replay {replay.id} has no review yet. Choose Review below the replay.")
    reviewed = [each.model_copy(update={"log_capitals": []}) for each in found.reviewed]
    return ReviewContent(
        run_id=replay.run_id,
        run_name=session.get_one(Run, replay.run_id).name,
        step=replay.step,
        episode_return=replay.episode_return,
        replay_id=replay.id,
        document=found.model_copy(update={"reviewed": reviewed}),
    )


def _read_practice(session: Session, block: PracticeBlock) -> PracticeContent:
    replay = find_replay(session, block.replay)
    document = next((each.document for each in load_practices(session, replay) if each.document), None)
    if document is None:
        raise NotFound(f"Replay {replay.id} has no practice with a verdict yet. Start one below its review.")
    return PracticeContent(
        run_id=replay.run_id,
        run_name=session.get_one(Run, replay.run_id).name,
        step=replay.step,
        replay_id=replay.id,
        document=document,
    )
