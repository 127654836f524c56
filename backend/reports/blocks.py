"""The blocks that a report is made of."""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from backend.reports.drawing import FIGURES, is_figure
from workers.contract.values import STORABLE, Id

MOST_BLOCKS = 100
LONGEST_TEXT = 20_000
MOST_ROWS = 50
MAX_DRAFT_LENGTH = 50_000

RunField = Literal[
    "name",
    "method",
    "env",
    "state",
    "step",
    "frames",
    "episodes",
    "last_return",
    "best_return",
    "steps_per_second",
]


def _of_a_figure(address: str) -> str:
    if not is_figure(address):
        raise ValueError(f"name a figure of this API, as /api/v1/figures/curves?runs=1,2; there are {FIGURES}")
    return address


Address = Annotated[str, StringConstraints(max_length=4_000, pattern=r"^/api/v1/[!-~]+$"), AfterValidator(_of_a_figure)]
Caption = Annotated[str, Field(max_length=500), STORABLE]
Column = Annotated[str, Field(max_length=100, pattern=rf"^({'|'.join(get_args(RunField))}|config\.[a-z0-9_]+)$")]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TextBlock(_Block):
    """Markdown; HTML in it stays text."""

    kind: Literal["text"]
    markdown: Annotated[str, Field(max_length=LONGEST_TEXT), STORABLE]


class ChartBlock(_Block):
    """A figure of this API, drawn anew each time."""

    kind: Literal["chart"]
    address: Address = Field(description="Where the API has the figure, as /api/v1/figures/curves?runs=1,2.")
    caption: Caption = ""


class TableBlock(_Block):
    """A table of runs, of the evaluations of runs, or of a study's points."""

    kind: Literal["table"]
    of: Literal["runs", "evaluations", "study"]
    numbers: Annotated[list[Id], Field(min_length=1, max_length=MOST_ROWS)] = Field(
        description="Of the runs whose rows it has, or of the study."
    )
    columns: Annotated[list[Column], Field(min_length=1, max_length=20)] = Field(
        default=["name", "method", "env", "state", "step", "best_return", "last_return"],
        description="For runs: fields of a run, or of its configuration as config.learning_rate.",
    )
    caption: Caption = ""


class ReplayBlock(_Block):
    """A replay of a run; it is pinned while it is put in, so that it is never thinned out."""

    kind: Literal["replay"]
    video: Id = Field(description="Its number among /runs/{run_id}/replays.")
    caption: Caption = ""


class DraftBlock(_Block):
    """A block that its author has not finished; readers do not see it."""

    kind: Literal["draft"]
    content: Annotated[str, Field(max_length=MAX_DRAFT_LENGTH), STORABLE] = Field(
        description="The unfinished block as JSON. The server stores it unchecked."
    )


FinishedBlock = TextBlock | ChartBlock | TableBlock | ReplayBlock
AnyBlock = FinishedBlock | DraftBlock
Block = Annotated[AnyBlock, Field(discriminator="kind")]
Blocks = Annotated[list[Block], Field(max_length=MOST_BLOCKS)]

_READ: TypeAdapter[list[AnyBlock]] = TypeAdapter(list[Block])


def finished(blocks: list[AnyBlock]) -> list[FinishedBlock]:
    """Return the blocks that readers see."""
    return [block for block in blocks if not isinstance(block, DraftBlock)]


def read_blocks(stored: list[dict[str, Any]]) -> list[AnyBlock]:
    """Blocks as the database has them."""
    return _READ.validate_python(stored)
