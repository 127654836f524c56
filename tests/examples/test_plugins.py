"""Tests of the plug-ins in examples/plugins, which pip installs: the plug-ins work and learn."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin_packages import Site

REPOSITORY = Path(__file__).parents[2]
PLUGINS = sorted(path.parent.name for path in (REPOSITORY / "examples" / "plugins").glob("*/pyproject.toml"))


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PLUGINS)
def test_the_own_tests_of_an_installed_plugin_pass(name: str, tmp_path: Path) -> None:
    source = shutil.copytree(REPOSITORY / "examples" / "plugins" / name, tmp_path / name)
    site = Site(tmp_path / "site")
    site.pip_install(source)
    path = os.pathsep.join(map(str, (site.folder, REPOSITORY, REPOSITORY / "client")))
    own = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={source}", str(source / "tests")]
    done = subprocess.run(
        own, env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
