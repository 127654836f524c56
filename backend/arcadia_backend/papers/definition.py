"""Definitions of a paper, its tables and figures, and the studies that reproduce them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Study
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.studies.specification import Specification
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.presets import PRESETS


@dataclass(frozen=True)
class Reading:
    """A number in a box: a metric of the run, or configuration fields if the metric is missing."""

    label: str
    metric: str | None = None
    # The product of several fields is shown.
    fields: tuple[str, ...] = ()
    unit: str = ""
    # Show the last value instead of the mean of the last 100.
    counts: bool = False


@dataclass(frozen=True)
class Box:
    """A component of the method at a place of a grid. Wide screens show columns, narrow screens rows."""

    name: str
    title: str
    # The name of its kind on the host, such as "threads".
    kind: str
    does: str
    column: int
    row: int = 0
    rows: int = 1
    # There are several instances.
    many: bool = False
    # It holds the learned parameters.
    learned: bool = False
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True)
class Arrow:
    """Data that one box sends to another. `around` draws the arrow past the boxes between them."""

    start: str
    end: str
    carries: str
    around: bool = False


@dataclass(frozen=True)
class BoxGroup:
    """Boxes that share a process in runs with these configuration values."""

    title: str
    boxes: tuple[str, ...]
    only: Mapping[str, Any]


@dataclass(frozen=True)
class MethodDiagram:
    """The architecture of one or more methods as implemented here."""

    # Name in URLs, such as ga3c.
    name: str
    title: str
    methods: tuple[str, ...]
    # Preset to launch while no run of the method has started.
    preset: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    groups: tuple[BoxGroup, ...] = ()


# Steps that a run needs to learn anything, by group of environments and for all others.
ENOUGH_STEPS = {"First steps": 100_000, "Classic control": 200_000, "MuJoCo": 500_000, "Box2D": 500_000}
OTHER_ENOUGH_STEPS = 2_000_000

# Shares of its budget that a study can be started with.
SHARES = (0.01, 0.1, 1.0)

# together: one figure of all parts. each: a figure per part, because their scores have different scales.
# best: one figure of the best evaluations of all runs, including runs that were not started from the item.
Panels = Literal["together", "each", "best"]


@dataclass(frozen=True)
class PrintedNumber:
    """A number that a paper prints."""

    what: str
    value: float
    unit: str
    source: str
    table: str
    protocol: str


@dataclass(frozen=True)
class PaperDifference:
    """A difference between the paper's experiment and ours."""

    what: str
    theirs: str
    ours: str
    why: str


@dataclass(frozen=True)
class StudyPart:
    """A study of a table or figure; `specification` is the study at the full budget."""

    name: str
    title: str
    specification: Specification
    # True for a quick study of the same question that is not in the paper.
    stands_in: bool = False
    # Steps per run that show something. None: the default of its environments.
    enough_steps: int | None = None

    @property
    def needed_steps(self) -> int:
        """Return how many steps a run needs to show something."""
        if self.enough_steps is not None:
            return self.enough_steps
        groups = {ENVIRONMENTS[env].group for env in self.environments}
        return max(ENOUGH_STEPS.get(group, OTHER_ENOUGH_STEPS) for group in groups)

    @property
    def environments(self) -> list[str]:
        """Return the environments that its runs train in."""
        varied = [env for axis in self.specification.axes if axis.field == "env" for env in axis.values or []]
        if varied or "env" in self.specification.changes:
            return [str(env) for env in varied or [self.specification.changes["env"]]]
        presets = [self.specification.preset] if self.specification.preset else []
        return [PRESETS[preset].config.env for preset in presets]

    @property
    def suggested_share(self) -> float:
        """Return the smallest share whose runs show something, or all of the budget."""
        total = self.specification.total_steps or 1
        return next((share for share in SHARES if share * total >= self.needed_steps), SHARES[-1])

    def at(self, share: float) -> Specification:
        """Return the study with this share of the steps of each run, and of those between its calibrations."""
        steps = max(1, round((self.specification.total_steps or 1) * share))
        changes = self.specification.changes
        if every := changes.get("calibrate_every_steps"):
            changes = {**changes, "calibrate_every_steps": max(1, round(every * share))}
        return self.specification.model_copy(update={"total_steps": steps, "changes": changes})


@dataclass(frozen=True)
class StartedStudy:
    """A study that was started from a part, at a share of its budget."""

    part: StudyPart
    share: float
    study: Study


# Draws our results over the numbers of the paper.
DrawItem = Callable[[Session, Sequence[StartedStudy]], Figure]


@dataclass(frozen=True)
class PaperTable:
    """A table of text that compares the paper with this installation."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str


@dataclass(frozen=True)
class Substitute:
    """A substitute for an environment that Arcadia lacks."""

    env: str
    why: str


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper."""

    # Name in URLs, such as figure-2.
    name: str
    # Label in the paper.
    label: str
    title: str
    theirs: str
    ours: str
    # Meaning of the figure's y axis.
    measures: str
    # None if our results cannot be compared with the paper's numbers.
    draw: DrawItem | None
    differs: Sequence[PaperDifference] = ()
    published: Sequence[PrintedNumber] = ()
    # Why the paper has no numbers to compare with.
    unpublished: str | None = None
    parts: Sequence[StudyPart] = ()
    panels: Panels = "together"
    # Why Arcadia cannot run the experiment.
    unavailable_reason: str | None = None
    substitute: Substitute | None = None
    diagrams: Sequence[MethodDiagram] = ()
    table: Callable[[Session], PaperTable] | None = None
    height: int = 320
    # The item whose studies this one draws, if the paper shows the same runs twice.
    runs_of: str | None = None

    @property
    def home(self) -> str:
        """Return the name of the item that has the studies."""
        return self.runs_of or self.name

    @property
    def in_sentence(self) -> str:
        """Return the label for use within a sentence, such as figure S5."""
        return self.label.replace("Figure", "figure").replace("Table", "table")


@dataclass(frozen=True)
class Paper:
    """A paper with its tables and figures."""

    # Name in URLs, such as a3c.
    name: str
    # Short name of its method.
    title: str
    full_title: str
    authors: str
    year: int
    shows: str
    items: Sequence[Item]
