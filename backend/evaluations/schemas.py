"""Requests and answers of the evaluations API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from backend.checkpoints.wanted import WantedCheckpoint
from backend.database.tables import Origin
from backend.start_sets.schemas import UsedStarts
from backend.web.json_numbers import JsonNumber
from workers.contract.protocols.acting import Acting
from workers.contract.protocols.document import NormalisedBy, PlayedEpisode
from workers.contract.protocols.starts import MOST_STARTS
from workers.contract.values import NO_BOOLEAN, Id, Seed, ShortText
from workers.contract.worker_api import JobState

# One from each point of the largest set.
MOST_EPISODES = MOST_STARTS


class AskEvaluation(BaseModel):
    """Have a worker play episodes from a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: WantedCheckpoint = "newest"
    protocol: ShortText | None = Field(
        default=None, description="How it is evaluated, as no-op-5min; the run's own protocol unless told otherwise."
    )
    start_set: Id | None = Field(
        default=None, description="The set of start points, for human-starts and agent-starts; see /start-sets."
    )
    episodes: Annotated[int, Field(ge=1, le=MOST_EPISODES), NO_BOOLEAN] | None = Field(
        default=None, description="As many episodes instead of the protocol's number, or of one from each start point."
    )
    seed: Seed = Field(default=1, description="The same seed gives the same scores.")
    acting: Acting | None = Field(default=None, description="As the method's paper has it unless told otherwise.")


class ScoredEpisode(PlayedEpisode):
    """One episode of an evaluation."""

    score: JsonNumber = Field(description="Sum of the raw, unclipped rewards that count.")


class RunEvaluation(BaseModel):
    """An evaluation of a checkpoint: where it stands, and once it is done what it found.

    NaN and the infinities are strings.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="In plain words, why it waits, or has failed.")
    traceback: str | None = Field(description="Of a failure that is a bug.")
    origin: Origin
    checkpoint_id: int
    checkpoint_sha256: str
    step: int = Field(description="Of the checkpoint.")
    frames: int = Field(description="Of the checkpoint.")
    superseded: bool = Field(
        description="The run went back behind the checkpoint and trained its steps again: it counts nowhere."
    )
    protocol: str
    start_set: UsedStarts | None = Field(description="For human-starts and agent-starts.")
    acting: Acting
    seed: int
    episodes_done: int
    episodes_total: int
    worker: str | None
    mean: JsonNumber | None
    median: JsonNumber | None
    standard_error: JsonNumber | None = Field(description="Of the mean; null for a single episode.")
    interval: tuple[JsonNumber, JsonNumber] | None = Field(description="95 % bootstrap interval of the mean.")
    human_normalised: JsonNumber | None = Field(description="100 · (mean − random) / (human − random).")
    normalised_by: NormalisedBy | None
    not_normalised_because: str | None
    unlike_training: list[str] = Field(
        description="What the protocol does otherwise than the training did, in sentences; known once it is done."
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class EvaluationWithEpisodes(RunEvaluation):
    """An evaluation with its episodes: all of them once it is done, before that those that have ended so far."""

    episodes: list[ScoredEpisode]


class EvaluationPage(BaseModel):
    """One page of a run's evaluations, the latest asked for first."""

    items: list[RunEvaluation]
    next_cursor: str | None
    total: int
    best: RunEvaluation | None = Field(
        description="The best of all whole evaluations with the run's protocol, going by the newest of each checkpoint."
    )
