"""A3C: asynchronous advantage actor-critic (Mnih et al. 2016, algorithm S2); the comments quote its lines."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from workers.trainer import actor_learners, agents, own_environment
from workers.trainer.actor_learners import Share, Shared
from workers.trainer.agents import Agent, Memory
from workers.trainer.config import A3cConfig
from workers.trainer.optimizers import FlatParameters, Optimizer, clip_to_norm
from workers.trainer.own_environment import OwnEnvironment
from workers.trainer.policies import Policy, policy_over
from workers.trainer.precision import body_dtype
from workers.trainer.processes import Link
from workers.trainer.returns import returns_of_one
from workers.trainer.run import Run

MEASURES = ("train/policy_loss", "train/value_loss", "train/entropy", "train/grad_norm", "train/learning_rate")


@dataclass
class Rollout:
    """Up to t_max steps of one episode, and the memory with which the agent entered them."""

    memory: Memory
    states: list[Tensor] = field(default_factory=list)
    actions: list[Tensor] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    # R after the last step: 0 if that was terminal, else V(s_t).
    bootstrap: float = 0.0


@dataclass(frozen=True)
class Losses:
    """What one update minimised, summed over the rollout, and the parts it consists of."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor


def losses(agent: Agent, policy: Policy, rollout: Rollout, config: A3cConfig) -> Losses:
    """The objective whose gradients algorithm S2 accumulates, all steps of the rollout at once."""
    numbers, values, _ = agent(torch.cat(rollout.states), rollout.memory)
    log_chosen, entropies = policy.judge(numbers, torch.cat(rollout.actions))
    returns = torch.tensor(returns_of_one(rollout.rewards, rollout.bootstrap, config.gamma))  # R ← r_i + γR
    advantages = returns - values.detach()

    policy_loss = -(log_chosen * advantages).sum()
    value_loss = (returns - values).square().sum()
    entropy = entropies.sum()
    total = policy_loss - config.entropy_cost * entropy + config.value_cost * value_loss
    return Losses(total, policy_loss, value_loss, entropy)


class Actor:
    """Acts in its own environment and carries the agent's memory from rollout to rollout."""

    def __init__(self, config: A3cConfig, share: Share, environment: OwnEnvironment, agent: Agent) -> None:
        self._share, self._environment, self._agent = share, environment, agent
        self.policy = policy_over(environment.actions, torch.Generator().manual_seed(share.seed))
        self._t_max = config.t_max
        self._memory = agent.blank

    @torch.no_grad()
    def rollout(self) -> Rollout:
        """Repeat until terminal s_t or t − t_start = t_max."""
        environment, rollout, over, terminal = self._environment, Rollout(self._memory), False, False
        while len(rollout.rewards) < self._t_max and not (over or terminal or self._share.stopping):
            state = self._agent.prepare(torch.from_numpy(environment.observation))
            numbers, _, self._memory = self._agent(state, self._memory)
            action = self.policy.sample(numbers)  # perform a_t according to π(a_t|s_t; θ')
            outcome = environment.step(action.numpy())
            rollout.states.append(state)
            rollout.actions.append(action)
            rollout.rewards.append(outcome.reward)
            self._share.count_step()
            over, terminal = outcome.over, outcome.terminal
        if not terminal:
            state = self._agent.prepare(torch.from_numpy(environment.observation))
            rollout.bootstrap = self._agent(state, self._memory)[1].item()
        if over:
            self._share.tell_episode(environment.begin_again())
            self._memory = self._agent.blank
        return rollout


def learn(
    agent: Agent, policy: Policy, rollout: Rollout, config: A3cConfig, optimizer: Optimizer, learning_rate: float
) -> tuple[float, ...]:
    """Perform asynchronous update of θ using dθ; return the measures, those of the losses as means of the steps."""
    loss = losses(agent, policy, rollout, config)
    optimizer.parameters.backward(loss.total)
    gradient_norm = clip_to_norm(optimizer.parameters.gradients, config.max_grad_norm)
    optimizer.step(learning_rate)
    parts = torch.stack((loss.policy, loss.value, loss.entropy)) / len(rollout.rewards)
    return *parts.tolist(), gradient_norm.item(), learning_rate


def actor_learner(link: Link, config: A3cConfig, shared: Shared) -> None:
    """Algorithm S2, for each actor-learner."""
    share = Share(link, config, shared)
    environment = OwnEnvironment(config, share.seed)
    agent = agents.build(config, environment.observation_shape, environment.actions, dtype(config))
    optimizer = share.optimizer(FlatParameters(agent, shared.values))  # θ' ← θ, here and after every update
    actor = Actor(config, share, environment, agent)
    while share.goes_on:
        rollout = actor.rollout()
        if share.stopping:
            break  # the rollout may be cut short
        share.tell_update(*learn(agent, actor.policy, rollout, config, optimizer, share.learning_rate))
    environment.close()


def dtype(config: A3cConfig) -> torch.dtype:
    """The number format of the agents' bodies."""
    return body_dtype(config, torch.device("cpu"))


def train(config: A3cConfig, run: Run) -> None:
    """Start the actor-learners and see them through."""
    torch.manual_seed(config.seed)
    agent = agents.build(config, *own_environment.interface(config), dtype(config))
    actor_learners.train(config, run, agent, actor_learner, MEASURES)
