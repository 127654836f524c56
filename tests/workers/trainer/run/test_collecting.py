"""Tests for collecting the provenance of this process."""

import sys
from pathlib import Path

import pytest
import torch
from arcadia.reporting import provenance as checkout
from arcadia.reporting.provenance import CheckoutState, Gpu, GpuFacts

from arcadia_workers.contract import provenance
from arcadia_workers.trainer.run import provenance as collecting
from arcadia_workers.trainer.run.provenance import collect_provenance


def test_this_process_is_described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["trainer", "--dir", "run"])
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = collect_provenance(tmp_path)
    assert found.command == ["python", "-m", "arcadia_workers.trainer", "--dir", "run"]
    assert found.environment["OMP_NUM_THREADS"] == "3"
    assert found.packages["torch"] == torch.__version__
    assert (found.checkout, found.problem, found.diff) == (None, None, "")
    assert found.cores >= 1
    assert found.memory_bytes > 2**28


def test_a_failing_git_is_a_reported_problem_and_not_an_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    found = collect_provenance(tmp_path)
    assert found.checkout is None
    assert found.problem is not None
    assert found.problem.startswith("git status failed")


def test_gpus_and_changes_come_from_the_collectors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gpus = GpuFacts([Gpu("NVIDIA H100", 80 * 2**30)], "570.124.06", "12.8")
    state = CheckoutState("abc", None, dirty=True, diff_cut=False, untracked=["new"], diff="+1")
    monkeypatch.setattr(collecting, "read_gpus", lambda: gpus)
    monkeypatch.setattr(collecting, "read_checkout", lambda _root: state)
    found = collect_provenance(tmp_path)
    assert [gpu.model_dump() for gpu in found.gpus] == [{"name": "NVIDIA H100", "memory_bytes": 80 * 2**30}]
    assert (found.driver, found.cuda, found.diff) == ("570.124.06", "12.8", "+1")
    assert found.checkout is not None
    assert (found.checkout.commit, found.checkout.branch, found.checkout.untracked) == ("abc", None, ["new"])


def test_the_limits_of_the_collectors_equal_those_of_the_events() -> None:
    assert (checkout.MAX_DIFF_BYTES, checkout.MAX_UNTRACKED) == (provenance.MAX_DIFF_BYTES, provenance.MAX_UNTRACKED)
