"""Presets in which PAAC learns the small worlds within seconds; tuned here."""

from typing import Any

from workers.contract.config import PaacConfig
from workers.contract.presets.preset import Preset

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

PRESETS = (
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
