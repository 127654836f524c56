"""Tests that packages from the templates are complete and pass their tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from arcadia_workers.contract.plugins import trial
from arcadia_workers.contract.plugins.trial import ScaffoldError
from tests.plugin_packages import ENVIRONMENT, METHOD, Site


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "name"), [("environment", ENVIRONMENT), ("method", METHOD)])
def test_the_tests_of_a_new_package_pass(site: Site, kind: trial.Kind, name: str) -> None:
    site.install_template(kind, name)
    tests = site.folder.parent / f"source-of-{name}" / "tests"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_a_new_package_does_not_overwrite_files(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ScaffoldError, match="is not empty"):
        trial.create("method", METHOD, tmp_path)


@pytest.mark.parametrize("name", ["Toy", "toy/../x", "toy_", "1toy", ""])
def test_only_valid_package_names_are_accepted(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScaffoldError, match="is not a name for a package"):
        trial.create("method", name, tmp_path / "new")
