"""PPO learns small worlds, repeats, resumes, and takes changes of its settings."""

from dataclasses import dataclass, field
from math import inf, nan
from typing import Any

import numpy as np
import pytest
import torch

from arcadia_workers.contract.action_names import Continuous, Discrete
from arcadia_workers.contract.config import PpoConfig
from arcadia_workers.contract.events import RequestedChange
from arcadia_workers.trainer.host.memory import row_size
from arcadia_workers.trainer.learning.policies import policy_over
from arcadia_workers.trainer.methods.ppo import PPO, network, ppo
from arcadia_workers.trainer.methods.ppo.ppo import EpochSettings, Learner, Shuffle
from arcadia_workers.trainer.networks.agents import BatchTape
from arcadia_workers.trainer.networks.bodies import ReadingsFilter
from arcadia_workers.trainer.run.run import NullRun, TrainingState, snapshot

CPU = torch.device("cpu")


@dataclass
class UntilLearned(NullRun):
    """Run that ends when the mean return of 100 episodes reaches the goal."""

    goal: float = 0.0
    has_learned: bool = False

    def should_stop(self) -> bool:
        last = [episode_return for _, _, episode_return, _ in self.episodes[-100:]]
        self.has_learned = self.has_learned or (len(last) == 100 and float(np.mean(last)) >= self.goal)
        return self.has_learned or super().should_stop()


SMALL: dict[str, Any] = {
    "num_envs": 16,
    "t_max": 16,
    "minibatch_size": 64,
    "num_epochs": 4,
    "learning_rate": 0.001,
    "clip_range": 0.2,
    "value_cost": 0.5,
    "clip_rewards": False,
    "total_steps": 100_000,
}
WORLDS: dict[str, tuple[float, dict[str, Any]]] = {
    "Arcadia/Identity-v0": (9.0, {"gamma": 0.5}),
    "Arcadia/Catch-v0": (0.9, {}),
    "Arcadia/Recall-v0": (0.9, {"lstm_units": 16, "hidden_units": 16}),
    # The return is −3 to −6 at first.
    "Arcadia/Target-v0": (-0.3, {"gamma": 0.5, "entropy_cost": 0.0, "normalize_observations": True}),
}


@pytest.mark.parametrize("env", WORLDS)
def test_it_learns_small_worlds_within_seconds(env: str) -> None:
    goal, fields = WORLDS[env]
    run = UntilLearned(goal=goal)
    ppo.train(PpoConfig(**SMALL | fields, env=env), run)
    assert run.has_learned


def test_without_memory_it_cannot_learn_recall() -> None:
    run = UntilLearned(goal=0.9)
    ppo.train(PpoConfig(**SMALL | {"total_steps": 20_000}, env="Arcadia/Recall-v0"), run)
    assert not run.has_learned


def test_with_memory_it_learns_continuous_actions_with_a_shared_network() -> None:
    run = UntilLearned(goal=-0.6)
    fields = {"gamma": 0.5, "entropy_cost": 0.0, "lstm_units": 16, "value_network": "shared"}
    ppo.train(PpoConfig(**SMALL | fields, env="Arcadia/Target-v0"), run)
    assert run.has_learned


def small(**fields: Any) -> PpoConfig:
    """Return the settings of a short run on CartPole."""
    few = {"env": "CartPole-v1", "num_envs": 4, "t_max": 16, "minibatch_size": 16, "total_steps": 1_000}
    return PpoConfig(**few | fields)


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(small(), id="vector"),
        pytest.param(small(lstm_units=4), id="memory"),
        pytest.param(small(env="Arcadia/Target-v0", normalize_observations=True), id="continuous"),
        pytest.param(
            small(env="ALE/Pong-v5", num_workers=2, total_steps=200, precision="float32", centered_inputs=True),
            id="pixels",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            small(env="ALE/Pong-v5", num_workers=2, total_steps=200, precision="float32", lstm_units=8),
            id="pixels and memory",
        ),
    ],
)
def test_a_seeded_run_repeats_exactly_and_another_seed_does_not(config: PpoConfig) -> None:
    def weights(seed: int) -> bytes:
        run = NullRun()
        ppo.train(config.model_copy(update={"seed": seed}), run)
        assert run.step >= config.total_steps
        return b"".join(tensor.numpy().tobytes() for tensor in run.saved[-1].tensors.values())

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)


@pytest.mark.parametrize("fields", [{}, {"env": "Arcadia/Target-v0", "normalize_observations": True}])
def test_a_restored_run_has_the_same_network_statistics_and_random_numbers(fields: dict[str, Any]) -> None:
    config, first = small(**fields), NullRun(stop_at_step=500)
    ppo.train(config, first)
    saved = first.saved[-1]
    second = NullRun(restored=saved, stop_at_step=saved.step, step=saved.step)

    ppo.train(config, second)  # it stops immediately, so it saves the restored state

    assert second.saved[-1].step == saved.step
    assert second.saved[-1].tensors.keys() == saved.tensors.keys()
    for name, tensor in saved.tensors.items():
        assert torch.equal(second.saved[-1].tensors[name], tensor), name


@pytest.mark.parametrize("lstm_units", [0, 4])
def test_updates_after_a_restored_checkpoint_equal_those_of_an_uninterrupted_run(lstm_units: int) -> None:
    config = small(lstm_units=lstm_units)
    random = torch.Generator().manual_seed(1)

    def made() -> tuple[Learner, Shuffle]:
        agent = network.build(config, (4,), Discrete(2))
        tape = BatchTape(agent, config.minibatch_rows)
        return Learner(config, agent, tape, policy_over(Discrete(2), random)), Shuffle(config, seed=1)

    def learn(learner: Learner, shuffle: Shuffle, number: int) -> None:
        settings = EpochSettings(0.01, 0.2, 0.1, 0.5, 0.01, 0.5, normalize_advantages=True)
        for rows in shuffle.minibatches(rollouts[number].decided):
            learner.update(rollouts[number], rows, settings)

    rollouts = [made_rollout(config, random) for _ in range(2)]
    uninterrupted, first_shuffle = made()
    learn(uninterrupted, first_shuffle, 0)
    saved = snapshot(TrainingState(0, 0, uninterrupted.updater.state()))
    order = first_shuffle.random.get_state()
    learn(uninterrupted, first_shuffle, 1)
    resumed, second_shuffle = made()
    resumed.updater.restore(saved)
    second_shuffle.random.set_state(order)
    learn(resumed, second_shuffle, 1)

    expected = uninterrupted.updater.state()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in resumed.updater.state().items())
    assert not torch.equal(expected["network.policy.weight"], saved.tensors["network.policy.weight"])


def made_rollout(config: PpoConfig, random: torch.Generator) -> ppo.Experience:
    """Make the steps of a rollout with random numbers."""
    rows, units = config.num_envs * config.t_max, config.lstm_units
    numbers = torch.randn(4, rows, generator=random)
    cells = torch.randn(2, config.num_envs, units, generator=random)
    return ppo.Experience(
        states=torch.randn(rows, 4, generator=random),
        actions=torch.randint(2, (rows,), generator=random),
        log_probabilities=-numbers[0].abs(),
        values=numbers[1],
        advantages=numbers[2],
        targets=numbers[3],
        decided=torch.rand(rows, generator=random) < 0.9,
        openings=torch.rand(rows, generator=random) < 0.1,
        memory=((cells[0], cells[1]),) if units else (),
    )


def test_a_checkpoint_acts_as_the_run_that_saved_it() -> None:
    config = small(env="Arcadia/Target-v0", normalize_observations=True, lstm_units=4)
    actions = Continuous((-1.0,) * 2, (1.0,) * 2)
    run = NullRun()
    ppo.train(config, run)
    loaded = PPO.load_network(config, (2,), actions, run.saved[-1])
    agent = network.build(config, (2,), actions)
    agent.load_state_dict(run.saved[-1].component("network"))
    readings_filter = agent.trunks[0].filter
    assert isinstance(readings_filter, ReadingsFilter)
    assert readings_filter.count == run.updates // (4 * 3) * (4 * 16)

    seen, memory = torch.randn(3, 2), loaded.initial_memory(3)
    output, after = loaded.predict(seen, memory)
    numbers, values, expected = agent.step(seen, memory)
    torch.testing.assert_close(output.numbers, numbers.detach())
    torch.testing.assert_close(output.values, values.detach())
    torch.testing.assert_close(after, tuple((h.detach(), c.detach()) for h, c in expected))
    assert numbers.shape == (3, 4)


@dataclass
class ChangedRun(NullRun):
    """Run that requests a change after the first report, and ends after the second."""

    fields: dict[str, Any] = field(default_factory=dict)

    def should_stop(self) -> bool:
        if len(self.reported) == 1 and not self.changes:
            self.changes.append(RequestedChange(number=1, fields=self.fields))
        return len(self.reported) >= 3


@pytest.mark.parametrize(
    ("name", "value"),
    [("entropy_cost", nan), ("value_cost", nan), ("max_grad_norm", -inf), ("gae_lambda", nan)],
)
def test_updates_use_a_changed_setting(name: str, value: float) -> None:
    """Invalid values make every weight NaN if the updates use them."""
    run = ChangedRun(fields={name: value})
    ppo.train(small(total_steps=10_000), run)
    assert run.saved[-1].has_diverged


def test_updates_use_a_changed_rate_and_number_of_epochs() -> None:
    run = ChangedRun(fields={"learning_rate": 0.001, "num_epochs": 5})
    ppo.train(small(total_steps=10_000, learning_rate_decay="none", num_epochs=2), run)
    assert [values["train/learning_rate"] for values in run.reported] == [0.00025, 0.00025, 0.001]
    assert run.updates == (2 + 2 + 5) * 4


def test_updates_use_a_changed_clip_range() -> None:
    run = ChangedRun(fields={"clip_range": 10})
    ppo.train(small(total_steps=10_000, learning_rate=0.01), run)
    *before, after = [values["train/clip_fraction"] for values in run.reported]
    assert min(before) > 0
    assert after == 0


def test_a_rollout_without_decisions_changes_nothing() -> None:
    """With `t_max` 1, the step after the end of an episode is a whole rollout."""
    run = NullRun()
    ppo.train(small(env="Arcadia/Catch-v0", num_envs=1, t_max=1, total_steps=30), run)
    assert (run.step, run.updates) == (30, 30 * 3)


def test_training_ends_at_changed_total_steps() -> None:
    run = NullRun(changes=[RequestedChange(number=1, fields={"total_steps": 2_000})])
    ppo.train(small(), run)
    assert 2_000 <= run.saved[-1].step < 2_100


def test_only_an_update_that_changes_the_policy_is_clipped() -> None:
    still, moving = NullRun(), NullRun()
    ppo.train(small(learning_rate=1e-9), still)
    ppo.train(small(learning_rate=0.01, num_epochs=10), moving)
    assert still.reported[0]["train/clip_fraction"] == 0
    assert still.reported[0]["train/kl_divergence"] == pytest.approx(0, abs=1e-6)
    assert moving.reported[0]["train/clip_fraction"] > 0
    assert moving.reported[0]["train/kl_divergence"] > 1e-4


def test_a_rollout_and_a_minibatch_take_the_memory_of_their_tensors() -> None:
    config = PpoConfig(precision="float32")
    rollout, minibatch = (need.size for need in PPO.needs(config, CPU))
    assert rollout == 8 * 128 * 4 * (4 * 84 * 84)
    assert minibatch == 256 * row_size(config, CPU)
    more = PpoConfig(precision="float32", lstm_units=8, num_envs=6)
    assert [need.what for need in PPO.needs(more, CPU)] == ["768 steps of a rollout", "256 steps of a minibatch"]
