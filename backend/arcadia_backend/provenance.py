"""Provenance of the attempts of runs: the code, packages, host and command that each was made with."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from sqlalchemy import delete, exists, or_, select, text
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Db
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import Attempt, ProvenanceDocument, Run
from arcadia_backend.errors import NotFound
from arcadia_backend.web.lookup import PathRun
from arcadia_workers.contract.provenance import Provenance, ProvenanceFacts
from arcadia_workers.contract.values import SmallCount


class AttemptSummary(BaseModel):
    """An attempt of a run, and what differs from the attempt before."""

    attempt: int
    worker: str | None = Field(description="Null for a writer of a reported run.")
    claimed_at: datetime
    recorded: bool = Field(description="False for attempts of earlier versions, and until the trainer has reported.")
    changes: list[str] = Field(
        description="Names of the facts that differ from the recorded attempt before, such as Commit or torch."
    )


class RunProvenance(BaseModel):
    """The code, packages, host and command of one attempt of a run."""

    attempt: int | None = Field(description="The requested or latest recorded attempt. Null if none is recorded.")
    provenance: Provenance | None
    attempts: list[AttemptSummary] = Field(description="All attempts, oldest first.")


TITLES = {
    "build": "Arcadia",
    "commit": "Commit",
    "branch": "Branch",
    "changes": "Uncommitted changes",
    "python": "Python",
    "host": "Host",
    "os": "Operating system",
    "cpu": "Processor",
    "cores": "Cores",
    "memory": "Memory",
    "gpus": "GPUs",
    "driver": "NVIDIA driver",
    "cuda": "CUDA",
}
PACKAGE, VARIABLE = "package:", "variable:"
# Packages whose version can change results. They are listed before others.
DECISIVE = ("torch", "numpy", "gymnasium", "ale-py", "mujoco")
NOT_INSTALLED, NOT_SET = "not installed", "not set"

Packages = Mapping[str, str]
Values = dict[str, str | int]


@dataclass(frozen=True)
class StoredProvenance:
    """The provenance of an attempt, with the hash of its diff instead of the text."""

    facts: ProvenanceFacts
    packages: Packages
    diff_sha256: str | None


def comparable_values(provenance: StoredProvenance) -> Values:
    """Return the values by field. The command is left out: it names the run's directory, so it always differs."""
    facts = provenance.facts
    values: Values = {"build": facts.build}
    if checkout := facts.checkout:
        # The build repeats the commit.
        values = {"commit": checkout.commit[:12], "branch": checkout.branch or "none"}
        untracked = len(checkout.untracked)
        parts = [f"diff {provenance.diff_sha256[:8]}"] if provenance.diff_sha256 else []
        if untracked:
            parts.append(f"{untracked:,} untracked file{'' if untracked == 1 else 's'}")
        values["changes"] = ", ".join(parts) or "none"
    values |= {"python": facts.python, "host": facts.host, "os": facts.os, "cpu": facts.cpu, "cores": facts.cores}
    values["memory"] = f"{facts.memory_bytes / 2**30:.1f} GiB"
    values["gpus"] = ", ".join(gpu.name for gpu in facts.gpus) or "none"
    values |= {name: value for name, value in (("driver", facts.driver), ("cuda", facts.cuda)) if value}
    values |= {f"{VARIABLE}{name}": value for name, value in facts.environment.items()}
    return values | {f"{PACKAGE}{name}": version for name, version in provenance.packages.items()}


def fill_gaps(values: Mapping[int, Values]) -> None:
    """Add packages that only some have as not installed, and variables as not set."""
    fields = dict.fromkeys(field for each in values.values() for field in each)
    for prefix, missing in ((PACKAGE, NOT_INSTALLED), (VARIABLE, NOT_SET)):
        for field in fields:
            if field.startswith(prefix):
                for each in values.values():
                    each.setdefault(field, missing)


def listing_order(field: str) -> int:
    """Return a sort key: facts, packages that can change results, variables, other packages."""
    if field.startswith(PACKAGE):
        return 1 if field.removeprefix(PACKAGE) in DECISIVE else 3
    return 2 if field.startswith(VARIABLE) else 0


def title_of(field: str) -> str:
    """Return the name of a field: the name of a package or variable, or the title of a fact."""
    return TITLES.get(field) or field.partition(":")[2]


def changes_between(before: StoredProvenance, after: StoredProvenance) -> list[str]:
    """Return the titles of the facts that differ."""
    values = {0: comparable_values(before), 1: comparable_values(after)}
    fill_gaps(values)
    fields = dict.fromkeys([*values[0], *values[1]])
    return [title_of(field) for field in fields if values[0].get(field) != values[1].get(field)]


def load_provenance(session: Session, run: Run, number: int | None) -> RunProvenance:
    """Return the provenance of an attempt, or of the latest recorded one. Raise NotFound for an unknown attempt."""
    attempts = session.scalars(select(Attempt).where(Attempt.run_id == run.id).order_by(Attempt.attempt)).all()
    stored = _stored(session, attempts)
    if number is None:
        number = max(stored, default=None)
    elif number not in {each.attempt for each in attempts}:
        raise NotFound(f"Run {run.id} has no attempt {number}.")
    summaries, before = [], None
    for each in (each for each in attempts if not each.joins or each.attempt in stored):
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
    return RunProvenance(
        attempt=number,
        provenance=_with_diff(session, stored[number]) if number in stored else None,
        attempts=summaries,
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


# Updating a document that exists locks it, so that no purge deletes it before this transaction ends.
_STORE = text(
    "INSERT INTO provenance_documents (sha256, content) VALUES (:sha256, :content) "
    "ON CONFLICT (sha256) DO UPDATE SET content = excluded.content"
)


def store_provenance(session: Session, attempt: Attempt, provenance: Provenance) -> None:
    """Store the provenance of an attempt. Equal diffs and equal lists of packages are stored once."""
    packages = json.dumps(provenance.packages, sort_keys=True)
    contents = {_hash_of(content): content for content in (packages, provenance.diff) if content}
    for sha256, content in sorted(contents.items()):  # in this order, so that transactions never wait in a circle
        store_document(session, sha256, content)
    attempt.provenance = provenance.model_dump(include={*ProvenanceFacts.model_fields})
    attempt.packages_sha256 = _hash_of(packages)
    attempt.diff_sha256 = _hash_of(provenance.diff) if provenance.diff else None


def store_document(session: Session, sha256: str, content: str) -> None:
    """Store a document unless it exists."""
    session.execute(_STORE, {"sha256": sha256, "content": content})


def document_hashes(session: Session, run_id: int) -> set[str]:
    """Return the hashes of the documents that a run's attempts use."""
    columns = (Attempt.packages_sha256, Attempt.diff_sha256)
    rows = session.execute(select(*columns).where(Attempt.run_id == run_id))
    return {sha256 for row in rows for sha256 in row if sha256 is not None}


def delete_unused_documents(session: Session, hashes: Collection[str]) -> None:
    """Delete those of the documents that no attempt uses any more."""
    if not hashes:
        return
    document = ProvenanceDocument
    named = document.sha256.in_(hashes)
    is_used = exists().where(or_(Attempt.packages_sha256 == document.sha256, Attempt.diff_sha256 == document.sha256))
    # Runs of other projects may use one too.
    with backend_rights(session):
        # Wait for attempts that are just starting to use one. The next statement then sees them.
        session.execute(select(document.sha256).where(named).order_by(document.sha256).with_for_update())
        session.execute(delete(document).where(named, ~is_used), execution_options={"synchronize_session": False})


def _hash_of(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


router = APIRouter(tags=["runs"])


@router.get("/runs/{run_id}/provenance")
def read_provenance(
    db: Db,
    run: PathRun,
    attempt: Annotated[
        SmallCount | None, Query(description="Number of the attempt. Default: the latest recorded one.")
    ] = None,
) -> RunProvenance:
    """Return the code, packages, host and command that an attempt of a run was made with."""
    with db.read() as session:
        return load_provenance(session, run, attempt)
