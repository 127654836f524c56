"""A GAE actor-critic as a method of Arcadia (Schulman et al. 2016, arXiv:1506.02438). The backend imports this."""

from typing import ClassVar, Literal

from arcadia.plugins import (
    DECAYING,
    ESSENTIAL,
    LENGTH,
    NEXT_UPDATE,
    OPTIMIZATION,
    ROLLOUT,
    RUN,
    ActorCriticFields,
    AdamFields,
    LockstepFields,
    Method,
    Metric,
    Plugin,
)
from pydantic import ConfigDict, Field


class GaeConfig(LockstepFields, ActorCriticFields, AdamFields):
    """GAE actor-critic: generalized advantage estimation (Schulman et al. 2016)."""

    model_config = ConfigDict(title="GAE actor-critic")
    summary: ClassVar[str] = "Generalized advantage estimation"
    paper: ClassVar[str] = "Schulman et al. 2016"

    algorithm: Literal["gae"] = Field(
        default="gae", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    total_steps: int = Field(
        default=1_000_000,
        ge=1,
        le=10_000_000_000,
        title="Total steps",
        description="Agent decisions in the whole training.",
        json_schema_extra=RUN | LENGTH | ESSENTIAL,
    )
    gae_lambda: float = Field(
        default=0.95,
        ge=0,
        le=1,
        title="GAE λ",
        description="λ: weight of later steps in the advantage (equation 16); 0 looks one step ahead, 1 to the end.",
        json_schema_extra=ROLLOUT | NEXT_UPDATE | ESSENTIAL,
    )
    value_cost: float = Field(
        default=0.5,
        ge=0,
        le=100,
        title="Value loss weight",
        description="Weight of the squared error of V relative to the policy loss.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )
    learning_rate: float = Field(
        default=0.001,
        gt=0,
        le=10,
        title="Learning rate",
        description="α: Adam's step size at the first step.",
        json_schema_extra=OPTIMIZATION | DECAYING | ESSENTIAL,
    )


METHODS = Plugin(
    interface=1,
    provides=[
        Method(
            GaeConfig,
            trainer="arcadia_gae.trainer:TRAINER",
            metrics=(Metric("train/advantage_deviation", "Deviation of advantages"),),
        )
    ],
)
