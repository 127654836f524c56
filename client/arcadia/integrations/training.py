"""Recording of trainings of Stable-Baselines3, and of videos of its and gymnasium's recorders.

A hook runs while the script imports the library. So this module imports neither library: an import of
stable_baselines3 here would find it partially initialized.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from arcadia.reporting.attached import attached_run, not_stopping
from arcadia.reporting.media import Video


def record_training(kind: Any) -> None:
    """Patch SB3's models so that they log to the run of `arcadia run`, unless a callback of the script does."""
    original = kind._init_callback

    @functools.wraps(original)
    def init_callback(self: Any, callback: Any, *arguments: Any, **named: Any) -> Any:
        if attached_run() is not None:
            with not_stopping("A training of Stable-Baselines3"):
                from arcadia.integrations.sb3 import with_callback

                callback = with_callback(callback)
        return original(self, callback, *arguments, **named)

    kind._init_callback = init_callback


def record_gymnasium(kind: Any) -> None:
    """Patch gymnasium's RecordVideo so that it also logs its videos."""
    original = kind.stop_recording

    @functools.wraps(original)
    def stop_recording(self: Any, *arguments: Any, **named: Any) -> Any:
        name = self._video_name
        result = original(self, *arguments, **named)
        with not_stopping("A video of RecordVideo"):
            log_video(Path(self.video_folder) / f"{name}.mp4", getattr(self, "step_id", 0))
        return result

    kind.stop_recording = stop_recording


def record_sb3(kind: Any) -> None:
    """Patch Stable-Baselines3's VecVideoRecorder so that it also logs its videos."""
    original = kind._stop_recording

    @functools.wraps(original)
    def stop_recording(self: Any, *arguments: Any, **named: Any) -> Any:
        result = original(self, *arguments, **named)
        with not_stopping("A video of VecVideoRecorder"):
            log_video(Path(self.video_path), getattr(self, "step_id", 0))
        return result

    kind._stop_recording = stop_recording


def log_video(file: Path, step: int) -> None:
    """Log a video at the run's step. `step`, which counts one environment's steps, is for a run without any."""
    run = attached_run()
    if run is not None and file.is_file():
        step = run.step if run.step >= 0 else step
        run.log({f"video/{file.parent.name}": Video(file, caption=file.name)}, step=step)
