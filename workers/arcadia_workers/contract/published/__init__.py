"""Numbers that the papers publish, with their source, table and protocol in each row.

gorila_scores      Gorila, tables 3 and 4: scores of random, human, DQN and Gorila in 49 games
gorila_normalized  Gorila, tables 1 and 2: the same scores in percent
paac_scores        PAAC, table 1
ga3c_scores        GA3C, table 3
ga3c_systems       GA3C, table 1: the systems of its measurements
ga3c_speed         GA3C, table 2: predictions per second
a3c_summary        A3C, table 1: mean and median over 57 games, human-normalized
a3c_speedup        A3C, table 2: speed-up by number of threads
dqn_zoo_scores     DQN Zoo: scores of random and human in 57 games
diamond_scores     DIAMOND, table 1: scores of agents in the 26 games of Atari 100k
atari_5_weights    Atari-5's authors' code: the weight of each of its games

`protocol` is a name from `arcadia_workers.contract.protocols` if the paper used that protocol. Otherwise it describes
the paper's protocol in words. Numbers are as printed.
"""

import csv
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from arcadia_workers.contract.games import EnvironmentId
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import NormalizedBy


class Row(BaseModel):
    """Source of a published number, and its protocol."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str = Field(min_length=1, description="The paper.")
    table: str = Field(
        pattern=r"^(table \d|\w+\.py)$", description="A table of the paper, or a file of the authors' code."
    )
    protocol: str = Field(min_length=1, description="A protocol's name, or a description of the paper's protocol.")


class Score(Row):
    """A player's score in a game."""

    game: str = Field(description="The game's name in the paper.")
    env: EnvironmentId
    player: str = Field(description="random, human, or an agent.")
    score: float = Field(allow_inf_nan=False)


class GameWeight(Row):
    """A game's weight in an estimate of the median over 57 games."""

    game: str
    env: EnvironmentId
    weight: float = Field(gt=0, lt=1)


class NormalizedScore(Row):
    """An agent's score in percent of another player's score, where random is 0."""

    game: str
    env: EnvironmentId
    player: str
    normalized_by: Literal["human", "DQN"]
    percent: float = Field(allow_inf_nan=False)


class Summary(Row):
    """A method's human-normalized score over 57 games."""

    method: str
    training_time: str
    mean_percent: float
    median_percent: float


class Speedup(Row):
    """Speed-up of several threads over one in reaching a score."""

    method: str
    threads: int = Field(ge=1)
    speedup: float = Field(gt=0)


class System(Row):
    """A host of GA3C's measurements."""

    system: Literal["I", "II", "III", "IV"]
    processor: str
    gigahertz: float = Field(gt=0)
    cores: int = Field(ge=1)
    gpu: str
    cuda: str


class PredictionSpeed(Row):
    """Predictions per second of A3C on a CPU and of GA3C on a GPU."""

    system: Literal["I", "II", "III"]
    network: str
    a3c_pps: float = Field(gt=0)
    ga3c_pps: float = Field(gt=0)
    speedup: float = Field(gt=0)
    cpu_percent: float = Field(ge=0, le=100)
    gpu_percent: float = Field(ge=0, le=100)


HERE = Path(__file__).parent
SomeRow = TypeVar("SomeRow", bound=Row)

SCORES = ("gorila_scores", "paac_scores", "ga3c_scores", "dqn_zoo_scores", "diamond_scores")


def _read(table: str, kind: type[SomeRow]) -> tuple[SomeRow, ...]:
    with (HERE / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return tuple(kind.model_validate(row) for row in csv.DictReader(file))


@cache
def scores() -> tuple[Score, ...]:
    """Return all published scores of games."""
    return tuple(row for table in SCORES for row in _read(table, Score))


@cache
def atari_5_weights() -> tuple[GameWeight, ...]:
    """Return the weights of the games of Atari-5."""
    return _read("atari_5_weights", GameWeight)


@cache
def normalized_scores() -> tuple[NormalizedScore, ...]:
    """Return all published human-normalized scores."""
    return _read("gorila_normalized", NormalizedScore)


@cache
def summaries() -> tuple[Summary, ...]:
    """Return the published means and medians over games."""
    return _read("a3c_summary", Summary)


@cache
def speedups() -> tuple[Speedup, ...]:
    """Return the published speed-ups by number of threads."""
    return _read("a3c_speedup", Speedup)


@cache
def prediction_speeds() -> tuple[PredictionSpeed, ...]:
    """Return the published predictions per second by system and network."""
    return _read("ga3c_speed", PredictionSpeed)


@cache
def systems() -> tuple[System, ...]:
    """Return every system that GA3C was measured on."""
    return _read("ga3c_systems", System)


def reference(env: str, protocol: str) -> NormalizedBy | str:
    """Return the random and human scores of a game by a protocol, or why there is no normalized score."""
    known = PROTOCOLS.get(protocol)
    protocol = (known and known.normalized_by) or protocol
    rows = {
        row.player: row
        for row in scores()
        if row.env == env and row.protocol == protocol and row.player in ("random", "human")
    }
    if len(rows) < 2:
        return f"the papers publish no random and human scores of {env} by {protocol}"
    random, human = rows["random"], rows["human"]
    if random.score >= human.score:
        return f"the random player beats the human in {env} by {protocol} ({random.source}, {random.table})"
    return NormalizedBy(
        source=random.source, table=random.table, protocol=protocol, random=random.score, human=human.score
    )


def normalized(score: float, by: NormalizedBy) -> float:
    """Return a score on the scale where random is 0 and human is 100."""
    return 100 * (score - by.random) / (by.human - by.random)
