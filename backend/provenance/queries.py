"""Queries of stored provenances."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.database.tables import Attempt, ProvenanceDocument, Run
from backend.errors import NotFound
from backend.provenance.facts import Packages, StoredProvenance, changes_between
from backend.provenance.schemas import AttemptSummary, RunProvenance
from workers.contract.provenance import Provenance, ProvenanceFacts


def read_provenance(session: Session, run: Run, number: int | None) -> RunProvenance:
    """Return the provenance of an attempt, or of the latest recorded one. Raise NotFound for an unknown attempt."""
    attempts = session.scalars(select(Attempt).where(Attempt.run_id == run.id).order_by(Attempt.attempt)).all()
    stored = _stored(session, attempts)
    if number is None:
        number = max(stored, default=None)
    elif number not in {each.attempt for each in attempts}:
        raise NotFound(f"Run {run.id} has no attempt {number}.")
    return RunProvenance(
        attempt=number,
        provenance=_with_diff(session, stored[number]) if number in stored else None,
        attempts=_summaries([each for each in attempts if not each.joins or each.attempt in stored], stored),
    )


def latest_provenances(session: Session, run_ids: Collection[int]) -> dict[int, StoredProvenance]:
    """Return the provenance of each run's latest recorded attempt, in the order of the ids."""
    recorded = select(Attempt).where(Attempt.run_id.in_(run_ids), Attempt.packages_sha256.is_not(None))
    latest = {each.run_id: each for each in session.scalars(recorded.order_by(Attempt.attempt))}
    packages = _packages(session, latest.values())
    return {run_id: _to_stored(latest[run_id], packages) for run_id in run_ids if run_id in latest}


def _stored(session: Session, attempts: Iterable[Attempt]) -> dict[int, StoredProvenance]:
    """Return the provenances of one run's attempts by number."""
    recorded = {each.attempt: each for each in attempts if each.packages_sha256 is not None}
    packages = _packages(session, recorded.values())
    return {number: _to_stored(attempt, packages) for number, attempt in recorded.items()}


def _to_stored(attempt: Attempt, packages: Mapping[str, Packages]) -> StoredProvenance:
    facts = ProvenanceFacts.model_validate(attempt.provenance)
    return StoredProvenance(facts, packages[attempt.packages_sha256 or ""], attempt.diff_sha256)


def _packages(session: Session, attempts: Iterable[Attempt]) -> dict[str, Packages]:
    """Return the lists of packages of attempts by hash."""
    hashes = {each.packages_sha256 for each in attempts}
    document = ProvenanceDocument
    rows = session.execute(select(document.sha256, document.content).where(document.sha256.in_(hashes)))
    return {sha256: json.loads(content) for sha256, content in rows}


def _with_diff(session: Session, stored: StoredProvenance) -> Provenance:
    diff = session.get_one(ProvenanceDocument, stored.diff_sha256).content if stored.diff_sha256 else ""
    return Provenance(**stored.facts.model_dump(), packages=dict(stored.packages), diff=diff)


def _summaries(attempts: Sequence[Attempt], stored: Mapping[int, StoredProvenance]) -> list[AttemptSummary]:
    summaries, before = [], None
    for each in attempts:
        recorded = stored.get(each.attempt)
        changes: list[str] = changes_between(before, recorded) if before and recorded else []
        summaries.append(
            AttemptSummary(
                attempt=each.attempt,
                worker=each.worker,
                claimed_at=each.claimed_at,
                recorded=recorded is not None,
                changes=changes,
            )
        )
        before = recorded or before
    return summaries
