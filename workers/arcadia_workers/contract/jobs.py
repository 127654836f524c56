"""Kinds of jobs: what each takes and makes, how it is called, and in which order workers claim it.

`JOB_KINDS` declares each kind once. Backend, worker, trainer and command line read it. A job's process receives its
request as REQUEST.json, which the worker writes.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from arcadia_workers.contract import events
from arcadia_workers.contract.config.emulator import ActionSet
from arcadia_workers.contract.futures import CalibrationOptions, FuturesOptions
from arcadia_workers.contract.games import EnvironmentId
from arcadia_workers.contract.live import KeptActions, LiveAddress, LiveParameters, PlayParameters
from arcadia_workers.contract.practice import AgentMeasurement, PracticeOptions, PracticePlan, TrainedArm
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.contract.review import KEPT_GAME, ReviewDocument, ReviewOptions
from arcadia_workers.contract.values import NO_BOOLEAN, Count, Ordinal, Seed, ShortText

JobKind = Literal[
    "evaluation",
    "recording",
    "saliency",
    "futures",
    "calibration",
    "review",
    "practice",
    "live",
    "play",
    "film",
    "start_points",
]
# The order in which workers claim jobs.
Priority = Literal["interactive", "normal", "long"]
PRIORITIES: tuple[Priority, ...] = ("interactive", "normal", "long")

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


class SeededEpisodes(BaseModel):
    """The episodes that an agent plays with a seed. The backend fills in the protocol of the run."""

    model_config = ConfigDict(extra="forbid")

    protocol: ShortText | None = Field(
        default=None, description="How episodes begin and end, for example no-op-5min. Default: the run's protocol."
    )
    seed: Seed = Field(default=1, description="The same seed gives the same episodes.")


class EvaluationParameters(BaseModel):
    """Parameters of an evaluation."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    acting: Acting
    seed: Count
    episodes: Ordinal


class CalibrationParameters(CalibrationOptions, SeededEpisodes):
    """The decisions to judge, and their episodes."""


class RecordingParameters(SeededEpisodes):
    """The episode to record."""

    episode: EpisodeIndex = Field(
        default=0, description="Index of the episode in an evaluation with this protocol and seed, from 0."
    )


class FilmParameters(KeptActions):
    """The kept game to replay for its video."""

    skipped: Count = Field(default=0, description="Frames before the video begins.")
    repeat_action_probability: float = 0.0


class RetracedEpisode(BaseModel):
    """A recorded episode, which is played again by its actions."""

    model_config = ConfigDict(extra="forbid")

    protocol: str
    seed: Count
    episode: EpisodeIndex
    actions: list[int] | list[list[float]]


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


class SaliencyParameters(RetracedEpisode):
    """The recorded episode to replay, and the expected score."""

    score: float


class FuturesParameters(FuturesOptions, RetracedEpisode):
    """The recorded episode to continue, with its actions before the decision."""


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


@dataclass(frozen=True)
class JobDeclaration:
    """A kind of job.

    noun, article   its name in sentences
    plural          its name for several
    parameters      what its process receives
    result          the event with its result, if it has one
    priority        interactive if a person waits for it, long if it takes minutes
    path            first part of the API's paths to its results, such as /calibrations/7, if they have their own
    table           table with its results, if there is one
    max_unfinished  limit of unfinished jobs of a run, if it has one
    is_live         True for a game that people watch or play over a connection to the backend
    is_archived     True if archives of runs have its jobs
    """

    kind: JobKind
    noun: str
    plural: str
    parameters: type[BaseModel]
    result: type[events.Event] | None
    article: str = "a"
    priority: Priority = "normal"
    path: str | None = None
    table: str | None = None
    max_unfinished: int | None = None
    is_live: bool = False
    is_archived: bool = False

    @property
    def name(self) -> str:
        """The noun with its article."""
        return f"{self.article} {self.noun}".lstrip()

    def missing(self, number: int) -> str:
        """Return a sentence that says that there is none of this number."""
        return f"There {'are' if self.noun == self.plural else 'is'} no {self.noun} {number}."


JOB_KINDS: dict[JobKind, JobDeclaration] = {
    each.kind: each
    for each in (
        JobDeclaration(
            kind="evaluation",
            noun="evaluation",
            article="an",
            plural="evaluations",
            parameters=EvaluationParameters,
            result=events.EvaluationEvent,
            path="evaluations",
            table="evaluations",
            # Enough for all checkpoints of a run by two protocols.
            max_unfinished=50,
            is_archived=True,
        ),
        JobDeclaration(
            kind="recording",
            noun="recording",
            plural="recordings",
            parameters=RecordingParameters,
            result=events.ReplayEvent,
            path="recordings",
            max_unfinished=10,
            is_archived=True,
        ),
        JobDeclaration(
            kind="saliency",
            noun="saliency",
            article="",
            plural="saliency jobs",
            parameters=SaliencyParameters,
            result=events.SaliencyEvent,
            max_unfinished=10,
            is_archived=True,
        ),
        JobDeclaration(
            kind="futures",
            noun="futures",
            article="",
            plural="futures",
            parameters=FuturesParameters,
            result=events.FuturesEvent,
            priority="interactive",
            path="futures",
            table="futures",
            max_unfinished=10,
            is_archived=True,
        ),
        JobDeclaration(
            kind="calibration",
            noun="calibration",
            plural="calibrations",
            parameters=CalibrationParameters,
            result=events.CalibrationEvent,
            priority="long",
            path="calibrations",
            table="calibrations",
            max_unfinished=20,
            is_archived=True,
        ),
        JobDeclaration(
            kind="review",
            noun="review",
            plural="reviews",
            parameters=ReviewParameters,
            result=events.ReviewEvent,
            priority="long",
            path="reviews",
            table="reviews",
            max_unfinished=10,
            is_archived=True,
        ),
        JobDeclaration(
            kind="practice",
            noun="practice",
            plural="practices",
            parameters=PracticeParameters,
            result=events.PracticeEvent,
            priority="long",
            path="practices",
            table="practices",
            max_unfinished=10,
            is_archived=True,
        ),
        JobDeclaration(
            kind="live",
            noun="live game",
            plural="live games",
            parameters=LiveParameters,
            result=None,
            priority="interactive",
            is_live=True,
        ),
        JobDeclaration(
            kind="play",
            noun="game",
            plural="games",
            parameters=PlayParameters,
            result=events.GameKept,
            priority="interactive",
            is_live=True,
        ),
        JobDeclaration(
            kind="film",
            noun="video of a game",
            article="the",
            plural="videos of games",
            parameters=FilmParameters,
            result=events.Film,
        ),
        JobDeclaration(
            kind="start_points",
            noun="start points",
            article="",
            plural="start points",
            parameters=StartPointsParameters,
            result=events.StartPointsEvent,
            priority="interactive",
            max_unfinished=10,
        ),
    )
}
# A person waits for these. A worker has slots that only they may use.
INTERACTIVE_JOBS = tuple(each.kind for each in JOB_KINDS.values() if each.priority == "interactive")
LIVE_GAMES = tuple(each.kind for each in JOB_KINDS.values() if each.is_live)
