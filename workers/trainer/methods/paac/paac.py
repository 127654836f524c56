"""PAAC: parallel advantage actor-critic (Clemente et al. 2017, algorithm 1); the comments name its lines."""

from dataclasses import dataclass

import torch
from torch import Tensor

from workers.contract.config import PaacConfig
from workers.contract.spaces import number_of_actions
from workers.trainer.environments.episodes import EpisodeBook
from workers.trainer.host import devices
from workers.trainer.host.cuda_graphs import graphed
from workers.trainer.learning.centring import Centring
from workers.trainer.learning.decay import decayed
from workers.trainer.learning.optimizers import FlatParameters, RMSProp, clip_to_norm
from workers.trainer.learning.policies import Categorical
from workers.trainer.learning.returns import n_step_returns
from workers.trainer.methods.paac.rollouts import Actors, Rollout
from workers.trainer.networks import networks
from workers.trainer.networks.dead_units import NetworkWatch
from workers.trainer.networks.networks import ActorCritic
from workers.trainer.networks.precision import body_dtype
from workers.trainer.networks.tapes import Tape
from workers.trainer.run.run import FIRST_UPDATE, Run, TrainingState, prefixed, starting


@dataclass(frozen=True)
class WeightedLosses:
    """The loss of one update, with its terms and weight for every step (t_max, n_e)."""

    weights: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
    total: Tensor

    def mean(self, term: Tensor) -> float:
        """Return the weighted mean of a term over all steps."""
        return float((self.weights * term.detach()).sum())


class Sampler:
    """Draws actions from softmax(logits) by an exponential race: the smallest of Exp(1)/π wins with probability π.

    `begin` draws the random numbers of a whole rollout at once; each call uses those of the given rows.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self.random = torch.Generator(device).manual_seed(seed)
        self._log_race = torch.empty(0)

    def begin(self, draws: int, actions: int) -> None:
        """Draw the random numbers for so many draws among so many actions."""
        if self._log_race.shape != (draws, actions):
            self._log_race = torch.empty(draws, actions, device=self.random.device)
        self._log_race.exponential_(generator=self.random).log_()

    def __call__(self, logits: Tensor, rows: slice) -> Tensor:
        return (logits - self._log_race[rows]).argmax(dim=-1)


def actor_critic_losses(
    logits: Tensor, values: Tensor, rollout: Rollout, config: PaacConfig, entropy_cost: float | Tensor
) -> WeightedLosses:
    """Return equations 10 and 11 as one loss to minimise; fresh rows are not decisions and do not count."""
    values = values.view_as(rollout.rewards)
    returns = n_step_returns(
        rollout.rewards, values.detach(), rollout.terminated, rollout.fresh, rollout.last_values, config.gamma
    )
    log_chosen, entropy = Categorical.judge(logits.view(*rollout.rewards.shape, -1), rollout.actions)

    policy = (values.detach() - returns) * log_chosen
    value = (returns - values).square()
    weights = (~rollout.fresh).to(values.dtype) / rollout.rewards.numel()  # n_e · t_max
    mean = (weights * (policy - entropy_cost * entropy + config.value_cost * value)).sum()
    total = config.loss_scale * mean
    return WeightedLosses(weights, policy, value, entropy, total)


def find_gradients(
    network: ActorCritic, tape: Tape, rollout: Rollout, config: PaacConfig, entropy_cost: float | Tensor
) -> WeightedLosses:
    """Write the gradients of lines 12–17 into the network's buffers."""
    states = rollout.states.flatten(0, 1)
    features = tape.recall()
    with torch.no_grad():
        logits, values = network.heads(features)
    outputs = (logits.requires_grad_(), values.requires_grad_())
    losses = actor_critic_losses(*outputs, rollout, config, entropy_cost)
    tape.backward(states, network.backward(features, *torch.autograd.grad(losses.total, outputs)))
    return losses


def train(config: PaacConfig, run: Run) -> None:
    """Train by algorithm 1."""
    start = run.restored
    torch.manual_seed(config.seed)
    seed = config.seed + (start.step if start else 0)
    run.start_step(starting(config.num_envs, "environment"))
    actors = Actors(config, seed, run.device)
    network = networks.build(config, actors.observation_shape, actors.actions, body_dtype(config, run.device)).to(
        run.device
    )
    parameters = FlatParameters(network)
    optimizer = RMSProp(parameters, config.rmsprop_decay, config.rmsprop_epsilon, side_by_side=actors.learners)
    sample = Sampler(seed, run.device)
    step = restore(start, optimizer, sample) if start else 0  # N of the paper, line 1
    book = EpisodeBook(run, config.num_envs, actors.frames_per_step, step)
    actors.reset(network.prepare)
    samples = config.t_max * config.num_envs
    tape = Tape(network.body, samples, actors.learners)
    centring = Centring(network.body, parameters) if config.centred_inputs else None
    watch = NetworkWatch(network)

    def choose(states: Tensor, rows: slice) -> Tensor:
        return sample(network.policy(tape.keep(states, rows).float()), rows)

    def estimate(states: Tensor) -> Tensor:
        values: Tensor = network(states)[1]
        return values

    def learn(
        learning_rate: float | Tensor, entropy_cost: float | Tensor, *tensors: Tensor
    ) -> tuple[WeightedLosses, Tensor]:
        rollout = Rollout(*tensors)
        losses = find_gradients(network, tape, rollout, config, entropy_cost)
        correct = centring.centre(tape.input_means(rollout.states.flatten(0, 1))) if centring else None
        gradient_norm = clip_to_norm(parameters.gradients, config.max_grad_norm)
        optimizer.step(learning_rate, correct)  # line 18
        return losses, gradient_norm

    chosen, value, update = graphed(choose, run.device), graphed(estimate, run.device), graphed(learn, run.device)

    def policy(states: Tensor, rows: slice) -> Tensor:
        tape.mark(rows)
        return chosen(states, rows)

    run.start_step(FIRST_UPDATE)
    try:
        while book.step < config.total_steps and not run.should_stop():
            tape.rewind()
            sample.begin(samples, number_of_actions(actors.actions))
            rollout = actors.rollout(policy, value, book)

            actors.time.turn_to("learning")
            learning_rate = decayed(
                config.initial_learning_rate, config.learning_rate_decay, book.step, config.total_steps
            )
            entropy_cost = decayed(config.entropy_cost, config.entropy_cost_decay, book.step, config.total_steps)
            losses, gradient_norm = update(learning_rate, entropy_cost, *rollout)

            run.advance(book.step, book.frames)
            watch.see(rollout.states.flatten(0, 1))
            if run.metrics_due():
                run.metrics(
                    {
                        "train/policy_loss": losses.mean(losses.policy),
                        "train/value_loss": losses.mean(losses.value),
                        "train/entropy": losses.mean(losses.entropy),
                        "train/grad_norm": gradient_norm.item(),
                        "train/learning_rate": learning_rate,
                        **actors.time.report(),
                        **watch.metrics(),
                    }
                )
            if run.checkpoint_due():
                run.save(state(book, optimizer, sample))
        run.save(state(book, optimizer, sample))
    finally:
        actors.close()


def state(book: EpisodeBook, optimizer: RMSProp, sample: Sampler) -> TrainingState:
    """Return everything the next update depends on, except the environments: they begin new episodes on resume."""
    tensors = prefixed("network", optimizer.parameters.named())
    tensors["optimizer.mean_square"] = optimizer.mean_square
    tensors["sampler.random"] = sample.random.get_state()
    return TrainingState(step=book.step, frames=book.frames, tensors=tensors)


def restore(start: TrainingState, optimizer: RMSProp, sample: Sampler) -> int:
    """Put a saved state back in place and return its step."""
    optimizer.parameters.load(start.component("network"))
    optimizer.mean_square.copy_(start.tensors["optimizer.mean_square"])
    devices.go_on_drawing(sample.random, start.tensors["sampler.random"])
    return start.step
