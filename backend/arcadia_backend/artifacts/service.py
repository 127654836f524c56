"""Changes of artifacts. Every function works inside the caller's transaction.

Files are stored once by content, for all projects. A lock makes changes take turns, because storing and deleting a
file both look for other entries that have it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from arcadia_backend.artifacts.schemas import LATEST, ManifestEntry, NewVersion, is_settable
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, after_commit
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import (
    Artifact,
    ArtifactAlias,
    ArtifactEntry,
    ArtifactLink,
    ArtifactRole,
    ArtifactVersion,
    File,
    IdempotencyKey,
    Installation,
    Run,
)
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.files.service import delete_files
from arcadia_backend.live.notices import publish
from arcadia_backend.projects.service import project_of

# A script uploads files before the event that names them. If it dies between the two, they are deleted this much later.
UNUSED_KEPT = timedelta(days=1)
MAX_ALIASES = 100
_BATCH = 500


class NotUploadedError(ValueError):
    """A version names a file that was not uploaded."""


@dataclass(frozen=True)
class StoredVersion:
    """A version that a script logged. `refused` are aliases that it cannot have."""

    version: ArtifactVersion
    is_new: bool
    refused: list[str]


def lock_artifacts(session: Session) -> None:
    """Wait until no other transaction changes artifacts. Call it before anything else of artifacts is locked."""
    session.get(Installation, 1, with_for_update=True, populate_existing=True)


def find_stored(session: Session, run_id: int, sha256: str) -> File | None:
    """Return the file of an artifact by its content, or None if the script has to send it."""
    return _find_files_of(session, run_id, [sha256]).get(sha256)


def find_received(session: Session, run_id: int, sha256: str) -> File | None:
    """Return the file with a content that a script of the run has just sent, or None if it is new.

    The script may then name it, although only artifacts of other projects may have it.
    """
    if not current().everything:
        session.execute(delete(IdempotencyKey).where(IdempotencyKey.key == _proof(run_id, sha256)))
        session.add(IdempotencyKey(key=_proof(run_id, sha256), fingerprint=sha256, response=""))
        session.flush()
    with backend_rights(session):
        return session.scalar(select(File).where(File.kind == "artifact", File.sha256 == sha256))


def _proof(run_id: int, sha256: str) -> str:
    """Return the key under which the server remembers for a day that a run's script has a content."""
    return f"artifact file of run {run_id}: {sha256}"


def _find_files_of(session: Session, run_id: int, hashes: Sequence[str]) -> dict[str, File]:
    """Return those files by their contents that are visible, or that a script of the run has sent."""
    named = (File.kind == "artifact", File.sha256.in_(hashes))
    files = {file.sha256: file for file in session.scalars(select(File).where(*named))}
    if current().everything or len(files) == len(hashes):
        return files
    keys = [_proof(run_id, sha256) for sha256 in hashes]
    # A request cannot forge a proof: the fingerprint of its own key is a hash of the request.
    sent = select(IdempotencyKey.fingerprint).where(IdempotencyKey.key.in_(keys))
    proven = [sha256 for sha256 in session.scalars(sent) if sha256 in hashes]
    with backend_rights(session):
        stored = session.scalars(select(File).where(File.kind == "artifact", File.sha256.in_(proven)))
        return files | {file.sha256: file for file in stored}


def list_missing(session: Session, hashes: Sequence[str]) -> list[str]:
    """Return the hashes of files that are not stored. The stored ones are kept for the event that will name them."""
    lock_artifacts(session)
    stored: set[str] = set()
    for start in range(0, len(hashes), _BATCH):
        named = (File.kind == "artifact", File.sha256.in_(hashes[start : start + _BATCH]))
        stored.update(session.scalars(select(File.sha256).where(*named)))
        session.execute(update(File).where(*named).values(created_at=utc_now()))
    return [each for each in dict.fromkeys(hashes) if each not in stored]


def store_version(session: Session, run: Run, new: NewVersion) -> StoredVersion:
    """Store a version that a run made.

    If the newest version has the same contents, it gets the aliases and the metadata, and the run made it too. Raise
    NotUploadedError if a file was not uploaded.
    """
    lock_artifacts(session)
    hashes = list(dict.fromkeys(entry.sha256 for entry in new.entries if entry.sha256))
    files: dict[str, File] = {}
    for start in range(0, len(hashes), _BATCH):
        files |= _find_files_of(session, run.id, hashes[start : start + _BATCH])
    for entry in new.entries:
        if entry.sha256 and entry.sha256 not in files:
            raise NotUploadedError(f"its file {entry.path} was not uploaded before")

    project_id = project_of(session, run)
    # The lock on the files also keeps two scripts from creating an artifact twice.
    of_name = (Artifact.project_id == project_id, Artifact.name == new.name)
    artifact = session.scalar(select(Artifact).where(*of_name).execution_options(populate_existing=True))
    if artifact is None:
        artifact = Artifact(project_id=project_id, name=new.name, kind=new.kind)
        session.add(artifact)
        session.flush()

    newest = _newest(session, artifact.id)
    digest = digest_of(new.entries)
    is_new = newest is None or newest.digest != digest
    version = _add(session, artifact, run, new, files) if is_new or newest is None else newest
    if not is_new and new.metadata:
        version.details = {**version.details, **new.metadata}
    refused = []
    for alias in dict.fromkeys(new.aliases):
        try:
            if alias != LATEST:
                set_alias(session, artifact, alias, version)
        except Invalid:
            refused.append(alias)
    link(session, run.id, version.id, "made")
    return StoredVersion(version, is_new, refused)


def digest_of(entries: Sequence[ManifestEntry]) -> str:
    """Return the hash of the paths and contents of entries, in any order."""
    lines = sorted(f"{entry.path}\0{entry.sha256 or entry.uri}\n" for entry in entries)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def link(session: Session, run_id: int, version_id: int, role: ArtifactRole) -> None:
    """Store that a run made or used a version, once."""
    if session.get(ArtifactLink, (run_id, version_id, role)) is None:
        session.add(ArtifactLink(run_id=run_id, version_id=version_id, role=role))
        session.flush()
    version = session.get_one(ArtifactVersion, version_id)
    announce(session, session.get_one(Artifact, version.artifact_id).project_id)


def set_alias(session: Session, artifact: Artifact, alias: str, version: ArtifactVersion) -> None:
    """Give an alias to a version. The version that had it loses it. Raise Invalid if it cannot be set."""
    if not is_settable(alias):
        hint = f"{alias} is set automatically" if alias == LATEST else f"{alias} cannot be an alias"
        raise Invalid(FieldError(field="alias", message=f"{hint}; use another name, such as best"))
    current = session.get(ArtifactAlias, (artifact.id, alias))
    if current is not None:
        current.version_id = version.id
    else:
        count = select(func.count()).select_from(ArtifactAlias).where(ArtifactAlias.artifact_id == artifact.id)
        if (session.scalar(count) or 0) >= MAX_ALIASES:
            raise Invalid(FieldError(field="alias", message=f"an artifact has at most {MAX_ALIASES} aliases"))
        session.add(ArtifactAlias(artifact_id=artifact.id, alias=alias, version_id=version.id))
    session.flush()
    announce(session, artifact.project_id)


def remove_alias(session: Session, artifact: Artifact, alias: str) -> None:
    """Remove an alias. Raise NotFound if the artifact does not have it."""
    current = session.get(ArtifactAlias, (artifact.id, alias))
    if current is None:
        raise NotFound(f"{artifact.name} has no alias {alias} that can be removed.")
    session.delete(current)
    session.flush()
    announce(session, artifact.project_id)


def delete_version(session: Session, artifact: Artifact, version: ArtifactVersion) -> None:
    """Delete a version, and the files that no other version has. Delete the artifact with its last version."""
    lock_artifacts(session)
    files = session.scalars(select(ArtifactEntry.file_id).where(ArtifactEntry.version_id == version.id)).all()
    session.delete(version)
    session.flush()
    if _newest(session, artifact.id) is None:
        session.delete(artifact)
        session.flush()
    _delete_unused(session, [file_id for file_id in dict.fromkeys(files) if file_id is not None])
    announce(session, artifact.project_id)


def delete_artifact(session: Session, artifact: Artifact) -> None:
    """Delete an artifact with all versions."""
    versions = select(ArtifactVersion).where(ArtifactVersion.artifact_id == artifact.id)
    for version in session.scalars(versions).all():
        delete_version(session, artifact, version)


def delete_unused_files(database: Database, now: datetime) -> None:
    """Delete files whose event never arrived, because their script or its upload ended before."""
    used = select(ArtifactEntry.version_id).where(ArtifactEntry.file_id == File.id).exists()
    old = select(File.id).where(File.kind == "artifact", File.created_at < now - UNUSED_KEPT, ~used).limit(_BATCH)
    with database.read() as session:
        if session.scalar(old) is None:
            return
    with database.write() as session:
        lock_artifacts(session)
        delete_files(session, session.scalars(old).all())


def announce(session: Session, project_id: int) -> None:
    """Notify open pages after the commit that artifacts of a project changed."""
    after_commit(session, lambda: publish("artifacts.changed", {"project_id": project_id}))


def _newest(session: Session, artifact_id: int) -> ArtifactVersion | None:
    query = select(ArtifactVersion).where(ArtifactVersion.artifact_id == artifact_id)
    return session.scalar(query.order_by(ArtifactVersion.version.desc()).limit(1))


def _add(session: Session, artifact: Artifact, run: Run, new: NewVersion, files: dict[str, File]) -> ArtifactVersion:
    sizes = [files[entry.sha256].bytes if entry.sha256 else entry.bytes for entry in new.entries]
    version = ArtifactVersion(
        artifact_id=artifact.id,
        version=artifact.next_version,
        digest=digest_of(new.entries),
        bytes=sum(size for size, entry in zip(sizes, new.entries, strict=True) if entry.sha256),
        file_count=len(new.entries),
        details=new.metadata,
        run_id=run.id,
        run_name=run.name,
        step=new.step,
    )
    artifact.next_version += 1
    session.add(version)
    session.flush()
    session.add_all(
        ArtifactEntry(
            version_id=version.id,
            path=entry.path,
            bytes=size,
            file_id=files[entry.sha256].id if entry.sha256 else None,
            sha256=entry.sha256,
            uri=entry.uri,
        )
        for entry, size in zip(new.entries, sizes, strict=True)
    )
    session.flush()
    return version


def _delete_unused(session: Session, file_ids: Sequence[int]) -> None:
    """Delete those of some files that no entry has."""
    for start in range(0, len(file_ids), _BATCH):
        batch = file_ids[start : start + _BATCH]
        with backend_rights(session):
            # Artifacts of other projects may have the file too.
            used = set(session.scalars(select(ArtifactEntry.file_id).where(ArtifactEntry.file_id.in_(batch))))
            delete_files(session, [each for each in batch if each not in used])
