"""Block types of reports."""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from backend.reports.figures import FIGURE_PATHS, is_figure
from workers.contract.values import STORABLE, Id

MAX_BLOCKS = 100
MAX_TEXT_LENGTH = 20_000
MAX_TABLE_IDS = 50
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


def _require_figure(address: str) -> str:
    if not is_figure(address):
        raise ValueError(
            f"use the address of a figure, such as /api/v1/figures/curves?runs=1,2; figures are at {FIGURE_PATHS}"
        )
    return address


Address = Annotated[
    str, StringConstraints(max_length=4_000, pattern=r"^/api/v1/[!-~]+$"), AfterValidator(_require_figure)
]
Caption = Annotated[str, Field(max_length=500), STORABLE]
Column = Annotated[str, Field(max_length=100, pattern=rf"^({'|'.join(get_args(RunField))}|config\.[a-z0-9_]+)$")]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TextBlock(_Block):
    """Markdown text. HTML in it is shown as text."""

    kind: Literal["text"]
    markdown: Annotated[str, Field(max_length=MAX_TEXT_LENGTH), STORABLE]


class ChartBlock(_Block):
    """A figure of this API, redrawn each time the report is read."""

    kind: Literal["chart"]
    address: Address = Field(description="API address of the figure, for example /api/v1/figures/curves?runs=1,2.")
    caption: Caption = ""


class TableBlock(_Block):
    """A table of runs, of their evaluations, or of a study's points."""

    kind: Literal["table"]
    of: Literal["runs", "evaluations", "study"]
    numbers: Annotated[list[Id], Field(min_length=1, max_length=MAX_TABLE_IDS)] = Field(
        description="Ids of the runs, or the id of the study."
    )
    columns: Annotated[list[Column], Field(min_length=1, max_length=20)] = Field(
        default=["name", "method", "env", "state", "step", "best_return", "last_return"],
        description="For runs: run fields, or configuration fields such as config.learning_rate.",
    )
    caption: Caption = ""


class ReplayBlock(_Block):
    """A replay block. Adding it pins the replay so that pruning never deletes it."""

    kind: Literal["replay"]
    replay: Id = Field(description="Id of the replay, as in /runs/{run_id}/replays.")
    caption: Caption = ""


class DraftBlock(_Block):
    """An unfinished block, hidden from readers."""

    kind: Literal["draft"]
    content: Annotated[str, Field(max_length=MAX_DRAFT_LENGTH), STORABLE] = Field(
        description="The unfinished block as JSON. The server stores it unchecked."
    )


FinishedBlock = TextBlock | ChartBlock | TableBlock | ReplayBlock
AnyBlock = FinishedBlock | DraftBlock
Block = Annotated[AnyBlock, Field(discriminator="kind")]
Blocks = Annotated[list[Block], Field(max_length=MAX_BLOCKS)]

_BLOCKS_ADAPTER: TypeAdapter[list[AnyBlock]] = TypeAdapter(list[Block])


def finished_blocks(blocks: list[AnyBlock]) -> list[FinishedBlock]:
    """Return the blocks that readers see."""
    return [block for block in blocks if not isinstance(block, DraftBlock)]


def read_blocks(stored: list[dict[str, Any]]) -> list[AnyBlock]:
    """Parse stored blocks."""
    return _BLOCKS_ADAPTER.validate_python(stored)
