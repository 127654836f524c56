"""Presets of PAAC for the modern protocols: sticky actions, and the budget of Atari 100k."""

from typing import Any

from workers.contract.config import PaacConfig
from workers.contract.presets.preset import Preset

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
