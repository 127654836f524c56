"""How an agent acts in an evaluation, and its results: what `arcadia evaluate --json` prints."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from arcadia_workers.contract.protocols.protocol import StartPlayer
from arcadia_workers.contract.values import NO_BOOLEAN, Count, Text

# sampled: drawn from the policy. greedy: the action of the highest value or probability. epsilon-greedy: the same, but
# at random with probability ε. random: uniformly at random, without an agent.
ActingName = Literal["sampled", "greedy", "epsilon-greedy", "random"]
USUAL_EPSILON = 0.05


class Acting(BaseModel):
    """A way to choose actions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ActingName
    epsilon: Annotated[float, Field(ge=0, le=1), NO_BOOLEAN] | None = Field(
        default=None, description="Share of random actions. Only for epsilon-greedy."
    )

    @model_validator(mode="after")
    def epsilon_belongs_to_epsilon_greedy(self) -> "Acting":
        """Require ε for epsilon-greedy, and reject it otherwise."""
        if (self.epsilon is None) == (self.name == "epsilon-greedy"):
            needed = "needs an ε between 0 and 1" if self.epsilon is None else "takes no ε"
            raise ValueError(f"acting {self.name} {needed}")
        return self

    def __str__(self) -> str:
        return self.name if self.epsilon is None else f"{self.name} ({self.epsilon:g})"


SAMPLED, GREEDY, RANDOM = Acting(name="sampled"), Acting(name="greedy"), Acting(name="random")
# As in the evaluations of DQN and Gorila.
EPSILON_GREEDY = Acting(name="epsilon-greedy", epsilon=USUAL_EPSILON)


class _Part(BaseModel):
    # NaN and infinity are valid values. JSON has them as the strings "NaN", "Infinity" and "-Infinity".
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


class PlayedEpisode(_Part):
    """One episode of an evaluation."""

    number: Count = Field(description="Index of the episode in its evaluation, from 0.")
    score: float = Field(description="Sum of the raw, unclipped rewards that count.")
    frames: Count = Field(description="Frames since the reset, including those before the agent took over.")
    frames_before: Count = Field(description="Frames before the agent took over: no-ops, or those of a start point.")
    length: Count = Field(description="Number of the agent's decisions.")
    ended: Literal["over", "cut off"] = Field(description="cut off: by the protocol's cap or a time limit.")
    play: Text | None = Field(
        default=None,
        description="Hash of the agent's actions. Episodes with the same one repeat each other. None in evaluations of "
        "earlier versions.",
    )


class NormalizedBy(_Part):
    """The published table whose random and human scores are 0 and 100."""

    source: Text
    table: Text
    protocol: Text
    random: float
    human: float


class StartsUsed(_Part):
    """The start set of an evaluation."""

    player: StartPlayer
    sha256: Text
    starts: Count = Field(description="Number of start points in the set.")
    source: Text


class EvaluationDocument(_Part):
    """Scores of one agent by one protocol."""

    protocol: Text
    env: Text
    algorithm: Text | None = Field(description="The method; None for the random policy.")
    checkpoint_step: Count | None = Field(description="None for the random policy.")
    checkpoint_sha256: Text | None = None
    acting: Acting
    seed: Count
    frames_per_action: Count
    unlike_training: list[Text] = Field(
        default_factory=list, description="Differences between the protocol and the training, as sentences."
    )
    starts: StartsUsed | None = None
    scores: list[float] = Field(description="In the order of the episodes.")
    mean: float
    median: float
    distinct: Count | None = Field(
        default=None,
        description="Number of episodes that do not repeat another. None in evaluations of earlier versions.",
    )
    standard_error: float | None = Field(
        description="Standard error of the mean, for which repeated episodes are one. None if all scores are equal."
    )
    interval: tuple[float, float] | None = Field(
        description="95 % t-interval of the mean, for which repeated episodes are one. None for a single episode, and "
        "if most scores are equal."
    )
    human_normalized: float | None = Field(description="100 · (mean − random) / (human − random).")
    normalized_by: NormalizedBy | None = None
    not_normalized_because: Text | None = None
    episodes: list[PlayedEpisode]
    versions: dict[Text, Text] = Field(default_factory=dict)
