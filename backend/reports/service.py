"""Reports in the database; every function works inside the caller's transaction."""

import secrets
from collections.abc import Sequence

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from backend.database.columns import utc_now
from backend.database.tables import File, Replay, Report
from backend.errors import Conflict, NotFound
from backend.replays.service import pin
from backend.reports.blocks import AnyBlock, ReplayBlock, TextBlock, read_blocks
from backend.reports.markdown import image_files
from backend.reports.schemas import CreateReport, EditReport, ReportSummary


def listed(session: Session) -> list[ReportSummary]:
    """All reports, the one changed last first."""
    return [
        ReportSummary(
            id=report.id,
            title=report.title,
            blocks=len(report.blocks),
            shared=report.share_token is not None,
            created_at=report.created_at,
            updated_at=report.updated_at,
        )
        for report in session.scalars(select(Report).order_by(Report.updated_at.desc(), Report.id.desc()))
    ]


def find_report(session: Session, report_id: int, *, lock: bool = False) -> Report:
    """The report, or a problem that says there is none."""
    report = session.get(Report, report_id, with_for_update=True if lock else None)
    if report is None:
        raise NotFound(f"There is no report {report_id}.")
    return report


def find_shared(session: Session, token: str) -> Report:
    """The report that a link opens, or a problem that says it opens none."""
    report = session.scalar(select(Report).where(Report.share_token == token))
    if report is None:
        raise NotFound("This link opens no report: it was revoked, or is not whole. Ask for a new one.")
    return report


def create(session: Session, asked: CreateReport) -> Report:
    """Store a new report."""
    report = Report(title=asked.title, blocks=_stored(asked.blocks))
    session.add(report)
    _pin_replays(session, asked.blocks)
    session.flush()
    return report


def edit(session: Session, report: Report, changes: EditReport) -> None:
    """Change a report, unless it was changed since it was read."""
    if changes.version != report.version:
        raise Conflict(
            f"The report was changed meanwhile: this is version {report.version}, and yours began with "
            f"{changes.version}. Read it again, then change it."
        )
    if changes.title is not None:
        report.title = changes.title
    if changes.blocks is not None:
        report.blocks = _stored(changes.blocks)
        _pin_replays(session, changes.blocks)
    report.version += 1
    report.updated_at = utc_now()


def share(report: Report) -> None:
    """Make a link, where there is none."""
    report.share_token = report.share_token or secrets.token_urlsafe(24)


def shown_file(session: Session, report: Report, file_id: int) -> File:
    """Return a film or a picture that this report shows. Raise NotFound if it shows none of that number."""
    blocks = read_blocks(report.blocks)
    replays = [block.video for block in blocks if isinstance(block, ReplayBlock)]
    uses_file = or_(Replay.file_id == file_id, Replay.poster_file_id == file_id)
    of_it = select(Replay.id).where(Replay.id.in_(replays), uses_file)
    file = session.get(File, file_id)
    in_text = file is not None and file.kind == "poster" and file_id in _images(blocks)
    if file is None or not (in_text or session.scalar(of_it.limit(1)) is not None):
        raise NotFound(f"The report shows no file {file_id}.")
    return file


def _stored(blocks: Sequence[AnyBlock]) -> list[dict[str, object]]:
    return [block.model_dump(mode="json") for block in blocks]


def _pin_replays(session: Session, blocks: Sequence[AnyBlock]) -> None:
    """Keep the replays that a report shows; one that is gone already leaves its sentence there."""
    named = {block.video for block in blocks if isinstance(block, ReplayBlock)}
    shown = or_(Replay.id.in_(named), Replay.poster_file_id.in_(_images(blocks)))
    loose = select(Replay.id).where(shown, Replay.pinned.is_(False)).order_by(Replay.run_id, Replay.id)
    for replay_id in session.scalars(loose).all():
        pin(session, replay_id, True)


def _images(blocks: Sequence[AnyBlock]) -> set[int]:
    """Return the numbers of the files that texts name, to show them as images."""
    return {file for block in blocks if isinstance(block, TextBlock) for file in image_files(block.markdown)}
