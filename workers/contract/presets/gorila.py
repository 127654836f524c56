"""Presets of Gorila, and of DQN and its variants, which are Gorila with one of each part."""

from workers.contract.config import GorilaConfig
from workers.contract.presets.preset import EPOCH_STEPS, Preset

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

PRESETS = (
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
        source=f"{DQN_SOURCE}.",
        config=DQN,
    ),
    Preset(
        name="double-dqn",
        title="Double DQN",
        shows="DQN that chooses the next action with θ but values it with θ⁻, to overestimate less.",
        source=f"van Hasselt et al. 2016, with DQN's settings. {DQN_SOURCE}.",
        config=DQN.model_copy(update={"double_q": True}),
    ),
    Preset(
        name="dueling-double-dqn",
        title="Dueling double DQN",
        shows="Two streams of hidden units, one for the state's value and one for the actions' advantages.",
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
        source="Schaul et al. 2016, section 4: proportional prioritization, α 0.6, β from 0.4 to 1, a quarter of "
        "DQN's learning rate. ε and the target network are as in DQN; the paper uses those of the tuned Double DQN. "
        f"{DQN_SOURCE}.",
        config=DQN.model_copy(update={"double_q": True, "prioritized_replay": True, "learning_rate": 0.0000625}),
    ),
)
