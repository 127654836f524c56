"""/runs: create, list, read, edit, control, copy and delete runs."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import StringConstraints

from arcadia_backend.configuration import build_config
from arcadia_backend.database.engine import Database, Db
from arcadia_backend.database.tables import RunOrigin
from arcadia_backend.doorbell import Bell, Doorbell
from arcadia_backend.metrics.queries import MAX_NAMES
from arcadia_backend.metrics.reading import NAME_PATTERN
from arcadia_backend.projects.schemas import Projects
from arcadia_backend.projects.service import default_executor, find_visible
from arcadia_backend.runs import grouping, list_query, queries, schemas, service
from arcadia_backend.runs.expressions.completion import CheckedExpression, ExpressionKind, FilterText, check
from arcadia_backend.runs.expressions.parsing import MAX_LENGTH
from arcadia_backend.runs.filters import (
    MAX_SEARCH_LENGTH,
    Facets,
    FailureGroup,
    Filters,
    RunSettings,
    count_facets,
    group_failures,
    read_settings,
)
from arcadia_backend.runs.forecast import RunForecast, forecast
from arcadia_backend.web.idempotency import Idempotent
from arcadia_backend.web.lookup import (
    DEFAULT_TIMEOUT,
    PathId,
    PathRun,
    Timeout,
    Wait,
    find_run,
    run_in_progress,
    wait_while,
)
from arcadia_workers.contract.values import Id, Text
from arcadia_workers.contract.worker_api import State

router = APIRouter(tags=["runs"])

MAX_OFFSET = 1_000_000

TextValues = Annotated[list[Text], Query(max_length=50)]
MetricName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


@router.post("/runs", status_code=201)
def create_run(db: Db, bell: Bell, once: Idempotent, new: schemas.CreateRun) -> schemas.Run:
    """Create a run and queue it."""
    with once.write(db) as session:
        run = service.create(session, new)
        bell.ring_after_commit(session, run)
        return once.store(session, queries.to_schema(session, run))


@router.post("/runs/preview")
def preview_run(db: Db, new: schemas.CreateRun) -> RunForecast:
    """Return what a run needs, what the workers have and when it can start, without storing it."""
    config = build_config(new.config, new.preset, new.overrides or {})
    with db.read() as session:
        project_id = find_visible(session, new.project)
        executor = new.executor or default_executor(session, project_id)
        return forecast(session, config, new.queue, new.priority, executor, project_id, new.needs.to_text())


def parse_filters(
    state: Annotated[list[State], Query(description="Any of these values.")] = [],  # noqa: B006 - FastAPI copies it
    tag: Annotated[TextValues, Query(description="All of these tags.")] = [],  # noqa: B006
    algorithm: Annotated[TextValues, Query(description="Any of these values.")] = [],  # noqa: B006
    env: Annotated[TextValues, Query(description="Any of these values.")] = [],  # noqa: B006
    text: Annotated[
        Text,
        Query(
            max_length=MAX_SEARCH_LENGTH,
            description="Search name, notes, project, tags, environment, method, failure message and id.",
        ),
    ] = "",
    archived: Annotated[bool, Query(description="Return archived runs instead of the others.")] = False,
    study: Annotated[Id | None, Query(description="Runs of this study.")] = None,
    id: Annotated[  # noqa: A002 - the parameter's name in the API
        list[Id], Query(max_length=100, description="Only runs with these ids.")
    ] = [],  # noqa: B006
    name: Annotated[TextValues, Query(description="Any of these names, exactly. Names are not unique.")] = [],  # noqa: B006
    origin: Annotated[list[RunOrigin], Query(description="Any of these values.")] = [],  # noqa: B006
    project: Projects = [],  # noqa: B006
    filter: FilterText = "",  # noqa: A002 - the parameter's name in the API
) -> Filters:
    """Return the filters in the query parameters."""
    return Filters([*state], tag, algorithm, env, text.strip(), archived, study, id, name, [*origin], project, filter)


RunFilters = Annotated[Filters, Depends(parse_filters)]


@router.get("/runs", response_model_exclude_unset=True)
def list_runs(
    db: Db,
    filters: RunFilters,
    sort: Annotated[
        Text,
        Query(
            max_length=500,
            description="Up to five of: column, metric:NAME:last|min|max, config:FIELD, computed column or expression, "
            "separated by commas. Prefix with - for descending order.",
        ),
    ] = "-created_at",
    metric: Annotated[
        list[MetricName], Query(max_length=MAX_NAMES, description="Metrics to include for each run.")
    ] = [],  # noqa: B006
    include: Annotated[
        TextValues,
        Query(
            description="Further fields to include for each run: config.FIELD for one field of the configuration, or "
            f"{', '.join(list_query.DETAILS)}."
        ),
    ] = [],  # noqa: B006
    compute: Annotated[
        list[Annotated[Text, StringConstraints(max_length=MAX_LENGTH)]],
        Query(
            max_length=list_query.MAX_COMPUTED,
            description="Columns to compute for each run, such as `efficiency = best_return / hours`.",
        ),
    ] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[str | None, Query(max_length=10_000, description="The `next_cursor` of a page.")] = None,
    offset: Annotated[
        int, Query(ge=0, le=MAX_OFFSET, description="Runs to skip from the start of the list. Not with a cursor.")
    ] = 0,
) -> schemas.RunPage:
    """Return one page of runs, with the fields that a table shows. Null and empty fields of a run are left out.

    `GET /runs/{run_id}` returns all fields of a run.
    """
    details = list_query.parse_details(include)
    with db.read() as session:
        columns = list_query.read_computed(session, compute)
        page = list_query.PageRequest(sort, limit, cursor, offset)
        rows = list_query.list_runs(session, filters, page, columns, details.fields)
        return list_query.to_page(session, rows, metric, details, columns)


@router.get("/run-failures")
def list_failures(
    db: Db,
    filters: RunFilters,
    min_runs: Annotated[int, Query(ge=1, le=1_000_000, description="Smallest group to return.")] = 3,
) -> list[FailureGroup]:
    """Return the failures that several runs share, over all pages of the list."""
    with db.read() as session:
        return group_failures(session, filters, min_runs)


@router.get("/run-groups")
def list_groups(
    db: Db,
    filters: RunFilters,
    by: Annotated[
        Text, Query(max_length=500, description="Names of columns or fields, such as `method,env,learning_rate`.")
    ],
    value: Annotated[
        list[Annotated[Text, StringConstraints(max_length=MAX_LENGTH)]],
        Query(max_length=grouping.MAX_VALUES, description="Numbers to average, such as `best_return`."),
    ] = ["return"],  # noqa: B006
    sort: Annotated[
        Text,
        Query(
            max_length=MAX_LENGTH,
            description="runs, newest, label, a name in `by`, or VALUE.mean, VALUE.std or VALUE.n. Prefix with - for "
            "descending order.",
        ),
    ] = "-newest",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
    baseline: Annotated[Id | None, Query(description="A run. Its group is returned as `baseline`.")] = None,
) -> grouping.ListedGroupPage:
    """Return groups of runs with equal values. The filter of a group selects its runs, in this call and in the list."""
    with db.read() as session:
        return grouping.group_runs(session, filters, grouping.GroupRequest(by, value, sort, limit, offset, baseline))


@router.get("/run-settings")
def list_settings(
    db: Db,
    filters: RunFilters,
    every: Annotated[bool, Query(description="Return also the fields with one value.")] = False,
) -> RunSettings:
    """Return the configuration fields that differ between the runs of the list."""
    with db.read() as session:
        return read_settings(session, filters, every=every)


@router.get("/run-facets")
def list_facets(
    db: Db,
    archived: Annotated[bool, Query(description="Count archived runs instead of the others.")] = False,
    project: Projects = [],  # noqa: B006
    filter: FilterText = "",  # noqa: A002 - the parameter's name in the API
) -> Facets:
    """Return the filter choices of the run list, over all runs, or over those of some projects and of a filter."""
    with db.read() as session:
        return count_facets(session, archived=archived, projects=project, expression=filter)


@router.get("/run-expression")
def check_expression(
    db: Db,
    expression: Annotated[Text, Query(max_length=MAX_LENGTH)] = "",
    kind: Annotated[
        ExpressionKind, Query(description="A filter is a condition. A computed column is a value.")
    ] = "condition",
    cursor: Annotated[
        int | None, Query(ge=0, le=MAX_LENGTH, description="Where to complete the expression. Default: at its end.")
    ] = None,
) -> CheckedExpression:
    """Check an expression without running it, and return completions."""
    with db.read() as session:
        return check(session, expression, kind, cursor)


async def wait_for_run(request: Request, run_id: PathId, wait: Wait = None, timeout: Timeout = DEFAULT_TIMEOUT) -> None:
    """Wait until the run has ended or is paused, if requested."""
    if wait is not None:
        await wait_while(lambda session: run_in_progress(session, run_id), request, timeout)


@router.get("/runs/{run_id}", dependencies=[Depends(wait_for_run)])
def read_run(db: Db, run: PathRun) -> schemas.Run:
    """Return one run, immediately or once it has ended or is paused."""
    with db.read() as session:
        return queries.to_schema(session, run)


@router.patch("/runs/{run_id}")
def edit_run(db: Db, run_id: PathId, changes: schemas.EditRun) -> schemas.Run:
    """Change the name, tags, notes, priority or project of a run."""
    with db.write() as session:
        run = find_run(session, run_id, lock=True)
        service.edit(session, run, changes)
        session.flush()
        return queries.to_schema(session, run)


@router.delete("/runs/{run_id}", status_code=204)
def purge_run(db: Db, run_id: PathId) -> Response:
    """Permanently delete an inactive run with its files."""
    with db.write() as session:
        service.act(session, find_run(session, run_id, lock=True), "purge")
    return Response(status_code=204)


@router.post("/runs/{run_id}/stop")
def stop_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Stop a run permanently. The trainer saves a checkpoint first."""
    return _act(db, bell, run_id, "stop")


@router.post("/runs/{run_id}/pause")
def pause_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Pause a run: save a checkpoint and free the worker."""
    return _act(db, bell, run_id, "pause")


@router.post("/runs/{run_id}/resume")
def resume_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Queue a paused run again. It continues from its last checkpoint."""
    return _act(db, bell, run_id, "resume")


@router.post("/runs/{run_id}/archive")
def archive_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Hide a run from the list."""
    return _act(db, bell, run_id, "archive")


@router.post("/runs/{run_id}/restore")
def restore_run(db: Db, bell: Bell, run_id: PathId) -> schemas.Run:
    """Show an archived run in the list again."""
    return _act(db, bell, run_id, "restore")


@router.post("/runs/{run_id}/clone", status_code=201)
def clone_run(db: Db, bell: Bell, once: Idempotent, run: PathRun, changes: schemas.CloneRun) -> schemas.Run:
    """Queue a new run with the same configuration, except for some fields."""
    with once.write(db) as session:
        copy = service.clone(session, run, changes)
        bell.ring_after_commit(session, copy)
        return once.store(session, queries.to_schema(session, copy))


@router.post("/runs/{run_id}/fork", status_code=201)
def fork_run(db: Db, bell: Bell, once: Idempotent, run_id: PathId, fork: schemas.ForkRun) -> schemas.Run:
    """Queue a new run that continues from a checkpoint of this one, with some fields changed."""
    with once.write(db) as session:
        # Lock the run, so that pruning cannot delete the checkpoint while it is copied.
        run = service.fork(session, find_run(session, run_id, lock=True), fork)
        bell.ring_after_commit(session, run)
        return once.store(session, queries.to_schema(session, run))


def _act(db: Database, bell: Doorbell, run_id: PathId, action: schemas.Action) -> schemas.Run:
    with db.write() as session:
        run = find_run(session, run_id, lock=True)
        service.act(session, run, action)
        bell.ring_after_commit(session, run)
        return queries.to_schema(session, run)
