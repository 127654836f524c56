"""Configuration fields of the optimizers. A method inherits the fields of the optimizers that it offers."""

from pydantic import Field

from workers.contract.config.fields import OPTIMIZATION, TrainingConfig


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
