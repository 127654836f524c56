"""Configurations of PAAC's two methods."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from arcadia_workers.contract.config.emulator import DECAYING, LENGTH, NEXT_UPDATE
from arcadia_workers.contract.config.fields import ESSENTIAL, OPTIMIZATION, ROLLOUT, RUN
from arcadia_workers.contract.config.shared import (
    ActorCriticFields,
    CenteredFields,
    RmsPropFields,
    Stepping,
    ValueBasedFields,
)


class LockstepFields(CenteredFields):
    """Fields of methods whose environments step together in PAAC's framework."""

    num_envs: int = Field(
        default=32,
        ge=1,
        le=1024,
        title="Environments",
        description="n_e: environments that step together; each update learns from n_e · t_max steps.",
        json_schema_extra=ROLLOUT | ESSENTIAL,
    )
    num_workers: int = Field(
        default=8,
        ge=1,
        le=256,
        title="Emulator workers",
        description="n_w: threads that step the Atari emulators; at most one per core is started.",
        json_schema_extra=ROLLOUT,
    )

    @property
    def stepping(self) -> Stepping:
        return Stepping(processes=1, envs=self.num_envs, threads=self.num_workers)

    @property
    def initial_learning_rate(self) -> float:
        """The learning rate of the first update."""
        return self.learning_rate


class SynchronousFields(LockstepFields):
    """Fields of PAAC's own methods (Clemente et al. 2017, section 3)."""

    total_steps: int = Field(
        default=115_000_000,
        ge=1,
        le=10_000_000_000,
        title="Total steps",
        description="N_max: total number of agent decisions. An Atari step is 4 emulator frames.",
        json_schema_extra=RUN | LENGTH | ESSENTIAL,
    )
    learning_rate: float = Field(
        default=0.0224,
        gt=0,
        le=10,
        title="Learning rate",
        description="α: learning rate at the first step; the paper uses 0.0007 · n_e.",
        json_schema_extra=OPTIMIZATION | DECAYING | ESSENTIAL,
    )
    learning_rate_scale: Literal["none", "num_envs"] = Field(
        default="none",
        title="Learning rate scale",
        description="num_envs: multiply the learning rate by n_e, as the paper does with 0.0007; none: use it "
        "unchanged.",
        json_schema_extra=OPTIMIZATION,
    )

    loss_scale: float = Field(
        default=1.0,
        gt=0,
        le=10_000,
        title="Loss scale",
        description="Factor of the mean loss over n_e · t_max steps. PAAC's code uses 5, because its learning rate "
        "was tuned for sums over t_max = 5 steps; 1 gives equations 10 and 11 as printed.",
        json_schema_extra=OPTIMIZATION,
    )

    @property
    def initial_learning_rate(self) -> float:
        return self.learning_rate * (self.num_envs if self.learning_rate_scale == "num_envs" else 1)


class PaacConfig(SynchronousFields, ActorCriticFields, RmsPropFields):
    """PAAC: parallel advantage actor-critic (Clemente et al. 2017, algorithm 1)."""

    model_config = ConfigDict(title="PAAC")
    summary: ClassVar[str] = "Parallel advantage actor-critic"
    paper: ClassVar[str] = "Clemente et al. 2017, algorithm 1"

    algorithm: Literal["paac"] = Field(
        default="paac", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    value_cost: float = Field(
        default=1.0,
        ge=0,
        le=100,
        title="Value loss weight",
        description="Weight of the squared error of V relative to the policy loss; 1 in algorithm 1, 0.25 in the "
        "authors' code, often 0.5 in later work.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )


class PaacQConfig(SynchronousFields, ValueBasedFields, RmsPropFields):
    """n-step Q-learning in PAAC's framework (Clemente et al. 2017, section 3)."""

    model_config = ConfigDict(title="PAAC n-step Q")
    summary: ClassVar[str] = "n-step Q-learning in PAAC's framework"
    paper: ClassVar[str] = "Clemente et al. 2017, section 3"

    algorithm: Literal["paac_q"] = Field(
        default="paac_q", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
