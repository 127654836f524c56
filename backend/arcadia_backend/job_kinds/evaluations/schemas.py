"""Schemas of evaluations, and their CSV export."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.checkpoints.availability import CheckpointChoice
from arcadia_backend.errors import Conflict
from arcadia_backend.jobs import CheckpointJobFields
from arcadia_backend.web.formats import JsonNumber, csv_line
from arcadia_workers.contract.protocols.document import Acting, NormalizedBy, PlayedEpisode
from arcadia_workers.contract.protocols.protocol import StartPlayer
from arcadia_workers.contract.protocols.starts import MOST_STARTS
from arcadia_workers.contract.values import NO_BOOLEAN, Id, Seed, ShortText

# One episode from each point of the largest start set.
MAX_EPISODES = MOST_STARTS


class UsedStarts(BaseModel):
    """The start set of an evaluation, as it was when the evaluation was requested."""

    id: int
    name: str
    player: StartPlayer
    source: str
    points: int
    sha256: str
    kept: bool = Field(description="False if it was deleted.")


class EvaluationRequest(BaseModel):
    """Request to evaluate a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: CheckpointChoice = "newest"
    protocol: ShortText | None = Field(
        default=None, description="Protocol, for example no-op-5min. Default: the run's protocol."
    )
    start_set: Id | None = Field(
        default=None, description="Start set for human-starts and agent-starts; see /start-sets."
    )
    episodes: Annotated[int, Field(ge=1, le=MAX_EPISODES), NO_BOOLEAN] | None = Field(
        default=None, description="Number of episodes. Default: the protocol's number, or one from each start point."
    )
    seed: Seed = Field(default=1, description="The same seed gives the same scores.")
    acting: Acting | None = Field(default=None, description="How to choose actions. Default: as in the method's paper.")


class ScoredEpisode(PlayedEpisode):
    """One episode of an evaluation."""

    score: JsonNumber = Field(description="Sum of the raw, unclipped rewards.")


class RunEvaluation(CheckpointJobFields):
    """An evaluation of a checkpoint, with its state and, when done, its results.

    NaN and infinity are strings.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    start_set: UsedStarts | None = Field(description="Start set of human-starts and agent-starts.")
    acting: Acting
    episodes_done: int
    episodes_total: int
    mean: JsonNumber | None
    median: JsonNumber | None
    distinct: int | None = Field(
        description="Number of episodes that do not repeat another. Null in evaluations of earlier versions."
    )
    standard_error: JsonNumber | None = Field(
        description="Standard error of the mean, for which repeated episodes are one. Null for a single episode."
    )
    interval: tuple[JsonNumber, JsonNumber] | None = Field(
        description="95 % interval of the mean: a t-interval, for which repeated episodes are one. Evaluations of "
        "earlier versions have a bootstrap interval of all episodes."
    )
    human_normalized: JsonNumber | None = Field(description="100 · (mean − random) / (human − random).")
    normalized_by: NormalizedBy | None
    not_normalized_because: str | None
    unlike_training: list[str] = Field(
        description="Differences between the protocol and training, as sentences. Empty until it is done."
    )


class EvaluationWithEpisodes(RunEvaluation):
    """An evaluation with its finished episodes."""

    episodes: list[ScoredEpisode]


class EvaluationPage(BaseModel):
    """One page of a run's evaluations, newest first."""

    items: list[RunEvaluation]
    next_cursor: str | None
    total: int
    best: RunEvaluation | None = Field(
        description="The best evaluation with the run's protocol. Only the newest of each checkpoint counts."
    )


EPISODE_COLUMNS = ("episode", "score", "frames", "frames_before", "length", "ended")
EVALUATION_COLUMNS = (
    *("evaluation", "state", "superseded", "step", "frames", "protocol", "starts", "acting", "epsilon", "seed"),
    *("episodes", "distinct", "mean", "median", "standard_error", "interval_low", "interval_high"),
    *("human_normalized", "normalized_by", "checkpoint_sha256", "finished_at"),
)


def episode_lines(evaluation: EvaluationWithEpisodes) -> Iterator[str]:
    """Return the CSV lines of all episodes. Raise Conflict if the evaluation is not done."""
    if evaluation.state != "done":
        raise Conflict("The evaluation is not done, so some of its episodes are missing.")
    rows = ((e.number, e.score, e.frames, e.frames_before, e.length, e.ended) for e in evaluation.episodes)
    return (csv_line(row) for row in (EPISODE_COLUMNS, *rows))


def evaluation_lines(evaluations: Iterable[RunEvaluation]) -> Iterator[str]:
    """Yield the CSV lines of evaluations with their results."""
    yield csv_line(EVALUATION_COLUMNS)
    for each in evaluations:
        by = each.normalized_by
        yield csv_line(
            (
                *(each.id, each.state, "true" if each.superseded else "false", each.step, each.frames, each.protocol),
                *(each.start_set and each.start_set.sha256, each.acting.name, each.acting.epsilon, each.seed),
                *(each.episodes_total, each.distinct, each.mean, each.median, each.standard_error),
                *(each.interval or (None, None)),
                *(each.human_normalized, by and f"{by.source}, {by.table}", each.checkpoint_sha256),
                each.finished_at and each.finished_at.isoformat(),
            )
        )
