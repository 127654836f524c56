"""Tables of jobs and what they make, such as evaluations, reviews, practices, replays and kept games."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, false, select
from sqlalchemy.orm import Mapped, column_property, mapped_column

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.tables.base import Base, GameEnd, Id, InProject, Origin
from arcadia_backend.database.tables.workspace import Project
from arcadia_workers.contract.jobs import JobKind
from arcadia_workers.contract.protocols.protocol import StartPlayer
from arcadia_workers.contract.worker_api import JobDesired, JobState, Outcome


class Job(Base):
    """A short task that a worker does while it trains, for a run or for a person who plays."""

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_waiting", "state", "created_at"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[JobKind]
    # A job for a person who plays has a project, and no run and no checkpoint.
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    project_id: Mapped[int | None] = mapped_column(Id, ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    # No foreign key: files refer to jobs and checkpoints to files, so the tables would form a cycle.
    checkpoint_id: Mapped[int | None] = mapped_column(BigInteger)
    # Who requested it. Null for jobs of a schedule, and without accounts.
    person_id: Mapped[int | None] = mapped_column(BigInteger)
    parameters: Mapped[dict[str, Any]]
    # Names of plug-ins, separated by commas.
    needed_plugins: Mapped[str] = mapped_column(String(500), default="", server_default="")

    state: Mapped[JobState] = mapped_column(default="queued")
    desired: Mapped[JobDesired] = mapped_column(default="run")
    # A sentence: why it is queued again or has failed, or a warning of its process.
    message: Mapped[str | None] = mapped_column(Text)
    traceback: Mapped[str | None] = mapped_column(Text)
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    total: Mapped[int] = mapped_column(BigInteger)

    attempt: Mapped[int] = mapped_column(default=0)
    last_seq: Mapped[int] = mapped_column(default=0)
    # How the process of this attempt reported that it ended.
    outcome: Mapped[Outcome | None]
    worker: Mapped[str | None] = mapped_column(String(100))
    # Kept after its worker fell silent, until the next claim, since that worker may still continue.
    lease_expires_at: Mapped[datetime | None]
    # How often it was queued again after it lost its worker or its process.
    requeues: Mapped[int] = mapped_column("tries", default=0)

    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    def require_run_id(self) -> int:
        """Return the id of the job's run. Raise ValueError if it has none, such as a job for a person who plays."""
        if self.run_id is None:
            raise ValueError(f"Job {self.id} ({self.kind}) belongs to no run")
        return self.run_id


class JobResult(Base):
    """The product of a job of one kind, with its result when the job is done."""

    __abstract__ = True

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    # The result, as a model of workers/arcadia_workers/contract.
    document: Mapped[dict[str, Any] | None]


class CheckpointResult(JobResult):
    """The result of a job for a checkpoint and a protocol. It copies their data, since checkpoints may be deleted."""

    __abstract__ = True

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    checkpoint_id: Mapped[int] = mapped_column(ForeignKey("checkpoints.id", ondelete="CASCADE"), index=True)
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    protocol: Mapped[str] = mapped_column(String(50))
    seed: Mapped[int] = mapped_column(BigInteger)
    origin: Mapped[Origin]


class Evaluation(CheckpointResult):
    """An evaluation of a checkpoint by a protocol, with contract.protocols.EvaluationDocument as its result."""

    __tablename__ = "evaluations"
    __table_args__ = (Index("ix_evaluations_run_id_id", "run_id", "id"), {"sqlite_autoincrement": True})

    acting: Mapped[dict[str, Any]]
    # The start set, with a copy of its description, since it may be deleted after the evaluation.
    start_set_id: Mapped[int | None] = mapped_column(BigInteger)
    starts: Mapped[dict[str, Any] | None]
    # A copy of the result's mean to sort by.
    mean: Mapped[float | None]


class EvaluationEpisode(Base):
    """A finished episode of a running evaluation. The final document contains all episodes."""

    __tablename__ = "evaluation_episodes"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    score: Mapped[float]
    frames: Mapped[int] = mapped_column(BigInteger)
    frames_before: Mapped[int] = mapped_column(BigInteger)
    length: Mapped[int] = mapped_column(BigInteger)
    ended: Mapped[str] = mapped_column(String(16))


class Calibration(CheckpointResult):
    """A calibration of a checkpoint's critic, with contract.futures.CalibrationDocument as its result."""

    __tablename__ = "calibrations"
    __table_args__ = (Index("ix_calibrations_run_id_id", "run_id", "id"), {"sqlite_autoincrement": True})

    # As contract.futures.CalibrationOptions.
    options: Mapped[dict[str, Any]]


class Futures(JobResult):
    """Futures of a decision of a replay, with contract.futures.FuturesDocument as their result.

    Their job is of the run whose agent acts, which may be another one than that of the replay.
    """

    __tablename__ = "futures"
    __table_args__ = ({"sqlite_autoincrement": True},)

    replay_id: Mapped[int] = mapped_column(ForeignKey("replays.id", ondelete="CASCADE"), index=True)
    # As contract.futures.FuturesOptions.
    options: Mapped[dict[str, Any]]


class Review(JobResult):
    """A review of a replay or a kept game, with contract.review.ReviewDocument as what it has found so far."""

    __tablename__ = "reviews"
    __table_args__ = ({"sqlite_autoincrement": True},)

    # Either of these is set.
    replay_id: Mapped[int | None] = mapped_column(ForeignKey("replays.id", ondelete="CASCADE"), unique=True)
    kept_game_id: Mapped[int | None] = mapped_column(ForeignKey("kept_games.id", ondelete="CASCADE"), unique=True)
    # As contract.review.ReviewOptions.
    options: Mapped[dict[str, Any]]


class Practice(JobResult):
    """A practice of the review of a replay, with contract.practice.PracticeDocument as its verdict.

    Its job is the one that plans it, or that measures its runs.
    """

    __tablename__ = "practices"
    __table_args__ = ({"sqlite_autoincrement": True},)

    replay_id: Mapped[int] = mapped_column(ForeignKey("replays.id", ondelete="CASCADE"), unique=True)
    # As contract.practice.PracticeOptions.
    options: Mapped[dict[str, Any]]
    # The contract.practice.PracticePlan, and the AgentMeasurement before practice.
    plan: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)
    # As contract.practice.TrainedArm.
    arms: Mapped[list[dict[str, Any]]]
    # Who started or continued it. Its runs are launched with the present rights of this person.
    person_id: Mapped[int | None] = mapped_column(BigInteger)


class StartSet(InProject, Base):
    """A named set of start points of a game."""

    __tablename__ = "start_sets"
    __table_args__ = (UniqueConstraint("project_id", "env", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id"), index=True)
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    env: Mapped[str] = mapped_column(String(100))
    name: Mapped[str] = mapped_column(String(100))
    player: Mapped[StartPlayer]
    source: Mapped[str] = mapped_column(Text)
    emulator: Mapped[str] = mapped_column(String(100))
    points: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64))
    bytes: Mapped[int] = mapped_column(BigInteger)
    # contract.protocols.StartSetFile as JSON. It may be megabytes, so it is loaded only on request.
    content: Mapped[str] = mapped_column(Text, deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Replay(Base):
    """A replay: one episode played from a checkpoint."""

    __tablename__ = "replays"
    __table_args__ = (UniqueConstraint("run_id", "attempt", "file"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    file: Mapped[str] = mapped_column(String(255))
    checkpoint: Mapped[str] = mapped_column(String(255))
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    poster_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    seen_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    track_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    # The job that recorded it. Replays that the trainer recorded have none.
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    # The job that computes its saliency. The saliency file is found by it.
    saliency_job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"), index=True)
    # Protected from pruning.
    pinned: Mapped[bool] = mapped_column(default=False, server_default=false())
    episode_return: Mapped[float]
    length: Mapped[int]
    seconds: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    @property
    def saliency_asked(self) -> bool:
        """True if its saliency exists or was requested."""
        return self.saliency_job_id is not None


class KeptGame(InProject, Base):
    """A game that a person played, from its start or from a decision of a replay: its actions, and its video's job."""

    __tablename__ = "kept_games"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    project_id: Mapped[int] = mapped_column(Id, ForeignKey("projects.id"), index=True)
    project: Mapped[str] = column_property(select(Project.name).where(Project.id == project_id).scalar_subquery())
    env: Mapped[str] = mapped_column(String(100), index=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    poster_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int]
    score: Mapped[float]
    ended: Mapped[GameEnd]
    emulator: Mapped[str] = mapped_column(String(100))
    start_points: Mapped[int]
    # The replay that it continues, if any. The other columns stay when the replay is deleted.
    replay_id: Mapped[int | None] = mapped_column(ForeignKey("replays.id", ondelete="SET NULL"), index=True)
    decision: Mapped[int | None]
    score_before: Mapped[float | None]
    frames_before: Mapped[int | None]
    # Frames since the decision in which the agent played.
    agent_frames: Mapped[int | None]
    # As in events.GameKept. They are long, so they are loaded only on request.
    actions: Mapped[list[list[Any]]] = mapped_column(deferred=True)
    screens: Mapped[list[list[Any]]] = mapped_column(deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
