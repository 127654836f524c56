"""The package is usable, its environment keeps gymnasium's rules, and its preset learns."""

import importlib
import warnings

import gymnasium
from arcadia.plugins import PLUGINS, PRESETS, load
from gymnasium.utils.env_checker import check_env

load(["arcadia-warehouse"])


def test_the_package_is_usable() -> None:
    assert PLUGINS["arcadia-warehouse"].problem is None


def test_the_environment_keeps_the_rules() -> None:
    importlib.import_module("arcadia_warehouse.deliver")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(gymnasium.make("Warehouse/Deliver-v0", render_mode="rgb_array").unwrapped)


def test_the_preset_learns() -> None:
    from arcadia.plugins.training import TRAINERS, NullRun

    run = NullRun()
    TRAINERS["paac"].train(PRESETS["warehouse-paac"].config.model_copy(), run)
    returns = [episode_return for _, _, episode_return, _ in run.episodes[-100:]]
    assert sum(returns) / len(returns) > 1.4
