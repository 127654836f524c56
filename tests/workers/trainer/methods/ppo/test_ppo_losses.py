"""PPO's losses against slow, literal transcriptions of its paper, and its first updates against Stable-Baselines3."""

import math
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common import logger
from torch import Tensor

from arcadia_workers.contract.action_names import ActionSpace, Continuous, Discrete
from arcadia_workers.contract.config import PpoConfig
from arcadia_workers.trainer.learning.policies import policy_over
from arcadia_workers.trainer.learning.returns import generalized_advantages
from arcadia_workers.trainer.methods.ppo import network
from arcadia_workers.trainer.methods.ppo.ppo import STEP_FIELDS, EpochSettings, Experience, Learner, Shuffle, losses
from arcadia_workers.trainer.networks.agents import Agent, BatchTape

T, N = 8, 4
ACTIONS: dict[str, ActionSpace] = {
    "CartPole-v1": Discrete(2),
    "Pendulum-v1": Continuous((-2.0,), (2.0,)),
    "HalfCheetah-v5": Continuous((-1.0,) * 6, (1.0,) * 6),
}
READINGS = {"CartPole-v1": 4, "Pendulum-v1": 3, "HalfCheetah-v5": 17}


def settings(config: PpoConfig) -> EpochSettings:
    return EpochSettings(
        config.learning_rate,
        config.clip_range,
        config.value_clip,
        config.value_cost,
        config.entropy_cost,
        config.max_grad_norm,
        config.normalize_advantages,
    )


def made_experience(config: PpoConfig, agent: Agent, fresh: bool = True) -> Experience:
    """Make a rollout of T steps in N environments by the agent. One episode terminates and one is cut off."""
    random = torch.Generator().manual_seed(3)
    actions = ACTIONS[config.env]
    states = torch.randn(T, N, READINGS[config.env], generator=random)
    policy = policy_over(actions, random)
    terminated, fresh_rows = torch.zeros(2, T, N, dtype=torch.bool)
    terminated[2, 1] = True
    if fresh:
        fresh_rows[3, 1] = fresh_rows[5, 2] = True
    openings = torch.zeros(T, N, dtype=torch.bool)
    openings[1:] = fresh_rows[:-1]
    memory = tuple((torch.randn(N, h.shape[1]) / 2, torch.randn(N, c.shape[1]) / 2) for h, c in agent.blank)
    with torch.no_grad():
        numbers, values = outputs(agent, states, openings, memory)
        chosen = policy.sample(numbers)
        log_probabilities, _ = policy.judge(numbers, chosen)
    rewards = torch.randn(T, N, generator=random).masked_fill(fresh_rows, 0)
    last_values = torch.randn(N, generator=random)
    advantages = generalized_advantages(
        rewards, values.view(T, N), terminated, fresh_rows, last_values, config.gamma, config.gae_lambda
    )
    return Experience(
        states=states.flatten(0, 1),
        actions=chosen,
        log_probabilities=log_probabilities,
        values=values,
        advantages=advantages.flatten(),
        targets=(advantages + values.view(T, N)).flatten(),
        decided=~fresh_rows.flatten(),
        openings=openings.flatten(),
        memory=memory,
    )


def outputs(agent: Agent, states: Tensor, openings: Tensor, memory: Any) -> tuple[Tensor, Tensor]:
    """Run the network step by step. Return its outputs for all rows."""
    numbers, values = [], []
    for row, opens in zip(states, openings, strict=True):
        memory = tuple((torch.where(opens[:, None], 0, h), torch.where(opens[:, None], 0, c)) for h, c in memory)
        of_row, value, memory = agent.step(row, memory)
        numbers.append(of_row)
        values.append(value)
    return torch.cat(numbers), torch.cat(values)


def log_probability_and_entropy(numbers: Tensor, action: Tensor, actions: ActionSpace) -> tuple[Tensor, Tensor]:
    """Return log π(a|s) and the entropy of one state by their definitions."""
    if isinstance(actions, Discrete):
        pi = numbers.exp() / numbers.exp().sum()
        return torch.log(pi[action]), -(pi * torch.log(pi)).sum()
    mean, variance = numbers[: actions.size], torch.log(1 + numbers[actions.size :].exp())
    density = torch.exp(-((action - mean) ** 2) / (2 * variance)) / torch.sqrt(2 * math.pi * variance)
    return torch.log(density).sum(), (0.5 * torch.log(2 * math.pi * math.e * variance)).sum()


def literal_objective(
    numbers: Tensor, values: Tensor, steps: Experience, actions: ActionSpace, config: PpoConfig
) -> dict[str, Tensor]:
    """Compute equations 6, 7 and 9 step by step."""
    epsilon = config.clip_range
    advantages = steps.advantages
    if config.normalize_advantages:
        mean = sum(advantages) / len(advantages)
        variance = sum((a - mean) ** 2 for a in advantages) / (len(advantages) - 1)
        advantages = torch.stack([(a - mean) / (torch.sqrt(variance) + 1e-8) for a in advantages])
    clip, value_loss, entropy = torch.zeros(3)
    for t in range(len(advantages)):
        log_pi, h = log_probability_and_entropy(numbers[t], steps.actions[t], actions)
        r = torch.exp(log_pi) / torch.exp(steps.log_probabilities[t])
        clipped = min(max(r, torch.tensor(1 - epsilon)), torch.tensor(1 + epsilon))
        clip = clip + min(r * advantages[t], clipped * advantages[t])
        error = (values[t] - steps.targets[t]) ** 2
        if config.value_clip:
            near = min(
                max(values[t] - steps.values[t], torch.tensor(-config.value_clip)), torch.tensor(config.value_clip)
            )
            error = max(error, (steps.values[t] + near - steps.targets[t]) ** 2)
        value_loss = value_loss + error
        entropy = entropy + h
    n = len(advantages)
    clip, value_loss, entropy = clip / n, value_loss / n, entropy / n
    objective = clip - config.value_cost * value_loss + config.entropy_cost * entropy
    return {"total": -objective, "policy": -clip, "value": value_loss, "entropy": entropy}


@pytest.mark.parametrize("env", ACTIONS)
@pytest.mark.parametrize("value_clip", [0.0, 0.05])
@pytest.mark.parametrize("normalize", [True, False])
def test_the_losses_and_their_gradients_equal_a_literal_transcription(
    env: str, value_clip: float, normalize: bool
) -> None:
    config = PpoConfig(
        env=env,
        clip_range=0.2,
        value_clip=value_clip,
        value_cost=0.7,
        entropy_cost=0.03,
        normalize_advantages=normalize,
    )
    torch.manual_seed(1)
    agent = network.build(config, (READINGS[env],), ACTIONS[env])
    steps = made_experience(config, agent, fresh=False)
    for parameter in agent.parameters():  # so that ratios are on both sides of the clip range
        parameter.data.add_(torch.randn_like(parameter) * 0.1)
    found = outputs(agent, steps.states.view(T, N, -1), torch.zeros(T, N, dtype=torch.bool), ())

    ours = losses(*found, policy_over(ACTIONS[env], torch.Generator()), steps, settings(config))
    theirs = literal_objective(*found, steps, ACTIONS[env], config)

    assert 0 < ours.clip_fraction < 1
    for name, expected in theirs.items():
        torch.testing.assert_close(getattr(ours, name), expected, rtol=1e-4, atol=1e-5)
    gradients = [
        torch.autograd.grad(total, list(agent.parameters()), retain_graph=True, materialize_grads=True)
        for total in (ours.total, theirs["total"])
    ]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("value_network", ["shared", "separate"])
@pytest.mark.parametrize("lstm_units", [0, 5])
@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1"])
def test_an_update_takes_adams_step_along_the_gradient_of_the_minibatchs_decisions(
    env: str, lstm_units: int, value_network: str
) -> None:
    config = PpoConfig.model_validate(
        {
            "env": env,
            "num_envs": N,
            "t_max": T,
            "minibatch_size": 2 * T,
            "lstm_units": lstm_units,
            "value_network": value_network,
            "learning_rate": 0.01,
        }
    )
    torch.manual_seed(1)
    agent, literal = (network.build(config, (READINGS[env],), ACTIONS[env]) for _ in range(2))
    literal.load_state_dict(agent.state_dict())
    steps, policy = made_experience(config, agent), policy_over(ACTIONS[env], torch.Generator())
    learner = Learner(config, agent, BatchTape(agent, config.minibatch_rows), policy)
    adam = torch.optim.Adam(literal.parameters(), lr=0.01, eps=config.adam_epsilon)

    for rows in Shuffle(config, seed=5).minibatches(steps.decided):
        learner.update(steps, rows, settings(config))

        kept = rows[steps.decided[rows]]
        numbers, values = outputs(literal, steps.states.view(T, N, -1), steps.openings.view(T, N), steps.memory)
        only = steps._replace(**{name: getattr(steps, name)[kept] for name in STEP_FIELDS})
        adam.zero_grad()
        literal_objective(numbers[kept], values[kept], only, ACTIONS[env], config)["total"].backward()
        torch.nn.utils.clip_grad_norm_(literal.parameters(), config.max_grad_norm)
        adam.step()

    for ours, theirs in zip(agent.parameters(), literal.parameters(), strict=True):
        torch.testing.assert_close(ours.detach(), theirs.detach(), rtol=1e-3, atol=2e-4)


def test_an_epoch_uses_every_decision_once() -> None:
    config = PpoConfig(env="CartPole-v1", num_envs=N, t_max=T, minibatch_size=7)
    agent = network.build(config, (4,), Discrete(2))
    decided = made_experience(config, agent).decided
    shuffle = Shuffle(config, seed=1)
    first, second = (list(shuffle.minibatches(decided)) for _ in range(2))
    for batches in (first, second):
        assert sorted(torch.cat(batches).tolist()) == decided.nonzero().flatten().tolist()
        assert all(len(rows) <= 7 for rows in batches)
    assert torch.cat(first).tolist() != torch.cat(second).tolist()


def test_minibatches_of_an_lstm_have_whole_sequences() -> None:
    config = PpoConfig(env="CartPole-v1", num_envs=N, t_max=T, minibatch_size=2 * T, lstm_units=3)
    batches = list(Shuffle(config, seed=1).minibatches(torch.ones(T * N, dtype=torch.bool)))
    assert [len(rows) for rows in batches] == [2 * T, 2 * T] == [config.minibatch_rows] * 2
    for rows in batches:
        steps = rows.view(T, 2)
        assert torch.equal(steps // N, torch.arange(T)[:, None].expand(T, 2))
        assert torch.equal(steps % N, (steps[0] % N).expand(T, 2))
    with pytest.raises(ValueError, match="give at least 8"):
        PpoConfig(t_max=8, minibatch_size=7, lstm_units=3)


class OnlySpaces(gymnasium.Env[Any, Any]):
    """Environment that is never stepped. Stable-Baselines3 only reads its spaces."""

    def __init__(self, env: str) -> None:
        actions = ACTIONS[env]
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (READINGS[env],), np.float32)
        self.action_space = (
            gymnasium.spaces.Discrete(actions.count)
            if isinstance(actions, Discrete)
            else gymnasium.spaces.Box(np.array(actions.low, np.float32), np.array(actions.high, np.float32))
        )


def sb3_model(config: PpoConfig, agent: Agent) -> stable_baselines3.PPO:
    """Make Stable-Baselines3's PPO with the same settings and weights."""
    environments = stable_baselines3.common.vec_env.DummyVecEnv([lambda: OnlySpaces(config.env)] * N)
    model = stable_baselines3.PPO(
        "MlpPolicy",
        environments,
        learning_rate=config.learning_rate,
        n_steps=T,
        batch_size=config.minibatch_size,
        n_epochs=config.num_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        normalize_advantage=config.normalize_advantages,
        ent_coef=config.entropy_cost,
        vf_coef=config.value_cost,
        max_grad_norm=config.max_grad_norm,
        device="cpu",
    )
    model.set_logger(logger.configure(None, []))
    for ours, theirs in pairs(agent, model):
        theirs.data.copy_(ours.detach())
    return model


def pairs(agent: Agent, model: stable_baselines3.PPO) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield each parameter together with that of Stable-Baselines3."""
    policy, extractor = model.policy, model.policy.mlp_extractor
    heads = [(agent.policy, policy.action_net), (agent.value, policy.value_net)]
    for ours, theirs in [*zip(agent.trunks, (extractor.policy_net, extractor.value_net), strict=True), *heads]:
        named = dict(ours.named_parameters())
        if "log_deviation" in named:
            yield named.pop("log_deviation"), policy.log_std
        yield from zip(named.values(), theirs.parameters(), strict=True)


@pytest.mark.parametrize("env", ACTIONS)
@pytest.mark.parametrize("max_grad_norm", [0.05, 100.0])
def test_the_first_updates_from_equal_weights_and_data_are_those_of_stable_baselines3(
    env: str, max_grad_norm: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = PpoConfig(
        env=env,
        num_envs=N,
        t_max=T,
        minibatch_size=16,
        num_epochs=3,
        value_network="separate",
        learning_rate=0.003,
        clip_range=0.1,
        value_cost=0.5,
        entropy_cost=0.02,
        max_grad_norm=max_grad_norm,
    )
    torch.manual_seed(1)
    agent = network.build(config, (READINGS[env],), ACTIONS[env])
    model = sb3_model(config, agent)
    steps = made_experience(config, agent, fresh=False)
    before = [parameter.detach().clone() for parameter in agent.parameters()]

    buffer = model.rollout_buffer
    by_step = [tensor.view(T, N, *tensor.shape[1:]) for tensor in steps[:6]]
    states, actions, log_probabilities, values, advantages, targets = by_step
    for t in range(T):
        start = np.zeros(N, dtype=np.float32)
        # The buffer shapes discrete actions itself.
        buffer.add(states[t].numpy(), actions[t].numpy(), np.zeros(N), start, values[t], log_probabilities[t])
    buffer.advantages, buffer.returns = advantages.numpy().copy(), targets.numpy().copy()

    policy = policy_over(ACTIONS[env], torch.Generator())
    learner, shuffle = Learner(config, agent, BatchTape(agent, 16), policy), Shuffle(config, seed=2)
    orders = []
    for _ in range(config.num_epochs):
        epoch = list(shuffle.minibatches(steps.decided))
        orders.append(torch.cat(epoch))
        for rows in epoch:
            learner.update(steps, rows, settings(config))
    # Stable-Baselines3 numbers the steps of one environment after the other.
    theirs = iter([(rows % N * T + rows // N).numpy() for rows in orders])
    monkeypatch.setattr(np.random, "permutation", lambda _number: next(theirs))
    model.train()

    assert any(not torch.equal(old, new.detach()) for old, new in zip(before, agent.parameters(), strict=True))
    for ours, expected in pairs(agent, model):
        torch.testing.assert_close(ours.detach(), expected.detach(), rtol=1e-4, atol=1e-5)


def test_advantages_and_targets_are_those_of_stable_baselines3() -> None:
    config = PpoConfig(env="CartPole-v1", num_envs=N, t_max=T, minibatch_size=16, value_network="separate")
    random = torch.Generator().manual_seed(7)
    rewards, values = torch.randn(2, T, N, generator=random)
    last_values = torch.randn(N, generator=random)
    terminated = torch.rand(T, N, generator=random) < 0.2
    buffer = sb3_model(config, network.build(config, (4,), Discrete(2))).rollout_buffer
    starts = torch.cat([torch.zeros(1, N, dtype=torch.bool), terminated[:-1]])
    for t in range(T):
        buffer.add(np.zeros((N, 4)), np.zeros(N), rewards[t].numpy(), starts[t].numpy(), values[t], torch.zeros(N))
    buffer.compute_returns_and_advantage(last_values, terminated[-1].numpy())

    fresh = torch.zeros(T, N, dtype=torch.bool)
    ours = generalized_advantages(rewards, values, terminated, fresh, last_values, config.gamma, config.gae_lambda)

    np.testing.assert_allclose(ours.numpy(), buffer.advantages, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose((ours + values).numpy(), buffer.returns, rtol=1e-4, atol=1e-5)
