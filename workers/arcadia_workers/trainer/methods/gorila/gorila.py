"""Gorila DQN: distributed deep Q-learning (Nair et al. 2015, section 4, its algorithm 1 quoted in comments).

This module does not use Ray: `crew.py` runs bundles, or free actors and learners, in processes of a cluster.
"""

import random
from collections.abc import Callable
from math import sqrt
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from arcadia_workers.contract.action_names import ActionSpace, number_of_actions
from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode, OwnEnvironment
from arcadia_workers.trainer.learning.optimizers import FlatParameters, clip_to_norm
from arcadia_workers.trainer.learning.returns import decayed
from arcadia_workers.trainer.methods.gorila.parameter_server import ParameterServer, Replica
from arcadia_workers.trainer.methods.gorila.replay_memory import (
    Minibatch,
    Numbers,
    PrioritizedMemory,
    ReplayMemory,
    Weights,
    frames_of,
)
from arcadia_workers.trainer.methods.gorila.reporter import WorkRecord
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.networks.networks import ActionValues, NetworkWatch

# The outlier test averages over the last HORIZON losses and skips the first WARM_UP.
HORIZON, WARM_UP = 1000, 100

Interface = tuple[tuple[int, ...], ActionSpace]
"""The shape of the observations, and the actions to choose from."""


class ExperienceSink(Protocol):
    """Destination of an actor's experience."""

    def begin(self, observation: Observations) -> None: ...

    def add(self, action: int, reward: float, terminal: bool, observation: Observations) -> None: ...


class DistantSink(ExperienceSink, Protocol):
    """Sink in another process, which may store more slowly than an actor acts."""

    def keep_pace(self) -> None:
        """Wait until most of the sent steps are stored."""
        ...


class ExperienceSource(Protocol):
    """Source of a learner's samples."""

    def sample(self, size: int, beta: float) -> Minibatch: ...

    def update_priorities(self, numbers: Numbers, errors: Weights) -> None: ...


class GorilaActor:
    """ε-greedy actor in its own environment, which stores its experience."""

    def __init__(
        self, config: GorilaConfig, environment: OwnEnvironment, replica: Replica, memory: ExperienceSink, seed: int
    ) -> None:
        self._config, self._environment, self._replica, self._memory = config, environment, replica, memory
        self._actions = number_of_actions(environment.actions)
        self._random = random.Random(seed)  # noqa: S311, not a secret
        self.t = 0
        self.begins = True
        memory.begin(environment.observation[0])

    @property
    def epsilon(self) -> float:
        """ε, which falls linearly with the global updates to its final value."""
        final, interval = self._config.final_epsilon, self._config.epsilon_anneal_updates
        remaining = 1 - self._replica.updates / interval if self._replica.updates < interval else 0.0
        return final + (1 - final) * remaining

    @torch.no_grad()
    def act(self) -> FinishedEpisode | None:
        """Take one step. Return the episode if it ended."""
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
        """Close the environment."""
        self._environment.close()


class GorilaLearner:
    """Learner that computes gradients from samples of D, with a target network Q(s, a; θ⁻)."""

    def __init__(self, config: GorilaConfig, replica: Replica, target: ActionValues, memory: ExperienceSource) -> None:
        self._config, self._replica, self._memory = config, replica, memory
        self._target = FlatParameters(target)
        self._target_network = target
        self._network_watch = NetworkWatch(replica.network)
        self._watch = LossWatch(config.outlier_deviations)
        # The multiple of N at which θ⁻ was last synced; -1 before the first time.
        self._synced = -1

    def learn(self, server: ParameterServer, step: int, record: WorkRecord) -> None:
        """Send the gradients of one minibatch unless it is an outlier. The global step sets the learning rate."""
        config, network, parameters = self._config, self._replica.network, self._replica.parameters
        self._sync_target(server)
        progress = min(1.0, step / config.total_steps)
        beta = config.importance_exponent + (1 - config.importance_exponent) * progress
        batch = self._memory.sample(config.batch_size, beta)  # sample random mini-batch from D
        y = targets(network, self._target_network, batch, config)
        q = chosen(network(torch.from_numpy(batch.states)), torch.from_numpy(batch.actions))
        self._network_watch.see(torch.from_numpy(batch.states))
        record.network |= self._network_watch.metrics()
        loss, errors = dqn_loss(y, q, torch.from_numpy(batch.weights), config.clip_errors)
        parameters.backward(loss)  # compute gradients with respect to θ using equation 2
        # TD errors are clipped before they become priorities (Schaul et al. 2016, section 4).
        learned = errors.clamp(-1, 1) if config.clip_errors else errors
        self._memory.update_priorities(batch.numbers, learned.numpy())
        if self._watch.is_outlier(errors.abs().mean().item()):
            record.outliers += 1
            return
        gradient_norm = clip_to_norm(parameters.gradients, config.max_grad_norm)
        learning_rate = decayed(config.learning_rate, config.learning_rate_decay, step, config.total_steps)
        # Send gradients to the parameter server.
        server.push(parameters.gradients.numpy(), self._replica.versions, learning_rate)
        record.bytes_pushed += parameters.gradients.nbytes
        record.gradient(
            {
                "train/value_loss": errors.square().mean().item(),
                "train/q_mean": q.mean().item(),
                "train/grad_norm": gradient_norm.item(),
                "train/learning_rate": learning_rate,
            }
        )

    def _sync_target(self, server: ParameterServer) -> None:
        """Sync θ⁻ with parameters θ⁺ from the parameter server every global N steps."""
        due = self._replica.updates // self._config.target_update_interval
        if due > self._synced:
            self._target.values.copy_(torch.from_numpy(np.concatenate(server.target())))
            self._target.changed()
            self._synced = due


class LossWatch:
    """Detector of unusually large losses, whose gradients would be harmful (Nair et al. 2015, section 4.2)."""

    def __init__(self, deviations: float) -> None:
        self._deviations = deviations
        self._seen = 0
        self.mean = self.variance = 0.0

    def is_outlier(self, loss: float) -> bool:
        """Return True if a loss exceeds the running mean by k deviations, and add it to the mean.

        Outliers are added as well, so that permanently larger losses soon count as normal.
        """
        outlier = self._seen >= WARM_UP and loss > self.mean + self._deviations * sqrt(self.variance)
        self._seen = min(self._seen + 1, HORIZON)
        distance = loss - self.mean
        self.mean += distance / self._seen
        self.variance += (distance * (loss - self.mean) - self.variance) / self._seen
        return outlier


@torch.no_grad()
def targets(network: ActionValues, target: ActionValues, batch: Minibatch, config: GorilaConfig) -> Tensor:
    """Return y = r for terminal s', else r + γ max_a' Q(s', a'; θ⁻).

    Double DQN chooses a' by θ and values it by θ⁻ (van Hasselt et al. 2016, equation 4).
    """
    next_states = torch.from_numpy(batch.next_states)
    following = target(next_states)
    best = (network(next_states) if config.double_q else following).argmax(dim=-1)
    values = chosen(following, best).masked_fill_(torch.from_numpy(batch.terminals), 0.0)
    return torch.from_numpy(batch.rewards) + config.gamma * values


def chosen(action_values: Tensor, actions: Tensor) -> Tensor:
    """Return Q of the chosen action in each state."""
    return action_values.gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def dqn_loss(y: Tensor, q: Tensor, weights: Tensor, clip: bool) -> tuple[Tensor, Tensor]:
    """Return a loss whose gradients are equation 2's, averaged over the minibatch, and the errors y − Q(s, a; θ).

    `clip` limits each error to [−1, 1] in the gradients, as DQN does (Mnih et al. 2015, methods).
    """
    errors = y - q
    squares = F.huber_loss(q, y, reduction="none") if clip else 0.5 * errors.square()
    return (weights * squares).mean(), errors.detach()


class Bundle:
    """Actor, local replay memory and learner around one replica. Only parameters leave it."""

    def __init__(self, config: GorilaConfig, shards: int, seed: int) -> None:
        self._config = config
        environment = OwnEnvironment(config, seed)
        shape, actions = environment.observation_shape, environment.actions
        self.memory = replay_memory(config, shape, seed)  # initialise replay memory D to size P
        # Initialise Q(s, a; θ), and the target network Q(s, a; θ⁻); the parameter server sends their weights.
        self._replica = Replica(build(config, shape, actions), shards)
        self.actor = GorilaActor(config, environment, self._replica, self.memory, seed)
        self._learner = GorilaLearner(config, self._replica, build(config, shape, actions), self.memory)

    def work(self, server: ParameterServer, step: int, record: WorkRecord, goes_on: Callable[[], bool]) -> None:
        """Continue algorithm 1 from where the last call left it."""
        config, actor, replica = self._config, self.actor, self._replica
        while goes_on():
            if actor.begins:
                pull(replica, server, record)  # update θ from parameters θ⁺ of the parameter server
            with record.timed("acting"):
                record.step(actor.act())
            if actor.t % config.pull_interval == 0:
                pull(replica, server, record)  # update θ from parameters θ⁺ of the parameter server
            if actor.t % config.t_max == 0 and len(self.memory) * config.num_actors >= max(1, config.learning_starts):
                with record.timed("learning"):
                    self._learner.learn(server, step, record)
                replica.ask(server)  # θ⁺ with these gradients applied; it arrives while the actor acts

    def complete(self, record: WorkRecord) -> None:
        """Add the updates, ε and the fill to a record."""
        record.updates, record.epsilon, record.fill = self._replica.updates, self.actor.epsilon, self.memory.fill


class FreeActor:
    """Actor that stores its experience in the global replay memory."""

    def __init__(self, config: GorilaConfig, shards: int, seed: int, sink: DistantSink) -> None:
        self._config, self._sink = config, sink
        environment = OwnEnvironment(config, seed)
        self._replica = Replica(build(config, environment.observation_shape, environment.actions), shards)
        self.actor = GorilaActor(config, environment, self._replica, sink, seed)

    def work(self, server: ParameterServer, _step: int, record: WorkRecord, goes_on: Callable[[], bool]) -> None:
        """Act until the order ends (algorithm 1)."""
        actor, replica = self.actor, self._replica
        while goes_on():
            with record.timed("waiting"):
                self._sink.keep_pace()  # between two steps, because a shard that does not answer ends the order
            if actor.begins or actor.t % self._config.pull_interval == 0:
                pull(replica, server, record)
                replica.ask(server)  # for the next pull
            with record.timed("acting"):
                record.step(actor.act())

    def complete(self, record: WorkRecord) -> None:
        """Add the updates and ε to a record."""
        record.updates, record.epsilon = self._replica.updates, self.actor.epsilon


class FreeLearner:
    """Learner that samples from the global replay memory."""

    def __init__(self, config: GorilaConfig, shards: int, interface: Interface, source: ExperienceSource) -> None:
        self._replica = Replica(build(config, *interface), shards)
        self._learner = GorilaLearner(config, self._replica, build(config, *interface), source)

    def work(self, server: ParameterServer, step: int, record: WorkRecord, goes_on: Callable[[], bool]) -> None:
        """Continue the learning of algorithm 1."""
        while goes_on():
            pull(self._replica, server, record)
            with record.timed("learning"):
                self._learner.learn(server, step, record)

    def complete(self, record: WorkRecord) -> None:
        """Add the updates to a record."""
        record.updates = self._replica.updates


def pull(replica: Replica, server: ParameterServer, record: WorkRecord) -> None:
    """Update θ from θ⁺, and count the wait and the bytes."""
    with record.timed("waiting"):
        record.bytes_pulled += replica.update(server)


def replay_memory(config: GorilaConfig, observation_shape: tuple[int, ...], seed: int) -> ReplayMemory:
    """Create one of the run's replay memories, which together hold `replay_frames`."""
    frames, capacity = frames_of(observation_shape), config.replay_frames // config.num_memories
    if config.prioritized_replay:
        return PrioritizedMemory(frames, capacity, seed, config.priority_exponent)
    return ReplayMemory(frames, capacity, seed)


def build(config: GorilaConfig, observation_shape: tuple[int, ...], actions: ActionSpace) -> ActionValues:
    """Build Q with fresh weights, in the run's number format."""
    dtype = body_dtype(config, torch.device("cpu"))
    return networks.build_action_values(config, observation_shape, actions, dtype)
