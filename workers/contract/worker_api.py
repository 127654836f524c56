"""The worker API: what a worker and the backend say to each other.

The backend refuses unknown fields in a request. A worker ignores unknown fields in an answer, so that a newer backend
can serve an older worker.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from workers.contract.events import CheckpointFile, Event, Sha256
from workers.contract.values import NO_BOOLEAN, STORABLE, Id, Message, Ordinal, SmallCount, Traceback

State = Literal["queued", "starting", "running", "finished", "failed", "paused", "stopped"]
Desired = Literal["run", "pause", "stop"]
Outcome = Literal["finished", "failed", "stopped", "drained", "lost"]
QueueName = Literal["cpu", "gpu"]
FileKind = Literal["checkpoint", "video", "poster", "track", "saliency"]
# What a worker may have in hand, as its paths are called: runs that it trains, jobs that it does beside them.
Noun = Literal["runs", "jobs"]
JobKind = Literal["evaluation", "recording", "saliency", "live", "play", "film"]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]
JobDesired = Literal["run", "cancel"]

QUEUES: tuple[QueueName, ...] = get_args(QueueName)
# Jobs of all runs wait in one queue, which every worker listens to that takes jobs.
JOBS_QUEUE = "jobs"
# The Celery tasks that are the doorbells; the one argument is the number of a run or a job that waits.
LOOK_TASK = "workers.look"
LOOK_FOR_JOBS_TASK = "workers.look_for_jobs"

MOST_EVENTS = 1_000  # in one batch
MOST_JOBS = 64  # beside one worker's training

# Relative, and no part of it begins with a dot: it names a file in a run directory.
RUN_PATH = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$"

# By these a worker knows that a problem document is the backend's and not a proxy's.
PROBLEM_MEDIA_TYPE = "application/problem+json"
PROBLEM_TYPES = "/problems/"
# The last part of a problem's type, where a worker must act on it.
NOT_FOUND = "not-found"
STALE_ATTEMPT = "stale-attempt"
SEQUENCE_GAP = "sequence-gap"
NAME_TAKEN = "name-taken"
OTHER_INSTALLATION = "other-installation"

# A worker names the installation that gave it a run or a job with every call about that. Another one, such as the
# same backend on another database, may have one of the same number, or none: that says nothing about the worker's.
INSTALLATION_HEADER = "Arcadia-Installation"

WorkerName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@:-]*$")]
AttemptNumber = Ordinal
RunPath = Annotated[str, StringConstraints(max_length=255, pattern=RUN_PATH)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ToldProblem(_Answer):
    """A problem document, as far as a worker acts on it."""

    type: str = Field(pattern=f"^{PROBLEM_TYPES}")
    status: int
    title: str = ""
    detail: str = ""
    errors: list[Any] | None = None
    expected: int | None = Field(default=None, description="The event that must come next, in a gap of the sequence.")


def private_queue(worker: str) -> str:
    """Name the queue that one worker alone listens to; a ring there is not heard by one that is busy."""
    return f"worker.{worker}"


class HeldAssignment(_Request):
    """A run or a job that a worker has in hand."""

    id: Id
    attempt: AttemptNumber


class MachineFacts(_Request):
    """What a worker tells of its host and process."""

    host: Annotated[str, Field(max_length=255), STORABLE]
    pid: SmallCount
    version: Annotated[str, Field(max_length=50), STORABLE]
    device: Annotated[str, Field(max_length=255), STORABLE]
    cores: Annotated[int, Field(ge=0, le=1_000_000), NO_BOOLEAN]
    memory_bytes: Annotated[int, Field(ge=0, le=2**53), NO_BOOLEAN]
    # The process on this host that had the worker's directory before, which has ended. It may have had the same name.
    replaces: SmallCount | None = None


class Heartbeat(MachineFacts):
    """A worker reports that it lives, and what it does."""

    name: WorkerName
    queue: QueueName
    run: HeldAssignment | None = None
    job_slots: Annotated[int, Field(ge=0, le=MOST_JOBS), NO_BOOLEAN] = 0
    jobs: Annotated[list[HeldAssignment], Field(max_length=MOST_JOBS)] = []


class WantedJob(_Answer):
    """What is wanted of a job in hand; nothing, once it is no longer this worker's."""

    id: int
    attempt: int
    desired: JobDesired | None


class HeartbeatAnswer(_Answer):
    """What is wanted of the run and the jobs in hand."""

    desired: Desired | None
    lease_seconds: float
    jobs: list[WantedJob] = []


class ClaimRequest(_Request):
    """A worker asks for the best waiting run of its queue."""

    name: WorkerName
    queue: QueueName


class OfferedCheckpoint(CheckpointFile):
    """A checkpoint that the trainer may go on from; `id` is the file to download."""

    model_config = ConfigDict(extra="ignore")

    id: int

    @property
    def path(self) -> str:
        """Where it is downloaded, below the path of the run or job."""
        return f"files/{self.id}"


class Claim(_Answer):
    """A run handed to a worker; its checkpoints newest first."""

    run_id: int
    attempt: int
    config: dict[str, Any]
    lease_seconds: float
    checkpoints: list[OfferedCheckpoint]
    installation: str = ""


class JobClaimRequest(_Request):
    """A worker asks for the oldest waiting job."""

    name: WorkerName


class OfferedStarts(_Answer):
    """A set of start points that a job's episodes begin at."""

    sha256: Sha256
    bytes: int

    @property
    def path(self) -> str:
        """Where it is downloaded, below the path of the job."""
        return "starts"


class JobClaim(_Answer):
    """A job handed to a worker, with the checkpoint that it is about, if it is about one."""

    job_id: int
    attempt: int
    kind: JobKind
    parameters: dict[str, Any]
    lease_seconds: float
    checkpoint: OfferedCheckpoint | None = None
    starts: OfferedStarts | None = None
    installation: str = ""


class EventBatch(_Request):
    """Events of one attempt, in order."""

    attempt: AttemptNumber
    events: Annotated[list[Event], Field(min_length=1, max_length=MOST_EVENTS)]


class Acknowledged(_Answer):
    """The last event that is stored for good."""

    acknowledged: int


class UploadedFile(_Answer):
    """What a file is called from now on."""

    file_id: int


class Release(_Request):
    """A worker gives a run or a job back and says how its process ended."""

    attempt: AttemptNumber
    outcome: Outcome
    message: Message | None = None
    traceback: Traceback | None = None


class Released(_Answer):
    """Where the run or the job went."""

    state: State | JobState


class Goodbye(_Request):
    """A worker leaves."""

    name: WorkerName
