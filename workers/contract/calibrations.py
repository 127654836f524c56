"""Results of a calibration: the document that `arcadia calibrate --json` prints."""

from pydantic import Field

from workers.contract.futures import Interval, ResultPart
from workers.contract.protocols.acting import Acting
from workers.contract.values import Count, Text

MAX_EPISODES = 100
MAX_BINS = 10
MAX_WORST = 5


class JudgedMoment(ResultPart):
    """The value at one decision, and the mean discounted return of its futures."""

    episode: Count
    decision: Count
    value: float
    mean: float
    interval: Interval
    standard_error: float = Field(description="Of the mean.")
    regret: float | None = Field(
        description="Mean return lost by the action taken, against the best one; None for continuous actions."
    )


class CalibrationBin(ResultPart):
    """Moments with similar values."""

    count: Count
    value: float = Field(description="Mean value of the moments.")
    mean: float = Field(description="Mean return of their futures.")
    interval: Interval | None = Field(description="95 % t-interval of the mean return over moments.")


class Regret(ResultPart):
    """Mean regret over all moments, with its 95 % t-interval."""

    mean: float
    interval: Interval | None


class CalibrationDocument(ResultPart):
    """Errors of a checkpoint's values, by futures at decisions of several episodes."""

    env: Text
    algorithm: Text
    checkpoint_step: Count
    protocol: Text
    acting: Acting
    seed: Count
    episodes: Count
    every: Count
    futures: Count
    horizon: Count
    gamma: float
    clip_rewards: bool
    bias: float = Field(description="Mean of value − mean return: above 0 if the critic is too high.")
    bias_interval: Interval | None = Field(description="95 % t-interval over moments.")
    rmse: float = Field(description="Root mean square of value − mean return, without the noise of the mean returns.")
    correlation: float | None = Field(description="Of values and mean returns; None if one of them is constant.")
    bins: list[CalibrationBin] = Field(description="Equal numbers of moments, in the order of their values.")
    regret: Regret | None = Field(description="None for continuous actions.")
    worst: list[JudgedMoment] = Field(description="The moments with the largest errors.")
    moments: list[JudgedMoment]
    seconds: float
