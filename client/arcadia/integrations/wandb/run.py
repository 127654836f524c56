"""A run of wandb's scripts, which logs to the run of `arcadia run`."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from arcadia.integrations.attached import describe_attached
from arcadia.integrations.standard_names import WANDB_LEVELS, with_standard_names
from arcadia.integrations.wandb import artifacts
from arcadia.integrations.wandb.absent import absent
from arcadia.integrations.wandb.attribute_mapping import AttributeMapping
from arcadia.integrations.wandb.data_types import to_arcadia
from arcadia.integrations.warnings import not_stopping, warn_once
from arcadia.reporting.run import ReportedRun
from arcadia.reporting.values import flatten

WATCH = "wandb.watch has no effect: Arcadia does not record gradients and parameters."


class Run:
    """A run with the names of wandb.Run."""

    resumed = disabled = offline = False
    sweep_id = entity = None

    def __init__(
        self, target: ReportedRun, project: str | None, name: str | None, tags: Iterable[str], notes: str = ""
    ) -> None:
        self._target = target
        self.project, self._name = project or "", name or target.id
        self._tags, self._notes = tuple(tags), notes
        self.group = self.job_type = ""
        self.step = 0
        self.config = AttributeMapping(target.config.update)
        self.summary = AttributeMapping(self._log_summary)
        # Name of the metric that is the step, by pattern of the other metrics' names.
        self._step_metrics: dict[str, str] = {}
        # Base paths of `save`, by pattern.
        self._saved: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The run's name. Setting it renames the run of `arcadia run`, unless that was given a name."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name
        describe_attached(self._target, name=name)

    @property
    def notes(self) -> str:
        """The run's notes."""
        return self._notes

    @notes.setter
    def notes(self, notes: str) -> None:
        self._notes = notes
        self._target.note(notes)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the script has set."""
        return self._tags

    @tags.setter
    def tags(self, tags: Iterable[str]) -> None:
        before, self._tags = self._tags, tuple(tags)
        self._target.tag(*self._tags)
        if removed := set(before) - set(self._tags):
            self._target.untag(*sorted(removed))

    @property
    def id(self) -> str:
        """The id of the run of `arcadia run`."""
        return self._target.id

    @property
    def url(self) -> str:
        """The run's page in Arcadia, or an empty text before the server has answered."""
        return self._target.url or ""

    @property
    def dir(self) -> str:
        """A folder for files, which are not uploaded."""
        folder = Path("wandb", f"run-{self.id}", "files")
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    @property
    def path(self) -> str:
        """Project and id."""
        return f"{self.project}/{self.id}"

    def get_url(self) -> str:
        """Return the run's page."""
        return self.url

    def log(
        self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None, sync: bool | None = None
    ) -> None:
        """Log metrics and media. `commit=False` keeps the step for the next call."""
        del sync
        if step is not None:
            self.step = int(step)
        found = dict(flatten(data))
        number = self._step_in(found) if step is None else self.step
        with not_stopping("A call of wandb.log"):
            values = {name: to_arcadia(value) for name, value in found.items() if value is not None}
            for name in [name for name, value in values.items() if isinstance(value, str)]:
                self._target.write(f"{name}: {values.pop(name)}")
            self.summary.set_logged({name: value for name, value in values.items() if isinstance(value, int | float)})
            self._target.log(with_standard_names(values), step=self.step if number is None else number)
        if commit or (commit is None and step is None):
            self.step += 1

    def define_metric(self, name: str, step_metric: Any = None, **_unused: Any) -> None:
        """Use another metric as the step of metrics whose names match."""
        if step_metric is not None:
            self._step_metrics[str(name)] = str(getattr(step_metric, "name", step_metric))

    def alert(self, title: str, text: str = "", level: Any = "INFO", wait_duration: Any = None) -> None:
        """Raise an alert."""
        del wait_duration
        self._target.alert(title, text, WANDB_LEVELS.get(str(getattr(level, "value", level)).upper(), "info"))  # type: ignore[arg-type]

    def watch(self, *_models: Any, **_options: Any) -> None:
        """Print that gradients are not recorded."""
        warn_once("watch", WATCH)

    def unwatch(self, *_models: Any) -> None:
        """Do nothing, because `watch` does nothing."""

    def log_artifact(
        self,
        artifact_or_path: Any,
        name: str | None = None,
        type: str | None = None,  # noqa: A002 - wandb's signature
        aliases: Iterable[str] | None = None,
        **_others: Any,
    ) -> Any:
        """Log an artifact, or the artifact of a file or a folder."""
        return artifacts.log(artifact_or_path, aliases, name, type)

    def use_artifact(self, artifact_or_name: Any, *_unused: Any, **_named: Any) -> Any:
        """Return an artifact of the run's project, and log that the run uses it."""
        return artifacts.use(artifact_or_name)

    def log_model(
        self, path: Any, name: str | None = None, aliases: Iterable[str] | None = None, **_others: Any
    ) -> None:
        """Log a file or a folder as a model."""
        artifacts.log(path, aliases, name, "model")

    def use_model(self, name: str) -> str:
        """Return the path of a model: its only file, or their folder."""
        found = artifacts.use(name)
        folder = Path(found.download())
        files = [each for each in folder.rglob("*") if each.is_file()]
        return str(files[0] if len(files) == 1 else folder)

    def link_model(
        self,
        path: Any,
        registered_model_name: str,
        name: str | None = None,
        aliases: Iterable[str] | None = None,
    ) -> None:
        """Log a model under its registered name. Arcadia has no registry beside the artifacts of a project."""
        del name
        artifacts.log(path, aliases, registered_model_name, "model")

    def link_artifact(self, artifact: Any, target_path: str, aliases: Iterable[str] | None = None) -> Any:
        """Log an artifact again, under the last part of the target's name."""
        return artifacts.log(artifact, aliases, target_path.rpartition("/")[2])

    def save(self, glob_str: Any = None, base_path: Any = None, policy: str = "live", **_others: Any) -> list[str]:
        """Log the files that match a pattern now, and those that have changed at the end of the script."""
        found: list[str] = []
        if glob_str is not None:
            with not_stopping("A call of wandb.save"):
                found = artifacts.save(str(glob_str), base_path)
                if policy != "now":
                    self._saved[str(glob_str)] = base_path
                    atexit.register(self._save_again)
        return found

    def _save_again(self) -> None:
        """Log the saved files again. Those that are the same make no new version."""
        while self._saved:
            pattern, base_path = self._saved.popitem()
            with not_stopping("A call of wandb.save"):
                if not artifacts.save(pattern, base_path):
                    warn_once(f"save {pattern}", f"wandb.save found no file {pattern}, so nothing was logged.")

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        """End the logging. `arcadia run` ends the run, because it knows the exit status."""
        del exit_code, quiet
        self._save_again()
        from arcadia.integrations.wandb import api

        api.leave(self)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: Any) -> None:
        self.finish()

    def __getattr__(self, name: str) -> Any:
        return absent(f"run.{name}" if not name.startswith("__") else name)

    def _step_in(self, data: Mapping[str, Any]) -> int | None:
        for pattern, metric in self._step_metrics.items():
            matches = any(name == pattern or _matches(name, pattern) for name in data if name != metric)
            if matches and isinstance(value := data.get(metric), int | float):
                return int(value)
        return None

    def _log_summary(self, values: dict[str, Any]) -> None:
        """Log a summary: numbers as metrics at the last step, and texts to the log."""
        with not_stopping("A value of wandb.summary"):
            found = {f"summary/{name}": to_arcadia(value) for name, value in flatten(values) if value is not None}
            for name in [name for name, value in found.items() if isinstance(value, str)]:
                self._target.write(f"{name}: {found.pop(name)}")
            self._target.log(found, step=max(self._target.step, 0))


def _matches(name: str, pattern: str) -> bool:
    return pattern.endswith("*") and name.startswith(pattern[:-1])
