"""The automatic owner of an installation without accounts

Revision ID: 0052
Revises: 0051
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database.columns import utc_now

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

LAUNCHED = ("runs", "studies", "bulk_actions", "practices")


def upgrade() -> None:
    """Add the owner, who has started everything that no other person has."""
    op.add_column("practices", sa.Column("person_id", sa.BigInteger(), nullable=True))
    op.add_column("people", sa.Column("is_owner", sa.Boolean(), nullable=False, server_default=sa.false()))
    connection = op.get_bind()
    people = sa.table(
        "people",
        *(sa.column(name) for name in ("id", "name", "is_administrator", "is_owner")),
        sa.column("created_at", sa.DateTime(timezone=True)),
    )
    first = sa.select(sa.func.min(people.c.id)).where(people.c.is_administrator.is_(sa.true()))
    if (person_id := connection.scalar(first)) is None:
        added = {"name": "", "is_administrator": True, "is_owner": True, "created_at": utc_now()}
        person_id = connection.scalar(sa.insert(people).values(added).returning(people.c.id))
    for name in LAUNCHED:
        table = sa.table(name, sa.column("person_id"))
        connection.execute(sa.update(table).where(table.c.person_id.is_(None)).values(person_id=person_id))


def downgrade() -> None:
    """Undo the migration."""
    connection = op.get_bind()
    people = sa.table("people", sa.column("id"), sa.column("is_owner"))
    owner = sa.select(people.c.id).where(people.c.is_owner.is_(sa.true()))
    for name in LAUNCHED[:-1]:
        table = sa.table(name, sa.column("person_id"))
        connection.execute(sa.update(table).where(table.c.person_id.in_(owner)).values(person_id=None))
    connection.execute(sa.delete(people).where(people.c.is_owner.is_(sa.true())))
    op.drop_column("people", "is_owner")
    op.drop_column("practices", "person_id")
