"""Tests that every preset can be launched, cites its sources and makes its first updates."""

import pytest

from arcadia_workers.contract.config import CONFIGURATIONS, config_adapter
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.run import NullRun

# Small values that are enough to test the rest of the preset.
SMALL = {
    "num_actors": 1,
    "num_agents": 2,
    "num_predictors": 1,
    "num_trainers": 1,
    "num_envs": 2,
    "checkpoint_seconds": 60,
}
# More than 80, the longest rollout of a preset.
STEPS = 100
# trainer/methods/gorila/test_gorila.py tests the presets of Gorila without starting Ray for each.
TRIED_HERE = [name for name, preset in PRESETS.items() if preset.config.algorithm != "gorila"]
# Opening emulators takes most of the time, so the required tests use one Atari preset per network and method.
REQUIRED_OF_ATARI = {"paac-pong", "a3c-lstm-pong", "n-step-q-pong", "paac-paper-nature", "ga3c-paper", "one-step-q"}


def is_required(name: str) -> bool:
    """Return True if the required tests include a preset."""
    return name in REQUIRED_OF_ATARI or not PRESETS[name].config.env.startswith("ALE/")


@pytest.mark.required_cases(4)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if is_required(name) else [pytest.mark.nightly]) for name in TRIED_HERE],
)
def test_a_preset_makes_its_first_updates(name: str) -> None:
    preset = PRESETS[name].config
    config = preset.model_copy(
        update={field: value for field, value in SMALL.items() if field in type(preset).model_fields}
    )
    run = NullRun(stop_at_step=STEPS)
    TRAINERS[config.algorithm].train(config, run)
    assert run.step >= STEPS
    assert run.updates > 0
    assert run.saved[-1].step == run.step


def test_presets_have_their_names_and_sources() -> None:
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert preset.source
        assert config_adapter.validate_python(preset.config.model_dump(mode="json")) == preset.config


def test_every_method_has_a_preset() -> None:
    assert CONFIGURATIONS.keys() == {preset.config.algorithm for preset in PRESETS.values()}
