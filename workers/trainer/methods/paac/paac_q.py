"""n-step Q-learning in PAAC's framework: algorithm S1 of Mnih et al. 2016 with the actors of Clemente et al. 2017."""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from workers.contract.config import PaacQConfig
from workers.contract.spaces import number_of_actions
from workers.trainer.environments.episodes import EpisodeBook
from workers.trainer.host import devices
from workers.trainer.learning.centring import Centring
from workers.trainer.learning.decay import decayed
from workers.trainer.learning.exploration import EpsilonGreedy, FinalEpsilons
from workers.trainer.learning.optimizers import FlatParameters, RMSProp, clip_to_norm
from workers.trainer.learning.returns import n_step_returns
from workers.trainer.methods.paac.rollouts import Actors, Rollout
from workers.trainer.networks import networks
from workers.trainer.networks.dead_units import NetworkWatch
from workers.trainer.networks.networks import ActionValues
from workers.trainer.networks.precision import body_dtype
from workers.trainer.networks.tapes import Tape
from workers.trainer.run.run import FIRST_UPDATE, Run, TrainingState, prefixed, starting


@dataclass(frozen=True)
class Loss:
    """The loss of one update, and the mean value of the actions taken."""

    value: Tensor
    q_mean: Tensor


@torch.no_grad()
def q_returns(target: ActionValues, rollout: Rollout, gamma: float) -> Tensor:
    """Return R of every step; where a rollout or a time limit cuts an episode, R starts from max_a Q(s, a; θ⁻)."""
    values = torch.zeros_like(rollout.rewards)
    if rollout.fresh.any():  # a fresh row holds the last state of the previous episode
        values[rollout.fresh] = highest_value(target, rollout.states[rollout.fresh])
    return n_step_returns(rollout.rewards, values, rollout.terminated, rollout.fresh, rollout.last_values, gamma)


@torch.no_grad()
def highest_value(network: ActionValues, states: Tensor) -> Tensor:
    """Return max_a Q(s, a)."""
    return network.state_values(states)


def q_loss(action_values: Tensor, target: ActionValues, rollout: Rollout, gamma: float) -> Loss:
    """Return the mean of (R − Q(s, a; θ))²; fresh rows are not decisions and do not count."""
    returns = q_returns(target, rollout, gamma)
    action_values = action_values.view(*rollout.rewards.shape, -1)
    chosen = action_values.gather(-1, rollout.actions.unsqueeze(-1)).squeeze(-1)
    decided = (~rollout.fresh).to(chosen.dtype)
    samples = rollout.rewards.numel()  # n_e · t_max
    value = ((returns - chosen).square() * decided).sum() / samples
    return Loss(value, q_mean=(chosen.detach() * decided).sum() / decided.sum().clamp(min=1))


def train(config: PaacQConfig, run: Run) -> None:
    """Train by algorithm S1, with all actors in lockstep."""
    start = run.restored
    torch.manual_seed(config.seed)
    seed = config.seed + (start.step if start else 0)
    run.start_step(starting(config.num_envs, "environment"))
    actors = Actors(config, seed, run.device)
    network = networks.build_action_values(
        config, actors.observation_shape, actors.actions, body_dtype(config, run.device)
    ).to(run.device)
    target = copy.deepcopy(network)  # θ⁻ ← θ
    parameters, target_parameters = FlatParameters(network), FlatParameters(target)
    optimizer = RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, side_by_side=actors.learners)
    finals = FinalEpsilons(config, config.num_envs)
    explore = EpsilonGreedy(finals.at(0), config.epsilon_anneal_frames, seed, run.device)
    step = restore(start, optimizer, target_parameters, explore) if start else 0  # T
    book = EpisodeBook(run, config.num_envs, actors.frames_per_step, step)
    actors.reset(network.prepare)
    tape = Tape(network.body, config.t_max * config.num_envs, actors.learners)
    centring = Centring(network.body, parameters) if config.centred_inputs else None
    watch = NetworkWatch(network)

    def policy(states: Tensor, rows: slice) -> Tensor:
        return explore(network.head(tape.act(states, rows)), rows)

    def value(states: Tensor) -> Tensor:
        return highest_value(target, states)

    run.start_step(FIRST_UPDATE)
    try:
        while book.step < config.total_steps and not run.should_stop():
            frames = book.frames
            explore.final = finals.at(frames)
            explore.anneal(frames)
            tape.rewind()
            explore.begin(config.t_max, number_of_actions(actors.actions))
            rollout = actors.rollout(policy, value, book)

            actors.time.turn_to("learning")
            learning_rate = decayed(
                config.initial_learning_rate, config.learning_rate_decay, book.step, config.total_steps
            )
            states = rollout.states.flatten(0, 1)
            action_values = network.head(tape.features(states))
            loss = q_loss(action_values, target, rollout, config.gamma)
            parameters.backward(config.loss_scale * loss.value)
            correct = centring.centre(tape.input_means(states)) if centring else None
            gradient_norm = clip_to_norm(parameters.gradients, config.max_grad_norm)
            optimizer.step(learning_rate, correct)
            # T grows by many steps at a time, so check whether it passed a multiple of I_target.
            if book.frames // config.target_update_frames > frames // config.target_update_frames:
                target_parameters.take_over(parameters)  # θ⁻ ← θ

            run.advance(book.step, book.frames)
            watch.see(states)
            if run.metrics_due():
                run.metrics(
                    {
                        "train/value_loss": loss.value.item(),
                        "train/q_mean": loss.q_mean.item(),
                        "train/epsilon": explore.epsilons.mean().item(),
                        "train/grad_norm": gradient_norm.item(),
                        "train/learning_rate": learning_rate,
                        **actors.time.report(),
                        **watch.metrics(),
                    }
                )
            if run.checkpoint_due():
                run.save(state(book, optimizer, target_parameters, explore))
        run.save(state(book, optimizer, target_parameters, explore))
    finally:
        actors.close()


def state(book: EpisodeBook, optimizer: RMSProp, target: FlatParameters, explore: EpsilonGreedy) -> TrainingState:
    """Return everything the next update depends on, except the environments: they begin new episodes on resume."""
    tensors = prefixed("network", optimizer.parameters.named()) | prefixed("target", target.named())
    tensors["optimizer.mean_square"] = optimizer.mean_square
    tensors["explore.random"] = explore.random.get_state()
    return TrainingState(step=book.step, frames=book.frames, tensors=tensors)


def restore(start: TrainingState, optimizer: RMSProp, target: FlatParameters, explore: EpsilonGreedy) -> int:
    """Put a saved state back in place and return its step."""
    optimizer.parameters.load(start.component("network"))
    target.load(start.component("target"))
    optimizer.mean_square.copy_(start.tensors["optimizer.mean_square"])
    devices.go_on_drawing(explore.random, start.tensors["explore.random"])
    return start.step
