"""Tests of one-step Q, one-step Sarsa and n-step Q against literal pseudocode, and of their learning."""

import copy
from collections import deque
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from torch import Tensor, nn

from arcadia_workers.contract.action_names import Discrete
from arcadia_workers.contract.config import NStepQConfig, OneStepQConfig, OneStepSarsaConfig
from arcadia_workers.trainer.host.processes import ActorFailed, Link
from arcadia_workers.trainer.learning.optimizers import FlatParameters
from arcadia_workers.trainer.learning.policies import FinalEpsilons
from arcadia_workers.trainer.methods.asynchronous import async_q, shared_state
from arcadia_workers.trainer.methods.asynchronous.shared_state import Participant, SharedState
from arcadia_workers.trainer.networks import networks
from arcadia_workers.trainer.networks.networks import ActionValues
from arcadia_workers.trainer.run.run import NullRun, TrainingState
from tests.processes import command_line
from tests.workers.trainer.made_sequence import ACTIONS, READINGS, MadeSequence

Config = OneStepQConfig | OneStepSarsaConfig | NStepQConfig

STEPS = 60
ENDS = {7: "terminal", 13: "truncated", 17: "life", 20: "terminal", 29: "truncated", 41: "terminal", 42: "terminal"}
SETTINGS: dict[str, Any] = {
    "env": "Arcadia/Catch-v0",
    "num_actors": 1,
    "total_steps": STEPS,
    "t_max": 5,
    "gamma": 0.9,
    "learning_rate": 0.05,
    "rmsprop_epsilon": 0.01,
    "max_grad_norm": 2.0,
    "target_update_frames": 20,
    "hidden_units": 8,
    "epsilon_anneal_frames": 0,
    "final_epsilon_probabilities": (1.0,),
}
CATCH: dict[str, Any] = {
    "env": "Arcadia/Catch-v0",
    "num_actors": 2,
    "total_steps": 30_000,
    "learning_rate": 0.01,
    "rmsprop_epsilon": 0.001,
    "target_update_frames": 100,
    "epsilon_anneal_frames": 20_000,
    "final_epsilons": (0.02,),
    "final_epsilon_probabilities": (1.0,),
}
GREEDY, RANDOM = (0.0,), (1.0,)


class Alone(Link):
    """The link of an actor-learner in this process, without a main process."""

    def __init__(self) -> None:
        self.number = 0
        self.stopping = False
        self.received = deque()

    def send(self, message: object) -> None:
        pass


class LiteralLearner:
    """θ, θ⁻, dθ and equation 1 in plain torch."""

    def __init__(self, config: Config, network: ActionValues) -> None:
        self.config, self.network, self.target = config, network, copy.deepcopy(network)
        self.g = [torch.ones_like(p) for p in network.parameters()]
        self.d_theta = [torch.zeros_like(p) for p in network.parameters()]
        self.states: list[np.ndarray] = []
        # Running mean of each hidden layer's inputs, by the position of the layer's weight among the parameters.
        self.means: dict[int, Tensor] = {}

    def q(self, network: nn.Module, state: np.ndarray) -> Tensor:
        values: Tensor = network(torch.from_numpy(state))[0]
        return values.detach() if network is self.target else values

    def greedy(self, state: np.ndarray) -> int:
        return int(self.q(self.network, state).argmax())

    def accumulate(self, state: np.ndarray, action: int, y: float) -> None:
        loss = (y - self.q(self.network, state)[action]) ** 2
        for d, gradient in zip(self.d_theta, torch.autograd.grad(loss, list(self.network.parameters())), strict=True):
            d += gradient
        self.states.append(state)

    def centered(self) -> list[tuple[int, Tensor]]:
        """Update the running means over 200 states with those of the rollout. Return them."""
        places = {id(parameter): place for place, parameter in enumerate(self.network.parameters())}
        x = torch.from_numpy(np.concatenate(self.states))
        for layer in self.network.body.layers if self.config.centered_inputs else ():
            if isinstance(layer, nn.Linear):
                place, mean = places[id(layer.weight)], x.mean(0)
                share = len(self.states) / 200
                self.means[place] = (1 - share) * self.means.get(place, mean) + share * mean
            x = layer(x)
        return [*self.means.items()]

    @torch.no_grad()
    def update(self, T: int) -> None:  # noqa: N803, the paper's letter
        config, centered, parameters = self.config, self.centered(), list(self.network.parameters())
        for place, mean in centered:
            self.d_theta[place] -= torch.outer(self.d_theta[place + 1], mean)
        before = [parameters[place] @ mean for place, mean in centered]
        norm = sum(float((d**2).sum()) for d in self.d_theta) ** 0.5
        eta = config.learning_rate * (1 - min(T, config.total_steps) / config.total_steps)
        for p, g, d in zip(self.network.parameters(), self.g, self.d_theta, strict=True):
            clipped = d * min(1.0, config.max_grad_norm / norm)
            g.copy_(config.rmsprop_decay * g + (1 - config.rmsprop_decay) * clipped**2)
            p.sub_(eta * clipped / torch.sqrt(g + config.rmsprop_epsilon))
            d.zero_()
        for (place, mean), common in zip(centered, before, strict=True):
            parameters[place + 1].add_(common - parameters[place] @ mean)
        self.states.clear()

    def update_target(self) -> None:
        self.target = copy.deepcopy(self.network)


def literal_algorithm_1(learner: LiteralLearner, world: MadeSequence, actions: list[int] | None, sarsa: bool) -> None:
    """Follow the paper line by line. Act greedily if no actions are given. Sarsa decides one action ahead."""
    config, T, t = learner.config, 0, 0  # noqa: N806
    s = world.observation
    decided: int | None = None
    while T < config.total_steps:  # noqa: SIM300
        a = decided if decided is not None else actions[t] if actions else learner.greedy(s)
        outcome = world.step(np.array([a]))
        s2, r = world.observation, outcome.reward
        y = r
        if sarsa:
            decided = actions[t + 1] if actions else learner.greedy(s2)
        if not outcome.terminal:
            following = learner.q(learner.target, s2)
            y = r + config.gamma * float(following.max() if decided is None else following[decided])
        learner.accumulate(s, a, y)
        s = s2
        T, t = T + 1, t + 1  # noqa: N806
        if T % config.target_update_frames == 0:
            learner.update_target()
        if t % config.t_max == 0 or outcome.terminal or outcome.over:
            learner.update(T)
        if outcome.over:
            world.begin_again()
            s, decided = world.observation, None


def literal_algorithm_s1(learner: LiteralLearner, world: MadeSequence) -> None:
    """Follow the paper line by line with greedy actions."""
    config, T, t, targets = learner.config, 0, 1, 0  # noqa: N806
    while T < config.total_steps:  # noqa: SIM300
        t_start, steps, outcome = t, [], None
        while not (outcome and (outcome.terminal or outcome.over)) and t - t_start != config.t_max:
            s = world.observation
            a = learner.greedy(s)
            outcome = world.step(np.array([a]))
            steps.append((s, a, outcome.reward))
            T, t = T + 1, t + 1  # noqa: N806
        assert outcome
        R = 0.0 if outcome.terminal else learner.q(learner.target, world.observation).max().item()  # noqa: N806
        for s, a, r in reversed(steps):
            R = r + config.gamma * R  # noqa: N806
            learner.accumulate(s, a, R)
        learner.update(T)
        if T // config.target_update_frames > targets:
            learner.update_target()
            targets = T // config.target_update_frames
        if outcome.over:
            world.begin_again()


def made_shared(config: Config) -> tuple[SharedState, ActionValues]:
    """Return a shared state with initial weights, and a network with the same weights."""
    torch.manual_seed(3)
    network = networks.build_action_values(config, (READINGS,), Discrete(ACTIONS))
    twin = copy.deepcopy(network)
    parameters = FlatParameters(network)
    others = {"target.values": parameters.values, "target.since": torch.zeros(1, dtype=torch.int64)}
    return shared_state.lay_out(config, None, parameters, async_q.MEASURES, others), twin


def learned(config: Config, world: MadeSequence, monkeypatch: pytest.MonkeyPatch) -> tuple[Tensor, Tensor, Tensor]:
    """Run one actor-learner on the sequence. Return θ before, θ after, and θ⁻ after."""
    monkeypatch.setattr(async_q, "OwnEnvironment", lambda *_: world)
    shared, _ = made_shared(config)
    before = shared.values.clone()
    actor_learner: Any = async_q.n_step if config.algorithm == "n_step_q" else async_q.one_step
    actor_learner(Alone(), config, shared)
    return before, shared.values, shared.others["target.values"]


def flat(network: nn.Module) -> Tensor:
    return torch.cat([p.detach().reshape(-1) for p in network.parameters()])


def without_limits(ends: dict[int, str]) -> dict[int, str]:
    """Remove time limits. At a time limit, Sarsa chooses an action that is never taken."""
    return {step: end for step, end in ends.items() if end != "truncated"}


@pytest.mark.parametrize(
    ("config", "ends"),
    [
        (OneStepQConfig(**SETTINGS, final_epsilons=GREEDY), ENDS),
        (OneStepQConfig(**SETTINGS, final_epsilons=RANDOM), ENDS),
        (OneStepSarsaConfig(**SETTINGS, final_epsilons=GREEDY), ENDS),
        (OneStepSarsaConfig(**SETTINGS, final_epsilons=RANDOM), without_limits(ENDS)),
    ],
    ids=["Q greedy", "Q random", "Sarsa greedy", "Sarsa random"],
)
def test_one_step_methods_learn_what_a_literal_transcription_of_algorithm_1_learns(
    config: OneStepQConfig | OneStepSarsaConfig, ends: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = MadeSequence(ends)
    before, theta, theta_minus = learned(config, world, monkeypatch)

    literal = LiteralLearner(config, made_shared(config)[1])
    given = None if config.final_epsilons == GREEDY else [*world.taken, 0]
    again = MadeSequence(ends)
    literal_algorithm_1(literal, again, given, sarsa=config.algorithm == "one_step_sarsa")

    assert world.taken == again.taken
    assert (theta - before).norm() > 0.1
    torch.testing.assert_close(theta, flat(literal.network), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(theta_minus, flat(literal.target), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("centered", [False, True], ids=["as in the paper", "centered inputs"])
def test_n_step_q_learns_what_a_literal_transcription_of_algorithm_s1_learns(
    centered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = NStepQConfig(**SETTINGS, final_epsilons=GREEDY, centered_inputs=centered)
    world, again = MadeSequence(ENDS), MadeSequence(ENDS)
    before, theta, theta_minus = learned(config, world, monkeypatch)

    literal = LiteralLearner(config, made_shared(config)[1])
    literal_algorithm_s1(literal, again)

    assert world.taken == again.taken
    assert (theta - before).norm() > 0.1
    torch.testing.assert_close(theta, flat(literal.network), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(theta_minus, flat(literal.target), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("number", [0, 1])
def test_any_actor_learner_that_passes_the_interval_updates_the_shared_target_network(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = NStepQConfig(**{**SETTINGS, "num_actors": 2, "final_epsilons": GREEDY})
    shared, network = made_shared(config)
    idle = async_q.SharedTarget(copy.deepcopy(network), shared, config.target_update_frames)
    monkeypatch.setattr(async_q, "OwnEnvironment", lambda *_: MadeSequence({}))
    link = Alone()
    link.number = number

    async_q.n_step(link, config, shared)  # the other actor-learner has not started
    idle.update_if_due(shared.T)

    assert shared.others["target.since"].item() == STEPS
    assert not torch.equal(flat(idle.network), flat(network))
    assert torch.equal(flat(idle.network), shared.others["target.values"])


def test_a_target_network_updated_during_a_copy_is_copied_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, network = made_shared(NStepQConfig(**SETTINGS, final_epsilons=GREEDY))

    class Overtaken(FlatParameters):
        def __init__(self, module: nn.Module, values: Tensor) -> None:
            super().__init__(module, values)
            values.add_(1.0)
            shared.others["target.since"][0] = 40

    monkeypatch.setattr(async_q, "FlatParameters", Overtaken)
    target = async_q.SharedTarget(network, shared, update_frames=1_000)
    target.update_if_due(frames=50)
    assert torch.equal(flat(network), shared.others["target.values"])


def test_the_next_updates_after_a_checkpoint_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**SETTINGS, "learning_rate_decay": "none", "final_epsilons": GREEDY}
    config = NStepQConfig.model_validate(settings)
    _, uninterrupted, uninterrupted_target = learned(config, MadeSequence({}), monkeypatch)

    world = MadeSequence({})
    monkeypatch.setattr(async_q, "OwnEnvironment", lambda *_: world)
    first, network = made_shared(config)
    parameters = FlatParameters(network, first.values)
    async_q.n_step(Alone(), config.model_copy(update={"total_steps": 25}), first)
    tensors = {f"network.{name}": values.clone() for name, values in parameters.named().items()}
    tensors |= {"optimizer.statistics": first.statistics.clone()}
    tensors |= {name: tensor.clone() for name, tensor in first.others.items()}
    fresh = networks.build_action_values(config, (READINGS,), Discrete(ACTIONS))
    others = {name: torch.zeros_like(tensor) for name, tensor in first.others.items()}
    saved = TrainingState(first.T, first.T, tensors)
    second = shared_state.lay_out(config, saved, FlatParameters(fresh), async_q.MEASURES, others)
    async_q.n_step(Alone(), config, second)

    assert second.T == STEPS
    assert torch.equal(second.values, uninterrupted)
    assert torch.equal(second.others["target.values"], uninterrupted_target)


def test_a_run_that_stops_saves_the_restored_state_and_all_shared_tensors() -> None:
    config = OneStepQConfig(**{**CATCH, "target_update_frames": 90, "total_steps": 1_000_000})
    first = NullRun(stop_at_step=300)
    async_q.train(config, first)
    saved = first.saved[-1]
    second = NullRun(restored=saved, stop_at_step=saved.step, step=saved.step)

    async_q.train(config, second)  # stopped at once

    names = set(networks.build_action_values(config, (READINGS,), Discrete(ACTIONS)).state_dict())
    assert saved.tensors.keys() == {f"network.{name}" for name in names} | {
        "optimizer.statistics",
        "target.values",
        "target.since",
    }
    assert 90 <= saved.tensors["target.since"].item() <= saved.step
    for name, tensor in saved.tensors.items():
        assert torch.equal(second.saved[-1].tensors[name], tensor), name


def test_every_actor_learner_anneals_toward_a_separate_epsilon() -> None:
    settings = {**SETTINGS, "env": "ALE/Pong-v5", "network": "auto", "num_actors": 3, "epsilon_anneal_frames": 1000}
    settings |= {"final_epsilons": (0.1, 0.5), "final_epsilon_probabilities": (0.5, 0.5), "epsilon_draw_frames": 2000}
    config = OneStepQConfig.model_validate(settings)
    final, later = FinalEpsilons(config, 3).at(0), FinalEpsilons(config, 3).at(2000)
    assert len(set(final)) == 2
    assert later.tolist() != final.tolist()
    network = made_shared(OneStepQConfig(**SETTINGS, final_epsilons=GREEDY))[1]
    shared = SharedState(
        values=torch.zeros(1),
        statistics=torch.zeros(1, 1),
        steps=torch.zeros(3, dtype=torch.int64),
        learned=torch.zeros(3, dtype=torch.int64),
        measures=async_q.MEASURES,
        sums=torch.zeros(3, 6),
    )

    for number in range(3):
        link = Alone()
        link.number = number
        actor = async_q.EpsilonGreedyActor(link, config, Participant(link, config, shared), MadeSequence({}), network)
        shared.steps[1] = 125  # half of the frames, with four frames per step
        actor.act(steps=0)
        assert actor.epsilon == pytest.approx((1 + final[number]) / 2)
        shared.steps[1] = 500
        actor.act(steps=0)
        assert actor.epsilon == later[number]


def test_a_killed_actor_learner_ends_the_run() -> None:
    class Killer(NullRun):
        killed = False

        def advance(self, step: int, frames: int, updates: int = 1) -> None:
            super().advance(step, frames, updates)
            if step > 0 and not self.killed:  # later, the others are also ending
                self.killed = True
                forked = [
                    child for child in psutil.Process().children(recursive=True) if "forkserver" in command_line(child)
                ]
                actor_learners = [child for child in forked if not child.children()]
                max(actor_learners, key=lambda child: child.cpu_times().user).kill()

    with pytest.raises(ActorFailed, match=r"n_step \d was killed by signal 9"):
        async_q.train(NStepQConfig(**{**CATCH, "total_steps": 1_000_000}), Killer())


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(OneStepQConfig, marks=pytest.mark.nightly),
        pytest.param(OneStepSarsaConfig, marks=pytest.mark.nightly),
        pytest.param(NStepQConfig, marks=pytest.mark.nightly),
    ],
)
def test_each_method_learns_catch(
    method: type[OneStepQConfig] | type[OneStepSarsaConfig] | type[NStepQConfig],
) -> None:
    run = NullRun()
    async_q.train(method(**{**CATCH, "total_steps": 40_000}), run)
    returns = [episode_return for _, _, episode_return, _ in run.episodes]
    # Without locks, an agent may get worse temporarily, possibly at the end of the run.
    assert np.convolve(returns, np.ones(300) / 300, mode="valid").max() >= 0.7
