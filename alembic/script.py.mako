"""${message}

Revision ID: ${up_revision}
Revises: ${down_revision or "nothing"}
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend import columns
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """${message}."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Undo it."""
    ${downgrades if downgrades else "pass"}
