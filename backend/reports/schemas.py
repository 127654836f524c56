"""Requests and answers of the reports API."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backend.figures.schemas import Figure
from backend.reports.blocks import Block, Blocks
from backend.runs.schemas import Name
from backend.web.json_numbers import JsonNumber
from workers.contract.values import Ordinal


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateReport(_Request):
    """Begin a report."""

    title: Name
    blocks: Blocks = []


class EditReport(_Request):
    """Change a report; a field left out stays."""

    version: Ordinal = Field(description="Of the report that was changed; refused with 409 where it is not the latest.")
    title: Name | None = None
    blocks: Blocks | None = None


class PreviewBlock(_Request):
    """A block, stored or not."""

    block: Block


class ReportSummary(BaseModel):
    """A report in the list."""

    id: int
    title: str
    blocks: int = Field(description="How many.")
    shared: bool
    created_at: datetime
    updated_at: datetime


class Report(BaseModel):
    """A report."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    title: str
    blocks: Blocks
    version: int = Field(description="Grows with each change.")
    share_token: str | None = Field(description="Opens the report for reading at /shared/reports/{token}.")
    created_at: datetime
    updated_at: datetime


class SharedReport(BaseModel):
    """A report for those who have its link."""

    model_config = ConfigDict(from_attributes=True)

    title: str
    blocks: Blocks
    version: int
    updated_at: datetime


class Table(BaseModel):
    """A table; NaN and the infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    header: list[str]
    rows: list[list[str | int | JsonNumber | None]]


class ReplayContent(BaseModel):
    """A replay with what is said beside it; NaN and the infinities are strings."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    run_id: int
    run_name: str
    step: int
    episode_return: JsonNumber
    seconds: float
    file_id: int
    poster_file_id: int | None


class BlockContent(BaseModel):
    """What a block shows now: one of the three, or why there is nothing to show."""

    figure: Figure | None = None
    table: Table | None = None
    replay: ReplayContent | None = None
    missing: str | None = Field(default=None, description="In plain words, what it left out because it was removed.")
    problem: str | None = None
