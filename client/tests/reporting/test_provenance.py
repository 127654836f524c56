"""Packages, variables and hardware of a provenance."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest
from arcadia.reporting.provenance import Gpu, GpuFacts, describe_cpu, installed_packages, read_gpus, relevant_variables


def test_every_installed_package_is_listed_with_its_version() -> None:
    expected = {each.metadata["Name"]: each.version for each in [*metadata.distributions()][::-1]}
    assert installed_packages() == expected


def test_variables_that_affect_training_are_kept_without_secrets() -> None:
    given = {
        "CUDA_VISIBLE_DEVICES": "1",
        "OMP_NUM_THREADS": "2",
        "ARCADIA_RAY_ADDRESS": "ray://user:pass@sun:10001",
        "ARCADIA_TOKEN": "secret",
        "ARCADIA_BROKER_URL": "redis://secret",
        "ARCADIA_DATABASE_URL": "postgresql://secret",
        "NCCL_API_KEY": "secret",
        "NVIDIA_REQUIRE_CUDA": "cuda>=13.0 brand=unknown,driver>=535,driver<536",
        "NVIDIA_VISIBLE_DEVICES": "0",
        "HOME": "/home/ana",
    }
    assert relevant_variables(given) == {
        "ARCADIA_RAY_ADDRESS": "ray://sun:10001",
        "CUDA_VISIBLE_DEVICES": "1",
        "NVIDIA_VISIBLE_DEVICES": "0",
        "OMP_NUM_THREADS": "2",
    }


def test_the_model_of_the_processor_is_read(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: AMD EPYC 9554 64-Core: Processor\n\nprocessor\t: 1\n")
    assert describe_cpu(cpuinfo) == "AMD EPYC 9554 64-Core: Processor"
    cpuinfo.write_text("processor\t: 0\n")
    assert describe_cpu(cpuinfo) != ""


def test_gpus_are_read_with_their_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [Gpu("NVIDIA H100 80GB HBM3", 85_520_809_984), Gpu("NVIDIA H200", 2**37)]
    # The first GPU and both versions are those of a host with an H100.
    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda number: number,
        "nvmlDeviceGetName": lambda number: gpus[number].name,
        "nvmlDeviceGetMemoryInfo": lambda number: SimpleNamespace(total=gpus[number].memory_bytes),
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 13_000,
        "nvmlSystemGetDriverVersion": lambda: "580.159.04",
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    assert read_gpus() == GpuFacts(gpus, "580.159.04", "13.0")
    monkeypatch.setattr(pynvml, "nvmlSystemGetCudaDriverVersion_v2", lambda: 12_080)
    assert read_gpus().cuda == "12.8"


def test_a_host_without_the_driver_has_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert read_gpus() == GpuFacts([], None, None)


def test_gpus_are_listed_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    output = "81559, 570.124.06, NVIDIA H100 80GB HBM3\n24576, 570.124.06, NVIDIA A10, PCIe\n"
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(subprocess, "run", lambda *_a, **_k: SimpleNamespace(stdout=output))
    gpus = [Gpu("NVIDIA H100 80GB HBM3", 81_559 * 2**20), Gpu("NVIDIA A10, PCIe", 24_576 * 2**20)]
    assert read_gpus() == GpuFacts(gpus, "570.124.06", None)


def test_a_host_without_library_and_command_has_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv("PATH", "")
    assert read_gpus() == GpuFacts()
