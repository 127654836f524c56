"""Tests that a stored name never leads outside its folder."""

from pathlib import Path

import pytest

from arcadia_workers.contract.layout import OutsideFolderError, default_data_dir, path_inside


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder that contains a file. A file and a folder are next to it."""
    (tmp_path / "root" / "run-1").mkdir(parents=True)
    (tmp_path / "root" / "run-1" / "weights").write_text("weights")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    return tmp_path / "root"


@pytest.mark.parametrize("stored", ["run-1/weights", "run-2/new", "a"])
def test_a_plain_name_is_a_path_below_the_folder(root: Path, stored: str) -> None:
    assert path_inside(root, stored) == root / stored


@pytest.mark.parametrize(
    "stored",
    ["/etc/passwd", "../outside/secret", "run-1/../../outside/secret", "run-1/..", "", ".", "a\0b"],
)
def test_a_name_that_leads_outside_is_refused(root: Path, stored: str) -> None:
    with pytest.raises(OutsideFolderError, match="points outside its folder"):
        path_inside(root, stored)


def test_a_symlink_that_leaves_the_folder_is_refused(root: Path) -> None:
    (root / "run-1" / "link").symlink_to(root.parent / "outside" / "secret")
    (root / "run-3").symlink_to(root.parent / "outside")
    for stored in ("run-1/link", "run-3/secret", "run-3/new"):
        with pytest.raises(OutsideFolderError):
            path_inside(root, stored)


def test_the_folder_may_be_reached_through_a_symlink(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert path_inside(link, "run-1/weights").read_text() == "weights"


@pytest.mark.parametrize(
    ("platform", "data_home", "expected"),
    [
        ("linux", "", "/home/ana/.local/share/arcadia"),
        ("linux", "/mnt/data", "/mnt/data/arcadia"),
        ("darwin", "", "/home/ana/Library/Application Support/arcadia"),
    ],
)
def test_a_wheel_keeps_its_data_where_the_system_expects_it(
    monkeypatch: pytest.MonkeyPatch, platform: str, data_home: str, expected: str
) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    monkeypatch.setenv("XDG_DATA_HOME", data_home)
    monkeypatch.setattr("sys.platform", platform)
    assert default_data_dir(is_wheel=True) == Path(expected)
    assert default_data_dir(is_wheel=False) == Path("data")
