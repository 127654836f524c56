"""GA3C: one model, fed by queues (Babaeizadeh et al. 2017)."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator

from arcadia_workers.contract.config.emulator import DECAYING, NEXT_UPDATE
from arcadia_workers.contract.config.fields import ESSENTIAL, OPTIMIZATION, ROLLOUT, RUN
from arcadia_workers.contract.config.shared import ActorCriticFields, CenteredFields, RmsPropFields, Stepping


class Ga3cConfig(CenteredFields, ActorCriticFields, RmsPropFields):
    """GA3C: hybrid CPU/GPU A3C (Babaeizadeh et al. 2017, section 4)."""

    model_config = ConfigDict(title="GA3C")
    summary: ClassVar[str] = "Hybrid CPU/GPU A3C"
    paper: ClassVar[str] = "Babaeizadeh et al. 2017, section 4"

    algorithm: Literal["ga3c"] = Field(
        default="ga3c", title="Algorithm", description="The method that learns.", json_schema_extra=RUN
    )
    num_agents: int = Field(
        default=32,
        ge=1,
        le=1024,
        title="Agents",
        description="N_A: processes, each with its own environment; use at least one per core.",
        json_schema_extra=ROLLOUT | ESSENTIAL,
    )
    num_predictors: int = Field(
        default=2,
        ge=1,
        le=16,
        title="Predictors",
        description="N_P: threads that compute the policies of all waiting agents in one pass of the network.",
        json_schema_extra=ROLLOUT,
    )
    num_trainers: int = Field(
        default=2,
        ge=1,
        le=16,
        title="Trainers",
        description="N_T: threads that update the network with the agents' experiences.",
        json_schema_extra=ROLLOUT,
    )
    min_training_batch: int = Field(
        default=0,
        ge=0,
        le=4096,
        title="Minimum training batch",
        description="Experiences that a trainer collects for one update, which sums their gradients. In the paper's "
        "figure 7, 20 to 40 learned best. 0: update after every agent's rollout.",
        json_schema_extra=ROLLOUT,
    )
    training_queue_rollouts: int = Field(
        default=2,
        ge=0,
        le=100,
        title="Training queue",
        description="Rollouts that an agent may queue for the trainers before it pauses: 0 for no limit, as in the "
        "paper, otherwise at least 2. A limit bounds the policy lag.",
        json_schema_extra=ROLLOUT,
    )
    dynamic_adjustment: bool = Field(
        default=True,
        title="Dynamic adjustment",
        description="Regularly change N_A, N_P or N_T by one, and keep the change if updates get faster. N_A stays at "
        "or below twice its initial value or 8 per core, whichever is larger.",
        json_schema_extra=ROLLOUT,
    )
    adjustment_seconds: float = Field(
        default=60.0,
        gt=0,
        le=86_400,
        title="Seconds between adjustments",
        description="How long each changed setting is measured; the paper uses one minute.",
        json_schema_extra=ROLLOUT,
    )
    learning_rate: float = Field(
        default=0.0003,
        gt=0,
        le=10,
        title="Learning rate",
        description="α: learning rate at the first step; the paper uses 0.0003 or 0.0001 for all games.",
        json_schema_extra=OPTIMIZATION | DECAYING | ESSENTIAL,
    )
    log_epsilon: float = Field(
        default=1e-6,
        gt=0,
        le=1,
        title="Log guard ε",
        description="Added to probabilities inside the logarithm (equation 5), because agents act with an older "
        "policy.",
        json_schema_extra=OPTIMIZATION,
    )
    value_cost: float = Field(
        default=1.0,
        ge=0,
        le=100,
        title="Value loss weight",
        description="Weight of the squared error of V (equation 2) relative to the policy loss.",
        json_schema_extra=OPTIMIZATION | NEXT_UPDATE,
    )

    @field_validator("training_queue_rollouts")
    @classmethod
    def _holds_two(cls, rollouts: int) -> int:
        """Raise for a queue of one: an agent fills a rollout while the previous one waits for its last value."""
        if rollouts == 1:
            raise ValueError("give at least 2, or 0 for no limit")
        return rollouts

    @property
    def stepping(self) -> Stepping:
        return Stepping(processes=self.num_agents)
