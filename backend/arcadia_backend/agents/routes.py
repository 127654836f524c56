"""Routes of agent files: download the agent of a checkpoint, and import an agent."""

import io
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from arcadia_backend.agents import service
from arcadia_backend.agents.opening import OpenedAgent, open_agent
from arcadia_backend.agents.service import ImportedAgent, read_export
from arcadia_backend.checkpoints.availability import CheckpointChoice
from arcadia_backend.config import CurrentSettings
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.doorbell import Bell, Doorbell
from arcadia_backend.errors import Conflict, FieldError, Invalid
from arcadia_backend.files import storage
from arcadia_backend.files.service import BODY
from arcadia_backend.projects.schemas import ProjectName
from arcadia_backend.web.lookup import PathRun
from arcadia_backend.web.middleware import write_slot
from arcadia_workers.contract.agents.writing import NoAgentError, write_agent
from arcadia_workers.contract.games import id_of
from arcadia_workers.contract.values import ShortText, Text

router = APIRouter(tags=["agents"])

IMPORT_WRITE_TIMEOUT_SECONDS = 20.0

Choice = Annotated[CheckpointChoice, Query(description="Id of a checkpoint, newest or best.")]
Env = Annotated[
    ShortText | None,
    Query(description="Environment of an agent of Stable-Baselines3, such as pong, because its file does not name it."),
]
Name = Annotated[
    Text | None, Query(min_length=1, max_length=200, description="Name of the run. Default: as in the file.")
]


@router.get("/runs/{run_id}/agent", response_class=Response)
def export_agent(db: Db, run: PathRun, checkpoint: Choice = "newest") -> Response:
    """Download a checkpoint's agent as one file: weights, model card, ONNX, and a program that plays it."""
    with db.read() as session:
        export = read_export(session, run, checkpoint)
    content = io.BytesIO()
    try:
        write_agent(export.source, content)
    except NoAgentError as error:
        raise Conflict(str(error)) from error
    headers = {"Content-Disposition": f'attachment; filename="{export.file_name}"'}
    return Response(content.getvalue(), headers=headers, media_type="application/zip")


@router.post("/agents", status_code=201, openapi_extra=BODY)
async def import_agent(
    request: Request,
    db: Db,
    bell: Bell,
    settings: CurrentSettings,
    env: Env = None,
    name: Name = None,
    project: Annotated[ProjectName | None, Query(description="Project of the run. Default: Main.")] = None,
) -> ImportedAgent:
    """Import an agent file, or a model of Stable-Baselines3, as a run with one checkpoint."""
    environment = _environment(env)
    received, _size = await storage.receive(request.stream(), settings.files_dir, settings.max_file_bytes, None)
    try:
        agent = await run_in_threadpool(open_agent, received, settings.max_file_bytes, environment)
        async with write_slot(request.app, IMPORT_WRITE_TIMEOUT_SECONDS):
            return await run_in_threadpool(_store, db, bell, agent, name, project)
    finally:
        received.unlink(missing_ok=True)


def _store(db: Database, bell: Doorbell, agent: OpenedAgent, name: str | None, project: str | None) -> ImportedAgent:
    with service.checkpoint_of(agent, db.files_dir) as received, db.write() as session:
        known = service.find_imported(session, received.sha256)
        if known is not None:
            return ImportedAgent(run_id=known.run_id, checkpoint_id=known.id, already=True)
        checkpoint, job = service.store_agent(session, agent, received, name=name, project=project)
        bell.ring_after_commit(session, job)
        return ImportedAgent(run_id=checkpoint.run_id, checkpoint_id=checkpoint.id, already=False)


def _environment(name: str | None) -> str | None:
    try:
        return None if name is None else id_of(name)
    except ValueError as error:
        raise Invalid(FieldError(field="env", message=str(error))) from error
