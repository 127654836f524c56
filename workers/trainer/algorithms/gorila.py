"""Gorila DQN: distributed deep Q-learning (Nair et al. 2015, section 4, its algorithm 1 quoted in comments).

Nothing here but `train` knows of Ray, which puts each role into a process of its own: see `gorila/crew.py`.
"""

import random
from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from workers.trainer import networks, own_environment
from workers.trainer.config import GorilaConfig
from workers.trainer.environments import Observations
from workers.trainer.gorila.outliers import LossWatch
from workers.trainer.gorila.parameter_server import ParameterServer
from workers.trainer.gorila.prioritised_memory import PrioritisedMemory
from workers.trainer.gorila.ray_cluster import RayCluster
from workers.trainer.gorila.replay_memory import Minibatch, ReplayMemory, Slots, Weights, frames_of
from workers.trainer.gorila.replica import Replica
from workers.trainer.gorila.report import Report
from workers.trainer.gorila.reporter import Reporter
from workers.trainer.gorila.saved_state import fresh, restore, state
from workers.trainer.networks import ActionValues
from workers.trainer.optimizers import FlatParameters, clip_to_norm, learning_rate_at
from workers.trainer.own_environment import Episode, OwnEnvironment
from workers.trainer.precision import body_dtype
from workers.trainer.run import Run
from workers.trainer.spaces import ActionSpace, number_of_actions

TICK_SECONDS = 0.1

Interface = tuple[tuple[int, ...], ActionSpace]
"""The shape of the observations, and the actions."""


class Storage(Protocol):
    """Where an actor stores its experience."""

    def begin(self, observation: Observations) -> None: ...

    def add(self, action: int, reward: float, terminal: bool, observation: Observations) -> None: ...


class Source(Protocol):
    """Where a learner samples experience."""

    def sample(self, size: int, beta: float) -> Minibatch: ...

    def update_priorities(self, slots: Slots, errors: Weights) -> None: ...


class Actor:
    """Acts ε-greedily in its own environment, and stores what it meets."""

    def __init__(
        self, config: GorilaConfig, environment: OwnEnvironment, replica: Replica, memory: Storage, seed: int
    ) -> None:
        self._config, self._environment, self._replica, self._memory = config, environment, replica, memory
        self._actions = number_of_actions(environment.actions)
        self._random = random.Random(seed)  # noqa: S311, it need not be secret
        self.t = 0
        self.begins = True
        memory.begin(environment.observation[0])

    @property
    def epsilon(self) -> float:
        """ε falls linearly with the global updates to its final value."""
        final, interval = self._config.final_epsilon, self._config.epsilon_anneal_updates
        remaining = 1 - self._replica.updates / interval if self._replica.updates < interval else 0.0
        return final + (1 - final) * remaining

    @torch.no_grad()
    def act(self) -> Episode | None:
        """Take one step; return the episode that ended with it."""
        environment = self._environment
        if self._random.random() < self.epsilon:  # with probability ε take a random action a_t
            action = self._random.randrange(self._actions)
        else:  # or else a_t = argmax_a Q(s, a; θ)
            action = int(self._replica.network(torch.from_numpy(environment.observation)).argmax())
        # Execute the action in the environment and observe the reward r_t and the next state s_{t+1}.
        outcome = environment.step(np.array([action]))
        # Store (s_t, a_t, r_t, s_{t+1}) in D.
        self._memory.add(action, outcome.reward, outcome.terminal, environment.observation[0])
        self.t += 1
        self.begins = outcome.over
        if not outcome.over:
            return None
        episode = environment.begin_again()  # initialise the start state to s_1
        self._memory.begin(environment.observation[0])
        return episode

    def close(self) -> None:
        """End the environment."""
        self._environment.close()


class Learner:
    """Computes gradients from samples of D, with a target network Q(s, a; θ⁻)."""

    def __init__(self, config: GorilaConfig, replica: Replica, target: ActionValues, memory: Source) -> None:
        self._config, self._replica, self._memory = config, replica, memory
        self._target = FlatParameters(target)
        self._target_network = target
        self._watch = LossWatch(config.outlier_deviations)
        # The multiple of N at which θ⁻ was θ⁺; it has not been yet.
        self._synced = -1

    def learn(self, server: ParameterServer, step: int, report: Report) -> None:
        """Send the gradients of one minibatch; the step that training is at decides their learning rate."""
        config, network, parameters = self._config, self._replica.network, self._replica.parameters
        self._sync_target(server)
        progress = min(1.0, step / config.total_steps)
        beta = config.importance_exponent + (1 - config.importance_exponent) * progress
        batch = self._memory.sample(config.batch_size, beta)  # sample random mini-batch from D
        y = targets(network, self._target_network, batch, config)
        q = chosen(network(torch.from_numpy(batch.states)), torch.from_numpy(batch.actions))
        loss, errors = dqn_loss(y, q, torch.from_numpy(batch.weights), config.clip_errors)
        parameters.backward(loss)  # compute gradients with respect to θ using equation 2
        self._memory.update_priorities(batch.slots, errors.numpy())
        if self._watch.is_outlier(errors.abs().mean().item()):
            report.outliers += 1
            return
        gradient_norm = clip_to_norm(parameters.gradients, config.max_grad_norm)
        learning_rate = learning_rate_at(config.learning_rate, config.learning_rate_decay, step, config.total_steps)
        # Send gradients to the parameter server.
        server.push(parameters.gradients.numpy(), self._replica.versions, learning_rate)
        report.bytes_pushed += parameters.gradients.nbytes
        report.gradient(
            {
                "train/value_loss": errors.square().mean().item(),
                "train/q_mean": q.mean().item(),
                "train/grad_norm": gradient_norm.item(),
                "train/learning_rate": learning_rate,
            }
        )

    def _sync_target(self, server: ParameterServer) -> None:
        """Every global N steps sync θ⁻ with parameters θ⁺ from the parameter server."""
        due = self._replica.updates // self._config.target_update_interval
        if due > self._synced:
            self._target.values.copy_(torch.from_numpy(np.concatenate(server.target())))
            self._target.changed()
            self._synced = due


@torch.no_grad()
def targets(network: ActionValues, target: ActionValues, batch: Minibatch, config: GorilaConfig) -> Tensor:
    """y = r for terminal s', else r + γ max_a' Q(s', a'; θ⁻).

    Double DQN chooses a' by θ and values it by θ⁻ (van Hasselt et al. 2016, equation 4).
    """
    next_states = torch.from_numpy(batch.next_states)
    following = target(next_states)
    best = (network(next_states) if config.double_q else following).argmax(dim=-1)
    values = chosen(following, best).masked_fill_(torch.from_numpy(batch.terminals), 0.0)
    return torch.from_numpy(batch.rewards) + config.gamma * values


def chosen(action_values: Tensor, actions: Tensor) -> Tensor:
    """Q of one action in each state."""
    return action_values.gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def dqn_loss(y: Tensor, q: Tensor, weights: Tensor, clip: bool) -> tuple[Tensor, Tensor]:
    """What has equation 2's gradients, as the mean of the minibatch, and the errors y − Q(s, a; θ).

    Clipped errors are those of DQN: no transition's weighs more than 1 (Mnih et al. 2015, methods).
    """
    errors = y - q
    squares = F.huber_loss(q, y, reduction="none") if clip else 0.5 * errors.square()
    return (weights * squares).mean(), errors.detach()


class Bundle:
    """An actor, its local replay memory and its learner around one replica, which only parameters leave."""

    def __init__(self, config: GorilaConfig, shards: int, seed: int) -> None:
        self._config = config
        environment = OwnEnvironment(config, seed)
        shape, actions = environment.observation_shape, environment.actions
        self.memory = replay_memory(config, shape, seed)  # initialise replay memory D to size P
        # Initialise Q(s, a; θ), and the target network Q(s, a; θ⁻); their weights come from the parameter server.
        self._replica = Replica(build(config, shape, actions), shards)
        self.actor = Actor(config, environment, self._replica, self.memory, seed)
        self._learner = Learner(config, self._replica, build(config, shape, actions), self.memory)

    def work(self, server: ParameterServer, step: int, report: Report, goes_on: Callable[[], bool]) -> None:
        """Algorithm 1, for each bundle, from where it was."""
        config, actor, replica = self._config, self.actor, self._replica
        while goes_on():
            if actor.begins:
                with report.timed("waiting"):
                    replica.update(server, report)  # update θ from parameters θ⁺ of the parameter server
            with report.timed("acting"):
                report.step(actor.act())
            if actor.t % config.pull_interval == 0:
                with report.timed("waiting"):
                    replica.update(server, report)  # update θ from parameters θ⁺ of the parameter server
            if actor.t % config.t_max == 0 and len(self.memory) * config.num_actors >= max(1, config.learning_starts):
                with report.timed("learning"):
                    self._learner.learn(server, step, report)
                replica.ask(server)  # with the gradients in it, while the actor goes on

    def tell(self, report: Report) -> None:
        """Complete a report by how things stand."""
        report.updates, report.epsilon, report.fill = self._replica.updates, self.actor.epsilon, self.memory.fill


class FreeActor:
    """An actor that stores its experience in the global replay memory."""

    def __init__(self, config: GorilaConfig, shards: int, seed: int, storage: Storage) -> None:
        self._config = config
        environment = OwnEnvironment(config, seed)
        self._replica = Replica(build(config, environment.observation_shape, environment.actions), shards)
        self.actor = Actor(config, environment, self._replica, storage, seed)

    def work(self, server: ParameterServer, report: Report, goes_on: Callable[[], bool]) -> None:
        """Algorithm 1's part of acting."""
        actor, replica = self.actor, self._replica
        while goes_on():
            if actor.begins or actor.t % self._config.pull_interval == 0:
                with report.timed("waiting"):
                    replica.update(server, report)
                replica.ask(server)  # for the next time
            with report.timed("acting"):
                report.step(actor.act())

    def tell(self, report: Report) -> None:
        """Complete a report by how things stand."""
        report.updates, report.epsilon = self._replica.updates, self.actor.epsilon


class FreeLearner:
    """A learner that samples from the global replay memory."""

    def __init__(self, config: GorilaConfig, shards: int, interface: Interface, source: Source) -> None:
        self._replica = Replica(build(config, *interface), shards)
        self._learner = Learner(config, self._replica, build(config, *interface), source)

    def work(self, server: ParameterServer, step: int, report: Report, goes_on: Callable[[], bool]) -> None:
        """Algorithm 1's part of learning."""
        while goes_on():
            with report.timed("waiting"):
                self._replica.update(server, report)
            with report.timed("learning"):
                self._learner.learn(server, step, report)

    def tell(self, report: Report) -> None:
        """Complete a report by how things stand."""
        report.updates = self._replica.updates


def replay_memory(config: GorilaConfig, observation_shape: tuple[int, ...], seed: int) -> ReplayMemory:
    """One of the run's replay memories, with its share of the frames."""
    frames, capacity = frames_of(observation_shape), config.replay_frames // config.num_memories
    if config.prioritised_replay:
        return PrioritisedMemory(frames, capacity, seed, config.priority_exponent)
    return ReplayMemory(frames, capacity, seed)


def build(config: GorilaConfig, observation_shape: tuple[int, ...], actions: ActionSpace) -> ActionValues:
    """Make Q with fresh weights, in the number format of the run."""
    dtype = body_dtype(config, torch.device("cpu"))
    return networks.build_action_values(config, observation_shape, actions, dtype)


def train(config: GorilaConfig, run: Run) -> None:
    """Start Ray or join it, and train there."""
    with RayCluster() as cluster:
        train_on(cluster, config, run)


def train_on(cluster: RayCluster, config: GorilaConfig, run: Run) -> None:
    """Have a crew of roles train the network until T reaches the end or the run shall stop."""
    from workers.trainer.gorila.crew import Crew  # loads Ray, which no other method needs

    torch.manual_seed(config.seed)
    interface = own_environment.interface(config)
    parameters = FlatParameters(build(config, *interface))
    start = run.restored
    whole = restore(start, config, parameters) if start else fresh(config, parameters)
    first_step = start.step if start else 0
    reporter = Reporter(run, config, whole.updates, start.facts if start else {})
    with Crew(cluster, config, interface, whole, first_step, run.log) as crew:
        while crew.step < config.total_steps and not run.should_stop():
            crew.watch(TICK_SECONDS)
            reporter.tell(crew)
            if run.checkpoint_due():
                run.save(state(crew.state(), crew.step, config, parameters, reporter.facts))
        crew.dismiss()
        reporter.tell(crew, last=True)
        run.save(state(crew.state(), crew.step, config, parameters, reporter.facts))
