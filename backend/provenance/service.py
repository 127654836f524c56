"""Storage of provenances. Functions run in the caller's transaction."""

import hashlib
import json
from collections.abc import Collection

from sqlalchemy import delete, exists, or_, select, text
from sqlalchemy.orm import Session

from backend.database.tables import Attempt, ProvenanceDocument
from workers.contract.provenance import Provenance, ProvenanceFacts

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
    # Wait for attempts that are just starting to use one. The next statement then sees them.
    session.execute(
        select(document.sha256).where(document.sha256.in_(hashes)).order_by(document.sha256).with_for_update()
    )
    is_used = exists().where(or_(Attempt.packages_sha256 == document.sha256, Attempt.diff_sha256 == document.sha256))
    session.execute(
        delete(document).where(document.sha256.in_(hashes), ~is_used), execution_options={"synchronize_session": False}
    )


def _hash_of(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
