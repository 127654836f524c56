"""Request and response models of the studies API."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.database.tables import StudyState
from arcadia_backend.projects.schemas import MayEdit, ProjectName
from arcadia_backend.runs.schemas import Notes
from arcadia_backend.studies.results import DecisionState
from arcadia_backend.studies.specification import MAX_SEEDS, Name, Specification
from arcadia_workers.contract.values import NO_BOOLEAN
from arcadia_workers.contract.worker_api import State

SteerAction = Literal["pause", "resume", "stop"]
Action = SteerAction | Literal["delete"]
FigureKind = Literal["scatter", "parallel", "importance"]
RunState = State | Literal["planned", "removed"]
Count = Annotated[int, Field(ge=1, le=100_000), NO_BOOLEAN]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


ConfirmSteps = Annotated[
    int, Field(ge=1, description="`steps` of the preview. Required if its `confirm` is not null."), NO_BOOLEAN
]


class StartStudy(Specification):
    """A study to start, with its confirmed total of steps and its project."""

    confirm_steps: ConfirmSteps | None = None
    project: ProjectName | None = Field(default=None, description="Name of an existing project. Default: Main.")

    @property
    def specification(self) -> Specification:
        """Return the study without the confirmation and the project."""
        return Specification.model_validate(self.model_dump(exclude={"confirm_steps", "project"}))


class EditStudy(_Request):
    """Changes to a study. Omitted fields stay unchanged."""

    name: Name | None = None
    question: Notes | None = None
    project: ProjectName | None = Field(default=None, description="The study brings its runs.")


class ExtendStudy(_Request):
    """Seeds to add to all points, to the best or to some, or random points to add."""

    seeds: (
        Annotated[int, Field(ge=1, le=MAX_SEEDS, description="Number of seeds to add to each point."), NO_BOOLEAN]
        | None
    ) = None
    best: (
        Annotated[
            Count,
            Field(
                description="Add seeds only to this many points with the best mean return. Points that a study until "
                "certain ranks lower do not count."
            ),
        ]
        | None
    ) = None
    of: (
        Annotated[
            list[Annotated[int, Field(ge=0, le=100_000), NO_BOOLEAN]],
            Field(min_length=1, max_length=1_000, description="Add seeds only to the points with these numbers."),
        ]
        | None
    ) = None
    points: Annotated[Count, Field(description="Number of points to add, each with the study's seeds.")] | None = None


class Preview(BaseModel):
    """Size and cost of a study, before it is stored."""

    points: int
    runs: int = Field(description="Largest number of runs, if seeds are added until certain.")
    min_runs: int = Field(description="Number of runs before seeds are added; `runs` if none are.")
    steps: int = Field(description="Total of `runs`.")
    seconds: float | None = Field(description="Estimated duration at the rates measured here; null if unknown.")
    concurrent_runs: int = Field(description="Number of runs that can train concurrently, at least one.")
    unmeasured: list[str] = Field(description="Methods and environments that have not trained here yet.")
    estimated: list[str] = Field(description="Methods and environments whose rate is taken from similar environments.")
    confirm: str | None = Field(description="Why `confirm_steps` is required; null if it is not.")
    refused: str | None = Field(description="Why the study is too large; null if it is not.")


class RunCounts(BaseModel):
    """Number of runs of a study by state."""

    planned: int = Field(description="Not created yet.")
    queued: int
    starting: int
    running: int
    paused: int
    finished: int
    failed: int
    stopped: int
    removed: int = Field(description="Purged by a user.")


class StudyActions(BaseModel):
    """For each action, the reason why it is not allowed now, or null if it is allowed."""

    pause: str | None
    resume: str | None
    stop: str | None
    delete: str | None


class StudySummary(BaseModel):
    """A study in the list."""

    id: int
    name: str
    project: str
    state: StudyState
    state_reason: str | None = Field(description="Why the study was paused automatically; otherwise null.")
    created_at: datetime
    started_at: datetime = Field(description="Time of the last start, resume or extension.")
    finished_at: datetime | None
    runs: RunCounts
    points: int
    best: float | None = Field(description="Best mean return of a point, over its finished runs.")
    actions: StudyActions
    may_edit: MayEdit


class StudyRun(BaseModel):
    """A run of a point."""

    seed: int
    run_id: int | None = Field(description="Null until the run is created.")
    state: RunState
    step: int
    total_steps: int
    score: float | None = Field(description="Mean return of the last 100 training episodes.")


class PointDecision(BaseModel):
    """Whether the study has decided that a point ranks lower than another, or highest."""

    state: DecisionState = Field(
        description="undecided: it gets another seed once all runs have ended; decided: it is worse, or all others "
        "are; limit_reached: it has `max_seeds` seeds or more."
    )
    beaten_by: int | None = Field(
        description="Number of the point that ranks higher with the most evidence; null if none."
    )
    e_value: float = Field(description="Evidence that another point is better: now, or when it was decided.")
    threshold: float = Field(description="E-value at which the point is decided.")


class StudyPoint(BaseModel):
    """A point of a study with its runs and their mean return."""

    number: int
    label: str
    values: dict[str, Any]
    runs: list[StudyRun]
    n: int = Field(description="Number of finished runs, which the mean is over.")
    failed: int = Field(description="Number of failed runs. The mean leaves them out.")
    mean: float | None
    low: float | None = Field(description="Lower end of the 95 % t-interval of the mean over seeds.")
    high: float | None
    decision: PointDecision | None = Field(description="Null unless the study adds seeds until certain.")


class StudyAxis(BaseModel):
    """An axis of a study."""

    title: str
    fields: list[str]
    numeric: bool
    log: bool


class StudyOrigin(BaseModel):
    """The part of a paper's table or figure that a study reproduces."""

    paper: str = Field(description="Name of the paper, as in /papers/{paper}/{item}.")
    item: str
    part: str
    share: float = Field(description="Share of the part's budget.")


class Study(StudySummary):
    """A study with its points."""

    question: str
    origin: StudyOrigin | None = Field(description="Null if the study does not reproduce a paper.")
    specification: Specification
    runs_remaining: int = Field(description="Number of runs not created yet, including those of points not drawn yet.")
    axes: list[StudyAxis]
    table: list[StudyPoint] = Field(description="Points in the order they were drawn.")
    verdict: str | None = Field(
        description="Which points are best or undecided, as sentences; null unless seeds are added until certain."
    )


class StudyPage(BaseModel):
    """One page of studies, newest first."""

    items: list[StudySummary]
    next_cursor: int | None = Field(description="Send it as `before` to get the next page.")
