"""Requests to job processes: REQUEST.json, written by the worker and read by the job's process."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from arcadia_workers.contract.config.emulator import ActionSet
from arcadia_workers.contract.futures import CalibrationOptions, FuturesOptions
from arcadia_workers.contract.games import EnvironmentId
from arcadia_workers.contract.live import KeptActions, LiveAddress
from arcadia_workers.contract.practice import AgentMeasurement, PracticeOptions, PracticePlan, TrainedArm
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.contract.review import KEPT_GAME, ReviewDocument, ReviewOptions
from arcadia_workers.contract.values import NO_BOOLEAN, Count, Ordinal
from arcadia_workers.contract.worker_api import JobKind

MAX_EPISODE_INDEX = 1_000_000
# The index of an episode in an evaluation, from 0.
EpisodeIndex = Annotated[int, Field(ge=0, lt=MAX_EPISODE_INDEX), NO_BOOLEAN]


class JobRequest(BaseModel):
    """The request of a job: its kind, the step of its checkpoint if it has one, and its parameters."""

    model_config = ConfigDict(extra="forbid")

    kind: JobKind
    step: Count | None
    parameters: dict[str, Any]
    live: LiveAddress | None = Field(default=None, description="Address of the backend for a live game.")


class EvaluationParameters(BaseModel):
    """Parameters of an evaluation."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    acting: Acting
    seed: Count
    episodes: Ordinal


class RecordingParameters(BaseModel):
    """The episode to record."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    seed: Count
    episode: EpisodeIndex


class FilmParameters(KeptActions):
    """The kept game to replay for its video."""

    skipped: Count = Field(default=0, description="Frames before the video begins.")
    repeat_action_probability: float = 0.0


class StartPointsParameters(BaseModel):
    """The recorded episode to repeat, and the decisions at which start points are stored under a name."""

    model_config = ConfigDict(extra="forbid")

    replay_id: Count
    name: str
    source: str
    env: EnvironmentId
    action_set: ActionSet
    frames_per_action: Count
    protocol: str
    seed: Count
    episode: EpisodeIndex
    actions: list[int] = Field(description="The actions before the last of the decisions.")
    decisions: list[Count] = Field(min_length=1, description="In ascending order.")
    score: float = Field(description="The score before the last of the decisions.")
    max_bytes: Count = Field(description="The size that the start set may have.")


class SaliencyParameters(BaseModel):
    """The recorded episode to replay by its actions, and the expected score."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    seed: Count
    episode: EpisodeIndex
    actions: list[int] | list[list[float]]
    score: float


class FuturesParameters(FuturesOptions):
    """The recorded episode to continue, with its actions before the decision."""

    protocol: str
    seed: Count
    episode: EpisodeIndex
    actions: list[int] | list[list[float]]


class ReviewParameters(ReviewOptions):
    """The recorded episode or the kept game to review, and what an earlier attempt found out."""

    protocol: str = KEPT_GAME
    seed: Count = 0
    episode: EpisodeIndex = 0
    actions: list[int] = Field(default=[], description="Empty for a kept game.")
    kept: KeptActions | None = None
    known: ReviewDocument | None = None


class RecordedReview(BaseModel):
    """A review, with the actions of the reviewed episode."""

    model_config = ConfigDict(extra="forbid")

    review: ReviewDocument
    actions: list[int]


class PracticeParameters(BaseModel):
    """The reviews to plan a practice from, or its plan and arms, of which the next one without a result is measured."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    options: PracticeOptions
    reviews: list[RecordedReview] = []
    plan: PracticePlan | None = None
    before: AgentMeasurement | None = None
    arms: list[TrainedArm] = []


class CalibrationParameters(CalibrationOptions):
    """The episodes whose decisions are judged."""

    protocol: str
    seed: Count
