"""PAAC: parallel advantage actor-critic (Clemente et al. 2017, algorithm 1). The comments name its lines."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.trainer.host.devices import graphed
from arcadia_workers.trainer.learning.optimizers import FlatParameters, RMSProp
from arcadia_workers.trainer.learning.policies import Categorical, RolloutSampler
from arcadia_workers.trainer.learning.returns import n_step_returns
from arcadia_workers.trainer.methods.paac.framework import Framework, Rollout, Updater, restore_random
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.gradients import body_dtype
from arcadia_workers.trainer.networks.networks import ActorCritic
from arcadia_workers.trainer.networks.outputs import Tape
from arcadia_workers.trainer.run.run import TrainingRun


@dataclass(frozen=True)
class WeightedLosses:
    """The loss of one update, with its terms and weight for every step (t_max, n_e)."""

    weights: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor
    total: Tensor

    def metrics(self) -> dict[str, float]:
        """Return the weighted mean of each term over all steps."""
        terms = {"train/policy_loss": self.policy, "train/value_loss": self.value, "train/entropy": self.entropy}
        return {name: float((self.weights * term.detach()).sum()) for name, term in terms.items()}


class UpdateSettings(NamedTuple):
    """Settings of one update that may change during training. A CUDA graph reads them as tensors."""

    learning_rate: float | Tensor
    entropy_cost: float | Tensor
    value_cost: float | Tensor
    max_grad_norm: float | Tensor


SETTINGS = len(UpdateSettings._fields)


def actor_critic_losses(
    logits: Tensor, values: Tensor, rollout: Rollout, config: PaacConfig, settings: UpdateSettings
) -> WeightedLosses:
    """Return equations 10 and 11 as one loss to minimize. Fresh rows are not decisions and do not count."""
    values = values.view_as(rollout.rewards)
    returns = n_step_returns(
        rollout.rewards, values.detach(), rollout.terminated, rollout.fresh, rollout.last_values, config.gamma
    )
    log_chosen, entropy = Categorical.judge(logits.view(*rollout.rewards.shape, -1), rollout.actions)

    policy = (values.detach() - returns) * log_chosen
    value = (returns - values).square()
    weights = (~rollout.fresh).to(values.dtype) / rollout.rewards.numel()  # n_e · t_max
    mean = (weights * (policy - settings.entropy_cost * entropy + settings.value_cost * value)).sum()
    total = config.loss_scale * mean
    return WeightedLosses(weights, policy, value, entropy, total)


def find_gradients(
    network: ActorCritic, tape: Tape, rollout: Rollout, config: PaacConfig, settings: UpdateSettings
) -> WeightedLosses:
    """Write the gradients of lines 12–17 into the network's buffers."""
    states = rollout.states.flatten(0, 1)
    features = tape.recall()
    with torch.no_grad():
        logits, values = network.heads(features)
    outputs = (logits.requires_grad_(), values.requires_grad_())
    losses = actor_critic_losses(*outputs, rollout, config, settings)
    tape.backward(states, network.backward(features, *torch.autograd.grad(losses.total, outputs)))
    return losses


def train(config: PaacConfig, run: TrainingRun) -> None:
    """Train by algorithm 1."""
    with Framework(config, run) as framework:  # lines 1 and 2
        actors, device = framework.actors, run.device
        dtype = body_dtype(config, device)
        network = networks.build(config, actors.observation_shape, actors.actions, dtype).to(device)
        samples = config.t_max * config.num_envs
        tape = Tape(network.body, samples, actors.learners)
        optimizer = RMSProp(
            FlatParameters(network), config.rmsprop_decay, config.rmsprop_epsilon, side_by_side=actors.learners
        )
        updater = Updater(config, tape, optimizer)
        sample = RolloutSampler(actors.actions, framework.seed, device)
        if run.restored:
            updater.restore(run.restored)
            restore_random(sample.random, run.restored, "sampler.random")

        def choose(states: Tensor, rows: slice) -> Tensor:
            return sample(network.policy(tape.keep(states, rows).float()), rows)

        def estimate(states: Tensor, _rows: slice) -> Tensor:
            return network.state_values(states)

        def learn(*given: Any) -> tuple[WeightedLosses, Tensor]:
            settings, rollout = UpdateSettings(*given[:SETTINGS]), Rollout(*given[SETTINGS:])
            losses = find_gradients(network, tape, rollout, config, settings)
            states = rollout.states.flatten(0, 1)
            return losses, updater.update(states, settings.learning_rate, settings.max_grad_norm)  # line 18

        chosen, value, update = graphed(choose, device), graphed(estimate, device), graphed(learn, device)

        def policy(states: Tensor, rows: slice) -> Tensor:
            tape.mark(rows)
            return chosen(states, rows)

        def state() -> dict[str, Tensor]:
            return {**updater.state(), "sampler.random": sample.random.get_state()}

        framework.begin(network)
        while not framework.is_finished:  # line 20
            tape.rewind()
            sample.begin(samples)
            rollout = framework.rollout(policy, value)  # lines 4–11
            settings = UpdateSettings(
                framework.learning_rate,
                framework.decayed(config.entropy_cost, config.entropy_cost_decay),
                config.value_cost,
                config.max_grad_norm,
            )
            losses, gradient_norm = update(*settings, *rollout)  # lines 12–18

            framework.advance(rollout)
            if run.metrics_due():
                step = {"train/grad_norm": gradient_norm.item(), "train/learning_rate": float(settings.learning_rate)}
                framework.report(losses.metrics() | step)
            if run.checkpoint_due():
                framework.save(state())
        framework.save(state())
