"""Reads of artifacts, and the schemas made from them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.artifacts import schemas
from arcadia_backend.artifacts.schemas import LATEST
from arcadia_backend.colors import color_of
from arcadia_backend.database.tables import (
    Artifact,
    ArtifactAlias,
    ArtifactEntry,
    ArtifactLink,
    ArtifactRole,
    ArtifactVersion,
    File,
    Project,
    Run,
)
from arcadia_backend.errors import FieldError, Invalid, NotFound
from arcadia_backend.projects.service import find_visible, in_projects
from arcadia_backend.web.lookup import hidden_runs

_NUMBER = re.compile(r"v(\d{1,9})")
_LISTED = 20


@dataclass(frozen=True)
class ArtifactQuery:
    """The artifacts to list."""

    projects: Sequence[str]
    kind: str | None
    search: str
    before: int | None
    limit: int


def list_artifacts(session: Session, query: ArtifactQuery) -> schemas.ArtifactPage:
    """Return one page of artifacts, the last changed first."""
    version = ArtifactVersion
    newest = select(version.artifact_id, func.max(version.id).label("last")).group_by(version.artifact_id).subquery()
    selected = select(Artifact, newest.c.last).join(newest, newest.c.artifact_id == Artifact.id)
    selected = selected.where(*in_projects(Artifact.project_id, query.projects))
    if query.kind is not None:
        selected = selected.where(Artifact.kind == query.kind)
    if query.search:
        selected = selected.where(func.lower(Artifact.name).contains(query.search.lower(), autoescape=True))
    if query.before is not None:
        selected = selected.where(newest.c.last < query.before)
    rows = session.execute(selected.order_by(newest.c.last.desc()).limit(query.limit + 1)).all()
    artifacts = [row[0] for row in rows[: query.limit]]
    more = len(rows) > query.limit
    items = _to_artifacts(session, artifacts)
    return schemas.ArtifactPage(items=items, next_cursor=rows[query.limit - 1].last if more else None)


def find_artifact(session: Session, artifact_id: int) -> Artifact:
    """Return an artifact. Raise NotFound if there is none."""
    artifact = session.get(Artifact, artifact_id)
    if artifact is None:
        raise NotFound(f"There is no artifact {artifact_id}.")
    return artifact


def find_version(session: Session, artifact: Artifact, number: int) -> ArtifactVersion:
    """Return a version of an artifact by its number. Raise NotFound if there is none."""
    of_number = (ArtifactVersion.artifact_id == artifact.id, ArtifactVersion.version == number)
    version = session.scalar(select(ArtifactVersion).where(*of_number))
    if version is None:
        raise NotFound(f"{artifact.name} has no version v{number}.")
    return version


def resolve_reference(session: Session, reference: str, project: str | None) -> ArtifactVersion:
    """Return the version that a reference names: name, name:alias or name:v3, after a project and / if needed."""
    path, _, alias = reference.partition(":")
    named, _, name = path.rpartition("/")
    if not name:
        message = "name an artifact, such as model, model:best or Maze/model"
        raise Invalid(FieldError(field="reference", message=message))
    project_id = find_visible(session, named or project)
    artifact = session.scalar(select(Artifact).where(Artifact.project_id == project_id, Artifact.name == name))
    if artifact is None:
        raise NotFound(_describe_missing(session, project_id, name))
    return _find_by_alias(session, artifact, alias or LATEST)


def _describe_missing(session: Session, project_id: int, name: str) -> str:
    """Return that a project has no artifact with a name, and which artifacts may be meant."""
    owner = session.scalar(select(Project.name).where(Project.id == project_id))
    same_name = select(Project.name).join(Artifact, Artifact.project_id == Project.id).where(Artifact.name == name)
    if others := session.scalars(same_name.order_by(Project.id).limit(_LISTED)).all():
        has = f"Other projects have one: {', '.join(f'{other}/{name}' for other in others)}."
    else:
        of_project = select(Artifact.name).where(Artifact.project_id == project_id)
        names = session.scalars(of_project.order_by(Artifact.name).limit(_LISTED)).all()
        has = f"It has {', '.join(names)}." if names else "It has no artifacts."
    return f"The project {owner} has no artifact {name}. {has}"


def _find_by_alias(session: Session, artifact: Artifact, alias: str) -> ArtifactVersion:
    version = ArtifactVersion
    query = select(version).where(version.artifact_id == artifact.id).order_by(version.version.desc()).limit(1)
    if number := _NUMBER.fullmatch(alias):
        query = query.where(version.version == int(number[1]))
    elif alias != LATEST:
        named = select(ArtifactAlias.version_id)
        named = named.where(ArtifactAlias.artifact_id == artifact.id, ArtifactAlias.alias == alias)
        query = query.where(version.id.in_(named))
    match = session.scalar(query)
    if match is None:
        of_artifact = select(ArtifactAlias.alias).where(ArtifactAlias.artifact_id == artifact.id)
        aliases = sorted([LATEST, *session.scalars(of_artifact)])
        raise NotFound(f"{artifact.name} has no version {alias}. Its aliases are {', '.join(aliases)}.")
    return match


def read_artifact(session: Session, artifact: Artifact) -> schemas.ArtifactDetails:
    """Return an artifact with its versions, newest first."""
    of_artifact = select(ArtifactVersion).where(ArtifactVersion.artifact_id == artifact.id)
    versions = session.scalars(of_artifact.order_by(ArtifactVersion.version.desc())).all()
    (summary,) = _to_artifacts(session, [artifact])
    return schemas.ArtifactDetails(**summary.model_dump(), versions=to_versions(session, versions))


def read_version(session: Session, version: ArtifactVersion) -> schemas.ArtifactVersionDetails:
    """Return a version with its entries and runs."""
    (shown,) = to_versions(session, [version])
    of_version = select(ArtifactEntry).where(ArtifactEntry.version_id == version.id)
    entries = sorted(session.scalars(of_version), key=lambda entry: entry.path)
    return schemas.ArtifactVersionDetails(
        **shown.model_dump(),
        entries=[
            schemas.ArtifactEntry(
                path=entry.path, bytes=entry.bytes, sha256=entry.sha256, uri=entry.uri, file_id=entry.file_id
            )
            for entry in entries
        ],
        made_by=_linked_runs(session, version, "made"),
        used_by=_linked_runs(session, version, "used"),
    )


def find_entry_file(session: Session, version: ArtifactVersion, path: str) -> File:
    """Return the stored file of an entry. Raise NotFound if there is none."""
    entry = session.get(ArtifactEntry, (version.id, path))
    if entry is None:
        raise NotFound(f"v{version.version} has no file {path[:200]}.")
    if entry.file_id is None:
        raise NotFound(f"{path[:200]} is a reference to {entry.uri}, so Arcadia does not have its content.")
    return session.get_one(File, entry.file_id)


def list_stored_files(session: Session, version: ArtifactVersion) -> list[tuple[str, str]]:
    """Return the path of each file of a version, and where it is stored."""
    query = select(ArtifactEntry.path, File.stored_path).join(File, File.id == ArtifactEntry.file_id)
    rows = session.execute(query.where(ArtifactEntry.version_id == version.id))
    return sorted((path, stored) for path, stored in rows)


def list_run_artifacts(session: Session, run: Run) -> schemas.RunArtifacts:
    """Return the versions that a run made and used."""
    return schemas.RunArtifacts(made=_of_run(session, run, "made"), used=_of_run(session, run, "used"))


def to_versions(session: Session, versions: Sequence[ArtifactVersion]) -> list[schemas.ArtifactVersion]:
    """Return the schemas of versions, which may belong to several artifacts."""
    ids = {version.artifact_id for version in versions}
    artifacts = {each.id: each for each in session.scalars(select(Artifact).where(Artifact.id.in_(ids)))}
    number = ArtifactVersion.version
    query = select(ArtifactVersion.artifact_id, func.max(number)).where(ArtifactVersion.artifact_id.in_(ids))
    newest = {row[0]: row[1] for row in session.execute(query.group_by(ArtifactVersion.artifact_id))}
    aliases: dict[int, list[str]] = {}
    for alias in session.scalars(select(ArtifactAlias).where(ArtifactAlias.artifact_id.in_(ids))):
        aliases.setdefault(alias.version_id, []).append(alias.alias)
    hidden = hidden_runs(session, (each.run_id for each in versions))
    return [
        schemas.ArtifactVersion(
            id=each.id,
            artifact_id=each.artifact_id,
            name=artifacts[each.artifact_id].name,
            project=artifacts[each.artifact_id].project,
            may_edit=artifacts[each.artifact_id].may_edit,
            kind=artifacts[each.artifact_id].kind,
            version=each.version,
            aliases=[
                *([LATEST] if newest[each.artifact_id] == each.version else []),
                *sorted(aliases.get(each.id, [])),
            ],
            digest=each.digest,
            bytes=each.bytes,
            file_count=each.file_count,
            metadata=each.details,
            step=each.step,
            created_at=each.created_at,
            run_id=None if each.run_id in hidden else each.run_id,
            run_name=None if each.run_id in hidden else each.run_name,
        )
        for each in versions
    ]


def _to_artifacts(session: Session, artifacts: Sequence[Artifact]) -> list[schemas.Artifact]:
    version = ArtifactVersion
    columns = (version.artifact_id, func.count(), func.sum(version.bytes), func.max(version.id))
    of_artifacts = version.artifact_id.in_([artifact.id for artifact in artifacts])
    rows = session.execute(select(*columns).where(of_artifacts).group_by(version.artifact_id))
    numbers = {artifact_id: (count, int(size), last) for artifact_id, count, size, last in rows}
    newest = select(version).where(version.id.in_([last for _count, _size, last in numbers.values()]))
    latest = {each.artifact_id: each for each in to_versions(session, session.scalars(newest).all())}
    return [
        schemas.Artifact(
            id=artifact.id,
            name=artifact.name,
            project=artifact.project,
            kind=artifact.kind,
            created_at=artifact.created_at,
            version_count=numbers[artifact.id][0],
            total_bytes=numbers[artifact.id][1],
            latest=latest[artifact.id],
        )
        for artifact in artifacts
    ]


def _of_run(session: Session, run: Run, role: ArtifactRole) -> list[schemas.ArtifactVersion]:
    query = select(ArtifactVersion).join(ArtifactLink, ArtifactLink.version_id == ArtifactVersion.id)
    query = query.where(ArtifactLink.run_id == run.id, ArtifactLink.role == role)
    return to_versions(session, session.scalars(query.order_by(ArtifactLink.linked_at, ArtifactVersion.id)).all())


def _linked_runs(session: Session, version: ArtifactVersion, role: ArtifactRole) -> list[schemas.LinkedRun]:
    query = select(Run).join(ArtifactLink, ArtifactLink.run_id == Run.id)
    query = query.where(ArtifactLink.version_id == version.id, ArtifactLink.role == role)
    return [
        schemas.LinkedRun(id=run.id, name=run.name, state=run.state, color=color_of(run.id), project=run.project)
        for run in session.scalars(query.order_by(Run.id))
    ]
