"""/runs: launch, list, read, edit, steer, copy and remove."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import StringConstraints

from backend.db import Database, Db
from backend.ids import RunId
from backend.metrics.queries import MAX_NAMES
from backend.metrics.schemas import NAME_PATTERN
from backend.models import State
from backend.runs import listing, schemas, service, view
from backend.workers.doorbell import Bell, Doorbell

router = APIRouter(tags=["runs"])

Words = Annotated[list[str], Query(max_length=50)]
MetricName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


@router.post("/runs", status_code=201)
def create_run(db: Db, bell: Bell, wanted: schemas.CreateRun) -> schemas.Run:
    """Launch a run."""
    with db.write() as session:
        run = service.create(session, wanted)
        bell.ring_after_commit(session, run)
        return view.shown_one(session, run)


@router.get("/runs")
def list_runs(
    db: Db,
    state: Annotated[list[State], Query(description="Any of these.")] = [],  # noqa: B006 - FastAPI copies it
    tag: Annotated[Words, Query(description="All of these.")] = [],  # noqa: B006
    algorithm: Annotated[Words, Query(description="Any of these.")] = [],  # noqa: B006
    env: Annotated[Words, Query(description="Any of these.")] = [],  # noqa: B006
    text: Annotated[str, Query(max_length=200, description="In name, notes, tags, environment, or the number.")] = "",
    archived: Annotated[bool, Query(description="The archived runs instead of the others.")] = False,
    sort: Annotated[
        str, Query(max_length=200, description="A column or metric:NAME:last|min|max; with - the greatest first.")
    ] = "-created_at",
    metric: Annotated[
        list[MetricName], Query(max_length=MAX_NAMES, description="Names of metrics to tell of each run.")
    ] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[str | None, Query(max_length=2_000)] = None,
) -> schemas.RunPage:
    """One page of the list of runs."""
    filters = listing.Filters([*state], tag, algorithm, env, text.strip(), archived)
    with db.read() as session:
        page = listing.list_runs(session, filters, sort, limit, cursor)
        items = view.shown(session, page.runs, metric)
    return schemas.RunPage(items=items, next_cursor=page.next_cursor, total=page.total)


@router.post("/runs/bulk")
def act_on_many(db: Db, bell: Bell, wanted: schemas.BulkRequest) -> schemas.BulkResult:
    """Do the same to many runs; those that it is not possible for are left alone and named."""
    result = schemas.BulkResult(done=[], skipped=[])
    # One transaction a run: a purge of many must not keep the others' events waiting.
    for run_id in dict.fromkeys(wanted.ids):
        with db.write() as session:
            reason = service.bulk(session, wanted.action, run_id)
            if wanted.action == "resume" and reason is None:
                bell.ring_after_commit(session, service.find_run(session, run_id))
        if reason is None:
            result.done.append(run_id)
        else:
            result.skipped.append(schemas.Skipped(id=run_id, reason=reason))
    return result


@router.get("/runs/{run_id}")
def read_run(db: Db, run_id: RunId) -> schemas.Run:
    """One run."""
    with db.read() as session:
        return view.shown_one(session, service.find_run(session, run_id))


@router.patch("/runs/{run_id}")
def edit_run(db: Db, run_id: RunId, changes: schemas.EditRun) -> schemas.Run:
    """Change name, tags, notes or priority."""
    with db.write() as session:
        run = service.find_run(session, run_id, lock=True)
        service.edit(session, run, changes)
        session.flush()
        return view.shown_one(session, run)


@router.delete("/runs/{run_id}", status_code=204)
def purge_run(db: Db, run_id: RunId) -> Response:
    """Remove a run that has ended, with its files, for good."""
    with db.write() as session:
        service.act(session, service.find_run(session, run_id, lock=True), "purge")
    return Response(status_code=204)


@router.post("/runs/{run_id}/stop")
def stop_run(db: Db, bell: Bell, run_id: RunId) -> schemas.Run:
    """Stop for good; the trainer saves a checkpoint first."""
    return _act(db, bell, run_id, "stop")


@router.post("/runs/{run_id}/pause")
def pause_run(db: Db, bell: Bell, run_id: RunId) -> schemas.Run:
    """Free the worker and keep the checkpoint."""
    return _act(db, bell, run_id, "pause")


@router.post("/runs/{run_id}/resume")
def resume_run(db: Db, bell: Bell, run_id: RunId) -> schemas.Run:
    """Queue a paused run again; it goes on from its last checkpoint."""
    return _act(db, bell, run_id, "resume")


@router.post("/runs/{run_id}/archive")
def archive_run(db: Db, bell: Bell, run_id: RunId) -> schemas.Run:
    """Hide from the list."""
    return _act(db, bell, run_id, "archive")


@router.post("/runs/{run_id}/restore")
def restore_run(db: Db, bell: Bell, run_id: RunId) -> schemas.Run:
    """Show in the list again."""
    return _act(db, bell, run_id, "restore")


@router.post("/runs/{run_id}/clone", status_code=201)
def clone_run(db: Db, bell: Bell, run_id: RunId, wanted: schemas.CloneRun) -> schemas.Run:
    """Launch the same configuration again, with some fields changed."""
    with db.write() as session:
        run = service.clone(session, service.find_run(session, run_id), wanted)
        bell.ring_after_commit(session, run)
        return view.shown_one(session, run)


@router.post("/runs/{run_id}/fork", status_code=201)
def fork_run(db: Db, bell: Bell, run_id: RunId, wanted: schemas.ForkRun) -> schemas.Run:
    """Launch a run that goes on from a checkpoint of this one, with some fields changed."""
    with db.write() as session:
        # Locked, so that the checkpoint is not thinned out while it is copied.
        run = service.fork(session, service.find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, run)
        return view.shown_one(session, run)


def _act(db: Database, bell: Doorbell, run_id: RunId, action: schemas.Action) -> schemas.Run:
    with db.write() as session:
        run = service.find_run(session, run_id, lock=True)
        service.act(session, run, action)
        bell.ring_after_commit(session, run)
        return view.shown_one(session, run)
