"""First tables

Revision ID: 0001
Revises: nothing
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("algorithm", sa.String(length=32), nullable=False),
        sa.Column("env", sa.String(length=100), nullable=False),
        sa.Column("queue", sa.String(length=8), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("config", columns.Json, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("desired", sa.String(length=16), nullable=False),
        sa.Column("state_reason", sa.Text(), nullable=True),
        sa.Column("failure_message", sa.Text(), nullable=True),
        sa.Column("failure_traceback", sa.Text(), nullable=True),
        sa.Column("parent_run_id", sa.BigInteger(), nullable=True),
        sa.Column("parent_checkpoint_id", sa.BigInteger(), nullable=True),
        sa.Column("parent_step", sa.BigInteger(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=100), nullable=True),
        sa.Column("lease_expires_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("requeues", sa.Integer(), nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("started_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("finished_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("archived_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("total_steps", sa.BigInteger(), nullable=False),
        sa.Column("steps_per_second", columns.Number(), nullable=True),
        sa.Column("seconds_left", columns.Number(), nullable=True),
        sa.Column("episodes", sa.BigInteger(), nullable=False),
        sa.Column("last_return", columns.Number(), nullable=True),
        sa.Column("best_return", columns.Number(), nullable=True),
        sa.Column("poster_file_id", sa.BigInteger(), nullable=True),
        sa.Column("versions", columns.Json, nullable=True),
        sa.Column("command", columns.Json, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index("ix_runs_listed", ["archived_at", "created_at"], unique=False)
        batch_op.create_index("ix_runs_waiting", ["state", "queue", "priority", "created_at"], unique=False)

    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("queue", sa.String(length=8), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(length=50), nullable=False),
        sa.Column("device", sa.String(length=255), nullable=False),
        sa.Column("cores", sa.Integer(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("last_seen_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("left", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
    op.create_table(
        "attempts",
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=100), nullable=False),
        sa.Column("claimed_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("started_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("ended_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("failure_message", sa.Text(), nullable=True),
        sa.Column("failure_traceback", sa.Text(), nullable=True),
        sa.Column("resumed_step", sa.BigInteger(), nullable=True),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("device", sa.String(length=255), nullable=True),
        sa.Column("precision", sa.String(length=32), nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_attempts_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "attempt", name=op.f("pk_attempts")),
    )
    op.create_table(
        "evaluations",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("returns", columns.Numbers(), nullable=False),
        sa.Column("return_mean", columns.Number(), nullable=True),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_evaluations_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint("run_id", "attempt", "seq", name=op.f("uq_evaluations_run_id_attempt_seq")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "files",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("path", sa.String(length=255), nullable=False),
        sa.Column("stored_path", sa.String(length=255), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_files_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
        sa.UniqueConstraint("run_id", "attempt", "path", name=op.f("uq_files_run_id_attempt_path")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "log_lines",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("time", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("level", sa.String(length=16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_log_lines_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_log_lines")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("log_lines", schema=None) as batch_op:
        batch_op.create_index("ix_log_lines_run_id_id", ["run_id", "id"], unique=False)

    op.create_table(
        "metric_clocks",
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("first", columns.Number(), nullable=False),
        sa.Column("last", columns.Number(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_metric_clocks_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "attempt", name=op.f("pk_metric_clocks")),
    )
    op.create_table(
        "metric_series",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("last", columns.Number(), nullable=True),
        sa.Column("min", columns.Number(), nullable=True),
        sa.Column("max", columns.Number(), nullable=True),
        sa.Column("recent_mean", columns.Number(), nullable=True),
        sa.Column("recent", sa.LargeBinary(), nullable=False),
        sa.Column("stored", sa.BigInteger(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("tail", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_metric_series_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_series")),
        sa.UniqueConstraint("run_id", "name", name=op.f("uq_metric_series_run_id_name")),
    )
    op.create_table(
        "run_tags",
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tag", sa.String(length=50), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_tags_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "tag", name=op.f("pk_run_tags")),
    )
    with op.batch_alter_table("run_tags", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_run_tags_tag"), ["tag"], unique=False)

    op.create_table(
        "checkpoints",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("file", sa.String(length=255), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("file_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("return_mean", columns.Number(), nullable=True),
        sa.Column("best", sa.Boolean(), nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_checkpoints_file_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_checkpoints_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkpoints")),
        sa.UniqueConstraint("run_id", "attempt", "file", name=op.f("uq_checkpoints_run_id_attempt_file")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("checkpoints", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_checkpoints_file_id"), ["file_id"], unique=False)

    op.create_table(
        "metric_chunks",
        sa.Column("series_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series_id"], ["metric_series.id"], name=op.f("fk_metric_chunks_series_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("series_id", "number", name=op.f("pk_metric_chunks")),
    )
    op.create_table(
        "metric_pages",
        sa.Column("series_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series_id"], ["metric_series.id"], name=op.f("fk_metric_pages_series_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("series_id", "number", name=op.f("pk_metric_pages")),
    )
    op.create_table(
        "videos",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("file", sa.String(length=255), nullable=False),
        sa.Column("checkpoint", sa.String(length=255), nullable=False),
        sa.Column("file_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("poster_file_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("episode_return", columns.Number(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("seconds", columns.Number(), nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_videos_file_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["poster_file_id"], ["files.id"], name=op.f("fk_videos_poster_file_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_videos_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_videos")),
        sa.UniqueConstraint("run_id", "attempt", "file", name=op.f("uq_videos_run_id_attempt_file")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("videos", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_videos_file_id"), ["file_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_videos_poster_file_id"), ["poster_file_id"], unique=False)


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("videos", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_videos_poster_file_id"))
        batch_op.drop_index(batch_op.f("ix_videos_file_id"))

    op.drop_table("videos")
    op.drop_table("metric_pages")
    op.drop_table("metric_chunks")
    with op.batch_alter_table("checkpoints", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_checkpoints_file_id"))

    op.drop_table("checkpoints")
    with op.batch_alter_table("run_tags", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_run_tags_tag"))

    op.drop_table("run_tags")
    op.drop_table("metric_series")
    op.drop_table("metric_clocks")
    with op.batch_alter_table("log_lines", schema=None) as batch_op:
        batch_op.drop_index("ix_log_lines_run_id_id")

    op.drop_table("log_lines")
    op.drop_table("files")
    op.drop_table("evaluations")
    op.drop_table("attempts")
    op.drop_table("workers")
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.drop_index("ix_runs_waiting")
        batch_op.drop_index("ix_runs_listed")

    op.drop_table("runs")
