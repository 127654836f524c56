"""Presets for docking. They are loaded after the environment, so that their configurations are valid."""

from arcadia.plugins import CONFIGURATIONS, Plugin, Preset

PRESETS = Plugin(
    interface=1,
    provides=[
        Preset(
            name="docking-a3c",
            title="A3C docks a ship",
            shows="The agent accelerates, brakes, and stops at the station.",
            source="Tuned here.",
            config=CONFIGURATIONS["a3c"](
                env="Docking/Station-v0",
                total_steps=200_000,
                num_actors=2,
                t_max=20,
                gamma=0.97,
                max_grad_norm=1000,
                value_cost=0.1,
                hidden_units=128,
                hidden_layers=1,
                activation="relu",
                clip_rewards=False,
                checkpoint_seconds=10,
            ),
        )
    ],
)
