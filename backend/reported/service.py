"""Reported runs: create one, let a writer resume or join it, and find its writers."""

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.config import Settings
from backend.database.columns import utc_now
from backend.database.tables import Attempt, Run
from backend.errors import Conflict, NotFound
from backend.events.repeats import digest_of, is_other_registration
from backend.logs.service import note
from backend.projects.lookup import resolve_or_create
from backend.reported import states
from backend.reported.events import MAX_NAME, LoggedDescription
from backend.reported.problems import Omissions
from backend.reported.schemas import ReportRun
from backend.reported.values import MAX_CHOICE, change_tags, described_env, described_method, merge_config
from backend.runs.notices import announce_run
from backend.web.lookup import find_run
from workers.contract.config.problems import title_of
from workers.contract.games import env_title
from workers.contract.values import LONGEST_MESSAGE

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
    """Return the run with a key, locked."""
    return session.scalar(select(Run).where(Run.reported_key == key).with_for_update())


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
        states.hear(settings, run, attempt)
    else:
        states.lead(settings, run, attempt)
    _note_writer(session, run, attempt)
    announce_run(session, run.id, "run.changed", "run.log")
    return attempt


def _note_writer(session: Session, run: Run, attempt: Attempt) -> None:
    """Note a new writer in the log. The files of an import are writers that join it, and are not noted."""
    label, on_host = run.origin_label or "A script", f" on {attempt.host}" if attempt.host else ""
    if run.origin != "imported":
        verb = "joins the run" if attempt.joins else f"logs the run, attempt {attempt.attempt}"
        note(session, run, f"{label}{on_host} {verb}.")
    elif not attempt.joins:
        note(session, run, f"Imported from {run.origin_label or 'files'}.")
