"""Answers of the saliency API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from backend.web.json_numbers import JsonNumber
from workers.contract.saliency import SaliencyHead
from workers.contract.worker_api import JobState

Maps = Annotated[str, Field(description="Rows of the grid, decision after decision, each number a byte; in base64.")]


class ReplaySaliency(BaseModel):
    """The saliency of a replay: where its computation stands."""

    replay_id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="In plain words, why it waits, or has failed.")
    traceback: str | None = Field(description="Of a failure that is a bug.")
    done: int = Field(description="How many of the replay's decisions are computed.")
    total: int
    file_id: int | None = Field(description="The result as an .npz file, once it is done.")
    created_at: datetime
    finished_at: datetime | None


class SaliencyMaps(BaseModel):
    """How much each place of what the network saw counted, decision by decision."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    head: SaliencyHead
    rows: int = Field(description="Of the grid, which has as many columns.")
    policy: Maps
    value: Maps
    policy_peak: list[JsonNumber] = Field(description="What 255 stands for, at each decision.")
    value_peak: list[JsonNumber]
