"""How the rows of each table reach their project. backend/arcadia_backend/database/rights.py limits queries by it."""

from collections.abc import Mapping
from dataclasses import dataclass

from arcadia_backend.database.scope import Role
from arcadia_workers.contract.jobs import JOB_KINDS


@dataclass(frozen=True)
class Own:
    """A column with the id of the project."""

    column: str
    # The role that changes a row.
    role: Role = Role.EDITOR


@dataclass(frozen=True)
class Through:
    """A column with the primary key of a row of another table, which has the same project."""

    column: str
    table: str
    # Queries join the table from outside by a plain join, which has rows without a partner.
    outer: bool = False


@dataclass(frozen=True)
class UsedBy:
    """Rows that a row of another table uses: it has the project of each of those."""

    table: str
    column: str
    key: str


@dataclass(frozen=True)
class AnyOf:
    """Several ways. The first one whose column is not empty decides about a change."""

    ways: tuple[Through | UsedBy, ...]


@dataclass(frozen=True)
class BulkRuns:
    """A bulk action, which is visible with all of its runs."""


# Belongs to no project. The doors in backend/arcadia_backend/web/doors.py decide who reads and changes it.
INSTALLATION = None

OF_RUN = Through("run_id", "runs")
OF_STUDY = Through("study_id", "studies")
OF_REPLAY = Through("replay_id", "replays")
OF_JOB = Through("job_id", "jobs")
# For columns that may be empty. Own is for the others.
OF_PROJECT = Through("project_id", "projects")

PROJECT_OF: Mapping[str, Own | Through | AnyOf | BulkRuns | None] = {
    "projects": Own("id", Role.ADMINISTRATOR),
    "runs": Own("project_id"),
    "studies": Own("project_id"),
    "reports": Own("project_id"),
    "views": Own("project_id"),
    "boards": Own("project_id"),
    "artifacts": Own("project_id"),
    "moved_panels": Own("into_id"),
    "usage": Own("project_id"),
    "project_roles": Own("project_id", Role.ADMINISTRATOR),
    # Of runs
    "attempts": OF_RUN,
    "start_forecasts": OF_RUN,
    "log_lines": OF_RUN,
    "run_tags": Through("run_id", "runs", outer=True),
    "run_settings": Through("run_id", "runs", outer=True),
    "run_changes": OF_RUN,
    "measurements": OF_RUN,
    "submissions": OF_RUN,
    "checkpoints": OF_RUN,
    "event_digests": AnyOf((OF_RUN, OF_JOB)),
    "alias_changes": OF_RUN,
    "provenance_documents": AnyOf(
        (UsedBy("attempts", "packages_sha256", "sha256"), UsedBy("attempts", "diff_sha256", "sha256"))
    ),
    "bulk_actions": BulkRuns(),
    # Runs may have been purged.
    "bulk_action_runs": Through("bulk_action_id", "bulk_actions"),
    "metric_series": Through("run_id", "runs", outer=True),
    "metric_chunks": Through("series_id", "metric_series"),
    "metric_pages": Through("series_id", "metric_series"),
    "metric_clocks": OF_RUN,
    "media": OF_RUN,
    "files": AnyOf((OF_RUN, OF_JOB, UsedBy("artifact_entries", "file_id", "id"))),
    "archive_imports": OF_RUN,
    # Of jobs and what they make
    "jobs": AnyOf((OF_RUN, OF_PROJECT)),
    **{each.table: OF_JOB for each in JOB_KINDS.values() if each.table},
    # These have a column that reaches their project sooner.
    "evaluations": OF_RUN,
    "evaluation_episodes": Through("evaluation_id", "evaluations"),
    "calibrations": OF_RUN,
    "replays": OF_RUN,
    "futures": OF_REPLAY,
    "practices": OF_REPLAY,
    "kept_games": Own("project_id"),
    "start_sets": Own("project_id"),
    # Of artifacts
    "artifact_versions": Through("artifact_id", "artifacts"),
    "artifact_aliases": Through("artifact_id", "artifacts"),
    "artifact_entries": Through("version_id", "artifact_versions"),
    "artifact_links": OF_RUN,
    # Of studies and reports
    "study_points": OF_STUDY,
    "study_runs": Through("study_id", "studies", outer=True),
    "paper_studies": OF_STUDY,
    "study_imports": OF_STUDY,
    "report_imports": Through("report_id", "reports"),
    # Alerts without a run and a study are about the installation.
    "alerts": AnyOf((OF_RUN, OF_STUDY)),
    "alert_deliveries": Through("alert_id", "alerts"),
    "score_rules": Own("project_id"),
    # Of the installation
    **dict.fromkeys(
        "alert_rules alert_channels installation idempotency_keys workers people person_identities person_groups "
        "group_members access_tokens sign_in_sessions one_time_links device_logins audit_log "
        "executor_settings job_workers caps".split(),
        INSTALLATION,
    ),
}
LIMITED = frozenset(table for table, way in PROJECT_OF.items() if way is not INSTALLATION)
