"""API schemas of papers."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from arcadia_backend.papers.definition import SHARES
from arcadia_backend.projects.schemas import ProjectName
from arcadia_backend.studies.schemas import ConfirmSteps, StudySummary
from arcadia_workers.contract.worker_api import State


def _known_share(share: float) -> float:
    if share not in SHARES:
        raise ValueError(f"choose {', '.join(f'{each:g}' for each in SHARES[:-1])} or {SHARES[-1]:g}")
    return share


# Not an enum: generators of clients make no enum of numbers, and drop every model that has one.
Share = Annotated[float, AfterValidator(_known_share), Field(examples=[*SHARES])]
PartName = Annotated[str, Field(max_length=60, pattern=r"^[a-z0-9-]+$")]


class ItemSummary(BaseModel):
    """A table or figure in a paper's list."""

    name: str = Field(description="Name in URLs, such as figure-2.")
    label: str = Field(description="Label in the paper.")
    title: str
    runs: int = Field(description="Runs of the paper's own parts at the full budget.")
    frames: int = Field(description="Total frames of these runs.")
    studies: int = Field(description="Number of studies started from it.")
    unavailable_reason: str | None = Field(description="Why Arcadia cannot run the experiment.")


class PaperSummary(BaseModel):
    """A paper with its tables and figures."""

    name: str
    title: str = Field(description="Short name of its method.")
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
    """A difference between the paper's experiment and ours."""

    what: str
    theirs: str
    ours: str
    why: str


class StatedSetting(BaseModel):
    """A preset field whose value the paper or its code states differently or not at all."""

    field: str
    paper: str = Field(description="The paper's value. Empty if it states none.")
    code: str = Field(description="The value in the authors' code. Empty if unknown.")
    ours: str
    why: str


class PartCost(BaseModel):
    """The cost of a part."""

    runs: int
    steps: int
    frames: int
    seconds: float | None = Field(description="Estimated duration at the speeds measured here. Null if unknown.")
    concurrent_runs: int = Field(description="Number of runs that can train concurrently.")
    unmeasured: list[str] = Field(description="Kinds of runs whose speed is unknown here.")
    estimated: list[str] = Field(description="Kinds of runs whose speed is estimated from similar environments.")


class ItemPart(BaseModel):
    """A study that reproduces an item, or part of it."""

    name: str
    title: str
    stands_in: bool = Field(description="True for a quick substitute that is not in the paper.")
    cost: PartCost = Field(description="Cost of the full budget.")
    suggested_share: Share = Field(description="The smallest share that shows something.")


class PaperStudy(StudySummary):
    """A study that was started from an item."""

    part: str = Field(description="The part's title.")
    share: Share


class Panel(BaseModel):
    """A figure that can be drawn now. Send `part` and `share` to draw it."""

    title: str
    part: str | None = Field(description="Null for all parts.")
    share: Share | None = Field(description="Null if it draws no studies of one share.")
    caption: str = Field(description="The budget of our studies in it, and how many of their runs have finished.")


class PaperSpeed(BaseModel):
    """Training speed of a setting, compared with the environments alone on the same host."""

    part: str = Field(description="The part's title.")
    share: Share
    setting: str
    rate: float = Field(description="Steps per second.")
    ceiling: float | None = Field(description="Steps per second of the environments alone. Null if not measured.")
    of_ceiling: float | None = Field(description="Mean over runs of speed divided by ceiling.")


class ItemSubstitute(BaseModel):
    """A substitute for an environment that Arcadia lacks."""

    env: str
    title: str = Field(description="The environment's title.")
    why: str


class ItemTable(BaseModel):
    """A table of text that compares the paper with this installation."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str


class DiagramReading(BaseModel):
    """A number in a box of a diagram."""

    label: str
    value: float | str | None = Field(description="Null if the run has not reported it, or there is no run.")
    unit: str
    measured: bool = Field(description="False for a configuration field.")


class DiagramBox(BaseModel):
    """A component of a method at its place in a grid."""

    name: str
    title: str
    kind: str = Field(description="What it is on the host, such as threads.")
    does: str
    column: int
    row: int
    rows: int = Field(description="Number of grid rows that it spans.")
    many: bool = Field(description="True if there are several instances.")
    learned: bool = Field(description="True if it holds the learned parameters.")
    readings: list[DiagramReading]


class DiagramArrow(BaseModel):
    """Data that one box sends to another."""

    start: str
    end: str
    carries: str
    around: bool = Field(description="True if it leads past the boxes between them.")


class DiagramGroup(BaseModel):
    """Boxes that share a process."""

    title: str
    boxes: list[str]


class DiagramRun(BaseModel):
    """A run whose numbers a diagram can show."""

    id: int
    name: str
    state: State


class Diagram(BaseModel):
    """The architecture of a method as implemented here, with the numbers of a run."""

    name: str
    title: str
    preset: str = Field(description="Preset that launches a run of the method.")
    run: DiagramRun | None = Field(description="Run whose numbers are shown. Null if none has started.")
    runs: list[DiagramRun] = Field(description="Runs to choose from, newest first.")
    boxes: list[DiagramBox]
    arrows: list[DiagramArrow]
    groups: list[DiagramGroup]


class PaperItem(ItemSummary):
    """A table or figure: the paper's experiment, ours, published numbers, and started studies."""

    paper: str
    paper_title: str
    theirs: str
    ours: str
    measures: str = Field(description="Meaning of the figure's y axis.")
    differs: list[ItemDifference]
    settings: list[StatedSetting]
    published: list[PublishedNumber]
    unpublished: str | None = Field(description="Why the paper has no numbers to compare with.")
    substitute: ItemSubstitute | None = Field(
        description="Experiment to run here instead, if Arcadia cannot run the original."
    )
    parts: list[ItemPart]
    started: list[PaperStudy] = Field(description="Newest first.")
    panels: list[Panel]
    table: ItemTable | None = Field(description="Null if the item is a figure.")
    diagrams: list[str] = Field(description="Names of the diagrams of its methods.")
    speeds: list[PaperSpeed] = Field(description="Speeds in the newest study of each part at each share.")
    height: int = Field(description="Height of a figure in pixels.")


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PreviewPart(_Request):
    """Share of the budget and parts to preview. By default, all parts of the paper itself."""

    share: Share
    parts: Annotated[list[PartName], Field(min_length=1, max_length=100)] | None = None


class StartPart(PreviewPart):
    """Share of the budget, parts to start and their project, with the total steps if they must be confirmed."""

    confirm_steps: ConfirmSteps | None = None
    project: ProjectName | None = Field(default=None, description="Name of an existing project. Default: Main.")


class MeasureParts(_Request):
    """Parts whose speed to measure on this host."""

    parts: Annotated[list[PartName], Field(min_length=1, max_length=100)]


class Measurement(BaseModel):
    """A short run that measures training speed. It stops after half a minute of training."""

    run_id: int
    kind: str = Field(description="Method and environment.")


class PaperPreview(PartCost):
    """The cost of several parts before anything is stored."""

    studies: int
    confirm: str | None = Field(description="Why starting requires `confirm_steps`.")
    too_short: str | None = Field(description="Which part has too few steps to show anything.")
    refused: str | None = Field(description="Why these parts cannot be started.")
