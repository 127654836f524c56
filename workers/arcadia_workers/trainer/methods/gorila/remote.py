"""Gorila over Ray: parameter server, replay memory and roles as Ray actors, their hosts and clients."""

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.contract.events import RoleKind, RolePlace
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.host.memory import MemoryShortageError
from arcadia_workers.trainer.host.processes import ActorCrashed, ActorFailed, prepare_child
from arcadia_workers.trainer.methods.gorila.gorila import Interface, replay_memory
from arcadia_workers.trainer.methods.gorila.memory_needs import check_replay
from arcadia_workers.trainer.methods.gorila.parameter_server import (
    Floats,
    ParameterShard,
    Pending,
    ShardParameters,
    ShardState,
    ShardTally,
    slices,
)
from arcadia_workers.trainer.methods.gorila.ray_cluster import Hosts, RayCluster, RayHost, RayLostError
from arcadia_workers.trainer.methods.gorila.replay_memory import Minibatch, Numbers, Transitions, Weights
from arcadia_workers.trainer.methods.gorila.reporter import Stock

# How long a role waits for another before it returns to the trainer, which then checks the other.
PATIENCE_SECONDS = 5.0
# A free actor sends this many steps per message. The first state of each message needs three more frames.
EXPERIENCE_STEPS = 64
# Limit of unstored messages per actor. Without it, calls would accumulate in a busy shard.
MOST_UNDER_WAY = 1

# A Ray actor, whose method calls have no types.
Handle = Any


class ShardUnreachableError(TrainerError):
    """A shard does not answer. The trainer will check whether it is lost."""


def results_of(calls: Sequence[Any]) -> list[Any]:
    """Wait for the results of several calls."""
    try:
        results: list[Any] = ray.get(list(calls), timeout=PATIENCE_SECONDS)
    except RayTaskError:
        raise
    except RayError as error:
        raise ShardUnreachableError from error
    return results


class ShardRole:
    """Process of a shard of the parameter server."""

    def begin(self, config: GorilaConfig, state: ShardState) -> None:
        """Set up the shard."""
        prepare_child()
        self._shard = ParameterShard(config, state)

    def pull(self, known: int) -> ShardParameters:
        """Return θ⁺, without its values if the caller has them already."""
        return self._shard.pull(known)

    def push(self, gradients: Floats, of_updates: int, learning_rate: float) -> None:
        """Apply gradients."""
        self._shard.push(gradients, of_updates, learning_rate)

    def target(self) -> Floats:
        """Return θ⁻."""
        return self._shard.target()

    def state(self) -> ShardState:
        """Copy everything the next update depends on."""
        return self._shard.state()

    def take_tally(self) -> ShardTally:
        """Return the counts since the last call."""
        return self._shard.take_tally()


class RemoteServer:
    """Client of the parameter server for actors and learners."""

    def __init__(self, shards: Sequence[Handle]) -> None:
        self._shards = shards

    def ask(self, known: Sequence[int]) -> Pending:
        """Request the parameters of every shard."""
        calls = [shard.pull.remote(updates) for shard, updates in zip(self._shards, known, strict=True)]
        return lambda: results_of(calls)

    def push(self, gradients: Floats, of_updates: Sequence[int], learning_rate: float) -> None:
        """Send gradients without waiting. A shard handles calls in order, so a later `ask` sees them applied."""
        for shard, within, updates in zip(
            self._shards, slices(len(gradients), len(self._shards)), of_updates, strict=True
        ):
            shard.push.remote(gradients[within], updates, learning_rate)

    def target(self) -> list[Floats]:
        """Return θ⁻ of every shard."""
        return results_of([shard.target.remote() for shard in self._shards])


class ReplayRole:
    """Process of a shard of the global replay memory."""

    def begin(self, config: GorilaConfig, interface: Interface, seed: int, memories_to_fill: float) -> None:
        """Set up the memory if this host has enough room."""
        prepare_child()
        check_replay(config, interface[0], memories_to_fill)
        self._memory = replay_memory(config, interface[0], seed)
        self._busy_seconds = 0.0

    def extend(self, experience: Transitions) -> None:
        """Store an actor's experience."""
        with self._timed():
            self._memory.extend(experience)

    def sample(self, size: int, beta: float) -> Minibatch:
        """Draw a minibatch."""
        with self._timed():
            return self._memory.sample(size, beta)

    def update_priorities(self, numbers: Numbers, errors: Weights) -> None:
        """Update the priorities of transitions that were drawn, from their new errors."""
        with self._timed():
            self._memory.update_priorities(numbers, errors)

    def stock(self) -> Stock:
        """Return the memory's contents in numbers, and its busy time since the last call."""
        stock = Stock(len(self._memory), self._memory.fill, self._busy_seconds)
        self._busy_seconds = 0.0
        return stock

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._busy_seconds += time.perf_counter() - began


class RemoteSink:
    """Sink that sends an actor's experience in batches to the shards of the global replay memory in turn."""

    def __init__(self, stack: int) -> None:
        self.replays: Sequence[Handle] = ()
        self._stack = stack
        self._sent = 0
        self._under_way: list[Any] = []
        self._frames: list[Observations] = []
        self._steps: list[tuple[int, float, bool]] = []

    def begin(self, observation: Observations) -> None:
        """Begin an episode with its first state."""
        self._send()
        self._frames = list(observation) if self._stack > 1 else [observation]

    def add(self, action: int, reward: float, terminal: bool, observation: Observations) -> None:
        """Store (s_t, a_t, r_t, s_{t+1}), where s_t is the state stored last."""
        self._frames.append(observation[-1] if self._stack > 1 else observation)
        self._steps.append((action, reward, terminal))
        if len(self._steps) >= EXPERIENCE_STEPS:
            self._send()

    def keep_pace(self) -> None:
        """Wait until most of the sent steps are stored."""
        while len(self._under_way) > MOST_UNDER_WAY:
            results_of([self._under_way.pop(0)])

    def _send(self) -> None:
        """Send the collected steps and keep the last state, from which the next ones continue."""
        if not self._steps:
            return
        actions, rewards, terminals = zip(*self._steps, strict=True)
        frames: Observations = np.stack(self._frames)  # type: ignore[assignment]
        experience = Transitions(
            frames,
            np.array(actions, dtype=np.uint8),
            np.array(rewards, dtype=np.float32),
            np.array(terminals, dtype=np.bool_),
        )
        self._under_way.append(self.replays[self._sent % len(self.replays)].extend.remote(experience))
        self._sent += 1
        self._frames, self._steps = self._frames[-self._stack :], []


class RemoteSource:
    """Source that samples the shards of the global replay memory in turn, and requests each minibatch in advance."""

    def __init__(self) -> None:
        self.replays: Sequence[Handle] = ()
        self._drawn = 0
        self._pending: tuple[Handle, Any] | None = None

    def sample(self, size: int, beta: float) -> Minibatch:
        """Draw a minibatch."""
        self._source, call = self._pending or self._ask(size, beta)
        self._pending = None
        (batch,) = results_of([call])
        self._pending = self._ask(size, beta)
        # Ray's arrays are read-only, but torch needs writable ones.
        return Minibatch(**{field.name: getattr(batch, field.name).copy() for field in fields(Minibatch)})

    def update_priorities(self, numbers: Numbers, errors: Weights) -> None:
        """Send the errors to the shard that the latest minibatch came from."""
        self._source.update_priorities.remote(numbers, errors)

    def _ask(self, size: int, beta: float) -> tuple[Handle, Any]:
        replay = self.replays[self._drawn % len(self.replays)]
        self._drawn += 1
        return replay, replay.sample.remote(size, beta)


Answer = Future[Any]

# Roles may outnumber cores, but Ray ignores the requested host of an actor that requests no cores.
CORES_ASKED_FOR = 0.001
# Ray colors the text of its errors.
COLORS = re.compile(r"\x1b\[\d+m")
WORKING: tuple[RoleKind, ...] = ("bundle", "actor", "learner")
# After this many consecutive losses without work, the role is at fault and not a host.
MOST_LOSSES = 5


@dataclass
class CrewRole:
    """Role of a run. It may have several processes on several hosts over time."""

    kind: RoleKind
    number: int
    # The address of the role's home host. The role returns there when the host returns.
    home: str
    host: RayHost
    handle: Handle = None
    pending: Answer | None = None
    requested_at: float = 0.0
    # True if the process is set up.
    ready: bool = False
    # The last reported fraction of its replay memory in use.
    fill: float = 0.0
    # Consecutive losses without work between them.
    losses: int = 0
    # All losses.
    times_lost: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def place(self) -> RolePlace:
        """The role's host, as reported to the run."""
        return RolePlace(kind=self.kind, number=self.number, host=str(self.host), times_lost=self.times_lost)

    def start(self, process: type[Any]) -> None:
        """Start a process of this class on the host. It waits for `begin`."""
        there = NodeAffinitySchedulingStrategy(self.host.node, soft=True)
        options = {"num_cpus": CORES_ASKED_FOR, "scheduling_strategy": there}
        self.handle = ray.remote(process).options(**options).remote()
        self.ready, self.fill = False, 0.0

    def end(self) -> None:
        """Kill the process."""
        ray.kill(self.handle)

    def count_loss(self) -> None:
        """Count a loss. Raise after too many consecutive ones."""
        self.losses += 1
        if self.losses > MOST_LOSSES:
            raise ActorFailed(f"{self} on {self.host} was lost {self.losses} times before it did any work")
        self.times_lost += 1

    def expect(self, reference: Any) -> None:
        """Record the pending call as a future, because `ray.wait` can take minutes."""
        self.pending, self.requested_at = reference.future(), time.monotonic()

    def result_of(self, answer: Answer) -> object:
        """Return the answer. An exception in the role fails the run."""
        try:
            return answer.result()
        except Exception as error:
            if isinstance(error, RayTaskError) and isinstance(error.cause, MemoryShortageError):
                raise error.cause from None  # Ray's own text of it is a traceback
            words = COLORS.sub("", str(error)).strip()
            failure = ActorCrashed(f"{self} failed: {words.splitlines()[-1]}")
            failure.add_note(f"{self} on {self.host}: {words}")
            raise failure from None  # the text contains the traceback


def is_lost(answer: Answer) -> bool:
    """Return True if the process, its host or the answer is lost, and False for an exception in the role."""
    error = answer.exception()
    return isinstance(error, RayError) and not isinstance(error, RayTaskError)


def roles_of(config: GorilaConfig) -> list[tuple[RoleKind, int]]:
    """Return the kind and number of every role of a run."""
    numbers: dict[RoleKind, int] = {"shard": config.num_shards}
    if config.mode == "bundled":
        numbers["bundle"] = config.num_actors
    else:
        numbers |= {"replay": config.num_replays, "actor": config.num_actors, "learner": config.num_learners}
    return [(kind, number) for kind, count in numbers.items() for number in range(count)]


class Roster:
    """All roles of a run and their hosts."""

    def __init__(self, cluster: RayCluster, config: GorilaConfig) -> None:
        self._hosts = Hosts(cluster)
        self.roles: list[CrewRole] = []
        for kind, number in roles_of(config):
            host = self._host_for(kind, number)
            self.roles.append(CrewRole(kind, number, host.address, host))

    def __str__(self) -> str:
        """Return a summary of the roles on each host."""
        places: dict[str, Counter[str]] = {}
        for role in self.roles:
            places.setdefault(str(role.host), Counter())[role.kind] += 1
        return "; ".join(
            f"{place}: {', '.join(f'{kind} × {count}' for kind, count in kinds.items())}"
            for place, kinds in places.items()
        )

    def all(self, *kinds: RoleKind) -> list[CrewRole]:
        """Return the roles of these kinds."""
        return [role for role in self.roles if role.kind in kinds]

    def suspect_host_of(self, role: CrewRole) -> None:
        """Avoid the host of a role that fell silent."""
        self._hosts.suspect(role.host)

    def relocate(self, role: CrewRole) -> None:
        """Choose the host of a role's next process: its home if that is reliable, otherwise another.

        Without any host, keep the last one: Ray starts the process once a host is there.
        """
        self._hosts.look()
        if not self._hosts.reliable:
            return
        at_home = [host for host in self._hosts.reliable if host.address == role.home]
        role.host = at_home[0] if at_home else self._host_for(role.kind, role.number)

    def strays(self) -> list[CrewRole]:
        """Return the roles whose home host has returned. Checks only at intervals."""
        if not self._hosts.due:
            return []
        self._hosts.look()
        back = {host.address for host in self._hosts.reliable}
        return [role for role in self.roles if role.host.address != role.home and role.home in back and role.ready]

    def _host_for(self, kind: RoleKind, number: int) -> RayHost:
        """Choose a host. Shards and replay memories use hosts in turn; others use the one with most cores per role."""
        hosts = self._hosts.reliable
        if not hosts:
            raise RayLostError("The Ray cluster has no host.")
        if kind not in WORKING:
            return hosts[number % len(hosts)]
        working = Counter(role.host.node for role in self.all(*WORKING) if role.number != number)
        return min(hosts, key=lambda host: (working[host.node] + 1) / max(host.cores, 0.01))
