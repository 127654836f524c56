"""First tables: the schema of the oldest data folders that can be opened

Revision ID: 0035
Revises: nothing
"""

from datetime import UTC, datetime
from string import Template

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0035"
down_revision = None
branch_labels = None
depends_on = None

# Types that differ between the databases. A `$key` is never used again after its row was deleted. `$id` refers to one.
TYPES = {
    "sqlite": {
        "key": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
        "serial": "INTEGER NOT NULL",
        "id": "INTEGER",
        "json": "JSON",
        "time": "DATETIME",
        "double": "DOUBLE",
        "blob": "BLOB",
        "false": "0",
    },
    "postgresql": {
        "key": "BIGSERIAL CONSTRAINT $primary_key PRIMARY KEY",
        "serial": "BIGSERIAL",
        "id": "BIGINT",
        "json": "JSONB",
        "time": "TIMESTAMP WITH TIME ZONE",
        "double": "DOUBLE PRECISION",
        "blob": "BYTEA",
        "false": "false",
    },
}

# A table follows those that it refers to.
TABLES = {
    "alert_channels": """
        id $key, kind VARCHAR(16) NOT NULL, name VARCHAR(100) NOT NULL, url TEXT NOT NULL, secret VARCHAR(100),
        kinds $json, enabled BOOLEAN NOT NULL, created_at $time NOT NULL
    """,
    "alert_rules": """
        kind VARCHAR(24) NOT NULL, enabled BOOLEAN NOT NULL, threshold $double,
        CONSTRAINT pk_alert_rules PRIMARY KEY (kind)
    """,
    "alias_changes": """
        id $key, name VARCHAR(100) NOT NULL, checkpoint_id BIGINT, run_id BIGINT, run_name VARCHAR(200), step BIGINT,
        who VARCHAR(100), why TEXT NOT NULL, changed_at $time NOT NULL
    """,
    "idempotency_keys": """
        "key" VARCHAR(200) NOT NULL, fingerprint VARCHAR(64) NOT NULL, created_at $time NOT NULL, response TEXT,
        CONSTRAINT pk_idempotency_keys PRIMARY KEY ("key")
    """,
    "installation": """
        id INTEGER NOT NULL, identity VARCHAR(32) NOT NULL,
        CONSTRAINT pk_installation PRIMARY KEY (id)
    """,
    "projects": """
        id $key, name VARCHAR(100) NOT NULL, name_key VARCHAR(300) NOT NULL, text TEXT NOT NULL,
        pinned_report_id BIGINT, created_at $time NOT NULL,
        CONSTRAINT uq_projects_name_key UNIQUE (name_key)
    """,
    "provenance_documents": """
        sha256 VARCHAR(64) NOT NULL, content TEXT NOT NULL,
        CONSTRAINT pk_provenance_documents PRIMARY KEY (sha256)
    """,
    "reports": """
        id $key, title VARCHAR(200) NOT NULL, blocks $json NOT NULL, version INTEGER NOT NULL, share_token VARCHAR(64),
        created_at $time NOT NULL, updated_at $time NOT NULL, project_id $id NOT NULL,
        CONSTRAINT uq_reports_share_token UNIQUE (share_token),
        CONSTRAINT fk_reports_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
    """,
    "runs": """
        id $key, name VARCHAR(200) NOT NULL, algorithm VARCHAR(100) NOT NULL, env VARCHAR(100) NOT NULL,
        queue VARCHAR(8), priority INTEGER NOT NULL, notes TEXT NOT NULL, config $json NOT NULL,
        state VARCHAR(16) NOT NULL, desired VARCHAR(16) NOT NULL, state_reason TEXT, failure_message TEXT,
        failure_traceback TEXT, parent_run_id BIGINT, parent_checkpoint_id BIGINT, parent_step BIGINT,
        attempt INTEGER NOT NULL, worker VARCHAR(100), lease_expires_at $time, requeues INTEGER NOT NULL,
        created_at $time NOT NULL, started_at $time, finished_at $time, archived_at $time, step BIGINT NOT NULL,
        frames BIGINT NOT NULL, total_steps BIGINT, steps_per_second $double, seconds_left $double,
        episodes BIGINT NOT NULL, last_return $double, best_return $double, poster_file_id BIGINT, versions $json,
        command $json, queued_at $time, origin VARCHAR(16) DEFAULT 'trained' NOT NULL, origin_label VARCHAR(50),
        reported_key VARCHAR(64), project_id $id NOT NULL, needed_plugins VARCHAR(500) DEFAULT '' NOT NULL,
        CONSTRAINT uq_runs_reported_key UNIQUE (reported_key),
        CONSTRAINT fk_runs_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
    """,
    "score_rules": """
        id $key, env VARCHAR(100), score $double NOT NULL, created_at $time NOT NULL
    """,
    "signed_in": """
        proof VARCHAR(64) NOT NULL, ends_at $time NOT NULL,
        CONSTRAINT pk_signed_in PRIMARY KEY (proof)
    """,
    "start_sets": """
        id $key, env VARCHAR(100) NOT NULL, name VARCHAR(100) NOT NULL, player VARCHAR(8) NOT NULL,
        source TEXT NOT NULL, emulator VARCHAR(100) NOT NULL, points INTEGER NOT NULL, sha256 VARCHAR(64) NOT NULL,
        bytes BIGINT NOT NULL, content TEXT NOT NULL, created_at $time NOT NULL,
        CONSTRAINT uq_start_sets_env_name UNIQUE (env, name),
        CONSTRAINT uq_start_sets_sha256 UNIQUE (sha256)
    """,
    "studies": """
        id $key, name VARCHAR(200) NOT NULL, question TEXT NOT NULL, specification $json NOT NULL,
        state VARCHAR(16) NOT NULL, state_reason TEXT, created_at $time NOT NULL, started_at $time NOT NULL,
        finished_at $time, project_id $id NOT NULL,
        CONSTRAINT fk_studies_project_id FOREIGN KEY (project_id) REFERENCES projects (id)
    """,
    "study_imports": """
        study_id $id NOT NULL, installation VARCHAR(32) NOT NULL, source_id BIGINT NOT NULL,
        content_sha256 VARCHAR(64) NOT NULL, imported_at $time NOT NULL,
        CONSTRAINT pk_study_imports PRIMARY KEY (study_id),
        CONSTRAINT fk_study_imports_study_id FOREIGN KEY (study_id) REFERENCES studies (id) ON DELETE CASCADE
    """,
    "study_points": """
        study_id $id NOT NULL, number INTEGER NOT NULL, draw $json NOT NULL,
        CONSTRAINT pk_study_points PRIMARY KEY (study_id, number),
        CONSTRAINT fk_study_points_study_id FOREIGN KEY (study_id) REFERENCES studies (id) ON DELETE CASCADE
    """,
    "study_runs": """
        study_id $id NOT NULL, point INTEGER NOT NULL, seed BIGINT NOT NULL, run_id BIGINT,
        CONSTRAINT pk_study_runs PRIMARY KEY (study_id, point, seed),
        CONSTRAINT fk_study_runs_study_id FOREIGN KEY (study_id) REFERENCES studies (id) ON DELETE CASCADE
    """,
    "views": """
        id $key, project_id $id NOT NULL, name VARCHAR(100) NOT NULL, name_key VARCHAR(300) NOT NULL,
        "query" TEXT NOT NULL, created_at $time NOT NULL, updated_at $time NOT NULL,
        CONSTRAINT fk_views_project_id FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE,
        CONSTRAINT uq_views_project_id_name_key UNIQUE (project_id, name_key)
    """,
    "workers": """
        name VARCHAR(100) NOT NULL, host VARCHAR(255) NOT NULL, queue VARCHAR(8) NOT NULL, pid INTEGER NOT NULL,
        version VARCHAR(50) NOT NULL, device VARCHAR(255) NOT NULL, cores INTEGER NOT NULL,
        memory_bytes BIGINT NOT NULL, run_id BIGINT, last_seen_at $time NOT NULL, "left" BOOLEAN NOT NULL,
        job_slots INTEGER DEFAULT '0' NOT NULL, plugins $json DEFAULT '[]' NOT NULL,
        CONSTRAINT pk_workers PRIMARY KEY (name)
    """,
    "alerts": """
        id $key, "key" VARCHAR(200), kind VARCHAR(24) NOT NULL, level VARCHAR(16) NOT NULL, title VARCHAR(300) NOT NULL,
        text TEXT NOT NULL, run_id $id, study_id $id, created_at $time NOT NULL, read_at $time, ended_at $time,
        CONSTRAINT fk_alerts_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE SET NULL,
        CONSTRAINT fk_alerts_study_id FOREIGN KEY (study_id) REFERENCES studies (id) ON DELETE SET NULL,
        CONSTRAINT uq_alerts_key UNIQUE ("key")
    """,
    "archive_imports": """
        run_id $id NOT NULL, installation VARCHAR(32) NOT NULL, source_id BIGINT NOT NULL,
        content_sha256 VARCHAR(64) NOT NULL, imported_at $time NOT NULL,
        CONSTRAINT pk_archive_imports PRIMARY KEY (run_id),
        CONSTRAINT fk_archive_imports_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "attempts": """
        run_id $id NOT NULL, attempt INTEGER NOT NULL, worker VARCHAR(100), claimed_at $time NOT NULL, started_at $time,
        ended_at $time, outcome VARCHAR(16), failure_message TEXT, failure_traceback TEXT, resumed_step BIGINT,
        last_seq INTEGER NOT NULL, host VARCHAR(255), device VARCHAR(255), precision VARCHAR(32), seed BIGINT,
        roles $json, start_steps $json, provenance $json, packages_sha256 VARCHAR(64), diff_sha256 VARCHAR(64),
        writer VARCHAR(64), joins BOOLEAN DEFAULT $false NOT NULL, problems $json,
        CONSTRAINT pk_attempts PRIMARY KEY (run_id, attempt),
        CONSTRAINT fk_attempts_diff_sha256 FOREIGN KEY (diff_sha256) REFERENCES provenance_documents (sha256),
        CONSTRAINT fk_attempts_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT fk_attempts_packages_sha256 FOREIGN KEY (packages_sha256) REFERENCES provenance_documents (sha256),
        CONSTRAINT uq_attempts_run_id_writer UNIQUE (run_id, writer)
    """,
    "boards": """
        project_id $id NOT NULL, panels $json NOT NULL, version INTEGER NOT NULL, updated_at $time NOT NULL,
        CONSTRAINT pk_boards PRIMARY KEY (project_id),
        CONSTRAINT fk_boards_project_id FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE
    """,
    "jobs": """
        id $key, kind VARCHAR(16) NOT NULL, run_id $id, checkpoint_id BIGINT, parameters $json NOT NULL,
        state VARCHAR(16) NOT NULL, desired VARCHAR(16) NOT NULL, message TEXT, traceback TEXT, done BIGINT NOT NULL,
        total BIGINT NOT NULL, attempt INTEGER NOT NULL, last_seq INTEGER NOT NULL, outcome VARCHAR(16),
        worker VARCHAR(100), lease_expires_at $time, tries INTEGER NOT NULL, created_at $time NOT NULL,
        started_at $time, finished_at $time, needed_plugins VARCHAR(500) DEFAULT '' NOT NULL,
        CONSTRAINT fk_jobs_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "log_lines": """
        id $key, run_id $id NOT NULL, attempt INTEGER NOT NULL, time $time NOT NULL, level VARCHAR(16) NOT NULL,
        message TEXT NOT NULL,
        CONSTRAINT fk_log_lines_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "measurements": """
        run_id $id NOT NULL,
        CONSTRAINT pk_measurements PRIMARY KEY (run_id),
        CONSTRAINT fk_measurements_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "metric_clocks": """
        run_id $id NOT NULL, attempt INTEGER NOT NULL, first $double NOT NULL, last $double NOT NULL,
        CONSTRAINT pk_metric_clocks PRIMARY KEY (run_id, attempt),
        CONSTRAINT fk_metric_clocks_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "metric_series": """
        id $serial, run_id $id NOT NULL, name VARCHAR(200) NOT NULL, count BIGINT NOT NULL, last $double, min $double,
        max $double, recent_mean $double, recent $blob NOT NULL, stored BIGINT NOT NULL, chunks INTEGER NOT NULL,
        tail INTEGER NOT NULL,
        CONSTRAINT pk_metric_series PRIMARY KEY (id),
        CONSTRAINT fk_metric_series_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT uq_metric_series_run_id_name UNIQUE (run_id, name)
    """,
    "moved_panels": """
        project_id $id NOT NULL, "key" VARCHAR(32) NOT NULL, into_id $id NOT NULL, into_key VARCHAR(32) NOT NULL,
        CONSTRAINT pk_moved_panels PRIMARY KEY (project_id, "key"),
        CONSTRAINT fk_moved_panels_into_id FOREIGN KEY (into_id) REFERENCES projects (id) ON DELETE CASCADE
    """,
    "paper_studies": """
        study_id $id NOT NULL, paper VARCHAR(60) NOT NULL, item VARCHAR(60) NOT NULL, part VARCHAR(60) NOT NULL,
        share $double NOT NULL,
        CONSTRAINT pk_paper_studies PRIMARY KEY (study_id),
        CONSTRAINT fk_paper_studies_study_id FOREIGN KEY (study_id) REFERENCES studies (id) ON DELETE CASCADE
    """,
    "report_imports": """
        report_id $id NOT NULL, installation VARCHAR(32) NOT NULL, source_id BIGINT NOT NULL,
        content_sha256 VARCHAR(64) NOT NULL, imported_at $time NOT NULL,
        CONSTRAINT pk_report_imports PRIMARY KEY (report_id),
        CONSTRAINT fk_report_imports_report_id FOREIGN KEY (report_id) REFERENCES reports (id) ON DELETE CASCADE
    """,
    "run_changes": """
        run_id $id NOT NULL, number INTEGER NOT NULL, fields $json NOT NULL, previous $json NOT NULL,
        requested_at $time NOT NULL, requested_by VARCHAR(100), applied_at $time, applied_step BIGINT, attempt INTEGER,
        CONSTRAINT pk_run_changes PRIMARY KEY (run_id, number),
        CONSTRAINT fk_run_changes_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "run_tags": """
        run_id $id NOT NULL, tag VARCHAR(50) NOT NULL,
        CONSTRAINT pk_run_tags PRIMARY KEY (run_id, tag),
        CONSTRAINT fk_run_tags_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "alert_deliveries": """
        id $key, "key" VARCHAR(32) NOT NULL, alert_id $id NOT NULL, channel_id $id NOT NULL, state VARCHAR(16) NOT NULL,
        tries INTEGER NOT NULL, created_at $time NOT NULL, next_try_at $time, ended_at $time, status INTEGER,
        response TEXT, error TEXT,
        CONSTRAINT fk_alert_deliveries_alert_id FOREIGN KEY (alert_id) REFERENCES alerts (id) ON DELETE CASCADE,
        CONSTRAINT fk_alert_deliveries_channel_id FOREIGN KEY (channel_id)
            REFERENCES alert_channels (id) ON DELETE CASCADE,
        CONSTRAINT uq_alert_deliveries_key UNIQUE ("key")
    """,
    "files": """
        id $key, run_id $id, attempt INTEGER NOT NULL, kind VARCHAR(16) NOT NULL, path VARCHAR(255) NOT NULL,
        stored_path VARCHAR(255) NOT NULL, sha256 VARCHAR(64) NOT NULL, bytes BIGINT NOT NULL,
        created_at $time NOT NULL, job_id $id,
        CONSTRAINT fk_files_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT fk_files_job_id FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
    """,
    "media": """
        id $key, run_id $id NOT NULL, attempt INTEGER NOT NULL, name VARCHAR(200) NOT NULL, kind VARCHAR(16) NOT NULL,
        step BIGINT NOT NULL, time $time NOT NULL, file_id $id, data $json, caption TEXT,
        CONSTRAINT fk_media_file_id FOREIGN KEY (file_id) REFERENCES files (id) ON DELETE CASCADE,
        CONSTRAINT fk_media_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE
    """,
    "metric_chunks": """
        series_id $id NOT NULL, number INTEGER NOT NULL, attempt INTEGER NOT NULL, data $blob NOT NULL,
        CONSTRAINT pk_metric_chunks PRIMARY KEY (series_id, number),
        CONSTRAINT fk_metric_chunks_series_id FOREIGN KEY (series_id) REFERENCES metric_series (id) ON DELETE CASCADE
    """,
    "metric_pages": """
        series_id $id NOT NULL, number INTEGER NOT NULL, data $blob NOT NULL,
        CONSTRAINT pk_metric_pages PRIMARY KEY (series_id, number),
        CONSTRAINT fk_metric_pages_series_id FOREIGN KEY (series_id) REFERENCES metric_series (id) ON DELETE CASCADE
    """,
    "replays": """
        id $key, run_id $id NOT NULL, attempt INTEGER NOT NULL, step BIGINT NOT NULL, frames BIGINT NOT NULL,
        file VARCHAR(255) NOT NULL, checkpoint VARCHAR(255) NOT NULL, file_id $id, poster_file_id $id,
        episode_return $double NOT NULL, length INTEGER NOT NULL, seconds $double NOT NULL, created_at $time NOT NULL,
        seen_file_id $id, track_file_id $id, job_id $id, pinned BOOLEAN DEFAULT $false NOT NULL, saliency_job_id $id,
        CONSTRAINT fk_replays_poster_file_id FOREIGN KEY (poster_file_id) REFERENCES files (id) ON DELETE SET NULL,
        CONSTRAINT fk_replays_file_id FOREIGN KEY (file_id) REFERENCES files (id) ON DELETE SET NULL,
        CONSTRAINT fk_replays_track_file_id FOREIGN KEY (track_file_id) REFERENCES files (id) ON DELETE SET NULL,
        CONSTRAINT fk_replays_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT fk_replays_seen_file_id FOREIGN KEY (seen_file_id) REFERENCES files (id) ON DELETE SET NULL,
        CONSTRAINT fk_replays_job_id FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE,
        CONSTRAINT fk_replays_saliency_job_id FOREIGN KEY (saliency_job_id) REFERENCES jobs (id) ON DELETE SET NULL,
        CONSTRAINT uq_replays_run_id_attempt_file UNIQUE (run_id, attempt, file),
        CONSTRAINT uq_replays_job_id UNIQUE (job_id)
    """,
    "checkpoints": """
        id $serial, run_id $id NOT NULL, attempt INTEGER NOT NULL, step BIGINT NOT NULL, frames BIGINT NOT NULL,
        file VARCHAR(255) NOT NULL, sha256 VARCHAR(64) NOT NULL, bytes BIGINT NOT NULL, file_id $id,
        return_mean $double, best BOOLEAN NOT NULL, created_at $time NOT NULL, pinned BOOLEAN DEFAULT $false NOT NULL,
        scheduled BOOLEAN DEFAULT $false NOT NULL, source_sha256 VARCHAR(64),
        CONSTRAINT pk_checkpoints PRIMARY KEY (id),
        CONSTRAINT uq_checkpoints_run_id_attempt_file UNIQUE (run_id, attempt, file),
        CONSTRAINT fk_checkpoints_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT fk_checkpoints_file_id FOREIGN KEY (file_id) REFERENCES files (id) ON DELETE SET NULL
    """,
    "evaluations": """
        id $key, run_id $id NOT NULL, job_id $id NOT NULL, checkpoint_id $id NOT NULL, step BIGINT NOT NULL,
        frames BIGINT NOT NULL, sha256 VARCHAR(64) NOT NULL, protocol VARCHAR(50) NOT NULL, acting $json NOT NULL,
        seed BIGINT NOT NULL, origin VARCHAR(16) NOT NULL, document $json, mean $double, start_set_id BIGINT,
        starts $json,
        CONSTRAINT fk_evaluations_run_id FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT fk_evaluations_checkpoint_id FOREIGN KEY (checkpoint_id)
            REFERENCES checkpoints (id) ON DELETE CASCADE,
        CONSTRAINT fk_evaluations_job_id FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE,
        CONSTRAINT uq_evaluations_job_id UNIQUE (job_id)
    """,
    "futures": """
        id $key, replay_id $id NOT NULL, job_id $id NOT NULL, options $json NOT NULL, document $json,
        CONSTRAINT fk_futures_replay_id_replays FOREIGN KEY (replay_id) REFERENCES replays (id) ON DELETE CASCADE,
        CONSTRAINT fk_futures_job_id_jobs FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE,
        CONSTRAINT uq_futures_job_id UNIQUE (job_id)
    """,
    "kept_games": """
        id $key, env VARCHAR(100) NOT NULL, job_id $id NOT NULL, file_id $id, poster_file_id $id, seed BIGINT NOT NULL,
        frames INTEGER NOT NULL, score $double NOT NULL, ended VARCHAR(16) NOT NULL, emulator VARCHAR(100) NOT NULL,
        start_points INTEGER NOT NULL, actions $json NOT NULL, screens $json NOT NULL, created_at $time NOT NULL,
        replay_id $id, decision INTEGER, score_before $double, frames_before INTEGER, agent_frames INTEGER,
        CONSTRAINT fk_kept_games_job_id FOREIGN KEY (job_id) REFERENCES jobs (id),
        CONSTRAINT fk_kept_games_poster_file_id FOREIGN KEY (poster_file_id) REFERENCES files (id) ON DELETE SET NULL,
        CONSTRAINT fk_kept_games_file_id FOREIGN KEY (file_id) REFERENCES files (id) ON DELETE SET NULL,
        CONSTRAINT uq_kept_games_job_id UNIQUE (job_id),
        CONSTRAINT fk_kept_games_replay_id_replays FOREIGN KEY (replay_id) REFERENCES replays (id) ON DELETE SET NULL
    """,
    "calibrations": """
        id $key, run_id $id NOT NULL, job_id $id NOT NULL, checkpoint_id $id NOT NULL, step BIGINT NOT NULL,
        frames BIGINT NOT NULL, sha256 VARCHAR(64) NOT NULL, protocol VARCHAR(50) NOT NULL, seed BIGINT NOT NULL,
        origin VARCHAR(16) NOT NULL, options $json NOT NULL, document $json,
        CONSTRAINT fk_calibrations_run_id_runs FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT fk_calibrations_job_id_jobs FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE,
        CONSTRAINT fk_calibrations_checkpoint_id_checkpoints FOREIGN KEY (checkpoint_id)
            REFERENCES checkpoints (id) ON DELETE CASCADE,
        CONSTRAINT uq_calibrations_job_id UNIQUE (job_id)
    """,
    "evaluation_episodes": """
        evaluation_id $id NOT NULL, number BIGINT NOT NULL, score $double NOT NULL, frames BIGINT NOT NULL,
        frames_before BIGINT NOT NULL, length BIGINT NOT NULL, ended VARCHAR(16) NOT NULL,
        CONSTRAINT pk_evaluation_episodes PRIMARY KEY (evaluation_id, number),
        CONSTRAINT fk_evaluation_episodes_evaluation_id FOREIGN KEY (evaluation_id)
            REFERENCES evaluations (id) ON DELETE CASCADE
    """,
}

INDEXES = """
INDEX ix_alert_deliveries_alert_id ON alert_deliveries (alert_id)
INDEX ix_alert_deliveries_channel_id ON alert_deliveries (channel_id)
INDEX ix_alert_deliveries_due ON alert_deliveries (state, next_try_at)
INDEX ix_alerts_created_at ON alerts (created_at)
INDEX ix_alerts_run_id ON alerts (run_id)
INDEX ix_alerts_study_id ON alerts (study_id)
INDEX ix_alias_changes_checkpoint_id ON alias_changes (checkpoint_id)
INDEX ix_alias_changes_name_id ON alias_changes (name, id)
INDEX ix_alias_changes_run_id ON alias_changes (run_id)
INDEX ix_archive_imports_source ON archive_imports (installation, source_id)
INDEX ix_attempts_diff_sha256 ON attempts (diff_sha256)
INDEX ix_attempts_packages_sha256 ON attempts (packages_sha256)
INDEX ix_calibrations_checkpoint_id ON calibrations (checkpoint_id)
INDEX ix_calibrations_run_id_id ON calibrations (run_id, id)
INDEX ix_checkpoints_file_id ON checkpoints (file_id)
INDEX ix_checkpoints_source_sha256 ON checkpoints (source_sha256)
INDEX ix_evaluations_checkpoint_id ON evaluations (checkpoint_id)
INDEX ix_evaluations_run_id_id ON evaluations (run_id, id)
UNIQUE INDEX uq_files_job_id_attempt_path ON files (job_id, attempt, path) WHERE job_id IS NOT NULL
UNIQUE INDEX uq_files_run_id_attempt_path ON files (run_id, attempt, path) WHERE job_id IS NULL
INDEX ix_futures_replay_id ON futures (replay_id)
INDEX ix_idempotency_keys_created_at ON idempotency_keys (created_at)
INDEX ix_jobs_run_id ON jobs (run_id)
INDEX ix_jobs_waiting ON jobs (state, created_at)
INDEX ix_kept_games_env ON kept_games (env)
INDEX ix_kept_games_file_id ON kept_games (file_id)
INDEX ix_kept_games_poster_file_id ON kept_games (poster_file_id)
INDEX ix_kept_games_replay_id ON kept_games (replay_id)
INDEX ix_log_lines_run_id_id ON log_lines (run_id, id)
INDEX ix_media_file_id ON media (file_id)
INDEX ix_media_listed ON media (run_id, name, step, id)
INDEX ix_moved_panels_into_id ON moved_panels (into_id)
INDEX ix_replays_file_id ON replays (file_id)
INDEX ix_replays_poster_file_id ON replays (poster_file_id)
INDEX ix_replays_saliency_job_id ON replays (saliency_job_id)
INDEX ix_replays_seen_file_id ON replays (seen_file_id)
INDEX ix_replays_track_file_id ON replays (track_file_id)
INDEX ix_report_imports_source ON report_imports (installation, source_id)
INDEX ix_reports_project_id ON reports (project_id)
INDEX ix_run_tags_tag ON run_tags (tag)
INDEX ix_runs_listed ON runs (archived_at, created_at)
INDEX ix_runs_project_id ON runs (project_id)
INDEX ix_runs_waiting ON runs (state, queue, priority, created_at)
INDEX ix_studies_project_id ON studies (project_id)
INDEX ix_studies_state ON studies (state)
INDEX ix_study_imports_source ON study_imports (installation, source_id)
INDEX ix_study_runs_run_id ON study_runs (run_id)"""


def upgrade() -> None:
    """Create the tables and the project Main."""
    types = TYPES[op.get_bind().dialect.name]
    for table, content in TABLES.items():
        named = Template(Template(content).substitute(types)).substitute(primary_key=f"pk_{table}")
        # SQLite keeps the text, in which SQLAlchemy finds the names of constraints only on one line.
        op.execute(f"CREATE TABLE {table} ({' '.join(named.split())})")
    for index in INDEXES.strip().splitlines():
        op.execute(f"CREATE {index}")
    names = ("name", "name_key", "text")
    projects = sa.table("projects", *map(sa.column, names), sa.column("created_at", columns.UtcDateTime()))
    op.execute(projects.insert().values(name="Main", name_key="main", text="", created_at=datetime.now(UTC)))


def downgrade() -> None:
    """Drop the tables."""
    for table in reversed(TABLES):
        op.drop_table(table)
