"""Presets of PPO."""

from typing import Any

from arcadia_workers.contract.config import PpoConfig
from arcadia_workers.contract.presets.preset import Preset

# Table 3, and further settings of the authors' code: openai/baselines, baselines/ppo1/run_mujoco.py.
MUJOCO: dict[str, Any] = {
    "total_steps": 1_000_000,
    "evaluate_every_steps": 100_000,
    "num_envs": 1,
    "t_max": 2048,
    "num_epochs": 10,
    "minibatch_size": 64,
    "learning_rate": 0.0003,
    "clip_range": 0.2,
    "entropy_cost": 0.0,
    "max_grad_norm": 1e6,
    "normalize_observations": True,
    "clip_rewards": False,
}
MUJOCO_SOURCE = (
    "Schulman et al. 2017, table 3: T 2048, α 0.0003, K 10, M 64, γ 0.99, λ 0.95, ε 0.2. α and ε that fall to 0, "
    "normalized observations and advantages, and Adam's ε from the authors' code (openai/baselines, ppo1)."
)

PRESETS = (
    Preset(
        name="ppo-pong",
        title="PPO plays Pong",
        shows="Several epochs of minibatches for each rollout, so each step is used several times.",
        source="Tuned here for few steps; the method is the paper's algorithm 1.",
        config=PpoConfig(
            env="ALE/Pong-v5",
            total_steps=1_600_000,
            num_envs=16,
            t_max=64,
            num_epochs=3,
            minibatch_size=256,
            learning_rate=0.0015,
            learning_rate_decay="late",
            clip_range_decay="none",
            value_cost=0.5,
            centered_inputs=True,
        ),
    ),
    Preset(
        name="ppo-cartpole",
        title="PPO learns CartPole",
        shows="A pole balanced for 500 steps, learned while you watch.",
        source="Tuned here; the method is the paper's algorithm 1.",
        config=PpoConfig(
            env="CartPole-v1",
            total_steps=200_000,
            checkpoint_seconds=5,
            num_envs=8,
            t_max=32,
            gae_lambda=0.8,
            gamma=0.98,
            num_epochs=10,
            minibatch_size=64,
            learning_rate=0.001,
            clip_range=0.2,
            value_cost=0.5,
            entropy_cost=0.0,
            clip_rewards=False,
        ),
    ),
    Preset(
        name="ppo-lstm-recall",
        title="PPO with memory learns Recall",
        shows="A cue that is shown once is named several steps later.",
        source="Tuned here; the method is the paper's algorithm 1 with an LSTM.",
        config=PpoConfig(
            env="Arcadia/Recall-v0",
            total_steps=100_000,
            checkpoint_seconds=5,
            num_envs=16,
            t_max=16,
            num_epochs=4,
            minibatch_size=64,
            learning_rate=0.001,
            clip_range=0.2,
            value_cost=0.5,
            hidden_units=16,
            lstm_units=16,
        ),
    ),
    *(
        Preset(
            name=f"ppo-{name}",
            title=f"PPO moves MuJoCo's {title}",
            shows="The paper's continuous agent: a Gaussian policy with a deviation for each joint.",
            origin="paper",
            source=MUJOCO_SOURCE,
            config=PpoConfig(**MUJOCO, env=env),
        )
        for name, title, env in (
            ("half-cheetah", "Half Cheetah", "HalfCheetah-v5"),
            ("hopper", "Hopper", "Hopper-v5"),
            ("walker2d", "Walker 2D", "Walker2d-v5"),
        )
    ),
)
