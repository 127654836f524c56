"""A3C: asynchronous advantage actor-critic (Mnih et al. 2016, algorithm S2). The comments quote its lines."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from arcadia_workers.contract.action_names import ActionSpace, Continuous
from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.environments.own_environment import OwnEnvironment
from arcadia_workers.trainer.host.processes import Link
from arcadia_workers.trainer.learning.optimizers import Centering, FlatParameters, clip_to_norm
from arcadia_workers.trainer.learning.policies import Policy, policy_over
from arcadia_workers.trainer.learning.returns import Losses, decayed, returns_of_one
from arcadia_workers.trainer.methods.asynchronous import shared_state
from arcadia_workers.trainer.methods.asynchronous.shared_state import (
    ActorLearnerOptimizer,
    Participant,
    RolloutStates,
    SharedState,
)
from arcadia_workers.trainer.methods.trainer import TrainedAgent, load_weights
from arcadia_workers.trainer.networks import agents
from arcadia_workers.trainer.networks.agents import Agent, AgentTape
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.run.run import TrainingRun, TrainingState

LOG_DEVIATION = "network.policy.log_deviation"
LEARNED = ("train/policy_loss", "train/value_loss", "train/entropy", "train/grad_norm", "train/learning_rate")
POLICY_LAG = "train/policy_lag"
MEASURES = (*LEARNED, POLICY_LAG)


@dataclass
class EpisodeRollout:
    """Rollout of up to t_max steps of one episode."""

    # The states of the steps. They are valid until the next rollout.
    states: Tensor = field(default_factory=lambda: torch.empty(0))
    actions: list[Tensor] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    # R after the last step: 0 if it was terminal or the run does not bootstrap, else V(s_t).
    bootstrap: float = 0.0


def losses(
    numbers: Tensor, values: Tensor, policy: Policy, rollout: EpisodeRollout, config: A3cConfig, entropy_cost: float
) -> Losses:
    """Return the objective whose gradients algorithm S2 accumulates, for all steps of the rollout at once."""
    log_chosen, entropies = policy.judge(numbers, torch.cat(rollout.actions))
    returns = torch.tensor(returns_of_one(rollout.rewards, rollout.bootstrap, config.gamma))  # R ← r_i + γR
    advantages = returns - values.detach()

    policy_loss = -(log_chosen * advantages).sum()
    value_loss = (returns - values).square().sum()
    entropy = entropies.sum()
    total = policy_loss - entropy_cost * entropy + config.value_cost * value_loss
    return Losses(total, policy_loss, value_loss, entropy)


class PolicyActor:
    """Actor in its own environment, which keeps the agent's memory between rollouts."""

    def __init__(self, config: A3cConfig, participant: Participant, environment: OwnEnvironment, agent: Agent) -> None:
        self._participant, self._environment, self._agent = participant, environment, agent
        self._t_max, self._bootstraps = config.t_max, config.bootstrap
        self._memory = agent.blank
        self._states = RolloutStates(agent.prepare, environment.observation, config.t_max)
        self.policy = policy_over(environment.actions, torch.Generator().manual_seed(participant.seed))
        self.tape = AgentTape(agent, config.t_max)

    @torch.no_grad()
    def rollout(self) -> EpisodeRollout:
        """Repeat until terminal s_t or t − t_start = t_max."""
        environment, participant, tape, states = self._environment, self._participant, self.tape, self._states
        rollout, over, terminal = EpisodeRollout(), False, False
        tape.rewind(self._memory)
        states.begin(environment.observation)
        while len(rollout.rewards) < self._t_max and not (over or terminal or participant.stopping):
            action = self.policy.sample(tape.act(states.now))  # perform a_t according to π(a_t|s_t; θ')
            outcome = environment.step(action.numpy())
            states.move_on(environment.observation)
            rollout.actions.append(action)
            rollout.rewards.append(outcome.reward)
            participant.count_step()  # T ← T + 1
            over, terminal = outcome.over, outcome.terminal
        rollout.states, self._memory = states.acted_in, tape.memory
        if self._bootstraps and not terminal:
            rollout.bootstrap = self._agent(states.now, self._memory)[1].item()
        if over:
            participant.report_episode(environment.begin_again())
            self._memory = self._agent.blank
        return rollout


def learn(
    actor: PolicyActor,
    rollout: EpisodeRollout,
    config: A3cConfig,
    optimizer: ActorLearnerOptimizer,
    learning_rate: float,
    entropy_cost: float,
    centering: Centering | None = None,
) -> dict[str, float]:
    """Perform asynchronous update of θ using dθ. Return the measures, with losses as means over the steps."""
    numbers, values = (output.requires_grad_() for output in actor.tape.recall())
    loss = losses(numbers, values, actor.policy, rollout, config, entropy_cost)
    states, steps = rollout.states, len(rollout.rewards)
    actor.tape.backward(states, *torch.autograd.grad(loss.total, (numbers, values)))
    correct = centering.center(actor.tape.input_means(states), steps) if centering else None
    gradient_norm = clip_to_norm(optimizer.parameters.gradients, config.max_grad_norm)
    optimizer.step(learning_rate, correct)
    return {
        "train/policy_loss": (loss.policy / steps).item(),
        "train/value_loss": (loss.value / steps).item(),
        "train/entropy": (loss.entropy / steps).item(),
        "train/grad_norm": gradient_norm.item(),
        "train/learning_rate": learning_rate,
    }


def centering_of(config: A3cConfig, agent: Agent, parameters: FlatParameters) -> Centering | None:
    """Return the centering of the bodies' inputs, or None if it is off."""
    return Centering(agent.bodies, parameters) if config.centered_inputs else None


def actor_learner(link: Link, config: A3cConfig, shared: SharedState) -> None:
    """Run algorithm S2 in one actor-learner."""
    participant = Participant(link, config, shared)
    environment = OwnEnvironment(config, participant.seed)
    agent = build(config, environment.observation_shape, environment.actions)
    optimizer = participant.optimizer(FlatParameters(agent, shared.values))  # θ' ← θ, here and after every update
    centering = centering_of(config, agent, optimizer.parameters)
    actor = PolicyActor(config, participant, environment, agent)
    while participant.goes_on:
        updates = participant.updates
        rollout = actor.rollout()
        if participant.stopping:
            break  # a stop may have shortened the rollout
        entropy_cost = decayed(config.entropy_cost, config.entropy_cost_decay, participant.T, config.total_steps)
        rates = (participant.learning_rate, entropy_cost)
        lag = float(participant.updates - updates)
        measures = {**learn(actor, rollout, config, optimizer, *rates, centering), POLICY_LAG: lag}
        participant.report_update(len(rollout.rewards), measures)
        participant.report_network(agent, rollout.states)
    environment.close()


def build(config: A3cConfig, observation_shape: tuple[int, ...], actions: ActionSpace) -> Agent:
    """Build the agent with fresh weights, in the run's number format."""
    return agents.build(config, observation_shape, actions, body_dtype(config, torch.device("cpu")))


def load_network(
    config: A3cConfig, observation_shape: tuple[int, ...], actions: ActionSpace, state: TrainingState
) -> TrainedAgent:
    """Build the agent with a checkpoint's weights. One of another library may have a `GaussianHead`."""
    agent = agents.build(config, observation_shape, actions)
    if LOG_DEVIATION in state.tensors and isinstance(actions, Continuous):
        agent.policy = agents.GaussianHead(agent.policy.in_features, actions.size)
    return TrainedAgent(load_weights(agent, state))


def train(config: A3cConfig, run: TrainingRun) -> None:
    """Start the actor-learners and watch them until training ends."""
    torch.manual_seed(config.seed)
    agent = build(config, *own_environment.interface(config))
    shared_state.train(config, run, agent, actor_learner, MEASURES)
