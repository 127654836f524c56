"""The A3C paper's methods: actor-learners that share parameters without locks (Mnih et al. 2016; no torch)."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from workers.trainer.config.fields import (
    NETWORK,
    OPTIMISATION,
    ROLLOUT,
    RUN,
    Optimizer,
    TrainingConfig,
    env_field,
)
from workers.trainer.config.value_based import ValueBasedFields


class AsynchronousFields(TrainingConfig):
    """What all four methods have (Mnih et al. 2016, section 4)."""

    device: Literal["auto", "cpu"] = Field(
        default="auto",
        title="Device",
        description="The actor-learners of the paper are processes of the CPU; auto means the same.",
        json_schema_extra=RUN,
    )
    num_actors: int = Field(
        default=16,
        ge=1,
        le=256,
        title="Actor-learners",
        description="Processes, each with its own environment, that update the shared parameters; one a core is best.",
        json_schema_extra=ROLLOUT,
    )
    optimizer: Optimizer = Field(
        default="shared_rmsprop",
        title="Optimizer",
        description="RMSProp with statistics shared by all actor-learners or with each its own, or momentum SGD.",
        json_schema_extra=OPTIMISATION,
    )
    momentum: float = Field(
        default=0.99,
        ge=0,
        lt=1,
        title="Momentum",
        description="Share of the running gradient that momentum SGD keeps; RMSProp does not use it.",
        json_schema_extra=OPTIMISATION,
    )


class A3cConfig(AsynchronousFields):
    """A3C: asynchronous advantage actor-critic (Mnih et al. 2016, algorithm S2)."""

    model_config = ConfigDict(title="A3C")

    algorithm: Literal["a3c"] = Field(
        default="a3c", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    env: str = env_field("a3c")
    entropy_cost: float = Field(
        default=0.01,
        ge=0,
        le=10,
        title="Entropy weight",
        description="β: how much the policy's entropy is rewarded; 0.01 on Atari, 0.0001 for continuous actions.",
        json_schema_extra=OPTIMISATION,
    )
    value_cost: float = Field(
        default=0.5,
        ge=0,
        le=100,
        title="Value loss weight",
        description="Weight of the squared error of V beside the policy's loss.",
        json_schema_extra=OPTIMISATION,
    )
    lstm_units: int = Field(
        default=0,
        ge=0,
        le=2048,
        title="LSTM cells",
        description="Cells after the last hidden layer: 256 in the paper's A3C LSTM, 128 for continuous actions; 0 for "
        "the feed-forward agent.",
        json_schema_extra=NETWORK,
    )
    value_network: Literal["auto", "shared", "separate"] = Field(
        default="auto",
        title="Value network",
        description="shared: V is a second output of the policy's network; separate: a network of its own; auto: "
        "separate for continuous actions on readings, as in the paper, else shared.",
        json_schema_extra=NETWORK,
    )

    shape_fields: ClassVar[tuple[str, ...]] = (*TrainingConfig.shape_fields, "lstm_units", "value_network")

    @property
    def separate_networks(self) -> bool:
        """Whether V has a network of its own."""
        if self.value_network != "auto":
            return self.value_network == "separate"
        return self.environment.actions == "continuous" and not self.environment.shows_pixels


class OneStepFields(AsynchronousFields, ValueBasedFields):
    """The one-step methods accumulate gradients over several steps."""

    t_max: int = Field(
        default=5,
        ge=1,
        le=2048,
        title="Steps between updates",
        description="I_AsyncUpdate: steps whose gradients are added up before an actor-learner applies them.",
        json_schema_extra=ROLLOUT,
    )


class OneStepQConfig(OneStepFields):
    """Asynchronous one-step Q-learning (Mnih et al. 2016, algorithm 1)."""

    model_config = ConfigDict(title="One-step Q")

    algorithm: Literal["one_step_q"] = Field(
        default="one_step_q", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    env: str = env_field("one_step_q")


class OneStepSarsaConfig(OneStepFields):
    """Asynchronous one-step Sarsa (Mnih et al. 2016, section 4)."""

    model_config = ConfigDict(title="One-step Sarsa")

    algorithm: Literal["one_step_sarsa"] = Field(
        default="one_step_sarsa", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    env: str = env_field("one_step_sarsa")


class NStepQConfig(AsynchronousFields, ValueBasedFields):
    """Asynchronous n-step Q-learning (Mnih et al. 2016, algorithm S1)."""

    model_config = ConfigDict(title="n-step Q")

    algorithm: Literal["n_step_q"] = Field(
        default="n_step_q", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    env: str = env_field("n_step_q")
