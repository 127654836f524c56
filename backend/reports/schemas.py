"""Request and response models of the reports API."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backend.figures.schemas import Figure
from backend.projects.schemas import ProjectName
from backend.reports.blocks import Block, Blocks
from backend.runs.schemas import Name
from backend.web.json_numbers import JsonNumber
from workers.contract.values import Ordinal


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


class BlockContent(BaseModel):
    """Current content of a block: a figure, a table, a replay, or the reason why it cannot be shown."""

    figure: Figure | None = None
    table: ReportTable | None = None
    replay: ReplayContent | None = None
    missing: str | None = Field(default=None, description="Sentence that lists the deleted runs that are left out.")
    problem: str | None = None
