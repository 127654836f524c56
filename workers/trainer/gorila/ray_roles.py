"""Gorila's roles as Ray actors: each a process somewhere in the cluster, that works when the trainer asks it to.

Whoever asks holds no connection of a role's own: an order names the shards as they are now, so that one that was
restored elsewhere is found by all with their next orders.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import ray
import torch
from ray.exceptions import RayError, RayTaskError

from workers.trainer import memory
from workers.trainer.algorithms.gorila import Bundle, FreeActor, FreeLearner, Interface, replay_memory
from workers.trainer.config import GorilaConfig
from workers.trainer.environments import Observations
from workers.trainer.gorila.parameter_server import Coming, Floats, ParameterShard, Part, ShardState, Tally, shares
from workers.trainer.gorila.replay_memory import Experience, Minibatch, Slots, Weights, frames_of
from workers.trainer.gorila.report import Report
from workers.trainer.gorila.work import Stock

# How long a role waits for another before it tells the trainer, who knows whether that one is lost.
PATIENCE_SECONDS = 5.0
# How long it rests then, for its next order may find the same.
REST_SECONDS = 0.05
# Steps that a free actor sends at a time; their first state costs three frames more.
EXPERIENCE_STEPS = 64

# Of a Ray actor; calls of its methods are not typed.
Handle = Any


class UnreachableError(Exception):
    """A shard does not answer: it is lost, or will be found to be."""


@dataclass(frozen=True)
class Orders:
    """What a role is asked to do next."""

    shards: Sequence[Handle]
    replays: Sequence[Handle]
    # Where training is, for how long to work, and the most steps to take.
    step: int
    seconds: float
    steps: int


def answers(calls: Sequence[Any]) -> list[Any]:
    """Wait for what several roles answer."""
    try:
        found: list[Any] = ray.get(list(calls), timeout=PATIENCE_SECONDS)
    except RayTaskError:
        raise
    except RayError as error:
        raise UnreachableError from error
    return found


class RemoteServer:
    """The parameter server as actors and learners see it."""

    def __init__(self, shards: Sequence[Handle]) -> None:
        self._shards = shards

    def ask(self, known: Sequence[int]) -> Coming:
        calls = [shard.pull.remote(updates) for shard, updates in zip(self._shards, known, strict=True)]
        return lambda: answers(calls)

    def push(self, gradients: Floats, of_updates: Sequence[int], learning_rate: float) -> None:
        """Send and do not wait; a shard does one thing after another: who asks after this finds it applied."""
        parts = shares(len(gradients), len(self._shards))
        for shard, part, updates in zip(self._shards, parts, of_updates, strict=True):
            shard.push.remote(gradients[part], updates, learning_rate)

    def target(self) -> list[Floats]:
        return answers([shard.target.remote() for shard in self._shards])


class RemoteStorage:
    """Gathers an actor's experience and sends it to one shard of the global replay memory after another."""

    def __init__(self, stack: int) -> None:
        self.replays: Sequence[Handle] = ()
        self._stack = stack
        self._sent = 0
        self._frames: list[Observations] = []
        self._steps: list[tuple[int, float, bool]] = []

    def begin(self, observation: Observations) -> None:
        """Open an episode by its first state."""
        self._send()
        self._frames = list(observation) if self._stack > 1 else [observation]

    def add(self, action: int, reward: float, terminal: bool, observation: Observations) -> None:
        """Store (s_t, a_t, r_t, s_{t+1}), where s_t is the state that came last."""
        self._frames.append(observation[-1] if self._stack > 1 else observation)
        self._steps.append((action, reward, terminal))
        if len(self._steps) >= EXPERIENCE_STEPS:
            self._send()

    def _send(self) -> None:
        """Hand over what was gathered, and go on from the last state."""
        if not self._steps:
            return
        actions, rewards, terminals = zip(*self._steps, strict=True)
        frames: Observations = np.stack(self._frames)  # type: ignore[assignment]
        experience = Experience(
            frames,
            np.array(actions, dtype=np.uint8),
            np.array(rewards, dtype=np.float32),
            np.array(terminals, dtype=np.bool_),
        )
        self.replays[self._sent % len(self.replays)].extend.remote(experience)
        self._sent += 1
        self._frames, self._steps = self._frames[-self._stack :], []


class RemoteSource:
    """Samples from one shard of the global replay memory after another; the next minibatch is on its way meanwhile."""

    def __init__(self) -> None:
        self.replays: Sequence[Handle] = ()
        self._drawn = 0
        self._coming: tuple[Handle, Any] | None = None

    def sample(self, size: int, beta: float) -> Minibatch:
        """Draw a minibatch."""
        self._source, coming = self._coming or self._ask(size, beta)
        self._coming = None
        (batch,) = answers([coming])
        self._coming = self._ask(size, beta)
        # What Ray hands over is not ours to write to, which torch asks for.
        return Minibatch(**{field.name: getattr(batch, field.name).copy() for field in fields(Minibatch)})

    def update_priorities(self, slots: Slots, errors: Weights) -> None:
        """Tell the shard that the latest minibatch came from."""
        self._source.update_priorities.remote(slots, errors)

    def _ask(self, size: int, beta: float) -> tuple[Handle, Any]:
        replay = self.replays[self._drawn % len(self.replays)]
        self._drawn += 1
        return replay, replay.sample.remote(size, beta)


def carry_out(orders: Orders, work: Callable[[RemoteServer, Report, Callable[[], bool]], None]) -> Report:
    """Work as ordered, or for as long as the shards answer."""
    report, deadline = Report(), time.monotonic() + orders.seconds

    def goes_on() -> bool:
        return report.steps < orders.steps and time.monotonic() < deadline

    try:
        work(RemoteServer(orders.shards), report, goes_on)
    except UnreachableError:
        time.sleep(REST_SECONDS)
    return report


class BundleRole:
    """An actor, its replay memory and its learner."""

    def begin(self, config: GorilaConfig, interface: Interface, seed: int, memories_here: int) -> None:
        """Set up; so many replay memories will share this host's memory."""
        torch.set_num_threads(1)
        memory.check_replay(config, interface[0], memories_here)
        self._bundle = Bundle(config, config.num_shards, seed)

    def work(self, orders: Orders) -> Report:
        """Do what is ordered and report it."""
        report = carry_out(orders, lambda *given: self._bundle.work(given[0], orders.step, *given[1:]))
        self._bundle.tell(report)
        return report


class ActorRole:
    """An actor of the free mode."""

    def begin(self, config: GorilaConfig, interface: Interface, seed: int, _memories_here: int) -> None:
        """Set up."""
        torch.set_num_threads(1)
        self._storage = RemoteStorage(frames_of(interface[0]).stack)
        self._actor = FreeActor(config, config.num_shards, seed, self._storage)

    def work(self, orders: Orders) -> Report:
        """Do what is ordered and report it."""
        self._storage.replays = orders.replays
        report = carry_out(orders, self._actor.work)
        self._actor.tell(report)
        return report


class LearnerRole:
    """A learner of the free mode."""

    def begin(self, config: GorilaConfig, interface: Interface, _seed: int, _memories_here: int) -> None:
        """Set up."""
        torch.set_num_threads(1)
        self._source = RemoteSource()
        self._learner = FreeLearner(config, config.num_shards, interface, self._source)

    def work(self, orders: Orders) -> Report:
        """Do what is ordered and report it."""
        self._source.replays = orders.replays
        report = carry_out(orders, lambda *given: self._learner.work(given[0], orders.step, *given[1:]))
        self._learner.tell(report)
        return report


class ReplayRole:
    """A shard of the global replay memory."""

    def begin(self, config: GorilaConfig, interface: Interface, seed: int, memories_here: int) -> None:
        """Set up; so many replay memories will share this host's memory."""
        memory.check_replay(config, interface[0], memories_here)
        self._memory = replay_memory(config, interface[0], seed)
        self._busy_seconds = 0.0

    def extend(self, experience: Experience) -> None:
        """Store an actor's experience."""
        with self._timed():
            self._memory.extend(experience)

    def sample(self, size: int, beta: float) -> Minibatch:
        """Draw a minibatch."""
        with self._timed():
            return self._memory.sample(size, beta)

    def update_priorities(self, slots: Slots, errors: Weights) -> None:
        """Take in how wrong Q was about transitions that were drawn."""
        with self._timed():
            self._memory.update_priorities(slots, errors)

    def stock(self) -> Stock:
        """Say what there is."""
        stock = Stock(len(self._memory), self._memory.fill, self._busy_seconds)
        self._busy_seconds = 0.0
        return stock

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._busy_seconds += time.perf_counter() - began


class ShardRole:
    """A shard of the parameter server."""

    def begin(self, config: GorilaConfig, state: ShardState) -> None:
        """Set up."""
        torch.set_num_threads(1)
        self._shard = ParameterShard(config, state)

    def pull(self, known: int) -> Part:
        """θ⁺, unless it is what the caller has."""
        return self._shard.pull(known)

    def push(self, gradients: Floats, of_updates: int, learning_rate: float) -> None:
        """Apply gradients."""
        self._shard.push(gradients, of_updates, learning_rate)

    def target(self) -> Floats:
        """θ⁻."""
        return self._shard.target()

    def state(self) -> ShardState:
        """A copy of all that the next update depends on."""
        return self._shard.state()

    def take_tally(self) -> Tally:
        """What was done since the last time."""
        return self._shard.take_tally()
