"""The Python client of Arcadia.

client = arcadia.connect("http://127.0.0.1:8000")
run = client.launch("paac-cartpole", seed=3)
run.wait()

run = arcadia.init(project="mine", config={"lr": 0.001})
run.log({"loss": 0.5})
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcadia._async.accounts import AsyncAccessToken, AsyncPerson, AsyncSignInSession
    from arcadia._async.artifacts import AsyncArtifact, AsyncArtifactVersion, AsyncCheckpoint
    from arcadia._async.client import AsyncClient
    from arcadia._async.jobs import (
        AsyncCalibration,
        AsyncEvaluation,
        AsyncFutures,
        AsyncJob,
        AsyncPractice,
        AsyncRecording,
        AsyncReplay,
        AsyncReview,
    )
    from arcadia._async.projects import AsyncAlertChannel, AsyncProject, AsyncReport
    from arcadia._async.runs import AsyncRun
    from arcadia._async.studies import AsyncStudy
    from arcadia._sync.accounts import AccessToken, Person, SignInSession
    from arcadia._sync.artifacts import Artifact, ArtifactVersion, Checkpoint
    from arcadia._sync.client import Client
    from arcadia._sync.jobs import Calibration, Evaluation, Futures, Job, Practice, Recording, Replay, Review
    from arcadia._sync.projects import AlertChannel, Project, Report
    from arcadia._sync.runs import Run
    from arcadia._sync.studies import Study
    from arcadia.errors import (
        AmbiguousReferenceError,
        ApiError,
        ArcadiaError,
        ConflictError,
        DownloadError,
        InvalidRequestError,
        JobFailedError,
        MissingPackageError,
        NotFoundError,
        NotLoadedError,
        ServerUnreachableError,
        UnauthorizedError,
        WaitTimeoutError,
    )
    from arcadia.figures import Figure
    from arcadia.records.account import AuditEntry, PersonGroup, ProjectMember
    from arcadia.records.artifact import Alias
    from arcadia.records.job import BulkAction, StartSet
    from arcadia.records.review import PracticePreview
    from arcadia.records.run import Change, Finding, LogLine, RunForecast
    from arcadia.records.server import (
        Alert,
        AlertDelivery,
        Cap,
        ExecutorChoice,
        Health,
        MovedItems,
        Preset,
        SavedView,
        StartCalibration,
        UsageRow,
        Worker,
    )
    from arcadia.records.study import StudyPoint, StudyPreview
    from arcadia.reporting.initialization import init
    from arcadia.reporting.media import Histogram, Image, Table, Video
    from arcadia.reporting.run import ReportedRun
    from arcadia.tables import Comparison, Metrics, Series

__all__ = [
    "AccessToken",
    "Alert",
    "AlertChannel",
    "AlertDelivery",
    "Alias",
    "AmbiguousReferenceError",
    "ApiError",
    "ArcadiaError",
    "Artifact",
    "ArtifactVersion",
    "AsyncAccessToken",
    "AsyncAlertChannel",
    "AsyncArtifact",
    "AsyncArtifactVersion",
    "AsyncCalibration",
    "AsyncCheckpoint",
    "AsyncClient",
    "AsyncEvaluation",
    "AsyncFutures",
    "AsyncJob",
    "AsyncPerson",
    "AsyncPractice",
    "AsyncProject",
    "AsyncRecording",
    "AsyncReplay",
    "AsyncReport",
    "AsyncReview",
    "AsyncRun",
    "AsyncSignInSession",
    "AsyncStudy",
    "AuditEntry",
    "BulkAction",
    "Calibration",
    "Cap",
    "Change",
    "Checkpoint",
    "Client",
    "Comparison",
    "ConflictError",
    "DownloadError",
    "Evaluation",
    "ExecutorChoice",
    "Figure",
    "Finding",
    "Futures",
    "Health",
    "Histogram",
    "Image",
    "InvalidRequestError",
    "Job",
    "JobFailedError",
    "LogLine",
    "Metrics",
    "MissingPackageError",
    "MovedItems",
    "NotFoundError",
    "NotLoadedError",
    "Person",
    "PersonGroup",
    "Practice",
    "PracticePreview",
    "Preset",
    "Project",
    "ProjectMember",
    "Recording",
    "Replay",
    "Report",
    "ReportedRun",
    "Review",
    "Run",
    "RunForecast",
    "SavedView",
    "Series",
    "ServerUnreachableError",
    "SignInSession",
    "StartCalibration",
    "StartSet",
    "Study",
    "StudyPoint",
    "StudyPreview",
    "Table",
    "UnauthorizedError",
    "UsageRow",
    "Video",
    "WaitTimeoutError",
    "Worker",
    "connect",
    "init",
]
# A module is imported when one of its names is used. A script that logs a run needs no HTTP library, for example.
_NAMES_OF_MODULES = {
    "arcadia._async.accounts": "AsyncAccessToken AsyncPerson AsyncSignInSession",
    "arcadia._async.projects": "AsyncAlertChannel AsyncProject AsyncReport",
    "arcadia._async.studies": "AsyncStudy",
    "arcadia._async.artifacts": "AsyncArtifact AsyncArtifactVersion AsyncCheckpoint",
    "arcadia._async.client": "AsyncClient",
    "arcadia._async.jobs": (
        "AsyncCalibration AsyncEvaluation AsyncFutures AsyncJob AsyncPractice AsyncRecording AsyncReplay AsyncReview"
    ),
    "arcadia._async.runs": "AsyncRun",
    "arcadia._sync.accounts": "AccessToken Person SignInSession",
    "arcadia._sync.projects": "AlertChannel Project Report",
    "arcadia._sync.studies": "Study",
    "arcadia._sync.artifacts": "Artifact ArtifactVersion Checkpoint",
    "arcadia._sync.client": "Client",
    "arcadia._sync.jobs": "Calibration Evaluation Futures Job Practice Recording Replay Review",
    "arcadia._sync.runs": "Run",
    "arcadia.tables": "Comparison Metrics Series",
    "arcadia.errors": "AmbiguousReferenceError ApiError ArcadiaError ConflictError DownloadError "
    "InvalidRequestError JobFailedError MissingPackageError NotFoundError NotLoadedError "
    "ServerUnreachableError UnauthorizedError WaitTimeoutError",
    "arcadia.figures": "Figure",
    "arcadia.records.server": "Alert AlertDelivery Cap ExecutorChoice Health MovedItems Preset SavedView "
    "StartCalibration UsageRow Worker",
    "arcadia.records.account": "AuditEntry PersonGroup ProjectMember",
    "arcadia.records.artifact": "Alias",
    "arcadia.records.run": "Change Finding LogLine RunForecast",
    "arcadia.records.job": "BulkAction StartSet",
    "arcadia.records.review": "PracticePreview",
    "arcadia.records.study": "StudyPoint StudyPreview",
    "arcadia.reporting.initialization": "init",
    "arcadia.reporting.media": "Histogram Image Table Video",
    "arcadia.reporting.run": "ReportedRun",
}
_MODULES = {name: module for module, names in _NAMES_OF_MODULES.items() for name in names.split()}


def connect(url: str | None = None, token: str | None = None) -> Client:
    """Return a client. URL and token default to ARCADIA_URL, ARCADIA_TOKEN, or the last `arcadia login`."""
    from arcadia._sync.client import Client

    return Client(url, token)


def _load(name: str) -> Any:
    """Import a name of this package when it is used for the first time."""
    if name == "__version__":
        from arcadia.version import client_version

        value: Any = client_version()
    elif name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


if TYPE_CHECKING:
    __version__: str
else:  # type checkers would believe that every name exists
    __getattr__ = _load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
