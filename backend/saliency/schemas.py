"""Response models of the saliency API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from backend.web.json_numbers import JsonNumber
from workers.contract.saliency import SaliencyHead
from workers.contract.worker_api import JobState

Maps = Annotated[str, Field(description="Base64 of one byte per cell: the rows of the grid, decision after decision.")]


class ReplaySaliency(BaseModel):
    """The state of a replay's saliency."""

    replay_id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="Why it is waiting or has failed.")
    traceback: str | None = Field(description="The traceback if it failed because of a bug.")
    done: int = Field(description="The number of decisions computed so far.")
    total: int
    file_id: int | None = Field(description="The result, an .npz file. Null until it is done.")
    created_at: datetime
    finished_at: datetime | None


class SaliencyMaps(BaseModel):
    """Saliency maps of the network's input, decision by decision."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    head: SaliencyHead
    rows: int = Field(description="The number of rows of the grid, equal to its number of columns.")
    policy: Maps
    value: Maps
    policy_peak: list[JsonNumber] = Field(description="The value that 255 stands for, per decision.")
    value_peak: list[JsonNumber]
