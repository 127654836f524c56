"""The provenance of this process, and of its parts that vary by host."""

import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest
import torch

from workers.contract.provenance import Gpu
from workers.trainer.provenance.collecting import collect_provenance
from workers.trainer.provenance.hardware import GpuFacts, describe_cpu, read_gpus
from workers.trainer.provenance.packages import installed_packages
from workers.trainer.provenance.variables import relevant_variables


def test_this_process_is_described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["trainer", "--dir", "run"])
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = collect_provenance(tmp_path)
    assert found.command == ["python", "-m", "workers.trainer", "--dir", "run"]
    assert found.environment["OMP_NUM_THREADS"] == "3"
    assert found.packages["torch"] == torch.__version__
    assert (found.checkout, found.problem, found.diff) == (None, None, "")
    assert found.cores >= 1
    assert found.memory_bytes > 2**28


def test_a_git_that_fails_is_a_problem_and_no_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    found = collect_provenance(tmp_path)
    assert found.checkout is None
    assert found.problem is not None
    assert found.problem.startswith("git status failed")


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
        "HOME": "/home/ana",
    }
    assert relevant_variables(given) == {
        "ARCADIA_RAY_ADDRESS": "ray://sun:10001",
        "CUDA_VISIBLE_DEVICES": "1",
        "OMP_NUM_THREADS": "2",
    }


def test_the_model_of_the_processor_is_read(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: AMD EPYC 9554 64-Core: Processor\n\nprocessor\t: 1\n")
    assert describe_cpu(cpuinfo) == "AMD EPYC 9554 64-Core: Processor"
    cpuinfo.write_text("processor\t: 0\n")
    assert describe_cpu(cpuinfo) != ""


def test_gpus_are_read_with_their_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda number: number,
        "nvmlDeviceGetName": lambda number: f"NVIDIA H{number + 1}00",
        "nvmlDeviceGetMemoryInfo": lambda number: SimpleNamespace(total=(number + 1) * 80 * 2**30),
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 12_080,
        "nvmlSystemGetDriverVersion": lambda: "570.124.06",
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    gpus = [Gpu(name="NVIDIA H100", memory_bytes=80 * 2**30), Gpu(name="NVIDIA H200", memory_bytes=160 * 2**30)]
    assert read_gpus() == GpuFacts(gpus, "570.124.06", "12.8")


def test_a_host_without_the_driver_has_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert read_gpus() == GpuFacts([], None, None)
