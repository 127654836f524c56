"""Experiences in shared memory, and the queues of their rows between GA3C's agents, predictors and trainers.

An experience is one row of several tables. Each agent owns some rollouts of t_max rows, two by default. It fills one
while the others wait for a trainer. If all wait, the agent waits too, so that the policy lag stays bounded. Without a
limit, an agent copies each rollout to its own memory and continues. `BacklogDesk` hands the copies to the trainers.
"""

import math
import shutil
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.environments.environments import Observations
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.host.memory import MEBIBYTE, Need, outputs_size, prepared_size, state_size
from arcadia_workers.trainer.learning.returns import returns_of_one
from arcadia_workers.trainer.methods.ga3c.record_queues import Reader, Writer, open_queue

# Without a limit of the training queue: rollouts that an agent fills, and those that it hands to the trainers.
FILLED = 2
HANDED = 2
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108, no file is created there by name

# Records of the queues: a row to predict; a rollout to train on; the number of a free rollout.
ROW = "i"
ROLLOUT = "iiid"
FREE = "B"
# Sent instead of a row: the thread that takes it ends.
NO_ROW = -1


class SharedMemoryError(TrainerError):
    """The experiences do not fit into this machine's shared memory."""


class Submission(NamedTuple):
    """Rollout in the training queue, with the length and raw return of the episode if it ended."""

    first_row: int
    length: int
    episode_length: int
    episode_return: float


@dataclass(frozen=True)
class Experiences:
    """Shared tables with one row per experience.

    Agents write states, actions and returns. Predictors write π, V and the version of θ.
    """

    states: Tensor
    actions: Tensor
    returns: Tensor
    predictions: Tensor
    versions: Tensor
    t_max: int
    rollouts: int
    # The number of waiting rollouts in each agent's own memory; None if the training queue is limited.
    backlogs: Tensor | None

    @classmethod
    def allocate(
        cls, config: Ga3cConfig, agents: int, observation_shape: tuple[int, ...], num_actions: int
    ) -> "Experiences":
        """Allocate the tables for `agents` agents."""
        needed, free = agents * bytes_of_agent(config, observation_shape), free_shared_memory()
        if needed > free:
            raise SharedMemoryError(
                f"{agents} agents need {needed / 1e9:.1f} GB of shared memory, and {SHARED_MEMORY} has "
                f"{free / 1e9:.1f} GB left: choose fewer agents or a smaller t_max, or give the container more "
                "(docker run --shm-size)"
            )
        rollouts = rollouts_of_agent(config)
        rows = agents * rollouts * config.t_max
        dtype = state_dtype(config)
        return cls(
            states=torch.empty(rows, *observation_shape, dtype=dtype).share_memory_(),
            actions=torch.empty(rows, dtype=torch.int64).share_memory_(),
            returns=torch.empty(rows).share_memory_(),
            predictions=torch.empty(rows, num_actions + 1).share_memory_(),
            versions=torch.empty(rows, dtype=torch.int64).share_memory_(),
            t_max=config.t_max,
            rollouts=rollouts,
            backlogs=None if config.training_queue_rollouts else torch.zeros(agents, dtype=torch.int64).share_memory_(),
        )

    @property
    def tables(self) -> tuple[Tensor, ...]:
        """Return every table that has a row for each experience."""
        return self.states, self.actions, self.returns, self.predictions, self.versions

    def first_row(self, slot: int, rollout: int) -> int:
        """Return the first row of a rollout of the agent in a slot."""
        return (slot * self.rollouts + rollout) * self.t_max

    def owner(self, row: int) -> tuple[int, int]:
        """Return the slot and the rollout of a row."""
        return divmod(row // self.t_max, self.rollouts)


def rollouts_of_agent(config: Ga3cConfig) -> int:
    """Return the number of an agent's rollouts in shared memory."""
    return config.training_queue_rollouts or FILLED + HANDED


def state_dtype(config: Ga3cConfig) -> torch.dtype:
    """Return the number format of states. Pixels stay bytes."""
    return torch.uint8 if config.environment.shows_pixels else torch.float32


def bytes_of_agent(config: Ga3cConfig, observation_shape: tuple[int, ...]) -> int:
    """Return the bytes of the states in one agent's rollouts."""
    return rollouts_of_agent(config) * config.t_max * math.prod(observation_shape) * state_dtype(config).itemsize


def free_shared_memory() -> float:
    """Return the free bytes of shared memory. A container has little by default."""
    return shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.exists() else math.inf


@dataclass
class AgentRollout:
    """Rollout of up to t_max experiences that an agent is filling."""

    first_row: int
    rewards: list[float] = field(default_factory=list)

    @property
    def length(self) -> int:
        """The number of experiences so far."""
        return len(self.rewards)

    @property
    def row(self) -> int:
        """The row of the next experience."""
        return self.first_row + len(self.rewards)


@dataclass(frozen=True)
class Desk:
    """Agent's end of the queues: it requests policies and submits rollouts."""

    slot: int
    experiences: Experiences
    requests: Writer
    submissions: Writer
    answers: Reader
    free: Reader

    def new_rollout(self) -> AgentRollout:
        """Wait until one of the agent's rollouts is free, and return it."""
        return AgentRollout(self.experiences.first_row(self.slot, self.free.take()[0]))

    def ask(self, rollout: AgentRollout, observation: Observations) -> tuple[list[float], float]:
        """Queue the state for prediction, wait, and return π(·|s) and V(s)."""
        row = rollout.row
        self.experiences.states.numpy()[row : row + 1] = observation
        self.requests.put(row)
        self.answers.take()
        *policy, value = self.experiences.predictions.numpy()[row].tolist()
        return policy, value

    def keep(self, rollout: AgentRollout, action: int, reward: float) -> None:
        """Record the action taken in the last state, and its reward."""
        self.experiences.actions.numpy()[rollout.row] = action
        rollout.rewards.append(reward)

    def submit(
        self, rollout: AgentRollout, bootstrap: float, gamma: float, episode: FinishedEpisode | None = None
    ) -> None:
        """Compute the returns from R = `bootstrap`, and queue the rollout, with the episode if it ended one."""
        self._write_returns(rollout, bootstrap, gamma)
        length, episode_return = (episode.length, episode.episode_return) if episode else (0, 0.0)
        self.submissions.put(rollout.first_row, rollout.length, length, episode_return)

    def leave(self) -> None:
        """Leave the desk to the slot's next agent. Every rollout has been submitted."""

    def _write_returns(self, rollout: AgentRollout, bootstrap: float, gamma: float) -> None:
        returns = returns_of_one(rollout.rewards, bootstrap, gamma)
        self.experiences.returns.numpy()[rollout.first_row : rollout.row] = returns


@dataclass(frozen=True)
class WaitingRollout:
    """Full rollout in an agent's own memory."""

    rows: tuple[Tensor, ...]
    length: int
    episode_length: int
    episode_return: float


@dataclass(frozen=True)
class BacklogDesk(Desk):
    """Desk of an agent that never waits for the trainers. Its rollouts wait in order in its own memory."""

    filling: deque[int] = field(default_factory=lambda: deque(range(FILLED)))
    handing: deque[int] = field(default_factory=deque)
    waiting: deque[WaitingRollout] = field(default_factory=deque)

    def new_rollout(self) -> AgentRollout:
        """Return a rollout to fill."""
        return AgentRollout(self.experiences.first_row(self.slot, self.filling.popleft()))

    def ask(self, rollout: AgentRollout, observation: Observations) -> tuple[list[float], float]:
        """Hand waiting rollouts to the trainers, then request π(·|s) and V(s)."""
        self.hand_over()
        return super().ask(rollout, observation)

    def submit(
        self, rollout: AgentRollout, bootstrap: float, gamma: float, episode: FinishedEpisode | None = None
    ) -> None:
        """Compute the returns, and queue a copy of the rollout in the agent's memory."""
        self._write_returns(rollout, bootstrap, gamma)
        rows = tuple(table[rollout.first_row : rollout.row].clone() for table in self.experiences.tables)
        length, episode_return = (episode.length, episode.episode_return) if episode else (0, 0.0)
        self.waiting.append(WaitingRollout(rows, rollout.length, length, episode_return))
        self.filling.append(self.experiences.owner(rollout.first_row)[1])
        self.hand_over()

    def leave(self) -> None:
        """Wait until the trainers have taken every rollout, and leave the shared ones to the slot's next agent."""
        while self.waiting:
            self.handing.append(self.free.take()[0])
            self.hand_over()
        for rollout in self.handing:
            self.submissions.put(self.experiences.first_row(self.slot, rollout), 0, 0, 0.0)
        self.handing.clear()

    def hand_over(self) -> None:
        """Copy waiting rollouts to free shared ones, and queue these for the trainers."""
        while self.free.waiting():
            self.handing.append(self.free.take()[0])
        while self.waiting and self.handing:
            waiting, first_row = self.waiting.popleft(), self.experiences.first_row(self.slot, self.handing.popleft())
            for table, rows in zip(self.experiences.tables, waiting.rows, strict=True):
                table[first_row : first_row + waiting.length] = rows
            self.submissions.put(first_row, waiting.length, waiting.episode_length, waiting.episode_return)
        if self.experiences.backlogs is not None:
            self.experiences.backlogs[self.slot] = len(self.waiting)


@dataclass(frozen=True)
class AgentQueues:
    """Queues to the agent of one slot."""

    answers: tuple[Reader, Writer]
    free: tuple[Reader, Writer]


class Exchange:
    """Main process's end of the queues. Predictors answer requests; trainers take rollouts and free them."""

    def __init__(self, experiences: Experiences) -> None:
        self.experiences = experiences
        self._requests, self._asking = open_queue(ROW)
        self._submissions, self._submitting = open_queue(ROLLOUT)
        self._lines: dict[int, AgentQueues] = {}
        # Once set, predictors and trainers stop working.
        self.closing = False

    def desk(self, slot: int) -> Desk:
        """Return the desk for a slot's next agent. Successive agents of a slot use the same queues."""
        if slot not in self._lines:
            self._lines[slot] = AgentQueues(open_queue(FREE), open_queue(FREE))
            first = 0 if self.experiences.backlogs is None else FILLED
            for rollout in range(first, self.experiences.rollouts):
                self._lines[slot].free[1].put(rollout)
        line = self._lines[slot]
        kind = Desk if self.experiences.backlogs is None else BacklogDesk
        return kind(slot, self.experiences, self._asking, self._submitting, line.answers[0], line.free[0])

    def take_requests(self) -> tuple[list[int], bool]:
        """Wait for requests. Return the rows of all of them, and True if the predictor must end after them.

        The queue settles first. On few cores, the first request would wake a predictor while other agents are about
        to send theirs, and a forward pass over one state costs nearly as much as over four.
        """
        self._requests.wait_until_settled()
        rows = [row for (row,) in self._requests.take_all()]
        dismissals = rows.count(NO_ROW)
        for _ in range(dismissals - 1):
            self.dismiss_predictor()  # pass it on to another predictor
        if self.closing:
            return [], dismissals > 0
        return [row for row in rows if row != NO_ROW] if dismissals else rows, dismissals > 0

    def answer(self, rows: list[int]) -> None:
        """Notify the agents of these rows that their policies are ready."""
        for row in rows:
            self._lines[self.experiences.owner(row)[0]].answers[1].put(0)

    def take_submission(self) -> Submission | None:
        """Wait for an agent's rollout and return it, or None if the trainer must end."""
        submission = Submission(*self._submissions.take())
        return None if submission.first_row == NO_ROW or self.closing else submission

    def free(self, first_row: int) -> None:
        """Return a copied rollout to its agent."""
        slot, rollout = self.experiences.owner(first_row)
        self._lines[slot].free[1].put(rollout)

    def dismiss_predictor(self) -> None:
        """Request that one predictor ends."""
        self._asking.put(NO_ROW)

    def dismiss_trainer(self) -> None:
        """Request that one trainer ends."""
        self._submitting.put(NO_ROW, 0, 0, 0.0)

    def sizes(self) -> tuple[int, int]:
        """Return the lengths of the prediction queue and the training queue."""
        backlog = 0 if self.experiences.backlogs is None else int(self.experiences.backlogs.sum())
        return self._requests.waiting(), self._submissions.waiting() + backlog

    def close(self) -> None:
        """Close the agents' queues. Agents that wait for an answer then end."""
        for line in self._lines.values():
            for _, writer in (line.answers, line.free):
                writer.pipe.close()


AGENT = 8 * MEBIBYTE


def needs(config: Ga3cConfig, device: torch.device) -> list[Need]:
    """Return the memory needs of the agents with their rollouts and of the trainers' batches."""
    each = AGENT + rollouts_of_agent(config) * config.t_max * state_size(config)
    rows = config.min_training_batch + config.t_max
    # Each trainer collects a batch, but they take turns with the network.
    batches = rows * config.num_trainers * (state_size(config) + prepared_size(config, device))
    update = rows * outputs_size(config, device)
    return [
        Need(f"{config.num_agents:,} agents", config.num_agents * each, "num_agents or t_max"),
        Need("training batches", batches + update, "min_training_batch or num_trainers"),
    ]
