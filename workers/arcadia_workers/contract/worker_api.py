"""Requests and responses of the worker API.

The backend refuses unknown fields in a request. A worker ignores unknown fields in a response, so that a newer backend
can serve an older worker.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from arcadia_workers.contract.events import CheckpointFile, Event, RequestedChange, Sha256
from arcadia_workers.contract.jobs import JobKind
from arcadia_workers.contract.values import NO_BOOLEAN, STORABLE, Id, Message, Ordinal, ShortText, SmallCount, Traceback

State = Literal["queued", "starting", "running", "finished", "failed", "paused", "stopped"]
# A worker holds a run in these states.
ACTIVE: tuple[State, ...] = ("starting", "running")
ENDED: tuple[State, ...] = ("finished", "failed", "stopped")
Desired = Literal["run", "pause", "stop"]
# A paused worker finishes what it does and takes no other work. A drained one also gives back what it does.
WorkerDesired = Literal["work", "pause", "drain"]
Outcome = Literal["finished", "failed", "stopped", "drained", "lost"]
QueueName = Literal["cpu", "gpu"]
# The kinds of assignments, as in API paths.
Noun = Literal["runs", "jobs"]
# Slots of a worker for interactive jobs, in addition to those for all jobs.
INTERACTIVE_SLOTS = 2
JobState = Literal["queued", "running", "done", "failed", "cancelled"]
JobDesired = Literal["run", "cancel"]

# Where runs train by default. The other executors are schedulers, which start a worker for each run.
WORKERS = "workers"
ExecutorName = Literal["workers", "slurm", "ray"]
EXECUTOR_TITLES: dict[str, str] = {WORKERS: "Workers", "slurm": "Slurm", "ray": "Ray"}

QUEUES: tuple[QueueName, ...] = get_args(QueueName)
# The queue of all jobs. Every worker with job slots listens to it.
JOBS_QUEUE = "jobs"
# The Celery tasks of the doorbell. Their argument is the id of a queued run or job.
LOOK_TASK = "workers.look"
LOOK_FOR_JOBS_TASK = "workers.look_for_jobs"
# The longest wait for the doorbell without a broker. Many proxies cut a connection that is silent for a minute.
MAX_BELL_SECONDS = 55.0

MOST_EVENTS = 1_000
MOST_JOBS = 64  # per worker
MOST_SLOTS = 64  # per host
MOST_GPUS = 64  # per host
MOST_PLUGINS = 200  # per worker

# The relative path of a file in a run directory. No part starts with a dot.
RUN_PATH = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$"

# These distinguish a problem document of the backend from an error of a proxy.
PROBLEM_MEDIA_TYPE = "application/problem+json"
PROBLEM_TYPES = "/problems/"
# The last part of the problem types that a worker handles.
NOT_FOUND = "not-found"
STALE_ATTEMPT = "stale-attempt"
SEQUENCE_GAP = "sequence-gap"
UPLOAD_OFFSET = "upload-offset"
NAME_TAKEN = "name-taken"
OTHER_INSTALLATION = "other-installation"

# A worker sends the installation of an assignment with every call about it. Another installation, such as the same
# backend with another database, may have a run or job of the same number.
INSTALLATION_HEADER = "Arcadia-Installation"

WorkerName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@:-]*$")]
AttemptNumber = Ordinal
RunPath = Annotated[str, StringConstraints(max_length=255, pattern=RUN_PATH)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ToldProblem(_Answer):
    """The fields of a problem document that a worker uses."""

    type: str = Field(pattern=f"^{PROBLEM_TYPES}")
    status: int
    title: str = ""
    detail: str = ""
    errors: list[Any] | None = None
    expected: int | None = Field(default=None, description="The next expected event, for a sequence gap.")


def private_queue(worker: str) -> str:
    """Return the name of a worker's private queue, so that a doorbell cannot reach a busy worker instead."""
    return f"worker.{worker}"


class HeldAssignment(_Request):
    """A run or a job that a worker holds."""

    id: Id
    attempt: AttemptNumber


class ReportedPlugin(_Request):
    """An allowed plug-in of a worker."""

    name: ShortText
    version: ShortText | None
    problem: Message | None = None


class ReportedGpu(_Request):
    """A GPU of a host, with the memory that programs of others hold."""

    index: SmallCount
    name: ShortText
    memory_bytes: Annotated[int, Field(ge=0, le=2**53), NO_BOOLEAN]
    foreign_bytes: Annotated[int, Field(ge=0, le=2**53), NO_BOOLEAN] = 0


class MachineFacts(_Request):
    """Facts about the host and process of a worker."""

    host: Annotated[str, Field(max_length=255), STORABLE]
    pid: SmallCount
    version: Annotated[str, Field(max_length=50), STORABLE]
    device: Annotated[str, Field(max_length=255), STORABLE]
    cores: Annotated[int, Field(ge=0, le=1_000_000), NO_BOOLEAN]
    memory_bytes: Annotated[int, Field(ge=0, le=2**53), NO_BOOLEAN]
    plugins: Annotated[list[ReportedPlugin], Field(max_length=MOST_PLUGINS)] = []
    # The free space of the disk with its directory if that is almost full, and 0 if nothing can be written there.
    # Otherwise it is left out, as by earlier workers.
    low_disk_bytes: Annotated[int, Field(ge=0, le=2**53), NO_BOOLEAN] | None = Field(
        default=None, exclude_if=lambda free: free is None
    )
    # Left out if there are none, as by earlier workers.
    gpus: Annotated[list[ReportedGpu], Field(max_length=MOST_GPUS)] = Field(
        default=[], exclude_if=lambda gpus: not gpus
    )
    # The ended process on this host that used the worker's directory before. It may have had the same worker name.
    replaces: SmallCount | None = None


class Heartbeat(MachineFacts):
    """A heartbeat of a worker with its assignments."""

    name: WorkerName
    queue: QueueName
    run: HeldAssignment | None = None
    job_slots: Annotated[int, Field(ge=0, le=MOST_JOBS), NO_BOOLEAN] = 0
    # A worker of a scheduler trains only the run of its job.
    executor: Annotated[ShortText, Field(max_length=16)] = WORKERS
    jobs: Annotated[list[HeldAssignment], Field(max_length=MOST_JOBS + INTERACTIVE_SLOTS)] = []


class WantedJob(_Answer):
    """The desired state of a held job, or None if the worker no longer holds it."""

    id: int
    attempt: int
    desired: JobDesired | None


class HeartbeatAnswer(_Answer):
    """The desired states of the held run and jobs, and the run's requested changes."""

    desired: Desired | None
    lease_seconds: float
    jobs: list[WantedJob] = []
    changes: list[RequestedChange] = Field(default=[], description="Changes that its trainer has not reported yet.")
    drain: bool = Field(default=False, description="True if the worker must give back its run and jobs.")


class ClaimRequest(_Request):
    """A request for the first run of a queue."""

    name: WorkerName
    queue: QueueName


class Ring(_Answer):
    """What rang while a worker without a broker waited: it looks for runs, for jobs, for both, or waits again."""

    look: list[Noun]


class RunClaimRequest(_Request):
    """A request for one run, by the job of a scheduler.

    The attempt is the one for which the job was submitted. A scheduler may start a job again, which then claims again
    with the same number and gets a later attempt.
    """

    name: WorkerName
    attempt: AttemptNumber


class OfferedCheckpoint(CheckpointFile):
    """A checkpoint to resume from. `id` is the file to download."""

    model_config = ConfigDict(extra="ignore")

    id: int

    @property
    def path(self) -> str:
        """Return the download path below the path of the run or job."""
        return f"files/{self.id}"


class Claim(_Answer):
    """A claimed run, with its checkpoints, newest first, and the changes that no trainer has reported yet."""

    run_id: int
    attempt: int
    config: dict[str, Any]
    lease_seconds: float
    checkpoints: list[OfferedCheckpoint]
    changes: list[RequestedChange] = []
    installation: str = ""
    # The number of the GPU to train on, if the host has several or shares them.
    gpu: int | None = Field(default=None, exclude_if=lambda gpu: gpu is None)
    # Only for this attempt. A server without accounts sends none.
    token: str | None = Field(default=None, exclude_if=lambda token: token is None)


class JobClaimRequest(_Request):
    """A request for the oldest job."""

    name: WorkerName


class OfferedStarts(_Answer):
    """A set of start points for the episodes of a job."""

    sha256: Sha256
    bytes: int

    @property
    def path(self) -> str:
        """Return the download path below the path of the job."""
        return "starts"


class JobClaim(_Answer):
    """A claimed job, with its checkpoint if it has one."""

    job_id: int
    attempt: int
    kind: JobKind
    parameters: dict[str, Any]
    lease_seconds: float
    checkpoint: OfferedCheckpoint | None = None
    starts: OfferedStarts | None = None
    installation: str = ""
    token: str | None = Field(default=None, exclude_if=lambda token: token is None)


class EventBatch(_Request):
    """Events of one attempt, in order."""

    attempt: AttemptNumber
    events: Annotated[list[Event], Field(min_length=1, max_length=MOST_EVENTS)]


class Acknowledged(_Answer):
    """The number of the last stored event."""

    acknowledged: int


class UploadedFile(_Answer):
    """The id of an uploaded file."""

    file_id: int


class UploadProgress(_Answer):
    """How much of a file the backend has. The worker sends the rest in pieces."""

    file_id: int | None = Field(description="Null until the whole file is stored.")
    offset: int = Field(description="The bytes that were received. The next piece starts here.")


class Release(_Request):
    """The release of a run or a job with its outcome."""

    attempt: AttemptNumber
    outcome: Outcome
    message: Message | None = None
    traceback: Traceback | None = None


class Released(_Answer):
    """The new state of the run or job."""

    state: State | JobState


class Goodbye(_Request):
    """The sign-off of a worker."""

    name: WorkerName
