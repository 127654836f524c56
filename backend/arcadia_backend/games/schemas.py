"""API schemas of games and score tables. NaN and the infinities are strings."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from arcadia_backend.jobs import JobFields
from arcadia_backend.web.formats import JsonNumber
from arcadia_workers.contract.protocols.document import Acting, NormalizedBy
from arcadia_workers.contract.worker_api import State


class _Schema(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")


class Source(_Schema):
    """The table of a paper that prints a number."""

    source: str = Field(description="The paper.")
    table: str


class Picture(_Schema):
    """A replay that represents a game."""

    run_id: int
    step: int = Field(description="Step of the checkpoint that played it.")
    file_id: int
    poster_file_id: int | None


class ScoredRun(_Schema):
    """The run of a score."""

    id: int
    name: str
    algorithm: str
    method: str
    color: str
    archived: bool


class RunScore(_Schema):
    """The best finished evaluation of a run by one protocol. Only the newest of each checkpoint counts."""

    evaluation_id: int
    protocol: str
    run: ScoredRun
    mean: JsonNumber
    interval: tuple[JsonNumber, JsonNumber] | None = Field(description="95 % interval of the mean of its episodes.")
    episodes: int
    short: bool = Field(description="True if it has fewer episodes than the protocol requires. It is not ranked.")
    step: int = Field(description="Step of the checkpoint.")
    frames: int = Field(description="Frames of the checkpoint.")
    start_set: str | None = Field(description="Name of the start set, if the protocol uses one.")
    acting: Acting
    finished_at: datetime | None
    human_normalized: JsonNumber | None = Field(description="100 · (mean − random) / (human − random).")
    normalized_by: NormalizedBy | None
    not_normalized_because: str | None


class MethodScore(_Schema):
    """The mean of all runs of a method by one protocol. A run counts with its last checkpoint that was evaluated."""

    protocol: str
    starts: str | None = Field(description="SHA-256 of the start set, if only scores from the same set are comparable.")
    algorithm: str
    method: str
    runs: int = Field(description="Number of runs in the mean.")
    failed: int = Field(description="Number of failed runs without a score. The mean leaves them out.")
    mean: JsonNumber
    interval: tuple[JsonNumber, JsonNumber] | None = Field(
        description="95 % t-interval of the mean over runs. Null below three runs, and where runs are equal or near a "
        "bound of the score."
    )
    steps: tuple[int, int] = Field(description="Fewest and most steps of the checkpoints.")
    human_normalized: JsonNumber | None


class BestScore(RunScore):
    """The best score of a game by one protocol."""

    picture: Picture | None = Field(description="The run's newest replay.")


class GameCard(_Schema):
    """A game in the list."""

    slug: str = Field(description="Name in URLs.")
    name: str
    env: str
    runs: int = Field(description="Includes archived runs.")
    evaluated_runs: int
    published: int = Field(description="Number of published scores.")
    methods: list[MethodScore] = Field(description="Mean score of each method by each protocol, best first.")
    best: list[BestScore] = Field(
        description="Score of the best checkpoint of the best run by each protocol. It is chosen by its score, so it "
        "is too high on average."
    )
    picture: Picture | None = Field(description="The newest replay of any run.")


class Average(_Schema):
    """Averages over games of a method's human-normalized mean scores by one protocol. Null if there are none."""

    protocol: str
    algorithm: str
    method: str
    title: str
    sentence: str = Field(description="Description of the protocol.")
    games: int = Field(description="Games with an evaluation by it.")
    normalized_games: int = Field(description="Games with a normalized score. The averages are over these.")
    runs: int = Field(description="Runs in those games.")
    mean: JsonNumber | None
    median: JsonNumber | None
    interquartile_mean: JsonNumber | None = Field(
        description="Mean without the lowest and the highest quarter of the games, each rounded down."
    )
    normalized_by: list[Source]


class PublishedAverage(Source):
    """Averages of human-normalized scores over 57 games in a paper, in percent."""

    protocol: str
    method: str
    training_time: str
    mean: float
    median: float


class Games(_Schema):
    """Games that have runs or published scores, and averages over games by protocol."""

    games: list[GameCard]
    averages: list[Average]
    published_averages: list[PublishedAverage]


class TableRow(_Schema):
    """A score of a method, a run or a paper."""

    rank: int | None
    unranked_because: str | None
    player: str
    score: JsonNumber
    human_normalized: JsonNumber | None
    method: MethodScore | None = Field(default=None, description="The method of the score, if it is of all its runs.")
    ours: RunScore | None
    sources: list[Source] = Field(description="All tables that print the score.")
    note: str | None


class ScoreTable(_Schema):
    """Comparable scores. Scores of different tables are not comparable."""

    protocol: str = Field(description="Name of the protocol, or a description of what the paper did.")
    starts: str | None = Field(description="SHA-256 of the start set, if only scores from the same set are comparable.")
    title: str
    sentence: str | None = Field(description="Description of the protocol.")
    apart_because: str | None = Field(description="Why no run is ranked with these.")
    normalized_by: NormalizedBy | None
    not_normalized_because: str | None
    rows: list[TableRow] = Field(description="Methods and published scores, best first, then unranked ones.")
    runs_total: int = Field(description="Runs with a score. The CSV has all of them.")
    runs: list[TableRow] = Field(
        description="The best checkpoints of the best 100 runs, without ranks: they are chosen by their scores, so "
        "these are too high on average."
    )


class WaitingEvaluation(_Schema, JobFields):
    """An evaluation without a score: it is queued, running or failed."""

    id: int
    state: Literal["queued", "running", "failed"]
    protocol: str
    step: int = Field(description="Step of the checkpoint.")
    episodes_done: int
    episodes_total: int


class WaitingRun(_Schema):
    """A run of a game without a score."""

    id: int
    name: str
    method: str
    color: str
    state: State
    step: int
    has_checkpoint: bool
    evaluation: WaitingEvaluation | None = Field(
        description="Queued or running evaluation, or the last one if it failed."
    )


class Game(_Schema):
    """A game with its tables. Tables with runs come first."""

    slug: str
    name: str
    env: str
    runs: int = Field(description="Includes archived runs.")
    evaluated_runs: int
    picture: Picture | None = Field(description="Newest replay of the best run, or of any run.")
    tables: list[ScoreTable]
    waiting: list[WaitingRun] = Field(description="Newest runs without a score, without archived runs.")
    waiting_total: int
