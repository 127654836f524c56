"""Reads of an imported run as the API answers them, before it is committed.

Columns of JSON have documents that the API parses. An archive with an invalid one must not break pages later.
"""

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.archives.opening import BadArchive
from backend.checkpoints.best import evaluation_scores
from backend.database.tables import Evaluation, Job, Run
from backend.evaluations.queries import list_by_step, with_episodes
from backend.provenance.queries import read_provenance
from backend.replays.pruning import list_replays
from backend.replays.schemas import Replay
from backend.reported.media import list_media_series
from backend.runs.queries import to_schema


def verify_readable(session: Session, run: Run) -> None:
    """Raise BadArchive if the API could not answer with what was imported."""
    session.flush()
    session.expire_all()
    try:
        to_schema(session, run)
        evaluation_scores(session, run)
        list_by_step(session, run)
        query = select(Evaluation, Job).join(Job, Job.id == Evaluation.job_id).where(Evaluation.run_id == run.id)
        for evaluation, job in session.execute(query):
            with_episodes(session, evaluation, job)
        read_provenance(session, run, None)
        for replay in list_replays(session, run):
            Replay.model_validate(replay)
        list_media_series(session, run.id)
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadArchive(f"Run {run.name[:100]!r} of the archive is not consistent: {str(error)[:300]}.") from error
