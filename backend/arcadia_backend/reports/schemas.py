"""Block types of reports."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_params_to_args
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter
from starlette.datastructures import QueryParams

from arcadia_backend.comparisons.routes import parse_run_ids
from arcadia_backend.config import API
from arcadia_backend.database.engine import Database, get_database
from arcadia_backend.errors import FieldError, Invalid, field_errors
from arcadia_backend.figures.drawing import Figure
from arcadia_backend.figures.routes import router as figures
from arcadia_backend.games.routes import router as games
from arcadia_backend.papers.routes import router as papers
from arcadia_backend.projects.schemas import MayEdit, ProjectName
from arcadia_backend.runs.schemas import Name
from arcadia_backend.studies.routes import router as studies
from arcadia_backend.web.formats import JsonNumber
from arcadia_workers.contract.practice import PracticeDocument
from arcadia_workers.contract.review import ReviewDocument
from arcadia_workers.contract.values import STORABLE, Id, Ordinal

ROUTES = [
    route
    for router in (figures, studies, papers, games)
    for route in router.routes
    if isinstance(route, APIRoute) and route.response_model is Figure
]
FIGURE_PATHS = ", ".join(API + route.path for route in ROUTES)


@dataclass(frozen=True)
class FigureIds:
    """Ids in the address of a figure, as far as it has them."""

    runs: Sequence[int] = ()
    study: int | None = None
    evaluation: int | None = None


def draw_figure(db: Database, address: str) -> Figure:
    """Return the figure at an address. Raise the same problem as the API if it cannot be drawn."""
    match = _match(address)
    if match is None:
        raise Invalid(FieldError(field="address", message=f"there is no figure at {address}"))
    route, path = match
    arguments = _parse_arguments(route.dependant, db, path, QueryParams(urlsplit(address).query))
    figure: Figure = route.endpoint(**arguments)
    return figure


def run_ids_in(address: str) -> list[int]:
    """Return the runs in a figure's address, or none if it has no valid list of runs."""
    try:
        return parse_run_ids(dict(parse_qsl(urlsplit(address).query)).get("runs", ""))
    except Invalid:
        return []


def replace_runs(address: str, runs: Sequence[int]) -> str:
    """Return the address of the same figure with other runs."""
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query, keep_blank_values=True)) | {"runs": ",".join(map(str, runs))}
    return parts._replace(query=urlencode(query, safe=",")).geturl()


def ids_in(address: str) -> FigureIds:
    """Return the ids in a figure's address. Leave out malformed ones."""
    match = _match(address)
    study = match[1].get("study_id") if match else None
    evaluation = dict(parse_qsl(urlsplit(address).query)).get("evaluation")
    return FigureIds(run_ids_in(address), _parse_id(study), _parse_id(evaluation))


def replace_ids(address: str, ids: FigureIds) -> str:
    """Return the address of the same figure with other ids."""
    if ids.runs:
        address = replace_runs(address, ids.runs)
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if ids.evaluation is not None:
        parts = parts._replace(query=urlencode(query | {"evaluation": ids.evaluation}, safe=","))
    if ids.study is not None:
        parts = parts._replace(path=re.sub("/studies/[^/]+/", f"/studies/{ids.study}/", parts.path, count=1))
    return parts.geturl()


def _parse_id(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,16}", text) else None


def _match(address: str) -> tuple[APIRoute, Mapping[str, str]] | None:
    """Return the route at an address, with the parameters in its path."""
    path = unquote(urlsplit(address).path).removeprefix(API)
    matches = ((route, route.path_regex.match(path)) for route in ROUTES)
    return next(((route, match.groupdict()) for route, match in matches if match), None)


def _parse_arguments(dependant: Dependant, db: Database, path: Mapping[str, str], query: QueryParams) -> dict[str, Any]:
    """Return the arguments of a handler, validated by FastAPI as in a request. Raise Invalid if some are wrong."""
    arguments, errors = request_params_to_args(dependant.path_params, path)
    values, wrong = request_params_to_args(dependant.query_params, query)
    arguments |= values
    errors += wrong
    for dependency in dependant.dependencies:
        if dependency.call is get_database:
            arguments[str(dependency.name)] = db
            continue
        values, wrong = request_params_to_args(dependency.query_params, query)
        errors += wrong
        if not errors and dependency.call is not None:
            arguments[str(dependency.name)] = dependency.call(**values)
    if errors:
        raise Invalid(*field_errors(errors))
    return arguments


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
    if _match(address) is None:
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


class ReviewBlock(_Block):
    """The review of a replay. Adding it pins the replay."""

    kind: Literal["review"]
    replay: Id = Field(description="Id of the reviewed replay, as in /runs/{run_id}/replays.")
    caption: Caption = ""


class PracticeBlock(_Block):
    """The verdict on practice of a reviewed replay. Adding it pins the replay."""

    kind: Literal["practice"]
    replay: Id = Field(description="Id of the reviewed replay, as in /runs/{run_id}/replays.")
    caption: Caption = ""


# Blocks that show something of a replay.
BlockOfReplay = ReplayBlock | ReviewBlock | PracticeBlock


class DraftBlock(_Block):
    """An unfinished block, hidden from readers."""

    kind: Literal["draft"]
    content: Annotated[str, Field(max_length=MAX_DRAFT_LENGTH), STORABLE] = Field(
        description="The unfinished block as JSON. The server stores it unchecked."
    )


FinishedBlock = TextBlock | ChartBlock | TableBlock | BlockOfReplay
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


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateReport(_Request):
    """A report to create."""

    title: Name
    blocks: Blocks = []
    project: ProjectName | None = Field(default=None, description="Name of an existing project. Default: Main.")


class EditReport(_Request):
    """Changes to a report. Omitted fields stay unchanged."""

    version: Ordinal = Field(
        description="Version that the changes are based on. The request fails with 409 if it is outdated."
    )
    title: Name | None = None
    blocks: Blocks | None = None
    project: ProjectName | None = None


class PreviewBlock(_Request):
    """A block to preview."""

    block: Block


class ReportSummary(BaseModel):
    """A report in the list."""

    id: int
    title: str
    project: str
    blocks: int = Field(description="Number of blocks.")
    shared: bool
    created_at: datetime
    updated_at: datetime
    may_edit: MayEdit


class Report(BaseModel):
    """A report."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    title: str
    project: str
    blocks: Blocks
    version: int = Field(description="Increases with each change.")
    share_token: str | None = Field(description="Token of the read-only link, /shared/reports/{token}.")
    created_at: datetime
    updated_at: datetime
    may_edit: MayEdit


class SharedReport(BaseModel):
    """A report as readers of its link see it."""

    model_config = ConfigDict(from_attributes=True)

    title: str
    blocks: Blocks
    version: int
    updated_at: datetime


class ReportTable(BaseModel):
    """A table. NaN and infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    header: list[str]
    rows: list[list[str | int | JsonNumber | None]]


class ReplayContent(BaseModel):
    """A replay with its description. NaN and infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    run_id: int
    run_name: str
    step: int
    episode_return: JsonNumber
    seconds: float
    file_id: int
    poster_file_id: int | None


class ReviewContent(BaseModel):
    """A review with the description of its replay. NaN and infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    run_id: int
    run_name: str
    step: int
    episode_return: JsonNumber
    replay_id: int
    document: ReviewDocument = Field(description="What the review has found, without the capitals of its bets.")


class PracticeContent(BaseModel):
    """The verdict on practice, with the reviewed replay. NaN and infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    run_id: int
    run_name: str
    step: int
    replay_id: int
    document: PracticeDocument


class BlockContent(BaseModel):
    """Current content of a block: a figure, table, replay, review or practice, or why it cannot be shown."""

    figure: Figure | None = None
    table: ReportTable | None = None
    replay: ReplayContent | None = None
    review: ReviewContent | None = None
    practice: PracticeContent | None = None
    missing: str | None = Field(default=None, description="Sentence that lists the deleted runs that are left out.")
    problem: str | None = None
