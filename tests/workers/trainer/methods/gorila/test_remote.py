"""Tests for free actors and learners with the global replay memory, without Ray."""

from types import SimpleNamespace
from typing import Any

import pytest

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.methods.gorila import remote
from arcadia_workers.trainer.methods.gorila.gorila import FreeActor, build
from arcadia_workers.trainer.methods.gorila.remote import (
    MOST_UNDER_WAY,
    RemoteSink,
    RemoteSource,
    ShardUnreachableError,
)
from arcadia_workers.trainer.methods.gorila.replay_memory import FrameKind, ReplayMemory, Transitions
from arcadia_workers.trainer.methods.gorila.reporter import WorkRecord
from tests.workers.trainer.local_server import LocalServer, server_for
from tests.workers.trainer.methods.gorila.test_replay_memory import READINGS, STACKED, World, literal, sampled

# An episode of Catch has five steps.
CONFIG, EPISODE_STEPS = GorilaConfig(env="Arcadia/Catch-v0", mode="free", num_shards=1, hidden_units=16), 5


def handle_of(memory: ReplayMemory) -> Any:
    """Wrap a memory so that it is called like a Ray actor."""
    names = ("extend", "sample", "update_priorities")
    return SimpleNamespace(**{name: SimpleNamespace(remote=getattr(memory, name)) for name in names})


@pytest.mark.parametrize("kind", [STACKED, READINGS], ids=["stacked", "readings"])
@pytest.mark.parametrize("steps_at_a_time", [1, 5, 64])
def test_every_step_reaches_one_shard_with_complete_stacks(
    kind: FrameKind, steps_at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "EXPERIENCE_STEPS", steps_at_a_time)
    shards = [ReplayMemory(kind, 2000, seed) for seed in (1, 2)]
    sink, world, stored = RemoteSink(kind.stack), World(kind, 3), []
    sink.replays = [handle_of(shard) for shard in shards]
    for _ in range(20):
        first, transitions = world.episode()
        sink.begin(first)
        for t in transitions:
            sink.add(t.action, t.reward, t.terminal, t.next_state)
        stored += transitions
    sink.begin(first)  # the last episode is sent when the next one begins
    assert sum(map(len, shards)) == len(stored)
    assert sampled(shards[0], 3000) | sampled(shards[1], 3000) == literal(stored)
    assert all(len(shard) > len(stored) / 4 for shard in shards)


def a_server() -> LocalServer:
    """Return a new parameter server for free actors."""
    return server_for(CONFIG, build(CONFIG, *own_environment.interface(CONFIG)))


class SlowReplay:
    """A shard that stores a piece only when somebody waits for it."""

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.stored: list[int] = []
        self.extend = SimpleNamespace(remote=self._accept)

    def _accept(self, _experience: Transitions) -> int:
        self.sent.append(len(self.sent))
        return self.sent[-1]


def test_an_actor_that_is_faster_than_the_replay_memory_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = SlowReplay()
    monkeypatch.setattr(remote, "EXPERIENCE_STEPS", 2)
    monkeypatch.setattr(remote, "results_of", replay.stored.extend)
    sink = RemoteSink(stack=1)
    sink.replays = [replay]
    actor, record = FreeActor(CONFIG, 1, seed=1, sink=sink), WorkRecord()

    def goes_on() -> bool:
        assert len(replay.sent) - len(replay.stored) <= MOST_UNDER_WAY + 1
        return record.steps < 50

    actor.work(a_server(), 0, record, goes_on)
    assert len(replay.sent) >= 25
    assert replay.stored == replay.sent[: len(replay.stored)]


def test_an_unreachable_replay_memory_interrupts_the_actor_between_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_answer(_calls: list[Any]) -> None:
        raise ShardUnreachableError

    monkeypatch.setattr(remote, "EXPERIENCE_STEPS", 2)
    sink, replay = RemoteSink(stack=1), SlowReplay()
    sink.replays = [replay]
    actor, record = FreeActor(CONFIG, 1, seed=1, sink=sink), WorkRecord()
    monkeypatch.setattr(remote, "results_of", no_answer)
    with pytest.raises(ShardUnreachableError):
        actor.work(a_server(), 0, record, lambda: record.steps < 50)
    assert record.steps == actor.actor.t < 10

    monkeypatch.setattr(remote, "results_of", replay.stored.extend)
    actor.work(a_server(), 0, record, lambda: record.steps < 50)
    assert {episode.length for _, episode in record.episodes} == {EPISODE_STEPS}


def test_a_learner_samples_from_shards_in_turn_and_returns_errors_to_the_right_shard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "results_of", lambda calls: calls)  # the calls have already been made
    reported: list[int] = []
    shards = []
    for number in range(3):
        memory, world = ReplayMemory(READINGS, 100, number), World(READINGS, number)
        first, transitions = world.episode()
        memory.begin(first)
        for t in transitions:
            memory.add(t.action, t.reward, t.terminal, t.next_state)
        monkeypatch.setattr(memory, "update_priorities", lambda *_, number=number: reported.append(number))
        shards.append(memory)
    source = RemoteSource()
    source.replays = [handle_of(shard) for shard in shards]
    for number in (0, 1, 2, 0):
        batch = source.sample(8, beta=1.0)
        source.update_priorities(batch.numbers, batch.weights)
        assert reported[-1] == number
        batch.states[:] = 0  # a writable copy
