"""Boards: the charts that a project's members arrange on one page."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy.orm import Session

from arcadia_backend.database import tables
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Db, after_commit
from arcadia_backend.database.tables import MAX_PANEL_KEY, MAX_PANELS, MovedPanel, Project, is_editable
from arcadia_backend.errors import Conflict, NotFound
from arcadia_backend.live.notices import publish
from arcadia_backend.projects.schemas import MayEdit
from arcadia_backend.projects.service import find_project
from arcadia_backend.reports.schemas import Address
from arcadia_backend.runs.expressions.nodes import ExpressionError
from arcadia_backend.runs.expressions.parsing import MAX_LENGTH, parse_filter
from arcadia_backend.web.lookup import PathId
from arcadia_workers.contract.values import STORABLE, SmallCount

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
    may_edit: MayEdit


class EmbeddedPanel(BaseModel):
    """A panel and the project that it belongs to."""

    project_id: int
    project: str = Field(description="Name of the project.")
    panel: BoardPanel


def load_board(session: Session, project: Project) -> Board:
    """Return the board of a project. It is empty until it is saved."""
    board = session.get(tables.Board, project.id)
    return Board(
        project_id=project.id,
        project=project.name,
        panels=[BoardPanel.model_validate(panel) for panel in board.panels] if board else [],
        version=board.version if board else 0,
        updated_at=board.updated_at if board else None,
        may_edit=is_editable(project.id),
    )


def find_panel(session: Session, project_id: int, key: str) -> EmbeddedPanel:
    """Return a panel, also if its project was merged into another one. Raise NotFound if it does not exist."""
    if moved := session.get(MovedPanel, (project_id, key)):
        project_id, key = moved.into_id, moved.into_key
    board = load_board(session, find_project(session, project_id))
    panel = next((each for each in board.panels if each.key == key), None)
    if panel is None:
        raise NotFound(f"The board of {board.project} has no chart {key!r}. Copy the embed code of another one.")
    return EmbeddedPanel(project_id=board.project_id, project=board.project, panel=panel)


def save(session: Session, project: Project, saved: SaveBoard) -> None:
    """Replace the panels. Raise Conflict if the board has changed since the client read it. The project is locked."""
    board = session.get(tables.Board, project.id, populate_existing=True)
    version = board.version if board else 0
    if saved.version != version:
        raise Conflict(
            f"The board has changed: it is now at version {version}, but yours is based on version {saved.version}. "
            "Reload it and apply your changes again."
        )
    if board is None:
        board = tables.Board(project_id=project.id)
        session.add(board)
    board.panels = [panel.model_dump(mode="json") for panel in saved.panels]
    board.version = version + 1
    board.updated_at = utc_now()
    session.flush()
    notice = {"project_id": project.id}
    after_commit(session, lambda: publish("board.changed", notice))


router = APIRouter(tags=["projects"])


@router.get("/projects/{project_id}/board")
def read_board(db: Db, project_id: PathId) -> Board:
    """Return the board of a project. Every project has one."""
    with db.read() as session:
        return load_board(session, find_project(session, project_id))


@router.put("/projects/{project_id}/board")
def save_board(db: Db, project_id: PathId, saved: SaveBoard) -> Board:
    """Replace the panels of a board. Fail with 409 if the board has changed since the client read it."""
    with db.write() as session:
        project = find_project(session, project_id, lock=True)
        save(session, project, saved)
        return load_board(session, project)


@router.get("/projects/{project_id}/board/panels/{panel_key}")
def read_panel(db: Db, project_id: PathId, panel_key: PanelKey) -> EmbeddedPanel:
    """Return a panel of a board, for example to embed it. It is found even if the project was merged into another."""
    with db.read() as session:
        return find_panel(session, project_id, panel_key)
