"""What every method's configuration holds, and how its fields appear in the launch form (no torch)."""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from workers.trainer.games import ENVIRONMENTS, AlgorithmName, Environment, close_to

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16"]
Network = Literal[
    "auto", "nips", "nature", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1", "mlp"
]
Activation = Literal["tanh", "relu"]
Optimizer = Literal["shared_rmsprop", "rmsprop", "momentum_sgd"]


def grouped(group: str) -> dict[str, Any]:
    """Name the section of the launch form that a field stands in."""
    return {"group": group}


RUN, ROLES, ROLLOUT, REPLAY, EXPLORATION, OPTIMISATION, NETWORK, ENVIRONMENT = (
    grouped(name)
    for name in ("Run", "Roles", "Rollout", "Replay", "Exploration", "Optimisation", "Network", "Environment")
)


def env_field(algorithm: AlgorithmName, default: str = "ALE/Pong-v5") -> Any:
    """The environment's field, with those that fit the algorithm as its choices."""
    fitting: list[JsonValue] = [
        environment.id for environment in ENVIRONMENTS.values() if algorithm in environment.algorithms
    ]
    return Field(
        default=default,
        title="Environment",
        description="The game to learn, as ALE/Pong-v5 or CartPole-v1.",
        json_schema_extra={**RUN, "enum": fitting},
    )


def _name_shape_fields(schema: dict[str, Any], model: type[Any]) -> None:
    """Say in the schema what a fork may not change."""
    schema["shape_fields"] = list(model.shape_fields)


class TrainingConfig(BaseModel):
    """The fields that every method has."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_name_shape_fields)

    # Each method narrows this to its own name.
    algorithm: AlgorithmName
    env: str
    total_steps: int = Field(
        default=80_000_000,
        ge=1,
        le=10_000_000_000,
        title="Total steps",
        description="Agent decisions to train for, over all environments; an Atari step is 4 emulator frames.",
        json_schema_extra=RUN,
    )
    seed: int = Field(
        default=1,
        ge=0,
        le=2**31 - 1,
        title="Seed",
        description="Seeds environments, weights and sampling; it repeats a run where the method is synchronous.",
        json_schema_extra=RUN,
    )
    device: Device = Field(
        default="auto",
        title="Device",
        description="Where the network runs: cuda needs a GPU worker; auto takes a GPU if the worker has one.",
        json_schema_extra=RUN,
    )
    precision: Precision = Field(
        default="auto",
        title="Precision",
        description="Number format of the convolutions; auto takes bfloat16 where the processor computes it natively.",
        json_schema_extra=RUN,
    )
    checkpoint_seconds: float = Field(
        default=300.0,
        ge=1,
        le=86_400,
        title="Seconds between checkpoints",
        description="How often training state is saved and a replay recorded; this is the most that a crash can cost.",
        json_schema_extra=RUN,
    )
    t_max: int = Field(
        default=5,
        ge=1,
        le=2048,
        title="Rollout length",
        description="t_max: steps each environment takes between two updates.",
        json_schema_extra=ROLLOUT,
    )
    gamma: float = Field(
        default=0.99,
        ge=0,
        le=1,
        title="Discount",
        description="γ: weight of the next step's return in this step's.",
        json_schema_extra=ROLLOUT,
    )
    learning_rate: float = Field(
        default=0.0007,
        gt=0,
        le=10,
        title="Learning rate",
        description="α at the first step.",
        json_schema_extra=OPTIMISATION,
    )
    learning_rate_decay: Literal["linear", "none"] = Field(
        default="linear",
        title="Learning rate decay",
        description="linear lowers the learning rate to zero at the last step; none keeps it.",
        json_schema_extra=OPTIMISATION,
    )
    rmsprop_decay: float = Field(
        default=0.99,
        ge=0,
        lt=1,
        title="RMSProp decay",
        description="Share of the running mean of squared gradients that an update keeps.",
        json_schema_extra=OPTIMISATION,
    )
    rmsprop_epsilon: float = Field(
        default=0.1,
        gt=0,
        le=10,
        title="RMSProp ε",
        description="Added to the mean squared gradient inside the root: Δθ = α·g / √(mean g² + ε).",
        json_schema_extra=OPTIMISATION,
    )
    max_grad_norm: float = Field(
        default=40.0,
        gt=0,
        le=1e6,
        title="Gradient norm limit",
        description="Gradients longer than this, over all parameters together, are scaled down to it.",
        json_schema_extra=OPTIMISATION,
    )
    network: Network = Field(
        default="auto",
        title="Network",
        description="nips: 16×8×8/4, 32×4×4/2, 256. nature: 32×8×8/4, 64×4×4/2, 64×3×3/1, 512. large: 32×8×8 with "
        "the stride named, 32×4×4/2, 64×4×4/2, 256 (1024 at stride 1). mlp: for vectors. auto: nips for pixels, "
        "mlp for vectors.",
        json_schema_extra=NETWORK,
    )
    hidden_units: int = Field(
        default=64,
        ge=1,
        le=4096,
        title="Hidden units",
        description="Width of the hidden layers of mlp; the convolutional networks have their papers' widths.",
        json_schema_extra=NETWORK,
    )
    hidden_layers: int = Field(
        default=2,
        ge=1,
        le=8,
        title="Hidden layers",
        description="Hidden layers of mlp; A3C's paper has one of 200 units for continuous actions.",
        json_schema_extra=NETWORK,
    )
    activation: Activation = Field(
        default="tanh",
        title="Activation",
        description="What the hidden layers of mlp end in; A3C's paper has rectifiers. Convolutions always have them.",
        json_schema_extra=NETWORK,
    )
    initialisation: Literal["uniform", "orthogonal"] = Field(
        default="uniform",
        title="First weights",
        description="uniform in ±1/√fan_in, as the papers' code; orthogonal, as modern actor-critics begin.",
        json_schema_extra=NETWORK,
    )
    clip_rewards: bool = Field(
        default=True,
        title="Clip rewards",
        description="Learn from rewards clipped to [−1, 1]; the returns shown are always of the raw reward.",
        json_schema_extra=ENVIRONMENT,
    )
    life_loss_ends_episode: bool = Field(
        default=False,
        title="A lost life ends the episode",
        description="Take a lost life as the end when computing returns; the game itself goes on. Atari only.",
        json_schema_extra=ENVIRONMENT,
    )
    max_noops: int = Field(
        default=30,
        ge=0,
        le=1000,
        title="No-op starts",
        description="At most so many no-op actions open an Atari game, so that games differ.",
        json_schema_extra=ENVIRONMENT,
    )

    # Fields that change the shape of the weights: a checkpoint only fits a run that agrees in them.
    shape_fields: ClassVar[tuple[str, ...]] = (
        "algorithm",
        "env",
        "network",
        "hidden_units",
        "hidden_layers",
        "activation",
    )

    @field_validator("env")
    @classmethod
    def env_can_be_learnt(cls, env: str) -> str:
        """Refuse any id that is not on the allow-list, naming close ones, and one that the method cannot act in."""
        environment = ENVIRONMENTS.get(env)
        if environment is None:
            close = close_to(env)
            hint = f"did you mean {', '.join(close)}?" if close else "use one such as ALE/Pong-v5 or CartPole-v1"
            raise ValueError(f"unknown environment {env[:80]!r}: {hint}")
        algorithm = cls.model_fields["algorithm"].default
        if algorithm not in environment.algorithms:
            raise ValueError(
                f"{algorithm} cannot learn {env}, because {environment.unfit_because}: "
                f"choose {' or '.join(environment.algorithms)}, or another environment"
            )
        return env

    @field_validator("network")
    @classmethod
    def network_reads_observations(cls, network: Network, info: ValidationInfo) -> Network:
        """A convolution needs pixels, and the small network needs a vector."""
        environment = ENVIRONMENTS.get(info.data.get("env", ""))
        if environment is None or network == "auto":  # a wrong environment has been told of already
            return network
        if environment.shows_pixels and network == "mlp":
            raise ValueError(f"mlp reads vectors, but {environment.id} shows pixels: choose auto, nips or nature")
        if not environment.shows_pixels and network != "mlp":
            raise ValueError(f"{network} reads pixels, but {environment.id} gives a vector: choose auto or mlp")
        return network

    @property
    def environment(self) -> Environment:
        """What is known of the environment without importing it."""
        return ENVIRONMENTS[self.env]
