"""A full disk of the worker: the run continues without a new checkpoint, or fails with the reason."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from arcadia_backend.backup.making import back_up
from arcadia_backend.backup.restoring import restore
from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.startup.checks import make_ready
from tests.faults.test_killed import stop
from tests.installation import Installation

MEGABYTE = 2**20
# Its checkpoints have about two megabytes.
LARGE: dict[str, Any] = {"hidden_units": 512, "checkpoint_seconds": 1}


@pytest.fixture
def small_disk(installation: Installation) -> Iterator[Path]:
    """Yield a worker's folder on a separate disk with room for a few checkpoints."""
    with mounted(installation.directory / "workers" / "one") as disk:
        yield disk


@contextmanager
def mounted(disk: Path) -> Iterator[Path]:
    """Mount a small disk at a folder, or skip the test without the right to do so."""
    disk.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root may mount a small disk; the test with limited files stands in")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path, free: int) -> Path:
    """Fill a disk except for `free` bytes, and return the file that fills it."""
    ballast = disk / "ballast"
    state = os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(state.f_bavail * state.f_frsize - free, 1))
    return ballast


@pytest.mark.parametrize("is_job", [False, True], ids=["worker", "job"])
@pytest.mark.nightly
def test_a_run_continues_and_saves_again_when_the_disk_has_room(
    installation: Installation, small_disk: Path, is_job: bool
) -> None:
    run = installation.launch(**LARGE)
    if is_job:
        installation.job("one", run)
    else:
        installation.worker("one")
    step = installation.wait_for_checkpoint(run)
    ballast = fill(small_disk, free=MEGABYTE)
    installation.wait_until(lambda: "could not be written (No space left on device)" in installation.log(run))
    installation.wait_for_points(run, 1)
    ballast.unlink()
    installation.wait_until(lambda: installation.wait_for_checkpoint(run) > step)
    installation.wait_for_points(run, 1)
    stop(installation, run)
    assert installation.run(run)["attempt"] == 1
    installation.assert_points_kept(run, whole={1})


FULL = "The disk of worker one is full. Training waits, and continues when there is space."


@pytest.mark.parametrize("is_job", [False, True], ids=["worker", "job"])
@pytest.mark.nightly
def test_a_run_waits_for_space_and_a_stop_loses_nothing(
    installation: Installation, small_disk: Path, is_job: bool
) -> None:
    run = installation.launch(**LARGE)
    if is_job:
        installation.job("one", run)
    else:
        installation.worker("one")
    installation.wait_for_checkpoint(run)
    ballast = fill(small_disk, free=0)
    installation.wait_until(lambda: FULL in (installation.run(run)["state_reason"] or ""))
    waiting = installation.run(run)
    assert waiting["state"] == "running"
    (worker,) = (each for each in installation.read("workers") if each["run_id"] == run)
    assert worker["low_disk_megabytes"] == 0
    ballast.unlink()
    installation.wait_until(lambda: installation.run(run)["step"] > waiting["step"])
    installation.wait_until(lambda: FULL not in (installation.run(run)["state_reason"] or ""))
    fill(small_disk, free=0)
    installation.wait_until(lambda: FULL in (installation.run(run)["state_reason"] or ""))
    installation.post(f"runs/{run}/stop")
    stopped = installation.wait_for_state(run, "stopped")
    saved = [row["step"] for row in installation.read(f"runs/{run}/checkpoints")]
    assert (max(saved), stopped["attempt"]) == (stopped["step"], 1)
    installation.assert_points_kept(run, whole={1})


@pytest.mark.nightly
def test_a_run_that_cannot_write_its_last_checkpoint_fails_with_the_reason(installation: Installation) -> None:
    worker = installation.worker("one")
    run = installation.launch(**{**LARGE, "checkpoint_seconds": 1000})
    installation.wait_for_points(run, 1)
    # A limit on file sizes acts like a full disk, but needs no root user.
    installation.trainer("one").rlimit(resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))
    installation.post(f"runs/{run}/stop")
    failed = installation.wait_for_state(run, "failed")
    assert "could not be written (File too large)" in failed["failure"]["message"]
    installation.assert_points_kept(run, whole={1})
    assert worker.process.is_running()


@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
@pytest.mark.nightly
def test_a_backup_to_another_disk_works_while_the_data_disk_is_full(tmp_path: Path, running: bool) -> None:
    with mounted(tmp_path / "disk") as disk:
        settings = Settings(data_dir=disk / "data", worker_token="secret-of-workers")
        make_ready(settings)
        database = Database(settings.resolved_database_url, settings.files_dir)
        try:
            if running:
                with database.write() as session:
                    session.execute(text("UPDATE installation SET identity = identity"))
            fill(disk, free=0)
            assert back_up(settings, tmp_path / "backup").startswith("0 runs and 0 files")
        finally:
            database.close()
        assert sorted(path.name for path in (tmp_path / "backup").iterdir()) == ["backup.json", "database.db"]
    restore(Settings(data_dir=tmp_path / "new", worker_token="secret-of-workers"), tmp_path / "backup")
