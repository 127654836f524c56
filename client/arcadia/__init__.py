"""The Python client of Arcadia.

client = arcadia.connect("http://127.0.0.1:8000")
run = client.launch("paac-cartpole", seed=3)
run.wait()
"""

from __future__ import annotations

from arcadia._async.checkpoints import AsyncCheckpoint
from arcadia._async.client import AsyncClient
from arcadia._async.jobs import AsyncEvaluation, AsyncJob, AsyncRecording
from arcadia._async.replays import AsyncReplay
from arcadia._async.reports import AsyncReport
from arcadia._async.runs import AsyncRun
from arcadia._async.studies import AsyncStudy
from arcadia._sync.checkpoints import Checkpoint
from arcadia._sync.client import Client
from arcadia._sync.jobs import Evaluation, Job, Recording
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
    ServerUnreachableError,
    UnauthorizedError,
    WaitTimeoutError,
)
from arcadia.figures import Figure
from arcadia.metrics import Metrics, Series
from arcadia.records.log_line import LogLine
from arcadia.records.server import Health, Preset, Worker
from arcadia.records.study import StudyPoint, StudyPreview
from arcadia.version import client_version

__all__ = [
    "AmbiguousReferenceError",
    "ApiError",
    "ArcadiaError",
    "AsyncCheckpoint",
    "AsyncClient",
    "AsyncEvaluation",
    "AsyncJob",
    "AsyncRecording",
    "AsyncReplay",
    "AsyncReport",
    "AsyncRun",
    "AsyncStudy",
    "Checkpoint",
    "Client",
    "Comparison",
    "ConflictError",
    "DownloadError",
    "Evaluation",
    "Figure",
    "Health",
    "InvalidRequestError",
    "Job",
    "JobFailedError",
    "LogLine",
    "Metrics",
    "MissingPackageError",
    "NotFoundError",
    "Preset",
    "Recording",
    "Replay",
    "Report",
    "Run",
    "Series",
    "ServerUnreachableError",
    "Study",
    "StudyPoint",
    "StudyPreview",
    "UnauthorizedError",
    "WaitTimeoutError",
    "Worker",
    "connect",
]
__version__ = client_version()


def connect(url: str | None = None, token: str | None = None) -> Client:
    """Return a client. URL and token default to ARCADIA_URL, ARCADIA_TOKEN, or the last `arcadia login`."""
    return Client(url, token)
