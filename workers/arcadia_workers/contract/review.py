"""Requests and documents of reviews: at which decisions of an episode did the agent lose, and how sure is that?

A mistake is a decision with a one-step loss: another action has a better mean outcome if the agent then continues as
it does. The outcome is the discounted clipped reward up to the next reward or lost life. Without clipping, it is
the discounted reward of the whole future.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from arcadia_workers.contract.futures import MAX_HORIZON, USUAL_HORIZON, MeanReturn, ResultPart
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.contract.values import NO_BOOLEAN, Count, Text

# Futures of each action in the screen, which chooses the action to test.
SCREENED = 16
# Each kept decision takes about 40 kB of memory.
MAX_REVIEWED, USUAL_REVIEWED = 2_000, 60
MAX_EVERY = 1_000_000
USUAL_REVIEWED_EPISODES, MAX_REVIEWED_EPISODES = 3, 100

# The protocol of a review whose episode is a kept game.
KEPT_GAME = "kept-game"

Reason = Literal["lost", "unlikely", "unsure", "every"]
Finding = Literal["waiting", "no challenger", "testing", "not shown", "mistake"]


class ReviewOptions(BaseModel):
    """The decisions to review."""

    model_config = ConfigDict(extra="forbid")

    decisions: Annotated[int, Field(ge=1, le=MAX_REVIEWED), NO_BOOLEAN] = Field(
        default=USUAL_REVIEWED,
        description="Decisions to review. They are chosen by what the episode shows: before a lost point or life, "
        "improbable actions, and decisions at which the agent is unsure.",
    )
    every: Annotated[int, Field(ge=1, le=MAX_EVERY), NO_BOOLEAN] | None = Field(
        default=None, description="Review every k-th decision of the episode instead."
    )
    horizon: Annotated[int, Field(ge=1, le=MAX_HORIZON), NO_BOOLEAN] = Field(
        default=USUAL_HORIZON, description="Longest future, in decisions."
    )


class AgentMistakes(ResultPart):
    """Mistakes of one checkpoint at the same moments as those of others."""

    checkpoint_step: Count
    reviewed: Count
    mistakes: Count = Field(description="Mistakes shown, over all episodes.")
    loss: MeanReturn = Field(
        description="Mean loss of a decision, of the means of the episodes. It is a lower bound, because a decision "
        "whose screen shows no better action counts as 0."
    )
    simulations: Count
    seconds: float


class MistakesDocument(ResultPart):
    """Mistakes of several checkpoints at the same moments, which are spread evenly over episodes of one of them."""

    env: Text
    algorithm: Text
    protocol: Text
    seed: Count
    episodes: Count
    horizon: Count
    played_by: Count = Field(description="Step of the checkpoint that played the episodes.")
    checkpoints: list[AgentMistakes]


class ReviewedDecision(ResultPart):
    """What is known about one decision."""

    decision: Count
    reason: Reason = Field(
        description="lost: before a lost point or life. unlikely: an improbable action. unsure: the agent was unsure. "
        "every: every k-th decision."
    )
    taken: Text
    finding: Finding = Field(
        default="waiting",
        description="waiting: not simulated yet. no challenger: no other action had better outcomes in the screen. "
        "testing: more pairs can show a mistake. not shown: the test ended without showing one, which does not mean "
        "that the action was good. mistake: at most 5 % of the mistakes of a review are false on average.",
    )
    better: Text | None = Field(default=None, description="The action with the best outcomes in the screen.")
    scale: float = Field(default=1.0, description="Largest magnitude of an outcome.")
    screened: Count = Field(default=0, description="Futures of each action in the screen.")
    pairs: Count = Field(default=0, description="Fresh pairs of futures in the test.")
    log_capitals: list[float] = Field(
        default=[], description="Logarithms of the capitals of the bets on the pairs, whose mean is the e-value."
    )
    e_value: float = Field(default=1.0, description="Evidence for a loss above 2 % of the scale.")
    loss: MeanReturn | None = Field(
        default=None,
        description="Mean difference of the outcomes in other futures, for mistakes. Its 95 % interval holds for any "
        "distribution of the outcomes.",
    )
    score_loss: float | None = Field(default=None, description="Mean difference of the raw scores in these futures.")
    taken_outcome: MeanReturn | None = Field(
        default=None,
        description="Mean outcome of the action taken, with a 95 % interval for any distribution. It is of the screen, "
        "and of the futures that measure the loss for mistakes. Earlier versions did not keep it.",
    )
    better_outcome: MeanReturn | None = Field(
        default=None,
        description="The same of the better action, for mistakes only: its outcomes in the screen are overstated, "
        "because they chose it.",
    )


class Situation(ResultPart):
    """Mistakes at similar moments: the agent's network has similar features there."""

    decisions: list[Count] = Field(description="In the order of the episode.")
    shown: Count = Field(description="The decision that is most similar to the others.")


class ReviewDocument(ResultPart):
    """A review of one episode. It can be continued from this document."""

    env: Text
    algorithm: Text
    checkpoint_step: Count
    protocol: Text
    seed: Count
    episode: Count
    acting: Acting
    horizon: Count
    gamma: float
    clip_rewards: bool
    decisions: Count = Field(description="Decisions of the episode.")
    score: float = Field(description="Score of the episode.")
    reviewed: list[ReviewedDecision] = Field(description="In the order in which they are reviewed.")
    situations: list[Situation] = Field(
        default=[], description="The measured mistakes by situation, the most costly situation first."
    )
    simulations: Count = Field(description="Simulated futures.")
    seconds: float
