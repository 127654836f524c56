"""What others ask a configuration about its method."""

import pytest

from workers.contract.config import (
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
def test_a_method_of_processes_takes_the_cpu_even_where_auto_finds_a_gpu(config: TrainingConfig, device: str) -> None:
    assert config.wanted_device == device


def test_the_shape_resolves_auto_and_leaves_out_what_the_network_does_not_read() -> None:
    pixels, readings = PaacConfig(env="ALE/Pong-v5").shape, PaacConfig(env="CartPole-v1", hidden_units=32).shape
    assert (pixels["network"], pixels["hidden_units"]) == ("nips", None)
    assert (readings["network"], readings["hidden_units"]) == ("mlp", 32)
    assert A3cConfig(env="CartPole-v1").shape["value_network"] == "shared"
    assert A3cConfig(env="Pendulum-v1").shape["value_network"] == "separate"
    assert GorilaConfig(dueling=True).shape["dueling"] is True
