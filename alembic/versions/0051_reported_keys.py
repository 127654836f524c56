"""Keys of reported runs that are unique for each person

Revision ID: 0051
Revises: 0050
"""

import sqlalchemy as sa

from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

# SQLite would use the ids of deleted rows again.
KEEP_IDS = {"sqlite_autoincrement": True}
NOBODY = sa.text("person_id IS NULL")


def upgrade() -> None:
    """Let several people use the same key."""
    with op.batch_alter_table("runs", table_kwargs=KEEP_IDS) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_runs_reported_key"), type_="unique")
        name = batch_op.f("uq_runs_reported_key_person_id")
        batch_op.create_unique_constraint(name, ["reported_key", "person_id"])
    where = {"sqlite_where": NOBODY, "postgresql_where": NOBODY}
    op.create_index("uq_runs_reported_key_nobody", "runs", ["reported_key"], unique=True, **where)


def downgrade() -> None:
    """Undo the migration. Only the first run with a key keeps it."""
    op.drop_index("uq_runs_reported_key_nobody", "runs")
    op.execute(
        "UPDATE runs SET reported_key = NULL WHERE reported_key IS NOT NULL AND id NOT IN "
        "(SELECT min(id) FROM runs WHERE reported_key IS NOT NULL GROUP BY reported_key)"
    )
    with op.batch_alter_table("runs", table_kwargs=KEEP_IDS) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_runs_reported_key_person_id"), type_="unique")
        batch_op.create_unique_constraint(batch_op.f("uq_runs_reported_key"), ["reported_key"])
