"""CUDA graphs: training with them computes what it computes without; without a GPU nothing changes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from workers.contract.config import PaacConfig
from workers.trainer.host import devices
from workers.trainer.host.cuda_graphs import WARM_UP_CALLS, graphed
from workers.trainer.methods.paac import paac
from workers.trainer.run.run import NullRun

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU that torch can use")


def test_without_a_gpu_work_stays_as_it_is() -> None:
    def work(x: float) -> float:
        return x

    assert graphed(work, torch.device("cpu")) is work


@needs_gpu
def test_a_graph_reads_its_tensors_anew_and_takes_floats_as_tensors() -> None:
    device = torch.device("cuda")
    numbers = torch.arange(6.0, device=device)
    work = graphed(lambda x, rows, factor: x[rows] * factor, device)
    for call in range(2 * WARM_UP_CALLS):
        numbers.add_(1)
        for rows in (slice(0, 3), slice(3, 6)):
            assert torch.equal(work(numbers, rows, float(call)), numbers[rows] * call)


@needs_gpu
@pytest.mark.parametrize("centered", [False, True])
def test_paac_learns_the_same_with_graphs_as_without(centered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    config = PaacConfig(
        env="ALE/Pong-v5",
        num_envs=8,
        num_workers=2,
        total_steps=8 * 5 * 4 * WARM_UP_CALLS,
        device="cuda",
        precision="float32",
        centered_inputs=centered,
        seed=3,
    )
    with_graphs = trained(config)

    def plain(work: Callable[..., Any], _: torch.device) -> Callable[..., Any]:
        return work

    monkeypatch.setattr(paac, "graphed", plain)
    for name, weights in trained(config).items():
        torch.testing.assert_close(with_graphs[name], weights, rtol=1e-4, atol=1e-5)


def trained(config: PaacConfig) -> dict[str, torch.Tensor]:
    """Train and return the weights."""
    run = NullRun(device=devices.resolve("cuda"))
    paac.train(config, run)
    return {name: weights.cpu() for name, weights in run.saved[-1].component("network").items()}
