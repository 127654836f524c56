"""Request and response models of the runs API."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from arcadia_backend.checkpoints.availability import CheckpointChoice
from arcadia_backend.database.tables import RunOrigin, SubmissionState
from arcadia_backend.projects.schemas import ProjectName
from arcadia_backend.runs.job_options import JobOptions
from arcadia_backend.runs.needs import RunNeeds
from arcadia_backend.web.formats import JsonNumber
from arcadia_workers.contract.events import RolePlace
from arcadia_workers.contract.values import NO_BOOLEAN, STORABLE
from arcadia_workers.contract.worker_api import Desired, ExecutorName, QueueName, State

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), STORABLE]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50), STORABLE]
MAX_TAGS = 20
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Notes = Annotated[str, Field(max_length=20_000), STORABLE]
Priority = Annotated[
    int,
    Field(
        ge=-1_000,
        le=1_000,
        description="Runs with a higher priority start first. Equal priorities start in order of creation.",
    ),
    NO_BOOLEAN,
]
Overrides = Annotated[dict[str, Any], Field(max_length=200, description="Configuration fields to change.")]
Action = Literal["stop", "pause", "resume", "archive", "restore", "purge"]
BulkAction = Action | Literal["tag", "untag"]
ManyRunsAction = BulkAction | Literal["move"]


class Parent(BaseModel):
    """The checkpoint that a fork started from."""

    run_id: int | None = Field(description="Null if it is in a project to which you have no access.")
    checkpoint_id: int | None
    step: int | None


class StudyOfRun(BaseModel):
    """The study that a run belongs to, with the run's point and seed."""

    id: int
    name: str
    point: int
    seed: int


class FailureMessage(BaseModel):
    """The message of the error that ended a run."""

    message: str


class Failure(FailureMessage):
    """The error that ended a run."""

    traceback: str | None


class RunStartStep(BaseModel):
    """A step of an attempt before its first update."""

    name: str
    began_at: datetime
    ended_at: datetime | None = Field(description="Null for the current step.")


class SubmissionOfRun(BaseModel):
    """The latest job of a run on a scheduler."""

    model_config = ConfigDict(from_attributes=True)

    executor: str
    handle: str | None = Field(description="Number of the job. Null until the scheduler has confirmed it.")
    state: SubmissionState = Field(description="A job is cancelling until its scheduler confirms the end.")
    scheduler_state: str | None = Field(description="In the scheduler's own words.")
    reason: str | None = Field(description="Why it waits, or why it could not be submitted or is unknown.")
    host: str | None
    task: int | None = Field(description="Its number in a job array; null if it is not in one.")
    place: int | None = Field(description="Place among the waiting jobs of its partition. An array counts as one.")
    submitted_at: datetime
    unknown_since: datetime | None = Field(
        description="Since when the scheduler has not answered or not listed the job. It may still run."
    )
    started_at: datetime | None = Field(description="When the job last started.")
    ended_at: datetime | None
    cores: int | None
    gpus: int | None
    core_seconds: float | None = Field(description="Core time of all starts that have ended; null if none has.")
    gpu_seconds: float | None = Field(description="GPU time of all starts that have ended; null if none has.")


class MetricExtent(BaseModel):
    """The last, min and max value of a metric. NaN and infinities are strings."""

    model_config = ConfigDict(from_attributes=True, ser_json_inf_nan="strings")

    last: JsonNumber | None
    min: JsonNumber | None
    max: JsonNumber | None


class RunActions(BaseModel):
    """For each action, the reason why it is not allowed now, or null if it is allowed.

    The server rejects a forbidden action with 409, or with 403 if you lack the role. Four actions have no effect but
    are accepted: archive when archived, restore when not archived, stop while stopping, pause while pausing.
    """

    # Hashable, because a list has each set of actions once.
    model_config = ConfigDict(frozen=True)

    stop: str | None
    pause: str | None
    resume: str | None
    archive: str | None
    restore: str | None
    purge: str | None
    play: str | None = Field(description="Evaluate, record, calibrate or watch its agent, or continue its replays.")
    download: str | None = Field(description="Download its agent.")
    change: str | None = Field(description="Change its settings.")
    edit: str | None = Field(
        description="Change its name, tags, notes or project, what belongs to it, such as replays, or copy it."
    )


class Run(BaseModel):
    """A run."""

    id: int
    name: str
    state: State
    desired: Desired
    origin: RunOrigin = Field(description="Whether Arcadia trained it, a script logged it, or it was imported.")
    origin_label: str | None = Field(description="Program that logged or imported it, such as Python or TensorBoard.")
    reported_key: str | None = Field(description="Id by which a script resumes a reported run.")
    project: str
    algorithm: str = Field(description="Of a reported run any text, also an empty one.")
    method: str = Field(description="Display name of the algorithm.")
    env: str = Field(description="Of a reported run any text, also an empty one.")
    queue: QueueName | None = Field(description="Null for reported runs.")
    executor: str = Field(description="Where it trains: `workers`, or a scheduler.")
    job_options: list[str] = Field(description="Options of its job on Slurm, in addition to those of the settings.")
    needs: RunNeeds = Field(description="What it needs of a worker's host.")
    interruptible: bool = Field(description="Whether runs with a higher priority may take its place.")
    interruptions: int = Field(description="How often runs with a higher priority have taken its place.")
    core_hours: float | None = Field(description="Used by its jobs on schedulers, as far as they have ended.")
    gpu_hours: float | None = Field(description="Used by its jobs on schedulers, as far as they have ended.")
    submission: SubmissionOfRun | None = Field(description="Its latest job on a scheduler. Null in comparisons.")
    attempt: int
    priority: int
    tags: list[str]
    notes: str
    config: dict[str, Any]
    parent: Parent | None
    study: StudyOfRun | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    archived_at: datetime | None
    state_reason: str | None = Field(description="Sentence that explains the state.")
    failure: Failure | None
    worker: str | None
    step: int = Field(description="Agent steps so far.")
    frames: int = Field(description="Emulator frames so far.")
    total_steps: int | None = Field(description="Null if a script did not say how many steps there will be.")
    trained_seconds: float = Field(description="Training time, without waiting, pauses and gaps between attempts.")
    steps_per_second: float | None
    seconds_left: float | None = Field(description="Remaining training time; null after the last step.")
    last_return: float | None = Field(description="Mean return of the last 100 training episodes.")
    best_return: float | None = Field(description="Highest value of last_return.")
    episodes: int
    poster_file_id: int | None
    versions: dict[str, str] | None
    command: list[str] | None
    color: str = Field(pattern="^#[0-9a-f]{6}$")
    actions: RunActions
    unsupported_because: str | None = Field(
        description="Why this server cannot clone, fork, evaluate or play it: its plug-in is missing. Null if it can."
    )
    launched_by: str | None = Field(description="Name of the person. Null without accounts.")
    changed_by: str | None = Field(description="Who last changed its name, notes, settings or project.")
    stopped_by: str | None = Field(description="Who last stopped, paused or resumed it.")
    roles: list[RolePlace] = Field(
        description="Where each role of the latest attempt runs or last ran. Empty in comparisons."
    )
    start_steps: list[RunStartStep] = Field(description="Start steps of a queued or active run. Empty in comparisons.")
    warnings: list[str] = Field(
        description="Newest warnings in the log of the latest attempt, oldest first. Empty in comparisons."
    )


class ListedRun(BaseModel):
    """A run in a list, with the fields that a table shows. Null and empty fields are left out."""

    id: int
    name: str
    state: State
    desired: Desired
    origin: RunOrigin = Field(description="Whether Arcadia trained it, a script logged it, or it was imported.")
    origin_label: str | None = Field(default=None, description="Program that logged or imported it, such as Python.")
    project: str
    algorithm: str
    method: str = Field(description="Display name of the algorithm.")
    env: str
    queue: QueueName | None = None
    attempt: int
    priority: int
    tags: list[str] = []
    parent: Parent | None = None
    launched_by: str | None = Field(default=None, description="Name of the person. Left out without accounts.")
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    archived_at: datetime | None = None
    state_reason: str | None = Field(default=None, description="Sentence that explains the state.")
    failure: FailureMessage | None = None
    worker: str | None = None
    step: int = Field(description="Agent steps so far.")
    frames: int = Field(description="Emulator frames so far.")
    total_steps: int | None = None
    steps_per_second: float | None = None
    seconds_left: float | None = Field(default=None, description="Remaining training time.")
    last_return: float | None = Field(default=None, description="Mean return of the last 100 training episodes.")
    best_return: float | None = Field(default=None, description="Highest value of last_return.")
    episodes: int
    poster_file_id: int | None = None
    color: str = Field(pattern="^#[0-9a-f]{6}$")
    actions: int = Field(ge=0, description="Index of the run's actions in the page's actions.")
    unsupported_because: str | None = Field(
        default=None, description="Why this server cannot clone, fork, evaluate or play it: its plug-in is missing."
    )
    # Code generators use the title as a type name. The default would clash with RunMetrics.
    metrics: dict[str, MetricExtent] = Field(
        default={}, title="Metric extents", description="Values of the requested metrics."
    )
    config: dict[str, Any] | None = Field(default=None, description="The included configuration fields.")
    notes: str | None = Field(default=None, description="If included.")
    study: StudyOfRun | None = Field(default=None, description="If included. Null if the run belongs to none.")
    trained_seconds: float | None = Field(default=None, description="If included.")
    versions: dict[str, str] | None = Field(default=None, description="If included.")
    command: list[str] | None = Field(default=None, description="If included.")
    reported_key: str | None = Field(default=None, description="If included.")
    computed: dict[str, float | None] | None = Field(
        default=None, title="Computed columns", description="If requested. Null if it has no value for this run."
    )


class RunPage(BaseModel):
    """One page of runs."""

    items: list[ListedRun]
    actions: list[RunActions] = Field(description="Each distinct set of actions of the runs, once.")
    next_cursor: str | None
    total: int


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateRun(_Request):
    """A run to create, from a complete configuration or from a preset with overrides."""

    name: Name | None = None
    config: dict[str, Any] | None = Field(default=None, max_length=200)
    preset: str | None = Field(default=None, max_length=100)
    overrides: Overrides | None = None
    tags: Tags = []
    notes: Notes = ""
    priority: Priority = 0
    executor: ExecutorName | None = Field(
        default=None, description="Where it trains. A scheduler must be set up. Default: that of the project."
    )
    job_options: JobOptions = []
    needs: RunNeeds = Field(default=RunNeeds(), description="What it needs of a worker's host.")
    interruptible: bool = Field(
        default=False, description="Whether runs with a higher priority may take its place. It continues afterwards."
    )
    queue: QueueName | None = Field(default=None, description="Default: gpu if the device is cuda, otherwise cpu.")
    project: ProjectName | None = Field(default=None, description="Name of an existing project. Default: Main.")


class EditRun(_Request):
    """Changes to a run. Omitted fields stay unchanged."""

    name: Name | None = None
    tags: Tags | None = None
    notes: Notes | None = None
    priority: Priority | None = None
    needs: RunNeeds | None = None
    interruptible: bool | None = None
    project: ProjectName | None = None


class CloneRun(_Request):
    """Changes for a new run with the same configuration."""

    name: Name | None = None
    overrides: Overrides = {}
    project: ProjectName | None = Field(default=None, description="Default: the project of the original run.")


class ForkRun(_Request):
    """Checkpoint and changes for a new run that continues from it."""

    checkpoint_id: CheckpointChoice = Field(description="Id of a checkpoint, newest, best or an alias.")
    name: Name | None = None
    overrides: Overrides = {}
    project: ProjectName | None = Field(default=None, description="Default: the project of the original run.")
