"""Requests and documents of futures and of calibrations."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.contract.values import NO_BOOLEAN, Count, ShortText, SmallCount, Text, Truth

MIN_FUTURES, MAX_FUTURES, USUAL_FUTURES = 8, 256, 64
MAX_HORIZON, USUAL_HORIZON = 10_000, 200
# Pairs of futures in the test of another action.
MAX_PAIRS = 256
# Usual number of simulations in this test: two blocks of each action.
USUAL_BLOCKS = 4
Until = Literal["horizon", "reward", "life", "outcome"]
Interval = tuple[float, float]
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.01, 100.0
Temperature = Annotated[float, Field(ge=MIN_TEMPERATURE, le=MAX_TEMPERATURE), NO_BOOLEAN]
Shown = Literal["best", "median", "worst", "ghosts", "first"]
# Futures that videos show if they are chosen by their numbers.
FILMED = 3
FAN = (0.05, 0.25, 0.5, 0.75, 0.95)


class ResultPart(BaseModel):
    """Part of a document with results."""

    # NaN and infinity are valid values. JSON has them as the strings "NaN", "Infinity" and "-Infinity".
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


class Future(ResultPart):
    """One simulated continuation of an episode."""

    discounted_return: float = Field(
        description="Discounted sum of the rewards as training counts them, plus the bootstrap."
    )
    bootstrap: float | None = Field(
        description="The discounted value of the last state in the return; None if a terminal state ended the return."
    )
    score: float = Field(description="Sum of the raw rewards, without discount.")
    decisions: Count
    life_lost_after: Count | None = Field(description="Decisions until the first lost life; None if none was lost.")
    ended: Literal["over", "cut off", "stopped"] = Field(
        description="over: the game ended. cut off: a time limit was reached. stopped: at the horizon, a reward or a "
        "lost life."
    )


class MeanReturn(ResultPart):
    """Mean over futures, with its 95 % t-interval."""

    count: Count
    mean: float | None = Field(description="None if there are no futures.")
    interval: Interval | None = Field(
        description="None for fewer than three futures, and if most have the same return."
    )


class ActionFutures(MeanReturn):
    """Discounted return of the futures that begin with one action."""

    name: Text
    probability: float | None = Field(
        description="Probability under the policy at temperature 1; None for methods that learn values."
    )
    action_value: float | None = Field(description="Q(s, a); None for methods that learn a policy.")


class Challenge(ResultPart):
    """Test of the action with the best futures against the taken one, with fresh pairs of futures.

    A pair shares its random numbers. Its outcome is the discounted reward up to the first reward or lost life, or
    of the whole future if rewards are not clipped. The critic's values play no part.
    """

    taken: Text
    action: Text | None = Field(description="None if no action had better outcomes than the taken one.")
    scale: float = Field(description="Largest magnitude of an outcome.")
    pairs: Count = Field(default=0, description="Fresh pairs in the test.")
    e_value: float = Field(
        default=1.0, description="Evidence that the action is better by more than 2 % of the scale. 20 shows it."
    )
    is_better: bool = Field(default=False, description="True if it is shown. This is false in at most 5 % of tests.")
    pairs_needed: Count | None = Field(
        default=None, description="Pairs that would show it if they continued as so far. None if they would not."
    )
    loss: MeanReturn | None = Field(
        default=None, description="Mean difference of the outcomes in other futures. None unless it is better."
    )


class FuturesVideo(ResultPart):
    """Video that begins with the picture of the decision."""

    shows: Shown = Field(
        description="The future with the best, median or worst return, all futures blended, or one of the first."
    )
    future: Count | None = Field(description="Its index in `futures`; None for ghosts.")
    file: Text


class FuturesDocument(MeanReturn):
    """Futures of one decision, and their mean discounted return.

    Value, discount and rewards are those of the agent that acts in the futures.
    """

    env: Text
    algorithm: Text
    checkpoint_step: Count
    protocol: Text
    seed: Count
    episode: Count
    decision: Count
    horizon: Count
    until: Until
    first: list[Text] = Field(description="The forced first actions.")
    acting: Acting
    temperature: float = Field(default=1.0, description="Divisor of the policy's logits.")
    agent: Text | None = Field(description="The run directory of another agent that acts in the futures.")
    agent_step: Count | None
    gamma: float
    clip_rewards: bool
    value: float = Field(description="V(s), or the highest Q(s, a), at the decision.")
    returns: list[float] = Field(description="The discounted return of each future.")
    terminal: MeanReturn = Field(description="Futures whose return ended in a terminal state.")
    bootstrapped: MeanReturn = Field(description="Futures whose return ends in the value of their last state.")
    score: MeanReturn = Field(description="Sum of the raw rewards, without discount.")
    score_fan: list[list[float]] = Field(
        description="Quantiles of the score (5, 25, 50, 75 and 95 %) after each decision. Futures that have ended "
        "keep their score."
    )
    survival: list[float] = Field(
        description="Share of futures that, after each decision, have neither lost a life nor reached the game's end."
    )
    actions: list[ActionFutures] = Field(description="The futures of each action, if requested.")
    challenge: Challenge | None = Field(
        default=None, description="Whether another action would have been better, if each action was requested."
    )
    futures: list[Future]
    videos: list[FuturesVideo] = Field(default=[], description="The videos, if requested.")
    seconds: float


class FuturesOptions(BaseModel):
    """Options of a simulation from a decision."""

    model_config = ConfigDict(extra="forbid")

    decision: SmallCount = Field(description="The decision to continue from, counted from 0.")
    futures: Annotated[int, Field(ge=MIN_FUTURES, le=MAX_FUTURES), NO_BOOLEAN] = Field(
        default=USUAL_FUTURES, description=f"Number of futures, {MIN_FUTURES} to {MAX_FUTURES}."
    )
    horizon: Annotated[int, Field(ge=1, le=MAX_HORIZON), NO_BOOLEAN] = Field(
        default=USUAL_HORIZON, description="Longest future, in decisions."
    )
    until: Until = Field(
        default="horizon",
        description="Also stop at the next reward or lost life. outcome: at the next of both.",
    )
    first: list[ShortText] = Field(
        default=[], max_length=USUAL_HORIZON, description="Names of actions that every future begins with, in order."
    )
    each_action: Truth = Field(default=False, description="Also force each action first and compare them.")
    record_videos: bool | None = Field(
        default=None,
        description="Render videos of the best, median and worst future, and of all futures blended. "
        f"Default: for up to {USUAL_FUTURES} futures.",
    )
    videos_of: Literal["ranked", "first"] = Field(
        default="ranked",
        description=f"first: render the first {FILMED} futures instead. Futures of a decision with the same number "
        "share their random numbers, so those of different first actions can be compared.",
    )
    temperature: Temperature = Field(
        default=1.0,
        description="Divides the logits of the policy, or multiplies the variance of continuous actions. "
        "Above 1, futures explore more. Only for agents that draw actions from a policy.",
    )

    def work(self, actions: int) -> int:
        """Return the total length of the simulations in decisions, for an environment with `actions` actions."""
        return self.horizon * (1 + (actions + USUAL_BLOCKS) * self.each_action + self.renders_videos)

    @property
    def renders_videos(self) -> bool:
        """True if videos are requested, or are the default for this number of futures."""
        return self.futures <= USUAL_FUTURES if self.record_videos is None else self.record_videos

    @model_validator(mode="after")
    def forces_in_one_way(self) -> Self:
        """Raise if both a sequence and each action are forced."""
        if self.first and self.each_action:
            raise ValueError("each_action already forces the first action: remove first")
        return self


USUAL_EPISODES, MAX_EPISODES = 10, 100
MAX_EVERY = 1_000_000
USUAL_CALIBRATION_FUTURES = 16
# Approximate number of judged decisions if `every` is not given.
USUAL_MOMENTS, MAX_MOMENTS = 40, 1_000
MAX_BINS = 10
MAX_WORST = 5


class CalibrationOptions(BaseModel):
    """The decisions to judge, and how."""

    model_config = ConfigDict(extra="forbid")

    episodes: Annotated[int, Field(ge=1, le=MAX_EPISODES), NO_BOOLEAN] = Field(
        default=USUAL_EPISODES, description="Episodes to play."
    )
    every: Annotated[int, Field(ge=1, le=MAX_EVERY), NO_BOOLEAN] | None = Field(
        default=None,
        description=f"Judge every k-th decision of an episode. By default, k is chosen so that about {USUAL_MOMENTS} "
        "decisions are judged.",
    )
    futures: Annotated[int, Field(ge=MIN_FUTURES, le=MAX_FUTURES), NO_BOOLEAN] = Field(
        default=USUAL_CALIBRATION_FUTURES,
        description=f"Futures of each decision, and of each of its actions, {MIN_FUTURES} to {MAX_FUTURES}.",
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

    interval: Interval | None = Field(description="None for a single episode, and if no losses differ.")


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
    interval: Interval | None = Field(description="None if most futures have the same return.")
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
    """Errors of a checkpoint's values. All intervals are clustered by episode. None for a single one."""

    bias: float = Field(description="Mean of value − mean return; positive if the critic overestimates.")
    bias_interval: Interval | None = Field(description="95 % t-interval.")
    bootstrap_weight: float = Field(
        default=0.0,
        description="Mean weight of the critic's own values in the returns. An error of all values by the same amount "
        "shows as a bias that is smaller by this share.",
    )
    rmse: float = Field(
        description="Root mean square of value − mean return, corrected for the noise of the mean returns. At least "
        "the magnitude of the bias. It has no interval, because a few episodes may lack the rare large errors."
    )
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

    @model_validator(mode="before")
    @classmethod
    def read_earlier_errors(cls, errors: Any) -> Any:
        """Leave out the interval of the RMSE of earlier versions, which was too narrow."""
        if not isinstance(errors, dict):
            return errors
        return {name: value for name, value in errors.items() if name != "rmse_interval"}

    @model_validator(mode="after")
    def rmse_contains_the_bias(self) -> Self:
        """Correct an RMSE of earlier versions, which could be below the bias."""
        if self.rmse < abs(self.bias):
            self.rmse = abs(self.bias)
        return self


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
