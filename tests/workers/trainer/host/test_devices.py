"""Tests for the network's device, number of threads and floating-point mode."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.host.devices import DeviceError


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("env", "device", "available", "taken"),
    [
        ("ALE/Pong-v5", "cpu", 8, 4),
        ("ALE/Pong-v5", "cpu", 1, 1),
        ("ALE/Pong-v5", "cuda", 8, 1),
        ("CartPole-v1", "cpu", 8, 1),
    ],
)
def test_the_network_uses_the_cores_that_the_emulators_leave_free(
    env: str, device: str, available: int, taken: int
) -> None:
    torch.set_num_threads(available)
    devices.set_threads(PaacConfig(env=env), torch.device(device))
    assert torch.get_num_threads() == taken


def a_number_below_1e_38() -> float:
    return (torch.tensor([1e-30]) * 1e-12).item()


def test_denormals_are_flushed_to_zero_in_a_thread_and_its_child_threads() -> None:
    def alone_and_in_another() -> tuple[float, float, float]:
        torch.set_flush_denormal(False)
        before = a_number_below_1e_38()
        devices.compute_in(1)
        with ThreadPoolExecutor(1) as another:
            return before, a_number_below_1e_38(), another.submit(a_number_below_1e_38).result()

    with ThreadPoolExecutor(1) as fresh:  # so that the mode of the test's thread does not change
        before, alone, in_another = fresh.submit(alone_and_in_another).result()
    assert before > 0
    assert alone == in_another == 0


def test_cores_are_split_into_equal_shares_of_neighbors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {7, 2, 3, 4, 5, 6}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", print, raising=False)
    assert devices.shares_of_cores(2) == [{2, 3, 4}, {5, 6, 7}]
    assert devices.shares_of_cores(4) == [None] * 4  # six cores cannot be split into four equal shares


def test_without_thread_pinning_there_are_no_shares_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    assert devices.shares_of_cores(1) == [None]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_an_error_with_advice() -> None:
    with pytest.raises(DeviceError, match="choose auto or cpu"):
        devices.resolve("cuda")
    assert devices.resolve("auto") == torch.device("cpu")
