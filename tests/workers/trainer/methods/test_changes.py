"""Tests that every method applies changes of its configuration between two updates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isclose, nan

import pytest

from arcadia_workers.contract.config import (
    CONFIGURATIONS,
    A3cConfig,
    Ga3cConfig,
    GorilaConfig,
    OneStepQConfig,
    PaacConfig,
    TrainingConfig,
)
from arcadia_workers.contract.events import RequestedChange
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.run import NullRun

BEFORE, AFTER = 0.001, 0.0003
# The fastest first.
EVERY = [PaacConfig, *(kind for kind in CONFIGURATIONS.values() if kind not in (PaacConfig, GorilaConfig))]
# It starts Ray.
GORILA = [
    pytest.param(GorilaConfig, id="gorila-bundled"),
    pytest.param(GorilaConfig, id="gorila-free", marks=pytest.mark.nightly),
]


@dataclass
class ChangedRun(NullRun):
    """A run that requests a change once it sees the first rate, and ends once it sees the changed one."""

    rates: list[float] = field(default_factory=list)

    def metrics(self, values: Mapping[str, float]) -> None:
        super().metrics(values)
        if "train/learning_rate" not in values:
            return
        if not self.rates:
            self.changes.append(RequestedChange(number=1, fields={"learning_rate": AFTER}))
        self.rates.append(values["train/learning_rate"])

    def should_stop(self) -> bool:
        return bool(self.rates) and isclose(self.rates[-1], AFTER, rel_tol=1e-6)


def small(kind: type[TrainingConfig], **fields: object) -> TrainingConfig:
    few: dict[str, object] = {
        "num_actors": 2,
        "num_learners": 2,
        "num_agents": 2,
        "replay_frames": 5_000,
        "learning_starts": 100,
        "dynamic_adjustment": False,
    }
    few = {name: value for name, value in few.items() if name in kind.model_fields}
    steady = {"learning_rate": BEFORE, "learning_rate_decay": "none"}
    return kind.model_validate({"env": "CartPole-v1", "total_steps": 10_000_000, **few, **steady, **fields})


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("kind", [*EVERY, *GORILA])
def test_updates_use_a_changed_learning_rate(kind: type[TrainingConfig], request: pytest.FixtureRequest) -> None:
    mode = {"mode": "free"} if "free" in request.node.callspec.id else {}
    config, run = small(kind, **mode), ChangedRun()
    TRAINERS[config.algorithm].train(config, run)
    assert run.rates[0] == pytest.approx(BEFORE)
    # A report covers several updates of several processes, so one report may mix both rates.
    assert all(AFTER * 0.999 <= rate <= BEFORE * 1.001 for rate in run.rates)


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("kind", [PaacConfig, A3cConfig, Ga3cConfig, OneStepQConfig])
def test_training_ends_at_changed_total_steps(kind: type[TrainingConfig]) -> None:
    config = small(kind, total_steps=3_000)
    run = NullRun(changes=[RequestedChange(number=1, fields={"total_steps": 6_000})])
    TRAINERS[config.algorithm].train(config, run)
    assert 6_000 <= run.saved[-1].step < 7_500


class ChangedAtTheEnd(NullRun):
    """A run that raises the total steps once the actor-learners have reached them."""

    def advance(self, step: int, frames: int, updates: int = 1) -> None:
        super().advance(step, frames, updates)
        if 2_000 <= step < 2_500 and not self.changes:
            self.changes.append(RequestedChange(number=1, fields={"total_steps": 4_000}))


@pytest.mark.nightly
def test_actor_learners_start_again_if_the_total_is_raised_after_they_have_reached_it() -> None:
    config, run = small(A3cConfig, total_steps=2_000), ChangedAtTheEnd()
    TRAINERS[config.algorithm].train(config, run)
    assert run.saved[-1].step >= 4_000


@pytest.mark.required_cases(2)
@pytest.mark.parametrize("field_name", ["entropy_cost", "value_cost", "max_grad_norm"])
@pytest.mark.parametrize("kind", [PaacConfig, A3cConfig, Ga3cConfig])
def test_updates_use_the_value_of_a_changed_field(kind: type[TrainingConfig], field_name: str) -> None:
    """Change the field to a value that makes every weight NaN. Validation would refuse it."""
    config, value = small(kind, total_steps=3_000), -inf if field_name == "max_grad_norm" else nan
    run = NullRun(changes=[RequestedChange(number=1, fields={field_name: value})])
    TRAINERS[config.algorithm].train(config, run)
    assert run.saved[-1].has_diverged


def test_a_change_of_a_field_that_training_does_not_use_changes_no_weight() -> None:
    config = small(PaacConfig, total_steps=2_000)
    runs = [NullRun(), NullRun(changes=[RequestedChange(number=1, fields={"checkpoint_seconds": 9.0}, step=500)])]
    for run in runs:
        TRAINERS["paac"].train(config.model_copy(), run)
    first, second = (run.saved[-1].tensors for run in runs)
    assert all(first[name].equal(second[name]) for name in first)
