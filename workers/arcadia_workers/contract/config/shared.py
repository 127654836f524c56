"""Configuration fields that several methods share: critics, values, optimizers, centered inputs, and the ceiling."""

from abc import ABC
from dataclasses import dataclass
from math import isclose
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, ValidationInfo, field_validator

from arcadia_workers.contract.config.emulator import DECAYING
from arcadia_workers.contract.config.fields import DECAY, EXPLORATION, NETWORK, OPTIMIZATION, RUN, Decay, TrainingConfig
from arcadia_workers.contract.games import ActionKind
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, Acting


@dataclass(frozen=True)
class Stepping:
    """Number of processes that step a run's environments, and the environments and threads of each."""

    processes: int
    envs: int = 1
    threads: int = 1


class CeilingFields(TrainingConfig):
    """Field of all methods except Gorila, whose actors may run on several hosts.

    A speed compares with the ceiling of the same host, number of environments and load, so each
    attempt measures its own.
    """

    ceiling_seconds: float = Field(
        default=0.0,
        ge=0,
        le=60,
        title="Speed ceiling, seconds",
        description="Before training, measure for this time how fast the environments step without a network, with "
        "random actions and the same processes or threads. No method can be faster on this host. 0: off.",
        json_schema_extra=RUN,
    )

    @property
    def stepping(self) -> Stepping:
        """The processes, environments and threads that step the environments during training."""
        raise NotImplementedError


class CenteredFields(CeilingFields):
    """Field of all methods except Gorila."""

    centered_inputs: bool = Field(
        default=False,
        title="Centered inputs",
        description="Update each layer below the heads, including those below LSTM cells, as if its inputs had mean "
        "0. Otherwise the inputs that all states share can switch filters off permanently (LeCun et al. 1998, section "
        "4.3). The papers do not do this.",
        json_schema_extra=OPTIMIZATION,
    )


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


Probability = Annotated[float, Field(ge=0, le=1)]


class ActionValueConfig(TrainingConfig, ABC):
    """Configuration of a method that learns Q(s, a)."""

    usual_acting: ClassVar[Acting] = EPSILON_GREEDY

    @property
    def streams(self) -> int:
        """The number of streams of hidden units in Q. A dueling network has two."""
        return 1


class ValueBasedFields(ActionValueConfig):
    """Exploration and target-network fields of the A3C paper's value-based methods."""

    final_epsilons: tuple[Probability, ...] = Field(
        default=(0.1, 0.01, 0.5),
        min_length=1,
        max_length=16,
        title="Final ε",
        description="Each environment draws its final share of random actions from these values, so that environments "
        "explore differently. See Frames between ε draws.",
        json_schema_extra=EXPLORATION,
    )
    final_epsilon_probabilities: tuple[Probability, ...] = Field(
        default=(0.4, 0.3, 0.3),
        validate_default=True,
        min_length=1,
        max_length=16,
        title="Final ε probabilities",
        description="The probability of drawing each final ε; they add up to 1.",
        json_schema_extra=EXPLORATION,
    )
    epsilon_anneal_frames: int = Field(
        default=4_000_000,
        ge=0,
        le=10_000_000_000,
        title="Annealing frames",
        description="Emulator frames, over all environments, during which ε falls from 1 to its final value.",
        json_schema_extra=EXPLORATION,
    )
    epsilon_draw_frames: int = Field(
        default=0,
        ge=0,
        le=10_000_000_000,
        title="Frames between ε draws",
        description="Emulator frames, over all environments, after which each environment draws its final ε again. The "
        "A3C paper does so periodically but gives no period. 0: once per run.",
        json_schema_extra=EXPLORATION,
    )
    target_update_frames: int = Field(
        default=40_000,
        ge=1,
        le=10_000_000_000,
        title="Frames between target updates",
        description="I_target: emulator frames after which the target network copies the learned weights.",
        json_schema_extra=OPTIMIZATION,
    )

    @field_validator("final_epsilon_probabilities")
    @classmethod
    def every_epsilon_has_its_probability(
        cls, probabilities: tuple[float, ...], info: ValidationInfo
    ) -> tuple[float, ...]:
        """Require one probability per final ε, with a sum of 1."""
        epsilons = info.data.get("final_epsilons", probabilities)
        if len(epsilons) != len(probabilities):
            raise ValueError(
                f"give as many probabilities as final_epsilons has values: {len(epsilons)}, not {len(probabilities)}"
            )
        if not isclose(sum(probabilities), 1, abs_tol=1e-6):
            raise ValueError(f"the probabilities add up to {sum(probabilities):g}: make them add up to 1")
        return probabilities


class RmsPropFields(TrainingConfig):
    """Fields of RMSProp."""

    rmsprop_decay: float = Field(
        default=0.99,
        ge=0,
        lt=1,
        title="RMSProp decay",
        description="Share of the running mean of squared gradients that an update keeps.",
        json_schema_extra=OPTIMIZATION,
    )
    rmsprop_epsilon: float = Field(
        default=0.1,
        gt=0,
        le=10,
        title="RMSProp ε",
        description="Added to the mean squared gradient inside the root: Δθ = α·g / √(mean g² + ε).",
        json_schema_extra=OPTIMIZATION,
    )


class AdamFields(TrainingConfig):
    """Fields of Adam."""

    adam_beta1: float = Field(
        default=0.9,
        ge=0,
        lt=1,
        title="Adam β₁",
        description="Share of the running mean of gradients that an update keeps.",
        json_schema_extra=OPTIMIZATION,
    )
    adam_beta2: float = Field(
        default=0.999,
        ge=0,
        lt=1,
        title="Adam β₂",
        description="Share of the running mean of squared gradients that an update keeps.",
        json_schema_extra=OPTIMIZATION,
    )
    adam_epsilon: float = Field(
        default=1e-8,
        gt=0,
        le=10,
        title="Adam ε",
        description="Added to the root of the mean squared gradient: Δθ = α·m / (√v + ε).",
        json_schema_extra=OPTIMIZATION,
    )
