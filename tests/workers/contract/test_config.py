"""Tests for the properties that a configuration reports about its method."""

import pytest

from arcadia_workers.contract.config import (
    A3cConfig,
    Ga3cConfig,
    GorilaConfig,
    NStepQConfig,
    PaacConfig,
    TrainingConfig,
)


@pytest.mark.parametrize(
    ("config", "device"),
    [
        (PaacConfig(), "auto"),
        (PaacConfig(device="cuda"), "cuda"),
        (Ga3cConfig(device="cpu"), "cpu"),
        (A3cConfig(), "cpu"),
        (NStepQConfig(), "cpu"),
        (GorilaConfig(), "cpu"),
    ],
)
def test_multi_process_methods_use_the_cpu_unless_a_gpu_is_requested(config: TrainingConfig, device: str) -> None:
    assert config.wanted_device == device


def test_the_shape_resolves_auto_and_omits_unused_fields() -> None:
    pixels, readings = PaacConfig(env="ALE/Pong-v5").shape, PaacConfig(env="CartPole-v1", hidden_units=32).shape
    assert (pixels["network"], pixels["hidden_units"]) == ("nips", None)
    assert (readings["network"], readings["hidden_units"]) == ("mlp", 32)
    assert A3cConfig(env="CartPole-v1").shape["value_network"] == "shared"
    assert A3cConfig(env="Pendulum-v1").shape["value_network"] == "separate"
    assert GorilaConfig(dueling=True).shape["dueling"] is True
