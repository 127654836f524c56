"""What methods that learn Q(s, a) have in common (no torch)."""

from math import isclose
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from workers.trainer.config.fields import EXPLORATION, OPTIMISATION, TrainingConfig

Share = Annotated[float, Field(ge=0, le=1)]


class ValueBasedFields(TrainingConfig):
    """Exploration and target network of the A3C paper's value-based methods."""

    final_epsilons: tuple[Share, ...] = Field(
        default=(0.1, 0.01, 0.5),
        min_length=1,
        max_length=16,
        title="Final ε",
        description="Each environment draws its final share of random actions from these, so that they explore "
        "differently.",
        json_schema_extra=EXPLORATION,
    )
    final_epsilon_probabilities: tuple[Share, ...] = Field(
        default=(0.4, 0.3, 0.3),
        validate_default=True,
        min_length=1,
        max_length=16,
        title="Probabilities of the final ε",
        description="With which probability each of them is drawn; they add up to 1.",
        json_schema_extra=EXPLORATION,
    )
    epsilon_anneal_frames: int = Field(
        default=4_000_000,
        ge=0,
        le=10_000_000_000,
        title="Frames of annealing",
        description="Emulator frames, over all environments, in which ε falls from 1 to its final value.",
        json_schema_extra=EXPLORATION,
    )
    target_update_frames: int = Field(
        default=40_000,
        ge=1,
        le=10_000_000_000,
        title="Frames between target updates",
        description="I_target: after so many emulator frames, the target network takes over the learnt weights.",
        json_schema_extra=OPTIMISATION,
    )

    @field_validator("final_epsilon_probabilities")
    @classmethod
    def every_epsilon_has_its_probability(
        cls, probabilities: tuple[float, ...], info: ValidationInfo
    ) -> tuple[float, ...]:
        """As many as final ε, and together certain."""
        epsilons = info.data.get("final_epsilons", probabilities)
        if len(epsilons) != len(probabilities):
            raise ValueError(
                f"give as many probabilities as final_epsilons has values: {len(epsilons)}, not {len(probabilities)}"
            )
        if not isclose(sum(probabilities), 1, abs_tol=1e-6):
            raise ValueError(f"the probabilities add up to {sum(probabilities):g}: make them add up to 1")
        return probabilities
