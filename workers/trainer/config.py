"""The configuration of a run: one model an algorithm, and the presets; imported by the backend too (no torch)."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

from workers.trainer.games import ENVIRONMENTS, Environment

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16"]
Network = Literal["auto", "nips", "nature", "mlp"]


def grouped(group: str) -> dict[str, Any]:
    """Name the section of the launch form that a field stands in."""
    return {"group": group}


RUN, ROLLOUT, OPTIMISATION, NETWORK, ENVIRONMENT = (
    grouped(name) for name in ("Run", "Rollout", "Optimisation", "Network", "Environment")
)


class PaacConfig(BaseModel):
    """PAAC: parallel advantage actor-critic (Clemente et al. 2017, algorithm 1)."""

    model_config = ConfigDict(extra="forbid", title="PAAC")

    algorithm: Literal["paac"] = Field(
        default="paac", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    env: str = Field(
        default="ALE/Pong-v5",
        title="Environment",
        description="The game to learn, as ALE/Pong-v5 or CartPole-v1.",
        json_schema_extra={**RUN, "enum": list(ENVIRONMENTS)},
    )
    total_steps: int = Field(
        default=115_000_000,
        ge=1,
        le=10_000_000_000,
        title="Total steps",
        description="N_max: agent decisions to train for; an Atari step is 4 emulator frames.",
        json_schema_extra=RUN,
    )
    seed: int = Field(
        default=1,
        ge=0,
        le=2**31 - 1,
        title="Seed",
        description="Seeds environments, weights and sampling; on one machine, the same seed repeats a run.",
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
    num_envs: int = Field(
        default=32,
        ge=1,
        le=1024,
        title="Environments",
        description="n_e: environment instances that step together; each update learns from n_e · t_max steps.",
        json_schema_extra=ROLLOUT,
    )
    num_workers: int = Field(
        default=8,
        ge=1,
        le=256,
        title="Emulator workers",
        description="n_w: threads that step the Atari emulators; never more are started than the machine has cores.",
        json_schema_extra=ROLLOUT,
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
        default=0.0224,
        gt=0,
        le=10,
        title="Learning rate",
        description="α at the first step; the paper takes 0.0007 · n_e.",
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
    entropy_cost: float = Field(
        default=0.01,
        ge=0,
        le=10,
        title="Entropy weight",
        description="β: how much the policy's entropy is rewarded, which keeps it exploring.",
        json_schema_extra=OPTIMISATION,
    )
    value_cost: float = Field(
        default=1.0,
        ge=0,
        le=100,
        title="Value loss weight",
        description="Weight of the squared error of V beside the policy's loss; 1 in algorithm 1, often 0.5 since.",
        json_schema_extra=OPTIMISATION,
    )
    network: Network = Field(
        default="auto",
        title="Network",
        description="nips: 16×8×8/4, 32×4×4/2, 256. nature: 32×8×8/4, 64×4×4/2, 64×3×3/1, 512. mlp: for vectors. "
        "auto: nips for pixels, mlp for vectors.",
        json_schema_extra=NETWORK,
    )
    hidden_units: int = Field(
        default=64,
        ge=1,
        le=4096,
        title="Hidden units",
        description="Width of the two hidden layers of mlp; the convolutional networks have the paper's widths.",
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

    @field_validator("env")
    @classmethod
    def env_is_known(cls, env: str) -> str:
        """Refuse any id that is not on the allow-list, and name close ones."""
        if env in ENVIRONMENTS:
            return env
        wanted = env.removeprefix("ALE/").lower()[:4]
        close = [known for known in ENVIRONMENTS if wanted and wanted in known.lower()][:5]
        hint = f"did you mean {', '.join(close)}?" if close else "use one such as ALE/Pong-v5 or CartPole-v1."
        raise ValueError(f"unknown environment {env[:80]!r}: {hint}")

    @model_validator(mode="after")
    def network_fits_observations(self) -> "PaacConfig":
        """A convolution needs pixels, and the small network needs a vector."""
        pixels = self.environment.kind == "atari"
        if pixels and self.network == "mlp":
            raise ValueError(f"network mlp reads vectors, but {self.env} shows pixels: choose auto, nips or nature")
        if not pixels and self.network in ("nips", "nature"):
            raise ValueError(f"network {self.network} reads pixels, but {self.env} gives a vector: choose auto or mlp")
        return self

    @property
    def environment(self) -> Environment:
        """What is known of the environment without importing it."""
        return ENVIRONMENTS[self.env]


# One model so far; a second algorithm makes this a union discriminated by `algorithm`.
RunConfig = PaacConfig

config_adapter: TypeAdapter[RunConfig] = TypeAdapter(RunConfig)


@dataclass(frozen=True)
class Preset:
    """A named, complete configuration that says what it shows and where its numbers come from."""

    name: str
    title: str
    shows: str
    source: str
    config: RunConfig


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            name="paac-cartpole",
            title="PAAC learns CartPole in a minute",
            shows="A pole balanced for 500 steps, learnt while you watch.",
            source="Tuned here; the method is PAAC's algorithm 1.",
            config=PaacConfig(
                env="CartPole-v1",
                total_steps=1_500_000,
                checkpoint_seconds=5,
                num_envs=16,
                t_max=16,
                gamma=0.98,
                learning_rate=0.003,
                rmsprop_epsilon=1e-5,
                max_grad_norm=0.5,
                entropy_cost=0.0,
                value_cost=0.05,
                clip_rewards=False,
            ),
        ),
        Preset(
            name="paac-pong",
            title="PAAC plays Pong",
            shows="From losing every rally to winning nearly all, in an hour or two on two cores.",
            source="Tuned here to learn from fewer steps than the paper's settings; the method is PAAC's algorithm 1.",
            config=PaacConfig(
                env="ALE/Pong-v5",
                total_steps=8_000_000,
                num_envs=16,
                learning_rate=0.0005,
                rmsprop_epsilon=1e-10,
                max_grad_norm=0.5,
                value_cost=0.5,
            ),
        ),
        Preset(
            name="paac-paper-nips",
            title="PAAC, the paper's arch_nips",
            shows="The settings of the paper's table 1 with the small network.",
            source="Clemente et al. 2017, section 5.1.",
            config=PaacConfig(network="nips"),
        ),
        Preset(
            name="paac-paper-nature",
            title="PAAC, the paper's arch_nature",
            shows="The settings of the paper's table 1 with the large network.",
            source="Clemente et al. 2017, section 5.1.",
            config=PaacConfig(network="nature"),
        ),
    )
}
