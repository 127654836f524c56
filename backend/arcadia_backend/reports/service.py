"""Operations on reports. Every function works inside the caller's transaction."""

import secrets
from collections.abc import Sequence

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables import File, Replay, Report
from arcadia_backend.errors import Conflict, NotFound
from arcadia_backend.projects.service import assign, in_projects, resolve
from arcadia_backend.replays.service import pin
from arcadia_backend.reports.markdown import image_files
from arcadia_backend.reports.schemas import (
    AnyBlock,
    BlockOfReplay,
    CreateReport,
    EditReport,
    ReplayBlock,
    ReportSummary,
    TextBlock,
    read_blocks,
)


def list_reports(session: Session, projects: Sequence[str] = ()) -> list[ReportSummary]:
    """Return the reports of these projects, or of all, most recently changed first."""
    listed = select(Report).where(*in_projects(Report.project_id, projects))
    return [
        ReportSummary(
            id=report.id,
            title=report.title,
            project=report.project,
            blocks=len(report.blocks),
            shared=report.share_token is not None,
            created_at=report.created_at,
            updated_at=report.updated_at,
            may_edit=report.may_edit,
        )
        for report in session.scalars(listed.order_by(Report.updated_at.desc(), Report.id.desc()))
    ]


def find_report(session: Session, report_id: int, *, lock: bool = False) -> Report:
    """Return the report. Raise NotFound if it does not exist."""
    report = session.get(Report, report_id, with_for_update=True if lock else None)
    if report is None:
        raise NotFound(f"There is no report {report_id}.")
    return report


def find_shared(session: Session, token: str) -> Report:
    """Return the report that a link opens. Raise NotFound if there is none."""
    report = session.scalar(select(Report).where(Report.share_token == token))
    if report is None:
        raise NotFound("This link is incomplete or was revoked. Request a new one from the author.")
    return report


def create(session: Session, new: CreateReport) -> Report:
    """Store a new report."""
    report = Report(title=new.title, blocks=_to_json(new.blocks), project_id=resolve(session, new.project))
    session.add(report)
    _pin_replays(session, new.blocks)
    session.flush()
    return report


def edit(session: Session, report: Report, changes: EditReport) -> None:
    """Change a report. Raise Conflict if it has changed since the client read it."""
    if changes.version != report.version:
        raise Conflict(
            f"The report has changed: it is now at version {report.version}, but yours is based on version "
            f"{changes.version}. Reload it and apply your changes again."
        )
    if changes.title is not None:
        report.title = changes.title
    if changes.blocks is not None:
        report.blocks = _to_json(changes.blocks)
        _pin_replays(session, changes.blocks)
    if changes.project is not None:
        assign(session, report, changes.project)
    report.version += 1
    report.updated_at = utc_now()


def share(report: Report) -> None:
    """Create a read-only link if the report has none."""
    report.share_token = report.share_token or secrets.token_urlsafe(24)


def find_report_file(session: Session, report: Report, file_id: int) -> File:
    """Return a video or an image of this report. Raise NotFound if the report does not show this file."""
    blocks = read_blocks(report.blocks)
    replays = [block.replay for block in blocks if isinstance(block, ReplayBlock)]
    uses_file = or_(Replay.file_id == file_id, Replay.poster_file_id == file_id)
    is_shown = select(Replay.id).where(Replay.id.in_(replays), uses_file)
    file = session.get(File, file_id)
    in_text = file is not None and file.kind == "poster" and file_id in _image_files(blocks)
    if file is None or not (in_text or session.scalar(is_shown.limit(1)) is not None):
        raise NotFound(f"The report does not show file {file_id}.")
    return file


def _to_json(blocks: Sequence[AnyBlock]) -> list[dict[str, object]]:
    return [block.model_dump(mode="json") for block in blocks]


def _pin_replays(session: Session, blocks: Sequence[AnyBlock]) -> None:
    """Pin the replays that a report shows. Ignore deleted ones."""
    ids = {block.replay for block in blocks if isinstance(block, BlockOfReplay)}
    shown = or_(Replay.id.in_(ids), Replay.poster_file_id.in_(_image_files(blocks)))
    unpinned = select(Replay.id).where(shown, Replay.pinned.is_(False)).order_by(Replay.run_id, Replay.id)
    for replay_id in session.scalars(unpinned).all():
        pin(session, replay_id, True)


def _image_files(blocks: Sequence[AnyBlock]) -> set[int]:
    """Return the ids of the files that texts show as images."""
    return {file for block in blocks if isinstance(block, TextBlock) for file in image_files(block.markdown)}
