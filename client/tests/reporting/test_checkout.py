"""The state of a git checkout: commit, branch, changes and untracked files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from arcadia.reporting import provenance
from arcadia.reporting.provenance import (
    MAX_DIFF_BYTES,
    MAX_UNTRACKED,
    CheckoutError,
    CheckoutState,
    find_checkout,
    read_checkout,
)


def git(root: Path, *arguments: str) -> str:
    """Run git in a repository. Return its output."""
    command = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository with one commit."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "file").write_text("one\n")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "One")
    return tmp_path


def state_of(root: Path) -> CheckoutState:
    """Return the state of a checkout that exists."""
    state = read_checkout(root)
    assert state is not None
    return state


def test_a_clean_checkout_has_its_commit_and_branch(root: Path) -> None:
    state = state_of(root)
    assert state.commit == git(root, "rev-parse", "HEAD")
    assert (state.branch, state.dirty, state.untracked) == ("main", False, [])
    assert (state.diff, state.diff_cut) == ("", False)


def test_changes_appear_in_the_diff_whether_staged_or_not(root: Path) -> None:
    (root / "file").write_text("two\n")
    (root / "added").write_text("new\n")
    git(root, "add", "added")
    state = state_of(root)
    assert state.dirty
    assert "-one\n+two\n" in state.diff
    assert "+new\n" in state.diff


def test_untracked_files_are_named_and_ignored_ones_are_not(root: Path) -> None:
    (root / ".gitignore").write_text("data/\n")
    (root / "data").mkdir()
    (root / "data" / "weights").touch()
    (root / "a folder").mkdir()
    (root / "a folder" / "notes ü.txt").write_text("secret")
    state = state_of(root)
    assert (state.dirty, state.untracked) == (True, [".gitignore", "a folder/notes ü.txt"])
    assert "secret" not in state.diff


def test_a_detached_commit_has_no_branch(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    assert state_of(root).branch is None


def test_a_long_diff_and_many_files_are_cut(root: Path) -> None:
    (root / "file").write_text("x" * (MAX_DIFF_BYTES + 1))
    for number in range(MAX_UNTRACKED + 1):
        (root / f"untracked-{number}").touch()
    state = state_of(root)
    assert (len(state.diff), state.diff_cut) == (MAX_DIFF_BYTES, True)
    assert len(state.untracked) == MAX_UNTRACKED


def test_a_long_diff_is_cut_between_characters(root: Path) -> None:
    (root / "file").write_text("\u20ac" * MAX_DIFF_BYTES)
    diff = state_of(root).diff
    assert MAX_DIFF_BYTES - 3 < len(diff.encode()) <= MAX_DIFF_BYTES
    assert diff.endswith("\u20ac")


def test_control_characters_are_replaced(root: Path) -> None:
    (root / "file").write_text("\x1b[31mred\x1b[0m\n")
    assert "+\ufffd[31mred\ufffd[0m\n" in state_of(root).diff


def test_configured_diff_programs_do_not_run(root: Path, tmp_path: Path) -> None:
    git(root, "config", "diff.external", f"touch {tmp_path / 'ran'} #")
    (root / "file").write_text("two\n")
    assert "+two\n" in state_of(root).diff
    assert not (tmp_path / "ran").exists()


def test_an_installed_package_has_no_checkout(tmp_path: Path) -> None:
    assert read_checkout(tmp_path) is None


def test_the_checkout_of_a_folder_is_found_above_it(root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    assert find_checkout(root / "a" / "b") == root
    assert find_checkout(root) == root


def test_a_damaged_repository_is_explained(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(CheckoutError, match="git status failed: fatal: not a git repository"):
        read_checkout(tmp_path)


def test_a_missing_git_is_explained(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(CheckoutError, match="git is not installed"):
        read_checkout(root)


def test_a_slow_git_is_explained(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "GIT_SECONDS", 0)
    with pytest.raises(CheckoutError, match="git status took more than 0 seconds"):
        read_checkout(root)
