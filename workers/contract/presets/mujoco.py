"""Presets of the A3C paper's continuous agent in MuJoCo, tuned here for two cores."""

from typing import Any

from workers.contract.config import A3cConfig
from workers.contract.presets.preset import Preset

# The paper's agent (section 9) with two actor-learners. With the paper's RMSProp ε of 0.1 it learns more slowly.
PAPERS_AGENT: dict[str, Any] = {
    "num_actors": 2,
    "t_max": 1_000,
    "bootstrap": False,
    "rmsprop_epsilon": 1e-4,
    "value_cost": 0.25,
    "hidden_units": 200,
    "hidden_layers": 1,
    "activation": "relu",
    "lstm_units": 128,
    "entropy_cost": 0.0001,
    "clip_rewards": False,
}
SOURCE = (
    "Tuned here for two cores from a3c-continuous: section 9 of the A3C paper, with two actor-learners instead of 16 "
    "and an RMSProp ε of 0.0001 instead of 0.1."
)

PRESETS = (
    Preset(
        name="a3c-lstm-inverted-pendulum",
        title="A3C with memory balances MuJoCo's pole",
        shows="The paper's continuous agent, with 128 LSTM cells and a Gaussian policy, learns from whole episodes.",
        source=SOURCE,
        config=A3cConfig(**PAPERS_AGENT, env="InvertedPendulum-v5", total_steps=300_000),
    ),
    Preset(
        name="a3c-lstm-double-pendulum",
        title="A3C with memory balances two poles",
        shows="The paper's continuous agent balances MuJoCo's two poles, one on top of the other.",
        source=SOURCE,
        config=A3cConfig(**PAPERS_AGENT, env="InvertedDoublePendulum-v5", total_steps=400_000),
    ),
    Preset(
        name="a3c-lstm-reacher",
        title="A3C with memory moves MuJoCo's arm",
        shows="The paper's continuous agent moves the tip of a two-link arm to a point.",
        source=SOURCE,
        config=A3cConfig(**PAPERS_AGENT, env="Reacher-v5", total_steps=400_000),
    ),
)
