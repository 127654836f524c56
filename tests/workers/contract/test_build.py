"""Tests for the build ID, which comes from the environment, the checkout or the version."""

import re
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from arcadia_workers.contract import build as building
from arcadia_workers.contract.build import build, differ


@pytest.fixture(autouse=True)
def _computed_anew() -> Iterator[None]:
    build.cache_clear()
    yield
    build.cache_clear()


def test_an_image_contains_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_BUILD", "3f4a75ab5123")
    assert build() == f"{version('arcadia')}+3f4a75ab5123"


def test_a_checkout_has_the_commit_of_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(building, "ROOT", tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "file").write_text("one")
    for command in (["init", "-q"], ["add", "file"], ["commit", "-qm", "One"]):
        subprocess.run([*git, *command], check=True)
    clean = build()
    assert re.fullmatch(re.escape(version("arcadia")) + r"\+[0-9a-f]{12}", clean)
    (tmp_path / "file").write_text("two")
    build.cache_clear()
    assert build() == f"{clean}-dirty"


def test_without_git_the_build_is_the_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(building, "ROOT", tmp_path)
    assert build() == version("arcadia")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("0.1.0+abc", "0.1.0+abc", False),
        ("0.1.0+abc", "0.1.0+abd", True),
        ("0.1.0+abc", "0.1.0", False),
        ("0.1.0+abc", "0.2.0", True),
    ],
)
def test_builds_differ_only_if_known_parts_differ(one: str, other: str, expected: bool) -> None:
    assert differ(one, other) == expected
