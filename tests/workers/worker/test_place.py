"""Tests that no two live workers share a directory or a name."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arcadia_workers.worker import machine
from arcadia_workers.worker.answers import NameTakenError, UnreachableError
from arcadia_workers.worker.machine import lock_directory, take_name, try_lock
from arcadia_workers.worker.once import ABANDONED_SECONDS, remove_abandoned


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LOCK_SECONDS", 0.0)
    monkeypatch.setattr(machine, "NAME_SECONDS", 0.0)


def refusing(*taken: str) -> Callable[[str], object]:
    """Return an `introduce` function of a backend where these names are taken."""

    def introduce(name: str) -> None:
        if name in taken:
            raise NameTakenError(f"Worker {name} is connected already: process 7 on host sun.")

    return introduce


def test_workers_on_one_volume_have_separate_folders(tmp_path: Path) -> None:
    places = [lock_directory(tmp_path, shared=True) for _ in range(3)]
    assert [each.directory for each in places] == [tmp_path, tmp_path / "worker-2", tmp_path / "worker-3"]
    os.close(places[1].descriptor)
    # The next worker finds the files of the ended one.
    assert lock_directory(tmp_path, shared=True).directory == tmp_path / "worker-2"


def test_an_explicit_directory_of_a_named_worker_is_not_shared(tmp_path: Path) -> None:
    occupied = lock_directory(tmp_path, shared=False)
    with pytest.raises(SystemExit, match="Choose another --worker-dir"):
        lock_directory(tmp_path, shared=False)
    os.close(occupied.descriptor)


def test_a_directory_remembers_the_process_that_had_it(tmp_path: Path) -> None:
    first = lock_directory(tmp_path, shared=False)
    assert first.predecessor is None
    os.close(first.descriptor)
    assert lock_directory(tmp_path, shared=False).predecessor == os.getpid()


def test_a_worker_without_a_name_takes_a_free_one() -> None:
    assert take_name(None, "sun", refusing()) == "sun"
    assert take_name(None, "sun", refusing("sun", "sun-2")) == "sun-3"


def test_a_taken_name_is_refused_with_advice() -> None:
    with pytest.raises(SystemExit) as refused:
        take_name("big-1", "moon", refusing("big-1"))
    assert str(refused.value) == (
        "arcadia worker: Worker big-1 is connected already: process 7 on host sun. Choose another --name, or omit "
        "--name."
    )


def test_a_worker_starts_while_the_backend_is_down() -> None:
    def introduce(_name: str) -> None:
        raise UnreachableError("away")

    assert take_name("big-1", "moon", introduce) == "big-1"


def test_a_job_deletes_only_folders_that_no_worker_uses_anymore(tmp_path: Path) -> None:
    old = time.time() - ABANDONED_SECONDS - 60
    names = {
        "abandoned": "arcadia-a99a8d25-run-7-1",
        "of an array": "arcadia-a99a8d25-run-7-1-12",
        "new": "arcadia-a99a8d25-run-8-1",
        "locked": "arcadia-a99a8d25-run-9-1",
        "with new events": "arcadia-a99a8d25-run-10-1",
        "of another program": "arcadia-a99a8d25-runs-of-ana",
    }
    folders = {key: tmp_path / name for key, name in names.items()}
    for folder in folders.values():
        attempt = folder / "runs" / "7" / "attempt-1"
        attempt.mkdir(parents=True)
        for file in (folder / "lock", attempt / "events.jsonl"):
            file.touch()
            os.utime(file, (old, old))
        os.utime(folder, (old, old))
    (folders["new"] / "lock").touch()
    (folders["with new events"] / "runs" / "7" / "attempt-1" / "events.jsonl").touch()
    held = try_lock(folders["locked"])
    os.utime(folders["locked"] / "lock", (old, old))
    (tmp_path / "arcadia-a99a8d25-run-11-1").symlink_to(folders["of another program"])
    remove_abandoned(tmp_path)
    assert held is not None
    os.close(held.descriptor)
    left = {key for key, folder in folders.items() if folder.exists()}
    assert left == {"new", "locked", "with new events", "of another program"}
    assert (folders["of another program"] / "runs").exists()
