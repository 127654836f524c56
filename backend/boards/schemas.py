"""Request and response models of the boards API."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from backend.database.columns import utc_now
from backend.database.tables import MAX_PANEL_KEY, MAX_PANELS
from backend.reports.blocks import Address
from backend.runs.expressions.parsing import MAX_LENGTH, parse_filter
from backend.runs.expressions.problems import ExpressionError
from workers.contract.values import STORABLE, SmallCount

GRID_COLUMNS = 12
MIN_HEIGHT, MAX_HEIGHT = 120, 1_200


PanelKey = Annotated[str, StringConstraints(pattern=rf"^[a-z0-9-]{{1,{MAX_PANEL_KEY}}}$")]


def _require_unique_keys(panels: list["BoardPanel"]) -> list["BoardPanel"]:
    if len({panel.key for panel in panels}) < len(panels):
        raise ValueError("two panels have the same key; each needs its own")
    return panels


def _require_expression(text: str) -> str:
    """Check only the syntax: a name that no run has any more must not block other changes."""
    if text.strip():
        try:
            parse_filter(text, utc_now())
        except ExpressionError as error:
            raise ValueError(f"{error.message} (at character {error.span.start + 1})") from None
    return text


class BoardPanel(BaseModel):
    """A chart on a board: a figure, its runs and its size."""

    model_config = ConfigDict(extra="forbid")

    key: PanelKey = Field(description="Name of the panel in its board and in the address of its embed.")
    title: Annotated[str, Field(max_length=200), STORABLE] = Field(
        default="", description="If empty, the title of the figure is shown."
    )
    address: Address = Field(
        description="API address of the figure. Its `runs` are the chosen runs, unless there is a filter."
    )
    filter: Annotated[str, Field(max_length=MAX_LENGTH), STORABLE, AfterValidator(_require_expression)] | None = Field(
        default=None,
        description="Expression that selects runs of the project, newest first. An empty one selects all. If null, "
        "the runs are those in the address.",
    )
    max_runs: int = Field(default=20, ge=1, le=100, strict=True, description="Most runs that the filter selects.")
    columns: int = Field(default=6, ge=1, le=GRID_COLUMNS, strict=True, description="Width in twelfths of the page.")
    height: int = Field(
        default=320, ge=MIN_HEIGHT, le=MAX_HEIGHT, strict=True, description="Height of the chart in pixels."
    )


Panels = Annotated[list[BoardPanel], Field(max_length=MAX_PANELS), AfterValidator(_require_unique_keys)]


class SaveBoard(BaseModel):
    """The new panels of a board."""

    model_config = ConfigDict(extra="forbid")

    version: SmallCount = Field(
        description="Version that the change is based on. The request fails with 409 if it is outdated."
    )
    panels: Panels


class Board(BaseModel):
    """The board of a project."""

    project_id: int
    project: str = Field(description="Name of the project.")
    panels: list[BoardPanel] = Field(description="In the order of the page.")
    version: int = Field(description="Increases with each change. 0 if the board was never saved.")
    updated_at: datetime | None = Field(description="Null if the board was never saved.")


class EmbeddedPanel(BaseModel):
    """A panel and the project that it belongs to."""

    project_id: int
    project: str = Field(description="Name of the project.")
    panel: BoardPanel
