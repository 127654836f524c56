"""Gorila: distributed DQN, with DQN and its variants as settings (Nair et al. 2015)."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from arcadia_workers.contract.config.emulator import DECAYING
from arcadia_workers.contract.config.fields import (
    DECAY,
    ESSENTIAL,
    EXPLORATION,
    NETWORK,
    OPTIMIZATION,
    REPLAY,
    ROLES,
    ROLLOUT,
    RUN,
    Decay,
    TrainingConfig,
)
from arcadia_workers.contract.config.shared import ActionValueConfig, RmsPropFields


class GorilaConfig(ActionValueConfig, RmsPropFields):
    """Gorila DQN (Nair et al. 2015, section 4). With one bundle and one shard it is plain DQN."""

    model_config = ConfigDict(title="Gorila")
    summary: ClassVar[str] = "DQN with many actors and learners"
    paper: ClassVar[str] = "Nair et al. 2015, section 4"

    algorithm: Literal["gorila"] = Field(
        default="gorila", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    device: Literal["auto", "cpu"] = Field(
        default="auto",
        title="Device",
        description="Actors and learners run on the CPU, on one host or several; auto means cpu.",
        json_schema_extra=RUN,
    )
    mode: Literal["bundled", "free"] = Field(
        default="bundled",
        title="Mode",
        description="bundled: each process holds an actor, its replay memory and its learner, as in the paper's "
        "experiments. free: any number of each around a global replay memory.",
        json_schema_extra=ROLES,
    )
    num_actors: int = Field(
        default=2,
        ge=1,
        le=1024,
        title="Actors",
        description="N_act: processes, each with its own environment; in bundled mode, the number of bundles.",
        json_schema_extra=ROLES | ESSENTIAL,
    )
    num_learners: int = Field(
        default=2,
        validate_default=True,
        ge=1,
        le=1024,
        title="Learners",
        description="N_learn: processes that compute gradients; in bundled mode, the same number as actors.",
        json_schema_extra=ROLES,
    )
    num_shards: int = Field(
        default=1,
        ge=1,
        le=256,
        title="Parameter shards",
        description="N_param: processes that each hold and update a disjoint part of the parameters θ⁺.",
        json_schema_extra=ROLES,
    )
    num_replays: int = Field(
        default=1,
        ge=1,
        le=256,
        title="Replay shards",
        description="Processes that hold the global replay memory of free mode; bundles have their own memories.",
        json_schema_extra=ROLES,
    )
    t_max: int = Field(
        default=4,
        ge=1,
        le=2048,
        title="Steps between updates",
        description="Steps that a bundle's actor takes per gradient of its learner: 4 in DQN, 1 in the paper's "
        "algorithm 1. In free mode, learners do not wait for actors.",
        json_schema_extra=ROLLOUT,
    )
    pull_interval: int = Field(
        default=4,
        ge=1,
        le=100_000,
        title="Steps between pulls",
        description="m: an actor copies θ⁺ from the shards every m steps; 1 in the paper. 4 means once per gradient "
        "of its bundle; θ⁺ hardly changes in between. Each pull receives the parameters that the previous pull "
        "requested. In free mode, learners pull before every gradient.",
        json_schema_extra=ROLLOUT,
    )
    batch_size: int = Field(
        default=32,
        ge=1,
        le=4096,
        title="Minibatch",
        description="Number of transitions in each gradient.",
        json_schema_extra=REPLAY,
    )
    replay_frames: int = Field(
        default=1_000_000,
        validate_default=True,
        ge=100,
        le=1_000_000_000,
        title="Replay memory, frames",
        description="P: frames in all replay memories together; each frame is stored once, 7,056 bytes on Atari.",
        json_schema_extra=REPLAY,
    )
    learning_starts: int = Field(
        default=50_000,
        validate_default=True,
        ge=0,
        le=1_000_000_000,
        title="Steps before learning",
        description="Steps in all replay memories together before the first gradient is computed.",
        json_schema_extra=REPLAY,
    )
    prioritized_replay: bool = Field(
        default=False,
        title="Prioritized replay",
        description="Sample transitions in proportion to their last error (Schaul et al. 2016) instead of uniformly.",
        json_schema_extra=REPLAY,
    )
    priority_exponent: float = Field(
        default=0.6,
        ge=0,
        le=1,
        title="Priority exponent",
        description="α of prioritized replay: 0 samples uniformly, 1 in proportion to the error.",
        json_schema_extra=REPLAY,
    )
    importance_exponent: float = Field(
        default=0.4,
        ge=0,
        le=1,
        title="Importance exponent",
        description="β of prioritized replay at the first step; it rises to 1 at the last. Importance weights correct "
        "the sampling bias to this degree, 1 fully.",
        json_schema_extra=REPLAY,
    )
    final_epsilon: float = Field(
        default=0.1,
        ge=0,
        le=1,
        title="Final ε",
        description="Share of random actions of every actor after annealing.",
        json_schema_extra=EXPLORATION,
    )
    epsilon_anneal_updates: int = Field(
        default=1_000_000,
        ge=0,
        le=10_000_000_000,
        title="Annealing updates",
        description="Global updates (those of the parameter server) during which ε falls from 1 to its final value.",
        json_schema_extra=EXPLORATION,
    )
    double_q: bool = Field(
        default=False,
        title="Double Q",
        description="Choose the next action with θ and value it with θ⁻ (van Hasselt et al. 2016).",
        json_schema_extra=OPTIMIZATION,
    )
    target_update_interval: int = Field(
        default=60_000,
        ge=1,
        le=10_000_000_000,
        title="Updates between target syncs",
        description="N: number of global updates after which the target network θ⁻ copies θ⁺.",
        json_schema_extra=OPTIMIZATION,
    )
    optimizer: Literal["adagrad", "rmsprop", "centered_rmsprop", "sgd"] = Field(
        default="adagrad",
        title="Optimizer",
        description="How a shard applies gradients; the paper uses AdaGrad, DQN uses centered RMSProp.",
        json_schema_extra=OPTIMIZATION,
    )
    adagrad_epsilon: float = Field(
        default=0.00001,
        gt=0,
        le=10,
        title="AdaGrad ε",
        description="Added to the sum of squared gradients inside the root: Δθ = α·g / √(Σ g² + ε).",
        json_schema_extra=OPTIMIZATION,
    )
    learning_rate: float = Field(
        default=0.01,
        gt=0,
        le=10,
        title="Learning rate",
        description="α: learning rate at the first step; the paper does not give one.",
        json_schema_extra=OPTIMIZATION | DECAYING | ESSENTIAL,
    )
    learning_rate_decay: Decay = Field(
        default="none",
        title="Learning rate decay",
        description=DECAY,
        json_schema_extra=OPTIMIZATION | DECAYING,
    )
    clip_errors: bool = Field(
        default=True,
        title="Clip errors",
        description="Limit each transition's error to [−1, 1] in the gradient, as DQN does (Mnih et al. 2015), and in "
        "its priority.",
        json_schema_extra=OPTIMIZATION,
    )
    max_staleness: int = Field(
        default=1000,
        ge=0,
        le=10_000_000,
        title="Maximum staleness",
        description="A shard discards a gradient if it has made more updates than this since the learner read its "
        "parameters.",
        json_schema_extra=OPTIMIZATION,
    )
    outlier_deviations: float = Field(
        default=4.0,
        ge=0,
        le=1e6,
        title="Outlier limit",
        description="k: a learner discards a gradient whose absolute loss exceeds the running mean by more than k "
        "standard deviations.",
        json_schema_extra=OPTIMIZATION,
    )
    dueling: bool = Field(
        default=False,
        title="Dueling network",
        description="Two streams of hidden units, one for the state's value and one for the actions' advantages "
        "(Wang et al. 2016).",
        json_schema_extra=NETWORK,
    )

    shape_fields: ClassVar[tuple[str, ...]] = (*TrainingConfig.shape_fields, "dueling")

    @field_validator("num_learners")
    @classmethod
    def every_bundle_has_a_learner(cls, learners: int, info: ValidationInfo) -> int:
        """Require N_learn = N_act in bundled mode."""
        actors = info.data.get("num_actors", learners)
        if info.data.get("mode") == "bundled" and learners != actors:
            raise ValueError(
                f"bundled mode pairs every actor with a learner: give {actors}, the same as num_actors, or choose "
                "mode free"
            )
        return learners

    @field_validator("replay_frames")
    @classmethod
    def every_memory_holds_some_minibatches(cls, frames: int, info: ValidationInfo) -> int:
        """Require each replay memory to be clearly larger than a minibatch."""
        memories = _memories(info)
        needed = memories * max(100, 2 * info.data.get("batch_size", 0))
        if frames < needed:
            raise ValueError(f"{memories} replay memories share these frames: give at least {needed}")
        return frames

    @field_validator("learning_starts")
    @classmethod
    def learning_starts_in_time(cls, steps: int, info: ValidationInfo) -> int:
        """Require learning to start before training ends and before the memory is full.

        An episode takes more frames than it has steps.
        """
        frames, total = info.data.get("replay_frames"), info.data.get("total_steps")
        if total is not None and steps >= total:
            raise ValueError(f"training would end before learning starts: give less than its {total} steps")
        if frames is not None and steps > frames // 2:
            raise ValueError(
                f"learning must start before the replay memory of {frames} frames is full: give at most {frames // 2}"
            )
        return steps

    @property
    def streams(self) -> int:
        return 2 if self.dueling else 1

    @property
    def num_memories(self) -> int:
        """The number of replay memories: one for each bundle, or the shards of the global one."""
        return self.num_actors if self.mode == "bundled" else self.num_replays


def _memories(info: ValidationInfo) -> int:
    return int(info.data.get("num_actors" if info.data.get("mode") == "bundled" else "num_replays", 1))
