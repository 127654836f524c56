"""Configuration fields of every method, with their sections in the launch form."""

from typing import Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from arcadia_workers.contract.config.emulator import (
    DECAYING,
    LENGTH,
    NEXT_UPDATE,
    SCHEDULE,
    ActionSet,
    CapFrames,
    FireAtReset,
    MaxNoops,
    MinNoops,
    RepeatActionProbability,
    choosable_protocols,
    unfit_without_starts_because,
)
from arcadia_workers.contract.games import ENVIRONMENTS, NETWORKS, ActionKind, Environment, known
from arcadia_workers.contract.layout import DEFAULT_KEPT, DEFAULT_REPLAYS_MEGABYTES, MIN_KEPT
from arcadia_workers.contract.practice import PracticeConfig
from arcadia_workers.contract.protocols.document import SAMPLED, Acting

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16"]
Activation = Literal["tanh", "relu"]
Decay = Literal["linear", "late", "none"]
DECAY = (
    "linear: falls to zero over all steps; late: constant for two thirds of the steps, then falls to zero at the last "
    "step; none: constant."
)

# The description of the field `network` already lists these.
BUILT_IN_NETWORKS = (*NETWORKS,)
# Fields that are only used by networks for vectors.
MLP_FIELDS = ("hidden_units", "hidden_layers", "activation")
# The error type for an environment that the method cannot act in.
UNFIT_ENVIRONMENT = "unfit_environment"


def grouped(group: str) -> dict[str, Any]:
    """Return the JSON schema entry for a field's section in the launch form."""
    return {"group": group}


RUN, ROLES, ROLLOUT, REPLAY, EXPLORATION, OPTIMIZATION, NETWORK, ENVIRONMENT = (
    grouped(name)
    for name in ("Run", "Roles", "Rollout", "Replay", "Exploration", "Optimization", "Network", "Environment")
)

# The launch form shows these fields first and collapses all others.
ESSENTIAL: dict[str, Any] = {"essential": True}


def _describe_method(schema: dict[str, Any], model: type[Any]) -> None:
    """Add facts about the method, the choices that plug-ins extend, and the fields that a fork may not change."""
    fields = schema["properties"]
    fields["env"]["enum"] = [environment.id for environment in ENVIRONMENTS.values() if model.can_act_in(environment)]
    fields["network"]["enum"] = ["auto", *NETWORKS]
    fields["network"]["description"] += "".join(
        f" {network.name}: {network.summary}." for network in NETWORKS.values() if network.name not in BUILT_IN_NETWORKS
    )
    fields["evaluation_protocol"]["enum"] = ["auto", *choosable_protocols()]
    schema["shape_fields"] = list(model.shape_fields)
    schema["summary"] = model.summary
    schema["paper"] = model.paper


class TrainingConfig(BaseModel):
    """Fields of every method, and facts about the method for other modules."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_describe_method)

    @model_validator(mode="before")
    @classmethod
    def true_is_no_number(cls, given: object) -> object:
        """Replace booleans in number fields with strings, so that validation rejects them and does not read 1 and 0."""
        if not isinstance(given, dict):
            return given
        return {name: str(value).lower() if cls._is_misplaced(name, value) else value for name, value in given.items()}

    @classmethod
    def _is_misplaced(cls, name: str, value: object) -> bool:
        if not isinstance(value, bool) or name not in cls.model_fields:
            return False
        wanted = cls.model_fields[name].annotation
        return bool not in (wanted, *get_args(wanted))

    # Each method narrows this to its own name.
    algorithm: str
    env: str = Field(
        default="ALE/Pong-v5",
        title="Environment",
        description="The environment to learn, such as ALE/Pong-v5 or CartPole-v1.",
        json_schema_extra=RUN | ESSENTIAL,
    )
    total_steps: int = Field(
        default=80_000_000,
        ge=1,
        le=10_000_000_000,
        title="Total steps",
        description="Number of agent decisions to train for, over all environments. An Atari step is 4 emulator "
        "frames.",
        json_schema_extra=RUN | LENGTH | ESSENTIAL,
    )
    seed: int = Field(
        default=1,
        ge=0,
        le=2**31 - 1,
        title="Seed",
        description="Seed of environments, weights and sampling. A synchronous method repeats the run on the same "
        "machine.",
        json_schema_extra=RUN | ESSENTIAL,
    )
    device: Device = Field(
        default="auto",
        title="Device",
        description="Where the network runs. cuda needs a worker with a GPU; auto uses a GPU if the worker has one.",
        json_schema_extra=RUN | ESSENTIAL,
    )
    precision: Precision = Field(
        default="auto",
        title="Precision",
        description="Number format of the convolutions; auto uses bfloat16 if the hardware is faster with it.",
        json_schema_extra=RUN,
    )
    checkpoint_seconds: float = Field(
        default=300.0,
        ge=1,
        le=86_400,
        title="Seconds between checkpoints",
        description=(
            "How often to save the training state and record a replay; a crash loses at most this much work. The "
            "first solve and clearly better mean returns are saved immediately."
        ),
        json_schema_extra=RUN | SCHEDULE,
    )
    checkpoints_kept: int = Field(
        default=DEFAULT_KEPT,
        ge=MIN_KEPT,
        le=1_000,
        title="Checkpoints kept",
        description=(
            "The first, best and last checkpoint are kept, each with its replay. The others are spread evenly over "
            "training. Pinned checkpoints are kept as well."
        ),
        json_schema_extra=RUN | SCHEDULE,
    )
    replays_megabytes: int = Field(
        default=DEFAULT_REPLAYS_MEGABYTES,
        ge=1,
        le=1_000_000,
        title="Replay limit, MB",
        description=(
            "If the run's replays and recordings exceed this size, the server deletes the oldest ones. It keeps the "
            "best, the last and the pinned ones."
        ),
        json_schema_extra=RUN | SCHEDULE,
    )
    evaluate_every_steps: int = Field(
        default=0,
        ge=0,
        le=10_000_000_000,
        title="Steps between evaluations",
        description=(
            "A worker evaluates the first checkpoint at or after each multiple of this number of steps, and records "
            "an episode, while training continues. 0: never. Checkpoints are saved by time, so evaluations cannot be "
            "closer together than checkpoints."
        ),
        json_schema_extra=RUN | SCHEDULE,
    )
    calibrate_every_steps: int = Field(
        default=0,
        ge=0,
        le=10_000_000_000,
        title="Steps between calibrations",
        description=(
            "A worker compares the critic with simulated futures at the first checkpoint at or after each multiple of "
            "this number of steps. 0: never. This takes two minutes or more for Atari, and may wait for other jobs."
        ),
        json_schema_extra=RUN | SCHEDULE,
    )
    evaluation_protocol: str = Field(
        default="auto",
        title="Evaluation protocol",
        description="How checkpoints are evaluated and compared to find the best; auto: no-op-5min for Atari games, "
        "episodes for all other environments.",
        json_schema_extra=RUN,
    )
    t_max: int = Field(
        default=5,
        ge=1,
        le=2048,
        title="Rollout length",
        description="t_max: steps that each environment takes between two updates.",
        json_schema_extra=ROLLOUT,
    )
    gamma: float = Field(
        default=0.99,
        ge=0,
        le=1,
        title="Discount",
        description="γ: weight of the next step's return in the return of this step.",
        json_schema_extra=ROLLOUT,
    )
    learning_rate: float = Field(
        default=0.0007,
        gt=0,
        le=10,
        title="Learning rate",
        description="α: learning rate at the first step.",
        json_schema_extra=OPTIMIZATION | DECAYING | ESSENTIAL,
    )
    learning_rate_decay: Decay = Field(
        default="linear",
        title="Learning rate decay",
        description=DECAY,
        json_schema_extra=OPTIMIZATION | DECAYING,
    )
    max_grad_norm: float = Field(
        default=40.0,
        gt=0,
        le=1e6,
        title="Gradient norm limit",
        description="If the norm of the gradient over all parameters exceeds this, the gradient is scaled down to it.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )
    network: str = Field(
        default="auto",
        title="Network",
        description="Filters×kernel/stride of the convolutions, then hidden units. nips: 16×8×8/4, 32×4×4/2, 256. "
        "nature: 32×8×8/4, 64×4×4/2, 64×3×3/1, 512. large: 32×8×8 with the stride in its name, 32×4×4/2, 64×4×4/2, 256 "
        "(1024 at stride 1). mlp: hidden layers, for vectors. auto: nips for pixels, mlp for vectors.",
        json_schema_extra=NETWORK,
    )
    hidden_units: int = Field(
        default=64,
        ge=1,
        le=4096,
        title="Hidden units",
        description="Units in each hidden layer of mlp. The convolutional networks have the widths of their papers.",
        json_schema_extra=NETWORK,
    )
    hidden_layers: int = Field(
        default=2,
        ge=1,
        le=8,
        title="Hidden layers",
        description="Number of hidden layers of mlp. The A3C paper uses one layer of 200 units for continuous actions.",
        json_schema_extra=NETWORK,
    )
    activation: Activation = Field(
        default="tanh",
        title="Activation",
        description="Activation of mlp's hidden layers. The A3C paper uses relu; convolutions always do.",
        json_schema_extra=NETWORK,
    )
    initialization: Literal["uniform", "orthogonal"] = Field(
        default="uniform",
        title="Weight initialization",
        description="uniform: in ±1/√fan_in, as in the papers' code; orthogonal: as in modern actor-critics.",
        json_schema_extra=NETWORK,
    )
    clip_rewards: bool = Field(
        default=True,
        title="Clip rewards",
        description="Learn from rewards clipped to [−1, 1]; the curves always show returns of the raw rewards.",
        json_schema_extra=ENVIRONMENT,
    )
    life_loss_ends_episode: bool = Field(
        default=False,
        title="Life loss ends episode",
        description="Treat a lost life as the episode's end when computing returns; the game continues. Atari only.",
        json_schema_extra=ENVIRONMENT,
    )
    max_noops: MaxNoops = 30
    min_noops: MinNoops = 0
    fire_at_reset: FireAtReset = True
    repeat_action_probability: RepeatActionProbability = 0.0
    action_set: ActionSet = "minimal"
    cap_frames: CapFrames = 108_000
    # Not in the JSON schema, so no form shows it. Configurations without practice do not contain it.
    practice: SkipJsonSchema[PracticeConfig | None] = Field(
        default=None,
        exclude_if=lambda practice: practice is None,
        title="Practice",
        description="Begin a share of the episodes before the mistakes of a reviewed agent.",
    )

    # What the method is in a few words, and its paper, for the launch form.
    summary: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    # The kinds of actions that the method can learn.
    action_kinds: ClassVar[tuple[ActionKind, ...]] = ("discrete",)
    # True if `auto` may choose bfloat16, which is not faster for networks that read single states.
    auto_bfloat16: ClassVar[bool] = True
    # The default way to act in an evaluation, as in the paper.
    usual_acting: ClassVar[Acting] = SAMPLED
    # Fields that change the shape of the weights: a checkpoint fits only a run with the same values.
    shape_fields: ClassVar[tuple[str, ...]] = (
        "algorithm",
        "env",
        "action_set",
        "network",
        *MLP_FIELDS,
    )

    @field_validator("env")
    @classmethod
    def env_can_be_learned(cls, env: str) -> str:
        """Raise for unknown ids, naming similar ones, and for environments that the method cannot act in."""
        environment = ENVIRONMENTS[known(env)]
        if not cls.can_act_in(environment):
            raise PydanticCustomError(
                UNFIT_ENVIRONMENT,
                "{algorithm} cannot learn {env}, because {reason}",
                {"algorithm": cls.model_fields["algorithm"].default, "env": env, "reason": environment.unfit_because},
            )
        return env

    @field_validator("evaluation_protocol")
    @classmethod
    def protocol_fits_environment(cls, protocol: str, info: ValidationInfo) -> str:
        """Raise for unknown protocols and for those of other environments."""
        env = info.data.get("env")  # a wrong environment has already been reported
        if env and protocol != "auto" and (refusal := unfit_without_starts_because(protocol, env)):
            raise ValueError(refusal)
        return protocol

    @field_validator("network")
    @classmethod
    def network_reads_observations(cls, network: str, info: ValidationInfo) -> str:
        """Raise for unknown networks, for convolutions on vectors and for mlp on pixels."""
        if network == "auto":
            return network
        if network not in NETWORKS:
            raise ValueError(f"there is no network {network[:80]!r}: choose auto, {', '.join(NETWORKS)}")
        environment = ENVIRONMENTS.get(info.data.get("env", ""))
        if environment is None:  # a wrong environment has already been reported
            return network
        if environment.shows_pixels and NETWORKS[network].reads == "vector":
            raise ValueError(f"{network} reads vectors, but {environment.id} shows pixels: choose auto, nips or nature")
        if not environment.shows_pixels and NETWORKS[network].reads == "pixels":
            raise ValueError(f"{network} reads pixels, but {environment.id} gives a vector: choose auto or mlp")
        return network

    @field_validator("min_noops")
    @classmethod
    def noops_have_a_range(cls, fewest: int, info: ValidationInfo) -> int:
        """Raise if the lower bound is above the upper one."""
        most = info.data.get("max_noops", fewest)
        if fewest > most:
            raise ValueError(f"larger than max_noops, which is {most}: give 0, or a larger max_noops")
        return fewest

    @field_validator("practice")
    @classmethod
    def practice_is_discrete(cls, practice: PracticeConfig | None, info: ValidationInfo) -> PracticeConfig | None:
        """Raise for environments whose mistakes cannot be reviewed."""
        environment = ENVIRONMENTS.get(info.data.get("env", ""))
        if practice and environment and environment.actions == "continuous":
            raise ValueError(f"needs discrete actions, and those of {environment.id} are continuous: remove it")
        return practice

    @classmethod
    def can_act_in(cls, environment: Environment) -> bool:
        """Return True if the method can learn this environment's kind of actions."""
        return environment.actions in cls.action_kinds

    @property
    def environment(self) -> Environment:
        """The environment's description. Reading it does not import the environment."""
        return ENVIRONMENTS[self.env]

    @property
    def wanted_device(self) -> Device:
        """The device to train on. A method without GPU support uses the CPU, even on a host with a GPU."""
        offers_gpu = "cuda" in get_args(type(self).model_fields["device"].annotation)
        return self.device if offers_gpu else "cpu"

    @property
    def resolved_network(self) -> str:
        """The network, with `auto` resolved."""
        if self.network != "auto":
            return self.network
        return "nips" if self.environment.shows_pixels else "mlp"

    @property
    def bootstraps(self) -> bool:
        """True if a return continues with the value of the next state after a limit cuts the episode."""
        return True

    @property
    def shape(self) -> dict[str, JsonValue]:
        """The values of `shape_fields`, with `auto` resolved. Fields that the network does not use are None."""
        shape = {field: getattr(self, field) for field in self.shape_fields} | {"network": self.resolved_network}
        if not self.environment.family.has_action_sets:
            shape["action_set"] = None
        reads_vectors = NETWORKS[self.resolved_network].reads == "vector"
        return shape if reads_vectors else shape | dict.fromkeys(MLP_FIELDS)
