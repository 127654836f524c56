"""Response models of marks."""

from typing import Literal

from pydantic import BaseModel, Field

MarkKind = Literal["checkpoint", "fork", "resume", "change", "warning", "anomaly"]
RuleName = Literal[
    "entropy_collapsed",
    "return_collapsed",
    "loss_exploded",
    "not_a_number",
    "no_episode",
    "speed_halved",
    "return_stalled",
    "value_uninformative",
    "layer_dead",
    "gradient_exploded",
    "policy_lag",
    "learning_rate_spent",
    "throughput_lost",
    "reward_scale",
    "epsilon_stuck",
]


class Mark(BaseModel):
    """Something that happened during training, at its place on each axis of a chart."""

    kind: MarkKind
    rule: RuleName | None = Field(default=None, description="Rule that found the anomaly.")
    metric: str | None = Field(default=None, description="Metric with the anomaly.")
    step: int
    frames: int
    seconds: float | None = Field(description="Seconds of training. Null if no metric was reported yet.")
    title: str
    detail: str = ""
    best: bool = Field(default=False, description="Whether it is the best checkpoint.")
    checkpoint_id: int | None = Field(default=None, description="Checkpoint that can be forked.")
    replay_id: int | None = None
    replay_file_id: int | None = Field(default=None, description="Video of the replay.")
    poster_file_id: int | None = None
    run_id: int | None = Field(default=None, description="Run that was forked here, or that caused the anomaly.")


class RunMarks(BaseModel):
    """The marks of a run."""

    run_id: int
    marks: list[Mark] = Field(description="In order of their steps.")


class AnomalyRule(BaseModel):
    """A rule that finds anomalies."""

    name: RuleName
    title: str
    explanation: str
    cause: str | None = Field(default=None, description="Why it happens. Null for events that need no diagnosis.")
