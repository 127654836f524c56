"""Named, complete configurations, each citing where its numbers come from (no torch)."""

from dataclasses import dataclass

from workers.trainer.config import PaacConfig, RunConfig


@dataclass(frozen=True)
class Preset:
    """A named, complete configuration that says what it shows and where its numbers come from."""

    name: str
    title: str
    shows: str
    source: str
    config: RunConfig


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            name="paac-cartpole",
            title="PAAC learns CartPole in a minute",
            shows="A pole balanced for 500 steps, learnt while you watch.",
            source="Tuned here; the method is PAAC's algorithm 1.",
            config=PaacConfig(
                env="CartPole-v1",
                total_steps=1_500_000,
                checkpoint_seconds=5,
                num_envs=16,
                t_max=16,
                gamma=0.98,
                learning_rate=0.003,
                rmsprop_epsilon=1e-5,
                max_grad_norm=0.5,
                entropy_cost=0.0,
                value_cost=0.05,
                clip_rewards=False,
            ),
        ),
        Preset(
            name="paac-pong",
            title="PAAC plays Pong",
            shows="From losing every rally to winning nearly all, in an hour or two on two cores.",
            source="Tuned here to learn from fewer steps than the paper's settings; the method is PAAC's algorithm 1.",
            config=PaacConfig(
                env="ALE/Pong-v5",
                total_steps=8_000_000,
                num_envs=16,
                learning_rate=0.0005,
                rmsprop_epsilon=1e-10,
                max_grad_norm=0.5,
                value_cost=0.5,
            ),
        ),
        Preset(
            name="paac-paper-nips",
            title="PAAC, the paper's arch_nips",
            shows="The settings of the paper's table 1 with the small network.",
            source="Clemente et al. 2017, section 5.1.",
            config=PaacConfig(network="nips"),
        ),
        Preset(
            name="paac-paper-nature",
            title="PAAC, the paper's arch_nature",
            shows="The settings of the paper's table 1 with the large network.",
            source="Clemente et al. 2017, section 5.1.",
            config=PaacConfig(network="nature"),
        ),
    )
}
