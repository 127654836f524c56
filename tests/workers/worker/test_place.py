"""Tests that no two live workers share a directory or a name."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from arcadia_workers.worker import machine
from arcadia_workers.worker.answers import NameTakenError, UnreachableError
from arcadia_workers.worker.machine import lock_directory, take_name


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
