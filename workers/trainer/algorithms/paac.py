"""PAAC: parallel advantage actor-critic (Clemente et al. 2017, algorithm 1); the comments name its lines."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from workers.trainer import environments, networks
from workers.trainer.config import PaacConfig
from workers.trainer.environments import Environments, Step
from workers.trainer.episodes import EpisodeBook
from workers.trainer.networks import ActorCritic
from workers.trainer.optimizers import FlatParameters, RMSProp, clip_to_norm, learning_rate_at
from workers.trainer.precision import body_dtype
from workers.trainer.returns import n_step_returns
from workers.trainer.run import Run, TrainingState


@dataclass(frozen=True)
class Rollout:
    """t_max steps of n_e environments: every tensor is (t_max, n_e), the states have an observation after that."""

    states: Tensor
    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    fresh: Tensor
    bootstrap: Tensor


@dataclass(frozen=True)
class Losses:
    """What one update minimised, and the parts it consists of."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor


class Sampler:
    """Draws actions from softmax(logits) by an exponential race: the smallest of Exp(1)/π wins with probability π."""

    def __init__(self, seed: int, device: torch.device) -> None:
        self.random = torch.Generator(device).manual_seed(seed)

    def __call__(self, logits: Tensor) -> Tensor:
        race = torch.empty_like(logits).exponential_(generator=self.random)
        return (logits - race.log()).argmax(dim=-1)


def actor_critic_losses(network: ActorCritic, rollout: Rollout, config: PaacConfig) -> Losses:
    """Equations 10 and 11 as one loss to minimise; fresh rows are no decisions of the agent and count nothing."""
    logits, values = network(rollout.states.flatten(0, 1))
    values = values.view_as(rollout.rewards)
    returns = n_step_returns(
        rollout.rewards, values.detach(), rollout.terminated, rollout.fresh, rollout.bootstrap, config.gamma
    )
    decided = (~rollout.fresh).to(values.dtype)
    samples = rollout.rewards.numel()  # n_e · t_max

    log_policy = torch.log_softmax(logits, dim=-1).view(*rollout.rewards.shape, -1)
    log_chosen = log_policy.gather(-1, rollout.actions.unsqueeze(-1)).squeeze(-1)
    advantages = (returns - values.detach()) * decided

    policy = -(advantages * log_chosen).sum() / samples
    entropy = -((log_policy.exp() * log_policy).sum(-1) * decided).sum() / samples
    value = ((returns - values).square() * decided).sum() / samples
    total = policy - config.entropy_cost * entropy + config.value_cost * value
    return Losses(total, policy, value, entropy)


class Actors:
    """The n_e environments, acted in with one policy by the master (lines 5–11)."""

    def __init__(
        self, environment: Environments, network: ActorCritic, sample: Sampler, config: PaacConfig, device: torch.device
    ) -> None:
        self.environment = environment
        self.network = network
        self.sample = sample
        self.clip = config.clip_rewards
        self.life_loss_ends = config.life_loss_ends_episode
        self.device = device
        self.state = self._on_device(environment.reset())
        shape = (config.t_max, config.num_envs)
        # Written anew in every rollout: the learner is done with them by then. `cat` keeps channels last.
        self.states = torch.cat([self.state] * config.t_max).unflatten(0, shape)
        self.actions = torch.empty(shape, dtype=torch.int64, device=device)

    def _on_device(self, observations: environments.Observations) -> Tensor:
        return self.network.prepare(torch.from_numpy(observations).to(self.device, non_blocking=True))

    @torch.no_grad()
    def rollout(self, book: EpisodeBook) -> Rollout:
        """Act t_max times in every environment and store what was seen."""
        steps: list[Step] = []
        for t in range(len(self.actions)):
            logits, _ = self.network(self.state)
            actions = self.sample(logits)
            self.environment.send(actions.cpu().numpy())
            # Kept while the emulators work.
            self.states[t].copy_(self.state)
            self.actions[t] = actions
            step = self.environment.receive()
            book.record(step)
            steps.append(step)
            self.state = self._on_device(step.observations)
        _, bootstrap = self.network(self.state)
        rewards = np.stack([step.rewards for step in steps])
        ends = [step.terminated | step.life_lost if self.life_loss_ends else step.terminated for step in steps]
        return Rollout(
            states=self.states,
            actions=self.actions,
            rewards=torch.from_numpy(rewards.clip(-1, 1) if self.clip else rewards).to(self.device),
            terminated=torch.from_numpy(np.stack(ends)).to(self.device),
            fresh=torch.from_numpy(np.stack([step.fresh for step in steps])).to(self.device),
            bootstrap=bootstrap,
        )


def train(config: PaacConfig, run: Run) -> None:
    """Algorithm 1."""
    start = run.restored
    torch.manual_seed(config.seed)
    environment = environments.make(config, config.num_envs, seed=config.seed + (start.step if start else 0))
    network = networks.build(
        config, environment.observation_shape, environment.num_actions, body_dtype(config, run.device)
    ).to(run.device)
    parameters = FlatParameters(network)
    optimizer = RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon)
    sample = Sampler(config.seed, run.device)
    step = 0  # N of the paper, line 1
    if start:
        step = restore(start, optimizer, sample)
    book = EpisodeBook(run, config.num_envs, environment.frames_per_step, step)
    actors = Actors(environment, network, sample, config, run.device)

    try:
        while book.step < config.total_steps and not run.should_stop():
            rollout = actors.rollout(book)

            learning_rate = learning_rate_at(
                config.learning_rate, config.learning_rate_decay, book.step, config.total_steps
            )
            losses = actor_critic_losses(network, rollout, config)
            parameters.backward(losses.total)
            gradient_norm = clip_to_norm(parameters.gradients, config.max_grad_norm)
            optimizer.step(learning_rate)  # line 18

            run.advance(book.step, book.frames)
            if run.metrics_due():
                run.metrics(
                    {
                        "train/policy_loss": losses.policy.item(),
                        "train/value_loss": losses.value.item(),
                        "train/entropy": losses.entropy.item(),
                        "train/grad_norm": gradient_norm.item(),
                        "train/learning_rate": learning_rate,
                    }
                )
            if run.checkpoint_due():
                run.save(state(book, optimizer, sample))
        run.save(state(book, optimizer, sample))
    finally:
        environment.close()


def state(book: EpisodeBook, optimizer: RMSProp, sample: Sampler) -> TrainingState:
    """All that the next update depends on but the environments, which begin new episodes on resume."""
    tensors = {f"network.{name}": values for name, values in optimizer.parameters.named().items()}
    tensors["optimizer.mean_square"] = optimizer.mean_square
    tensors["sampler.random"] = sample.random.get_state()
    return TrainingState(step=book.step, frames=book.frames, tensors=tensors)


def restore(start: TrainingState, optimizer: RMSProp, sample: Sampler) -> int:
    """Put a saved state back in place and return its step."""
    prefix = "network."
    optimizer.parameters.load(
        {name.removeprefix(prefix): tensor for name, tensor in start.tensors.items() if name.startswith(prefix)}
    )
    optimizer.mean_square.copy_(start.tensors["optimizer.mean_square"])
    sample.random.set_state(start.tensors["sampler.random"])
    return start.step
