"""Presets with the papers' own settings, and A2C's modern ones."""

from typing import Any, Literal

from arcadia_workers.contract.config import (
    A3cConfig,
    Ga3cConfig,
    GorilaConfig,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
    PaacConfig,
    PaacQConfig,
)
from arcadia_workers.contract.presets.preset import EPOCH_STEPS, Preset

A3C_PAPER = "Mnih et al. 2016, section 5.1 and supplement"
A3C_PUBLIC = (
    "learning rate 0.0007, RMSProp ε 0.1 and gradient norm limit 40 from a public replication (PFRL); the paper chose "
    "its values by search"
)
EVERY_EPOCH: dict[str, Any] = {"evaluate_every_steps": EPOCH_STEPS}
# No-op starts of 1 to 30 frames. The agent has to press FIRE.
AS_THE_PAPERS: dict[str, Any] = EVERY_EPOCH | {"min_noops": 1, "max_noops": 30, "fire_at_reset": False}
# The A3C paper states no period. This is its epoch.
EPSILON_PERIOD = 4_000_000
A3C_REPLICATED = (
    f"{A3C_PUBLIC}. Value weight ½ · 0.5 as in PFRL. The 2013 network (nips) as in PFRL, the supplement and PAAC's "
    "paper, although section 5.1 names Nature's"
)
A3C_ATARI: dict[str, Any] = AS_THE_PAPERS | {"life_loss_ends_episode": True, "value_cost": 0.25, "network": "nips"}
Q_ATARI: dict[str, Any] = AS_THE_PAPERS | {
    "life_loss_ends_episode": True,
    "network": "nips",
    "epsilon_draw_frames": EPSILON_PERIOD,
}
ARCHITECTURES: tuple[Literal["nips", "nature"], ...] = ("nips", "nature")
WORDS = {"nips": "small", "nature": "large"}
# The settings of PAAC's paper, with the value weight and loss scale of its code. The learning rate belongs to sums over
# t_max, but equations 10 and 11 divide by n_e · t_max.
PAAC_STEP: dict[str, Any] = AS_THE_PAPERS | {
    "learning_rate": 0.0007,
    "learning_rate_scale": "num_envs",
    "loss_scale": 5,
    "value_cost": 0.25,
}


def _paac_paper(network: Literal["nips", "nature"]) -> Preset:
    return Preset(
        name=f"paac-paper-{network}",
        title=f"PAAC, the paper's arch_{network}",
        shows=f"The settings of the paper's table 1 with the {WORDS[network]} network.",
        origin="paper",
        source="Clemente et al. 2017, section 5.1: n_e 32, t_max 5, learning rate 0.0007 · n_e, RMSProp decay 0.99 "
        "and ε 0.1, gradient norm limit 40. Loss scale 5 and value weight 0.25 from the authors' code "
        "(policy_v_network.py), so that updates are as large as there.",
        config=PaacConfig(**PAAC_STEP, network=network),
    )


def _paac_code(network: Literal["nips", "nature"]) -> Preset:
    return Preset(
        name=f"paac-code-{network}",
        title=f"PAAC, the authors' code with arch_{network}",
        shows=f"The defaults of the published code, with the {WORDS[network]} network.",
        origin="code",
        source="The authors' code, github.com/alfredvc/paac, with the defaults of train.py: entropy weight 0.02, "
        "gradient norm limit 3, 80 M steps over which the learning rate falls to 0, loss scale 5, value weight 0.25.",
        config=PaacConfig(**PAAC_STEP, network=network, total_steps=80_000_000, entropy_cost=0.02, max_grad_norm=3),
    )


PRESETS = (
    *(_paac_paper(network) for network in ARCHITECTURES),
    *(_paac_code(network) for network in ARCHITECTURES),
    Preset(
        name="paac-n-step-q",
        title="n-step Q-learning in PAAC's framework",
        shows="PAAC's framework also trains action values. Each environment explores with its own ε.",
        origin="paper",
        source="Clemente et al. 2017, section 3, for the framework and its settings, with the loss scale of its code; "
        "ε and target network as in Mnih et al. 2016; gradient norm limit 40.",
        config=PaacQConfig(
            **AS_THE_PAPERS,
            network="nips",
            learning_rate=0.0007,
            learning_rate_scale="num_envs",
            loss_scale=5,
            epsilon_draw_frames=EPSILON_PERIOD,
        ),
    ),
    Preset(
        name="a2c-robust",
        title="A2C, the modern settings",
        shows="PAAC's method with settings that work in most games: a small gradient norm limit and orthogonal "
        "weights.",
        origin="code",
        source="OpenAI Baselines' a2c: 16 environments, t_max 5, learning rate from 0.0007 to 0, RMSProp decay 0.99 "
        "and ε 1e-5, gradient norm limit 0.5, value loss weight 0.5; a lost life ends the episode.",
        config=PaacConfig(
            network="nature",
            total_steps=10_000_000,
            num_envs=16,
            learning_rate=0.0007,
            rmsprop_epsilon=1e-5,
            max_grad_norm=0.5,
            value_cost=0.5,
            initialization="orthogonal",
            life_loss_ends_episode=True,
        ),
    ),
    Preset(
        name="a3c-paper-ff",
        title="A3C, the paper's feed-forward agent",
        shows="Sixteen actor-learners that share one set of parameters without locks.",
        origin="paper",
        source=f"{A3C_PAPER}: 16 threads, t_max 5, Shared RMSProp with α 0.99, β 0.01; {A3C_REPLICATED}.",
        config=A3cConfig(**A3C_ATARI),
    ),
    Preset(
        name="a3c-paper-lstm",
        title="A3C, the paper's LSTM agent",
        shows="An agent with memory: 256 LSTM cells after the last hidden layer.",
        origin="paper",
        source=f"{A3C_PAPER}: as the feed-forward agent, with 256 LSTM cells; {A3C_REPLICATED}.",
        config=A3cConfig(**A3C_ATARI, lstm_units=256),
    ),
    Preset(
        name="a3c-continuous",
        title="A3C, the paper's continuous agent",
        shows="Continuous actions: a Gaussian policy that balances MuJoCo's pole.",
        origin="paper",
        source=f"{A3C_PAPER}, section 9: 200 rectifiers and 128 LSTM cells, separate networks for policy and value, β "
        "0.0001, whole episodes without bootstrapping; t_max is the episodes' limit of 1,000 steps. Learning rate "
        "and RMSProp as in the discrete presets.",
        config=A3cConfig(
            **EVERY_EPOCH,
            env="InvertedPendulum-v5",
            total_steps=5_000_000,
            t_max=1_000,
            bootstrap=False,
            value_cost=0.25,
            hidden_units=200,
            hidden_layers=1,
            activation="relu",
            lstm_units=128,
            entropy_cost=0.0001,
            clip_rewards=False,
        ),
    ),
    Preset(
        name="a3c-labyrinth",
        title="A3C explores the Labyrinth",
        shows="An agent with memory looks for apples and the portal in a new maze every minute.",
        origin="paper",
        source=f"{A3C_PAPER} and 5.4: the LSTM agent on 84×84 RGB pictures; {A3C_PUBLIC}.",
        config=A3cConfig(
            **EVERY_EPOCH,
            env="Arcadia/Labyrinth-v0",
            total_steps=50_000_000,
            t_max=20,
            lstm_units=256,
            value_cost=0.25,
            clip_rewards=False,
        ),
    ),
    Preset(
        name="one-step-q",
        title="Asynchronous one-step Q-learning",
        shows="Q-learning without replay. Many actor-learners explore, each with its own ε.",
        origin="paper",
        source=f"{A3C_PAPER}, algorithm 1: updates every 5 steps, target network every 40,000 frames, ε to 0.1, 0.01 "
        "or 0.5 over 4 M frames, drawn again every 4 M frames (our choice; the paper only says periodically); "
        f"{A3C_PUBLIC}.",
        config=OneStepQConfig(**Q_ATARI),
    ),
    Preset(
        name="one-step-sarsa",
        title="Asynchronous one-step Sarsa",
        shows="Learns the values of the actions that it actually takes, including random ones.",
        origin="paper",
        source=f"{A3C_PAPER}: as one-step Q-learning, with the executed action in the target; {A3C_PUBLIC}.",
        config=OneStepSarsaConfig(**Q_ATARI),
    ),
    Preset(
        name="n-step-q",
        title="Asynchronous n-step Q-learning",
        shows="Q-learning whose targets look up to five rewards ahead.",
        origin="paper",
        source=f"{A3C_PAPER}, algorithm S1: t_max 5, target network every 40,000 frames; {A3C_PUBLIC}.",
        config=NStepQConfig(**Q_ATARI),
    ),
    Preset(
        name="ga3c-paper",
        title="GA3C, the paper's settings",
        shows="One model fed by queues. The numbers of agents, predictors and trainers adjust automatically.",
        origin="paper",
        source="Babaeizadeh et al. 2017, sections 3.2 to 5: N_P = N_T = 2 at the start, t_max 5, learning rate "
        "0.0003, queues without limits, no gradient clipping because of the guard in equation 5. From the authors' "
        "code (NVlabs/GA3C, Config.py and NetworkVP.py): constant learning rate, γ, β 0.01, RMSProp decay 0.99 and ε "
        "0.1, value weight 0.5.",
        config=Ga3cConfig(
            **AS_THE_PAPERS,
            training_queue_rollouts=0,
            learning_rate=0.0003,
            learning_rate_decay="none",
            max_grad_norm=1e6,
            value_cost=0.5,
        ),
    ),
)


GORILA_PAPER = "Nair et al. 2015, sections 4 and 5.1"
# One bundle and one shard. DQN's RMSProp ε of 0.01 is for gradients summed over the minibatch; ours are means over it.
DQN = GorilaConfig(
    total_steps=50_000_000,
    num_actors=1,
    num_learners=1,
    final_epsilon=0.1,
    epsilon_anneal_updates=250_000,
    target_update_interval=10_000,
    optimizer="centered_rmsprop",
    learning_rate=0.00025,
    rmsprop_decay=0.95,
    rmsprop_epsilon=0.01 / 32**2,
    max_grad_norm=1e6,
    outlier_deviations=1e6,
    network="nature",
    life_loss_ends_episode=True,
    min_noops=1,
    fire_at_reset=False,
    evaluate_every_steps=EPOCH_STEPS,
)
DQN_SOURCE = (
    "Mnih et al. 2015, extended data table 1: minibatches of 32 every 4 steps, a replay memory of 1 M frames, target "
    "network updated every 10,000 parameter updates (dqn_zoo: every 40,000 frames, or 2,500 updates), ε from 1 to 0.1 "
    "over 1 M steps, centered RMSProp with a learning rate of 0.00025"
)

GORILA_PRESETS = (
    Preset(
        name="gorila-cartpole",
        title="Gorila learns CartPole",
        shows="Two bundles of actor, replay memory and learner balance a pole, with Ray on this machine.",
        source="Tuned here; the method is the Gorila paper's algorithm 1 in bundled mode, with AdaGrad and double Q.",
        config=GorilaConfig(
            env="CartPole-v1",
            total_steps=400_000,
            checkpoint_seconds=10,
            batch_size=64,
            replay_frames=100_000,
            learning_starts=1_000,
            gamma=0.98,
            final_epsilon=0.01,
            epsilon_anneal_updates=2_500,
            double_q=True,
            target_update_interval=100,
            learning_rate=0.03,
            learning_rate_decay="linear",
            adagrad_epsilon=0.0001,
            max_grad_norm=10,
            hidden_units=128,
            activation="relu",
            clip_rewards=False,
        ),
    ),
    Preset(
        name="gorila-laptop",
        title="Gorila plays Pong on one machine",
        shows="Two bundles of actor, replay memory and learner share a parameter server, with Ray on this machine.",
        source=f"Tuned here; bundled mode as in {GORILA_PAPER}, with the small network, double Q and DQN's RMSProp. "
        "Minibatches of 64 every 8 steps use as many transitions as DQN's 32 every 4, but send the parameters half "
        "as often.",
        config=GorilaConfig(
            total_steps=4_000_000,
            t_max=8,
            pull_interval=8,
            batch_size=64,
            replay_frames=200_000,
            learning_starts=10_000,
            final_epsilon=0.02,
            epsilon_anneal_updates=15_000,
            double_q=True,
            target_update_interval=500,
            optimizer="centered_rmsprop",
            learning_rate=0.00015,
            rmsprop_decay=0.95,
            rmsprop_epsilon=1e-8,
            max_grad_norm=10,
        ),
    ),
    Preset(
        name="gorila-paper",
        title="Gorila, the paper's settings",
        shows="100 bundles and 31 parameter shards, for a Ray cluster.",
        origin="paper",
        source=f"{GORILA_PAPER}: N_act = N_learn = 100, N_param = 31, 1 M frames in each of the 100 memories, ε from "
        "1 to 0.1 over 1 M global updates, target network updated every 60,000 updates, AdaGrad, parameters pulled "
        "before every step, no gradient clipping. Arcadia chose the learning rate, the staleness limit and k.",
        config=GorilaConfig(
            total_steps=1_000_000_000,
            num_actors=100,
            num_learners=100,
            num_shards=31,
            max_grad_norm=1e6,
            t_max=1,
            pull_interval=1,
            replay_frames=100_000_000,
            evaluate_every_steps=10 * EPOCH_STEPS,
            network="nature",
            life_loss_ends_episode=True,
            min_noops=1,
            fire_at_reset=False,
        ),
    ),
    Preset(
        name="dqn-nature",
        title="DQN, Nature's settings",
        shows="One actor, one replay memory and one learner: the method that Gorila distributes.",
        origin="paper",
        source=f"{DQN_SOURCE}.",
        config=DQN,
    ),
    Preset(
        name="double-dqn",
        title="Double DQN",
        shows="DQN that chooses the next action with θ but values it with θ⁻, to overestimate less.",
        origin="paper",
        source=f"van Hasselt et al. 2016, with DQN's settings. {DQN_SOURCE}.",
        config=DQN.model_copy(update={"double_q": True}),
    ),
    Preset(
        name="dueling-double-dqn",
        title="Dueling double DQN",
        shows="Two streams of hidden units, one for the state's value and one for the actions' advantages.",
        origin="paper",
        source="Wang et al. 2016, section 4.2: learning rate 0.0000625, gradient norm limit 10, gradients from the "
        f"streams to the convolutions scaled by 1/√2. {DQN_SOURCE}.",
        config=DQN.model_copy(
            update={"double_q": True, "dueling": True, "learning_rate": 0.0000625, "max_grad_norm": 10.0}
        ),
    ),
    Preset(
        name="prioritized-dqn",
        title="Prioritized DQN",
        shows="Double DQN that samples the transitions with the largest errors most often.",
        origin="paper",
        source="Schaul et al. 2016, section 4: proportional prioritization, α 0.6, β from 0.4 to 1, a quarter of "
        "DQN's learning rate. ε and the target network are as in DQN; the paper uses those of the tuned Double DQN. "
        f"{DQN_SOURCE}.",
        config=DQN.model_copy(update={"double_q": True, "prioritized_replay": True, "learning_rate": 0.0000625}),
    ),
)
