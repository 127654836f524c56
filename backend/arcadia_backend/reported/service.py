"""Reported runs: create one, let a writer resume or join it, change its state, and recognize its media files."""

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import case, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arcadia_backend.alerts.service import raise_run_end
from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import Attempt, Run
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.events import digest_of, is_other_registration, to_datetime
from arcadia_backend.logs import note
from arcadia_backend.projects.service import resolve_or_create
from arcadia_backend.reported.events import (
    MAX_CHOICE,
    MAX_NAME,
    LoggedDescription,
    LoggedEnd,
    Omissions,
    change_tags,
    described_env,
    described_method,
    merge_config,
)
from arcadia_backend.reported.schemas import ReportRun
from arcadia_backend.runs.states import announce_run
from arcadia_backend.web.lookup import find_run
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.games import env_title
from arcadia_workers.contract.values import LONGEST_MESSAGE
from arcadia_workers.contract.worker_api import ENDED

_SENTENCES = {"finished": "Finished.", "stopped": "Stopped.", "paused": "Paused."}
KILLED = "The script ended without finishing the run. It was probably killed; its output may say why."
_DEFAULT_FAILURE = "The script failed without an error message."


def lead(settings: Settings, run: Run, attempt: Attempt) -> None:
    """Let a new writer lead the run, which runs again."""
    run.attempt, run.desired = attempt.attempt, "run"
    _run(settings, run)


def hear(settings: Settings, run: Run, attempt: Attempt) -> bool:
    """Record that a writer was heard. Return True if a run that failed by silence runs again."""
    if run.state == "running":
        run.lease_expires_at = _silence_ends(settings)
        return False
    if run.lease_expires_at is None or not (attempt.joins or attempt.attempt == run.attempt):
        return False
    attempt.outcome = attempt.ended_at = attempt.failure_message = None
    _run(settings, run)
    return True


def end(session: Session, run: Run, attempt: Attempt, event: LoggedEnd) -> None:
    """End an attempt. The run gets the outcome if the attempt leads it."""
    attempt.ended_at = to_datetime(event.time)
    attempt.outcome = "stopped" if event.outcome == "paused" else event.outcome
    has_failed = event.outcome == "failed"
    # An earlier end may have been reported by mistake, as for a script that was taken for killed.
    attempt.failure_message = (event.message or _DEFAULT_FAILURE) if has_failed else None
    attempt.failure_traceback = event.traceback if has_failed else None
    if attempt.attempt != run.attempt:
        return
    run.state, run.state_reason, run.lease_expires_at = event.outcome, None, None
    run.finished_at = attempt.ended_at if event.outcome in ENDED else None
    run.failure_message, run.failure_traceback = attempt.failure_message, attempt.failure_traceback
    if has_failed:
        run.state_reason = run.failure_message
        note(session, run, f"Failed: {run.failure_message}", "error")
    else:
        note(session, run, " ".join(part for part in (_SENTENCES[event.outcome], event.message) if part))
    raise_run_end(session, run)
    announce_run(session, run.id, "run.log")


def end_killed(session: Session, run: Run, attempt: Attempt, time: float) -> None:
    """End the attempt of a script that ended without an `end` event. A repeated call changes nothing.

    This is not an event of the script. If more of its events arrive, it was not killed, and the run continues.
    """
    if attempt.outcome not in (None, "lost") or attempt.failure_message == KILLED:
        return
    attempt.outcome, attempt.ended_at, attempt.failure_message = "lost", to_datetime(time), KILLED
    if attempt.attempt != run.attempt:
        return
    is_news = run.state == "running"
    run.state, run.state_reason, run.failure_message = "failed", KILLED, KILLED
    run.finished_at = attempt.ended_at
    note(session, run, f"Failed: {KILLED}", "error")
    if is_news:
        raise_run_end(session, run)
    announce_run(session, run.id, "run.changed", "run.log")


def fail_silent(session: Session, settings: Settings, run: Run) -> None:
    """Fail a run whose script is silent. Keep its lease, which marks that the script may still continue."""
    attempt = session.get_one(Attempt, (run.id, run.attempt))
    attempt.outcome, attempt.ended_at = "lost", utc_now()
    message = f"Nothing was heard from its script for {_duration(settings.reported_silence_seconds)}."
    run.state, run.state_reason, run.failure_message = "failed", message, message
    run.finished_at = attempt.ended_at
    note(session, run, f"Failed: {message}", "error")
    raise_run_end(session, run)
    announce_run(session, run.id, "run.changed", "run.log")


def _run(settings: Settings, run: Run) -> None:
    run.state, run.state_reason, run.finished_at, run.archived_at = "running", None, None, None
    run.failure_message = run.failure_traceback = None
    run.lease_expires_at = _silence_ends(settings)


def _silence_ends(settings: Settings) -> datetime:
    return utc_now() + timedelta(seconds=settings.reported_silence_seconds)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:g} seconds"
    return f"{seconds / 60:.3g} minutes"


# A script that is started again with the same writer may require that the run exists.
_UNCOMPARED = {"resume"}


def report(session: Session, settings: Settings, request: ReportRun) -> tuple[Run, Attempt, bool]:
    """Return the run of a key, the attempt of the writer, and whether the run is new. A repeated call adds nothing."""
    run = _find(session, request.key)
    attempt = _find_attempt(session, run, request.writer) if run else None
    if run is not None and attempt is not None:
        _compare_registration(session, run, attempt, request)
        return run, attempt, False
    if run is None and request.resume == "must":
        message = f"There is no run with the key {request.key}. Use resume='allow' to create it, or another key."
        raise NotFound(message)
    if run is not None and request.resume == "never":
        message = f"Run {run.id} has the key {request.key}. Use resume='allow' to continue it, or another key."
        raise Conflict(message)
    created = None if run is not None else _create(session, request)
    run = run or created or _find(session, request.key)
    if run is None:
        with backend_rights(session):
            is_hidden = _find(session, request.key) is not None
        if is_hidden:
            raise Conflict(f"You have no access any more to your run with the key {request.key}. Use another key.")
        raise Conflict(f"The run with the key {request.key} was deleted at the same time. Send the request again.")
    # Another transaction may have added this writer before.
    attempt = _find_attempt(session, run, request.writer) or _add_writer(session, settings, run, request)
    return run, attempt, created is not None


def describe(session: Session, run: Run, described: LoggedDescription) -> None:
    """Change the name, project, method or environment of a run. Empty texts change nothing."""
    run.name = (described.name or "").strip()[:MAX_NAME].strip() or run.name
    run.algorithm = (described.method or "").strip()[:MAX_CHOICE].strip() or run.algorithm
    run.env = (described.env or "").strip()[:MAX_CHOICE].strip() or run.env
    if project := (described.project or "").strip()[:MAX_CHOICE].strip():
        run.project_id = resolve_or_create(session, project)


def find_writer(session: Session, run_id: int, writer: str, *, lock: bool = False) -> tuple[Run, Attempt]:
    """Return a reported run and the attempt of a writer. Raise Conflict or NotFound if it has no such writer."""
    run = find_run(session, run_id, lock=lock)
    if run.reported_key is None:
        reason = "is trained by Arcadia" if run.origin == "trained" else "was imported from an archive"
        raise Conflict(f"Run {run_id} {reason}, so no script logs it. Create a new run with POST /reported/runs.")
    attempt = _find_attempt(session, run, writer)
    if attempt is None:
        raise NotFound(f"Run {run_id} has no writer {writer}. Add it with POST /reported/runs first.")
    return run, attempt


def _find(session: Session, key: str) -> Run | None:
    """Return the run with a key, locked. If several people have used the key, prefer the caller's own run."""
    is_own = case((Run.person_id == current().person_id, 0), else_=1)
    query = select(Run).where(Run.reported_key == key).order_by(is_own, Run.id).limit(1)
    return session.scalar(query.with_for_update())


def _compare_registration(session: Session, run: Run, attempt: Attempt, request: ReportRun) -> None:
    """Keep the values of a repeated registration in the run's log if they differ from those of the first one."""
    if is_other_registration(session, attempt, _digest_of(request)):
        values = request.model_dump_json(exclude_unset=True, exclude=_UNCOMPARED)
        sentence = f"The writer {attempt.writer} was registered again with other values, which are not used: {values}"
        note(session, run, sentence[:LONGEST_MESSAGE], "warning")
        announce_run(session, run.id, "run.changed", "run.log")


def _digest_of(request: ReportRun) -> bytes:
    return digest_of(request.model_dump(mode="json", exclude_unset=True, exclude=_UNCOMPARED))


def _find_attempt(session: Session, run: Run, writer: str) -> Attempt | None:
    return session.scalar(select(Attempt).where(Attempt.run_id == run.id, Attempt.writer == writer))


def _create(session: Session, request: ReportRun) -> Run | None:
    """Add a run. Return None if another transaction has just added one with this key."""
    run = Run(
        name=request.name or _default_name(request),
        origin=request.origin,
        origin_label=request.origin_label,
        reported_key=request.key,
        project_id=resolve_or_create(session, request.project),
        algorithm=request.method or described_method(request.config),
        env=request.env or described_env(request.config),
        queue=None,
        queued_at=None,
        config={},
        notes="",
        state="running",
        started_at=request.started_at or utc_now(),
        total_steps=None,
        tags=[],
    )
    savepoint = session.begin_nested()
    try:
        session.add(run)
        session.flush()
    except IntegrityError:
        savepoint.rollback()
        return None
    savepoint.commit()
    return run


def _default_name(request: ReportRun) -> str:
    method = request.method or described_method(request.config)
    env = request.env or described_env(request.config)
    named = " on ".join(part for part in (title_of(method), env_title(env)) if part)
    return named or request.project or f"Run {request.key}"


def _add_writer(session: Session, settings: Settings, run: Run, request: ReportRun) -> Attempt:
    number = session.scalar(select(func.max(Attempt.attempt)).where(Attempt.run_id == run.id)) or 0
    # An import that continues a finished one only adds what is new.
    is_repeated_import = request.origin == "imported" and run.state == "finished"
    attempt = Attempt(
        run_id=run.id,
        attempt=number + 1,
        writer=request.writer,
        joins=number > 0 and (request.joins or is_repeated_import),
        started_at=request.started_at or utc_now(),
        host=request.host,
    )
    session.add(attempt)
    session.flush()
    is_other_registration(session, attempt, _digest_of(request))
    omissions = Omissions(session, attempt)
    run.algorithm = run.algorithm or request.method or ""
    run.env = run.env or request.env or ""
    merge_config(run, request.config, omissions)
    change_tags(run, request.tags, [], omissions)
    run.total_steps = request.total_steps or run.total_steps
    run.notes = request.notes or run.notes
    run.command = request.command or run.command
    if attempt.joins:
        hear(settings, run, attempt)
    else:
        lead(settings, run, attempt)
    # Note a new writer in the log. The files of an import are writers that join it, and are not noted.
    label, on_host = run.origin_label or "A script", f" on {attempt.host}" if attempt.host else ""
    if run.origin != "imported":
        verb = "joins the run" if attempt.joins else f"logs the run, attempt {attempt.attempt}"
        note(session, run, f"{label}{on_host} {verb}.")
    elif not attempt.joins:
        note(session, run, f"Imported from {run.origin_label or 'files'}.")
    announce_run(session, run.id, "run.changed", "run.log")
    return attempt


HEAD_BYTES = 64


def media_suffix(received: Path) -> str:
    """Return the suffix of a received file by its content. Raise Invalid if it is not an image or a video."""
    with received.open("rb") as file:
        head = file.read(HEAD_BYTES)
    suffix = _suffix_of(head)
    if suffix is None:
        raise Invalid(FieldError(field="body", message="send a PNG, JPEG, GIF, WebP, MP4 or WebM file"))
    return suffix


def _suffix_of(head: bytes) -> str | None:
    for magic, suffix in (
        (b"\x89PNG\r\n\x1a\n", ".png"),
        (b"\xff\xd8\xff", ".jpg"),
        (b"GIF87a", ".gif"),
        (b"GIF89a", ".gif"),
    ):
        if head.startswith(magic):
            return suffix
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    if head[4:8] == b"ftyp":
        return ".mp4"
    # Matroska has the same magic number, but another document type.
    return ".webm" if head.startswith(b"\x1a\x45\xdf\xa3") and b"webm" in head else None
