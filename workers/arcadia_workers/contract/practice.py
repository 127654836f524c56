"""Practice: runs whose episodes begin at an agent's mistakes, and the document of what they changed.

A run with `PracticeConfig` in its configuration begins a share of its episodes some decisions before a mistake that a
review has shown. A practice compares such a run with its control, which begins none of them there.
"""

import json
import math
import string
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from arcadia_workers.contract.futures import Interval, ResultPart
from arcadia_workers.contract.inference.losses import smallest_shown
from arcadia_workers.contract.protocols.document import Acting, PlayedEpisode
from arcadia_workers.contract.protocols.starts import SEEDS
from arcadia_workers.contract.review import ReviewDocument, ReviewedDecision
from arcadia_workers.contract.values import NO_BOOLEAN, Count, Text

# The symbol of each action in a text of actions.
ACTION_SYMBOLS = string.digits + string.ascii_letters
USUAL_SHARE, USUAL_BEFORE, USUAL_REVIEWS, USUAL_EVALUATIONS = 0.5, 10, 4, 30
MAX_BEFORE, MAX_EPISODES, MAX_DECISIONS = 10_000, 1_000, 100_000
DIGEST_BYTES = 4
MAX_PAIRS, MAX_EVALUATIONS, MAX_STEPS = 100, 10_000, 10_000_000_000
# An interval over pairs needs this many.
MIN_PAIRS = 3
# One pair can show an improvement only if this many mistakes are kept: with fewer, even the largest one is not shown.
MIN_MOMENTS = 7
# Mistakes of an episode that are nearer belong to one group, of which only the first is measured.
APART = 60
# By default, an arm trains this share of the steps of the checkpoint.
MIN_STEPS, STEPS_SHARE = 10_000, 10
# Futures of each agent at each mistake that is kept from practice.
FUTURES = 64

Share = Annotated[float, Field(ge=0, le=1), NO_BOOLEAN]
Before = Annotated[int, Field(ge=0, le=MAX_BEFORE), NO_BOOLEAN]
_Decision = Annotated[int, Field(ge=0, le=MAX_DECISIONS), NO_BOOLEAN]


class PracticedEpisode(BaseModel):
    """An episode up to its last practiced mistake, as its seed and actions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: Annotated[int, Field(ge=0, lt=SEEDS), NO_BOOLEAN] = Field(description="Seed of the environment.")
    noops: Annotated[int, Field(ge=0, le=1_000), NO_BOOLEAN] = Field(
        default=0, description="Frames without action before the first decision."
    )
    actions: str = Field(
        pattern="^[0-9a-zA-Z]*$",
        max_length=MAX_DECISIONS,
        description="Actions before the last mistake, one character each: 0 to 9, then a to z, then A to Z.",
    )
    mistakes: tuple[_Decision, ...] = Field(min_length=1, description="Decisions that were mistakes, in order.")
    seen: float = Field(description="Mean of the observation at the last mistake, to check that it is reached again.")
    score: float = Field(description="Score before the last mistake, to check the same.")

    @model_validator(mode="after")
    def actions_lead_to_the_mistakes(self) -> "PracticedEpisode":
        """Require ascending mistakes, and the actions before the last one."""
        if list(self.mistakes) != sorted(set(self.mistakes)):
            raise ValueError("the mistakes must be in ascending order, each once")
        if len(self.actions) != self.mistakes[-1]:
            raise ValueError(f"give the {self.mistakes[-1]} actions before the last mistake, not {len(self.actions)}")
        return self

    def starts(self, before: int) -> list[int]:
        """Return the decisions at which practice begins, in order."""
        return sorted({max(0, mistake - before) for mistake in self.mistakes})


class PracticeConfig(BaseModel):
    """Where a run begins its episodes. Each start is equally probable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: Share = Field(default=USUAL_SHARE, description="Share of episodes that begin before a mistake.")
    before: Before = Field(default=USUAL_BEFORE, description="Decisions between the start and the mistake.")
    repeat_action_probability: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0, description="Probability with which the emulator repeated actions in these episodes."
    )
    episodes: tuple[PracticedEpisode, ...] = Field(min_length=1, max_length=MAX_EPISODES)


def listed(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a run's configuration as tables list them: the share of a practice instead of its starts."""
    practice = config.get("practice")
    # A script may report a field of the same name.
    if not isinstance(practice, dict) or not {"share", "episodes"} <= practice.keys():
        return config
    return {name: value for name, value in config.items() if name != "practice"} | {"practice.share": practice["share"]}


def compared(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a configuration as comparisons need them: a hash tells different starts apart."""
    fields = listed(config)
    if fields is config:
        return config
    starts = {name: value for name, value in config["practice"].items() if name != "share"}
    digest = blake2b(json.dumps(starts, sort_keys=True).encode(), digest_size=DIGEST_BYTES)
    return {**fields, "practice.starts": digest.hexdigest()}


class PracticeOptions(BaseModel):
    """How to practice, and how to measure what it changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: Share = Field(default=USUAL_SHARE, description="Share of episodes that begin before a mistake.")
    before: Before = Field(default=USUAL_BEFORE, description="Decisions between such a start and the mistake.")
    steps: Annotated[int, Field(ge=1, le=MAX_STEPS), NO_BOOLEAN] | None = Field(
        default=None, description="Steps of each arm. By default a tenth of those of the checkpoint, at least 10,000."
    )
    pairs: Annotated[int, Field(ge=1, le=MAX_PAIRS), NO_BOOLEAN] = Field(
        default=1, description="Pairs of practice and control. Each has another seed."
    )
    evaluations: Annotated[int, Field(ge=2, le=MAX_EVALUATIONS), NO_BOOLEAN] = Field(
        default=USUAL_EVALUATIONS, description="Evaluation episodes of each arm."
    )

    @field_validator("share")
    @classmethod
    def practice_differs_from_its_control(cls, share: float) -> float:
        """Reject a share of 0, with which both arms would be the same."""
        if share == 0:
            raise ValueError("give a share above 0: with 0, practice and its control are the same")
        return share

    @field_validator("pairs")
    @classmethod
    def pairs_have_an_interval(cls, pairs: int) -> int:
        """Reject numbers of pairs that are too few for an interval over them."""
        if 1 < pairs < MIN_PAIRS:
            raise ValueError(f"give 1, or at least {MIN_PAIRS}: an interval over pairs needs that many")
        return pairs

    def steps_after(self, checkpoint_step: int) -> int:
        """Return the steps of each arm, which continues from this step."""
        return self.steps or max(MIN_STEPS, math.ceil(checkpoint_step / STEPS_SHARE))


Mistakes = list[tuple[int, list[ReviewedDecision]]]
"""Some mistakes of some episodes, by the number of the episode."""


class TooFewMistakesError(Exception):
    """The reviews show too few mistakes to practice and to measure."""


def mistakes_of(review: ReviewDocument) -> list[ReviewedDecision]:
    """Return the mistakes of an episode in order."""
    return sorted((each for each in review.reviewed if each.finding == "mistake"), key=lambda each: each.decision)


def groups(mistakes: Sequence[ReviewedDecision]) -> list[list[ReviewedDecision]]:
    """Return the mistakes of an episode, of which those that are near each other belong together."""
    grouped = [[each] for each in mistakes[:1]]
    for before, each in pairwise(mistakes):
        if each.decision - before.decision < APART:
            grouped[-1].append(each)
        else:
            grouped.append([each])
    return grouped


def split(episodes: Sequence[Sequence[ReviewedDecision]], pairs: int) -> tuple[Mistakes, Mistakes]:
    """Return the mistakes to practice, and the first of each group to keep from practice.

    Every other episode with mistakes is practiced. No episode is split, because an episode that begins at a practiced
    mistake plays on through all later decisions, so it could reach a kept one.
    """
    failed = [(number, mistakes) for number, mistakes in enumerate(episodes) if mistakes]
    if not failed:
        raise TooFewMistakesError(
            "the reviews show no mistake, so there is nothing to practice: review more episodes or more decisions"
        )
    practiced = [(number, list(mistakes)) for number, mistakes in failed[::2]]
    kept = [(number, [first for first, *_ in groups(mistakes)]) for number, mistakes in failed[1::2]]
    count = sum(len(mistakes) for _, mistakes in kept)
    if not count:
        raise TooFewMistakesError(
            "the reviews show mistakes in a single episode, and none would be left to measure what practice changes: "
            "review more episodes"
        )
    if pairs < MIN_PAIRS and count < MIN_MOMENTS:
        raise TooFewMistakesError(
            f"{count} {'mistake' if count == 1 else 'mistakes'} would be kept to measure, and one pair needs at least "
            f"{MIN_MOMENTS} to show any improvement: review more episodes or more decisions, or train {MIN_PAIRS} "
            "pairs or more"
        )
    return practiced, kept


def smallest_improvement(scales: Sequence[float], pairs: int) -> float | None:
    """Return the smallest mean rise of the outcome that can be shown at kept mistakes with these scales.

    None if the interval is over pairs, or if nothing can be shown.
    """
    if pairs >= MIN_PAIRS or not scales:
        return None
    return smallest_shown(len(scales), 2 * max(scales))


# improved, harmed: the interval excludes 0. Otherwise nothing is shown, which does not mean that nothing changed.
Verdict = Literal["improved", "no improvement shown", "harmed"]
# What the interval is over. Over moments or episodes, it speaks about these two agents. Over pairs, about practice.
Unit = Literal["moment", "episode", "pair"]
ArmName = Literal["practice", "control"]
ARMS: tuple[ArmName, ArmName] = ("practice", "control")


def verdict_of(interval: Interval | None) -> Verdict:
    """Return the verdict of the interval of a difference, practice minus control."""
    if interval is None or interval[0] <= 0 <= interval[1]:
        return "no improvement shown"
    return "improved" if interval[0] > 0 else "harmed"


class Difference(ResultPart):
    """A mean difference, practice minus control, with its 95 % interval."""

    mean: float
    interval: Interval | None = Field(description="None if there are too few units for an interval.")
    unit: Unit = Field(
        description="What the interval is over. moment, episode: it speaks about these two trained agents. pair: it "
        "speaks about practice of this agent, because each pair was trained with another seed."
    )
    count: Count = Field(description="Number of units.")
    verdict: Verdict


def describe_verdict(difference: Difference) -> str:
    """Return a verdict in words. One pair shows something about its two agents, and nothing about practice."""
    if difference.unit == "pair" or difference.verdict == "no improvement shown":
        return difference.verdict
    return f"{difference.verdict}, for this pair of agents"


class ConfirmedMistake(ResultPart):
    """A mistake that a review has shown."""

    seed: Count
    episode: Count
    decision: Count
    taken: Text
    better: Text


class PracticedMistake(ConfirmedMistake):
    """A mistake from which the agent practiced."""

    start: Count = Field(description="The decision at which practice begins.")


class AgentAtMoment(ResultPart):
    """What an agent does at a moment."""

    outcome: float = Field(description="Mean outcome of fresh futures in which the agent plays on.")
    probability: float = Field(description="Probability that the agent takes the action that was a mistake.")


class HeldOutMoment(ConfirmedMistake):
    """A mistake that was kept from practice, with what each agent does there."""

    scale: float = Field(description="Largest magnitude of an outcome. Others are limited to it.")
    was_practiced: bool = Field(
        description="Whether a practiced mistake shows the same observation, so that this one is not new."
    )
    before: AgentAtMoment = Field(description="The agent before practice.")
    practice: list[AgentAtMoment] = Field(description="The agent after practice, for each pair.")
    control: list[AgentAtMoment] = Field(description="The agent of the control, for each pair.")


class PlannedMoment(ConfirmedMistake):
    """A mistake that is kept from practice."""

    scale: float
    was_practiced: bool


class HeldOutEpisode(ResultPart):
    """A reviewed episode up to the last mistake that is kept from practice."""

    seed: Count
    episode: Count
    actions: str


class PracticePlan(ResultPart):
    """Everything that is decided before practice."""

    checkpoint_sha256: str
    checkpoint_step: Count
    protocol: str
    options: PracticeOptions
    steps: Count
    horizon: Count
    evaluation_seed: Count
    practice: PracticeConfig
    practiced: list[PracticedMistake]
    held_out: list[PlannedMoment]
    held_out_episodes: list[HeldOutEpisode]

    def changes(self, name: ArmName, pair: int, seed: int) -> dict[str, Any]:
        """Return the fields that an arm changes in the run's configuration. Those of a pair differ only in the share.

        `seed` is that of the run.
        """
        share = self.options.share if name == "practice" else 0.0
        return {
            "practice": self.practice.model_copy(update={"share": share}),
            "total_steps": self.checkpoint_step + self.steps,
            "seed": (seed + pair - 1) % 2**31,
        }


class AgentMeasurement(ResultPart):
    """What an agent does at the held-out moments, and its evaluation episodes."""

    moments: list[AgentAtMoment]
    episodes: list[PlayedEpisode]
    seconds: float


class TrainedArm(ResultPart):
    """One of the two runs of a pair, with what its agent does once that is measured."""

    name: ArmName
    pair: Count
    directory: Text | None = None
    run_id: Count | None = None
    seed: Count
    training_seconds: float = 0.0
    measured: AgentMeasurement | None = None


class Arm(ResultPart):
    """One of the two runs of a pair."""

    name: ArmName
    pair: Count = Field(description="Number of the pair, from 1.")
    directory: Text | None = Field(default=None, description="The run directory, for `arcadia practice`.")
    run_id: Count | None = Field(default=None, description="The run on the server.")
    seed: Count
    share: float = Field(description="Share of episodes that begin before a mistake.")
    first_step: Count
    last_step: Count
    outcome: float = Field(description="Mean outcome over the held-out moments.")
    probability: float = Field(description="Mean probability of repeating the held-out mistakes.")
    score: float = Field(description="Mean score of the evaluation episodes.")
    scores: list[float]


class PracticeCost(ResultPart):
    """What practice cost."""

    training_steps: Count = Field(description="Steps of all arms together.")
    futures: Count = Field(description="Futures simulated after training.")
    evaluation_episodes: Count = Field(description="Evaluation episodes of all arms together.")
    training_seconds: float
    measuring_seconds: float = Field(description="Time of the futures and the evaluation episodes.")


class PracticeDocument(ResultPart):
    """What practice changed, beside training on from the same checkpoint without it."""

    env: Text
    algorithm: Text
    checkpoint_step: Count
    protocol: Text
    acting: Acting
    seed: Count
    share: float
    before: Count
    steps: Count = Field(description="Steps of each arm.")
    pairs: Count
    futures: Count = Field(description="Futures of each agent at each held-out moment.")
    horizon: Count
    gamma: float
    clip_rewards: bool
    evaluation_seed: Count
    practiced: list[PracticedMistake]
    held_out: list[HeldOutMoment]
    arms: list[Arm]
    mistakes: Difference = Field(description="Did these mistakes become rarer? Outcomes at the held-out moments.")
    repeated: Difference = Field(
        description="Probability of repeating the held-out mistakes. Here a negative difference is an improvement."
    )
    score: Difference = Field(description="Did the score rise? Evaluation episodes with shared seeds.")
    cost: PracticeCost
