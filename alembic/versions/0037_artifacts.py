"""Artifacts of scripts

Revision ID: 0037
Revises: 0036
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = columns.UtcDateTime(timezone=True)


def upgrade() -> None:
    """Add the tables, and store equal files of artifacts once."""
    op.create_table(
        "artifacts",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=50), nullable=False),
        sa.Column("next_version", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_artifacts_project_id_projects")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artifacts")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_artifacts_project_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "artifact_versions",
        sa.Column("id", ID, nullable=False),
        sa.Column("artifact_id", ID, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("file_count", sa.Integer(), nullable=False),
        sa.Column("details", columns.Json, nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("run_name", sa.String(length=200), nullable=True),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["artifact_id"],
            ["artifacts.id"],
            name=op.f("fk_artifact_versions_artifact_id_artifacts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artifact_versions")),
        sa.UniqueConstraint("artifact_id", "version", name=op.f("uq_artifact_versions_artifact_id_version")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "artifact_entries",
        sa.Column("version_id", ID, nullable=False),
        sa.Column("path", sa.String(length=500), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("file_id", ID, nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("uri", sa.String(length=2_000), nullable=True),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["artifact_versions.id"],
            name=op.f("fk_artifact_entries_version_id_artifact_versions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_artifact_entries_file_id_files")),
        sa.PrimaryKeyConstraint("version_id", "path", name=op.f("pk_artifact_entries")),
    )
    op.create_index(op.f("ix_artifact_entries_file_id"), "artifact_entries", ["file_id"])
    op.create_table(
        "artifact_aliases",
        sa.Column("artifact_id", ID, nullable=False),
        sa.Column("alias", sa.String(length=100), nullable=False),
        sa.Column("version_id", ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["artifact_id"],
            ["artifacts.id"],
            name=op.f("fk_artifact_aliases_artifact_id_artifacts"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["artifact_versions.id"],
            name=op.f("fk_artifact_aliases_version_id_artifact_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("artifact_id", "alias", name=op.f("pk_artifact_aliases")),
    )
    op.create_index("ix_artifact_aliases_version_id", "artifact_aliases", ["version_id"])
    op.create_table(
        "artifact_links",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("version_id", ID, nullable=False),
        sa.Column("role", sa.String(length=8), nullable=False),
        sa.Column("linked_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_artifact_links_run_id_runs"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["artifact_versions.id"],
            name=op.f("fk_artifact_links_version_id_artifact_versions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "version_id", "role", name=op.f("pk_artifact_links")),
    )
    op.create_index("ix_artifact_links_version_id", "artifact_links", ["version_id"])
    op.create_index(
        "uq_files_sha256_artifact",
        "files",
        ["sha256"],
        unique=True,
        sqlite_where=sa.text("kind = 'artifact'"),
        postgresql_where=sa.text("kind = 'artifact'"),
    )


def downgrade() -> None:
    """Undo the migration. Artifacts are deleted, since earlier versions cannot show them."""
    for table in ("artifact_links", "artifact_aliases", "artifact_entries", "artifact_versions", "artifacts"):
        op.drop_table(table)
    op.drop_index("uq_files_sha256_artifact", "files")
    files = sa.table("files", sa.column("kind"))
    op.execute(files.delete().where(files.c.kind == "artifact"))
