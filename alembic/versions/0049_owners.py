"""Projects of start sets, score rules, kept games and jobs without a run

Revision ID: 0049
Revises: 0048
"""

import re

import sqlalchemy as sa

from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
OWNED = ("jobs", "kept_games", "start_sets", "score_rules")
# SQLite would use the ids of deleted rows again.
KEEP_IDS = {"sqlite_autoincrement": True}
# Deleting a project also deletes these. The others prevent it.
DELETED = ("jobs", "score_rules")

# The games that an agent or a person played, in the source of a start set.
_REPLAY = re.compile(r"\w+ of run (\d+) at step [\d,]+, decision .* of replay \d+ by ")
_GAME = re.compile(r"Game (\d+), played here on \d{4}-\d\d-\d\d")


def upgrade() -> None:
    """Give each of them a project."""
    for table in OWNED:
        with op.batch_alter_table(table, table_kwargs=KEEP_IDS) as batch_op:
            batch_op.add_column(sa.Column("project_id", ID, nullable=True))
            name = batch_op.f(f"fk_{table}_project_id_projects")
            ondelete = "CASCADE" if table in DELETED else None
            batch_op.create_foreign_key(name, "projects", ["project_id"], ["id"], ondelete=ondelete)
    _assign()
    for table in OWNED[1:]:
        with op.batch_alter_table(table, table_kwargs=KEEP_IDS) as batch_op:
            batch_op.alter_column("project_id", existing_type=ID, nullable=False)
    for table in OWNED:
        op.create_index(op.f(f"ix_{table}_project_id"), table, ["project_id"])
    with op.batch_alter_table("start_sets", table_kwargs=KEEP_IDS) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_start_sets_env_name"), type_="unique")
        batch_op.drop_constraint(batch_op.f("uq_start_sets_sha256"), type_="unique")
        name = batch_op.f("uq_start_sets_project_id_env_name")
        batch_op.create_unique_constraint(name, ["project_id", "env", "name"])
    op.add_column("bulk_actions", sa.Column("token_id", sa.BigInteger(), nullable=True))
    op.add_column("bulk_actions", sa.Column("message", sa.Text(), nullable=True))


def _assign() -> None:
    """Assign the project of the run, else Main, whose id is 1. Each project gets all score rules."""
    op.execute(
        "UPDATE kept_games SET project_id = coalesce((SELECT runs.project_id FROM replays JOIN runs "
        "ON runs.id = replays.run_id WHERE replays.id = kept_games.replay_id), 1)"
    )
    op.execute(
        "UPDATE jobs SET project_id = coalesce((SELECT kept_games.project_id FROM kept_games "
        "WHERE kept_games.job_id = jobs.id), 1) WHERE run_id IS NULL"
    )
    op.execute(
        "INSERT INTO score_rules (env, score, created_at, project_id) SELECT score_rules.env, score_rules.score, "
        "score_rules.created_at, projects.id FROM score_rules CROSS JOIN projects "
        "WHERE projects.id != 1 ORDER BY score_rules.id, projects.id"
    )
    op.execute("UPDATE score_rules SET project_id = 1 WHERE project_id IS NULL")
    _assign_start_sets()


def _assign_start_sets() -> None:
    connection = op.get_bind()
    runs = "SELECT project_id FROM runs WHERE id = :id AND env = :env"
    games = "SELECT project_id FROM kept_games WHERE id = :id AND env = :env"
    for row in connection.execute(sa.text("SELECT id, env, source FROM start_sets")).all():
        project = None
        for pattern, query in ((_REPLAY, runs), (_GAME, games)):
            if found := pattern.match(row.source):
                project = connection.scalar(sa.text(query), {"id": int(found[1]), "env": row.env})
        values = {"id": row.id, "project": project or 1}
        connection.execute(sa.text("UPDATE start_sets SET project_id = :project WHERE id = :id"), values)


def downgrade() -> None:
    """Undo the migration. Equal score rules become one, and equal names or points of start sets too."""
    op.drop_column("bulk_actions", "message")
    op.drop_column("bulk_actions", "token_id")
    op.execute(
        "DELETE FROM score_rules WHERE id NOT IN (SELECT min(id) FROM score_rules GROUP BY coalesce(env, ''), score)"
    )
    for columns in ("env, name", "sha256"):
        op.execute(f"DELETE FROM start_sets WHERE id NOT IN (SELECT min(id) FROM start_sets GROUP BY {columns})")  # noqa: S608
    with op.batch_alter_table("start_sets", table_kwargs=KEEP_IDS) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_start_sets_project_id_env_name"), type_="unique")
        batch_op.create_unique_constraint(batch_op.f("uq_start_sets_sha256"), ["sha256"])
        batch_op.create_unique_constraint(batch_op.f("uq_start_sets_env_name"), ["env", "name"])
    for table in OWNED:
        op.drop_index(op.f(f"ix_{table}_project_id"), table)
        with op.batch_alter_table(table, table_kwargs=KEEP_IDS) as batch_op:
            batch_op.drop_constraint(batch_op.f(f"fk_{table}_project_id_projects"), type_="foreignkey")
            batch_op.drop_column("project_id")
