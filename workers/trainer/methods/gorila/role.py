"""Roles of a run from the trainer's side: the process, the host and the pending call of each."""

import re
import time
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from workers.contract.config import GorilaConfig
from workers.contract.events import RoleKind, RolePlace
from workers.trainer.host.memory import MemoryShortageError
from workers.trainer.host.processes import ActorCrashed, ActorFailed
from workers.trainer.methods.gorila.ray_cluster import Hosts, RayCluster, RayHost, RayLostError
from workers.trainer.methods.gorila.remote import Handle

Answer = Future[Any]

# Roles may outnumber cores, but Ray ignores the requested host of an actor that requests no cores.
CORES_ASKED_FOR = 0.001
# Ray colors the text of its errors.
COLORS = re.compile(r"\x1b\[\d+m")
WORKING: tuple[RoleKind, ...] = ("bundle", "actor", "learner")
# After this many consecutive losses without work, the role is at fault and not a host.
MOST_LOSSES = 5


@dataclass
class Role:
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
        self.roles: list[Role] = []
        for kind, number in roles_of(config):
            host = self._host_for(kind, number)
            self.roles.append(Role(kind, number, host.address, host))

    def __str__(self) -> str:
        """Return a summary of the roles on each host."""
        places: dict[str, Counter[str]] = {}
        for role in self.roles:
            places.setdefault(str(role.host), Counter())[role.kind] += 1
        return "; ".join(
            f"{place}: {', '.join(f'{kind} × {count}' for kind, count in kinds.items())}"
            for place, kinds in places.items()
        )

    def all(self, *kinds: RoleKind) -> list[Role]:
        """Return the roles of these kinds."""
        return [role for role in self.roles if role.kind in kinds]

    def suspect_host_of(self, role: Role) -> None:
        """Avoid the host of a role that fell silent."""
        self._hosts.suspect(role.host)

    def relocate(self, role: Role) -> None:
        """Choose the host of a role's next process: its home if that is reliable, otherwise another.

        Without any host, keep the last one: Ray starts the process once a host is there.
        """
        self._hosts.look()
        if not self._hosts.reliable:
            return
        at_home = [host for host in self._hosts.reliable if host.address == role.home]
        role.host = at_home[0] if at_home else self._host_for(role.kind, role.number)

    def strays(self) -> list[Role]:
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
