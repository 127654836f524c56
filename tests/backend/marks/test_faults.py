"""Tests of the rules that find lasting faults. Each detects an injected fault, and no rule reports a sound run."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from arcadia_backend.marks.rules import find_anomalies
from arcadia_backend.marks.signals import Anomaly, Samples, Signals
from arcadia_workers.contract.config import PaacConfig

Values = npt.NDArray[np.float64]
NUMBER = 300
TOTAL = 30_000
CARTPOLE = {"env": "CartPole-v1", "total_steps": TOTAL, "max_grad_norm": 0.5, "t_max": 5}


def constant(value: float) -> Values:
    """Return the same value for every sample."""
    return np.full(NUMBER, value)


def noisy(values: Values, scale: float) -> Values:
    """Return values with reproducible noise."""
    return values + np.random.default_rng(0).normal(0, scale, len(values))


RISING, FLAT = noisy(np.linspace(20, 400, NUMBER), 20), noisy(constant(20.0), 4)
DECAYING = np.linspace(1e-3, 1e-6, NUMBER)

SOUND: dict[str, Values] = {
    "episode/return": RISING,
    "episode/length": RISING,
    "train/entropy": np.linspace(0.69, 0.4, NUMBER),
    "train/value_loss": noisy(constant(5.0), 1),
    "train/grad_norm": noisy(constant(1.0), 0.1),
    "train/learning_rate": constant(1e-3),
    "train/epsilon": np.linspace(1, 0.02, NUMBER),
    "train/policy_lag": constant(1.0),
    "ga3c/policy_lag": constant(1.0),
    "network/value_spread": constant(3.0),
    "network/dead_hidden_1": constant(0.4),
    "throughput/steps_per_second": noisy(constant(1_000.0), 50),
}


def anomalies_of(changes: dict[str, Values] | None = None, **config: Any) -> list[Anomaly]:
    """Return the anomalies of a sound run with other metrics and settings."""
    steps = (TOTAL // NUMBER) * np.arange(NUMBER)
    seconds = np.arange(NUMBER, dtype=np.float64)
    series = {name: Samples(steps, seconds, values) for name, values in (SOUND | (changes or {})).items()}
    return [*find_anomalies(Signals(series, CARTPOLE | config))]


def found(changes: dict[str, Values] | None = None, **config: Any) -> dict[str, int]:
    """Return the first step of each rule that found something."""
    return {anomaly.rule: anomaly.step for anomaly in anomalies_of(changes, **config)}


def after(at: int, before: float, then: float) -> Values:
    """Return a step from one value to another."""
    return np.where(np.arange(NUMBER) < at, before, then).astype(np.float64)


def test_a_sound_run_has_no_fault() -> None:
    assert found() == {}


def test_a_return_that_never_improves_has_stalled() -> None:
    assert found({"episode/return": FLAT}) == {"return_stalled": 0}


def test_a_short_run_whose_first_episode_ends_late_has_stalled() -> None:
    """32 games of Pong that step together end for the first time after a quarter of 100,000 steps."""
    steps = np.linspace(25_000, 100_000, NUMBER).astype(np.int64)
    returns = Samples(steps, np.linspace(60, 240, NUMBER), noisy(constant(-20.3), 0.5))
    began = Samples(steps - 24_000, np.linspace(1, 181, NUMBER), constant(1_000.0))
    signals = Signals({"episode/return": returns, "throughput/steps_per_second": began}, {"total_steps": 100_000})
    assert [anomaly.rule for anomaly in find_anomalies(signals)] == ["return_stalled"]
    resumed = replace(signals, series={"episode/return": returns})
    assert [*find_anomalies(resumed)] == [], "a fork has learned before"


@pytest.mark.parametrize(
    ("returns", "config"),
    [
        pytest.param(FLAT, {"total_steps": 3 * TOTAL}, id="it is too early"),
        pytest.param(noisy(constant(490.0), 4), {}, id="the environment is solved"),
        pytest.param(noisy(np.linspace(20, 26, NUMBER), 4), {}, id="it improves slowly"),
    ],
)
def test_another_return_has_not_stalled(returns: Values, config: dict[str, Any]) -> None:
    assert found({"episode/return": returns, "episode/length": constant(500.0)}, **config) == {}


def test_equal_values_explain_nothing_if_the_run_does_not_learn() -> None:
    equal = {"network/value_spread": constant(0.01)}
    assert "value_uninformative" in found({"episode/return": FLAT, **equal})
    assert found(equal) == {}, "the return improves"


def test_a_reported_explained_variance_is_preferred() -> None:
    known = {"episode/return": FLAT, "network/value_spread": constant(0.01)}
    assert "value_uninformative" not in found({**known, "train/explained_variance": constant(0.8)})
    (finding,) = (
        anomaly
        for anomaly in anomalies_of({**known, "train/explained_variance": constant(-0.2)})
        if anomaly.rule == "value_uninformative"
    )
    assert finding.metric == "train/explained_variance"


def test_a_layer_without_active_units_is_dead() -> None:
    assert found({"network/dead_hidden_1": after(200, 0.4, 1.0)}) == {"layer_dead": 20_000}
    assert found({"network/dead_hidden_1": after(200, 0.4, 0.9)}) == {}


def test_gradients_far_above_their_first_norms_have_exploded() -> None:
    assert found({"train/grad_norm": after(200, 1.0, 5e3)}) == {"gradient_exploded": 20_000}
    assert found({"train/grad_norm": after(200, 1.0, 5e3)}, max_grad_norm=1_000.0) == {}, "the limit is loose"
    assert found({"train/grad_norm": after(200, 1.0, 500.0)}) == {}


@pytest.mark.parametrize("metric", ["ga3c/policy_lag", "train/policy_lag"])
def test_a_policy_that_is_many_updates_old_lags(metric: str) -> None:
    assert found({metric: after(100, 1.0, 60.0)}, num_actors=8) == {"policy_lag": 10_000}
    assert found({metric: constant(25.0)}, num_actors=16) == {}, "the number of actor-learners causes it"


def test_the_training_batch_lowers_the_usual_lag() -> None:
    lag = {"ga3c/policy_lag": constant(40.0)}
    assert found(lag, num_agents=32) == {}
    assert "policy_lag" in found({**lag, "ga3c/training_batch": constant(128.0)}, num_agents=32)


def test_a_learning_rate_that_ran_out_too_early_is_found() -> None:
    returns = noisy(20 + 12 * np.clip(np.arange(NUMBER) - 270.0, 0, None), 4)
    assert found({"train/learning_rate": DECAYING, "episode/return": returns}) == {"learning_rate_spent": 27_000}


def test_a_learning_rate_may_end_at_zero_when_the_agent_is_done() -> None:
    done = np.minimum(RISING, 300)
    assert found({"train/learning_rate": DECAYING, "episode/return": done}) == {}


def test_a_speed_that_stays_low_is_lost() -> None:
    assert found({"throughput/steps_per_second": after(200, 1_000, 300)})["throughput_lost"] == 20_000
    recovered = after(150, 1_000, 300) + after(200, 0, 700)
    assert "throughput_lost" not in found({"throughput/steps_per_second": recovered})


def test_clipping_rewards_that_are_larger_is_found_except_on_atari() -> None:
    large = {"episode/length": RISING / 9}
    assert found(large, clip_rewards=True) == {"reward_scale": 0}
    assert found(large, clip_rewards=False) == {}
    assert found(large, clip_rewards=True, env="ALE/Qbert-v5") == {}


def test_large_rewards_without_clipping_are_found() -> None:
    assert found({"episode/length": RISING / 50}, clip_rewards=False, env="ALE/Qbert-v5") == {"reward_scale": 0}
    assert found(clip_rewards=False) == {}


def test_an_epsilon_that_stays_high_is_stuck() -> None:
    assert found({"train/epsilon": np.linspace(1, 0.9, NUMBER)}) == {"epsilon_stuck": 0}
    assert found({"train/epsilon": np.linspace(1, 0.9, NUMBER)}, total_steps=3 * TOTAL) == {}, "it is too early"


@pytest.mark.parametrize("config", [{}, {"total_steps": "many", "env": 3, "clip_rewards": "yes"}])
def test_any_configuration_of_a_reported_run_is_judged(config: dict[str, Any]) -> None:
    steps, seconds = np.arange(NUMBER), np.arange(NUMBER, dtype=np.float64)
    series = {name: Samples(steps, seconds, values) for name, values in SOUND.items()}
    assert [*find_anomalies(Signals(series, config))] == []


def test_evidence_ends_with_the_last_sample() -> None:
    (finding,) = anomalies_of({"network/dead_hidden_1": after(200, 0.4, 1.0)})
    assert (finding.metric, finding.step, finding.last_step) == ("network/dead_hidden_1", 20_000, 29_900)


def test_the_settings_that_rules_read_exist() -> None:
    assert {"total_steps", "max_grad_norm", "t_max", "clip_rewards", "env"} <= PaacConfig.model_fields.keys()
