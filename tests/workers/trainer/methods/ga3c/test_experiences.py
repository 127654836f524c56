"""Tests for shared experiences, and the order and receivers of queue records."""

import pytest
import torch

from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.methods.ga3c import experiences
from arcadia_workers.trainer.methods.ga3c.experiences import (
    BacklogDesk,
    Exchange,
    Experiences,
    SharedMemoryError,
    Submission,
)

AGENTS, T_MAX = 3, 4


@pytest.fixture
def exchange() -> Exchange:
    return Exchange(Experiences.allocate(Ga3cConfig(env="CartPole-v1", t_max=T_MAX), AGENTS, (4,), 2))


def test_rows_belong_to_one_rollout_of_one_agent(exchange: Exchange) -> None:
    table = exchange.experiences
    owners = [table.owner(row) for row in range(len(table.states))]
    assert owners == [(slot, rollout) for slot in range(AGENTS) for rollout in range(2) for _ in range(T_MAX)]
    assert [table.first_row(*owner) for owner in owners[::T_MAX]] == list(range(0, len(owners), T_MAX))


def test_pixels_stay_bytes_and_readings_are_floats(exchange: Exchange) -> None:
    assert exchange.experiences.states.dtype is torch.float32
    pixels = Experiences.allocate(Ga3cConfig(env="ALE/Pong-v5"), 1, (4, 84, 84), 6)
    assert pixels.states.dtype is torch.uint8
    assert pixels.states.is_shared()


def test_all_waiting_requests_are_taken_at_once_and_each_agent_gets_its_response(exchange: Exchange) -> None:
    desks = [exchange.desk(slot) for slot in range(AGENTS)]
    rollouts = [desk.new_rollout() for desk in desks]
    for desk, rollout in zip(desks, rollouts, strict=True):
        desk.requests.put(rollout.row)
    rows, dismissed = exchange.take_requests()
    assert (rows, dismissed) == ([rollout.row for rollout in rollouts], False)
    assert exchange.sizes() == (0, 0)
    exchange.answer([rows[0], rows[2]])
    assert [desk.answers.waiting() for desk in desks] == [1, 0, 1]


def test_a_dismissal_ends_one_predictor_after_it_handled_waiting_requests(exchange: Exchange) -> None:
    desk = exchange.desk(1)
    exchange.dismiss_predictor()
    exchange.dismiss_predictor()
    desk.requests.put(8)
    assert exchange.take_requests() == ([8], True)
    assert exchange.take_requests() == ([], True)
    assert exchange.sizes() == (0, 0)


def test_rollouts_arrive_in_the_order_of_submission(exchange: Exchange) -> None:
    desks = [exchange.desk(slot) for slot in (1, 0)]
    for desk in desks:
        rollout = desk.new_rollout()
        desk.keep(rollout, action=1, reward=2.0)
        desk.submit(rollout, bootstrap=10.0, gamma=0.5)
    exchange.dismiss_trainer()
    assert exchange.sizes() == (0, 3)
    assert exchange.take_submission() == Submission(2 * T_MAX, 1, 0, 0.0)
    assert exchange.take_submission() == Submission(0, 1, 0, 0.0)
    assert exchange.take_submission() is None
    assert exchange.experiences.returns[[0, 2 * T_MAX]].tolist() == [7.0, 7.0]


def test_a_closing_exchange_returns_no_requests_or_rollouts(exchange: Exchange) -> None:
    desk = exchange.desk(0)
    desk.requests.put(0)
    desk.submit(desk.new_rollout(), 0.0, 0.9)
    exchange.closing = True
    assert exchange.take_requests() == ([], False)
    assert exchange.take_submission() is None


def test_too_many_agents_for_the_shared_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiences, "free_shared_memory", lambda: 64e6)
    config = Ga3cConfig(env="ALE/Pong-v5")
    Experiences.allocate(config, 100, (4, 84, 84), 6)
    with pytest.raises(SharedMemoryError, match=r"300 agents need 0\.1 GB .* has 0\.1 GB left: choose fewer agents"):
        Experiences.allocate(config, 300, (4, 84, 84), 6)


def unlimited() -> Exchange:
    config = Ga3cConfig(env="CartPole-v1", t_max=T_MAX, training_queue_rollouts=0)
    return Exchange(Experiences.allocate(config, AGENTS, (4,), 2))


def backlog_desk(exchange: Exchange, slot: int) -> BacklogDesk:
    desk = exchange.desk(slot)
    assert isinstance(desk, BacklogDesk)
    return desk


def fill(exchange: Exchange, desk: BacklogDesk, reward: float) -> None:
    rollout = desk.new_rollout()
    exchange.experiences.states[rollout.row] = reward
    desk.keep(rollout, action=1, reward=reward)
    desk.submit(rollout, bootstrap=0.0, gamma=0.5)


def test_an_agent_without_a_limit_continues_while_no_trainer_takes_its_rollouts() -> None:
    exchange = unlimited()
    desk, other = backlog_desk(exchange, 1), backlog_desk(exchange, 0)
    for reward in range(50):
        fill(exchange, desk, float(reward))
    fill(exchange, other, 99.0)
    assert exchange.sizes() == (0, 51)
    taken = []
    while exchange.sizes()[1] > 0:
        submission = exchange.take_submission()
        assert submission is not None
        taken.append(exchange.experiences.returns[submission.first_row].item())
        assert exchange.experiences.states[submission.first_row, 0].item() == taken[-1]
        exchange.free(submission.first_row)
        fill(exchange, other, 99.0) if len(taken) == 1 else None
        desk.hand_over()
        other.hand_over()
    assert [reward for reward in taken if reward < 99] == [float(reward) for reward in range(50)]
    assert taken.count(99.0) == 2


def test_a_leaving_agent_submits_its_backlog_and_returns_its_rollouts() -> None:
    exchange = unlimited()
    desk = backlog_desk(exchange, 0)
    for reward in range(3):
        fill(exchange, desk, float(reward))
    for _ in range(3):
        submission = exchange.take_submission()
        assert submission is not None
        exchange.free(submission.first_row)
        desk.hand_over()
    desk.leave()
    given_back = [exchange.take_submission() for _ in range(2)]
    assert [each.length for each in given_back if each] == [0, 0]
    assert exchange.sizes() == (0, 0)


def test_a_training_queue_of_one_rollout_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2, or 0 for no limit"):
        Ga3cConfig(training_queue_rollouts=1)
