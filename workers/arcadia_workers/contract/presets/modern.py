"""Presets of first steps, of MuJoCo, and of PAAC for the modern protocols: sticky actions, and Atari 100k."""

from typing import Any

from arcadia_workers.contract.config import A3cConfig, PaacConfig
from arcadia_workers.contract.presets.preset import Preset

# The emulator settings of sticky-30min, so that training episodes are like those of the protocol.
STICKY: dict[str, Any] = {
    "repeat_action_probability": 0.25,
    "action_set": "full",
    "life_loss_ends_episode": False,
    "max_noops": 0,
    "min_noops": 0,
    "fire_at_reset": False,
    "cap_frames": 108_000,
    "evaluation_protocol": "sticky-30min",
}
# The optimizer settings of paac-breakout, which need fewer steps than the paper's.
LEARNING: dict[str, Any] = {
    "num_envs": 32,
    "learning_rate": 0.001,
    "rmsprop_epsilon": 1e-8,
    "max_grad_norm": 0.5,
    "value_cost": 0.25,
    "centered_inputs": True,
}

PRESETS = (
    Preset(
        name="paac-sticky",
        title="PAAC with sticky actions",
        shows="The modern protocol in any game: sticky actions, all 18 actions, and episodes that continue after a "
        "lost life.",
        source="Tuned here for Breakout (paac-breakout). The emulator settings are from Machado et al. 2018, and each "
        "run is evaluated with sticky-30min at its end.",
        config=PaacConfig(
            **STICKY,
            **LEARNING,
            env="ALE/BattleZone-v5",
            total_steps=10_000_000,
            evaluate_every_steps=10_000_000,
        ),
    ),
    Preset(
        name="paac-100k",
        title="PAAC in 100,000 decisions",
        shows="The budget of Atari 100k in any game: 400,000 frames, or two hours of play.",
        source="Tuned here for Breakout (paac-breakout), with fewer environments so that the few steps give enough "
        "updates. The budget is from Kaiser et al. 2020.",
        config=PaacConfig(
            **LEARNING | {"num_envs": 8},
            env="ALE/Pong-v5",
            total_steps=100_000,
            checkpoint_seconds=30,
            evaluate_every_steps=100_000,
            evaluation_protocol="no-op-30min",
            life_loss_ends_episode=True,
            fire_at_reset=False,
            min_noops=1,
        ),
    ),
)


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

MUJOCO_PRESETS = (
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


SMALL_WORLD: dict[str, Any] = {
    "checkpoint_seconds": 5,
    "num_envs": 16,
    "t_max": 5,
    "rmsprop_epsilon": 1e-5,
    "max_grad_norm": 0.5,
    "entropy_cost": 0.01,
    "value_cost": 0.5,
    "clip_rewards": False,
}

FIRST_STEPS_PRESETS = (
    Preset(
        name="paac-catch",
        title="PAAC learns Catch in seconds",
        shows="A paddle learns to catch every ball: from a return of −0.6 to 1 within 150,000 steps.",
        source="Tuned here; the method is PAAC's algorithm 1.",
        config=PaacConfig(**SMALL_WORLD, env="Arcadia/Catch-v0", total_steps=150_000, gamma=0.98, learning_rate=0.003),
    ),
    Preset(
        name="paac-identity",
        title="PAAC learns Identity in seconds",
        shows="The agent learns to choose the shown action: from a return of −5 to 10 within 100,000 steps.",
        source="Tuned here; the method is PAAC's algorithm 1. Rewards are immediate, so γ is small.",
        config=PaacConfig(**SMALL_WORLD, env="Arcadia/Identity-v0", total_steps=100_000, gamma=0.5, learning_rate=0.01),
    ),
)
