"""Tests for memory checks against artificial limits."""

import ctypes
import math
import subprocess
import sys
from pathlib import Path

import pytest

from arcadia_workers.trainer.host import memory
from arcadia_workers.trainer.host.memory import MemoryShortageError, Need


def test_a_run_is_refused_with_the_fields_of_its_largest_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 2**30)
    small, large = Need("agents", 2**29, "num_agents"), Need("batches", 1.5 * 2**30, "t_max")
    memory.check([small])
    with pytest.raises(
        MemoryShortageError,
        match=r"needs about 2\.3 GiB of memory, 1\.5 GiB of it for batches, but 2\.0 GiB are free here: lower t_max",
    ):
        memory.check([small, large])


@pytest.mark.parametrize(
    ("line", "folder", "files"),
    [
        (
            "0::/made",
            "made",
            {"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 1\ninactive_file 100\n"},
        ),
        (
            "7:cpu,memory:/made",
            "memory/made",
            {
                "memory.limit_in_bytes": "1000",
                "memory.usage_in_bytes": "700",
                "memory.stat": "inactive_file 5\ntotal_inactive_file 100\n",
            },
        ),
    ],
    ids=["version 2", "version 1"],
)
def test_the_limit_of_a_container_is_used(tmp_path: Path, line: str, folder: str, files: dict[str, str]) -> None:
    group = tmp_path / folder
    group.mkdir(parents=True)
    for name, text in files.items():
        (group / name).write_text(text)
    membership = tmp_path / "cgroup"
    membership.write_text(f"3:pids:/made\n{line}\n")
    assert memory.free_memory(tmp_path, membership) == 400


def test_the_tightest_limit_of_the_enclosing_groups_is_used(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    for group, limit in ((inner, "max"), (inner.parent, "5000")):
        (group / "memory.max").write_text(limit)
        (group / "memory.current").write_text("2000")
        (group / "memory.stat").write_text("inactive_file 0")
    membership = tmp_path / "cgroup"
    membership.write_text("0::/outer/inner\n")
    assert memory.free_memory(tmp_path, membership) == 3000


def test_without_a_limit_the_hosts_free_memory_is_used(tmp_path: Path) -> None:
    assert 0 < memory.free_memory(tmp_path, tmp_path / "missing") < math.inf


# Counts the pages that the system clears for the tensors of ten updates, in a thread like that of a rollout.
PAGES = """
import resource, threading, torch
from arcadia_workers.trainer.host import memory

memory.keep_freed()

def cleared():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt

def update():
    return [torch.ones(2**20) for _ in range(30)]  # 120 MiB

def learn():
    for _ in range(6):
        update()
    before = cleared()
    for _ in range(10):
        update()
    print(cleared() - before)

thread = threading.Thread(target=learn)
thread.start()
thread.join()
"""


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="this C library has no options")
def test_freed_memory_is_kept_for_the_next_tensors() -> None:
    reported = subprocess.run([sys.executable, "-c", PAGES], check=True, capture_output=True, text=True).stdout
    assert int(reported) < 1000  # 4,000 or more without keep_freed()


def test_a_c_library_without_options_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    memory.keep_freed()
