"""Tests of the settings that may fix a fault."""

from typing import Any

import pytest

from arcadia_backend import configuration
from arcadia_backend.diagnosis import suggest
from arcadia_backend.marks.rules import RULES
from arcadia_backend.marks.signals import RuleName
from arcadia_workers.contract.presets import PRESETS

DIAGNOSED = [rule.info.name for rule in RULES if rule.info.cause]


def suggested(rule: RuleName, preset: str, **changes: Any) -> dict[str, Any]:
    """Return the settings suggested for a changed preset."""
    return suggest(rule, configuration.from_preset(preset, changes))


@pytest.mark.parametrize("rule", DIAGNOSED)
def test_every_suggestion_is_a_valid_change_of_the_method(rule: RuleName) -> None:
    for preset in PRESETS.values():
        document = configuration.to_document(preset.config)
        changes = suggest(rule, preset.config)
        assert changes.keys() <= document.keys()
        assert all(document[field] != value for field, value in changes.items())
        changed = configuration.to_document(configuration.override(document, changes))
        assert {field: changed[field] for field in changes} == changes


@pytest.mark.parametrize("rule", ["entropy_collapsed", "return_collapsed", "return_stalled", "not_a_number"])
def test_an_absurd_learning_rate_is_replaced_by_that_of_the_preset(rule: RuleName) -> None:
    assert suggested(rule, "paac-cartpole", learning_rate=10) == {"learning_rate": 0.003}


def test_a_usual_learning_rate_becomes_smaller() -> None:
    assert suggested("return_collapsed", "paac-cartpole") == {"learning_rate": 0.001}


def test_a_tiny_learning_rate_becomes_larger_if_nothing_is_learned() -> None:
    assert suggested("return_stalled", "paac-cartpole", learning_rate=1e-7) == {"learning_rate": 0.003}


def test_a_collapsed_entropy_gets_a_larger_weight() -> None:
    assert suggested("entropy_collapsed", "paac-cartpole") == {"entropy_cost": 0.01}
    assert suggested("entropy_collapsed", "paac-pong") == {"entropy_cost": 0.06}


def test_hardly_trained_values_get_a_larger_weight() -> None:
    assert suggested("value_uninformative", "paac-pong", value_cost=0) == {"value_cost": 0.5}
    assert suggested("value_uninformative", "n-step-q-pong").keys() == {"learning_rate"}


def test_dead_layers_get_centered_inputs_where_the_method_has_them() -> None:
    assert suggested("layer_dead", "a2c-robust") == {"learning_rate": 0.00023, "centered_inputs": True}
    assert suggested("layer_dead", "gorila-laptop").keys() == {"learning_rate"}


def test_a_loose_gradient_limit_becomes_that_of_the_preset() -> None:
    assert suggested("gradient_exploded", "paac-cartpole", max_grad_norm=1e6) == {"max_grad_norm": 0.5}
    assert suggested("gradient_exploded", "paac-cartpole") == {"learning_rate": 0.001}


def test_lag_is_limited_by_the_queue_or_fewer_agents() -> None:
    assert suggested("policy_lag", "ga3c-paper") == {"training_queue_rollouts": 2}
    assert suggested("policy_lag", "ga3c-pong") == {"num_agents": 8}
    assert suggested("policy_lag", "a3c-paper-ff") == {"num_actors": 8}


def test_a_learning_rate_decays_later_or_never() -> None:
    assert suggested("learning_rate_spent", "paac-breakout") == {"learning_rate_decay": "late"}
    assert suggested("learning_rate_spent", "paac-pong") == {"learning_rate_decay": "none"}


def test_epsilon_falls_earlier_or_to_a_lower_value() -> None:
    assert suggested("epsilon_stuck", "n-step-q-cartpole", epsilon_anneal_frames=10**8) == {
        "epsilon_anneal_frames": 50_000
    }
    assert suggested("epsilon_stuck", "n-step-q-cartpole", final_epsilons=[0.6], final_epsilon_probabilities=[1]) == {
        "final_epsilons": [0.1]
    }


def test_a_slow_host_has_no_fix() -> None:
    assert suggested("throughput_lost", "paac-pong") == {}
