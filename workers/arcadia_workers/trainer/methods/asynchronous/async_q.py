"""Asynchronous one-step Q, one-step Sarsa and n-step Q (Mnih et al. 2016, algorithms 1 and S1, quoted in comments)."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from arcadia_workers.contract.action_names import ActionSpace, number_of_actions
from arcadia_workers.contract.config import NStepQConfig, OneStepQConfig, OneStepSarsaConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.environments.own_environment import OwnEnvironment
from arcadia_workers.trainer.host.processes import Link
from arcadia_workers.trainer.learning.optimizers import Centering, FlatParameters, clip_to_norm
from arcadia_workers.trainer.learning.policies import FinalEpsilons, annealed
from arcadia_workers.trainer.learning.returns import one_step_targets, returns_of_one
from arcadia_workers.trainer.methods.asynchronous import shared_state
from arcadia_workers.trainer.methods.asynchronous.shared_state import Participant, RolloutStates, SharedState
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.networks.networks import ActionValues
from arcadia_workers.trainer.networks.outputs import Tape
from arcadia_workers.trainer.run.run import TrainingRun

Config = OneStepQConfig | OneStepSarsaConfig | NStepQConfig

MEASURES = ("train/value_loss", "train/q_mean", "train/grad_norm", "train/learning_rate", "train/epsilon")


@dataclass
class EpisodeSteps:
    """Steps of an actor-learner since its last update, all of one episode."""

    # One more than the rewards: the last is the state after the last step. Valid until the next steps.
    states: Tensor = field(default_factory=lambda: torch.empty(0))
    # In Sarsa one more than the rewards: the last is the next action.
    actions: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terminal: bool = False


@torch.no_grad()
def q_targets(target: ActionValues, seen: EpisodeSteps, gamma: float) -> list[float]:
    """Return y = r for terminal s', else r + γ max_a' Q(s', a'; θ⁻)."""
    highest = target.head(target.body(seen.states[1:])).max(dim=-1).values.tolist()
    if seen.terminal:
        highest[-1] = 0.0
    return one_step_targets(seen.rewards, highest, gamma)


@torch.no_grad()
def sarsa_targets(target: ActionValues, seen: EpisodeSteps, gamma: float) -> list[float]:
    """Return y = r for terminal s', else r + γ Q(s', a'; θ⁻), where a' is the action taken in s'."""
    following = target.head(target.body(seen.states[1:])).gather(-1, torch.tensor(seen.actions[1:]).unsqueeze(-1))
    values = following.squeeze(-1).tolist()
    if seen.terminal:
        values[-1] = 0.0
    return one_step_targets(seen.rewards, values, gamma)


@torch.no_grad()
def n_step_targets(target: ActionValues, seen: EpisodeSteps, gamma: float) -> list[float]:
    """R = 0 for terminal s_t, else max_a Q(s_t, a; θ⁻); R ← r_i + γR for i from t−1 down to t_start."""
    bootstrap = 0.0 if seen.terminal else target.head(target.body(seen.states[-1:])).max().item()
    return returns_of_one(seen.rewards, bootstrap, gamma)


def q_loss(action_values: Tensor, seen: EpisodeSteps, targets: list[float]) -> tuple[Tensor, Tensor]:
    """Return Σ (y − Q(s, a; θ))², whose gradient is the accumulated dθ, and the mean of Q(s, a; θ)."""
    actions = torch.tensor(seen.actions[: len(targets)])
    chosen = action_values.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    return (torch.tensor(targets) - chosen).square().sum(), chosen.detach().mean()


class EpsilonGreedyActor:
    """ε-greedy actor in its own environment, with its own ε."""

    def __init__(
        self, link: Link, config: Config, participant: Participant, environment: OwnEnvironment, network: ActionValues
    ) -> None:
        self._config, self._participant, self._environment, self._network = config, participant, environment, network
        self._actions = number_of_actions(environment.actions)
        self._random = random.Random(participant.seed)  # noqa: S311, not used for secrets
        self._number = link.number
        self._final_epsilons = FinalEpsilons(config, config.num_actors)
        self._intended: int | None = None
        self.epsilon = 1.0
        self.tape = Tape(network.body, config.t_max)
        self._states = RolloutStates(network.prepare, environment.observation, config.t_max)

    @torch.no_grad()
    def act(self, steps: int, intends: bool = False) -> EpisodeSteps:
        """Take `steps` steps, or fewer if s becomes terminal; with `intends` (Sarsa), also choose the next action."""
        environment, participant, states = self._environment, self._participant, self._states
        seen, over = EpisodeSteps(), False
        frames = participant.frames
        epsilons = annealed(self._final_epsilons.at(frames), frames, self._config.epsilon_anneal_frames)
        self.epsilon = float(epsilons[self._number])
        self.tape.rewind()
        states.begin(environment.observation)
        while len(seen.rewards) < steps and not (over or seen.terminal or participant.stopping):
            action = self._choose(self.tape.act(states.now))  # the tape needs every state, also in Sarsa
            if self._intended is not None:
                action, self._intended = self._intended, None
            outcome = environment.step(np.array([action]))
            seen.actions.append(action)
            seen.rewards.append(outcome.reward)
            states.move_on(environment.observation)
            participant.count_step()  # T ← T + 1
            over, seen.terminal = outcome.over, outcome.terminal
        seen.states = states.all
        if intends:
            seen.actions.append(self._choose(self._network.body(states.now)))
            self._intended = None if over else seen.actions[-1]
        if over:
            participant.report_episode(environment.begin_again())
        return seen

    def close(self) -> None:
        """End the environment."""
        self._environment.close()

    def _choose(self, features: Tensor) -> int:
        """Choose a random action with probability ε, else the one of the highest Q(s, a; θ')."""
        if self._random.random() < self.epsilon:
            return self._random.randrange(self._actions)
        return int(self._network.head(features).argmax())


class SharedTarget:
    """Target network Q(s, a; θ⁻). Its parameters are shared, and each actor-learner computes with its own copy."""

    def __init__(self, network: ActionValues, shared: SharedState, update_frames: int) -> None:
        self.network = network
        self._theta = shared.values
        # The frame of the last update of θ⁻. It is read before θ⁻ itself, which may be newer by then.
        self._since = shared.others["target.since"].numpy()
        self._copied_since = int(self._since[0])
        self._parameters = FlatParameters(network, shared.others["target.values"])
        self._update_frames = update_frames

    def update_if_due(self, frames: int) -> None:
        """Set θ⁻ ← θ if T has passed a multiple of I_target. The first actor-learner that notices does it.

        No fixed actor-learner is responsible, because it may be slow. If two notice at the same time, both write
        nearly the same values. Each sets `since` only after writing, so all copy the values written last.
        """
        if frames // self._update_frames > self._since[0] // self._update_frames:
            self._parameters.values.copy_(self._theta)
            self._since[0] = frames
        if self._since[0] != self._copied_since:
            self._copied_since = int(self._since[0])
            self._parameters.changed()


class QLearner:
    """Learner that accumulates gradients and applies them to the shared θ."""

    def __init__(self, network: ActionValues, config: Config, participant: Participant, shared: SharedState) -> None:
        self.network = network
        self._config, self._participant = config, participant
        self._parameters = FlatParameters(network, shared.values)  # θ' ← θ, here and after every update
        self._optimizer = participant.optimizer(self._parameters)
        self._centering = Centering(network.body, self._parameters) if config.centered_inputs else None

    def accumulate(self, seen: EpisodeSteps, tape: Tape, targets: list[float]) -> None:
        """Compute dθ ← Σ ∂(y − Q(s, a; θ))² / ∂θ."""
        states = seen.states[:-1]
        loss, q_mean = q_loss(self.network.head(tape.features(states)), seen, targets)
        self._parameters.backward(loss)
        self._correct = self._centering.center(tape.input_means(states), len(states)) if self._centering else None
        self._states = states
        self._measures = {"train/value_loss": loss.item() / len(targets), "train/q_mean": q_mean.item()}

    def update(self, epsilon: float) -> None:
        """Perform asynchronous update of θ using dθ."""
        gradient_norm = clip_to_norm(self._parameters.gradients, self._config.max_grad_norm)
        learning_rate = self._participant.learning_rate
        self._optimizer.step(learning_rate, self._correct)
        self._participant.report_network(self.network, self._states)
        self._participant.report_update(
            len(self._states),
            {
                **self._measures,
                "train/grad_norm": gradient_norm.item(),
                "train/learning_rate": learning_rate,
                "train/epsilon": epsilon,
            },
        )


def begin(
    link: Link, config: Config, shared: SharedState
) -> tuple[Participant, EpsilonGreedyActor, QLearner, SharedTarget]:
    """Set up one actor-learner."""
    participant = Participant(link, config, shared)
    environment = OwnEnvironment(config, participant.seed)
    shape, actions = environment.observation_shape, environment.actions
    learner = QLearner(build(config, shape, actions), config, participant, shared)
    target = SharedTarget(build(config, shape, actions), shared, config.target_update_frames)
    return participant, EpsilonGreedyActor(link, config, participant, environment, learner.network), learner, target


def one_step(link: Link, config: OneStepQConfig | OneStepSarsaConfig, shared: SharedState) -> None:
    """Run algorithm 1 in one actor-learner. Sarsa differs only in its targets."""
    participant, actor, learner, target = begin(link, config, shared)
    sarsa = config.algorithm == "one_step_sarsa"
    targets = sarsa_targets if sarsa else q_targets
    t = 0
    while participant.goes_on:
        # Until t mod I_AsyncUpdate = 0 or s is terminal.
        seen = actor.act(config.t_max - t % config.t_max, intends=sarsa)
        if participant.stopping:
            break  # a stop may have shortened the steps
        t += len(seen.rewards)
        learner.accumulate(seen, actor.tape, targets(target.network, seen, config.gamma))
        target.update_if_due(participant.frames)
        learner.update(actor.epsilon)
    actor.close()


def n_step(link: Link, config: NStepQConfig, shared: SharedState) -> None:
    """Run algorithm S1 in one actor-learner."""
    participant, actor, learner, target = begin(link, config, shared)
    while participant.goes_on:
        seen = actor.act(config.t_max)  # until terminal s_t or t − t_start = t_max
        if participant.stopping:
            break  # a stop may have shortened the steps
        learner.accumulate(seen, actor.tape, n_step_targets(target.network, seen, config.gamma))
        learner.update(actor.epsilon)
        target.update_if_due(participant.frames)
    actor.close()


def build(config: Config, observation_shape: tuple[int, ...], actions: ActionSpace) -> ActionValues:
    """Build the action-value network with fresh weights, in the run's number format."""
    dtype = body_dtype(config, torch.device("cpu"))
    return networks.build_action_values(config, observation_shape, actions, dtype)


def train(config: Config, run: TrainingRun) -> None:
    """Start the actor-learners and watch them until training ends."""
    torch.manual_seed(config.seed)
    network = build(config, *own_environment.interface(config))
    parameters = FlatParameters(network)
    if run.restored:
        # The target of a checkpoint that has only weights.
        parameters.load(run.restored.component("network"))
    target = {"target.values": parameters.values, "target.since": torch.zeros(1, dtype=torch.int64)}
    actor_learner: Callable[[Link, Any, SharedState], None] = n_step if config.algorithm == "n_step_q" else one_step
    shared_state.train(config, run, network, actor_learner, MEASURES, target)
