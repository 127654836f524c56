"""PPO: proximal policy optimization (Schulman et al. 2017). The comments quote algorithm 1 and number the equations."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from arcadia_workers.contract.config import PpoConfig
from arcadia_workers.trainer.host.devices import restore_generator
from arcadia_workers.trainer.learning.optimizers import Adam, FlatParameters
from arcadia_workers.trainer.learning.policies import Policy, RolloutSampler
from arcadia_workers.trainer.learning.returns import generalized_advantages
from arcadia_workers.trainer.methods.paac.framework import Actors, Framework, Rollout, Updater, pick
from arcadia_workers.trainer.methods.ppo import network
from arcadia_workers.trainer.networks.agents import Agent, BatchTape, Memory
from arcadia_workers.trainer.networks.gradients import ALONE, SideBySide, body_dtype
from arcadia_workers.trainer.networks.lstm import cleared
from arcadia_workers.trainer.run.run import TrainingRun


class Experience(NamedTuple):
    """The steps of a rollout under π_θold, one row for each of T steps in N environments."""

    states: Tensor
    actions: Tensor
    log_probabilities: Tensor
    values: Tensor
    advantages: Tensor
    targets: Tensor
    # False for rows after the end of an episode, which are not decisions. The policy does not learn from them.
    decided: Tensor
    # True where an episode begins with the step, and the memory of each environment before the first step.
    openings: Tensor
    memory: Memory


class EpochSettings(NamedTuple):
    """Settings of the updates by one rollout."""

    learning_rate: float
    clip_range: float
    value_clip: float
    value_cost: float
    entropy_cost: float
    max_grad_norm: float
    normalize_advantages: bool


class ClippedLosses(NamedTuple):
    """The objective of a minibatch as a loss to minimize, and its terms."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
    clip_fraction: Tensor
    divergence: Tensor


def losses(
    numbers: Tensor, values: Tensor, policy: Policy, steps: Experience, settings: EpochSettings
) -> ClippedLosses:
    """Return −L^{CLIP+VF+S} (equation 9) of the steps, given the outputs of the network with θ."""
    log_probabilities, entropies = policy.judge(numbers, steps.actions)
    log_ratio = log_probabilities - steps.log_probabilities
    ratio = log_ratio.exp()  # r(θ) = π_θ(a|s) / π_θold(a|s)
    advantages = steps.advantages
    if settings.normalize_advantages and len(advantages) > 1:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    low, high = 1 - settings.clip_range, 1 + settings.clip_range
    surrogate = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages).mean()  # L^CLIP, equation 7
    value_errors = (values - steps.targets).square()
    if settings.value_clip:
        clipped = steps.values + (values - steps.values).clamp(-settings.value_clip, settings.value_clip)
        value_errors = torch.maximum(value_errors, (clipped - steps.targets).square())
    value_loss = value_errors.mean()  # L^VF
    entropy = entropies.mean()  # S

    total = -(surrogate - settings.value_cost * value_loss + settings.entropy_cost * entropy)
    with torch.no_grad():
        clip_fraction = ((ratio < low) | (ratio > high)).float().mean()
        divergence = (ratio - 1 - log_ratio).mean()  # an estimate of KL(π_θold, π_θ) with low variance
    return ClippedLosses(total, -surrogate, value_loss, entropy, clip_fraction, divergence)


class Behavior:
    """Policy π_θold in all environments, with a record of the network's outputs and its memory."""

    def __init__(self, config: PpoConfig, agent: Agent, tape: BatchTape, actors: Actors, seed: int) -> None:
        self._tape, self._actors, self._envs = tape, actors, config.num_envs
        self._shape = (config.t_max, config.num_envs)
        device = agent.value.weight.device
        self.sample = RolloutSampler(actors.actions, seed, device)
        self._memory: Memory = tuple((h.repeat(self._envs, 1), c.repeat(self._envs, 1)) for h, c in agent.blank)
        rows = config.t_max * config.num_envs
        (numbers,) = agent.policy(torch.zeros(1, agent.policy.in_features, device=device)).detach()
        self._numbers = torch.zeros(rows, len(numbers), device=device)
        self._values = torch.zeros(rows, device=device)
        self._openings = torch.zeros(rows, dtype=torch.bool, device=device)

    def begin(self) -> None:
        """Prepare for a rollout with new weights."""
        self._tape.rewind()
        self.sample.begin(len(self._values))
        self._first_memory: Memory = tuple((h.clone(), c.clone()) for h, c in self._memory)

    def act(self, states: Tensor, rows: slice) -> Tensor:
        """Return an action for each state."""
        columns, openings = self._columns(rows), self._actors.openings(rows)
        numbers, values, after = self._tape.act(states, columns, self._recalled(columns, openings))
        self._numbers[rows], self._values[rows], self._openings[rows] = numbers, values, openings
        for kept, new in zip(self._memory, after, strict=True):
            kept[0][columns], kept[1][columns] = new
        return self.sample(numbers, rows)

    def value(self, states: Tensor, rows: slice) -> Tensor:
        """Return V(s) of each state."""
        columns = self._columns(rows)
        return self._tape.act(states, columns, self._recalled(columns, self._actors.openings(rows)))[1]

    def experience(self, rollout: Rollout, gamma: float, gae_lambda: float) -> Experience:
        """Compute the advantage estimates Â_1, …, Â_T of every environment."""
        values = self._values.view(self._shape)
        advantages = generalized_advantages(
            rollout.rewards, values, rollout.terminated, rollout.fresh, rollout.last_values, gamma, gae_lambda
        )
        actions = rollout.actions.flatten(0, 1)
        return Experience(
            states=rollout.states.flatten(0, 1),
            actions=actions,
            log_probabilities=self.sample.policy.judge(self._numbers, actions)[0],
            values=self._values,
            advantages=advantages.flatten(),
            targets=(advantages + values).flatten(),
            decided=~rollout.fresh.flatten(),
            openings=self._openings,
            memory=self._first_memory,
        )

    def _columns(self, rows: slice) -> slice:
        first = rows.start % self._envs
        return slice(first, first + rows.stop - rows.start)

    def _recalled(self, columns: slice, openings: Tensor) -> Memory:
        return tuple(cleared((h[columns], c[columns]), openings) for h, c in self._memory)


class Shuffle:
    """Random division of a rollout into minibatches."""

    def __init__(self, config: PpoConfig, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)
        self._config = config

    def minibatches(self, decided: Tensor) -> Iterator[Tensor]:
        """Yield the rows of each minibatch of an epoch: random decisions or, with memory, whole environments."""
        for picked in self._sequences() if self._config.lstm_units else self._decisions(decided):
            rows = picked.to(decided.device)
            if decided[rows].any():
                yield rows

    def _decisions(self, decided: Tensor) -> Sequence[Tensor]:
        rows = decided.nonzero().flatten()
        return rows[self._permutation(len(rows)).to(rows.device)].tensor_split(self._config.num_minibatches)

    def _sequences(self) -> Sequence[Tensor]:
        envs = self._config.num_envs
        steps = torch.arange(self._config.t_max).unsqueeze(1) * envs
        groups = self._permutation(envs).tensor_split(min(self._config.num_minibatches, envs))
        return [(steps + group).flatten() for group in groups]

    def _permutation(self, number: int) -> Tensor:
        return torch.randperm(number, generator=self.random)


class Learner:
    """Optimizer of the surrogate objective with respect to θ."""

    def __init__(
        self, config: PpoConfig, agent: Agent, tape: BatchTape, policy: Policy, side_by_side: SideBySide = ALONE
    ) -> None:
        self._steps = config.t_max
        self._tape, self._policy = tape, policy
        self._parameters = FlatParameters(agent)
        betas = (config.adam_beta1, config.adam_beta2)
        adam = Adam(self._parameters, betas, config.adam_epsilon, side_by_side)
        self.updater = Updater(config, tape, adam)

    def update(self, experience: Experience, rows: Tensor, settings: EpochSettings) -> Tensor:
        """Take a step of Adam for a minibatch. Return the measures that `report` names."""
        states = pick(experience.states, rows)
        openings, memory = experience.openings[rows], experience.memory
        if memory:  # the first rows are those of the first step, so they are also the numbers of the environments
            envs = rows[: len(rows) // self._steps]
            openings = openings.view(self._steps, len(envs))
            memory = tuple((h[envs], c[envs]) for h, c in memory)
        numbers, values = self._tape.replay(states, openings, memory)
        decided = experience.decided[rows]
        if not decided.all():
            numbers, values, rows = numbers[decided], values[decided], rows[decided]
        loss = losses(numbers, values, self._policy, _only(experience, rows), settings)
        self._parameters.backward(loss.total)
        gradient_norm = self.updater.update(states, settings.learning_rate, settings.max_grad_norm)
        return torch.stack([*loss[1:], gradient_norm]).detach()


def _only(experience: Experience, rows: Tensor) -> Experience:
    """Return some steps without their states, which the network has already seen."""
    tensors = {name: getattr(experience, name)[rows] for name in STEP_FIELDS}
    return experience._replace(**tensors)


STEP_FIELDS = ("actions", "log_probabilities", "values", "advantages", "targets")
MEASURES = (
    "train/policy_loss",
    "train/value_loss",
    "train/entropy",
    "train/clip_fraction",
    "train/kl_divergence",
    "train/grad_norm",
)


def train(config: PpoConfig, run: TrainingRun) -> None:
    """Train by algorithm 1."""
    with Framework(config, run) as framework:
        actors, device = framework.actors, run.device
        agent = network.build(config, actors.observation_shape, actors.actions, body_dtype(config, device)).to(device)
        tape = BatchTape(agent, max(config.minibatch_rows, config.num_envs), actors.learners)
        behavior = Behavior(config, agent, tape, actors, framework.seed)
        shuffle = Shuffle(config, framework.seed)
        learner = Learner(config, agent, tape, behavior.sample.policy, actors.learners)
        if run.restored:
            learner.updater.restore(run.restored)
        if run.restored and not run.restored.has_only_weights:
            restore_generator(behavior.sample.random, run.restored.tensors["sampler.random"])
            restore_generator(shuffle.random, run.restored.tensors["shuffle.random"])

        def state() -> dict[str, Tensor]:
            randoms = {"sampler.random": behavior.sample.random, "shuffle.random": shuffle.random}
            return learner.updater.state() | {name: random.get_state() for name, random in randoms.items()}

        framework.begin(agent)
        while not framework.is_finished:  # for iteration = 1, 2, …
            behavior.begin()
            # Run policy π_θold in N environments for T timesteps.
            rollout = framework.rollout(behavior.act, behavior.value)
            experience = behavior.experience(rollout, config.gamma, config.gae_lambda)
            settings = EpochSettings(
                framework.learning_rate,
                framework.decayed(config.clip_range, config.clip_range_decay),
                config.value_clip,
                config.value_cost,
                framework.decayed(config.entropy_cost, config.entropy_cost_decay),
                config.max_grad_norm,
                config.normalize_advantages,
            )
            # Optimize surrogate L wrt θ, with K epochs and minibatch size M ≤ NT.
            measures = [
                learner.update(experience, rows, settings)
                for _ in range(config.num_epochs)
                for rows in shuffle.minibatches(experience.decided)
            ]
            network.see_readings(agent, experience.states)

            framework.advance(rollout, len(measures))
            if measures and run.metrics_due():
                means = dict(zip(MEASURES, torch.stack(measures).mean(0).tolist(), strict=True))
                framework.report(means | {"train/learning_rate": settings.learning_rate})
            if run.checkpoint_due():
                framework.save(state())
        framework.save(state())
