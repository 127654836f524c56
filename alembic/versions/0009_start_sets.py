"""Start sets, and episodes of running evaluations

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables of start sets and of episodes of running evaluations."""
    op.create_table(
        "start_sets",
        sa.Column("id", ID, nullable=False),
        sa.Column("env", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("player", sa.String(length=8), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("emulator", sa.String(length=100), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_start_sets")),
        sa.UniqueConstraint("env", "name", name=op.f("uq_start_sets_env_name")),
        sa.UniqueConstraint("sha256", name=op.f("uq_start_sets_sha256")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "evaluation_episodes",
        sa.Column("evaluation_id", ID, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("score", columns.Number(), nullable=False),
        sa.Column("frames", sa.BigInteger(), nullable=False),
        sa.Column("frames_before", sa.BigInteger(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("ended", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluations.id"],
            name=op.f("fk_evaluation_episodes_evaluation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "number", name=op.f("pk_evaluation_episodes")),
    )
    op.add_column("evaluations", sa.Column("start_set_id", sa.BigInteger(), nullable=True))
    op.add_column("evaluations", sa.Column("starts", columns.Json, nullable=True))


def downgrade() -> None:
    """Undo the migration."""
    with op.batch_alter_table("evaluations", schema=None, table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.drop_column("starts")
        batch_op.drop_column("start_set_id")
    op.drop_table("evaluation_episodes")
    op.drop_table("start_sets")
