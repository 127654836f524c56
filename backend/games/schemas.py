"""Games and tables of scores as clients get them. NaN and the infinities are strings."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from backend.web.json_numbers import JsonNumber
from workers.contract.protocols.acting import Acting
from workers.contract.protocols.document import NormalisedBy
from workers.contract.worker_api import State


class _Part(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")


class Source(_Part):
    """Where a number was published."""

    source: str = Field(description="The paper.")
    table: str


class Picture(_Part):
    """A replay to show a game by."""

    run_id: int
    step: int = Field(description="Of the checkpoint that played it.")
    file_id: int
    poster_file_id: int | None


class ScoredRun(_Part):
    """The run that has a score."""

    id: int
    name: str
    algorithm: str
    method: str
    color: str
    archived: bool


class RunScore(_Part):
    """The best finished evaluation of a run by one protocol, going by the newest of each checkpoint."""

    evaluation_id: int
    protocol: str
    run: ScoredRun
    mean: JsonNumber
    interval: tuple[JsonNumber, JsonNumber] | None = Field(description="95 % bootstrap interval of the mean.")
    episodes: int
    short: bool = Field(description="Of fewer episodes than the protocol asks for: it is not ranked.")
    step: int = Field(description="Of the checkpoint.")
    frames: int = Field(description="Of the checkpoint.")
    start_set: str | None = Field(description="The name of the start points, where its episodes began at some.")
    acting: Acting
    finished_at: datetime | None
    human_normalised: JsonNumber | None = Field(description="100 · (mean − random) / (human − random).")
    normalised_by: NormalisedBy | None
    not_normalised_because: str | None


class BestScore(RunScore):
    """The best score of a game by one protocol."""

    picture: Picture | None = Field(description="The run's newest replay.")


class GameCard(_Part):
    """A game in the list."""

    slug: str = Field(description="Its name in addresses.")
    name: str
    env: str
    runs: int = Field(description="Archived ones too.")
    evaluated_runs: int
    published: int = Field(description="How many scores the papers publish.")
    best: list[BestScore] = Field(description="One for each protocol by which a run is evaluated.")
    picture: Picture | None = Field(description="The newest replay of any run.")


class Average(_Part):
    """Human-normalised scores by one protocol over games, the best run of each; null without any."""

    protocol: str
    title: str
    sentence: str = Field(description="What the protocol is.")
    games: int = Field(description="With an evaluation by it.")
    normalised_games: int = Field(description="Those with a normalised score, over which the averages are.")
    short_games: int = Field(description="Those of them whose evaluation has fewer episodes than the protocol.")
    mean: JsonNumber | None
    median: JsonNumber | None
    interquartile_mean: JsonNumber | None = Field(
        description="Mean without the lowest and the highest quarter of the games, each rounded down."
    )
    normalised_by: list[Source]


class PublishedAverage(Source):
    """Human-normalised scores that a paper publishes over 57 games, in percent."""

    protocol: str
    method: str
    training_time: str
    mean: float
    median: float


class Games(_Part):
    """Each game that has runs or published scores, and averages over games by each protocol apart."""

    games: list[GameCard]
    averages: list[Average]
    published_averages: list[PublishedAverage]


class TableRow(_Part):
    """A player's score: of a run, or published."""

    rank: int | None
    unranked_because: str | None
    player: str
    score: JsonNumber
    human_normalised: JsonNumber | None
    ours: RunScore | None
    sources: list[Source] = Field(description="Every table that has a published score.")
    note: str | None


class ScoreTable(_Part):
    """Scores that compare with one another; with those of no other table."""

    protocol: str = Field(description="A protocol's name, or in words what the paper did.")
    starts: str | None = Field(description="Where scores compare only from the same set of start points, its SHA-256.")
    title: str
    sentence: str | None = Field(description="What the protocol is.")
    apart_because: str | None = Field(description="Why no run is ranked with these.")
    normalised_by: NormalisedBy | None
    not_normalised_because: str | None
    runs_total: int = Field(description="Runs with a score by it; the CSV has all of them.")
    rows: list[TableRow] = Field(
        description="The best 100 runs and every published score, the best first, then what is not ranked."
    )


class WaitingEvaluation(_Part):
    """An evaluation that has given its run no score: it is under way, or has failed."""

    id: int
    state: Literal["queued", "running", "failed"]
    reason: str | None = Field(description="In plain words, why it waits, or has failed.")
    traceback: str | None = Field(description="Of a failure that is a bug.")
    protocol: str
    step: int = Field(description="Of the checkpoint.")
    episodes_done: int
    episodes_total: int


class WaitingRun(_Part):
    """A run of a game without a score."""

    id: int
    name: str
    method: str
    color: str
    state: State
    step: int
    has_checkpoint: bool
    evaluation: WaitingEvaluation | None = Field(
        description="One that is under way; else the last one, where it has failed."
    )


class Game(_Part):
    """A game with its tables of scores; those with scores of runs come first."""

    slug: str
    name: str
    env: str
    runs: int = Field(description="Archived ones too.")
    evaluated_runs: int
    picture: Picture | None = Field(description="The best agent's newest replay, or the newest of any run.")
    tables: list[ScoreTable]
    waiting: list[WaitingRun] = Field(description="The newest runs without a score, without archived ones.")
    waiting_total: int
