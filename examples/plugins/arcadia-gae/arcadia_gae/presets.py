"""Preset of the method."""

from arcadia.plugins import Plugin, Preset

from arcadia_gae import GaeConfig

PRESETS = Plugin(
    interface=1,
    provides=[
        Preset(
            name="gae-cartpole",
            title="GAE actor-critic learns CartPole",
            shows="A pole balanced for some hundred steps within a minute.",
            source="Tuned here; the advantages are those of equation 16.",
            config=GaeConfig(
                env="CartPole-v1",
                total_steps=300_000,
                checkpoint_seconds=5,
                num_envs=16,
                t_max=16,
                gamma=0.98,
                learning_rate=0.002,
                max_grad_norm=0.5,
                entropy_cost=0.0,
                clip_rewards=False,
            ),
        )
    ],
)
