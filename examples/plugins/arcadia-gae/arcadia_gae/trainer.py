"""The algorithm. Only the trainer imports it."""

import torch
from arcadia.plugins.training import (
    Adam,
    Categorical,
    FlatParameters,
    Framework,
    Policy,
    Rollout,
    Trainer,
    TrainingRun,
    build,
    clip_to_norm,
    framework_needs,
    generalized_advantages,
    load_policy,
    prefixed,
)
from torch import Tensor

from arcadia_gae import GaeConfig


def losses(logits: Tensor, values: Tensor, policy: Policy, rollout: Rollout, config: GaeConfig) -> dict[str, Tensor]:
    """Return the policy's and V's loss, the entropy and the advantages' deviation over a rollout's decisions."""
    advantages = generalized_advantages(  # Â_t of equation 16
        rollout.rewards,
        values.detach(),
        rollout.terminated,
        rollout.fresh,
        rollout.last_values,
        config.gamma,
        config.gae_lambda,
    )
    log_chosen, entropy = policy.judge(logits, rollout.actions)
    decided = ~rollout.fresh  # the actions of fresh rows were ignored
    targets = advantages + values.detach()
    return {
        "train/policy_loss": -(log_chosen * advantages)[decided].mean(),  # equation 1
        "train/value_loss": (values - targets)[decided].square().mean(),  # equation 28
        "train/entropy": entropy[decided].mean(),
        "train/advantage_deviation": advantages[decided].std(correction=0),
    }


def train(config: GaeConfig, run: TrainingRun) -> None:
    """Act in all environments for a rollout, then follow the gradient of its advantages once."""
    with Framework(config, run) as framework:
        actors = framework.actors
        network = build(config, actors.observation_shape, actors.actions).to(run.device)
        parameters = FlatParameters(network)
        optimizer = Adam(parameters, (config.adam_beta1, config.adam_beta2), config.adam_epsilon)
        policy = Categorical(torch.Generator(run.device).manual_seed(framework.seed))
        if run.restored:
            parameters.load(run.restored.component("network"))
        if run.restored and not run.restored.has_only_weights:
            for name, statistic in optimizer.statistics().items():
                statistic.copy_(run.restored.tensors[f"optimizer.{name}"])

        def choose(states: Tensor, _rows: slice) -> Tensor:
            return policy.sample(network(states)[0])

        def estimate(states: Tensor, _rows: slice) -> Tensor:
            return network.state_values(states)

        def state() -> dict[str, Tensor]:
            return prefixed("network", parameters.named()) | prefixed("optimizer", optimizer.statistics())

        framework.begin(network)
        while not framework.is_finished:
            rollout = framework.rollout(choose, estimate)
            logits, values = network(rollout.states.flatten(0, 1))
            found = losses(
                logits.view(*rollout.rewards.shape, -1), values.view_as(rollout.rewards), policy, rollout, config
            )
            entropy_cost = framework.decayed(config.entropy_cost, config.entropy_cost_decay)
            parameters.backward(
                found["train/policy_loss"]
                + config.value_cost * found["train/value_loss"]
                - entropy_cost * found["train/entropy"]
            )
            found["train/grad_norm"] = clip_to_norm(parameters.gradients, config.max_grad_norm)
            rate = framework.learning_rate
            optimizer.step(rate)

            framework.advance(rollout)
            if run.metrics_due():
                framework.report({name: value.item() for name, value in found.items()} | {"train/learning_rate": rate})
            if run.checkpoint_due():
                framework.save(state())
        framework.save(state())


TRAINER = Trainer(config=GaeConfig, train=train, needs=framework_needs, load_network=load_policy)
