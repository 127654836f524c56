"""Tables of runs, of what they produced and of the workers; the metric points are in backend/metrics/models.py."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, MetaData, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from backend.database.columns import Json, Number, Numbers, UtcDateTime, utc_now
from workers.contract.events import LogLevel
from workers.contract.protocols.protocol import StartPlayer
from workers.contract.worker_api import (
    Desired,
    ErrandDesired,
    ErrandKind,
    ErrandState,
    FileKind,
    Outcome,
    QueueName,
    State,
)

# Whether the run's schedule asked for an evaluation, or a user.
Origin = Literal["schedule", "asked"]
StudyState = Literal["running", "paused", "stopped", "finished"]
# How a person's game ended; it may be kept before its end.
GameEnd = Literal["over", "cut off", "unfinished"]

# SQLite only counts up by itself in a column that is declared exactly INTEGER.
Id = BigInteger().with_variant(Integer(), "sqlite")


def _unique_where(name: str, *columns: str, where: str) -> Index:
    """Make a unique index of a part of the rows."""
    return Index(name, *columns, unique=True, sqlite_where=text(where), postgresql_where=text(where))


class Base(DeclarativeBase):
    """Parent of all tables; constraints have the same names on both databases, so that migrations can name them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it as a plain class attribute
        datetime: UtcDateTime,
        float: Number,
        dict[str, Any]: Json,
        dict[str, str]: Json,
        list[dict[str, Any]]: Json,
        list[str]: Json,
        list[int]: Json,
        list[list[Any]]: Json,
        list[float]: Numbers,
        State: String(16),
        Desired: String(16),
        QueueName: String(8),
        FileKind: String(16),
        LogLevel: String(16),
        Outcome: String(16),
        ErrandKind: String(16),
        ErrandState: String(16),
        ErrandDesired: String(16),
        Origin: String(16),
        StartPlayer: String(8),
        StudyState: String(16),
        GameEnd: String(16),
    }


class Run(Base):
    """One training run: what was asked, what is wanted of it now, and where it stands."""

    __tablename__ = "runs"
    __table_args__ = (
        Index("ix_runs_waiting", "state", "queue", "priority", "created_at"),
        Index("ix_runs_listed", "archived_at", "created_at"),
        # Numbers of purged runs are not used again.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    algorithm: Mapped[str] = mapped_column(String(32))
    env: Mapped[str] = mapped_column(String(100))
    queue: Mapped[QueueName]
    priority: Mapped[int] = mapped_column(default=0)
    notes: Mapped[str] = mapped_column(Text, default="")
    config: Mapped[dict[str, Any]]

    state: Mapped[State] = mapped_column(default="queued")
    desired: Mapped[Desired] = mapped_column(default="run")
    state_reason: Mapped[str | None] = mapped_column(Text)
    failure_message: Mapped[str | None] = mapped_column(Text)
    failure_traceback: Mapped[str | None] = mapped_column(Text)

    # The parent may be purged, so these are numbers to show and not foreign keys.
    parent_run_id: Mapped[int | None] = mapped_column(BigInteger)
    parent_checkpoint_id: Mapped[int | None] = mapped_column(BigInteger)
    parent_step: Mapped[int | None] = mapped_column(BigInteger)

    attempt: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(100))
    # Kept once its worker fell silent, until the next claim: that worker may still continue.
    lease_expires_at: Mapped[datetime | None]
    requeues: Mapped[int] = mapped_column(default=0)

    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    # When it last entered the queue; empty for runs of an earlier version.
    queued_at: Mapped[datetime | None] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]

    step: Mapped[int] = mapped_column(BigInteger, default=0)
    frames: Mapped[int] = mapped_column(BigInteger, default=0)
    total_steps: Mapped[int] = mapped_column(BigInteger)
    steps_per_second: Mapped[float | None]
    seconds_left: Mapped[float | None]
    episodes: Mapped[int] = mapped_column(BigInteger, default=0)
    last_return: Mapped[float | None]
    best_return: Mapped[float | None]
    poster_file_id: Mapped[int | None] = mapped_column(BigInteger)
    versions: Mapped[dict[str, str] | None]
    command: Mapped[list[str] | None]

    tags: Mapped[list["RunTag"]] = relationship(cascade="all, delete-orphan", passive_deletes=True, lazy="selectin")


class Study(Base):
    """A question, and what is to answer it; its runs are made by and by."""

    __tablename__ = "studies"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    question: Mapped[str] = mapped_column(Text)
    # As studies.specification.Specification; `points` grows when more are asked for.
    specification: Mapped[dict[str, Any]]
    state: Mapped[StudyState] = mapped_column(index=True)
    # In plain words, why the system paused it.
    state_reason: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    # When it was last started or resumed.
    started_at: Mapped[datetime] = mapped_column(default=utc_now)
    finished_at: Mapped[datetime | None]


class StudyPoint(Base):
    """A point of a study: for each axis the place in its values, or the number that was drawn."""

    __tablename__ = "study_points"

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    draw: Mapped[list[float]]


class StudyRun(Base):
    """A run that a study plans, and the number of the one that was made; the key lets none be made twice."""

    __tablename__ = "study_runs"

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True)
    point: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seed: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # No foreign key: the number stays when the run is purged, so that it is not made again.
    run_id: Mapped[int | None] = mapped_column(BigInteger, unique=True)


class PaperStudy(Base):
    """From which part of a paper's table or figure a study was started, and with what share of its budget."""

    __tablename__ = "paper_studies"

    study_id: Mapped[int] = mapped_column(
        ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    paper: Mapped[str] = mapped_column(String(60))
    item: Mapped[str] = mapped_column(String(60))
    part: Mapped[str] = mapped_column(String(60))
    share: Mapped[float]


class Measurement(Base):
    """A short run that measures how fast a method trains here. It is stopped and archived automatically."""

    __tablename__ = "measurements"

    run_id: Mapped[int] = mapped_column(
        ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )


class RunTag(Base):
    """A word that a user put on a run."""

    __tablename__ = "run_tags"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    tag: Mapped[str] = mapped_column(String(50), primary_key=True, index=True)


class Attempt(Base):
    """One claim of a run by a worker; `resumed_step` stays empty until its trainer has said where it begins."""

    __tablename__ = "attempts"

    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    worker: Mapped[str] = mapped_column(String(100))
    claimed_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    # How the trainer said that it ended; the worker's release or an expired lease acts on it.
    outcome: Mapped[Outcome | None]
    failure_message: Mapped[str | None] = mapped_column(Text)
    failure_traceback: Mapped[str | None] = mapped_column(Text)
    # Points of earlier attempts beyond this step are superseded; 0 when the trainer began anew.
    resumed_step: Mapped[int | None] = mapped_column(BigInteger)
    last_seq: Mapped[int] = mapped_column(default=0)
    host: Mapped[str | None] = mapped_column(String(255))
    device: Mapped[str | None] = mapped_column(String(255))
    precision: Mapped[str | None] = mapped_column(String(32))
    seed: Mapped[int | None] = mapped_column(BigInteger)
    # The latest place of each role, as events.RolePlace; empty for methods without roles.
    roles: Mapped[list[dict[str, Any]] | None]
    # The steps from the queue to the first update, as runs.schemas.RunStartStep.
    start_steps: Mapped[list[dict[str, Any]] | None]


class LogLine(Base):
    """One line of a run's log, of its trainer or of the system; the run's row is locked while one is added."""

    __tablename__ = "log_lines"
    __table_args__ = (Index("ix_log_lines_run_id_id", "run_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    time: Mapped[datetime] = mapped_column(default=utc_now)
    level: Mapped[LogLevel] = mapped_column(default="info")
    message: Mapped[str] = mapped_column(Text)


class File(Base):
    """A file under the files root: `path` is its name in the worker's directory, `stored_path` its place here."""

    __tablename__ = "files"
    __table_args__ = (
        _unique_where("uq_files_run_id_attempt_path", "run_id", "attempt", "path", where="errand_id IS NULL"),
        _unique_where("uq_files_errand_id_attempt_path", "errand_id", "attempt", "path", where="errand_id IS NOT NULL"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    # Empty where the errand that made it is of no run.
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    # Of the errand that made it; then the attempt is the errand's.
    errand_id: Mapped[int | None] = mapped_column(ForeignKey("errands.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    kind: Mapped[FileKind]
    path: Mapped[str] = mapped_column(String(255))
    stored_path: Mapped[str] = mapped_column(String(255))
    sha256: Mapped[str] = mapped_column(String(64))
    bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Checkpoint(Base):
    """A saved training state; a fork's first one is its parent's, under attempt 0."""

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
    # Empty once the file was thinned out.
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    return_mean: Mapped[float | None]
    best: Mapped[bool] = mapped_column(default=False)
    # Kept whatever the rule of thinning says.
    pinned: Mapped[bool] = mapped_column(default=False, server_default=false())
    # The run's schedule has had it evaluated; the evaluation may have been removed since.
    scheduled: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Video(Base):
    """A replay: one episode played from a checkpoint."""

    __tablename__ = "videos"
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
    # Of one that was asked for; those that the trainer records have none.
    errand_id: Mapped[int | None] = mapped_column(ForeignKey("errands.id", ondelete="CASCADE"), unique=True)
    # Of the computation of its saliency, by which its file is found too.
    saliency_errand_id: Mapped[int | None] = mapped_column(ForeignKey("errands.id", ondelete="SET NULL"), index=True)
    # Kept whatever the rule of thinning says.
    pinned: Mapped[bool] = mapped_column(default=False, server_default=false())
    episode_return: Mapped[float]
    length: Mapped[int]
    seconds: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    @property
    def saliency_asked(self) -> bool:
        """Whether its saliency is there, or somebody has asked for it."""
        return self.saliency_errand_id is not None


class Errand(Base):
    """A short job that a worker does beside its training, for a run or for a person who plays: where it stands."""

    __tablename__ = "errands"
    __table_args__ = (Index("ix_errands_waiting", "state", "created_at"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    kind: Mapped[ErrandKind]
    # Neither a run nor a checkpoint where a person plays.
    run_id: Mapped[int | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    # No foreign key: a file may be an errand's and a checkpoint has a file, so the tables would stand in a circle.
    checkpoint_id: Mapped[int | None] = mapped_column(BigInteger)
    parameters: Mapped[dict[str, Any]]

    state: Mapped[ErrandState] = mapped_column(default="queued")
    desired: Mapped[ErrandDesired] = mapped_column(default="run")
    # In plain words, why it waits again or has failed, or what its process warned of.
    message: Mapped[str | None] = mapped_column(Text)
    traceback: Mapped[str | None] = mapped_column(Text)
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    total: Mapped[int] = mapped_column(BigInteger)

    attempt: Mapped[int] = mapped_column(default=0)
    last_seq: Mapped[int] = mapped_column(default=0)
    # How this attempt's process said that it ended.
    outcome: Mapped[Outcome | None]
    worker: Mapped[str | None] = mapped_column(String(100))
    # Kept once its worker fell silent, until the next claim: that worker may still continue.
    lease_expires_at: Mapped[datetime | None]
    # How often it lost its worker or its process.
    tries: Mapped[int] = mapped_column(default=0)

    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    @property
    def of_run(self) -> int:
        """The number of its run; only errands of people who play have none."""
        if self.run_id is None:
            raise ValueError(f"errand {self.id} ({self.kind}) is of no run")
        return self.run_id


class Evaluation(Base):
    """Episodes that a checkpoint plays by a protocol, apart from training; they are there once its errand is done."""

    __tablename__ = "evaluations"
    __table_args__ = (Index("ix_evaluations_run_id_id", "run_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    errand_id: Mapped[int] = mapped_column(ForeignKey("errands.id", ondelete="CASCADE"), unique=True)
    checkpoint_id: Mapped[int] = mapped_column(ForeignKey("checkpoints.id", ondelete="CASCADE"), index=True)
    step: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    protocol: Mapped[str] = mapped_column(String(50))
    acting: Mapped[dict[str, Any]]
    seed: Mapped[int] = mapped_column(BigInteger)
    origin: Mapped[Origin]

    # The set of start points, which may be removed once the evaluation has ended; so what it was stands here too.
    start_set_id: Mapped[int | None] = mapped_column(BigInteger)
    starts: Mapped[dict[str, Any] | None]

    # The whole result, as contract.protocols.EvaluationDocument; its mean stands here too, to compare by.
    document: Mapped[dict[str, Any] | None]
    mean: Mapped[float | None]


class EvaluationEpisode(Base):
    """An episode of an evaluation that is still played; the document has them all in the end."""

    __tablename__ = "evaluation_episodes"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    score: Mapped[float]
    frames: Mapped[int] = mapped_column(BigInteger)
    frames_before: Mapped[int] = mapped_column(BigInteger)
    length: Mapped[int] = mapped_column(BigInteger)
    ended: Mapped[str] = mapped_column(String(16))


class StoredStarts(Base):
    """A set of start points of one game, under the name that a user gave it."""

    __tablename__ = "start_sets"
    __table_args__ = (UniqueConstraint("env", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    env: Mapped[str] = mapped_column(String(100))
    name: Mapped[str] = mapped_column(String(100))
    player: Mapped[StartPlayer]
    source: Mapped[str] = mapped_column(Text)
    emulator: Mapped[str] = mapped_column(String(100))
    points: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    bytes: Mapped[int] = mapped_column(BigInteger)
    # contract.protocols.StartSet as JSON; megabytes, so it is read only where it is asked for.
    content: Mapped[str] = mapped_column(Text, deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class KeptPlay(Base):
    """A game that a person has played: what was done in it, and the errand that films it."""

    __tablename__ = "kept_games"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    env: Mapped[str] = mapped_column(String(100), index=True)
    errand_id: Mapped[int] = mapped_column(ForeignKey("errands.id"), unique=True)
    file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    poster_file_id: Mapped[int | None] = mapped_column(ForeignKey("files.id", ondelete="SET NULL"), index=True)
    seed: Mapped[int] = mapped_column(BigInteger)
    frames: Mapped[int]
    score: Mapped[float]
    ended: Mapped[GameEnd]
    emulator: Mapped[str] = mapped_column(String(100))
    start_points: Mapped[int]
    # As events.GameKept; long, so that they are read only where they are asked for.
    actions: Mapped[list[list[Any]]] = mapped_column(deferred=True)
    screens: Mapped[list[list[Any]]] = mapped_column(deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Report(Base):
    """A page of text, charts, tables and replays."""

    __tablename__ = "reports"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    # As reports.blocks.Block.
    blocks: Mapped[list[dict[str, Any]]]
    # Grows with each change, so that a window which shows an older one overwrites nothing.
    version: Mapped[int] = mapped_column(default=1)
    # Opens it without a sign-in, where there is one.
    share_token: Mapped[str | None] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now)


class Worker(Base):
    """A worker as it last reported itself."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    queue: Mapped[QueueName]
    pid: Mapped[int]
    version: Mapped[str] = mapped_column(String(50))
    device: Mapped[str] = mapped_column(String(255))
    cores: Mapped[int]
    memory_bytes: Mapped[int] = mapped_column(BigInteger)
    run_id: Mapped[int | None] = mapped_column(BigInteger)
    errand_slots: Mapped[int] = mapped_column(default=0, server_default="0")
    last_seen_at: Mapped[datetime] = mapped_column(default=utc_now)
    left: Mapped[bool] = mapped_column(default=False)


class Installation(Base):
    """The one row names this installation; its files/ folder bears the same name."""

    __tablename__ = "installation"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    identity: Mapped[str] = mapped_column(String(32))


class SignedIn(Base):
    """A cookie that is let in; backend/web/sessions.py says what the proof is."""

    __tablename__ = "signed_in"

    proof: Mapped[str] = mapped_column(String(64), primary_key=True)
    ends_at: Mapped[datetime]
