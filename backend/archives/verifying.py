"""Reads of an imported run or study as the API returns it, before it is committed.

Columns of JSON have documents that the API parses. An archive with an invalid one must not break pages later.
"""

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.opening import BadArchive
from backend.calibrations import queries as calibrations
from backend.checkpoints.best import evaluation_scores
from backend.database.tables import Calibration, Evaluation, Job, Run, Study
from backend.evaluations.queries import list_by_step, with_episodes
from backend.provenance.queries import read_provenance
from backend.replays.players import with_actions
from backend.replays.pruning import list_replays
from backend.reported.media import list_media_series
from backend.runs.queries import to_schema
from backend.studies import queries as studies

_UNREADABLE = (ValidationError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def verify_study(session: Session, study: Study) -> None:
    """Raise BadArchive if the API could not return an imported study."""
    session.flush()
    try:
        studies.to_schema(session, study)
    except _UNREADABLE as error:
        raise BadArchive(f"Study {study.name[:100]!r} of the archive is not consistent: {str(error)[:300]}.") from error


def verify_run(session: Session, run: Run) -> None:
    """Raise BadArchive if the API could not return an imported run."""
    session.flush()
    session.expire_all()
    try:
        to_schema(session, run)
        evaluation_scores(session, run)
        list_by_step(session, run)
        query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id).where(Evaluation.run_id == run.id)
        for evaluation, job in session.execute(query):
            with_episodes(session, evaluation, job)
        judged = select(Calibration, Job).join(Job, Job.id == Calibration.job_id).where(Calibration.run_id == run.id)
        for calibration, job in session.execute(judged):
            calibrations.with_document(session, calibration, job)
        read_provenance(session, run, None)
        with_actions(session, run, list_replays(session, run))
        list_media_series(session, run.id)
    except _UNREADABLE as error:
        raise BadArchive(f"Run {run.name[:100]!r} of the archive is not consistent: {str(error)[:300]}.") from error
