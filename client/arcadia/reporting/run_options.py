"""Options of a reported run, and the registration that they make."""

from __future__ import annotations

import argparse
import dataclasses
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal, cast, get_args

from arcadia.errors import ArcadiaError
from arcadia.reporting.provenance import relevant_variables
from arcadia.reporting.values import quoted, to_text, to_texts, to_total_steps, typed
from arcadia.settings import resolve_project


class RunConfig(MutableMapping[str, Any]):
    """Mapping of settings. Each change is logged. Keys cannot be removed."""

    def __init__(
        self,
        values: Mapping[str, Any],
        log: Callable[[dict[str, Any]], None],
        warn: Callable[[str, str], None],
    ) -> None:
        self._values, self._log, self._warn = dict(values), log, warn

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        raise ArcadiaError(f"The setting {name} cannot be removed. Set it to None.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"RunConfig({self._values!r})"

    def update(self, *values: Any, **named: Any) -> None:
        """Change or add settings: a mapping, a namespace of argparse, a dataclass, or named values.

        Leave out other objects with a warning.
        """
        changed = {name: value for each in values for name, value in self._mapping(each).items()} | named
        if changed:
            self._values |= changed
            self._log(changed)

    def _mapping(self, config: Any) -> dict[str, Any]:
        try:
            return as_mapping(config)
        except ArcadiaError as error:
            self._warn("config", f"Settings were left out. {error}")
            return {}


def as_mapping(config: Any, noun: str = "configuration") -> dict[str, Any]:
    """Return settings as a dict. Raise ArcadiaError if their type has no names."""
    if config is None:
        return {}
    if isinstance(config, argparse.Namespace):
        return vars(config)
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        return {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    try:
        return {str(name): value for name, value in dict(config).items()}
    except (TypeError, ValueError):
        raise ArcadiaError(
            f"The {noun} is a {type(config).__name__}. Use a mapping, a dataclass or a namespace of argparse."
        ) from None


Mode = Literal["online", "offline", "disabled"]
Resume = Literal["allow", "must", "never"]
MODES, RESUMES = get_args(Mode), get_args(Resume)
# Fields of the registration that a captured script may also set.
DESCRIBED = ("name", "project", "method", "env")
# Values of ARCADIA_SYSTEM_METRICS.
OFF = ("off", "0", "false", "no")


@dataclass(frozen=True)
class RunOptions:
    """The arguments of `arcadia.init`, and facts about the library or command that logs the run."""

    project: str | None = None
    name: str | None = None
    config: Any = None
    _: KW_ONLY
    method: str | None = None
    env: str | None = None
    tags: Iterable[str] = ()
    notes: str = ""
    total_steps: int | None = None
    id: str | None = None
    resume: Resume = "allow"
    mode: Mode | None = None
    directory: str | os.PathLike[str] | None = None
    url: str | None = None
    token: str | None = None
    system_metrics: bool | None = None
    # Used without a name, and replaced by the name that a captured script gives its run.
    default_name: str | None = None
    origin_label: str = "Python"
    # The command that is the script, if it is not this process.
    command: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raise ArcadiaError for an argument that no run can be started with."""
        if self.resume not in RESUMES:
            raise ArcadiaError(f"resume cannot be {quoted(self.resume)}. Use allow, must or never.")
        if self.directory is not None and not isinstance(self.directory, str | os.PathLike):
            raise ArcadiaError(f"directory is the path of a folder, not {quoted(self.directory)}.")
        as_mapping(self.config)

    def resolve_mode(self) -> Mode:
        """Return the mode: given, ARCADIA_MODE, or online. Raise ArcadiaError if it does not exist."""
        mode = self.mode or os.environ.get("ARCADIA_MODE", "online")
        if mode in MODES:
            return cast("Mode", mode)
        raise ArcadiaError(f"The mode {mode!r} does not exist. Use online, offline or disabled.")

    def records_system_metrics(self) -> bool:
        """Return whether to record system metrics: given, or true unless ARCADIA_SYSTEM_METRICS is off."""
        if self.system_metrics is not None:
            return self.system_metrics
        return os.environ.get("ARCADIA_SYSTEM_METRICS", "").strip().lower() not in OFF

    def registration(self, key: str, writer: str) -> dict[str, Any]:
        """Return the request that registers a writer of the run."""
        fields = {
            "key": key,
            "writer": writer,
            "name": to_text(self.name) or self.default_name,
            "project": resolve_project(to_text(self.project)),
            "method": to_text(self.method),
            "env": to_text(self.env),
            "config": typed(as_mapping(self.config)),
            "tags": to_texts(self.tags),
            "notes": to_text(self.notes) or None,
            "total_steps": to_total_steps(self.total_steps),
            "origin": "reported",
            "origin_label": self.origin_label,
            "host": socket.gethostname(),
            "command": self._command_line(),
            "started_at": datetime.now(timezone.utc).isoformat(),
            "resume": self.resume,
        }
        return {field: value for field, value in fields.items() if value is not None}

    def script_facts(self) -> dict[str, Any]:
        """Return the facts for the provenance that only the script's process knows."""
        if self.command:
            main = next((part for part in self.command if part.endswith(".py") and Path(part).is_file()), None)
        else:
            main = getattr(sys.modules.get("__main__"), "__file__", None)
        folder = Path(main).absolute().parent if main else Path.cwd()
        return {
            "folder": str(folder),
            "command": self._command_line(),
            "environment": relevant_variables(os.environ),
        }

    def _command_line(self) -> list[str]:
        return list(self.command) or [Path(sys.executable or "python").name, *sys.orig_argv[1:]]
