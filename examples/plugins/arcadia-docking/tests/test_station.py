"""The package is usable, its environment keeps gymnasium's rules, and its preset learns."""

import importlib
import warnings

import gymnasium
import pytest
from arcadia.plugins import PLUGINS, PRESETS, load
from gymnasium.utils.env_checker import check_env

load(["arcadia-docking"])


def test_the_package_is_usable() -> None:
    assert PLUGINS["arcadia-docking"].problem is None


def test_the_environment_keeps_the_rules() -> None:
    importlib.import_module("arcadia_docking.station")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(gymnasium.make("Docking/Station-v0", render_mode="rgb_array").unwrapped)


def test_the_preset_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    from arcadia.plugins.training import TRAINERS, NullRun

    # Processes of the run load the packages in this setting.
    monkeypatch.setenv("ARCADIA_PLUGINS", "arcadia-docking")
    run = NullRun()
    TRAINERS["a3c"].train(PRESETS["docking-a3c"].config.model_copy(), run)
    returns = [episode_return for _, _, episode_return, _ in run.episodes[-100:]]
    assert sum(returns) / len(returns) > 1.2
