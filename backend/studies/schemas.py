"""Requests and answers of the studies API."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.database.tables import StudyState
from backend.runs.schemas import Notes
from backend.studies.specification import MAX_SEEDS, Name, Specification
from workers.contract.values import NO_BOOLEAN
from workers.contract.worker_api import State

SteerAction = Literal["pause", "resume", "stop"]
Action = SteerAction | Literal["delete"]
FigureKind = Literal["scatter", "parallel", "importance"]
RunState = State | Literal["planned", "removed"]
Many = Annotated[int, Field(ge=1, le=100_000), NO_BOOLEAN]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


ConfirmSteps = Annotated[
    int, Field(ge=1, description="`steps` of the preview: required where its `confirm` says why."), NO_BOOLEAN
]


class StartStudy(Specification):
    """A study to start, with the total of its steps where that must be confirmed."""

    confirm_steps: ConfirmSteps | None = None

    @property
    def specification(self) -> Specification:
        """Return the study without the confirmation."""
        return Specification.model_validate(self.model_dump(exclude={"confirm_steps"}))


class EditStudy(_Request):
    """Change what the user wrote about a study; a field left out stays."""

    name: Name | None = None
    question: Notes | None = None


class ExtendStudy(_Request):
    """Go on with more seeds of all points, of the best ones or of named ones, or with more random points."""

    seeds: Annotated[int, Field(ge=1, le=MAX_SEEDS, description="How many more."), NO_BOOLEAN] | None = None
    best: Annotated[Many, Field(description="Of so many points, those with the largest mean return.")] | None = None
    of: (
        Annotated[
            list[Annotated[int, Field(ge=0, le=100_000), NO_BOOLEAN]],
            Field(min_length=1, max_length=1_000, description="Of these points alone, by their numbers."),
        ]
        | None
    ) = None
    points: Annotated[Many, Field(description="How many more points, each with the study's seeds.")] | None = None


class Preview(BaseModel):
    """What a study would be, before anything of it is stored."""

    points: int
    runs: int
    steps: int = Field(description="Of all runs together.")
    seconds: float | None = Field(description="About how long it takes at the rates measured here, if they are known.")
    places: int = Field(description="How many runs train at a time: so many workers are here, at least one.")
    unmeasured: list[str] = Field(description="Kinds of runs that have not trained here yet.")
    estimated: list[str] = Field(description="Kinds whose rate is that of the same method in similar environments.")
    confirm: str | None = Field(description="Why `confirm_steps` is required to start it.")
    refused: str | None = Field(description="Why it is too large.")


class RunCounts(BaseModel):
    """How many runs of a study are in each state."""

    planned: int = Field(description="Not made yet.")
    queued: int
    starting: int
    running: int
    paused: int
    finished: int
    failed: int
    stopped: int
    removed: int = Field(description="Purged by a user.")


class StudyActions(BaseModel):
    """For each action, why it is not possible for the study now, or null if it is."""

    pause: str | None
    resume: str | None
    stop: str | None
    delete: str | None


class StudySummary(BaseModel):
    """A study in the list."""

    id: int
    name: str
    state: StudyState
    state_reason: str | None = Field(description="In plain words, why the system paused it.")
    created_at: datetime
    started_at: datetime = Field(description="When it was last started, resumed or extended.")
    finished_at: datetime | None
    runs: RunCounts
    points: int
    best: float | None = Field(description="The largest mean return of a point.")
    actions: StudyActions


class StudyRun(BaseModel):
    """A run of a point."""

    seed: int
    run_id: int | None = Field(description="Null until it is made.")
    state: RunState
    step: int
    total_steps: int
    score: float | None = Field(description="Mean return of the last 100 training episodes.")


class StudyPoint(BaseModel):
    """A point of a study: the fields that its runs share, and what they have come to."""

    number: int
    label: str
    values: dict[str, Any]
    runs: list[StudyRun]
    n: int = Field(description="How many runs have finished; the mean is theirs.")
    mean: float | None
    low: float | None = Field(description="Where the 95 % interval of the mean begins (bootstrap over seeds).")
    high: float | None


class StudyAxis(BaseModel):
    """An axis as it is shown."""

    title: str
    fields: list[str]
    numeric: bool
    log: bool


class StudyOrigin(BaseModel):
    """The part of a paper's table or figure that a study was started from."""

    paper: str = Field(description="As in the address of its page: /papers/{paper}/{item}.")
    item: str
    part: str
    share: float = Field(description="Of the part's budget.")


class Study(StudySummary):
    """A study with its points."""

    question: str
    origin: StudyOrigin | None = Field(description="Null where it was not started from a paper.")
    specification: Specification
    unmade: int = Field(
        description="How many runs are not made yet, those of points that tpe has yet to draw among them."
    )
    axes: list[StudyAxis]
    table: list[StudyPoint] = Field(description="The points in the order of drawing.")


class StudyPage(BaseModel):
    """Studies, the newest first."""

    items: list[StudySummary]
    next_cursor: int | None = Field(description="To be sent as `before` for the next page.")
