"""Schedulers that train runs in jobs of their own. Workers train the other runs.

A scheduler is one module with a class that has the functions of `Executor`, and one line in `EXECUTORS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from arcadia_backend.executors.executor import Executor
from arcadia_backend.executors.slurm import Slurm, SlurmSettings


@dataclass(frozen=True)
class ExecutorKind:
    """A scheduler that can be set up."""

    settings: type[BaseModel]
    # Opens it with its settings, and with the seconds for which a listing of jobs may be used again.
    open: Callable[[Any, float], Executor]


EXECUTORS: Mapping[str, ExecutorKind] = {"slurm": ExecutorKind(SlurmSettings, Slurm)}
