"""What GA3C's agents, predictors and trainers share: experiences in shared memory, and queues that name their rows.

An experience is a row of a few tables. An agent owns two rollouts of t_max rows, and goes on in one while the other
waits for a trainer. While both wait, so does the agent: the training queue holds at most two rollouts an agent, and the
policy lag cannot grow without limit.
"""

import math
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from workers.trainer.config import TrainingConfig
from workers.trainer.environments import Observations
from workers.trainer.ga3c.record_queues import Reader, Writer, open_queue
from workers.trainer.own_environment import Episode
from workers.trainer.returns import returns_of_one

ROLLOUTS = 2
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108, nothing is written there by name

# What the queues carry: a row whose state asks for a policy; an agent's rollout; which of two rollouts is free.
ROW = "i"
ROLLOUT = "iiid"
FREE = "B"
# A row that stands for none: whoever takes it ends.
NO_ROW = -1


class SharedMemoryError(Exception):
    """The experiences do not fit into this machine's shared memory."""


class Submission(NamedTuple):
    """An agent's rollout in the training queue; one that ends an episode names its length and raw return."""

    first_row: int
    length: int
    episode_length: int
    episode_return: float


@dataclass(frozen=True)
class Experiences:
    """One row an experience: agents write states, actions and returns; predictors write π and V, and of which θ."""

    states: Tensor
    actions: Tensor
    returns: Tensor
    predictions: Tensor
    versions: Tensor
    t_max: int

    @classmethod
    def allocate(
        cls, config: TrainingConfig, agents: int, observation_shape: tuple[int, ...], num_actions: int
    ) -> "Experiences":
        """Make room for so many agents."""
        needed, free = agents * bytes_of_agent(config, observation_shape), free_shared_memory()
        if needed > free:
            raise SharedMemoryError(
                f"{agents} agents need {needed / 1e9:.1f} GB of shared memory, and {SHARED_MEMORY} has "
                f"{free / 1e9:.1f} GB left: choose fewer agents or a smaller t_max, or give the container more "
                "(docker run --shm-size)"
            )
        rows = agents * ROLLOUTS * config.t_max
        dtype = state_dtype(config)
        return cls(
            states=torch.empty(rows, *observation_shape, dtype=dtype).share_memory_(),
            actions=torch.empty(rows, dtype=torch.int64).share_memory_(),
            returns=torch.empty(rows).share_memory_(),
            predictions=torch.empty(rows, num_actions + 1).share_memory_(),
            versions=torch.empty(rows, dtype=torch.int64).share_memory_(),
            t_max=config.t_max,
        )

    def first_row(self, slot: int, rollout: int) -> int:
        """Where a rollout of the agent in a slot begins."""
        return (slot * ROLLOUTS + rollout) * self.t_max

    def owner(self, row: int) -> tuple[int, int]:
        """The slot and the rollout that a row is in."""
        return divmod(row // self.t_max, ROLLOUTS)


def state_dtype(config: TrainingConfig) -> torch.dtype:
    """Pixels stay bytes."""
    return torch.uint8 if config.environment.shows_pixels else torch.float32


def bytes_of_agent(config: TrainingConfig, observation_shape: tuple[int, ...]) -> int:
    """What the states of one agent's rollouts take."""
    return ROLLOUTS * config.t_max * math.prod(observation_shape) * state_dtype(config).itemsize


def free_shared_memory() -> float:
    """Bytes that are left; a container has little by default."""
    return shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.exists() else math.inf


@dataclass
class Rollout:
    """Up to t_max experiences that an agent is gathering."""

    first_row: int
    rewards: list[float] = field(default_factory=list)

    @property
    def length(self) -> int:
        """How many there are."""
        return len(self.rewards)

    @property
    def row(self) -> int:
        """Where the next one goes."""
        return self.first_row + len(self.rewards)


@dataclass(frozen=True)
class Desk:
    """An agent's place: here it asks for policies and hands in rollouts."""

    slot: int
    experiences: Experiences
    requests: Writer
    submissions: Writer
    answers: Reader
    free: Reader

    def new_rollout(self) -> Rollout:
        """Wait until a trainer has taken the rollout before the last."""
        return Rollout(self.experiences.first_row(self.slot, self.free.take()[0]))

    def ask(self, rollout: Rollout, observation: Observations) -> tuple[list[float], float]:
        """Queue the state for prediction, and wait for π(·|s) and V(s)."""
        row = rollout.row
        self.experiences.states.numpy()[row : row + 1] = observation
        self.requests.put(row)
        self.answers.take()
        *policy, value = self.experiences.predictions.numpy()[row].tolist()
        return policy, value

    def keep(self, rollout: Rollout, action: int, reward: float) -> None:
        """Note what was done in the state that the policy was asked for, and what came of it."""
        self.experiences.actions.numpy()[rollout.row] = action
        rollout.rewards.append(reward)

    def submit(self, rollout: Rollout, bootstrap: float, gamma: float, episode: Episode | None = None) -> None:
        """Compute the returns from R = `bootstrap`, and queue the rollout with the episode that it ends."""
        returns = returns_of_one(rollout.rewards, bootstrap, gamma)
        self.experiences.returns.numpy()[rollout.first_row : rollout.row] = returns
        length, episode_return = (episode.length, episode.episode_return) if episode else (0, 0.0)
        self.submissions.put(rollout.first_row, rollout.length, length, episode_return)


@dataclass(frozen=True)
class Line:
    """The queues that lead to the agent of one slot."""

    answers: tuple[Reader, Writer]
    free: tuple[Reader, Writer]


class Exchange:
    """The other side of all desks: predictors take requests and answer, trainers take rollouts and free them."""

    def __init__(self, experiences: Experiences) -> None:
        self.experiences = experiences
        self._requests, self._asking = open_queue(ROW)
        self._submissions, self._submitting = open_queue(ROLLOUT)
        self._lines: dict[int, Line] = {}
        # Once this is set, nobody is answered and nothing is learnt any more.
        self.closing = False

    def desk(self, slot: int) -> Desk:
        """The place of a slot's agent; agents of one slot follow each other, and its queues stay."""
        if slot not in self._lines:
            self._lines[slot] = Line(open_queue(FREE), open_queue(FREE))
            for rollout in range(ROLLOUTS):
                self._lines[slot].free[1].put(rollout)
        line = self._lines[slot]
        return Desk(slot, self.experiences, self._asking, self._submitting, line.answers[0], line.free[0])

    def take_requests(self) -> tuple[list[int], bool]:
        """Wait for a state whose policy is wanted; return the rows of all that wait, and whether to end then.

        On few cores the first request would wake a predictor while other agents are about to ask: a pass of the network
        over one state costs nearly as much as over four.
        """
        self._requests.wait_until_settled()
        rows = [row for (row,) in self._requests.take_all()]
        dismissals = rows.count(NO_ROW)
        for _ in range(dismissals - 1):
            self.dismiss_predictor()  # it was meant for another
        if self.closing:
            return [], dismissals > 0
        return [row for row in rows if row != NO_ROW] if dismissals else rows, dismissals > 0

    def answer(self, rows: list[int]) -> None:
        """Wake the agents that these rows belong to: the policies are there."""
        for row in rows:
            self._lines[self.experiences.owner(row)[0]].answers[1].put(0)

    def take_submission(self) -> Submission | None:
        """Wait for an agent's rollout; None is the sign to end."""
        submission = Submission(*self._submissions.take())
        return None if submission.first_row == NO_ROW or self.closing else submission

    def free(self, first_row: int) -> None:
        """Give a rollout that has been copied back to its agent."""
        slot, rollout = self.experiences.owner(first_row)
        self._lines[slot].free[1].put(rollout)

    def dismiss_predictor(self) -> None:
        """Have one predictor end."""
        self._asking.put(NO_ROW)

    def dismiss_trainer(self) -> None:
        """Have one trainer end."""
        self._submitting.put(NO_ROW, 0, 0, 0.0)

    def sizes(self) -> tuple[int, int]:
        """How much waits in the prediction queue and in the training queue."""
        return self._requests.waiting(), self._submissions.waiting()

    def close(self) -> None:
        """Send all agents home: who waits for an answer learns that none will come."""
        for line in self._lines.values():
            for _, writer in (line.answers, line.free):
                writer.pipe.close()
