"""The data folder of `arcadia up`."""

import os
import stat
from pathlib import Path

import pytest

from arcadia_backend.startup.up import FolderInUseError, lock, worker_token


def test_the_token_is_created_once_and_kept(tmp_path: Path) -> None:
    token = worker_token(tmp_path)
    assert len(token) >= 32
    assert worker_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / "worker-token").stat().st_mode) == 0o600


def test_tokens_differ_between_folders(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert worker_token(tmp_path / "one") != worker_token(tmp_path / "two")


def test_a_folder_is_locked_until_it_is_released(tmp_path: Path) -> None:
    held = lock(tmp_path / "data")
    with pytest.raises(FolderInUseError, match="Another `arcadia up` already uses"):
        lock(tmp_path / "data")
    os.close(held)
    os.close(lock(tmp_path / "data"))
