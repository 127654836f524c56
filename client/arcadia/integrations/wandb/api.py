"""The names of the module wandb."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from arcadia.integrations.wandb.artifacts import Artifact, absent
from arcadia.integrations.wandb.run import AttributeMapping, Histogram, Image, Run, Table, Video
from arcadia.reporting.attached import attached_or_disabled, describe_attached

__all__ = ["Artifact", "Histogram", "Image", "Run", "Table", "Video"]
__version__ = "0.99.0"

run: Run | None = None
# Functions that are methods of the run.
_METHODS = ("link_model", "log_artifact", "log_model", "save", "use_artifact", "use_model")
_NOT_STARTED = "Call wandb.init() before wandb.{name}."


class AlertLevel(enum.Enum):
    """Level of an alert."""

    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


class Error(Exception):
    """An error of wandb."""


class Settings:
    """Settings of wandb, which have no effect."""

    def __init__(self, *_values: Any, **_named: Any) -> None:
        """Accept all."""


def init(
    entity: str | None = None,
    project: str | None = None,
    dir: Any = None,  # noqa: A002 - wandb's signature
    id: str | None = None,  # noqa: A002 - wandb's signature
    name: str | None = None,
    notes: str | None = None,
    tags: Iterable[str] | None = None,
    config: Any = None,
    group: str | None = None,
    job_type: str | None = None,
    **_others: Any,
) -> Run:
    """Start to log to the run of `arcadia run`, which gets the names. Group and job type are in its configuration."""
    global run
    del entity, dir, id
    target = attached_or_disabled()
    if run is None:
        run = Run(target, project, name, tags or (), notes or "", leave)
        run.group, run.job_type = group or "", job_type or ""
    describe_attached(target, name=name, project=project)
    target.config.update({field: value for field, value in (("group", group), ("job_type", job_type)) if value})
    if tags:
        target.tag(*tags)
    if notes:
        target.note(notes)
    run.config.update(config)
    return run


def leave(left: Run) -> None:
    """End the logging of a run. The next `init` continues the same run of Arcadia."""
    global run
    if run is left:
        run = None


def log(data: Mapping[str, Any], step: int | None = None, commit: bool | None = None, sync: bool | None = None) -> None:
    """Log metrics and media."""
    _started("log").log(data, step, commit, sync)


def finish(exit_code: int | None = None, quiet: bool | None = None) -> None:
    """End the logging."""
    if run is not None:
        run.finish(exit_code, quiet)


def alert(title: str, text: str = "", level: Any = "INFO", wait_duration: Any = None) -> None:
    """Raise an alert."""
    _started("alert").alert(title, text, level, wait_duration)


def define_metric(name: str, step_metric: Any = None, **options: Any) -> None:
    """Use another metric as the step of metrics whose names match."""
    _started("define_metric").define_metric(name, step_metric, **options)


def watch(*models: Any, **options: Any) -> None:
    """Print that gradients are not recorded."""
    _started("watch").watch(*models, **options)


def unwatch(*_models: Any) -> None:
    """Do nothing, because `watch` does nothing."""


def login(*_arguments: Any, **_named: Any) -> bool:
    """Accept every key. Uploads use the token of `arcadia login`."""
    return True


def setup(*_arguments: Any, **_named: Any) -> None:
    """Do nothing."""


def require(*_arguments: Any, **_named: Any) -> None:
    """Do nothing."""


def termlog(text: str = "", **_named: Any) -> None:
    """Print a line."""
    print(text, file=sys.stderr)


def __getattr__(name: str) -> Any:
    if name == "config":
        return AttributeMapping(attached_or_disabled().config.update) if run is None else run.config
    if name == "summary":
        return _started(name).summary
    if name in _METHODS:
        return getattr(_started(name), name)
    return absent(name)


def _started(name: str) -> Run:
    if run is None:
        raise Error(_NOT_STARTED.format(name=name))
    return run
