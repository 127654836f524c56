"""Calibrations: their options, and the document that `arcadia calibrate --json` prints."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from workers.contract.futures import MAX_FUTURES, MAX_HORIZON, MIN_FUTURES, USUAL_HORIZON, Interval, ResultPart
from workers.contract.protocols.acting import Acting
from workers.contract.values import NO_BOOLEAN, Count, Text, Truth

USUAL_EPISODES, MAX_EPISODES = 10, 100
MAX_EVERY = 1_000_000
USUAL_FUTURES = 16
# Approximate number of judged decisions if `every` is not given.
USUAL_MOMENTS, MAX_MOMENTS = 40, 1_000
MAX_BINS = 10
MAX_WORST = 5


class CalibrationOptions(BaseModel):
    """The decisions to judge, and how."""

    model_config = ConfigDict(extra="forbid")

    episodes: Annotated[int, Field(ge=1, le=MAX_EPISODES), NO_BOOLEAN] = USUAL_EPISODES
    every: Annotated[int, Field(ge=1, le=MAX_EVERY), NO_BOOLEAN] | None = Field(
        default=None,
        description=f"Judge every k-th decision of an episode. By default, k is chosen so that about {USUAL_MOMENTS} "
        "decisions are judged.",
    )
    futures: Annotated[int, Field(ge=MIN_FUTURES, le=MAX_FUTURES), NO_BOOLEAN] = Field(
        default=USUAL_FUTURES, description="Futures of each decision, and of each of its actions."
    )
    horizon: Annotated[int, Field(ge=1, le=MAX_HORIZON), NO_BOOLEAN] = Field(
        default=USUAL_HORIZON, description="Longest future, in decisions."
    )
    measure_regret: Truth = Field(
        default=True,
        description="Also force each action first, to measure the regret. This multiplies the time by the number of "
        "actions. Scheduled calibrations leave it out.",
    )


class LossBounds(ResultPart):
    """Estimates of the mean return that the chosen action loses against the best one.

    On average over many futures, the truth is between them. Futures that did not choose the best action estimate at
    least how much; the highest of noisy means is too high, so it estimates at most how much.
    """

    at_least: float
    at_most: float


class Regret(LossBounds):
    """Mean bounds over all moments, and a 95 % interval of the regret that contains both errors."""

    interval: Interval | None = Field(description="None for a single episode.")


def _without_biased_regret(regret: Any) -> Any:
    """Leave out the regret of earlier versions, which was too low on average."""
    return None if isinstance(regret, float | int) or (isinstance(regret, dict) and "mean" in regret) else regret


UNBIASED = BeforeValidator(_without_biased_regret)


class JudgedMoment(ResultPart):
    """The value at one decision, and the mean discounted return of its futures."""

    episode: Count
    decision: Count
    value: float
    mean: float
    interval: Interval
    standard_error: float = Field(description="Standard error of the mean.")
    regret: Annotated[LossBounds | None, UNBIASED] = Field(
        description="None for continuous actions, or if it was not measured."
    )
    bootstrap_weight: float = Field(
        default=0.0, description="Mean weight, γ to the length, of the critic's own value at the end of a future."
    )


class CalibrationBin(ResultPart):
    """Moments with similar values."""

    count: Count
    value: float = Field(description="Mean value of the moments.")
    mean: float = Field(description="Mean return of their futures.")
    interval: Interval | None = Field(description="95 % t-interval of the mean return, clustered by episode.")


class CalibrationErrors(ResultPart):
    """Errors of a checkpoint's values. All intervals are clustered by episode, and None for a single one."""

    bias: float = Field(description="Mean of value − mean return; positive if the critic overestimates.")
    bias_interval: Interval | None = Field(description="95 % t-interval.")
    bootstrap_weight: float = Field(
        default=0.0,
        description="Mean weight of the critic's own values in the returns. An error of all values by the same amount "
        "shows as a bias that is smaller by this share.",
    )
    rmse: float = Field(
        description="Root mean square of value − mean return, corrected for the noise of the mean returns."
    )
    rmse_interval: Interval | None = Field(default=None, description="95 % interval by the jackknife.")
    correlation: float | None = Field(
        description="Correlation of values and mean returns; None if one of them is constant."
    )
    correlation_interval: Interval | None = Field(default=None, description="95 % interval by the jackknife.")
    skill: float | None = Field(
        default=None,
        description="1 − MSE / variance of the returns between decisions: 1 if all values are right, 0 if they are no "
        "better than always predicting the mean return. None if the returns do not differ.",
    )
    skill_interval: Interval | None = Field(default=None, description="95 % interval by the jackknife.")
    regret: Annotated[Regret | None, UNBIASED] = Field(
        description="None for continuous actions, or if it was not measured."
    )


class CalibrationDocument(CalibrationErrors):
    """Errors of a checkpoint's values, measured with futures at decisions of several episodes."""

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
    bins: list[CalibrationBin] = Field(description="Equal numbers of moments, in the order of their values.")
    worst: list[JudgedMoment] = Field(description="The moments with the largest errors.")
    moments: list[JudgedMoment]
    warnings: list[Text] = Field(default=[], description="What makes the errors differ from those in training.")
    seconds: float
