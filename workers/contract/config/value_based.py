"""Configuration fields of methods that learn Q(s, a)."""

from abc import ABC
from math import isclose
from typing import Annotated, ClassVar

from pydantic import Field, ValidationInfo, field_validator

from workers.contract.config.fields import EXPLORATION, OPTIMIZATION, TrainingConfig
from workers.contract.protocols.acting import EPSILON_GREEDY, Acting

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
