"""Tests for the load, memory, power and temperature of a GPU through NVML."""

from types import SimpleNamespace
from typing import Any

import pynvml
import pytest
import torch

from arcadia_workers.trainer.host.meters import GpuMeter

UUID = "6e0d2c4b-0000-0000-0000-000000000001"
CUDA = torch.device("cuda", 0)


class FakeNvml:
    """A fake NVML with one device that reports the values of an H100 during a run unless a test changes them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, uuid: str = f"GPU-{UUID}") -> None:
        self.uuid = uuid
        self.unsupported: set[str] = set()
        self.initialized = 0
        answers: dict[str, Any] = {
            "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=7, memory=1),
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=1_697_447_936),
            "nvmlDeviceGetPowerUsage": 92_966,
            "nvmlDeviceGetTemperature": 41,
        }
        # At the same time, nvidia-smi reported 1139 MiB of memory in use and 480 MiB reserved.
        self.memory_without_reserved = SimpleNamespace(used=1_194_131_456, reserved=503_316_480)
        for name, answer in answers.items():
            monkeypatch.setattr(pynvml, name, self._reader(name, answer))
        monkeypatch.setattr(pynvml, "nvmlInit", self._init)
        monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", self._find)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _device: SimpleNamespace(uuid=UUID))

    def _init(self) -> None:
        self.initialized += 1

    def _find(self, uuid: str) -> str:
        if uuid != self.uuid:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return "the handle"

    def _reader(self, name: str, answer: Any) -> Any:
        def read(handle: str, *_: object, version: int | None = None) -> Any:
            assert handle == "the handle"
            if name in self.unsupported:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
            return self.memory_without_reserved if version == pynvml.nvmlMemory_v2 else answer

        return read


def test_a_gpu_reports_load_memory_power_and_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeNvml(monkeypatch)
    assert GpuMeter(CUDA).sample() == {
        "system/gpu_percent": 7,
        "system/gpu_memory_bytes": 1_194_131_456,
        "system/gpu_power_watts": 92.966,
        "system/gpu_temperature": 41,
    }


def test_a_part_of_a_gpu_reports_only_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = FakeNvml(monkeypatch, uuid=f"MIG-{UUID}")
    nvml.unsupported = {"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTemperature"}
    assert GpuMeter(CUDA).sample() == {"system/gpu_memory_bytes": 1_194_131_456}


def test_a_gpu_that_stops_responding_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = FakeNvml(monkeypatch)
    meter = GpuMeter(CUDA)
    nvml.unsupported = {"nvmlDeviceGetPowerUsage"}
    assert "system/gpu_power_watts" not in meter.sample()
    nvml.unsupported = set()
    assert meter.sample()["system/gpu_power_watts"] == 92.966


def test_a_gpu_unknown_to_nvml_reports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeNvml(monkeypatch, uuid="GPU-another")
    assert GpuMeter(CUDA).sample() == {}


def test_without_the_driver_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeNvml(monkeypatch)

    def fail() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert GpuMeter(CUDA).sample() == {}


def test_nvml_is_not_loaded_for_a_run_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = FakeNvml(monkeypatch)
    assert GpuMeter(torch.device("cpu")).sample() == {}
    assert nvml.initialized == 0
