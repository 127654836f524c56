"""Hooks in the Python processes below `arcadia run`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from capture import commands
from reporting import scripts

CHILD = """
import multiprocessing, subprocess, sys, sitecustomize, arcadia
def log(number):
    arcadia.init(config={"started": True}).log({"number": number}, step=number)
if __name__ == "__main__":
    assert sitecustomize.MARK == "the user's own"
    log(1)
    process = multiprocessing.get_context("spawn").Process(target=log, args=(2,))
    process.start()
    process.join()
    subprocess.run([sys.executable, "-c", "import arcadia; arcadia.init().log({'number': 3}, step=3)"], check=True)
    with arcadia.init(tags=["one"]) as run:
        run.log({"number": 4}, step=4)
"""
# Stand-in for moviepy, as gymnasium uses it.
MOVIEPY = """
class ImageSequenceClip:
    def __init__(self, frames, fps):
        self.frames = frames
    def write_videofile(self, path, logger=None):
        open(path, "wb").write(b"\\0\\0\\0\\x20ftypisom" + bytes(len(self.frames)))
"""
RECORDS_VIDEO = """
import gymnasium
env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
env = gymnasium.wrappers.RecordVideo(env, sys.argv[1], episode_trigger=lambda episode: episode == 0)
for _ in range(2):
    env.reset(seed=1)
    while not any(env.step(0)[2:4]):
        pass
env.close()
"""


def test_processes_log_to_the_run_and_keep_the_users_sitecustomize(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text('MARK = "the user\'s own"\n')
    script = tmp_path / "train.py"
    script.write_text(CHILD)
    journals = tmp_path / "journals"
    path = f"{tmp_path}{os.pathsep}{commands.PACKAGES}"
    done = commands.run(["--", sys.executable, str(script)], journals, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert scripts.metrics(journals) == [(number, {"number": number}) for number in (1, 2, 3, 4)]
    events = scripts.events(journals)
    assert [each["outcome"] for each in scripts.of_kind("end", events)] == ["finished"]
    assert [each["add"] for each in scripts.of_kind("tags", events)] == [["one"]]
    assert len(scripts.of_kind("config", events)) == 2


def test_a_python_without_the_client_gets_it_and_nothing_else(tmp_path: Path) -> None:
    program = """
import importlib.util, sys
for name in [name for name in sys.modules if name.partition(".")[0] == "arcadia"]:
    del sys.modules[name]
sys.path[:] = [folder for folder in sys.path if "site-packages" not in folder and folder != %r]
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
assert importlib.util.find_spec("httpx") is None
import wandb
wandb.init()
wandb.log({"loss": 1.0})
"""
    done = commands.run_program(program % commands.PACKAGES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert scripts.metrics(tmp_path) == [(0, {"loss": 1.0})]


def test_videos_of_gymnasium_are_recorded(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    modules = tmp_path / "modules" / "moviepy" / "video" / "io"
    modules.mkdir(parents=True)
    for folder in (modules, modules.parent, modules.parent.parent):
        (folder / "__init__.py").touch()
    (modules / "ImageSequenceClip.py").write_text(MOVIEPY)
    script = tmp_path / "record.py"
    script.write_text("import sys\n" + RECORDS_VIDEO)
    journals = tmp_path / "journals"
    path = f"{tmp_path / 'modules'}{os.pathsep}{commands.PACKAGES}"
    videos = tmp_path / "videos"
    done = commands.run(["--", sys.executable, str(script), str(videos)], journals, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    (video,) = scripts.of_kind("media", scripts.events(journals))
    assert (video["name"], video["media"]) == ("video/videos", "video")
    (file,) = videos.glob("*.mp4")
    assert (scripts.directory(journals) / "files" / video["sha256"]).read_bytes() == file.read_bytes()
    assert video["caption"] == file.name


def test_gymnasium_is_hooked_without_stable_baselines3(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    program = """
import sys
sys.modules["stable_baselines3"] = None  # not installed
from gymnasium.wrappers import RecordVideo
assert RecordVideo.stop_recording.__wrapped__
"""
    done = commands.run_program(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_hooks_import_no_library_that_a_script_may_be_importing(tmp_path: Path) -> None:
    program = """
import sys
import arcadia.integrations as integrations
from types import SimpleNamespace
methods = {"add_scalar": lambda self, tag, value: None}
for name in ("_init_callback", "stop_recording", "_stop_recording"):
    methods[name] = lambda self: None
kind = type("Library", (), methods)
module = SimpleNamespace(SummaryWriter=kind, RecordVideo=kind, VecVideoRecorder=kind, BaseAlgorithm=kind)
for hook in integrations.HOOKS.values():
    hook(module)
print(sorted({name.partition(".")[0] for name in [*integrations.HOOKS]} & set(sys.modules)))
"""
    done = commands.run_program(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
