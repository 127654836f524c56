"""Configuration fields of actor-critic methods."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from workers.contract.config.changeable import DECAYING
from workers.contract.config.fields import DECAY, NETWORK, OPTIMIZATION, Decay, TrainingConfig
from workers.contract.games import ActionKind


class ActorCriticFields(TrainingConfig):
    """Fields for the weight of the policy's entropy."""

    entropy_cost: float = Field(
        default=0.01,
        ge=0,
        le=10,
        title="Entropy weight",
        description="β: weight of the policy's entropy, which rewards exploration. The papers use 0.01 on Atari; "
        "A3C's paper uses 0.0001 for continuous actions.",
        json_schema_extra=OPTIMIZATION | DECAYING,
    )
    entropy_cost_decay: Decay = Field(
        default="none",
        title="Entropy weight decay",
        description=f"{DECAY} The papers keep β constant. As it falls, sampled actions become closer to greedy ones.",
        json_schema_extra=OPTIMIZATION | DECAYING,
    )


class AgentFields(TrainingConfig):
    """Fields of methods that support memory and continuous actions."""

    lstm_units: int = Field(
        default=0,
        ge=0,
        le=2048,
        title="LSTM cells",
        description="LSTM cells after the last hidden layer; 0: none. A3C's paper uses 256, and 128 for continuous "
        "actions.",
        json_schema_extra=NETWORK,
    )
    value_network: Literal["auto", "shared", "separate"] = Field(
        default="auto",
        title="Value network",
        description="shared: V is a second output of the policy's network; separate: V has its own network; auto: "
        "separate for continuous actions without pixels, as in the papers, else shared.",
        json_schema_extra=NETWORK,
    )

    action_kinds: ClassVar[tuple[ActionKind, ...]] = ("discrete", "continuous")
    shape_fields: ClassVar[tuple[str, ...]] = (*TrainingConfig.shape_fields, "lstm_units", "value_network")

    @property
    def shape(self) -> dict[str, JsonValue]:
        return super().shape | {"value_network": "separate" if self.separate_networks else "shared"}

    @property
    def separate_networks(self) -> bool:
        """True if V has its own network."""
        if self.value_network != "auto":
            return self.value_network == "separate"
        return self.environment.actions == "continuous" and not self.environment.shows_pixels
