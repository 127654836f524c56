"""What the rows of the published tables hold."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from workers.contract.games import EnvironmentId


class Row(BaseModel):
    """Where a number was published, and how it was measured."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str = Field(min_length=1, description="The paper.")
    table: str = Field(pattern=r"^(table \d|\w+\.py)$", description="A file of the authors' code, if no table has it.")
    protocol: str = Field(min_length=1, description="A protocol's name, or in words what the paper did.")


class Score(Row):
    """A player's score in a game."""

    game: str = Field(description="As the paper writes it.")
    env: EnvironmentId
    player: str = Field(description="random, human, or an agent.")
    score: float = Field(allow_inf_nan=False)


class GameWeight(Row):
    """A game's weight in an estimate of the median over 57 games."""

    game: str
    env: EnvironmentId
    weight: float = Field(gt=0, lt=1)


class NormalizedScore(Row):
    """An agent's score in percent of another player's, random being 0."""

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
    """How many times faster so many threads reach a score than one."""

    method: str
    threads: int = Field(ge=1)
    speedup: float = Field(gt=0)


class System(Row):
    """A host that GA3C was measured on."""

    system: Literal["I", "II", "III", "IV"]
    processor: str
    gigahertz: float = Field(gt=0)
    cores: int = Field(ge=1)
    gpu: str
    cuda: str


class PredictionSpeed(Row):
    """Predictions a second of A3C on a CPU and of GA3C on a GPU."""

    system: Literal["I", "II", "III"]
    network: str
    a3c_pps: float = Field(gt=0)
    ga3c_pps: float = Field(gt=0)
    speedup: float = Field(gt=0)
    cpu_percent: float = Field(ge=0, le=100)
    gpu_percent: float = Field(ge=0, le=100)
