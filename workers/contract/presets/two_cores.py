"""Presets for two cores of Pong, Breakout and the Labyrinth; tuned here to need fewer steps than the papers' settings.

Those of A3C and GA3C carry paac-pong's settings over, but for its rate and its entropy's weight (docs/results/pong.md
has the argument). Their losses are sums over n steps where PAAC's is a mean over 160: clip and √ε are n times larger.
"""

from typing import Any

from workers.contract.config import A3cConfig, Ga3cConfig, NStepQConfig, PaacConfig, PaacQConfig
from workers.contract.presets.preset import Preset

# Of PAAC's framework, whatever it trains.
IN_LOCKSTEP: dict[str, Any] = {
    "num_envs": 32,
    "learning_rate": 0.001,
    "learning_rate_decay": "none",
    "rmsprop_epsilon": 1e-8,
    "max_grad_norm": 0.5,
    "centered_inputs": True,
}
# Of methods that learn action values: each environment comes to one of these ε, so some go on exploring.
EXPLORING: dict[str, Any] = {
    "final_epsilons": (0.02, 0.1, 0.3),
    "final_epsilon_probabilities": (0.5, 0.3, 0.2),
    "epsilon_anneal_frames": 2_000_000,
}
# The rate falls to 0, as in the paper: with one that stayed the same A3C stayed below 18.
A3C_PONG: dict[str, Any] = {
    "total_steps": 5_000_000,
    "num_actors": 4,
    "t_max": 80,
    "learning_rate": 0.0008,
    "rmsprop_epsilon": 6.4e-5,
    "max_grad_norm": 40,
    "centered_inputs": True,
    "entropy_cost": 0.005,
    "value_cost": 0.25,
}

PRESETS = (
    Preset(
        name="paac-pong",
        title="PAAC plays Pong",
        shows="From losing every rally to winning nearly all: 3.1 to 3.7 M steps, 20 minutes on two idle cores.",
        source="Tuned here to need fewer steps than the paper's settings; the method is PAAC's algorithm 1.",
        # The rate falls once the runs have found how to win: one that fell sooner left some behind. Entropy's weight
        # falls with it, so that the agent wins as often when its actions are drawn as when it acts greedily. The weight
        # is twice that of the methods below: with half of it not every agent found how to win within 5 M steps.
        config=PaacConfig(
            **IN_LOCKSTEP | {"learning_rate": 0.0015, "learning_rate_decay": "late"},
            env="ALE/Pong-v5",
            total_steps=5_000_000,
            entropy_cost=0.02,
            entropy_cost_decay="late",
            value_cost=0.25,
        ),
    ),
    Preset(
        name="paac-breakout",
        title="PAAC plays Breakout",
        shows="From missing the ball to a person's mean score: 10 M steps, 80 minutes on two cores.",
        source="Tuned here from paac-pong's settings. A lost life is an end. FIRE is left to the agent, as in "
        "evaluations: an agent for which FIRE was pressed came to 15 there instead of 26 in its training.",
        config=PaacConfig(
            **IN_LOCKSTEP | {"learning_rate_decay": "linear"},
            env="ALE/Breakout-v5",
            total_steps=10_000_000,
            value_cost=0.25,
            life_loss_ends_episode=True,
            fire_at_reset=False,
            min_noops=1,
        ),
    ),
    Preset(
        name="a3c-pong",
        title="A3C plays Pong",
        shows="Four actor-learners on two cores, from losing every rally to winning nearly all: 3.5 M steps.",
        source="Tuned here for two cores, from paac-pong's settings; the A3C paper's algorithm S2 with longer rollouts "
        "than its 5 steps: with 20 the hidden layer died at a rate of 0.0005, and 0.0002 was slow.",
        config=A3cConfig(**A3C_PONG),
    ),
    Preset(
        name="a3c-lstm-pong",
        title="A3C with memory plays Pong",
        shows="Four actor-learners with 256 LSTM cells after the last hidden layer; as many points won as lost after "
        "3.2 M steps, and a mean of 16 at the end.",
        source="As a3c-pong, with the paper's LSTM agent.",
        config=A3cConfig(**A3C_PONG, lstm_units=256),
    ),
    Preset(
        name="a3c-lstm-labyrinth",
        title="A3C with memory finds its way in the Labyrinth",
        shows="An agent with 256 LSTM cells looks for apples and the portal in a new maze every minute: ten minutes on "
        "two cores.",
        source="Tuned here to need fewer steps than a3c-labyrinth; the A3C paper's LSTM agent and its section 5.4.",
        config=A3cConfig(
            env="Arcadia/Labyrinth-v0",
            total_steps=500_000,
            num_actors=2,
            t_max=20,
            learning_rate=0.0002,
            rmsprop_epsilon=4e-6,
            entropy_cost=0.005,
            value_cost=0.25,
            lstm_units=256,
            clip_rewards=False,
            centered_inputs=True,
            initialization="orthogonal",
        ),
    ),
    Preset(
        name="n-step-q-pong",
        title="n-step Q-learning plays Pong",
        shows="Action values instead of a policy: eight actor-learners win as many points as they lose after 2.6 M "
        "steps; after 4 M, without random actions, the agent wins nearly all.",
        source="Tuned here from paac-n-step-q-pong's settings; the method is the A3C paper's algorithm S1. Some "
        "actor-learners go on exploring, as there.",
        config=NStepQConfig(
            **EXPLORING,
            total_steps=4_000_000,
            num_actors=8,
            t_max=20,
            learning_rate=0.0002,
            learning_rate_decay="none",
            rmsprop_epsilon=4e-6,
            max_grad_norm=10,
            centered_inputs=True,
        ),
    ),
    Preset(
        name="paac-n-step-q-pong",
        title="n-step Q-learning in PAAC's framework plays Pong",
        shows="Action values instead of a policy: as many points won as lost after 2.0 M steps; after 3 M, without "
        "random actions, it wins every rally.",
        source="Tuned here from paac-pong's settings; the method is the A3C paper's algorithm S1. As there, some "
        "environments go on exploring: about half with an ε of 0.02, the others with 0.1 or 0.3.",
        config=PaacQConfig(
            **IN_LOCKSTEP | EXPLORING | {"learning_rate": 0.0005},
            env="ALE/Pong-v5",
            total_steps=3_000_000,
        ),
    ),
    Preset(
        name="ga3c-pong",
        title="GA3C plays Pong",
        shows="Sixteen agents on a few cores: 2.5 M steps to winning nearly all rallies, 27 minutes on two busy cores.",
        source="Tuned here to need fewer steps than the paper's settings, as paac-pong's are, with training batches as "
        "large as PAAC's. The paper's figure 7 found its best results at 20 to 40, for other settings.",
        config=Ga3cConfig(
            total_steps=4_000_000,
            num_agents=16,
            num_predictors=1,
            num_trainers=1,
            dynamic_adjustment=False,
            min_training_batch=160,
            learning_rate=0.001,
            learning_rate_decay="none",
            rmsprop_epsilon=2.56e-4,
            max_grad_norm=80,
            value_cost=0.25,
            centered_inputs=True,
        ),
    ),
)
