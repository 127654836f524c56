"""Tables of runs: tags, bulk actions, attempts, logs, changes, provenance, checkpoints, aliases, event digests."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, false, select, text
from sqlalchemy.orm import Mapped, column_property, mapped_column, relationship

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import Base, BulkState, Id, RunOrigin, unique_where
from arcadia_backend.database.tables.workspace import MAIN_ID, Project
from arcadia_workers.contract.events import LogLevel
from arcadia_workers.contract.practice import compared
from arcadia_workers.contract.worker_api import WORKERS, Desired, Outcome, QueueName, State

# A database uses the index of these runs only for exactly this condition.
NOT_TRAINED = text("origin != 'trained'")


class Run(Base):
    """A run: its configuration, state and progress. Reported runs have no queue, worker or checkpoints."""

    __tablename__ = "runs"
    __table_args__ = (
        Index("ix_runs_waiting", "state", "queue", "priority", "created_at"),
        # With the project, a person reads runs from it in the order of their ids, like those of settings and metrics.
        Index("ix_runs_listed", "archived_at", "created_at", "project_id"),
        # With archived_at first, SQLite would read all lists in this order, far from that of settings and metrics.
        Index("ix_runs_counted", "project_id", "state", "origin", "algorithm", "env", "archived_at"),
        Index("ix_runs_not_trained", "id", sqlite_where=NOT_TRAINED, postgresql_where=NOT_TRAINED),
        # Each person has their own keys, so that a key does not reveal a run of a hidden project.
        UniqueConstraint("reported_key", "person_id"),
        unique_where("uq_runs_reported_key_nobody", "reported_key", where="person_id IS NULL"),
        # Do not reuse the ids of purged runs.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    origin: Mapped[RunOrigin] = mapped_column(default="trained", server_default="trained")
    # The program that logged or imported it, such as TensorBoard.
    origin_label: Mapped[str | None] = mapped_column(String(50))
    # The id by which a script resumes it.
    reported_key: Mapped[str | None] = mapped_column(String(64))
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id"), default=MAIN_ID, index=True)
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    # Of a reported run these two may be any text, also an empty one.
    algorithm: Mapped[str] = mapped_column(String(100))
    env: Mapped[str] = mapped_column(String(100))
    queue: Mapped[QueueName | None]
    # Where it trains: "workers", or a scheduler.
    executor: Mapped[str] = mapped_column(String(16), server_default=WORKERS)
    # Options of its job on a scheduler, which replace those of the settings.
    job_options: Mapped[list[str]] = mapped_column(server_default="[]")
    priority: Mapped[int] = mapped_column(default=0)
    # What it needs of a host, as runs/needs.py writes it. Empty without any.
    needs: Mapped[str] = mapped_column(String(500), server_default="")
    # The GPU of its host that its attempt has. Null if it takes that of its worker.
    gpu: Mapped[int | None]
    # Whether a run with a higher priority may interrupt it, how often one has, and the one that interrupts it now.
    interruptible: Mapped[bool] = mapped_column(server_default=false())
    interruptions: Mapped[int] = mapped_column(server_default="0")
    interrupted_for: Mapped[int | None] = mapped_column(BigInteger)
    notes: Mapped[str] = mapped_column(Text, default="")
    # Its fields are copied to the table of settings, which needs the earlier configuration after a change.
    config: Mapped[dict[str, Any]] = mapped_column(active_history=True)

    state: Mapped[State] = mapped_column(default="queued")
    desired: Mapped[Desired] = mapped_column(default="run")
    state_reason: Mapped[str | None] = mapped_column(Text)
    failure_message: Mapped[str | None] = mapped_column(Text)
    failure_traceback: Mapped[str | None] = mapped_column(Text)

    # The parent may be purged, so these are not foreign keys.
    parent_run_id: Mapped[int | None] = mapped_column(BigInteger)
    parent_checkpoint_id: Mapped[int | None] = mapped_column(BigInteger)
    parent_step: Mapped[int | None] = mapped_column(BigInteger)

    attempt: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(100))
    # Kept after its worker fell silent, until the next claim, since that worker may still continue.
    # Of a reported run: when it fails unless something is heard from its script.
    lease_expires_at: Mapped[datetime | None]
    requeues: Mapped[int] = mapped_column(default=0)

    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    # When it last entered the queue. Empty for runs that were never in it.
    queued_at: Mapped[datetime | None] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]

    step: Mapped[int] = mapped_column(BigInteger, default=0)
    frames: Mapped[int] = mapped_column(BigInteger, default=0)
    total_steps: Mapped[int | None] = mapped_column(BigInteger)
    steps_per_second: Mapped[float | None]
    seconds_left: Mapped[float | None]
    episodes: Mapped[int] = mapped_column(BigInteger, default=0)
    last_return: Mapped[float | None]
    best_return: Mapped[float | None]
    # Used by its jobs on schedulers, as far as they have ended. Null without one.
    core_hours: Mapped[float | None]
    gpu_hours: Mapped[float | None]
    poster_file_id: Mapped[int | None] = mapped_column(BigInteger)
    versions: Mapped[dict[str, str] | None]
    # Names of the plug-ins that its configuration needs, separated by commas.
    needed_plugins: Mapped[str] = mapped_column(String(500), default="", server_default="")
    command: Mapped[list[str] | None]
    # The account that launched it, and the names that pages show. They are empty without accounts.
    person_id: Mapped[int | None] = mapped_column(BigInteger)
    launched_by: Mapped[str | None] = mapped_column(String(100))
    changed_by: Mapped[str | None] = mapped_column(String(100))
    # Who last stopped, paused or resumed it.
    stopped_by: Mapped[str | None] = mapped_column(String(100))

    tags: Mapped[list["RunTag"]] = relationship(cascade="all, delete-orphan", passive_deletes=True, lazy="selectin")

    @property
    def has_agent(self) -> bool:
        """True if its checkpoints have an agent that a worker can play."""
        return self.origin in ("trained", "agent")

    @property
    def comparable_config(self) -> dict[str, Any]:
        """The configuration with the method and the environment, which those of trained runs contain."""
        config = dict(compared(self.config))
        return config if self.origin == "trained" else {"algorithm": self.algorithm, "env": self.env, **config}


class Measurement(Base):
    """A short run that measures how fast a method trains here. It is stopped and archived automatically."""

    __tablename__ = "measurements"

    run_id: Mapped[int] = mapped_column(
        ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )


class RunTag(Base):
    """A tag of a run."""

    __tablename__ = "run_tags"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    tag: Mapped[str] = mapped_column(String(50), primary_key=True, index=True)


class BulkAction(Base):
    """An action on all runs that matched a filter when it was requested. A thread applies it in batches."""

    __tablename__ = "bulk_actions"
    __table_args__ = (Index("ix_bulk_actions_state", "state"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # As runs.schemas.ManyRunsAction.
    action: Mapped[str] = mapped_column(String(16))
    # Tags to add or remove.
    tags: Mapped[list[str]]
    # The project that gets the runs, by its name, so that the action stays readable if it is deleted.
    project: Mapped[str | None] = mapped_column(String(100))
    person_id: Mapped[int | None] = mapped_column(BigInteger)
    requested_by: Mapped[str | None] = mapped_column(String(100))
    # The token that requested it. The action ends when the token does.
    token_id: Mapped[int | None] = mapped_column(BigInteger)
    state: Mapped[BulkState] = mapped_column(default="running")
    total: Mapped[int]
    done: Mapped[int] = mapped_column(default=0)
    skipped: Mapped[int] = mapped_column(default=0)
    # Runs are handled in the order of their ids. Those up to this one are done or skipped.
    last_run_id: Mapped[int] = mapped_column(BigInteger, default=0)
    # Why it ended early, if nobody cancelled it.
    message: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    finished_at: Mapped[datetime | None]


class BulkActionRun(Base):
    """A run of a bulk action. It stays when the run is purged."""

    __tablename__ = "bulk_action_runs"

    bulk_action_id: Mapped[int] = mapped_column(ForeignKey("bulk_actions.id", ondelete="CASCADE"), primary_key=True)
    run_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # Why it was skipped. Null if it was not, or not yet.
    reason: Mapped[str | None] = mapped_column(Text)


class Attempt(Base):
    """An attempt at a run: one claim by a worker, or one writer of a reported run.

    `resumed_step` is empty until its trainer reports it, and always for writers.
    """

    __tablename__ = "attempts"
    # A claim reads the attempts that ended in the last weeks.
    __table_args__ = (
        UniqueConstraint("run_id", "writer"),
        Index("ix_attempts_ended_at", "ended_at"),
        Index("ix_attempts_claimed_at", "claimed_at"),
    )

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    worker: Mapped[str | None] = mapped_column(String(100))
    writer: Mapped[str | None] = mapped_column(String(64))
    # A secondary writer, such as a forked process. Its end does not end the run.
    joins: Mapped[bool] = mapped_column(default=False, server_default=false())
    # The kinds of problems with its events that its log mentions.
    problems: Mapped[list[str] | None]
    claimed_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    # How the trainer reported that it ended. The release or an expired lease uses it.
    outcome: Mapped[Outcome | None]
    failure_message: Mapped[str | None] = mapped_column(Text)
    failure_traceback: Mapped[str | None] = mapped_column(Text)
    # Points of earlier attempts after this step are superseded. It is 0 if the trainer started over.
    resumed_step: Mapped[int | None] = mapped_column(BigInteger)
    last_seq: Mapped[int] = mapped_column(default=0)
    # Events stored despite a conflicting event with their number.
    conflicts: Mapped[int] = mapped_column(default=0, server_default="0")
    host: Mapped[str | None] = mapped_column(String(255))
    device: Mapped[str | None] = mapped_column(String(255))
    precision: Mapped[str | None] = mapped_column(String(32))
    seed: Mapped[int | None] = mapped_column(BigInteger)
    # The latest host and process of each role, as events.RolePlace. Empty for methods without roles.
    roles: Mapped[list[dict[str, Any]] | None]
    # The steps from the queue to the first update, as runs.schemas.RunStartStep.
    start_steps: Mapped[list[dict[str, Any]] | None]
    # The small part, as arcadia_workers.contract.provenance.ProvenanceFacts. Empty until the trainer reports it.
    provenance: Mapped[dict[str, Any] | None]
    packages_sha256: Mapped[str | None] = mapped_column(ForeignKey("provenance_documents.sha256"), index=True)
    # Empty if nothing was changed since the commit.
    diff_sha256: Mapped[str | None] = mapped_column(ForeignKey("provenance_documents.sha256"), index=True)


class StartForecast(Base):
    """When a run was expected to start, at its entry into a queue of workers, and what happened."""

    __tablename__ = "start_forecasts"
    __table_args__ = (UniqueConstraint("run_id", "queued_at"),)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    queue: Mapped[QueueName]
    # The attempt that starts if it waits to the end.
    attempt: Mapped[int]
    queued_at: Mapped[datetime]
    made_at: Mapped[datetime] = mapped_column(index=True)
    runs_ahead: Mapped[int]
    # Null if the start was unknown.
    expected_at: Mapped[datetime | None]
    # It starts by then in 9 of 10 cases. Null if the spread was unknown.
    by_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    # False after it has started or left the queue.
    is_waiting: Mapped[bool] = mapped_column(index=True, default=True)
    # Whether a run that was queued later started before it, and before `by_at`. Null until that is known.
    work_added: Mapped[bool | None]


class LogLine(Base):
    """A line of a run's log, from its trainer or the system. Lock the run's row before adding one."""

    __tablename__ = "log_lines"
    __table_args__ = (Index("ix_log_lines_run_id_id", "run_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    time: Mapped[datetime] = mapped_column(default=utc_now)
    level: Mapped[LogLevel] = mapped_column(default="info")
    message: Mapped[str] = mapped_column(Text)


class RunChange(Base):
    """A change of fields of a run's configuration. It waits until a trainer reports that it was applied."""

    __tablename__ = "run_changes"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    fields: Mapped[dict[str, Any]]
    # The values before: as expected at the request, then as the trainer reported them.
    previous: Mapped[dict[str, Any]]
    requested_at: Mapped[datetime] = mapped_column(default=utc_now)
    # The account, or without accounts what the client says.
    requested_by: Mapped[str | None] = mapped_column(String(100))
    applied_at: Mapped[datetime | None]
    applied_step: Mapped[int | None] = mapped_column(BigInteger)
    attempt: Mapped[int | None]


class ProvenanceDocument(Base):
    """A diff, or a list of packages as JSON. Attempts with the same content share it."""

    __tablename__ = "provenance_documents"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[str] = mapped_column(Text)


class Checkpoint(Base):
    """A saved training state. The first one of a fork is a copy of its parent's, under attempt 0."""

    __tablename__ = "checkpoints"
    __table_args__ = (UniqueConstraint("run_id", "attempt", "file"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    file: Mapped[str] = mapped_column(String(255))
    sha256: Mapped[str] = mapped_column(String(64))
    bytes: Mapped[int] = mapped_column(BigInteger)
    # Empty after pruning deleted the file.
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    return_mean: Mapped[float | None]
    best: Mapped[bool] = mapped_column(default=False)
    # Protected from pruning.
    pinned: Mapped[bool] = mapped_column(default=False, server_default=false())
    # The run's schedule requested an evaluation, which may have been deleted since.
    scheduled: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Of an imported agent: the hash of the checkpoint that it was exported from.
    source_sha256: Mapped[str | None] = mapped_column(String(64), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class EventDigests(Base):
    """Digests of successive events of one attempt at a run or at a job, 8 bytes each.

    Several rows may have the same numbers, because events that differ under one number are all stored.
    """

    __tablename__ = "event_digests"
    __table_args__ = (
        Index("ix_event_digests_run", "run_id", "attempt", "last_seq"),
        Index("ix_event_digests_job", "job_id", "attempt", "last_seq"),
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    first_seq: Mapped[int]
    last_seq: Mapped[int]
    digests: Mapped[bytes] = mapped_column(LargeBinary)


class AliasChange(Base):
    """A change of an alias, such as pong/champion. The newest one of a name says which checkpoint it names now.

    The history outlives runs and checkpoints, so these are not foreign keys.
    """

    __tablename__ = "alias_changes"
    __table_args__ = (Index("ix_alias_changes_name_id", "name", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    # Empty if the alias was removed.
    checkpoint_id: Mapped[int | None] = mapped_column(BigInteger, index=True)
    run_id: Mapped[int | None] = mapped_column(BigInteger, index=True)
    # Copies, for the history of deleted runs.
    run_name: Mapped[str | None] = mapped_column(String(200))
    step: Mapped[int | None] = mapped_column(BigInteger)
    who: Mapped[str | None] = mapped_column(String(100))
    why: Mapped[str] = mapped_column(Text, default="")
    changed_at: Mapped[datetime] = mapped_column(default=utc_now)
