"""Presets for MiniGrid. They are loaded after the environments, so that their configurations are valid."""

from typing import Any

from arcadia.plugins import CONFIGURATIONS, Plugin, Preset, TrainingConfig


def paac(world: str, total_steps: int, **others: Any) -> TrainingConfig:
    """Return PAAC's configuration for a world."""
    return CONFIGURATIONS["paac"](
        env=f"ArcadiaMiniGrid/{world}-v0",
        total_steps=total_steps,
        num_envs=16,
        hidden_units=128,
        gamma=0.95,
        learning_rate=0.015,
        rmsprop_epsilon=0.001,
        clip_rewards=False,
        **others,
    )


PRESETS = Plugin(
    interface=1,
    provides=[
        Preset(
            name="minigrid-empty-paac",
            title="PAAC crosses an empty room",
            shows="The agent finds the green square from a partial view.",
            source="Tuned here.",
            config=paac("Empty-5x5", 80_000, checkpoint_seconds=10),
        ),
        Preset(
            name="minigrid-go-to-door-paac",
            title="PAAC goes to the door that its mission names",
            shows="The mission is a text: “go to the red door”. The agent must read the color.",
            source="Tuned here.",
            config=paac("GoToDoor-5x5", 2_000_000),
        ),
    ],
)
