"""Tables of the database, one module per noun. Those of metrics are in backend/metrics/models.py."""

from backend.database.tables.alerts import Alert, AlertChannel, AlertDelivery, AlertRule, ScoreRule
from backend.database.tables.aliases import AliasChange
from backend.database.tables.archive_imports import ArchiveImport, ReportImport, StudyImport
from backend.database.tables.artifacts import Artifact, ArtifactAlias, ArtifactEntry, ArtifactLink, ArtifactVersion
from backend.database.tables.base import (
    AlertKind,
    AlertRuleKind,
    ArtifactRole,
    Base,
    ChannelKind,
    DeliveryState,
    GameEnd,
    Id,
    MediaKind,
    Origin,
    RunOrigin,
    StoredKind,
    StudyState,
)
from backend.database.tables.boards import MAX_PANEL_KEY, MAX_PANELS, Board, MovedPanel
from backend.database.tables.calibrations import Calibration
from backend.database.tables.changes import RunChange
from backend.database.tables.checkpoints import Checkpoint
from backend.database.tables.evaluations import Evaluation, EvaluationEpisode
from backend.database.tables.event_digests import EventDigests
from backend.database.tables.files import File
from backend.database.tables.futures import Futures
from backend.database.tables.idempotency import IdempotencyKey
from backend.database.tables.installation import Installation
from backend.database.tables.jobs import Job
from backend.database.tables.kept_games import KeptGame
from backend.database.tables.media import Media
from backend.database.tables.projects import MAIN, MAIN_ID, Project, name_key
from backend.database.tables.provenance import ProvenanceDocument
from backend.database.tables.replays import Replay
from backend.database.tables.reports import Report
from backend.database.tables.runs import Attempt, LogLine, Measurement, Run, RunTag
from backend.database.tables.sessions import SignInSession
from backend.database.tables.start_sets import StartSet
from backend.database.tables.studies import PaperStudy, Study, StudyPoint, StudyRun
from backend.database.tables.views import SavedView
from backend.database.tables.workers import Worker

__all__ = [
    "MAIN",
    "MAIN_ID",
    "MAX_PANELS",
    "MAX_PANEL_KEY",
    "Alert",
    "AlertChannel",
    "AlertDelivery",
    "AlertKind",
    "AlertRule",
    "AlertRuleKind",
    "AliasChange",
    "ArchiveImport",
    "Artifact",
    "ArtifactAlias",
    "ArtifactEntry",
    "ArtifactLink",
    "ArtifactRole",
    "ArtifactVersion",
    "Attempt",
    "Base",
    "Board",
    "Calibration",
    "ChannelKind",
    "Checkpoint",
    "DeliveryState",
    "Evaluation",
    "EvaluationEpisode",
    "EventDigests",
    "File",
    "Futures",
    "GameEnd",
    "Id",
    "IdempotencyKey",
    "Installation",
    "Job",
    "KeptGame",
    "LogLine",
    "Measurement",
    "Media",
    "MediaKind",
    "MovedPanel",
    "Origin",
    "PaperStudy",
    "Project",
    "ProvenanceDocument",
    "Replay",
    "Report",
    "ReportImport",
    "Run",
    "RunChange",
    "RunOrigin",
    "RunTag",
    "SavedView",
    "ScoreRule",
    "SignInSession",
    "StartSet",
    "StoredKind",
    "Study",
    "StudyImport",
    "StudyPoint",
    "StudyRun",
    "StudyState",
    "Worker",
    "name_key",
]
