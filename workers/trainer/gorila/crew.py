"""Gorila's roles at work: where each is, what it is asked to do next, and another for each that is lost.

Whatever is lost is started again. A shard goes on from a backup that the trainer keeps; a bundle, or a shard of the
global replay memory, begins again with an empty memory; what an actor had not reported yet is not counted.
"""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, wait
from math import ceil

import numpy as np

from workers.trainer.algorithms.gorila import Interface
from workers.trainer.config import GorilaConfig
from workers.trainer.events import RoleKind, RolePlace
from workers.trainer.gorila.hosts import Hosts
from workers.trainer.gorila.parameter_server import ShardState, Tally, joined, restored, split
from workers.trainer.gorila.ray_cluster import Host, RayCluster
from workers.trainer.gorila.ray_roles import PATIENCE_SECONDS, Orders
from workers.trainer.gorila.report import Report
from workers.trainer.gorila.role import Answer, Role, lost
from workers.trainer.gorila.work import Stock, Work
from workers.trainer.processes import ActorFailed

# How long an order is for: a stop request waits for the end of one, and between two a role waits for the trainer.
ORDER_SECONDS = 0.2
# A role that is silent for so long is lost, a new one, which imports torch first, later.
SILENCE_SECONDS, BIRTH_SECONDS = 15.0, 300.0
# How often shards are asked for counts, and for a backup: so much of their work a lost one costs at most.
TALLY_SECONDS, BACKUP_SECONDS = 0.3, 2.0
# Losses of a role in a row, without any work between them, that no host is to blame for.
MOST_LOSSES = 5
LAST_REPORTS_SECONDS = 0.8
LARGEST_SEED = 2**31 - 1


class Crew:
    """Everybody who takes part in a run; `step` is T, `updates` the global updates, and neither ever goes back."""

    def __init__(
        self,
        cluster: RayCluster,
        config: GorilaConfig,
        interface: Interface,
        whole: ShardState,
        step: int,
        log: Callable[[str], None],
    ) -> None:
        self._config, self._interface, self._log = config, interface, log
        self.step, self.updates = step, whole.updates
        self._first_step = step
        self._backups = split(whole, config.num_shards)
        self._backed_up = [time.monotonic()] * config.num_shards
        self._stocks: dict[int, Stock] = {}
        self._births = 0
        self._work = Work()
        self._hosts = Hosts(cluster)
        self.roles: list[Role] = []
        for kind, number in self._wanted():
            host = self._host_for(kind, number)
            role = Role(kind, number, host.address, host)
            self.roles.append(role)
        for role in self.roles:
            self._begin(role)
        self._log(f"Roles: {self._in_words()}")

    @property
    def places(self) -> list[RolePlace]:
        """Which role runs where, and how often each was lost."""
        return [role.place for role in self.roles]

    def watch(self, seconds: float) -> None:
        """Wait a while for answers; take them in, give new orders, and replace who is lost."""
        pending = {role.pending: role for role in self.roles if role.pending is not None}
        done, _ = wait(pending, timeout=seconds, return_when=FIRST_COMPLETED)
        if not pending:
            time.sleep(seconds)
        for answer in done:
            self._take(pending[answer], answer)
        now = time.monotonic()
        for role in self.roles:
            if role.pending is None:
                self._ask(role)
            elif now - role.asked > (SILENCE_SECONDS if role.ready else BIRTH_SECONDS):
                self._hosts.suspect(role.host)
                self._replace(role, f"did not answer for {now - role.asked:.0f} seconds")
        if self._hosts.due:
            self._bring_back()

    def take_work(self) -> Work:
        """What was done since the last time."""
        work, self._work = self._work, Work()
        work.stocks = self._stocks
        return work

    def state(self) -> ShardState:
        """θ⁺ and all that belongs to it; of a shard that does not answer, its backup."""
        asked = {role.number: role.handle.state.remote().future() for role in self._all("shard") if role.ready}
        wait(asked.values(), timeout=PATIENCE_SECONDS)
        for number, answer in asked.items():
            if answer.done() and not answer.exception():
                self._backups[number] = answer.result()
        return joined(self._backups)

    def dismiss(self) -> None:
        """Give no more orders, and take in what those that were given lead to."""
        working = {
            role.pending: role for role in self._all("bundle", "actor", "learner") if role.pending and role.ready
        }
        done, _ = wait(working, timeout=LAST_REPORTS_SECONDS)
        for answer in done:
            if not lost(answer):
                self._hear(working[answer], working[answer].found(answer))

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        for role in self.roles:
            role.end()

    def _wanted(self) -> list[tuple[RoleKind, int]]:
        config = self._config
        numbers: dict[RoleKind, int] = {"shard": config.num_shards}
        if config.mode == "bundled":
            numbers["bundle"] = config.num_actors
        else:
            numbers |= {"replay": config.num_replays, "actor": config.num_actors, "learner": config.num_learners}
        return [(kind, number) for kind, count in numbers.items() for number in range(count)]

    def _all(self, *kinds: RoleKind) -> list[Role]:
        return [role for role in self.roles if role.kind in kinds]

    def _host_for(self, kind: RoleKind, number: int) -> Host:
        """Shards and replay shards stand apart, one host after another; others go where they have most cores."""
        hosts = self._hosts.reliable
        if kind in ("shard", "replay"):
            return hosts[number % len(hosts)]
        working = Counter(role.host.node for role in self._all("bundle", "actor", "learner") if role.number != number)
        return min(hosts, key=lambda host: (working[host.node] + 1) / max(host.cores, 0.01))

    def _begin(self, role: Role) -> None:
        """Start a role's process and have it set itself up."""
        role.start()
        if role.kind == "shard":
            backup = restored(self._backups[role.number], self.updates, self._config.target_update_interval)
            role.owes(role.handle.begin.remote(self._config, backup))
            return
        here = sum(each.host == role.host for each in self._all("bundle", "replay"))
        role.owes(role.handle.begin.remote(self._config, self._interface, self._seed(), here))

    def _seed(self) -> int:
        """Another for every role, and for every attempt and every birth, since environments begin anew."""
        self._births += 1
        entropy = np.random.SeedSequence((self._config.seed, self._births, self._first_step))
        return int(entropy.generate_state(1)[0]) % LARGEST_SEED

    def _take(self, role: Role, answer: Answer) -> None:
        """Take in an answer, or notice that there will be none."""
        role.pending = None
        if lost(answer):
            self._replace(role, "was lost")
            return
        found = role.found(answer)
        role.ready = True
        self._hear(role, found)
        self._ask(role)

    def _hear(self, role: Role, found: object) -> None:
        if found is not None:
            role.losses = 0
        if isinstance(found, Report):
            before, self.step = self.step, self.step + found.steps
            self.updates = max(self.updates, found.updates)
            self._work.episodes += [(before + at, episode) for at, episode in found.episodes]
            self._work.reports.append(found)
        elif isinstance(found, Tally):
            self._work.tally += found
        elif isinstance(found, ShardState):
            self._backups[role.number] = found
            self.updates = max(self.updates, min(state.updates for state in self._backups))
        elif isinstance(found, Stock):
            self._stocks[role.number] = found
            self._work.stock_seconds += found.busy_seconds

    def _ask(self, role: Role) -> None:
        """Give a role its next order, if there is one for it now."""
        now, handle = time.monotonic(), role.handle
        if role.kind in ("shard", "replay") and now - role.asked < TALLY_SECONDS:
            return
        if role.kind == "replay":
            role.owes(handle.stock.remote())
        elif role.kind == "shard" and now - self._backed_up[role.number] > BACKUP_SECONDS:
            self._backed_up[role.number] = now
            role.owes(handle.state.remote())
        elif role.kind == "shard":
            role.owes(handle.take_tally.remote())
        elif (orders := self._orders(role)) is not None:
            role.owes(handle.work.remote(orders))

    def _orders(self, role: Role) -> Orders | None:
        config, left = self._config, self._config.total_steps - self.step
        if left <= 0 or not all(shard.ready for shard in self._all("shard", "replay")):
            return None
        stored = sum(stock.transitions for stock in self._stocks.values())
        if role.kind == "learner" and (
            len(self._stocks) < config.num_replays or stored < max(1, config.learning_starts)
        ):
            return None
        return Orders(
            shards=[shard.handle for shard in self._all("shard")],
            replays=[replay.handle for replay in self._all("replay")],
            step=self.step,
            seconds=ORDER_SECONDS,
            steps=ceil(left / config.num_actors),
        )

    def _replace(self, role: Role, why: str) -> None:
        """Start a role again: at home if that host can be trusted, else where there is most room."""
        role.losses += 1
        if role.losses > MOST_LOSSES:
            raise ActorFailed(f"{role} on {role.host} was lost {role.losses} times before it had done any work")
        role.times_lost += 1
        self._move(role)
        consequence = {
            "shard": f"goes on from a copy at most {BACKUP_SECONDS:g} seconds old",
            "replay": "begins again, empty",
            "bundle": "begins again with an empty replay memory",
        }.get(role.kind, "begins again")
        self._log(f"{str(role).capitalize()} {why} and {consequence}, on {role.host}")

    def _move(self, role: Role) -> None:
        role.end()
        if role.kind == "replay":
            self._stocks.pop(role.number, None)
        self._hosts.look()
        at_home = [host for host in self._hosts.reliable if host.address == role.home]
        role.host = at_home[0] if at_home else self._host_for(role.kind, role.number)
        self._begin(role)

    def _bring_back(self) -> None:
        """Bring roles back to hosts that have come back."""
        self._hosts.look()
        back = {host.address for host in self._hosts.reliable}
        away = [role for role in self.roles if role.host.address != role.home and role.home in back and role.ready]
        for role in away:
            if role.kind == "shard":
                self.state()
            self._move(role)
        if away:
            self._log(f"A host came back. Roles: {self._in_words()}")

    def _in_words(self) -> str:
        """Which role runs where, in short."""
        places: dict[str, Counter[str]] = {}
        for role in self.roles:
            places.setdefault(str(role.host), Counter())[role.kind] += 1
        return "; ".join(
            f"{place}: {', '.join(f'{kind} × {count}' for kind, count in kinds.items())}"
            for place, kinds in places.items()
        )
