"""A bundle trains on a host that has only Python, and reaches only the backend."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arcadia_workers.worker.bundle import start
from tests.faults.cable import Cable
from tests.installation import CARTPOLE, TOKEN, Installation

# Packing and unpacking a gigabyte takes minutes on a busy machine.
BUNDLE_SECONDS = 1_800
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(2 * BUNDLE_SECONDS)]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack the worker."""
    file = tmp_path_factory.mktemp("bundle") / "arcadia"
    command = [sys.executable, "-m", "arcadia_workers.worker.bundle", "--output", str(file)]
    subprocess.run(command, check=True, timeout=BUNDLE_SECONDS)
    return file


@pytest.fixture
def cable() -> Iterator[Cable]:
    """Yield a cable to a host without another network."""
    cable = Cable()
    cable.plug()
    yield cable
    cable.remove()


def unbundled(bundle: Path, *arguments: str, folder: Path, prefix: tuple[str, ...] = ()) -> Any:
    """Run a bundle with the interpreter that has no packages of this environment."""
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return subprocess.run(
        [*prefix, str(python), "-I", str(bundle), *arguments],
        env={"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder), "ARCADIA_WORKER_TOKEN": TOKEN},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BUNDLE_SECONDS,
        check=False,
    )


def test_a_bundle_trains_on_a_host_without_internet(bundle: Path, cable: Cable, tmp_path: Path) -> None:
    folder = tmp_path / "host"
    folder.mkdir()
    installation = Installation(tmp_path / "server", host=cable.here, token="secret-of-users")
    installation.directory.mkdir(exist_ok=True)
    with installation:
        run = installation.launch(CARTPOLE, total_steps=3_000)
        url = f"http://{cable.here}:{installation.port}"
        job = ("worker", "--run", str(run), "--attempt", "1", "--once", "--backend-url", url)
        done = unbundled(bundle, *job, folder=folder, prefix=cable.prefix)
        assert done.returncode == 0, done.stdout + done.stderr
        finished = installation.run(run)
        assert (finished["state"], finished["step"] >= 3_000) == ("finished", True), finished["state_reason"]
        assert installation.wait_for_checkpoint(run) >= 3_000
    (unpacked,) = folder.glob("arcadia-bundle-*")
    # A second start uses what the first one has unpacked.
    before = unpacked.stat().st_ino
    assert unbundled(bundle, "--help", folder=folder).returncode == 0
    assert [each.stat().st_ino for each in folder.glob("arcadia-bundle-*")] == [before]


def test_another_version_of_python_is_refused_with_the_needed_one(bundle: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with zipfile.ZipFile(bundle) as packed, zipfile.ZipFile(other, "w") as changed:
        facts = json.loads(packed.read(start.FACTS))
        changed.writestr("__main__.py", packed.read("__main__.py"))
        changed.writestr(start.FACTS, json.dumps({**facts, "python": "3.99"}))
    done = unbundled(other, folder=tmp_path)
    assert done.returncode == 1
    assert f"This bundle needs Python 3.99 on {sysconfig.get_platform()}" in done.stderr
