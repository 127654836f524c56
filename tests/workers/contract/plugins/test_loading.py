"""Tests that allowed packages are added to the registries of the built-in parts."""

from typing import Any

import pytest
from pydantic import ValidationError

from arcadia_workers.contract.config import CONFIGURATIONS, METHODS, config_adapter
from arcadia_workers.contract.games import ENVIRONMENTS, NETWORKS
from arcadia_workers.contract.plugins.discovery import installed, package_names
from arcadia_workers.contract.plugins.loading import (
    PLUGINS,
    load,
    loaded_versions,
    missing_plugins,
    needed_plugins,
    unload,
)
from arcadia_workers.contract.presets import PRESETS
from arcadia_workers.contract.protocols import PROTOCOLS
from tests.plugin_packages import ENVIRONMENT, METHOD, Site

CORRIDOR = "Maze/Corridor-v0"
TOY: dict[str, Any] = {"algorithm": "toy", "env": CORRIDOR, "value_cost": 2}
PARTS = """
    from arcadia.plugins import EvaluationProtocol, Network, Plugin
    NETWORKS = Plugin(interface=1, provides=[Network("tiny", "one layer of 8 units", "vector", "toys:build")])
    PROTOCOLS = Plugin(
        interface=1, provides=[EvaluationProtocol("short", "Short", "Two episodes.", "Made up.", "plain", episodes=2)]
    )
"""


@pytest.fixture(autouse=True)
def _installed(site: Site) -> None:
    site.install_template("environment", ENVIRONMENT)
    site.install_template("method", METHOD)


def test_installed_packages_are_found_without_an_import() -> None:
    found = installed()
    assert {ENVIRONMENT, METHOD} <= found.keys()
    assert [point.group for point in found[METHOD].entry_points] == ["arcadia.methods", "arcadia.presets"]
    assert METHOD not in PLUGINS


def test_package_names_are_normalized_like_on_package_indexes() -> None:
    assert package_names("Arcadia_Toy, arcadia.maze,,arcadia-toy") == (METHOD, ENVIRONMENT)


def test_a_package_that_became_part_of_arcadia_is_neither_loaded_nor_missing() -> None:
    assert package_names(f"arcadia-ppo,{METHOD},Arcadia_PPO") == (METHOD,)
    assert missing_plugins("arcadia-ppo") is None
    assert needed_plugins({"algorithm": "ppo", "env": "CartPole-v1"}) == []


def test_a_method_and_an_environment_are_added_to_the_registries() -> None:
    load([METHOD, ENVIRONMENT])
    assert loaded_versions() == {METHOD: "0.1.0", ENVIRONMENT: "0.1.0"}
    assert METHODS["toy"].trainer == "arcadia_toy.trainer:TRAINER"
    assert ENVIRONMENTS[CORRIDOR].group == "Maze"
    assert PRESETS["toy-catch"].config.algorithm == "toy"
    config = config_adapter.validate_python(TOY)
    assert type(config) is CONFIGURATIONS["toy"]
    assert needed_plugins(config.model_dump()) == [ENVIRONMENT, METHOD]
    assert needed_plugins(PRESETS["paac-cartpole"].config.model_dump()) == []


def test_the_launch_form_has_the_fields_and_environments_of_plug_ins() -> None:
    before = config_adapter.json_schema()
    load([METHOD, ENVIRONMENT])
    schema = config_adapter.json_schema()
    assert len(schema["oneOf"]) == len(before["oneOf"]) + 1
    fields = schema["$defs"]["ToyConfig"]["properties"]
    assert fields["value_cost"]["essential"]
    assert CORRIDOR in fields["env"]["enum"]
    assert CORRIDOR in schema["$defs"]["PaacConfig"]["properties"]["env"]["enum"]
    unload(METHOD)
    unload(ENVIRONMENT)
    assert config_adapter.json_schema() == before


def test_networks_and_protocols_of_plug_ins_can_be_chosen(site: Site) -> None:
    points = {"arcadia.networks": "toys:NETWORKS", "arcadia.protocols": "toys:PROTOCOLS"}
    site.install("toys", PARTS, points=points)
    load(["toys"])
    assert (NETWORKS["tiny"].reads, PROTOCOLS["short"].episodes) == ("vector", 2)
    chosen = {"algorithm": "paac", "env": "CartPole-v1", "network": "tiny", "evaluation_protocol": "short"}
    assert needed_plugins(config_adapter.validate_python(chosen).model_dump()) == ["toys"]
    fields = config_adapter.json_schema()["$defs"]["PaacConfig"]["properties"]
    assert "tiny: one layer of 8 units." in fields["network"]["description"]
    assert "short" in fields["evaluation_protocol"]["enum"]
    with pytest.raises(ValidationError, match="tiny reads vectors, but ALE/Pong-v5 shows pixels"):
        config_adapter.validate_python({"algorithm": "paac", "env": "ALE/Pong-v5", "network": "tiny"})


def test_a_removed_plug_in_is_named_in_the_error() -> None:
    load([METHOD])
    assert missing_plugins(METHOD) is None
    assert missing_plugins("") is None
    unload(METHOD)
    assert "toy" not in CONFIGURATIONS
    assert missing_plugins(METHOD) == f"the plug-in {METHOD} is not installed or not allowed here"
    assert missing_plugins(f"{ENVIRONMENT},{METHOD}") == (
        f"the plug-ins {ENVIRONMENT} and {METHOD} are not installed or not allowed here"
    )
