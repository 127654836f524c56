"""A3C: asynchronous advantage actor-critic (Mnih et al. 2016, algorithm S2); the comments quote its lines."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from workers.trainer import actor_learners, agents, own_environment
from workers.trainer.actor_learners import Share, Shared
from workers.trainer.agents import Agent, AgentTape
from workers.trainer.config import A3cConfig
from workers.trainer.optimizers import FlatParameters, Optimizer, clip_to_norm
from workers.trainer.own_environment import OwnEnvironment
from workers.trainer.policies import Policy, policy_over
from workers.trainer.precision import body_dtype
from workers.trainer.processes import Link
from workers.trainer.returns import returns_of_one
from workers.trainer.run import Run
from workers.trainer.spaces import ActionSpace

MEASURES = ("train/policy_loss", "train/value_loss", "train/entropy", "train/grad_norm", "train/learning_rate")


@dataclass
class Rollout:
    """What up to t_max steps of one episode led to."""

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


def losses(numbers: Tensor, values: Tensor, policy: Policy, rollout: Rollout, config: A3cConfig) -> Losses:
    """The objective whose gradients algorithm S2 accumulates, all steps of the rollout at once."""
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
        self._t_max = config.t_max
        self._memory = agent.blank
        self.policy = policy_over(environment.actions, torch.Generator().manual_seed(share.seed))
        self.tape = AgentTape(agent)

    @torch.no_grad()
    def rollout(self) -> Rollout:
        """Repeat until terminal s_t or t − t_start = t_max."""
        environment, share, tape = self._environment, self._share, self.tape
        rollout, over, terminal = Rollout(), False, False
        tape.rewind(self._memory)
        while len(rollout.rewards) < self._t_max and not (over or terminal or share.stopping):
            action = self.policy.sample(tape.act(self._state()))  # perform a_t according to π(a_t|s_t; θ')
            outcome = environment.step(action.numpy())
            rollout.actions.append(action)
            rollout.rewards.append(outcome.reward)
            share.count_step()  # T ← T + 1
            over, terminal = outcome.over, outcome.terminal
        self._memory = tape.memory
        if not terminal:
            rollout.bootstrap = self._agent(self._state(), self._memory)[1].item()
        if over:
            share.tell_episode(environment.begin_again())
            self._memory = self._agent.blank
        return rollout

    def _state(self) -> Tensor:
        return self._agent.prepare(torch.from_numpy(self._environment.observation))


def learn(
    actor: Actor, rollout: Rollout, config: A3cConfig, optimizer: Optimizer, learning_rate: float
) -> tuple[float, ...]:
    """Perform asynchronous update of θ using dθ; return the measures, those of the losses as means of the steps."""
    numbers, values = (output.requires_grad_() for output in actor.tape.recall())
    loss = losses(numbers, values, actor.policy, rollout, config)
    actor.tape.backward(*torch.autograd.grad(loss.total, (numbers, values)))
    optimizer.parameters.written()
    gradient_norm = clip_to_norm(optimizer.parameters.gradients, config.max_grad_norm)
    optimizer.step(learning_rate)
    parts = torch.stack((loss.policy, loss.value, loss.entropy)) / len(rollout.rewards)
    return *parts.tolist(), gradient_norm.item(), learning_rate


def actor_learner(link: Link, config: A3cConfig, shared: Shared) -> None:
    """Algorithm S2, for each actor-learner."""
    share = Share(link, config, shared)
    environment = OwnEnvironment(config, share.seed)
    agent = build(config, environment.observation_shape, environment.actions)
    optimizer = share.optimizer(FlatParameters(agent, shared.values))  # θ' ← θ, here and after every update
    actor = Actor(config, share, environment, agent)
    while share.goes_on:
        rollout = actor.rollout()
        if share.stopping:
            break  # the rollout may be cut short
        share.tell_update(*learn(actor, rollout, config, optimizer, share.learning_rate))
    environment.close()


def build(config: A3cConfig, observation_shape: tuple[int, ...], actions: ActionSpace) -> Agent:
    """Make the agent with fresh weights, in the number format of the run."""
    return agents.build(config, observation_shape, actions, body_dtype(config, torch.device("cpu")))


def train(config: A3cConfig, run: Run) -> None:
    """Start the actor-learners and see them through."""
    torch.manual_seed(config.seed)
    agent = build(config, *own_environment.interface(config))
    actor_learners.train(config, run, agent, actor_learner, MEASURES)
