"""The ways to choose actions in an evaluation."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workers.contract.values import NO_BOOLEAN

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
