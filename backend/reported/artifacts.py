"""Artifacts of reported runs: events that log and use versions."""

from sqlalchemy.orm import Session

from backend.artifacts import service
from backend.artifacts.schemas import NewVersion
from backend.database.tables import Artifact, ArtifactVersion, Run
from backend.logs.service import note
from backend.reported.events import LoggedArtifact, UsedArtifact
from backend.reported.problems import Omissions
from backend.reported.values import quote, to_storable

ArtifactEvent = LoggedArtifact | UsedArtifact
# The client sends this for scripts that name no kind.
_UNNAMED_KIND = "file"


def store_event(session: Session, run: Run, event: ArtifactEvent, omissions: Omissions) -> None:
    """Store that a run logged or used a version."""
    if isinstance(event, LoggedArtifact):
        _store_logged(session, run, event.artifact, omissions)
    else:
        _store_used(session, run, event, omissions)


def _store_logged(session: Session, run: Run, new: NewVersion, omissions: Omissions) -> None:
    """Store a version that a run logged. Leave it out with a warning if a file of it is missing."""
    new.metadata = to_storable(new.metadata)
    try:
        stored = service.store_version(session, run, new)
    except service.NotUploadedError as error:
        omissions.add(f"artifact {new.name[:50]}", f"Left out the artifact {quote(new.name)}: {error}.")
        return
    for alias in stored.refused:
        omissions.add("alias", f"Left out the alias {quote(alias)} of {new.name}. Use letters, digits, dots, - and _.")
    kept = session.get_one(Artifact, stored.version.artifact_id).kind
    if new.kind not in (kept, _UNNAMED_KIND):
        message = f"Left out the kind {quote(new.kind)}: the artifact {new.name} is of the kind {quote(kept)}."
        omissions.add(f"kind {new.name[:50]}", message)
    title = f"{new.name}:v{stored.version.version}"
    same = "" if stored.is_new else ", which has the same contents"
    note(session, run, f"Logged the artifact {title}{same}.")


def _store_used(session: Session, run: Run, event: UsedArtifact, omissions: Omissions) -> None:
    """Store that a run used a version. Leave it out if it was deleted, or belongs to another server."""
    version = session.get(ArtifactVersion, event.version_id)
    if version is None or version.digest != event.digest:
        omissions.add("artifact_use", "Left out the use of an artifact that this server does not have.")
        return
    service.link(session, run.id, version.id, "used")
    artifact = session.get_one(Artifact, version.artifact_id)
    note(session, run, f"Used the artifact {artifact.name}:v{version.version}.")
