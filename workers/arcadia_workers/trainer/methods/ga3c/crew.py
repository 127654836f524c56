"""Agents, predictors and trainers of GA3C in adjustable numbers."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace

import numpy as np

from arcadia_workers.trainer.host import memory
from arcadia_workers.trainer.host.processes import Processes
from arcadia_workers.trainer.methods.ga3c.experiences import Desk, Exchange


@dataclass(frozen=True)
class Counts:
    """The numbers of agents, predictors and trainers: N_A, N_P and N_T."""

    agents: int
    predictors: int
    trainers: int

    def neighbors(self, most: "Counts") -> list["Counts"]:
        """Return all settings that differ by one in one number, between 1 and `most`."""
        limits = asdict(most)
        return [
            replace(self, **{name: number + change})
            for name, number in asdict(self).items()
            for change in (-1, 1)
            if 1 <= number + change <= limits[name]
        ]

    def within(self, most: "Counts") -> "Counts":
        """Lower each number to its limit."""
        limits = asdict(most)
        return Counts(**{name: min(number, limits[name]) for name, number in asdict(self).items()})


class Adjustment:
    """Search that tries a neighbor of the current setting, and keeps it if it makes more updates per second.

    After a failed trial, the old setting is measured again. If the machine has become slower, every later trial would
    fail against an outdated rate.
    """

    def __init__(self, counts: Counts, most: Counts, seconds: float, random: np.random.Generator) -> None:
        self.counts = counts
        self._most, self._seconds, self._random = most, seconds, random
        self._begun: tuple[float, int] | None = None
        self._before: Counts | None = None
        self._rate = 0.0

    @property
    def kept(self) -> Counts:
        """The best setting so far, without the one on trial."""
        return self._before or self.counts

    def observe(self, now: float, updates: int) -> None:
        """Record the current number of updates. Call it regularly from the first update on."""
        if self._begun is None:
            self._begun = now, updates
        began, first = self._begun
        if now - began < self._seconds:
            return
        self._begun = now, updates
        self._decide((updates - first) / (now - began))

    def _decide(self, rate: float) -> None:
        if self._before is not None and rate <= self._rate:
            self.counts, self._before = self._before, None
            return
        self._rate, self._before = rate, self.counts
        neighbors = self.counts.neighbors(self._most)
        self.counts = neighbors[self._random.integers(len(neighbors))]


# Open files of the main process for an agent's four pipes, with a margin.
FILES_OF_AN_AGENT = 10

Work = Callable[[], None]
# Starts an agent at a desk and returns the number of its process.
StartAgent = Callable[[Processes, Desk], int]


class Ga3cCrew:
    """Agent processes in the slots of the exchange, and predictor and trainer threads."""

    def __init__(
        self, exchange: Exchange, most: Counts, start_agent: StartAgent, predictor: Work, trainer: Work
    ) -> None:
        self._exchange, self._slots = exchange, range(most.agents)
        self._start_agent, self._predictor, self._trainer = start_agent, predictor, trainer
        memory.allow(most.agents, "agents", FILES_OF_AN_AGENT)
        self._processes = Processes()
        self._threads = ThreadPoolExecutor(most.predictors + most.trainers, "ga3c")
        self._working: set[Future[None]] = set()
        self._predictors = self._trainers = 0
        self._agents: dict[int, int] = {}  # slot: number of its process
        self._leaving: set[int] = set()

    def bring_to(self, counts: Counts) -> None:
        """Start or dismiss members to reach these numbers. If an agent's slot is still in use, it starts later."""
        self._bring_threads_to(counts.predictors, counts.trainers)
        self._bring_agents_to(counts.agents)

    @property
    def agents(self) -> int:
        """The number of agent processes, including those that are leaving."""
        return len(self._processes.running)

    def watch(self, seconds: float) -> None:
        """Wait, and raise the failure of any agent, predictor or trainer."""
        self._processes.receive(seconds)
        for future in [future for future in self._working if future.done()]:
            self._working.remove(future)
            future.result()

    def close(self) -> None:
        """Dismiss everyone: first the threads, then the agents, which may be waiting for the threads."""
        self._exchange.closing = True
        self._bring_threads_to(0, 0)
        wait(self._working)
        self._threads.shutdown()
        self._exchange.close()
        self._processes.close()

    def __enter__(self) -> "Ga3cCrew":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bring_threads_to(self, predictors: int, trainers: int) -> None:
        while self._predictors < predictors:
            self._working.add(self._threads.submit(self._predictor))
            self._predictors += 1
        while self._trainers < trainers:
            self._working.add(self._threads.submit(self._trainer))
            self._trainers += 1
        while self._predictors > predictors:
            self._exchange.dismiss_predictor()
            self._predictors -= 1
        while self._trainers > trainers:
            self._exchange.dismiss_trainer()
            self._trainers -= 1

    def _bring_agents_to(self, number: int) -> None:
        running = set(self._processes.running)
        self._agents = {slot: process for slot, process in self._agents.items() if process in running}
        self._leaving &= self._agents.keys()
        staying = [slot for slot in self._agents if slot not in self._leaving]
        for slot in staying[number:]:
            self._processes.stop(self._agents[slot])
            self._leaving.add(slot)
        vacant = [slot for slot in self._slots if slot not in self._agents]
        for slot in vacant[: max(0, number - len(staying))]:
            self._agents[slot] = self._start_agent(self._processes, self._exchange.desk(slot))
