"""Requests and answers of the papers API."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from backend.papers.definition import SHARES
from backend.studies.schemas import ConfirmSteps, StudySummary
from workers.contract.worker_api import State


def _known_share(share: float) -> float:
    if share not in SHARES:
        raise ValueError(f"choose {', '.join(f'{each:g}' for each in SHARES[:-1])} or {SHARES[-1]:g}")
    return share


# Not an enum: generators of clients make no enum of numbers, and drop every model that has one.
Share = Annotated[float, AfterValidator(_known_share), Field(examples=[*SHARES])]
PartName = Annotated[str, Field(max_length=60, pattern=r"^[a-z0-9-]+$")]


class ItemSummary(BaseModel):
    """A table or figure in a paper's list."""

    name: str = Field(description="In addresses, as figure-2.")
    label: str = Field(description="As the paper calls it.")
    title: str
    runs: int = Field(description="At all of the budget, of the paper's own parts.")
    frames: int = Field(description="Of all these runs together.")
    studies: int = Field(description="How many were started from it.")
    cannot: str | None = Field(description="Why Arcadia cannot do what the paper did.")


class PaperSummary(BaseModel):
    """A paper with its tables and figures."""

    name: str
    title: str = Field(description="As people call its method.")
    full_title: str
    authors: str
    year: int
    shows: str
    items: list[ItemSummary]


class PublishedNumber(BaseModel):
    """A number that the paper prints."""

    what: str
    value: float
    unit: str
    source: str
    table: str
    protocol: str


class ItemDifference(BaseModel):
    """Something that ours does otherwise."""

    what: str
    theirs: str
    ours: str
    why: str


class StatedSetting(BaseModel):
    """A field of the presets that the paper, or its code, states otherwise or not at all."""

    field: str
    paper: str = Field(description="Empty where the paper does not say.")
    code: str = Field(description="Empty where the code does not say, or was not looked at.")
    ours: str
    why: str


class PartCost(BaseModel):
    """What a part takes."""

    runs: int
    steps: int
    frames: int
    seconds: float | None = Field(description="By the clock, at the rates measured here, if they are known.")
    concurrent_runs: int = Field(description="Number of runs that can train concurrently.")
    unmeasured: list[str] = Field(description="Kinds of runs that have not trained here yet.")
    estimated: list[str] = Field(description="Kinds whose rate is that of the same method in similar environments.")


class ItemPart(BaseModel):
    """A study that an item can be run as."""

    name: str
    title: str
    stands_in: bool = Field(description="It is not the paper's own, and stands in for it where time is short.")
    cost: PartCost = Field(description="At all of its budget.")
    suggested_share: Share = Field(description="The smallest share whose runs are long enough to show something.")


class PaperStudy(StudySummary):
    """A study that was started from an item."""

    part: str = Field(description="The part's title.")
    share: Share


class Panel(BaseModel):
    """A figure that can be drawn now."""

    title: str
    part: str | None = Field(description="To be sent as `part`.")
    share: Share | None = Field(description="To be sent as `share`; null where it draws no studies of one share.")
    told: str = Field(description="Which of ours it draws: at which budget, and how many have finished.")


class PaperSpeed(BaseModel):
    """How fast runs of a setting trained, beside what the same host did with the environments alone."""

    part: str = Field(description="The part's title.")
    share: Share
    setting: str
    rate: float = Field(description="Steps a second.")
    ceiling: float | None = Field(description="Of the environments alone; null where no run measured it.")
    of_ceiling: float | None = Field(description="The one as a part of the other, as the mean over runs.")


class ItemInstead(BaseModel):
    """A substitute for an environment that Arcadia lacks."""

    env: str
    title: str = Field(description="The environment's title.")
    why: str


class ItemTable(BaseModel):
    """Ours beside theirs in words, where there is nothing to draw."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str


class DiagramReading(BaseModel):
    """A number in a box of a diagram."""

    label: str
    value: float | str | None = Field(description="Null where the run has not reported it, or there is no run.")
    unit: str
    measured: bool = Field(description="False for a field of the run's configuration.")


class DiagramBox(BaseModel):
    """A part of a method, and its place in a grid."""

    name: str
    title: str
    kind: str = Field(description="What it is on the host, as threads.")
    does: str
    column: int
    row: int
    rows: int = Field(description="How many rows of the grid it takes.")
    many: bool = Field(description="There are several of it.")
    learned: bool = Field(description="The learned parameters are there.")
    readings: list[DiagramReading]


class DiagramArrow(BaseModel):
    """What one box sends to another."""

    start: str
    end: str
    carries: str
    around: bool = Field(description="It leads past the boxes between them.")


class DiagramGroup(BaseModel):
    """Boxes that are one process."""

    title: str
    boxes: list[str]


class DiagramRun(BaseModel):
    """A run whose numbers a diagram can show."""

    id: int
    name: str
    state: State


class Diagram(BaseModel):
    """How a method is built here, with the numbers of a run."""

    name: str
    title: str
    preset: str = Field(description="Launches a run of the method.")
    run: DiagramRun | None = Field(description="Whose numbers these are; null where no run has started.")
    runs: list[DiagramRun] = Field(description="Runs that can be chosen, the newest first.")
    boxes: list[DiagramBox]
    arrows: list[DiagramArrow]
    groups: list[DiagramGroup]


class PaperItem(ItemSummary):
    """A table or figure: what the paper did, what ours does, what was published and what was started here."""

    paper: str
    paper_title: str
    theirs: str
    ours: str
    measures: str = Field(description="What the figure's heights are.")
    differs: list[ItemDifference]
    settings: list[StatedSetting]
    published: list[PublishedNumber]
    unpublished: str | None = Field(description="Why there are no published numbers.")
    instead: ItemInstead | None = Field(description="What can be run here where Arcadia cannot do what the paper did.")
    parts: list[ItemPart]
    started: list[PaperStudy] = Field(description="The newest first.")
    panels: list[Panel]
    table: ItemTable | None = Field(description="Null where the item is drawn.")
    diagrams: list[str] = Field(description="Names of the diagrams of how its methods are built here.")
    speeds: list[PaperSpeed] = Field(description="Of the newest study of each part at each share.")
    height: int = Field(description="Of a figure, in pixels.")


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PreviewPart(_Request):
    """Share of the budget and parts of the item to preview; without `parts`, all of the paper's own."""

    share: Share
    parts: Annotated[list[PartName], Field(min_length=1, max_length=100)] | None = None


class StartPart(PreviewPart):
    """Share of the budget and parts of the item to start, with the total of steps where that must be confirmed."""

    confirm_steps: ConfirmSteps | None = None


class MeasureParts(_Request):
    """Parts of the item whose speed to measure on this host."""

    parts: Annotated[list[PartName], Field(min_length=1, max_length=100)]


class Measurement(BaseModel):
    """A short run that measures how fast a method trains here. It stops after half a minute of training."""

    run_id: int
    kind: str = Field(description="Method and environment.")


class PaperPreview(PartCost):
    """What these parts would take together, before anything is stored."""

    studies: int
    confirm: str | None = Field(description="Why `confirm_steps` is required to start them.")
    too_short: str | None = Field(description="Which parts would train too few steps to show anything.")
    refused: str | None = Field(description="Why it is too much.")
