"""Schemas of projects."""

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from arcadia_backend.web.formats import JsonNumber
from arcadia_workers.contract.values import STORABLE, Id, Text
from arcadia_workers.contract.worker_api import ExecutorName

MAX_TEXT = 50_000

ProjectName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
ProjectText = Annotated[str, Field(max_length=MAX_TEXT, description="Markdown."), STORABLE]
Ids = Annotated[list[Id], Field(max_length=1_000)]
Projects = Annotated[list[Text], Query(max_length=50, description="Only of these projects, in upper or lower case.")]
MayEdit = Annotated[bool, Field(description="Whether you may change or delete it.")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateProject(_Request):
    """A project to create."""

    name: ProjectName
    text: ProjectText = ""


class EditProject(_Request):
    """Changes to a project. Omitted fields stay unchanged."""

    name: ProjectName | None = None
    text: ProjectText | None = None
    pinned_report_id: Id | None = Field(default=None, description="Report to show on the project's page, or null.")
    executor: ExecutorName | None = Field(
        default=None, description="Where its runs train by default. Null is the default of the installation."
    )


class MergeProject(_Request):
    """The project that gets everything of another one."""

    into: ProjectName


class MoveItems(_Request):
    """Items to move. A study brings its runs, and a run brings the kept games that continue its replays."""

    runs: Ids = []
    studies: Ids = []
    reports: Ids = []
    start_sets: Ids = []
    kept_games: Ids = []


class MovedItems(BaseModel):
    """Ids of the moved items. Items that do not exist are left out."""

    runs: list[int] = Field(description="Runs, including those of the studies.")
    studies: list[int]
    reports: list[int]
    start_sets: list[int]
    kept_games: list[int] = Field(description="Kept games, without those that runs bring.")


class ProjectSummary(BaseModel):
    """A project in the list."""

    id: int
    name: str
    runs: int = Field(description="Number of runs that are not archived.")
    active_runs: int = Field(description="Number of runs that train now.")
    archived_runs: int
    studies: int
    reports: int
    artifacts: int
    created_at: datetime
    last_activity: datetime = Field(description="When a run, study, report or artifact last started, ended or changed.")
    may_edit: bool = Field(description="Whether you may change its content.")
    may_administer: bool = Field(description="Whether you may change its name, text and members, merge or delete it.")


class ProjectAgent(BaseModel):
    """The best run of an environment in a project."""

    run_id: int
    run_name: str
    env: str
    env_title: str
    method: str
    best_return: JsonNumber
    color: str = Field(pattern="^#[0-9a-f]{6}$")
    poster_file_id: int | None
    checkpoint_id: int | None = Field(description="Its best checkpoint that has a file.")
    checkpoint_step: int | None


class PinnedReport(BaseModel):
    """The report on a project's page."""

    id: int
    title: str


class Project(ProjectSummary):
    """A project with the content of its page."""

    text: str = Field(description="Markdown.")
    executor: ExecutorName | None = Field(
        description="Where its runs train by default. Null is the default of the installation."
    )
    pinned_report: PinnedReport | None
    best_agents: list[ProjectAgent] = Field(description="The best run of each environment, by title.")
