"""Presets for the warehouse. They are loaded after the environment, so that their configurations are valid."""

from arcadia.plugins import CONFIGURATIONS, Plugin, Preset

PRESETS = Plugin(
    interface=1,
    provides=[
        Preset(
            name="warehouse-paac",
            title="PAAC delivers parcels",
            shows="The agent fetches the parcel and brings it to the shelf.",
            source="Tuned here.",
            config=CONFIGURATIONS["paac"](
                env="Warehouse/Deliver-v0",
                total_steps=200_000,
                num_envs=16,
                hidden_units=128,
                gamma=0.95,
                learning_rate=0.003,
                rmsprop_epsilon=1e-5,
                clip_rewards=False,
                checkpoint_seconds=10,
            ),
        )
    ],
)
