"""Configuration fields of actor-critic methods."""

from pydantic import Field

from workers.contract.config.changeable import DECAYING
from workers.contract.config.fields import DECAY, OPTIMIZATION, Decay, TrainingConfig


class ActorCriticFields(TrainingConfig):
    """Fields for the weight of the policy's entropy."""

    entropy_cost: float = Field(
        default=0.01,
        ge=0,
        le=10,
        title="Entropy weight",
        description="β: how much the policy's entropy is rewarded, which keeps it exploring; 0.01 on Atari in the "
        "papers, 0.0001 for continuous actions in A3C's.",
        json_schema_extra=OPTIMIZATION | DECAYING,
    )
    entropy_cost_decay: Decay = Field(
        default="none",
        title="Entropy weight decay",
        description=f"{DECAY} The papers keep β; as it falls, the policy comes to act as it does greedily.",
        json_schema_extra=OPTIMIZATION | DECAYING,
    )
