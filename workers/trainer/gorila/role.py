"""A role as the trainer knows it: a process somewhere in the cluster, and the answer that it owes."""

import re
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from workers.trainer.events import RoleKind, RolePlace
from workers.trainer.gorila import ray_roles
from workers.trainer.gorila.ray_cluster import Host
from workers.trainer.gorila.ray_roles import Handle
from workers.trainer.memory import MemoryShortageError
from workers.trainer.processes import ActorFailed

Answer = Future[Any]
CLASSES: dict[RoleKind, type[Any]] = {
    "shard": ray_roles.ShardRole,
    "replay": ray_roles.ReplayRole,
    "bundle": ray_roles.BundleRole,
    "actor": ray_roles.ActorRole,
    "learner": ray_roles.LearnerRole,
}

# Roles may outnumber cores; but where one asks for nothing at all, Ray does not place it where it is told.
CORES_ASKED_FOR = 0.001
# In Ray's account of an error.
COLOURS = re.compile(r"\x1b\[\d+m")


@dataclass
class Role:
    """One role, which may become another process on another host."""

    kind: RoleKind
    number: int
    # Where it belongs, by address: it goes back there when its host comes back.
    home: str
    host: Host
    handle: Handle = None
    pending: Answer | None = None
    asked: float = 0.0
    # Whether it has set itself up.
    ready: bool = False
    # In a row, without any work between them.
    losses: int = 0
    # In all.
    times_lost: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def place(self) -> RolePlace:
        """Where it is, for the page."""
        return RolePlace(kind=self.kind, number=self.number, host=str(self.host), times_lost=self.times_lost)

    def start(self) -> None:
        """Have a process on the host; it is still to be told to begin."""
        there = NodeAffinitySchedulingStrategy(self.host.node, soft=True)
        options = {"num_cpus": CORES_ASKED_FOR, "scheduling_strategy": there}
        self.handle = ray.remote(CLASSES[self.kind]).options(**options).remote()
        self.ready = False

    def end(self) -> None:
        """Kill the process."""
        ray.kill(self.handle)

    def owes(self, reference: Any) -> None:
        """Remember what was asked. Ray's own waiting has been seen to take minutes where it should take no time."""
        self.pending, self.asked = reference.future(), time.monotonic()

    def found(self, answer: Answer) -> object:
        """What it answered; an error of its own is one of the run."""
        try:
            return answer.result()
        except MemoryShortageError:
            raise
        except Exception as error:
            words = COLOURS.sub("", str(error)).strip()
            failure = ActorFailed(f"{self} failed: {words.splitlines()[-1]}")
            failure.add_note(f"{self} on {self.host}: {words}")
            raise failure from None  # the words are its traceback


def lost(answer: Answer) -> bool:
    """Whether there is no answer because a process, a host or what it held is gone, and not for an error of ours."""
    error = answer.exception()
    return isinstance(error, RayError) and not isinstance(error, RayTaskError)
