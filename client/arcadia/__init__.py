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
    from arcadia._async.alerts import AsyncAlertChannel
    from arcadia._async.artifacts import AsyncArtifact, AsyncArtifactVersion
    from arcadia._async.checkpoints import AsyncCheckpoint
    from arcadia._async.client import AsyncClient
    from arcadia._async.jobs import AsyncCalibration, AsyncEvaluation, AsyncFutures, AsyncJob, AsyncRecording
    from arcadia._async.projects import AsyncProject
    from arcadia._async.replays import AsyncReplay
    from arcadia._async.reports import AsyncReport
    from arcadia._async.runs import AsyncRun
    from arcadia._async.studies import AsyncStudy
    from arcadia._sync.alerts import AlertChannel
    from arcadia._sync.artifacts import Artifact, ArtifactVersion
    from arcadia._sync.checkpoints import Checkpoint
    from arcadia._sync.client import Client
    from arcadia._sync.jobs import Calibration, Evaluation, Futures, Job, Recording
    from arcadia._sync.projects import Project
    from arcadia._sync.replays import Replay
    from arcadia._sync.reports import Report
    from arcadia._sync.runs import Run
    from arcadia._sync.studies import Study
    from arcadia.comparison import Comparison
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
    from arcadia.metrics import Metrics, Series
    from arcadia.records.alert import Alert, AlertDelivery
    from arcadia.records.alias import Alias
    from arcadia.records.change import Change
    from arcadia.records.finding import Finding
    from arcadia.records.forecast import RunForecast
    from arcadia.records.log_line import LogLine
    from arcadia.records.project import MovedItems
    from arcadia.records.server import Health, Preset, Worker
    from arcadia.records.start_set import StartSet
    from arcadia.records.study import StudyPoint, StudyPreview
    from arcadia.records.view import SavedView
    from arcadia.reporting.initialization import init
    from arcadia.reporting.media import Histogram, Image, Table, Video
    from arcadia.reporting.run import ReportedRun

__all__ = [
    "Alert",
    "AlertChannel",
    "AlertDelivery",
    "Alias",
    "AmbiguousReferenceError",
    "ApiError",
    "ArcadiaError",
    "Artifact",
    "ArtifactVersion",
    "AsyncAlertChannel",
    "AsyncArtifact",
    "AsyncArtifactVersion",
    "AsyncCalibration",
    "AsyncCheckpoint",
    "AsyncClient",
    "AsyncEvaluation",
    "AsyncFutures",
    "AsyncJob",
    "AsyncProject",
    "AsyncRecording",
    "AsyncReplay",
    "AsyncReport",
    "AsyncRun",
    "AsyncStudy",
    "Calibration",
    "Change",
    "Checkpoint",
    "Client",
    "Comparison",
    "ConflictError",
    "DownloadError",
    "Evaluation",
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
    "Preset",
    "Project",
    "Recording",
    "Replay",
    "Report",
    "ReportedRun",
    "Run",
    "RunForecast",
    "SavedView",
    "Series",
    "ServerUnreachableError",
    "StartSet",
    "Study",
    "StudyPoint",
    "StudyPreview",
    "Table",
    "UnauthorizedError",
    "Video",
    "WaitTimeoutError",
    "Worker",
    "connect",
    "init",
]
# A module is imported when one of its names is used. A script that logs a run needs no HTTP library, for example.
_NAMES_OF_MODULES = {
    "arcadia._async.alerts": "AsyncAlertChannel",
    "arcadia._async.artifacts": "AsyncArtifact AsyncArtifactVersion",
    "arcadia._async.checkpoints": "AsyncCheckpoint",
    "arcadia._async.client": "AsyncClient",
    "arcadia._async.jobs": "AsyncCalibration AsyncEvaluation AsyncFutures AsyncJob AsyncRecording",
    "arcadia._async.projects": "AsyncProject",
    "arcadia._async.replays": "AsyncReplay",
    "arcadia._async.reports": "AsyncReport",
    "arcadia._async.runs": "AsyncRun",
    "arcadia._async.studies": "AsyncStudy",
    "arcadia._sync.alerts": "AlertChannel",
    "arcadia._sync.artifacts": "Artifact ArtifactVersion",
    "arcadia._sync.checkpoints": "Checkpoint",
    "arcadia._sync.client": "Client",
    "arcadia._sync.jobs": "Calibration Evaluation Futures Job Recording",
    "arcadia._sync.projects": "Project",
    "arcadia._sync.replays": "Replay",
    "arcadia._sync.reports": "Report",
    "arcadia._sync.runs": "Run",
    "arcadia._sync.studies": "Study",
    "arcadia.comparison": "Comparison",
    "arcadia.errors": "AmbiguousReferenceError ApiError ArcadiaError ConflictError DownloadError InvalidRequestError "
    "JobFailedError MissingPackageError NotFoundError NotLoadedError ServerUnreachableError UnauthorizedError "
    "WaitTimeoutError",
    "arcadia.figures": "Figure",
    "arcadia.metrics": "Metrics Series",
    "arcadia.records.alert": "Alert AlertDelivery",
    "arcadia.records.alias": "Alias",
    "arcadia.records.change": "Change",
    "arcadia.records.finding": "Finding",
    "arcadia.records.forecast": "RunForecast",
    "arcadia.records.log_line": "LogLine",
    "arcadia.records.project": "MovedItems",
    "arcadia.records.server": "Health Preset Worker",
    "arcadia.records.start_set": "StartSet",
    "arcadia.records.study": "StudyPoint StudyPreview",
    "arcadia.records.view": "SavedView",
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

        found: Any = client_version()
    elif name in _MODULES:
        found = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


if TYPE_CHECKING:
    __version__: str
else:  # type checkers would believe that every name exists
    __getattr__ = _load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
