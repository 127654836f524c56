"""Response models of the lineage API."""

from pydantic import BaseModel, ConfigDict, Field

from backend.database.tables import RunOrigin
from backend.web.json_numbers import JsonNumber
from workers.contract.worker_api import State


class LineageRun(BaseModel):
    """A run in a lineage."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    state: State
    origin: RunOrigin
    step: int | None = Field(default=None, description="Of a parent: the step of the checkpoint that was used.")


class LineageEvaluation(BaseModel):
    """A finished evaluation of a checkpoint."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    protocol: str
    mean: JsonNumber
    episodes: int


class LineageCheckpoint(BaseModel):
    """A checkpoint with its evaluations, forks and agents."""

    id: int
    step: int
    available: bool = Field(description="Whether its file exists, so that its agent can be exported.")
    aliases: list[str]
    evaluations: list[LineageEvaluation]
    forks: list[LineageRun]
    agents: list[LineageRun] = Field(description="Runs that an agent file of this checkpoint was imported as.")


class Lineage(BaseModel):
    """The lineage of a run."""

    ancestors: list[LineageRun] = Field(description="The runs that it continues, the oldest first.")
    ancestor_deleted: bool = Field(description="Whether an ancestor before those was deleted.")
    run: LineageRun
    checkpoints: list[LineageCheckpoint] = Field(
        description="Checkpoints in order of their steps. A deleted one is listed if it has evaluations, forks or "
        "agents."
    )
