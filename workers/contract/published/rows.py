"""Rows of the published tables."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from workers.contract.games import EnvironmentId


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
