"""Agents, predictors and trainers of GA3C in adjustable numbers."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from workers.trainer.host import open_files
from workers.trainer.host.processes import Processes
from workers.trainer.methods.ga3c.adjustment import Counts
from workers.trainer.methods.ga3c.experiences import Desk, Exchange

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
        open_files.allow(most.agents, "agents", FILES_OF_AN_AGENT)
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
