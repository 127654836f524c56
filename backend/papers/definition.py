"""What a paper is here, and a table or figure of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from backend.database.tables import Study
from backend.figures.schemas import Figure
from backend.papers.diagram import Diagram
from backend.studies.specification import Specification
from workers.contract.games import ENVIRONMENTS
from workers.contract.presets import PRESETS

# Steps of a run below which nothing is learned, by group of environments and for all others.
ENOUGH_STEPS = {"First steps": 100_000, "Classic control": 200_000, "MuJoCo": 500_000, "Box2D": 500_000}
ENOUGH_STEPS_OF_OTHERS = 2_000_000

# What part of its budget a study can be started with.
SHARES = (0.01, 0.1, 1.0)

# together: one figure of all parts; each: a figure for each part, whose scores have other scales; best: one figure of
# the best evaluation of any run, started from here or not, whatever its budget.
Panels = Literal["together", "each", "best"]


@dataclass(frozen=True)
class Number:
    """A number that a paper prints."""

    what: str
    value: float
    unit: str
    source: str
    table: str
    protocol: str


@dataclass(frozen=True)
class Difference:
    """Something that ours does otherwise."""

    what: str
    theirs: str
    ours: str
    why: str


@dataclass(frozen=True)
class Part:
    """A study of a table or figure; `asked` is what it takes at all of its budget."""

    name: str
    title: str
    asked: Specification
    # Whether the paper had it; what stands in for it is quick to run, and shows the same question elsewhere.
    stands_in: bool = False
    # How many steps of a run show something; None: what its environments need to be learned.
    enough_steps: int | None = None

    @property
    def needed_steps(self) -> int:
        """Return how many steps of a run show something."""
        if self.enough_steps is not None:
            return self.enough_steps
        groups = {ENVIRONMENTS[env].group for env in self.environments}
        return max(ENOUGH_STEPS.get(group, ENOUGH_STEPS_OF_OTHERS) for group in groups)

    @property
    def environments(self) -> list[str]:
        """Return the environments that its runs train in."""
        moved = [env for axis in self.asked.axes if axis.field == "env" for env in axis.values or []]
        if moved or "env" in self.asked.changes:
            return [str(env) for env in moved or [self.asked.changes["env"]]]
        presets = [self.asked.preset] if self.asked.preset else []
        return [PRESETS[preset].config.env for preset in presets]

    @property
    def suggested_share(self) -> float:
        """Return the smallest share whose runs show something, or all of the budget."""
        total = self.asked.total_steps or 1
        return next((share for share in SHARES if share * total >= self.needed_steps), SHARES[-1])

    def at(self, share: float) -> Specification:
        """The study with this share of the steps of each run."""
        steps = max(1, round((self.asked.total_steps or 1) * share))
        return self.asked.model_copy(update={"total_steps": steps})


@dataclass(frozen=True)
class Started:
    """A study that was started from a part."""

    part: Part
    share: float
    study: Study


# What ours have come to, drawn over what the paper prints; of the studies that were started, or of any run.
Draw = Callable[[Session, Sequence[Started]], Figure]


@dataclass(frozen=True)
class Table:
    """Ours beside theirs in words, where there is nothing to draw."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str


@dataclass(frozen=True)
class Instead:
    """A substitute for an environment that Arcadia lacks."""

    env: str
    why: str


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper."""

    # In addresses, as figure-2.
    name: str
    # As the paper calls it.
    label: str
    title: str
    theirs: str
    ours: str
    # What the figure's heights are.
    measures: str
    # None where nothing of ours may stand beside what the paper prints.
    draw: Draw | None
    differs: Sequence[Difference] = ()
    published: Sequence[Number] = ()
    # Why there are no numbers, where the text has none.
    unpublished: str | None = None
    parts: Sequence[Part] = ()
    panels: Panels = "together"
    # Why Arcadia cannot do what the paper did.
    cannot: str | None = None
    instead: Instead | None = None
    diagrams: Sequence[Diagram] = ()
    table: Callable[[Session], Table] | None = None
    height: int = 320
    # The item whose studies it draws, where the paper drew the same runs twice.
    runs_of: str | None = None

    @property
    def home(self) -> str:
        """The item that its studies are started from."""
        return self.runs_of or self.name

    @property
    def in_sentence(self) -> str:
        """Return the label for use within a sentence, such as figure S5."""
        return self.label.replace("Figure", "figure").replace("Table", "table")


@dataclass(frozen=True)
class Paper:
    """A paper with what of it can be run here."""

    # In addresses, as a3c.
    name: str
    # As people call its method.
    title: str
    full_title: str
    authors: str
    year: int
    shows: str
    items: Sequence[Item]
