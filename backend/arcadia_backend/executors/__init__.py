"""Schedulers that train each run in a job. Workers train the other runs.

A scheduler is one module with a class that has the functions of `Executor`, and one line in `EXECUTORS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from arcadia_backend.config import Settings
from arcadia_backend.executors.executor import Executor, JobSettings
from arcadia_backend.executors.ray import Ray, RaySettings
from arcadia_backend.executors.slurm import Slurm, SlurmSettings


@dataclass(frozen=True)
class ExecutorKind:
    """A scheduler that can be set up."""

    settings: type[JobSettings]
    # Opens it with its settings, those of the server, and the seconds for which a listing of jobs may be used again.
    open: Callable[[Any, Settings, float], Executor]
    # A job that has not been listed for this long has ended, if no worker sends heartbeats for it.
    missing_after: timedelta


EXECUTORS: Mapping[str, ExecutorKind] = {
    "slurm": ExecutorKind(SlurmSettings, lambda own, _server, seconds: Slurm(own, seconds), timedelta(minutes=10)),
    # Ray lists each job until its cluster ends.
    "ray": ExecutorKind(
        RaySettings, lambda own, server, seconds: Ray(own, server.ray_token, seconds), timedelta(0, 30)
    ),
}
