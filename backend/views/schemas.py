"""Request and response models of the views API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.projects.schemas import ProjectName
from workers.contract.values import STORABLE

ViewName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
ViewQuery = Annotated[
    str,
    Field(
        max_length=10_000,
        description="Query of the runs page: filters, columns, order, groups, baseline and charts. "
        "For example env=ALE/Pong-v5&sort=-best_return.",
    ),
    STORABLE,
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateView(_Request):
    """A view to save."""

    name: ViewName
    query: ViewQuery = ""
    project: ProjectName | None = Field(default=None, description="Name of an existing project. Default: Main.")


class EditView(_Request):
    """Changes to a view. Omitted fields stay unchanged."""

    name: ViewName | None = None
    query: ViewQuery | None = None


class SavedView(BaseModel):
    """A named view of the runs of a project."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    project: str
    name: str
    query: str = Field(description="Query of the runs page.")
    created_at: datetime
    updated_at: datetime
