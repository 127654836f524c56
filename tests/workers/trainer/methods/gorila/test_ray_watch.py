"""Tests for the program that cleans up after Ray."""

import subprocess
import sys
from pathlib import Path

from arcadia_workers.trainer.methods.gorila import ray_watch
from tests.workers.waiting import PATIENCE_SECONDS

HOLD = "import sys; file = open(sys.argv[1], 'w'); print('open', flush=True); sys.stdin.read()"


def holding(file: Path) -> subprocess.Popen[str]:
    """Start a process that has a file open."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "open\n"
    return process


def test_when_its_input_ends_it_kills_the_users_of_the_folder_and_deletes_it(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "ray", tmp_path / "ray-of-others"
    for each in (folder / "logs", elsewhere):
        each.mkdir(parents=True)
    user, other = holding(folder / "logs" / "raylet.out"), holding(elsewhere / "raylet.out")
    with (folder / "driver.log").open("w"):  # so that this test, which starts the watch, also uses the folder
        watch = subprocess.Popen([sys.executable, "-I", "-S", ray_watch.__file__, str(folder)], stdin=subprocess.PIPE)
        assert set(ray_watch.users_of(folder)) >= {user.pid}
        watch.communicate(timeout=PATIENCE_SECONDS)
    assert user.wait(timeout=PATIENCE_SECONDS) == -9
    assert other.poll() is None
    assert not folder.exists()
    other.communicate()
    assert other.returncode == 0
