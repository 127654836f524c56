"""Tests for A3C: its updates against a slow literal transcription of algorithm S2, its rollouts and its runs."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from arcadia_workers.contract.action_names import ActionSpace, Continuous, Discrete
from arcadia_workers.contract.config import A3cConfig
from arcadia_workers.trainer.environments.environments import Actions
from arcadia_workers.trainer.environments.own_environment import FinishedEpisode, Outcome, OwnEnvironment
from arcadia_workers.trainer.host.processes import Link
from arcadia_workers.trainer.learning.optimizers import Centering, Correction, FlatParameters
from arcadia_workers.trainer.methods.asynchronous import a3c
from arcadia_workers.trainer.methods.asynchronous.a3c import LEARNED, MEASURES, EpisodeRollout, PolicyActor
from arcadia_workers.trainer.methods.asynchronous.shared_state import (
    ActorLearnerOptimizer,
    Participant,
    SharedState,
    lay_out,
)
from arcadia_workers.trainer.networks import agents
from arcadia_workers.trainer.networks.agents import Agent, Memory
from arcadia_workers.trainer.run.run import NullRun, TrainingState

CHOOSE, SET = Discrete(3), Continuous((-1.0, -1.0), (1.0, 1.0))


class FakeLink(Link):
    """A link without a main process that keeps the messages."""

    def __init__(self) -> None:
        self.number = 0
        self.stopping = False
        self.received = deque()
        self.sent: list[object] = []

    def send(self, message: object) -> None:
        self.sent.append(message)


class Scripted(OwnEnvironment):
    """An environment that follows a script: "." continues, "x" dead, "l" lost life, "t" time limit."""

    def __init__(self, script: str, actions: ActionSpace, shift: float = 0.0) -> None:
        self._script, self._shift = script, shift
        self._number = 0
        self.actions, self.observation_shape = actions, (4,)
        self.observation = self._seen()

    def _seen(self) -> NDArray[np.float32]:
        return np.array([[self._number, self._number % 3 - 1, 1, 0.5]], dtype=np.float32) + np.float32(self._shift)

    def step(self, _: Actions) -> Outcome:
        end = self._script[self._number % 100]
        self._number += 1
        self.observation = self._seen()
        return Outcome(0.1 * self._number, terminal=end in "xl", over=end in "xt")

    def begin_again(self) -> FinishedEpisode:
        self._number = 100 * (self._number // 100 + 1)
        self.observation = self._seen()
        return FinishedEpisode(5.0, 2)


@dataclass
class Setting:
    """One actor-learner in a scripted environment."""

    config: A3cConfig
    agent: Agent
    actor: PolicyActor
    optimizer: ActorLearnerOptimizer
    shared: SharedState
    participant: Participant
    link: FakeLink


def setting(
    script: str,
    actions: ActionSpace = CHOOSE,
    restored: TrainingState | None = None,
    shift: float = 0.0,
    **fields: object,
) -> Setting:
    config = A3cConfig.model_validate({"env": "CartPole-v1", "num_actors": 1, "t_max": 5, **fields})
    torch.manual_seed(1)
    agent = agents.build(config, (4,), actions)
    shared, link = lay_out(config, restored, FlatParameters(agent), MEASURES, {}), FakeLink()
    own = Participant(link, config, shared)
    optimizer = own.optimizer(FlatParameters(agent, shared.values))
    actor = PolicyActor(config, own, Scripted(script, actions, shift), agent)
    return Setting(config, agent, actor, optimizer, shared, own, link)


def reported_after(made: Setting, rollout: EpisodeRollout) -> list[object]:
    """Return the reported messages after learning from a rollout."""
    assert made.link.sent == [], "nothing has been learned from yet"
    made.participant.report_update(len(rollout.rewards), dict.fromkeys(MEASURES, 0.0))
    return made.link.sent


def update(
    made: Setting, rollout: EpisodeRollout, learning_rate: float = 0.01, centering: Centering | None = None
) -> dict[str, float]:
    return a3c.learn(
        made.actor, rollout, made.config, made.optimizer, learning_rate, made.config.entropy_cost, centering
    )


def observed(rollout: EpisodeRollout) -> list[int]:
    """Return the numbers of the observations in which the agent acted."""
    return rollout.states[:, 0].int().tolist()


def log_probability_and_entropy(numbers: Tensor, action: Tensor, actions: ActionSpace) -> tuple[Tensor, Tensor]:
    """Compute both from their definitions, for one state."""
    if isinstance(actions, Discrete):
        pi = torch.exp(numbers) / torch.exp(numbers).sum()
        return torch.log(pi[action]), -sum((p * torch.log(p) for p in pi), torch.zeros(()))
    variance = torch.log(1 + torch.exp(numbers[-1]))
    log_density, entropy = torch.zeros(()), torch.zeros(())
    for i in range(actions.size):
        density = torch.exp(-((action[i] - numbers[i]) ** 2) / (2 * variance)) / torch.sqrt(2 * math.pi * variance)
        log_density = log_density + torch.log(density)
        entropy = entropy + 0.5 * (torch.log(2 * math.pi * variance) + 1)
    return log_density, entropy


def literal_gradients(
    agent: Agent, memory: Memory, rollout: EpisodeRollout, config: A3cConfig, actions: ActionSpace
) -> list[Tensor]:
    """Compute algorithm S2 from "R ←" on, step by step, accumulating dθ and dθ_v."""
    numbers, values = [], []
    for state in rollout.states.split(1):
        each, value, memory = agent(state, memory)
        numbers.append(each[0])
        values.append(value[0])
    parameters = list(agent.parameters())
    accumulated = [torch.zeros_like(parameter) for parameter in parameters]
    R = rollout.bootstrap  # noqa: N806, the paper's letter
    for i in reversed(range(len(rollout.states))):
        R = rollout.rewards[i] + config.gamma * R  # noqa: N806
        log_pi, entropy = log_probability_and_entropy(numbers[i], rollout.actions[i][0], actions)
        ascent = log_pi * (R - values[i].detach()) + config.entropy_cost * entropy
        descent = -ascent + config.value_cost * (R - values[i]) ** 2
        found = torch.autograd.grad(descent, parameters, retain_graph=True, allow_unused=True)
        accumulated = [a if g is None else a + g for a, g in zip(accumulated, found, strict=True)]
    return accumulated


@pytest.mark.parametrize("script", ["....", "...x", "..l.", ".t.."], ids=["on", "terminal", "life lost", "cut off"])
@pytest.mark.parametrize("lstm_units", [0, 6], ids=["feed-forward", "lstm"])
@pytest.mark.parametrize("actions", [CHOOSE, SET], ids=["discrete", "gaussian"])
@pytest.mark.parametrize("value_network", ["shared", "separate"])
def test_an_update_follows_the_gradients_of_a_literal_transcription_of_algorithm_s2(
    actions: ActionSpace, lstm_units: int, script: str, value_network: str
) -> None:
    fields: dict[str, Any] = {
        "lstm_units": lstm_units,
        "value_network": value_network,
        "entropy_cost": 0.03,
        "value_cost": 0.7,
    }
    made = setting("...." + script + "." * 9, actions, t_max=4, max_grad_norm=1e6, **fields)
    actor, agent, config = made.actor, made.agent, made.config
    actor.rollout()  # fill the agent's memory before the rollout used for learning
    memory = actor.tape.memory
    rollout = actor.rollout()
    expected = literal_gradients(agent, memory, rollout, config, actions)

    update(made, rollout, learning_rate=0.0)

    for parameter, theirs in zip(agent.parameters(), expected, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, theirs, rtol=1e-4, atol=1e-4)


def test_an_update_descends_the_clipped_gradient_by_rmsprop() -> None:
    made = setting(".....", max_grad_norm=0.5, rmsprop_epsilon=0.2, rmsprop_decay=0.9)
    before = [parameter.detach().clone() for parameter in made.agent.parameters()]
    rollout = made.actor.rollout()
    gradients = literal_gradients(made.agent, (), rollout, made.config, CHOOSE)
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients))
    assert norm > 0.5

    measures = update(made, rollout)

    assert measures.keys() == set(LEARNED)
    assert measures["train/grad_norm"] == pytest.approx(norm, rel=1e-4)
    for parameter, old, gradient in zip(made.agent.parameters(), before, gradients, strict=True):
        clipped = gradient * 0.5 / norm
        expected = old - 0.01 * clipped / (0.9 + 0.1 * clipped.square() + 0.2).sqrt()
        torch.testing.assert_close(parameter.detach(), expected, rtol=1e-4, atol=1e-6)


def value_after(agent: Agent, rollout: EpisodeRollout, memory: Memory, last: int) -> float:
    """Return V of the state after a rollout, with the agent's memory of the rollout."""
    end = torch.tensor([[last, last % 3 - 1, 1, 0.5]])
    with torch.no_grad():
        return agent(torch.cat([rollout.states, end]), memory)[1][-1].item()  # type: ignore[no-any-return]


def test_a_rollout_has_t_max_steps_and_bootstraps_from_the_value_of_the_next_state() -> None:
    made = setting("......", t_max=3, lstm_units=3)
    first = made.actor.rollout()
    assert observed(first) == [0, 1, 2]
    assert first.rewards == pytest.approx([0.1, 0.2, 0.3])
    assert first.bootstrap == pytest.approx(value_after(made.agent, first, made.agent.blank, 3), rel=1e-5)
    assert observed(made.actor.rollout()) == [3, 4, 5]
    assert made.shared.T == 6


def test_the_memory_is_kept_between_rollouts_and_cleared_with_the_episode() -> None:
    made = setting("...x......", t_max=3, lstm_units=3)
    actor, agent = made.actor, made.agent
    first = actor.rollout()
    with torch.no_grad():
        _, _, carried = agent(first.states, agent.blank)
        torch.testing.assert_close(actor.tape.memory, carried)
        second = actor.rollout()
        assert len(second.rewards) == 1
        torch.testing.assert_close(actor.tape.memory, agent(second.states, carried)[2])
        third = actor.rollout()
        assert observed(third) == [100, 101, 102]
        torch.testing.assert_close(actor.tape.memory, agent(third.states, agent.blank)[2])


def test_a_terminal_step_ends_the_rollout_with_bootstrap_0() -> None:
    made = setting(".x")
    rollout = made.actor.rollout()
    assert (observed(rollout), rollout.bootstrap) == ([0, 1], 0.0)
    assert made.shared.T == 2, "the step that starts the next episode is not the agent's"
    assert reported_after(made, rollout) == [(2, FinishedEpisode(5.0, 2))]


def test_a_truncated_episode_bootstraps_from_its_last_observation() -> None:
    made = setting(".t", lstm_units=3)
    rollout = made.actor.rollout()
    assert observed(rollout) == [0, 1]
    assert rollout.bootstrap == pytest.approx(value_after(made.agent, rollout, made.agent.blank, 2), rel=1e-5)
    assert reported_after(made, rollout) == [(2, FinishedEpisode(5.0, 2))]


@pytest.mark.parametrize("script", [".t", ".....", ".x"])
def test_without_bootstrap_every_return_ends_with_0(script: str) -> None:
    assert setting(script, bootstrap=False).actor.rollout().bootstrap == 0.0


def test_after_a_lost_life_that_ends_returns_the_game_and_the_memory_continue() -> None:
    made = setting(".l.......", lstm_units=3)
    actor, agent = made.actor, made.agent
    first = actor.rollout()
    assert (observed(first), first.bootstrap) == ([0, 1], 0.0)
    carried = actor.tape.memory
    second = actor.rollout()
    assert observed(second)[0] == 2
    with torch.no_grad():
        torch.testing.assert_close(actor.tape.memory, agent(second.states, carried)[2])
    assert reported_after(made, first) == []


def test_a_rollout_ends_at_once_when_the_run_stops() -> None:
    made = setting("." * 50, t_max=50)
    made.link.stopping = True
    made.actor.rollout()
    assert made.shared.T == 0


def after_an_update_of_shifted_observations(shift: float, centered: bool) -> Tensor:
    """Return a network's outputs after an update with shifted observations and biases that offset the shift."""
    fields: dict[str, Any] = {"rmsprop_epsilon": 1e-6, "value_network": "separate", "centered_inputs": centered}
    made = setting("." * 9, t_max=4, shift=shift, **fields)
    named = made.optimizer.parameters.named()
    for body in (0, 1):
        weight, bias = (named[f"bodies.{body}.layers.0.{part}"] for part in ("weight", "bias"))
        bias -= shift * weight.sum(1)
    made.optimizer.parameters.changed()
    centering = a3c.centering_of(made.config, made.agent, made.optimizer.parameters)
    update(made, made.actor.rollout(), centering=centering)
    shown = torch.randn(8, 4, generator=torch.Generator().manual_seed(3)) + shift
    numbers, values, _ = made.agent(shown, made.agent.blank)
    return torch.cat((numbers, values.unsqueeze(1)), 1).detach()


@pytest.mark.parametrize("centered", [True, False])
def test_with_centered_inputs_a_constant_shift_of_observations_changes_no_update(centered: bool) -> None:
    plain, shifted = (after_an_update_of_shifted_observations(shift, centered) for shift in (0.0, 3.0))
    assert torch.allclose(plain, shifted, rtol=1e-2, atol=1e-3) == centered


def test_a_centered_update_counts_the_states_of_its_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    made = setting("." * 9, t_max=4, centered_inputs=True)
    centering = a3c.centering_of(made.config, made.agent, made.optimizer.parameters)
    assert centering is not None
    center, counted = centering.center, list[int]()

    def counting(means: Sequence[Tensor], states: int) -> Correction:
        counted.append(states)
        return center(means, states)

    monkeypatch.setattr(centering, "center", counting)
    update(made, made.actor.rollout(), centering=centering)
    assert counted == [4]


def test_a_run_uses_centered_updates_if_configured() -> None:
    def weights(centered: bool) -> Tensor:
        run = NullRun()
        config = A3cConfig(env="CartPole-v1", num_actors=1, total_steps=200, centered_inputs=centered)
        a3c.train(config, run)
        return torch.cat([run.saved[-1].tensors[name].flatten() for name in sorted(run.saved[-1].tensors)])

    centered = weights(centered=True)
    assert torch.equal(centered, weights(centered=True))
    assert not torch.equal(centered, weights(centered=False))


@pytest.mark.parametrize("optimizer", ["shared_rmsprop", "rmsprop", "momentum_sgd"])
def test_the_next_update_after_a_checkpoint_is_the_same(optimizer: str) -> None:
    fields: dict[str, Any] = {"lstm_units": 3, "optimizer": optimizer}
    config = setting("", Discrete(2), **fields).config.model_copy(update={"total_steps": 300})
    first = NullRun(stop_at_step=100)
    a3c.train(config, first)
    saved = first.saved[-1]
    second = NullRun(restored=saved, stop_at_step=saved.step, step=saved.step)
    a3c.train(config, second)  # stopped at once: saves the restored state

    def after_one_more_update(state: TrainingState) -> Tensor:
        made = setting("." * 20, Discrete(2), restored=state, **fields)
        assert made.shared.T - saved.step == 0
        update(made, made.actor.rollout())
        return made.shared.values

    assert torch.equal(after_one_more_update(saved), after_one_more_update(second.saved[-1]))
    assert saved.tensors["optimizer.statistics"].unique().numel() > 1


def test_steps_count_decisions_and_frames_count_emulator_frames() -> None:
    run = NullRun()
    a3c.train(A3cConfig(env="ALE/Pong-v5", num_actors=2, total_steps=20), run)
    assert 20 <= run.step < 20 + 2 * 5
    assert run.frames == 4 * run.step
    assert run.updates * 5 == run.step
