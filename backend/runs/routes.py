"""/runs: launch, list, read, edit, steer, copy and remove."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import StringConstraints

from backend.database.engine import Database, Db
from backend.doorbell import Bell, Doorbell
from backend.metrics.queries import MAX_NAMES
from backend.metrics.schemas import NAME_PATTERN
from backend.runs import facets, failures, list_query, queries, schemas, service
from backend.web.lookup import PathId, PathRun, find_run
from workers.contract.values import Id, Text
from workers.contract.worker_api import State

router = APIRouter(tags=["runs"])

# At most so much of a bulk action in one transaction.
BULK_RUNS, BULK_SECONDS = 100, 0.2

Words = Annotated[list[Text], Query(max_length=50)]
MetricName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


@router.post("/runs", status_code=201)
def create_run(db: Db, bell: Bell, wanted: schemas.CreateRun) -> schemas.Run:
    """Launch a run."""
    with db.write() as session:
        run = service.create(session, wanted)
        bell.ring_after_commit(session, run)
        return queries.to_schema(session, run)


def wanted_runs(
    state: Annotated[list[State], Query(description="Any of these.")] = [],  # noqa: B006 - FastAPI copies it
    tag: Annotated[Words, Query(description="All of these.")] = [],  # noqa: B006
    algorithm: Annotated[Words, Query(description="Any of these.")] = [],  # noqa: B006
    env: Annotated[Words, Query(description="Any of these.")] = [],  # noqa: B006
    text: Annotated[
        Text,
        Query(
            max_length=list_query.LONGEST_TEXT, description="In name, notes, tags, environment, failure, or the number."
        ),
    ] = "",
    archived: Annotated[bool, Query(description="The archived runs instead of the others.")] = False,
    study: Annotated[Id | None, Query(description="Those that this study has made.")] = None,
    id: Annotated[  # noqa: A002 - the parameter's name in the API
        list[Id], Query(max_length=100, description="Runs of these numbers alone.")
    ] = [],  # noqa: B006
) -> list_query.Filters:
    """Which runs a list is to have."""
    return list_query.Filters([*state], tag, algorithm, env, text.strip(), archived, study, id)


Wanted = Annotated[list_query.Filters, Depends(wanted_runs)]


@router.get("/runs")
def list_runs(
    db: Db,
    filters: Wanted,
    sort: Annotated[
        Text,
        Query(max_length=200, description="Column, metric:NAME:last|min|max or config:FIELD; - for largest first."),
    ] = "-created_at",
    metric: Annotated[
        list[MetricName], Query(max_length=MAX_NAMES, description="Names of metrics to tell of each run.")
    ] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[str | None, Query(max_length=2_000)] = None,
) -> schemas.RunPage:
    """One page of the list of runs."""
    with db.read() as session:
        page = list_query.list_runs(session, filters, sort, limit, cursor)
        items = queries.to_schemas(session, page.runs, metric)
    return schemas.RunPage(items=items, next_cursor=page.next_cursor, total=page.total)


@router.get("/run-failures")
def list_failures(
    db: Db,
    filters: Wanted,
    fewest: Annotated[int, Query(ge=1, le=1_000_000, description="How many runs a failure must have ended.")] = 3,
) -> list[failures.FailureGroup]:
    """The failures that several runs share, over the whole list and not one page of it."""
    with db.read() as session:
        return failures.failure_groups(session, filters, fewest)


@router.get("/run-facets")
def list_facets(
    db: Db, archived: Annotated[bool, Query(description="Of the archived runs instead of the others.")] = False
) -> facets.Facets:
    """What the list of runs can be filtered by, over all runs."""
    with db.read() as session:
        return facets.facets(session, archived=archived)


@router.post("/runs/bulk")
def act_on_many(db: Db, bell: Bell, wanted: schemas.BulkRequest) -> schemas.BulkResult:
    """Do the same to many runs; runs that refuse it are skipped and named."""
    result = schemas.BulkResult(done=[], skipped=[])
    waiting = list(dict.fromkeys(wanted.ids))
    while waiting:
        # Several transactions: a purge of many must not keep the others' events waiting.
        with db.write() as session:
            told = service.bulk(session, wanted.action, waiting[:BULK_RUNS], BULK_SECONDS)
            done = [run_id for run_id, reason in told.items() if reason is None]
            if wanted.action == "resume":
                for run_id in done:
                    bell.ring_after_commit(session, find_run(session, run_id))
        result.done += done
        result.skipped += [schemas.Skipped(id=run_id, reason=reason) for run_id, reason in told.items() if reason]
        waiting = waiting[len(told) :]
    return result


@router.get("/runs/{run_id}")
def read_run(db: Db, run: PathRun) -> schemas.Run:
    """One run."""
    with db.read() as session:
        return queries.to_schema(session, run)


@router.patch("/runs/{run_id}")
def edit_run(db: Db, run_id: PathId, changes: schemas.EditRun) -> schemas.Run:
    """Change name, tags, notes or priority."""
    with db.write() as session:
        run = find_run(session, run_id, lock=True)
        service.edit(session, run, changes)
        session.flush()
        return queries.to_schema(session, run)


@router.delete("/runs/{run_id}", status_code=204)
def purge_run(db: Db, run_id: PathId) -> Response:
    """Remove a run that has ended, with its files, for good."""
    with db.write() as session:
        service.act(session, find_run(session, run_id, lock=True), "purge")
    return Response(status_code=204)


@router.post("/runs/{run_id}/stop")
def stop_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Stop for good; the trainer saves a checkpoint first."""
    return _act(db, bell, run_id, "stop")


@router.post("/runs/{run_id}/pause")
def pause_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Free the worker and keep the checkpoint."""
    return _act(db, bell, run_id, "pause")


@router.post("/runs/{run_id}/resume")
def resume_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Queue a paused run again; it goes on from its last checkpoint."""
    return _act(db, bell, run_id, "resume")


@router.post("/runs/{run_id}/archive")
def archive_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Hide from the list."""
    return _act(db, bell, run_id, "archive")


@router.post("/runs/{run_id}/restore")
def restore_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Show in the list again."""
    return _act(db, bell, run_id, "restore")


@router.post("/runs/{run_id}/clone", status_code=201)
def clone_run(db: Db, bell: Bell, run: PathRun, wanted: schemas.CloneRun) -> schemas.Run:
    """Launch the same configuration again, with some fields changed."""
    with db.write() as session:
        copy = service.clone(session, run, wanted)
        bell.ring_after_commit(session, copy)
        return queries.to_schema(session, copy)


@router.post("/runs/{run_id}/fork", status_code=201)
def fork_run(db: Db, bell: Bell, run_id: PathId, wanted: schemas.ForkRun) -> schemas.Run:
    """Launch a run that goes on from a checkpoint of this one, with some fields changed."""
    with db.write() as session:
        # Locked, so that the checkpoint is not thinned out while it is copied.
        run = service.fork(session, find_run(session, run_id, lock=True), wanted)
        bell.ring_after_commit(session, run)
        return queries.to_schema(session, run)


def _act(db: Database, bell: Doorbell, run_id: PathId, action: schemas.Action) -> schemas.Run:
    with db.write() as session:
        run = find_run(session, run_id, lock=True)
        service.act(session, run, action)
        bell.ring_after_commit(session, run)
        return queries.to_schema(session, run)
