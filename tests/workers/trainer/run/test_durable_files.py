"""Tests that files are written completely or not at all."""

from pathlib import Path

import pytest

from arcadia_workers.trainer.run import durable_files


def test_a_file_is_replaced_atomically(tmp_path: Path) -> None:
    path = tmp_path / "file"
    durable_files.write(path, b"first")
    durable_files.write(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.mkdir()  # a rename to it fails
    with pytest.raises(OSError, match="directory"):
        durable_files.write(path, b"content")
    assert list(tmp_path.iterdir()) == [path]


def test_leftovers_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    durable_files.temporary(tmp_path / "file").write_bytes(b"half")
    (tmp_path / "whole").write_bytes(b"whole")
    durable_files.remove_temporary(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]
