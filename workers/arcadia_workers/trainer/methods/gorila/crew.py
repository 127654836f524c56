"""Crew: the roles of a run, the orders that they execute in their processes, and replacements for lost roles.

A lost shard continues from the trainer's backup. A lost bundle or shard of the global replay memory starts again with
an empty memory. Unreported work of a lost role is not counted.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from pydantic import JsonValue

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.contract.events import RoleKind, RolePlace
from arcadia_workers.trainer.host.processes import prepare_child
from arcadia_workers.trainer.methods.gorila import remote
from arcadia_workers.trainer.methods.gorila.gorila import Bundle, FreeActor, FreeLearner, Interface
from arcadia_workers.trainer.methods.gorila.memory_needs import check_replay
from arcadia_workers.trainer.methods.gorila.parameter_server import ShardState, ShardTally, joined, restored, split
from arcadia_workers.trainer.methods.gorila.ray_cluster import RayCluster, RayLostError
from arcadia_workers.trainer.methods.gorila.remote import WORKING, Answer, CrewRole, Roster, is_lost
from arcadia_workers.trainer.methods.gorila.replay_memory import frames_of
from arcadia_workers.trainer.methods.gorila.reporter import CrewWork, Stock, WorkRecord

# The duration of an order. A stop request waits for its end, and a role waits for the trainer between orders.
ORDER_SECONDS = 0.2
# A role whose shards do not answer waits before it returns, because its next order needs the same shards.
REST_SECONDS = 0.05
# A role that is silent for this long is lost. A new one gets more time, because it first imports torch.
SILENCE_SECONDS, BIRTH_SECONDS = 15.0, 300.0
# The interval of counts and backups of shards. A lost shard loses at most this much work.
TALLY_SECONDS, BACKUP_SECONDS = 0.3, 2.0
LAST_RECORDS_SECONDS = 0.8
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Orders:
    """Order for a role. It names the current shards, because they may have moved."""

    shards: Sequence[remote.Handle]
    replays: Sequence[remote.Handle]
    # The global step, and when to return: after this time or this many steps.
    step: int
    seconds: float
    steps: int
    # All fields of the configuration that changed in this attempt.
    changes: Mapping[str, JsonValue]


class WorkingRole:
    """Process that executes orders. `begin` sets it up."""

    _config: GorilaConfig
    _worker: Bundle | FreeActor | FreeLearner
    _memory: remote.RemoteSink | remote.RemoteSource | None = None

    def work(self, orders: Orders) -> WorkRecord:
        """Execute an order until its end or until a shard does not answer. Return the work record."""
        record, deadline = WorkRecord(), time.monotonic() + orders.seconds
        vars(self._config).update(orders.changes)
        if self._memory:
            self._memory.replays = orders.replays

        def goes_on() -> bool:
            return record.steps < orders.steps and time.monotonic() < deadline

        try:
            self._worker.work(remote.RemoteServer(orders.shards), orders.step, record, goes_on)
        except remote.ShardUnreachableError:
            time.sleep(REST_SECONDS)
        self._worker.complete(record)
        return record


class BundleRole(WorkingRole):
    """Process of a bundle: an actor, its replay memory and its learner."""

    def begin(self, config: GorilaConfig, interface: Interface, seed: int, memories_to_fill: float) -> None:
        """Set up the bundle if this host has enough memory."""
        self._config = config
        prepare_child()
        check_replay(config, interface[0], memories_to_fill)
        self._worker = Bundle(config, config.num_shards, seed)


class ActorRole(WorkingRole):
    """Process of an actor in free mode."""

    def begin(self, config: GorilaConfig, interface: Interface, seed: int, _memories_to_fill: float) -> None:
        """Set up the actor."""
        self._config = config
        prepare_child()
        self._memory = remote.RemoteSink(frames_of(interface[0]).stack)
        self._worker = FreeActor(config, config.num_shards, seed, self._memory)


class LearnerRole(WorkingRole):
    """Process of a learner in free mode."""

    def begin(self, config: GorilaConfig, interface: Interface, _seed: int, _memories_to_fill: float) -> None:
        """Set up the learner."""
        self._config = config
        prepare_child()
        self._memory = remote.RemoteSource()
        self._worker = FreeLearner(config, config.num_shards, interface, self._memory)


PROCESSES: dict[RoleKind, type[Any]] = {
    "shard": remote.ShardRole,
    "replay": remote.ReplayRole,
    "bundle": BundleRole,
    "actor": ActorRole,
    "learner": LearnerRole,
}
CONSEQUENCES: dict[RoleKind, str] = {
    "shard": f"continues from a copy at most {BACKUP_SECONDS:g} seconds old",
    "replay": "begins again, empty",
    "bundle": "begins again with an empty replay memory",
}


def can_learn(config: GorilaConfig, stocks: Mapping[int, Stock]) -> bool:
    """Return True if every shard of the global replay memory can be sampled and all together hold enough."""
    stored = [stock.transitions for stock in stocks.values()]
    return len(stored) == config.num_replays and all(stored) and sum(stored) >= config.learning_starts


class GorilaCrew:
    """All roles of a run. `step` is T and `updates` are the global updates; neither ever decreases."""

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
        self._changes: dict[str, JsonValue] = {}
        self._backups = split(whole, config.num_shards)
        self._backed_up = [time.monotonic()] * config.num_shards
        self._stocks: dict[int, Stock] = {}
        self._births = 0
        self._work = CrewWork()
        self._cluster = cluster
        self.roster = Roster(cluster, config)
        for role in self.roster.roles:
            self._begin(role)
        self._log(f"Roles: {self.roster}")

    @property
    def places(self) -> list[RolePlace]:
        """The host of each role, and how often it was lost."""
        return [role.place for role in self.roster.roles]

    def watch(self, seconds: float) -> None:
        """Wait for answers, process them, give new orders, and replace lost roles. Raise RayLostError without Ray."""
        self._cluster.check()
        pending = {role.pending: role for role in self.roster.roles if role.pending is not None}
        done, _ = wait(pending, timeout=seconds, return_when=FIRST_COMPLETED)
        if not pending:
            time.sleep(seconds)
        for answer in done:
            self._take(pending[answer], answer)
        now = time.monotonic()
        for role in self.roster.roles:
            if role.pending is None:
                self._ask(role)
            elif now - role.requested_at > (SILENCE_SECONDS if role.ready else BIRTH_SECONDS):
                self.roster.suspect_host_of(role)
                self._replace(role, f"did not answer for {now - role.requested_at:.0f} seconds")
        self._bring_back()

    def change(self, fields: Mapping[str, JsonValue]) -> None:
        """Let every role use changed fields of the configuration from its next order on."""
        self._changes |= fields

    def take_work(self) -> CrewWork:
        """Return the work done since the last call."""
        work, self._work = self._work, CrewWork()
        work.stocks = self._stocks
        return work

    def state(self) -> ShardState:
        """Return the parameter server's state, with the backup of each shard that does not answer."""
        requests = {role.number: role.handle.state.remote().future() for role in self.roster.all("shard") if role.ready}
        wait(requests.values(), timeout=remote.PATIENCE_SECONDS)
        for number, answer in requests.items():
            if answer.done() and not answer.exception():
                self._backups[number] = answer.result()
        return self.backup

    @property
    def backup(self) -> ShardState:
        """The parameter server's state as of the last backup of each shard, without a question to Ray."""
        return joined(self._backups)

    def dismiss(self) -> None:
        """Stop giving orders, and collect the records of the pending ones."""
        working = {role.pending: role for role in self.roster.all(*WORKING) if role.pending and role.ready}
        done, _ = wait(working, timeout=LAST_RECORDS_SECONDS)
        for answer in done:
            if not is_lost(answer):
                self._collect(working[answer], working[answer].result_of(answer))

    def __enter__(self) -> "GorilaCrew":
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, RayLostError):
            return
        for role in self.roster.roles:
            role.end()

    def _begin(self, role: CrewRole) -> None:
        """Start a role's process and its setup."""
        role.start(PROCESSES[role.kind])
        if role.kind == "shard":
            backup = restored(self._backups[role.number], self.updates, self._config.target_update_interval)
            role.expect(role.handle.begin.remote(self._config, backup))
            return
        # The filled part of each replay memory is no longer free. The rest will be used later.
        to_fill = sum(1 - each.fill for each in self.roster.all("bundle", "replay") if each.host == role.host)
        role.expect(role.handle.begin.remote(self._config, self._interface, self._seed(), to_fill))

    def _seed(self) -> int:
        """Return a new seed for every process of every attempt, because environments start new episodes."""
        self._births += 1
        entropy = np.random.SeedSequence((self._config.seed, self._births, self._first_step))
        return int(entropy.generate_state(1)[0]) % LARGEST_SEED

    def _take(self, role: CrewRole, answer: Answer) -> None:
        """Process an answer, or replace the role if it is lost."""
        role.pending = None
        if is_lost(answer):
            self._replace(role, "was lost")
            return
        result = role.result_of(answer)
        role.ready = True
        self._collect(role, result)
        self._ask(role)

    def _collect(self, role: CrewRole, result: object) -> None:
        """Add a role's answer to the counters, the backups and the crew's work."""
        if result is not None:
            role.losses = 0
        if isinstance(result, WorkRecord):
            before, self.step = self.step, self.step + result.steps
            self.updates = max(self.updates, result.updates)
            self._work.episodes += [(before + at, episode) for at, episode in result.episodes]
            self._work.records.append(result)
            role.fill = result.fill or 0.0
        elif isinstance(result, ShardTally):
            self._work.tally += result
        elif isinstance(result, ShardState):
            self._backups[role.number] = result
            self.updates = max(self.updates, min(state.updates for state in self._backups))
        elif isinstance(result, Stock):
            self._stocks[role.number] = result
            role.fill = result.fill
            self._work.stock_seconds += result.busy_seconds

    def _ask(self, role: CrewRole) -> None:
        """Give a role its next order, if any."""
        now, handle = time.monotonic(), role.handle
        if role.kind in ("shard", "replay") and now - role.requested_at < TALLY_SECONDS:
            return
        if role.kind == "replay":
            role.expect(handle.stock.remote())
        elif role.kind == "shard" and now - self._backed_up[role.number] > BACKUP_SECONDS:
            self._backed_up[role.number] = now
            role.expect(handle.state.remote())
        elif role.kind == "shard":
            role.expect(handle.take_tally.remote())
        elif (orders := self._orders(role)) is not None:
            role.expect(handle.work.remote(orders))

    def _orders(self, role: CrewRole) -> Orders | None:
        config, left = self._config, self._config.total_steps - self.step
        if left <= 0 or not all(shard.ready for shard in self.roster.all("shard", "replay")):
            return None
        if role.kind == "learner" and not can_learn(config, self._stocks):
            return None
        return Orders(
            shards=[shard.handle for shard in self.roster.all("shard")],
            replays=[replay.handle for replay in self.roster.all("replay")],
            step=self.step,
            seconds=ORDER_SECONDS,
            steps=ceil(left / config.num_actors),
            changes=self._changes,
        )

    def _replace(self, role: CrewRole, why: str) -> None:
        """Start a lost role again."""
        role.count_loss()
        self._move(role)
        self._log(f"{str(role).capitalize()} {why} and {CONSEQUENCES.get(role.kind, 'begins again')}, on {role.host}")

    def _move(self, role: CrewRole) -> None:
        """Start a role's next process on the host where it belongs now."""
        role.end()
        if role.kind == "replay":
            self._stocks.pop(role.number, None)
        self.roster.relocate(role)
        self._begin(role)

    def _bring_back(self) -> None:
        """Move roles back to home hosts that have returned."""
        strays = self.roster.strays()
        for role in strays:
            if role.kind == "shard":
                self.state()  # so that a fresh backup moves
            self._move(role)
        if strays:
            self._log(f"A host came back. Roles: {self.roster}")
