"""Tests for the crew: the target numbers of agents, predictors and trainers, reused slots, and failures."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.host.processes import ActorFailed, Link, Processes
from arcadia_workers.trainer.methods.ga3c.crew import Counts, Ga3cCrew
from arcadia_workers.trainer.methods.ga3c.experiences import Desk, Exchange, Experiences
from tests.workers.waiting import wait_until

MOST = Counts(agents=3, predictors=3, trainers=3)


def idle(link: Link, _desk: Desk) -> None:
    while not link.stopping:
        time.sleep(0.005)


def waiting_for_an_answer(_link: Link, desk: Desk) -> None:
    desk.answers.take()


def crash(_link: Link, _desk: Desk) -> None:
    raise ValueError("the emulator burnt")


class Threads:
    """Counters of the running predictors and trainers."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._lock = threading.Lock()
        self.predictors = self.trainers = 0

    def predictor(self) -> None:
        self._change(predictors=1)
        while not self._exchange.take_requests()[1]:
            continue
        self._change(predictors=-1)

    def trainer(self) -> None:
        self._change(trainers=1)
        while self._exchange.take_submission():
            continue
        self._change(trainers=-1)

    def _change(self, predictors: int = 0, trainers: int = 0) -> None:
        with self._lock:
            self.predictors += predictors
            self.trainers += trainers


def watch_for_ever(crew: Ga3cCrew) -> None:
    while True:
        crew.watch(0.1)


@pytest.fixture
def exchange() -> Exchange:
    return Exchange(Experiences.allocate(Ga3cConfig(env="CartPole-v1"), MOST.agents, (4,), 2))


@pytest.fixture
def open_crew(exchange: Exchange) -> Iterator[Callable[..., Ga3cCrew]]:
    crews = []

    def opened(agent: Callable[[Link, Desk], None], threads: Threads, started: list[int] | None = None) -> Ga3cCrew:
        def start(processes: Processes, desk: Desk) -> int:
            if started is not None:
                started.append(desk.slot)
            return processes.start(agent, desk)

        crews.append(Ga3cCrew(exchange, MOST, start, threads.predictor, threads.trainer))
        return crews[-1]

    yield opened
    for crew in crews:
        crew.close()


def test_predictors_and_trainers_start_and_end_to_reach_their_target_numbers(
    exchange: Exchange, open_crew: Callable[..., Ga3cCrew]
) -> None:
    threads = Threads(exchange)
    crew = open_crew(idle, threads)
    for predictors, trainers in [(1, 3), (3, 1), (2, 2), (3, 3), (1, 1)]:
        crew.bring_to(Counts(1, predictors, trainers))
        wait_until(lambda: (threads.predictors, threads.trainers) == (predictors, trainers))  # noqa: B023
        crew.watch(0)


def test_agents_start_and_end_to_reach_their_target_number_and_reuse_slots(
    exchange: Exchange, open_crew: Callable[..., Ga3cCrew]
) -> None:
    started: list[int] = []
    crew = open_crew(idle, Threads(exchange), started)
    for number, slots in [(2, [0, 1]), (1, [0, 1]), (3, [0, 1, 1, 2]), (3, [0, 1, 1, 2])]:

        def settled(number: int = number, slots: list[int] = slots) -> bool:
            crew.bring_to(Counts(number, 1, 1))  # like the main thread at every tick
            crew.watch(0.01)
            return sorted(started) == slots and crew.agents == number

        wait_until(settled)


def test_a_crashed_agent_is_raised_with_its_traceback(exchange: Exchange, open_crew: Callable[..., Ga3cCrew]) -> None:
    crew = open_crew(crash, Threads(exchange))
    crew.bring_to(Counts(2, 1, 1))
    with pytest.raises(ActorFailed, match=r"crash \d failed: ValueError: the emulator burnt"):
        watch_for_ever(crew)


def test_a_failed_thread_is_raised(exchange: Exchange, open_crew: Callable[..., Ga3cCrew]) -> None:
    threads = Threads(exchange)

    def burn() -> None:
        raise ValueError("the predictor burnt")

    threads.predictor = burn  # type: ignore[method-assign]
    crew = open_crew(idle, threads)
    crew.bring_to(Counts(1, 1, 1))

    with pytest.raises(ValueError, match="the predictor burnt"):
        watch_for_ever(crew)


def test_closing_wakes_waiting_agents(exchange: Exchange, open_crew: Callable[..., Ga3cCrew]) -> None:
    threads = Threads(exchange)
    crew = open_crew(waiting_for_an_answer, threads)
    crew.bring_to(MOST)
    wait_until(lambda: threads.trainers == MOST.trainers)
    crew.close()  # waits for the threads without a timeout
    assert (threads.predictors, threads.trainers) == (0, 0)
    assert crew.agents == 0
