"""Tests that every method reports the condition of its network."""

from collections.abc import Mapping

import pytest

from arcadia_workers.contract.config import CONFIGURATIONS, A3cConfig, Ga3cConfig, PaacConfig, TrainingConfig
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.run import NullRun

SPREAD, DEAD = "network/value_spread", "network/dead_hidden_1"
# The others are tested at night. Gorila starts Ray.
OFTEN = [PaacConfig, A3cConfig, Ga3cConfig]
SELDOM = [pytest.param(kind, marks=pytest.mark.nightly) for kind in CONFIGURATIONS.values() if kind not in OFTEN]


class UntilMeasured(NullRun):
    """A run that ends once the network has been measured."""

    measured: Mapping[str, float] = {}

    def metrics(self, values: Mapping[str, float]) -> None:
        super().metrics(values)
        if SPREAD in values:
            self.measured = values

    def should_stop(self) -> bool:
        return bool(self.measured)


@pytest.mark.required_cases(1)
@pytest.mark.parametrize("kind", [*OFTEN, *SELDOM], ids=lambda kind: kind.__name__)
def test_a_method_reports_dead_units_and_the_spread_of_values(kind: type[TrainingConfig]) -> None:
    few = {"num_actors": 1, "num_learners": 1, "num_agents": 2, "replay_frames": 5_000, "learning_starts": 100}
    few = {name: value for name, value in few.items() if name in kind.model_fields}
    config = kind.model_validate({"env": "CartPole-v1", "activation": "relu", "total_steps": 200_000, **few})
    run = UntilMeasured()
    TRAINERS[config.algorithm].train(config, run)
    assert run.measured[SPREAD] > 0
    assert 0 <= run.measured[DEAD] < 1
