"""Named, complete configurations, each citing where its numbers come from (no torch)."""

from dataclasses import dataclass

from pydantic import JsonValue

from workers.trainer.config import (
    A3cConfig,
    Ga3cConfig,
    GorilaConfig,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
    PaacConfig,
    PaacQConfig,
    RunConfig,
)
from workers.trainer.config.problems import METHODS, FieldProblem, title_of

A3C_PAPER = "Mnih et al. 2016, section 5.1 and supplement"
A3C_PUBLIC = (
    "learning rate 0.0007, RMSProp ε 0.1 and clip 40 from public replications (PFRL), as the paper searched them"
)
GORILA_PAPER = "Nair et al. 2015, sections 4 and 5.1"
# One bundle and one shard. Nature's RMSProp ε of 0.01 is for gradients summed over the minibatch; ours are their mean.
DQN = GorilaConfig(
    total_steps=50_000_000,
    num_actors=1,
    num_learners=1,
    final_epsilon=0.1,
    epsilon_anneal_updates=250_000,
    target_update_interval=10_000,
    optimizer="rmsprop",
    learning_rate=0.00025,
    rmsprop_decay=0.95,
    rmsprop_epsilon=0.01 / 32**2,
    max_grad_norm=1e6,
    outlier_deviations=1e6,
    network="nature",
    life_loss_ends_episode=True,
)
DQN_SOURCE = (
    "Mnih et al. 2015, extended data table 1: a minibatch of 32 every 4 steps, a memory of 1 M frames, θ⁻ every 10,000 "
    "updates, ε 1 to 0.1 over 1 M steps, rate 0.00025; RMSProp is not centred here"
)


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
            name="a3c-cartpole",
            title="A3C learns CartPole",
            shows="Two actor-learners that share what they learn about balancing a pole.",
            source="Tuned here; the method is the A3C paper's algorithm S2.",
            config=A3cConfig(
                env="CartPole-v1",
                total_steps=400_000,
                checkpoint_seconds=10,
                num_actors=2,
                t_max=20,
                gamma=0.98,
                learning_rate=0.001,
                rmsprop_epsilon=1e-5,
                max_grad_norm=5,
                entropy_cost=0.001,
                value_cost=0.1,
                clip_rewards=False,
            ),
        ),
        Preset(
            name="ga3c-cartpole",
            title="GA3C learns CartPole",
            shows="Sixteen agents that ask one model what to do, and send it what came of it.",
            source="Tuned here; the method is the GA3C paper's section 4.",
            config=Ga3cConfig(
                env="CartPole-v1",
                total_steps=500_000,
                checkpoint_seconds=10,
                num_agents=16,
                num_predictors=1,
                num_trainers=1,
                dynamic_adjustment=False,
                min_training_batch=128,
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
            name="ga3c-pong",
            title="GA3C plays Pong",
            shows="Sixteen agents on a few cores; the mean return leaves −20 after about half a million steps.",
            source="Tuned here to learn from fewer steps than the paper's settings; the GA3C paper's section "
            "4, the training batch of 40 from its figure 7.",
            config=Ga3cConfig(
                total_steps=8_000_000,
                num_agents=16,
                num_predictors=1,
                num_trainers=1,
                dynamic_adjustment=False,
                min_training_batch=40,
                learning_rate=0.0005,
                rmsprop_epsilon=1e-10,
                max_grad_norm=20,
                value_cost=0.5,
            ),
        ),
        Preset(
            name="paac-paper-nips",
            title="PAAC, the paper's arch_nips",
            shows="The settings of the paper's table 1 with the small network.",
            source="Clemente et al. 2017, section 5.1: n_e 32, t_max 5, 0.0007 · n_e, RMSProp 0.99 and ε 0.1, clip 40.",
            config=PaacConfig(network="nips", learning_rate=0.0007, learning_rate_scale="num_envs"),
        ),
        Preset(
            name="paac-paper-nature",
            title="PAAC, the paper's arch_nature",
            shows="The settings of the paper's table 1 with the large network.",
            source="Clemente et al. 2017, section 5.1: n_e 32, t_max 5, 0.0007 · n_e, RMSProp 0.99 and ε 0.1, clip 40.",
            config=PaacConfig(network="nature", learning_rate=0.0007, learning_rate_scale="num_envs"),
        ),
        Preset(
            name="paac-n-step-q",
            title="n-step Q-learning in PAAC's framework",
            shows="The framework drives action values as well, each environment with an ε of its own.",
            source="Clemente et al. 2017, section 3, for the framework and its settings; ε and target network as in "
            "Mnih et al. 2016; clip 40.",
            config=PaacQConfig(network="nips", learning_rate=0.0007, learning_rate_scale="num_envs"),
        ),
        Preset(
            name="a2c-robust",
            title="A2C, the modern settings",
            shows="PAAC's method with settings that hold on most games: short gradients, orthogonal weights.",
            source="OpenAI Baselines' a2c: 16 environments, t_max 5, rate 0.0007 to 0, RMSProp 0.99 and ε 1e-5, "
            "gradient norm 0.5, value loss × 0.5, a lost life ends the episode.",
            config=PaacConfig(
                network="nature",
                total_steps=10_000_000,
                num_envs=16,
                learning_rate=0.0007,
                rmsprop_epsilon=1e-5,
                max_grad_norm=0.5,
                value_cost=0.5,
                initialisation="orthogonal",
                life_loss_ends_episode=True,
            ),
        ),
        Preset(
            name="a3c-paper-ff",
            title="A3C, the paper's feed-forward agent",
            shows="Sixteen actor-learners that share one set of parameters without locks.",
            source=f"{A3C_PAPER}: 16 threads, t_max 5, Shared RMSProp with α 0.99, β 0.01; {A3C_PUBLIC}.",
            config=A3cConfig(life_loss_ends_episode=True),
        ),
        Preset(
            name="a3c-paper-lstm",
            title="A3C, the paper's LSTM agent",
            shows="The agent that remembers: 256 LSTM cells after the last hidden layer.",
            source=f"{A3C_PAPER}: as the feed-forward agent, with 256 LSTM cells; {A3C_PUBLIC}.",
            config=A3cConfig(life_loss_ends_episode=True, lstm_units=256),
        ),
        Preset(
            name="a3c-continuous",
            title="A3C, the paper's continuous agent",
            shows="Sets numbers instead of choosing: a Gaussian policy that balances MuJoCo's pole.",
            source=f"{A3C_PAPER}, section 9: 200 rectifiers and 128 LSTM cells, networks of their own for policy and "
            "value, β 0.0001; learning rate and RMSProp as in the discrete presets.",
            config=A3cConfig(
                env="InvertedPendulum-v5",
                total_steps=5_000_000,
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
            shows="An agent with memory, in a new maze every minute, looks for apples and the portal.",
            source=f"{A3C_PAPER} and 5.4: the LSTM agent on 84×84 RGB pictures; {A3C_PUBLIC}.",
            config=A3cConfig(
                env="Arcadia/Labyrinth-v0", total_steps=50_000_000, t_max=20, lstm_units=256, clip_rewards=False
            ),
        ),
        Preset(
            name="one-step-q",
            title="Asynchronous one-step Q-learning",
            shows="Q-learning without replay: many explorers, each with an ε of its own.",
            source=f"{A3C_PAPER}, algorithm 1: updates every 5 steps, target network every 40,000 frames, "
            f"ε to 0.1, 0.01 or 0.5 over 4 M frames; {A3C_PUBLIC}.",
            config=OneStepQConfig(life_loss_ends_episode=True),
        ),
        Preset(
            name="one-step-sarsa",
            title="Asynchronous one-step Sarsa",
            shows="Learns the value of what it does, exploration included.",
            source=f"{A3C_PAPER}: as one-step Q-learning, with the executed action in the target; {A3C_PUBLIC}.",
            config=OneStepSarsaConfig(life_loss_ends_episode=True),
        ),
        Preset(
            name="n-step-q",
            title="Asynchronous n-step Q-learning",
            shows="Q-learning whose targets look up to five rewards ahead.",
            source=f"{A3C_PAPER}, algorithm S1: t_max 5, target network every 40,000 frames; {A3C_PUBLIC}.",
            config=NStepQConfig(life_loss_ends_episode=True),
        ),
        Preset(
            name="ga3c-paper",
            title="GA3C, the paper's settings",
            shows="One model, fed by queues; the numbers of agents, predictors and trainers adjust themselves.",
            source="Babaeizadeh et al. 2017, sections 4.3 and 5: N_P = N_T = 2 to begin with, t_max 5, learning rate "
            "0.0003, β 0.01, no gradient clipping because of the guard in equation 5.",
            config=Ga3cConfig(learning_rate=0.0003, max_grad_norm=1e6),
        ),
        Preset(
            name="gorila-laptop",
            title="Gorila on one machine",
            shows="Two bundles of actor, replay memory and learner around a parameter server, on a local Ray.",
            source=f"{GORILA_PAPER}: bundled mode and AdaGrad; a memory, an annealing and a target interval that fit "
            "one machine, the small network, and 4 steps to an update as in DQN.",
            config=GorilaConfig(
                total_steps=10_000_000,
                replay_frames=200_000,
                learning_starts=10_000,
                final_epsilon=0.05,
                epsilon_anneal_updates=100_000,
                target_update_interval=5_000,
            ),
        ),
        Preset(
            name="gorila-paper",
            title="Gorila, the paper's settings",
            shows="A hundred bundles and thirty-one parameter shards: for a Ray cluster.",
            source=f"{GORILA_PAPER}: N_act = N_learn = 100, N_param 31, a memory of 1 M frames, ε 1 to 0.1 over 1 M "
            "global updates, θ⁻ every 60,000, AdaGrad, θ⁺ pulled before every step. Rate, threshold and k are ours.",
            config=GorilaConfig(
                total_steps=1_000_000_000,
                num_actors=100,
                num_learners=100,
                num_shards=31,
                t_max=1,
                pull_interval=1,
                network="nature",
                life_loss_ends_episode=True,
            ),
        ),
        Preset(
            name="dqn-nature",
            title="DQN, Nature's settings",
            shows="One actor, one replay memory, one learner: what Gorila distributes.",
            source=f"{DQN_SOURCE}.",
            config=DQN,
        ),
        Preset(
            name="double-dqn",
            title="Double DQN",
            shows="DQN that chooses the next action by θ and values it by θ⁻, and so overestimates less.",
            source=f"van Hasselt et al. 2016, with DQN's settings. {DQN_SOURCE}.",
            config=DQN.model_copy(update={"double_q": True}),
        ),
        Preset(
            name="dueling-double-dqn",
            title="Dueling double DQN",
            shows="Two streams of hidden units, one for the state's value and one for the actions' advantages.",
            source=f"Wang et al. 2016, section 4.2: rate 0.0000625, gradient norm 10. {DQN_SOURCE}.",
            config=DQN.model_copy(
                update={"double_q": True, "dueling": True, "learning_rate": 0.0000625, "max_grad_norm": 10.0}
            ),
        ),
        Preset(
            name="prioritized-dqn",
            title="Prioritised DQN",
            shows="Double DQN that learns most from the transitions it understood least.",
            source="Schaul et al. 2016, section 4: proportional, α 0.6, β from 0.4 to 1, a quarter of DQN's rate. "
            f"{DQN_SOURCE}.",
            config=DQN.model_copy(update={"double_q": True, "prioritised_replay": True, "learning_rate": 0.0000625}),
        ),
    )
}


def refusal_of_other_method(algorithm: str, wanted: JsonValue) -> FieldProblem | None:
    """Why a configuration of one method cannot be turned into another's by naming it, and what to do instead."""
    if wanted in (None, algorithm) or wanted not in [*METHODS]:  # no method at all is refused by validation
        return None
    names = [preset.name for preset in PRESETS.values() if preset.config.algorithm == wanted]
    instead = f"start from {' or '.join(names)}" if names else "write a whole configuration"
    sentence = f"{title_of(algorithm)} has other fields than {title_of(str(wanted))}, for which you {instead}"
    return FieldProblem("algorithm", sentence)
