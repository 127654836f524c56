"""The cores and GPUs that attempts held, also those of deleted runs and jobs

Revision ID: 0055
Revises: 0054
"""

import sqlalchemy as sa

from alembic import op
from arcadia_backend.database import columns

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OF_RUN = "job_id IS NULL AND submission_id IS NULL"
_UNIQUE = {
    "run": (["run_id", "attempt"], _OF_RUN),
    "job": (["job_id", "attempt"], "job_id IS NOT NULL"),
    "submission": (["submission_id", "started_at"], "submission_id IS NOT NULL"),
}

# The cores of a worker's host that is known are shared by its workers.
_CORES = (
    "coalesce((SELECT 1.0 * workers.cores / (SELECT count(*) FROM workers AS others WHERE others.host = workers.host "
    "AND others.executor = 'workers') FROM workers WHERE workers.name = attempts.worker AND workers.cores > 0), 1)"
)
_STUDY = "(SELECT min(study_runs.study_id) FROM study_runs WHERE study_runs.run_id = runs.id)"
_HERE = "runs.origin = 'trained' AND runs.id NOT IN (SELECT run_id FROM archive_imports WHERE run_id IS NOT NULL)"


def upgrade() -> None:
    """Add the table. Fill in the attempts and jobs that are still stored."""
    op.create_table(
        "usage",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=True) for name in ("person_id", "study_id")),
        sa.Column("kind", sa.String(length=16), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=True) for name in ("run_id", "job_id", "submission_id")),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("executor", sa.String(length=16), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("cores", columns.Number(), nullable=False),
        sa.Column("gpus", columns.Number(), nullable=False),
        sa.Column("started_at", columns.UtcDateTime(timezone=True), nullable=False),
        sa.Column("ended_at", columns.UtcDateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage")),
        sqlite_autoincrement=True,
    )
    for name, (unique, where) in _UNIQUE.items():
        condition = sa.text(where)
        op.create_index(
            f"uq_usage_{name}", "usage", unique, unique=True, sqlite_where=condition, postgresql_where=condition
        )
    op.create_index("ix_usage_project_id_started_at", "usage", ["project_id", "started_at"])
    op.create_index(op.f("ix_usage_person_id"), "usage", ["person_id"])
    op.create_index(op.f("ix_usage_started_at"), "usage", ["started_at"])
    op.add_column("jobs", sa.Column("person_id", sa.BigInteger(), nullable=True))
    _fill()


def _fill() -> None:
    op.execute(
        "INSERT INTO usage (project_id, person_id, study_id, kind, run_id, attempt, executor, host, cores, gpus, "  # noqa: S608
        f"started_at, ended_at) SELECT runs.project_id, runs.person_id, {_STUDY}, 'training', runs.id, "
        f"attempts.attempt, 'workers', attempts.host, {_CORES}, CASE WHEN runs.queue = 'gpu' THEN 1 ELSE 0 END, "
        "attempts.claimed_at, attempts.ended_at FROM attempts JOIN runs ON runs.id = attempts.run_id "
        f"WHERE {_HERE} AND runs.executor = 'workers' AND (attempts.ended_at IS NOT NULL OR "
        "(attempts.attempt = runs.attempt AND runs.state IN ('starting', 'running')))"
    )
    # Of the starts of a scheduler's job, only the last is stored.
    op.execute(
        "INSERT INTO usage (project_id, person_id, study_id, kind, run_id, submission_id, attempt, executor, host, "  # noqa: S608
        f"cores, gpus, started_at, ended_at) SELECT runs.project_id, runs.person_id, {_STUDY}, 'training', runs.id, "
        "submissions.id, submissions.attempt, submissions.executor, submissions.host, coalesce(submissions.cores, 0), "
        "coalesce(submissions.gpus, 0), submissions.started_at, submissions.ended_at FROM submissions "
        "JOIN runs ON runs.id = submissions.run_id WHERE submissions.started_at IS NOT NULL "
        "AND (submissions.ended_at IS NOT NULL OR submissions.state IN ('running', 'cancelling'))"
    )
    op.execute(
        "INSERT INTO usage (project_id, person_id, study_id, kind, run_id, job_id, attempt, executor, cores, gpus, "  # noqa: S608
        f"started_at, ended_at) SELECT coalesce(runs.project_id, jobs.project_id), runs.person_id, {_STUDY}, "
        "jobs.kind, jobs.run_id, jobs.id, jobs.attempt, 'workers', 1, 0, jobs.started_at, jobs.finished_at FROM jobs "
        f"LEFT JOIN runs ON runs.id = jobs.run_id WHERE jobs.started_at IS NOT NULL AND jobs.attempt > 0 "
        "AND (jobs.finished_at IS NOT NULL OR jobs.state = 'running') "
        "AND coalesce(runs.project_id, jobs.project_id) IS NOT NULL "
        "AND (jobs.run_id IS NULL OR jobs.run_id NOT IN "
        "(SELECT run_id FROM archive_imports WHERE run_id IS NOT NULL))"
    )


def downgrade() -> None:
    """Undo the migration."""
    op.drop_column("jobs", "person_id")
    op.drop_table("usage")
