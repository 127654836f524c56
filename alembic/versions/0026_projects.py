"""Projects

Revision ID: 0026
Revises: 0025
"""

from datetime import UTC, datetime

import sqlalchemy as sa

from alembic import op
from backend.database import columns

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INCREASING = {"sqlite_autoincrement": True}
TABLES = ("runs", "studies", "reports")

runs = sa.table("runs", sa.column("project", sa.String), sa.column("project_id", ID))
projects = sa.table(
    "projects",
    *(sa.column("id", ID), sa.column("name", sa.String), sa.column("name_key", sa.String), sa.column("text", sa.Text)),
    sa.column("created_at", columns.UtcDateTime(timezone=True)),
)


def upgrade() -> None:
    """Add projects. A run keeps its project, and everything else goes to Main."""
    op.create_table(
        "projects",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("name_key", sa.String(length=300), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("pinned_report_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name_key", name=op.f("uq_projects_name_key")),
        **INCREASING,
    )
    _insert_project("Main")
    for table in TABLES:
        with op.batch_alter_table(table, schema=None, table_kwargs=INCREASING) as batch_op:
            batch_op.add_column(sa.Column("project_id", ID, nullable=True))
        op.execute(sa.text(f"UPDATE {table} SET project_id = 1"))  # noqa: S608 - a name of our tables
    _move_runs()
    for table in TABLES:
        with op.batch_alter_table(table, schema=None, table_kwargs=INCREASING) as batch_op:
            batch_op.alter_column("project_id", existing_type=ID, nullable=False)
            batch_op.create_foreign_key(op.f(f"fk_{table}_project_id"), "projects", ["project_id"], ["id"])
            batch_op.create_index(op.f(f"ix_{table}_project_id"), ["project_id"])
            if table == "runs":
                batch_op.drop_column("project")


def _move_runs() -> None:
    """Create a project for each name that runs have. Names that differ only in case share one."""
    connection = op.get_bind()
    ids = {"main": 1}
    named = sa.select(runs.c.project).where(runs.c.project.is_not(None)).distinct().order_by(runs.c.project)
    for name in connection.scalars(named).all():
        key = name.strip().casefold()
        if key and key not in ids:
            ids[key] = _insert_project(name.strip())
        if key:
            connection.execute(runs.update().where(runs.c.project == name).values(project_id=ids[key]))


def _insert_project(name: str) -> int:
    connection = op.get_bind()
    values = {"name": name, "name_key": name.casefold(), "text": "", "created_at": datetime.now(UTC)}
    connection.execute(projects.insert().values(values))
    found: int = connection.execute(sa.select(projects.c.id).where(projects.c.name_key == name.casefold())).scalar_one()
    return found


def downgrade() -> None:
    """Undo the migration. Runs of other projects than Main keep their names."""
    with op.batch_alter_table("runs", schema=None, table_kwargs=INCREASING) as batch_op:
        batch_op.add_column(sa.Column("project", sa.String(length=100), nullable=True))
    op.execute(
        "UPDATE runs SET project = (SELECT name FROM projects WHERE projects.id = runs.project_id) WHERE project_id > 1"
    )
    for table in TABLES:
        with op.batch_alter_table(table, schema=None, table_kwargs=INCREASING) as batch_op:
            batch_op.drop_index(op.f(f"ix_{table}_project_id"))
            batch_op.drop_constraint(op.f(f"fk_{table}_project_id"), type_="foreignkey")
            batch_op.drop_column("project_id")
    op.drop_table("projects")
