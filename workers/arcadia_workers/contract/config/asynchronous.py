"""The A3C paper's methods: actor-learners that share parameters without locks (Mnih et al. 2016)."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from arcadia_workers.contract.config.emulator import NEXT_UPDATE
from arcadia_workers.contract.config.fields import ESSENTIAL, OPTIMIZATION, ROLLOUT, RUN
from arcadia_workers.contract.config.shared import (
    ActorCriticFields,
    AgentFields,
    CenteredFields,
    RmsPropFields,
    Stepping,
    ValueBasedFields,
)


class AsynchronousFields(CenteredFields, RmsPropFields):
    """Fields of all four methods of the A3C paper (Mnih et al. 2016, section 4)."""

    device: Literal["auto", "cpu"] = Field(
        default="auto",
        title="Device",
        description="Actor-learners run on the CPU, as in the paper; auto means cpu.",
        json_schema_extra=RUN,
    )
    num_actors: int = Field(
        default=16,
        ge=1,
        le=256,
        title="Actor-learners",
        description="Processes that update the shared parameters, each with its own environment. Use about one per "
        "core.",
        json_schema_extra=ROLLOUT | ESSENTIAL,
    )
    optimizer: Literal["shared_rmsprop", "rmsprop", "momentum_sgd"] = Field(
        default="shared_rmsprop",
        title="Optimizer",
        description="shared_rmsprop: all actor-learners share RMSProp's statistics; rmsprop: each keeps its own; "
        "momentum_sgd: SGD with momentum.",
        json_schema_extra=OPTIMIZATION,
    )
    momentum: float = Field(
        default=0.99,
        ge=0,
        lt=1,
        title="Momentum",
        description="Share of the running mean gradient that momentum SGD keeps at each update. RMSProp ignores it.",
        json_schema_extra=OPTIMIZATION,
    )

    @property
    def stepping(self) -> Stepping:
        return Stepping(processes=self.num_actors)


class A3cConfig(AsynchronousFields, ActorCriticFields, AgentFields):
    """A3C: asynchronous advantage actor-critic (Mnih et al. 2016, algorithm S2)."""

    model_config = ConfigDict(title="A3C")
    summary: ClassVar[str] = "Asynchronous advantage actor-critic"
    paper: ClassVar[str] = "Mnih et al. 2016, algorithm S2"

    algorithm: Literal["a3c"] = Field(
        default="a3c", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    value_cost: float = Field(
        default=0.5,
        ge=0,
        le=100,
        title="Value loss weight",
        description="Weight of the squared error of V relative to the policy loss.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )
    bootstrap: bool = Field(
        default=True,
        title="Bootstrap",
        description="Continue a return with V of the next state if t_max or a time limit cuts the episode. Off: the "
        "return ends there with 0, as in the paper for continuous actions; set t_max to the length of the longest "
        "episode.",
        json_schema_extra=ROLLOUT,
    )

    auto_bfloat16: ClassVar[bool] = False

    @property
    def bootstraps(self) -> bool:
        return self.bootstrap


class OneStepFields(AsynchronousFields, ValueBasedFields):
    """Fields of the one-step methods, which accumulate gradients over several steps."""

    t_max: int = Field(
        default=5,
        ge=1,
        le=2048,
        title="Steps between updates",
        description="I_AsyncUpdate: steps over which an actor-learner accumulates gradients before it applies them.",
        json_schema_extra=ROLLOUT,
    )


class OneStepQConfig(OneStepFields):
    """Asynchronous one-step Q-learning (Mnih et al. 2016, algorithm 1)."""

    model_config = ConfigDict(title="One-step Q")
    summary: ClassVar[str] = "Asynchronous one-step Q-learning"
    paper: ClassVar[str] = "Mnih et al. 2016, algorithm 1"

    algorithm: Literal["one_step_q"] = Field(
        default="one_step_q", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )


class OneStepSarsaConfig(OneStepFields):
    """Asynchronous one-step Sarsa (Mnih et al. 2016, section 4)."""

    model_config = ConfigDict(title="One-step Sarsa")
    summary: ClassVar[str] = "Asynchronous one-step Sarsa"
    paper: ClassVar[str] = "Mnih et al. 2016, section 4"

    algorithm: Literal["one_step_sarsa"] = Field(
        default="one_step_sarsa", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )


class NStepQConfig(AsynchronousFields, ValueBasedFields):
    """Asynchronous n-step Q-learning (Mnih et al. 2016, algorithm S1)."""

    model_config = ConfigDict(title="n-step Q")
    summary: ClassVar[str] = "Asynchronous n-step Q-learning"
    paper: ClassVar[str] = "Mnih et al. 2016, algorithm S1"

    algorithm: Literal["n_step_q"] = Field(
        default="n_step_q", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
