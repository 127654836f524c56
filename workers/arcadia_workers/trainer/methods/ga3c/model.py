"""GA3C's single network: predictors query it, trainers update it."""

import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode
from arcadia_workers.trainer.host.devices import graphed
from arcadia_workers.trainer.learning.optimizers import Centering, FlatParameters, RMSProp, clip_to_norm
from arcadia_workers.trainer.learning.returns import Losses, decayed
from arcadia_workers.trainer.methods.ga3c.experiences import Experiences, Submission
from arcadia_workers.trainer.networks.networks import ActorCritic, NetworkWatch
from arcadia_workers.trainer.networks.outputs import Tape


def guarded_losses(
    logits: Tensor,
    values: Tensor,
    actions: Tensor,
    returns: Tensor,
    config: Ga3cConfig,
    entropy_cost: float | Tensor,
    value_cost: float | Tensor,
) -> Losses:
    """Return equations 5 and 2 as one loss to minimize. ε keeps log π finite if the policy has changed since."""
    policy = torch.softmax(logits, dim=-1) + config.log_epsilon
    log_policy = policy.log()
    log_chosen = log_policy.gather(-1, actions.unsqueeze(-1)).squeeze(-1)

    policy_loss = -((returns - values.detach()) * log_chosen).sum()
    entropy = -(policy * log_policy).sum()
    value_loss = (returns - values).square().sum()
    total = policy_loss - entropy_cost * entropy + value_cost * value_loss
    return Losses(total, policy_loss, value_loss, entropy)


class TrainingBatch:
    """Rollouts of several agents, copied from shared memory so that the agents can reuse their rows."""

    def __init__(self, experiences: Experiences, config: Ga3cConfig) -> None:
        self._experiences, self._least = experiences, max(1, config.min_training_batch)
        rows = most_rows(config)
        self._states = torch.empty(rows, *experiences.states.shape[1:], dtype=experiences.states.dtype)
        self._actions = torch.empty(rows, dtype=torch.int64)
        self._returns = torch.empty(rows)
        self._versions = torch.empty(rows, dtype=torch.int64)
        self.clear()

    def clear(self) -> None:
        """Begin a new batch."""
        self.size = 0
        self.episodes: list[FinishedEpisode] = []

    def add(self, submission: Submission) -> None:
        """Append a rollout."""
        source = slice(submission.first_row, submission.first_row + submission.length)
        target = slice(self.size, self.size + submission.length)
        self._states.numpy()[target] = self._experiences.states.numpy()[source]
        self._actions.numpy()[target] = self._experiences.actions.numpy()[source]
        self._returns.numpy()[target] = self._experiences.returns.numpy()[source]
        self._versions.numpy()[target] = self._experiences.versions.numpy()[source]
        self.size = target.stop
        if submission.episode_length:
            self.episodes.append(FinishedEpisode(submission.episode_return, submission.episode_length))

    @property
    def is_full(self) -> bool:
        """True if the batch has enough experiences for an update."""
        return self.size >= self._least

    @property
    def states(self) -> Tensor:
        """The states s of all experiences."""
        return self._states[: self.size]

    @property
    def actions(self) -> Tensor:
        """The actions a of all experiences."""
        return self._actions[: self.size]

    @property
    def returns(self) -> Tensor:
        """The returns R of all experiences."""
        return self._returns[: self.size]

    def lag(self, version: int) -> float:
        """Return k of equation 4: the mean number of updates since the actions were taken."""
        return version - float(self._versions.numpy()[: self.size].mean())


def most_rows(config: Ga3cConfig) -> int:
    """Return the largest size of a batch: one experience was missing, and a full rollout was added."""
    return max(1, config.min_training_batch) - 1 + config.t_max


def padded(rows: list[int]) -> list[int]:
    """Repeat the last row up to a power of two, because every number of rows needs its own CUDA graph."""
    return rows + rows[-1:] * ((1 << (len(rows) - 1).bit_length()) - len(rows))


@dataclass(frozen=True)
class Update:
    """Measures of one update. The lag is the mean number of updates since acting."""

    experiences: int
    losses: Losses
    gradient_norm: Tensor
    learning_rate: float
    lag: float


@dataclass
class ModelTally:
    """Counts since the last report: predictions, updates, experiences and their lag."""

    predictions: int = 0
    prediction_batches: int = 0
    experiences: int = 0
    updates: int = 0
    lag: float = 0.0  # summed over the experiences
    last: Update | None = None


class Model:
    """Network θ, queried and updated by several threads.

    Trainers take turns, because they share the gradient buffer and one device. Predictors never wait and may read θ
    in the middle of an update, as in the paper. On a GPU, predictors take turns too, because they share CUDA graphs.
    """

    def __init__(self, config: Ga3cConfig, network: ActorCritic, device: torch.device) -> None:
        self._config, self._network, self._on_gpu = config, network, device.type == "cuda"
        self.parameters = FlatParameters(network)
        self.optimizer = RMSProp(self.parameters, config.rmsprop_decay, config.rmsprop_epsilon)
        self._tape = Tape(network.body, most_rows(config))
        self._centering = Centering(network.body, self.parameters) if config.centered_inputs else None
        self._watch = NetworkWatch(network)
        self._outputs, self._update = graphed(self._predicted, device), graphed(self._learn, device)
        self._predicting: AbstractContextManager[object] = threading.Lock() if self._on_gpu else nullcontext()
        self.updating = threading.Lock()
        self.step = 0
        self.updates = 0
        self._tally = ModelTally()
        self._episodes: list[tuple[int, FinishedEpisode]] = []
        self._counting = threading.Lock()

    @torch.inference_mode()
    def predict(self, experiences: Experiences, rows: list[int]) -> None:
        """Write π(·|s; θ), V(s; θ) and the version of θ for these rows."""
        version = self.updates
        states = experiences.states.index_select(0, torch.tensor(padded(rows) if self._on_gpu else rows))
        with self._predicting:
            outputs = self._outputs(states).cpu()
        experiences.predictions.numpy()[rows] = outputs.numpy()[: len(rows)]
        experiences.versions.numpy()[rows] = version
        with self._counting:
            self._tally.predictions += len(rows)
            self._tally.prediction_batches += 1

    def train(self, batch: TrainingBatch) -> None:
        """Update θ, and count the batch's steps."""
        # A CUDA graph prepares the states itself.
        states = batch.states if self._on_gpu else self._network.prepare(batch.states)
        config = self._config
        with self.updating:
            if self.step >= config.total_steps:
                return  # the run is complete
            learning_rate = decayed(config.learning_rate, config.learning_rate_decay, self.step, config.total_steps)
            entropy_cost = decayed(config.entropy_cost, config.entropy_cost_decay, self.step, config.total_steps)
            settings = (learning_rate, entropy_cost, config.value_cost, config.max_grad_norm)
            losses, gradient_norm = self._update(states, batch.actions, batch.returns, *settings)
            self._watch.see(batch.states)  # a single state is prepared differently from several
            lag = batch.lag(self.updates)
            self.updates += 1
            self.step += batch.size
            self._count(Update(batch.size, losses, gradient_norm, learning_rate, lag), batch.episodes)

    def network_metrics(self) -> dict[str, float]:
        """Return the metrics of the network when they are due."""
        with self.updating:
            return self._watch.metrics()

    def take_tally(self) -> ModelTally:
        """Return the tally since the last call."""
        with self._counting:
            tally, self._tally = self._tally, ModelTally()
        return tally

    def take_episodes(self) -> list[tuple[int, FinishedEpisode]]:
        """Return the episodes finished since the last call, each with the step at that time."""
        with self._counting:
            episodes, self._episodes = self._episodes, []
        return episodes

    def _predicted(self, states: Tensor) -> Tensor:
        """Return π and V of each state, V last."""
        logits, values = self._network(states)
        return torch.cat((torch.softmax(logits, dim=-1), values.unsqueeze(-1)), dim=-1)

    def _learn(
        self,
        states: Tensor,
        actions: Tensor,
        returns: Tensor,
        learning_rate: float | Tensor,
        entropy_cost: float | Tensor,
        value_cost: float | Tensor,
        max_grad_norm: float | Tensor,
    ) -> tuple[Losses, Tensor]:
        """Take one optimizer step. Return the losses and the norm of the gradients before clipping.

        Settings that may change during training are arguments, because a CUDA graph reads only these.
        """
        states = self._network.prepare(states)
        losses = guarded_losses(*self._forward(states), actions, returns, self._config, entropy_cost, value_cost)
        self.parameters.backward(losses.total)
        correct = self._centering.center(self._tape.input_means(states), len(states)) if self._centering else None
        gradient_norm = clip_to_norm(self.parameters.gradients, max_grad_norm)
        self.optimizer.step(learning_rate, correct)
        return losses.detached(), gradient_norm

    def _forward(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return π's logits and V attached to autograd; a tape's hand-written gradients are faster than autograd's."""
        self._tape.rewind()
        self._tape.act(states)
        return self._network.heads(self._tape.features(states))

    def _count(self, update: Update, episodes: list[FinishedEpisode]) -> None:
        with self._counting:
            tally = self._tally
            tally.experiences += update.experiences
            tally.updates += 1
            tally.lag += update.lag * update.experiences
            tally.last = update
            self._episodes += [(self.step, episode) for episode in episodes]
