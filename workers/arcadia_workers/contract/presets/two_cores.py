"""Presets for Pong, Breakout and the Labyrinth on two cores, tuned here to need fewer steps than the papers' settings.

The presets of A3C and GA3C use paac-pong's settings, except for its learning rate and entropy weight. Their losses are
sums over n steps, but PAAC's loss is a mean over 160, so their clip and √ε are n times larger. docs/results/pong.md
gives the reasons.
"""

from typing import Any

from arcadia_workers.contract.config import A3cConfig, Ga3cConfig, NStepQConfig, PaacConfig, PaacQConfig
from arcadia_workers.contract.presets.preset import Preset

# Settings of both methods in PAAC's framework.
IN_LOCKSTEP: dict[str, Any] = {
    "num_envs": 32,
    "learning_rate": 0.001,
    "learning_rate_decay": "none",
    "rmsprop_epsilon": 1e-8,
    "max_grad_norm": 0.5,
    "centered_inputs": True,
}
# Settings of methods that learn action values. Each environment ends with one of these ε, so some keep exploring.
EXPLORING: dict[str, Any] = {
    "final_epsilons": (0.02, 0.1, 0.3),
    "final_epsilon_probabilities": (0.5, 0.3, 0.2),
    "epsilon_anneal_frames": 2_000_000,
}
# The learning rate falls to 0, as in the paper. With a constant rate, A3C stayed below 18.
# PAAC's loss is a mean over the n steps of an update. Those of A3C and GA3C are sums, so here the clip is 0.5 n,
# and ε is 1e-8 n².
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
        shows="From losing every rally to winning nearly all: 3.1 to 3.7 M steps, once in 20 minutes on "
        "two nearly idle cores.",
        source="Tuned here to need fewer steps than the paper's settings; the method is PAAC's algorithm 1.",
        # The learning rate falls only after the runs have learned to win. When it fell earlier, some runs did not learn
        # it. The entropy weight falls with it, so that sampled actions win as often as greedy ones. It starts at twice
        # the weight of the methods below, because with half of it some agents did not learn to win within 5 M steps.
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
        shows="From missing the ball to a human's mean score: 10 M steps, 80 minutes on two cores.",
        source="Tuned here from paac-pong's settings. A lost life ends the episode. The agent has to press FIRE, as "
        "in evaluations: an agent trained with Fire at reset scored 26 in training but only 15 in evaluations.",
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
        source="Tuned here for two cores from paac-pong's settings. The method is the A3C paper's algorithm S2 with "
        "rollouts longer than its 5 steps: with 20 steps, the hidden layer died at a learning rate of 0.0005, and "
        "0.0002 was slow.",
        config=A3cConfig(**A3C_PONG),
    ),
    Preset(
        name="a3c-lstm-pong",
        title="A3C with memory plays Pong",
        shows="Four actor-learners with 256 LSTM cells after the last hidden layer win as many points as they lose "
        "after 3.2 M steps. They end with a mean return of 16.",
        source="Tuned here like a3c-pong, with the paper's LSTM agent.",
        config=A3cConfig(**A3C_PONG, lstm_units=256),
    ),
    Preset(
        name="a3c-lstm-labyrinth",
        title="A3C with memory finds its way in the Labyrinth",
        shows="An agent with 256 LSTM cells looks for apples and the portal in a new maze every minute; it trains in "
        "ten minutes on two cores.",
        source="Tuned here to need fewer steps than a3c-labyrinth; the LSTM agent and section 5.4 of the A3C paper.",
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
        "steps. After 4 M steps, the agent wins nearly all points if it acts without random actions.",
        source="Tuned here from paac-n-step-q-pong's settings; the method is the A3C paper's algorithm S1. As in the "
        "paper, some actor-learners keep exploring.",
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
        shows="Action values instead of a policy: wins as many points as it loses after 2.0 M steps. After 3 M steps, "
        "it wins every rally if it acts without random actions.",
        source="Tuned here from paac-pong's settings; the method is the A3C paper's algorithm S1. As in the paper, "
        "some environments keep exploring: about half with ε 0.02, the others with 0.1 or 0.3.",
        config=PaacQConfig(
            **IN_LOCKSTEP | EXPLORING | {"learning_rate": 0.0005},
            env="ALE/Pong-v5",
            total_steps=3_000_000,
        ),
    ),
    Preset(
        name="ga3c-pong",
        title="GA3C plays Pong",
        shows="Sixteen agents on a few cores win nearly all rallies after 2.5 M steps: 27 minutes on two busy cores.",
        source="Tuned here like paac-pong to need fewer steps than the paper's settings, with training batches as "
        "large as PAAC's. The paper's figure 7 found 20 to 40 best, with other settings.",
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
