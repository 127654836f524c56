"""Alerts

Revision ID: 0024
Revises: 0023
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INCREASING = {"sqlite_autoincrement": True}
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add alerts, their rules, channels and deliveries."""
    _add_alerts()
    op.create_table(
        "alert_rules",
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("threshold", columns.Number(), nullable=True),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_alert_rules")),
    )
    op.create_table(
        "score_rules",
        sa.Column("id", ID, nullable=False),
        sa.Column("env", sa.String(length=100), nullable=True),
        sa.Column("score", columns.Number(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_score_rules")),
        **INCREASING,
    )
    op.create_table(
        "alert_channels",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(length=100), nullable=True),
        sa.Column("kinds", columns.Json, nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_channels")),
        **INCREASING,
    )
    _add_deliveries()


def _add_alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.String(length=200), nullable=True),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("level", sa.String(length=16), nullable=False),
        sa.Column("title", sa.String(length=300), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("study_id", ID, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("read_at", TIME, nullable=True),
        sa.Column("ended_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_alerts_run_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_alerts_study_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
        sa.UniqueConstraint("key", name=op.f("uq_alerts_key")),
        **INCREASING,
    )
    with op.batch_alter_table("alerts", schema=None) as batch_op:
        for column in ("run_id", "study_id", "created_at"):
            batch_op.create_index(op.f(f"ix_alerts_{column}"), [column])


def _add_deliveries() -> None:
    op.create_table(
        "alert_deliveries",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("alert_id", ID, nullable=False),
        sa.Column("channel_id", ID, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("next_try_at", TIME, nullable=True),
        sa.Column("ended_at", TIME, nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("response", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["alert_id"], ["alerts.id"], name=op.f("fk_alert_deliveries_alert_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["alert_channels.id"], name=op.f("fk_alert_deliveries_channel_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_deliveries")),
        sa.UniqueConstraint("key", name=op.f("uq_alert_deliveries_key")),
        **INCREASING,
    )
    with op.batch_alter_table("alert_deliveries", schema=None) as batch_op:
        batch_op.create_index("ix_alert_deliveries_due", ["state", "next_try_at"])
        for column in ("alert_id", "channel_id"):
            batch_op.create_index(op.f(f"ix_alert_deliveries_{column}"), [column])


def downgrade() -> None:
    """Undo the migration."""
    for table in ("alert_deliveries", "alert_channels", "score_rules", "alert_rules", "alerts"):
        op.drop_table(table)
