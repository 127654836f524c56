"""Configuration of PPO. The defaults are the paper's for Atari (Schulman et al. 2017, table 5)."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from arcadia_workers.contract.config.emulator import DECAYING, LENGTH, NEXT_UPDATE
from arcadia_workers.contract.config.fields import DECAY, ESSENTIAL, NETWORK, OPTIMIZATION, ROLLOUT, RUN, Decay
from arcadia_workers.contract.config.shared import ActorCriticFields, AdamFields, AgentFields
from arcadia_workers.contract.config.synchronous import LockstepFields


class PpoConfig(LockstepFields, ActorCriticFields, AgentFields, AdamFields):
    """PPO: proximal policy optimization (Schulman et al. 2017, algorithm 1)."""

    model_config = ConfigDict(title="PPO")
    summary: ClassVar[str] = "Proximal policy optimization"
    paper: ClassVar[str] = "Schulman et al. 2017, algorithm 1"

    algorithm: Literal["ppo"] = Field(
        default="ppo", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    total_steps: int = Field(
        default=10_000_000,
        ge=1,
        le=10_000_000_000,
        title="Total steps",
        description="Agent decisions in the whole training; 10 M on Atari and 1 M on MuJoCo in the paper.",
        json_schema_extra=RUN | LENGTH | ESSENTIAL,
    )
    num_envs: int = Field(
        default=8,
        ge=1,
        le=1024,
        title="Environments",
        description="N: environments that step together; each rollout has N · T steps.",
        json_schema_extra=ROLLOUT | ESSENTIAL,
    )
    t_max: int = Field(
        default=128,
        ge=1,
        le=2048,
        title="Rollout length",
        description="T, the horizon: steps that each environment takes before the policy learns from them; 128 on "
        "Atari and 2048 on MuJoCo in the paper.",
        json_schema_extra=ROLLOUT,
    )
    num_epochs: int = Field(
        default=3,
        ge=1,
        le=100,
        title="Epochs",
        description="K: how often each step of a rollout is used; 3 on Atari and 10 on MuJoCo in the paper.",
        json_schema_extra=ROLLOUT | NEXT_UPDATE,
    )
    minibatch_size: int = Field(
        default=256,
        ge=1,
        le=1_000_000,
        title="Minibatch size",
        description="M: steps in one update; 256 on Atari and 64 on MuJoCo in the paper. With LSTM cells, a minibatch "
        "has all T steps of some environments.",
        json_schema_extra=ROLLOUT,
    )
    gae_lambda: float = Field(
        default=0.95,
        ge=0,
        le=1,
        title="GAE λ",
        description="λ: weight of later steps in the advantage (equation 11); 0 looks one step ahead, 1 to the end.",
        json_schema_extra=ROLLOUT | NEXT_UPDATE,
    )
    clip_range: float = Field(
        default=0.1,
        gt=0,
        le=10,
        title="Clip range",
        description="ε: how far an update gains from changing an action's probability, as a share (equation 7); 0.1 on "
        "Atari and 0.2 on MuJoCo in the paper.",
        json_schema_extra=OPTIMIZATION | DECAYING | ESSENTIAL,
    )
    clip_range_decay: Decay = Field(
        default="linear",
        title="Clip range decay",
        description=f"{DECAY} The paper: linear on Atari, none on MuJoCo.",
        json_schema_extra=OPTIMIZATION | DECAYING,
    )
    value_clip: float = Field(
        default=0.0,
        ge=0,
        le=1e6,
        title="Value clip range",
        description="How far an update gains from changing V(s); OpenAI's later code has the clip range here. 0: not "
        "limited, as in the paper.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )
    normalize_advantages: bool = Field(
        default=True,
        title="Normalized advantages",
        description="Subtract the mean of a minibatch's advantages and divide by their standard deviation, as OpenAI's "
        "code does; the paper does not mention it.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )
    value_cost: float = Field(
        default=1.0,
        ge=0,
        le=100,
        title="Value loss weight",
        description="c₁: weight of the squared error of V (equation 9).",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )
    learning_rate: float = Field(
        default=0.00025,
        gt=0,
        le=10,
        title="Learning rate",
        description="α: Adam's step size at the first step; 0.00025 on Atari and 0.0003 on MuJoCo in the paper.",
        json_schema_extra=OPTIMIZATION | DECAYING | ESSENTIAL,
    )
    max_grad_norm: float = Field(
        default=0.5,
        gt=0,
        le=1e6,
        title="Gradient norm limit",
        description="A gradient with a larger norm, over all parameters together, is scaled down to this. 0.5 in "
        "OpenAI's code; the paper does not mention it.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )
    adam_epsilon: float = Field(
        default=1e-5,
        gt=0,
        le=10,
        title="Adam ε",
        description="Added to the root of the mean squared gradient: Δθ = α·m / (√v + ε). OpenAI's code has 0.00001.",
        json_schema_extra=OPTIMIZATION,
    )
    initialization: Literal["uniform", "orthogonal"] = Field(
        default="orthogonal",
        title="Weight initialization",
        description="orthogonal: as in OpenAI's code; uniform: in ±1/√fan_in.",
        json_schema_extra=NETWORK,
    )
    normalize_observations: bool = Field(
        default=False,
        title="Normalized observations",
        description="Subtract the running mean of vector observations and divide by their standard deviation, as "
        "OpenAI's code does on MuJoCo. Pixels stay as they are.",
        json_schema_extra=NETWORK,
    )

    shape_fields: ClassVar[tuple[str, ...]] = (*AgentFields.shape_fields, "normalize_observations")

    @field_validator("minibatch_size")
    @classmethod
    def minibatch_has_a_sequence(cls, size: int, info: ValidationInfo) -> int:
        """Raise if a minibatch cannot have all steps of one environment, which LSTM cells need."""
        if info.data.get("lstm_units") and size < (t_max := info.data.get("t_max", 0)):
            raise ValueError(f"with LSTM cells a minibatch has all steps of an environment: give at least {t_max}")
        return size

    @property
    def normalizes_observations(self) -> bool:
        """Return True if the network normalizes its input."""
        return self.normalize_observations and not self.environment.shows_pixels

    @property
    def num_minibatches(self) -> int:
        """Return the number of minibatches in an epoch."""
        return -(-self.num_envs * self.t_max // self.minibatch_size)

    @property
    def minibatch_rows(self) -> int:
        """Return the largest number of steps in a minibatch."""
        if self.lstm_units:
            return -(-self.num_envs // min(self.num_minibatches, self.num_envs)) * self.t_max
        return -(-self.num_envs * self.t_max // self.num_minibatches)

    @property
    def shape(self) -> dict[str, JsonValue]:
        return super().shape | {"normalize_observations": self.normalizes_observations}
