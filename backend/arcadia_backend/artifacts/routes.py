"""/artifacts: list, read and download versions, set aliases, and delete versions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import StreamingResponse

from arcadia_backend.artifacts import queries, schemas, service
from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Db
from arcadia_backend.errors import NotFound
from arcadia_backend.files.routes import download
from arcadia_backend.files.storage import BLOCK_BYTES, stored_path
from arcadia_backend.files.zip_files import ZipStream, read_blocks
from arcadia_backend.projects.schemas import ProjectName, Projects
from arcadia_backend.web.lookup import PathId, PathRun
from arcadia_workers.contract.values import Id, ShortText, Text

router = APIRouter(tags=["artifacts"])

Version = Annotated[int, PathParameter(ge=0, le=2**31 - 1, description="Number of the version: 3 for v3.")]
Alias = Annotated[schemas.AliasName, PathParameter()]


@router.get("/artifacts")
def list_artifacts(
    db: Db,
    project: Projects = [],  # noqa: B006 - FastAPI copies it
    kind: Annotated[ShortText | None, Query(description="Only of this kind, such as model.")] = None,
    search: Annotated[Text, Query(max_length=128, description="Text in the name.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    before: Annotated[Id | None, Query(description="The next_cursor of the previous page.")] = None,
) -> schemas.ArtifactPage:
    """List artifacts with their newest versions, the last changed first."""
    with db.read() as session:
        return queries.list_artifacts(session, queries.ArtifactQuery(project, kind, search, before, limit))


@router.get("/artifacts/resolve")
def resolve_artifact(
    db: Db,
    reference: Annotated[
        Text,
        Query(
            max_length=400,
            description="Such as model, model:best or Main/model:v3.",
            # The error of `resolve_reference` is easier to understand than that of a pattern.
            json_schema_extra={"pattern": "^([^:]*/)?[^:/]+(:.*)?$"},
        ),
    ],
    project: Annotated[
        ProjectName | None, Query(description="Project of a reference that names none. Default: Main.")
    ] = None,
) -> schemas.ArtifactVersionDetails:
    """Return the version that a reference names. Without an alias it is the newest one."""
    with db.read() as session:
        return queries.read_version(session, queries.resolve_reference(session, reference, project))


@router.get("/artifacts/{artifact_id}")
def read_artifact(db: Db, artifact_id: PathId) -> schemas.ArtifactDetails:
    """Return an artifact with its versions, newest first."""
    with db.read() as session:
        return queries.read_artifact(session, queries.find_artifact(session, artifact_id))


@router.delete("/artifacts/{artifact_id}", status_code=204)
def delete_artifact(db: Db, artifact_id: PathId) -> Response:
    """Delete an artifact with all versions, and the files that no other artifact has."""
    with db.write() as session:
        service.lock_artifacts(session)
        service.delete_artifact(session, queries.find_artifact(session, artifact_id))
    return Response(status_code=204)


@router.get("/artifacts/{artifact_id}/versions/{version}")
def read_artifact_version(db: Db, artifact_id: PathId, version: Version) -> schemas.ArtifactVersionDetails:
    """Return a version with its files, and the runs that made and used it."""
    with db.read() as session:
        artifact = queries.find_artifact(session, artifact_id)
        return queries.read_version(session, queries.find_version(session, artifact, version))


@router.delete("/artifacts/{artifact_id}/versions/{version}", status_code=204)
def delete_artifact_version(db: Db, artifact_id: PathId, version: Version) -> Response:
    """Delete a version, and the files that no other version has. The last version takes the artifact with it."""
    with db.write() as session:
        service.lock_artifacts(session)
        artifact = queries.find_artifact(session, artifact_id)
        service.delete_version(session, artifact, queries.find_version(session, artifact, version))
    return Response(status_code=204)


@router.get("/artifacts/{artifact_id}/versions/{version}/file", response_class=Response)
def download_artifact_file(
    request: Request,
    db: Db,
    settings: CurrentSettings,
    artifact_id: PathId,
    version: Version,
    path: Annotated[Text, Query(max_length=schemas.MAX_PATH, description="Path of the file in the version.")],
) -> Response:
    """Download a file of a version. Byte ranges are supported."""
    with db.read() as session:
        details = queries.find_version(session, queries.find_artifact(session, artifact_id), version)
        file = queries.find_entry_file(session, details, path)
    return download(request, file, settings.files_dir, name=path.rpartition("/")[2])


@router.get("/artifacts/{artifact_id}/versions/{version}/zip", response_class=StreamingResponse)
def download_artifact_version(
    db: Db, settings: CurrentSettings, artifact_id: PathId, version: Version
) -> StreamingResponse:
    """Download all files of a version as a zip file. References are left out."""
    with db.read() as session:
        artifact = queries.find_artifact(session, artifact_id)
        name = f"{artifact.name}-v{version}.zip"
        stored = queries.list_stored_files(session, queries.find_version(session, artifact, version))
    files = [(path, stored_path(settings.files_dir, place)) for path, place in stored]
    for path, place in files:
        if not place.is_file():
            raise NotFound(
                f"The content of {path} is missing on the server's disk. Download the other files one by one."
            )
    headers = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name)}"}
    return StreamingResponse(_zip(files), media_type="application/zip", headers=headers)


@router.put("/artifacts/{artifact_id}/aliases/{alias}")
def set_artifact_alias(
    db: Db, artifact_id: PathId, alias: Alias, wanted: schemas.SetArtifactAlias
) -> schemas.ArtifactDetails:
    """Give an alias to a version. The version that had it loses it."""
    with db.write() as session:
        service.lock_artifacts(session)
        artifact = queries.find_artifact(session, artifact_id)
        service.set_alias(session, artifact, alias, queries.find_version(session, artifact, wanted.version))
        return queries.read_artifact(session, artifact)


@router.delete("/artifacts/{artifact_id}/aliases/{alias}", status_code=204)
def remove_artifact_alias(db: Db, artifact_id: PathId, alias: Alias) -> Response:
    """Remove an alias. The version stays."""
    with db.write() as session:
        service.lock_artifacts(session)
        service.remove_alias(session, queries.find_artifact(session, artifact_id), alias)
    return Response(status_code=204)


@router.get("/runs/{run_id}/artifacts")
def list_run_artifacts(db: Db, run: PathRun) -> schemas.RunArtifacts:
    """Return the versions of artifacts that a run made and used."""
    with db.read() as session:
        return queries.list_run_artifacts(session, run)


def _zip(files: list[tuple[str, Path]]) -> Iterator[bytes]:
    archive = ZipStream()
    for path, place in files:
        with place.open("rb") as file:
            # Models and pictures hardly compress, and the sender would wait for it.
            yield from archive.add(path, read_blocks(file, BLOCK_BYTES), compress=False)
    yield from archive.close()
