"""Removal of files that no row references. Each is removed separately, now or later."""

from pathlib import Path

import pytest

from arcadia_backend.files.storage import hold, remove, remove_waiting
from arcadia_backend.refusals import NotNowError


def test_a_file_that_cannot_be_removed_is_retried_and_the_others_are_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "c"):
        (tmp_path / name).write_text("x")
    (tmp_path / "b" / "in the way").mkdir(parents=True)
    with hold(tmp_path):
        for name in ("a", "b", "c"):
            remove(tmp_path, name)
        assert (tmp_path / "a").exists()
    remove_waiting(tmp_path)
    remove_waiting(tmp_path)
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "c").exists()
    assert caplog.text.count("Cannot remove") == 1
    (tmp_path / "b" / "in the way").rmdir()
    (tmp_path / "b").rmdir()
    (tmp_path / "b").write_text("x")
    remove_waiting(tmp_path)
    assert not (tmp_path / "b").exists()


def test_backups_cannot_run_concurrently(tmp_path: Path) -> None:
    with hold(tmp_path), pytest.raises(NotNowError, match=r"Another backup of .* is running"), hold(tmp_path):
        pass
    with hold(tmp_path):
        pass
