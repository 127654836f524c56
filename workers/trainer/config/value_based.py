"""What methods that learn Q(s, a) have in common (no torch)."""

from math import isclose

from pydantic import Field, model_validator

from workers.trainer.config.fields import EXPLORATION, OPTIMISATION, TrainingConfig


class ValueBasedFields(TrainingConfig):
    """Exploration and target network of the A3C paper's value-based methods."""

    final_epsilons: tuple[float, ...] = Field(
        default=(0.1, 0.01, 0.5),
        min_length=1,
        max_length=16,
        title="Final ε",
        description="Each environment draws its final share of random actions from these, so that they explore "
        "differently.",
        json_schema_extra=EXPLORATION,
    )
    final_epsilon_probabilities: tuple[float, ...] = Field(
        default=(0.4, 0.3, 0.3),
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

    @model_validator(mode="after")
    def epsilons_match_probabilities(self) -> "ValueBasedFields":
        """Every final ε needs its probability."""
        epsilons, probabilities = self.final_epsilons, self.final_epsilon_probabilities
        if len(epsilons) != len(probabilities):
            raise ValueError(
                f"final_epsilons has {len(epsilons)} values and final_epsilon_probabilities {len(probabilities)}: "
                "give each ε one probability"
            )
        if not all(0 <= value <= 1 for value in (*epsilons, *probabilities)):
            raise ValueError("final_epsilons and final_epsilon_probabilities lie between 0 and 1")
        if not isclose(sum(probabilities), 1, abs_tol=1e-6):
            raise ValueError(f"final_epsilon_probabilities add up to {sum(probabilities):g}: make them add up to 1")
        return self
