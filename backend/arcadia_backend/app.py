"""The application: routes, security, background threads and the built frontend."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request

from arcadia_backend import errors
from arcadia_backend.accounts.passwords import PasswordLimit
from arcadia_backend.agents.routes import router as agents
from arcadia_backend.alerts.delivery import AlertDeliverer
from arcadia_backend.alerts.routes import router as alerts
from arcadia_backend.aliases import router as aliases
from arcadia_backend.archives.routes import router as archives
from arcadia_backend.artifacts.routes import router as artifacts
from arcadia_backend.boards import router as boards
from arcadia_backend.caps import router as caps
from arcadia_backend.changes import router as changes
from arcadia_backend.checkpoints.routes import router as checkpoints
from arcadia_backend.comparisons.routes import router as comparisons
from arcadia_backend.config import API, Settings
from arcadia_backend.configuration import router as configuration
from arcadia_backend.database import limits, rights
from arcadia_backend.database.engine import open_database
from arcadia_backend.database.migrations import migrate
from arcadia_backend.database.scope import BACKEND, acting_as
from arcadia_backend.diagnosis import router as diagnosis
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.examples import router as examples
from arcadia_backend.executors import EXECUTORS
from arcadia_backend.executors.routes import router as executors
from arcadia_backend.executors.service import SubmissionThread
from arcadia_backend.figures.routes import router as figures
from arcadia_backend.files.routes import router as files
from arcadia_backend.files.service import sweep
from arcadia_backend.files.storage import read_identity
from arcadia_backend.games.routes import router as games
from arcadia_backend.health import router as health
from arcadia_backend.lineage import router as lineage
from arcadia_backend.live import notices, watches
from arcadia_backend.live.bells import waiting_workers
from arcadia_backend.live.documents import DocumentVersions, RecentDocuments
from arcadia_backend.live.routes import router as live
from arcadia_backend.live_games.routes import router as watching
from arcadia_backend.live_games.sockets import router as sockets
from arcadia_backend.live_games.stage import Stages, cancel_unwatched_games
from arcadia_backend.logs import router as logs
from arcadia_backend.marks.routes import router as marks
from arcadia_backend.metrics.export import router as export
from arcadia_backend.metrics.routes import router as metrics
from arcadia_backend.papers.routes import router as papers
from arcadia_backend.people.account import router as account
from arcadia_backend.people.audit_log import router as audit_log
from arcadia_backend.people.device_login import router as device_login
from arcadia_backend.people.members import router as members
from arcadia_backend.people.routes import router as people
from arcadia_backend.plugins import load_plugins
from arcadia_backend.plugins import router as plugins
from arcadia_backend.projects.routes import router as projects
from arcadia_backend.provenance import router as provenance
from arcadia_backend.replays.routes import router as replays
from arcadia_backend.reported.routes import router as reported
from arcadia_backend.reports.routes import router as reports
from arcadia_backend.reports.routes import shared_router as shared
from arcadia_backend.runs.bulk import BulkActionThread
from arcadia_backend.runs.bulk import router as bulk_actions
from arcadia_backend.runs.routes import router as runs
from arcadia_backend.runs.start_forecasts import router as start_forecasts
from arcadia_backend.runs.table_export import router as run_table
from arcadia_backend.studies.routes import router as studies
from arcadia_backend.studies.scheduler import StudyScheduler
from arcadia_backend.suites import router as suites
from arcadia_backend.usage import router as usage
from arcadia_backend.views import router as views
from arcadia_backend.web import idempotency, lookup, middleware, notice_rights
from arcadia_backend.web.api_reference.page import serve_reference
from arcadia_backend.web.credentials import CallerCredentials
from arcadia_backend.web.doors import check_doors
from arcadia_backend.web.formats import refuse_unknown_parameters
from arcadia_backend.web.frontend import serve_client, serve_frontend
from arcadia_backend.web.mcp import McpEndpoint, serve_mcp
from arcadia_backend.web.middleware import AllowedMethods, Compression, MethodNotAllowed
from arcadia_backend.web.oidc import router as openid
from arcadia_backend.web.perimeter import Perimeter, RightsCheck
from arcadia_backend.web.security import WrongTokenLimit, describe_access
from arcadia_backend.web.sign_in import router as session
from arcadia_backend.worker_api.jobs import JOB_TYPES
from arcadia_backend.worker_api.routes import router as workers
from arcadia_backend.worker_api.routes import transfer_router as transfers
from arcadia_backend.worker_api.sweeper import Sweeper

ROUTERS = (
    runs,
    bulk_actions,
    run_table,
    start_forecasts,
    projects,
    boards,
    views,
    usage,
    caps,
    changes,
    reported,
    metrics,
    marks,
    diagnosis,
    logs,
    transfers,
    files,
    checkpoints,
    replays,
    *(each.router for each in JOB_TYPES.values()),
    games,
    studies,
    suites,
    papers,
    archives,
    artifacts,
    agents,
    aliases,
    lineage,
    alerts,
    examples,
    provenance,
    reports,
    shared,
    live,
    watching,
    figures,
    comparisons,
    export,
    workers,
    executors,
    health,
    configuration,
    plugins,
    people,
    members,
    account,
    device_login,
    audit_log,
    session,
    openid,
)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the database and start the background threads. At the end, stop and close them."""
    settings: Settings = app.state.settings
    load_plugins(settings)
    migrate(settings)
    app.state.database = open_database(settings)
    app.state.write_slots = middleware.new_write_slots()
    app.state.check_limiter = lookup.new_check_limiter()
    with acting_as(BACKEND):
        sweep(app.state.database)
        app.state.installation = read_identity(app.state.database)
    app.state.credentials = CallerCredentials(app.state.database, settings)
    app.state.credentials.find_owner()
    app.state.doorbell = Doorbell(settings.broker_url.get_secret_value())
    app.state.stages = Stages(settings.broker_url.get_secret_value())
    sweeper = Sweeper(app.state.database, settings, app.state.doorbell)
    app.state.study_scheduler = scheduler = StudyScheduler(app.state.database, settings, app.state.doorbell)
    deliverer = AlertDeliverer(app.state.database, settings)
    app.state.bulk_action_thread = bulk = BulkActionThread(app.state.database, app.state.doorbell)
    submissions = [SubmissionThread(app.state.database, settings, name) for name in EXECUTORS]
    app.state.mcp = McpEndpoint(app)
    app.state.recent_documents = RecentDocuments()
    async with notices.running(settings.broker_url.get_secret_value()) as app.state.hub, app.state.mcp.running():
        app.state.doorbell.start()
        sweeper.start()
        scheduler.start()
        deliverer.start()
        bulk.start()
        for submission in submissions:
            submission.start()
        try:
            async with (
                cancel_unwatched_games(app.state.database, app.state.stages),
                notice_rights.running(app),
                watches.running(app, app.state.notice_rights.new_stream),
                waiting_workers(app.state.database, app.state.hub) as app.state.waits,
            ):
                yield
        finally:
            for submission in submissions:
                submission.stop()
            bulk.stop()
            deliverer.stop()
            scheduler.stop()
            sweeper.stop()
            app.state.doorbell.stop()
            app.state.database.close()


def create_app(settings: Settings) -> FastAPI:
    """Build the application. It opens the database and starts threads only when its lifespan begins."""
    rights.prepare()
    limits.install()
    app = FastAPI(
        title="Arcadia",
        version=version("arcadia"),
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.settings = settings
    app.state.password_limit = PasswordLimit()
    app.state.login_code_limit = WrongTokenLimit("wrong code of a login")
    errors.install(app)
    middleware.install(app)
    idempotency.install(app)
    allowed = AllowedMethods(API, ROUTERS)
    allowed.install(app)
    app.include_router(sockets, prefix=API)
    every_route = [
        Depends(allowed.check_literal_path),
        Depends(refuse_unknown_parameters),
        Depends(middleware.hold_write_slot, scope="function"),
    ]
    problems: dict[int | str, dict[str, Any]] = {"default": {"model": errors.ProblemDocument}}
    app.include_router(_api(app, allowed), prefix=API, dependencies=every_route, responses=problems)
    serve_reference(app, lambda: describe_api(app))
    serve_mcp(app)
    serve_client(app)
    serve_frontend(app)
    app.add_middleware(DocumentVersions)
    app.add_middleware(Compression)
    app.add_middleware(RightsCheck)
    app.add_middleware(Perimeter, settings=settings)
    check_doors(app)
    return app


def describe_api(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document."""
    return describe_access(errors.describe(app.openapi()))


def _api(app: FastAPI, allowed: AllowedMethods) -> APIRouter:
    api = APIRouter()
    for group in middleware.group_by_first_segment(API, ROUTERS):
        api.include_router(group)

    @api.get("/openapi.json", include_in_schema=False)
    def openapi() -> dict[str, Any]:
        return describe_api(app)

    @api.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False)
    def unknown_path(request: Request) -> None:
        if methods := allowed.methods(request.scope["path"]):
            raise MethodNotAllowed(request.method, methods)
        raise errors.NoSuchPath(f"There is no path {request.scope['path'][:200]}.")

    return api
