"""n-step Q-learning in PAAC's framework: algorithm S1 of Mnih et al. 2016 with the actors of Clemente et al. 2017."""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from arcadia_workers.contract.action_names import number_of_actions
from arcadia_workers.contract.config import PaacQConfig
from arcadia_workers.trainer.learning.optimizers import FlatParameters, RMSProp
from arcadia_workers.trainer.learning.policies import EpsilonGreedy, FinalEpsilons
from arcadia_workers.trainer.learning.returns import n_step_returns
from arcadia_workers.trainer.methods.paac.framework import Framework, Rollout, Updater, restore_random
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.networks.networks import ActionValues
from arcadia_workers.trainer.networks.outputs import Tape
from arcadia_workers.trainer.run.run import TrainingRun, prefixed


@dataclass(frozen=True)
class QLoss:
    """The loss of one update, and the mean value of the actions taken."""

    value: Tensor
    q_mean: Tensor


@torch.no_grad()
def q_returns(target: ActionValues, rollout: Rollout, gamma: float) -> Tensor:
    """Return R of every step. Where a rollout or a time limit cuts an episode, R starts from max_a Q(s, a; θ⁻)."""
    values = torch.zeros_like(rollout.rewards)
    if rollout.fresh.any():  # a fresh row holds the last state of the previous episode
        values[rollout.fresh] = highest_value(target, rollout.states[rollout.fresh])
    return n_step_returns(rollout.rewards, values, rollout.terminated, rollout.fresh, rollout.last_values, gamma)


@torch.no_grad()
def highest_value(network: ActionValues, states: Tensor) -> Tensor:
    """Return max_a Q(s, a)."""
    return network.state_values(states)


def q_loss(action_values: Tensor, target: ActionValues, rollout: Rollout, gamma: float) -> QLoss:
    """Return the mean of (R − Q(s, a; θ))². Fresh rows are not decisions and do not count."""
    returns = q_returns(target, rollout, gamma)
    action_values = action_values.view(*rollout.rewards.shape, -1)
    chosen = action_values.gather(-1, rollout.actions.unsqueeze(-1)).squeeze(-1)
    decided = (~rollout.fresh).to(chosen.dtype)
    samples = rollout.rewards.numel()  # n_e · t_max
    value = ((returns - chosen).square() * decided).sum() / samples
    return QLoss(value, q_mean=(chosen.detach() * decided).sum() / decided.sum().clamp(min=1))


def train(config: PaacQConfig, run: TrainingRun) -> None:
    """Train by algorithm S1, with all actors in lockstep."""
    with Framework(config, run) as framework:
        actors, device = framework.actors, run.device
        dtype = body_dtype(config, device)
        network = networks.build_action_values(config, actors.observation_shape, actors.actions, dtype).to(device)
        target = copy.deepcopy(network)  # θ⁻ ← θ
        parameters, target_parameters = FlatParameters(network), FlatParameters(target)
        tape = Tape(network.body, config.t_max * config.num_envs, actors.learners)
        optimizer = RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, side_by_side=actors.learners)
        updater = Updater(config, tape, optimizer)
        finals = FinalEpsilons(config, config.num_envs)
        explore = EpsilonGreedy(finals.at(0), config.epsilon_anneal_frames, framework.seed, device)
        if run.restored:
            updater.restore(run.restored)
            target_parameters.load(run.restored.component("network" if run.restored.has_only_weights else "target"))
            restore_random(explore.random, run.restored, "explore.random")

        def policy(states: Tensor, rows: slice) -> Tensor:
            return explore(network.head(tape.act(states, rows)), rows)

        def value(states: Tensor, _rows: slice) -> Tensor:
            return highest_value(target, states)

        def state() -> dict[str, Tensor]:
            own = {"explore.random": explore.random.get_state()}
            return updater.state() | prefixed("target", target_parameters.named()) | own

        framework.begin(network)
        while not framework.is_finished:
            frames = framework.frames
            explore.final = finals.at(frames)
            explore.anneal(frames)
            tape.rewind()
            explore.begin(config.t_max, number_of_actions(actors.actions))
            rollout = framework.rollout(policy, value)

            learning_rate = framework.learning_rate
            states = rollout.states.flatten(0, 1)
            loss = q_loss(network.head(tape.features(states)), target, rollout, config.gamma)
            parameters.backward(config.loss_scale * loss.value)
            gradient_norm = updater.update(states, learning_rate, config.max_grad_norm)
            # T grows by many steps per update, so check whether it passed a multiple of I_target.
            if framework.frames // config.target_update_frames > frames // config.target_update_frames:
                target_parameters.take_over(parameters)  # θ⁻ ← θ

            framework.advance(rollout)
            if run.metrics_due():
                framework.report(
                    {
                        "train/value_loss": loss.value.item(),
                        "train/q_mean": loss.q_mean.item(),
                        "train/epsilon": explore.epsilons.mean().item(),
                        "train/grad_norm": gradient_norm.item(),
                        "train/learning_rate": learning_rate,
                    }
                )
            if run.checkpoint_due():
                framework.save(state())
        framework.save(state())
