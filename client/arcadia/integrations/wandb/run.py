"""A run of wandb's scripts, which logs to the run of `arcadia run`."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from arcadia.integrations.wandb import artifacts
from arcadia.integrations.wandb.artifacts import absent
from arcadia.reporting import media
from arcadia.reporting.attached import WANDB_LEVELS, describe_attached, not_stopping, warn_once, with_standard_names
from arcadia.reporting.media import to_array
from arcadia.reporting.run import ReportedRun
from arcadia.reporting.run_options import as_mapping
from arcadia.reporting.values import flatten


class AttributeMapping(MutableMapping[str, Any]):
    """A mapping whose keys are also attributes. Changes are logged."""

    def __init__(self, log: Callable[[dict[str, Any]], None]) -> None:
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_log", log)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"{name} was not set") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def update(self, values: Any = None, allow_val_change: bool | None = None, **named: Any) -> None:  # type: ignore[override] # noqa: ARG002 - wandb's signature
        """Change or add values."""
        changed = as_mapping(values) | named
        self._values.update(changed)
        if changed:
            self._log(changed)

    def setdefaults(self, values: Any) -> None:
        """Add the values whose keys are missing."""
        self.update({name: value for name, value in as_mapping(values).items() if name not in self._values})

    def as_dict(self) -> dict[str, Any]:
        """Return a copy."""
        return dict(self._values)

    def set_logged(self, values: dict[str, Any]) -> None:
        """Change values without logging them, because they are logged elsewhere."""
        self._values.update(values)


class Image:
    """An image: a path, an array, a tensor, a Pillow image or a matplotlib figure."""

    def __init__(self, data_or_path: Any, *_unused: Any, caption: str | None = None, **_others: Any) -> None:
        self._media = media.Image(data_or_path, caption)

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media."""
        return self._media


class Video:
    """A video: a path, or an array with the dimensions (time, channel, height, width)."""

    def __init__(
        self, data_or_path: Any, caption: str | None = None, fps: float | None = None, *_unused: Any, **_others: Any
    ) -> None:
        if hasattr(data_or_path, "detach"):
            data_or_path = to_array(data_or_path)
        if hasattr(data_or_path, "transpose"):
            data_or_path = data_or_path.transpose(0, 2, 3, 1)
        self._media = media.Video(data_or_path, fps or 4, caption)

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media."""
        return self._media


class Histogram:
    """A histogram of values, or NumPy's counts and edges."""

    def __init__(self, sequence: Any = None, np_histogram: Any = None, num_bins: int = 64) -> None:
        if np_histogram is None:
            self._media = media.Histogram(sequence, min(num_bins, media.MAX_BINS))
        else:
            counts, edges = np_histogram
            self._media = media.Histogram(edges=list(edges), counts=list(counts))

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media."""
        return self._media


class Table:
    """A table, to which rows are added until it is logged."""

    def __init__(
        self, columns: Sequence[Any] | None = None, data: Any = None, rows: Any = None, dataframe: Any = None, **_o: Any
    ) -> None:
        if dataframe is not None:
            columns, data = list(dataframe.columns), dataframe.values.tolist()
        self.data: list[Any] = [list(row) for row in (data if data is not None else rows or [])]
        self.columns = list(columns or ["Input", "Output", "Expected"])

    def add_data(self, *row: Any) -> None:
        """Add a row."""
        self.data.append(list(row))

    def add_column(self, name: str, data: Sequence[Any], *_unused: Any) -> None:
        """Add a column."""
        self.columns.append(name)
        for number, value in enumerate(data):
            if number == len(self.data):
                self.data.append([])
            self.data[number].append(value)

    def to_arcadia(self) -> media.Media:
        """Return Arcadia's media, with its first rows if there are too many."""
        rows = [[_cell(value) for value in row] for row in self.data]
        return media.Table(self.columns, rows[: media.MAX_CELLS // max(1, len(self.columns))])


def to_arcadia(value: Any) -> Any:
    """Return a logged value as Arcadia logs it."""
    if hasattr(value, "to_arcadia"):
        return value.to_arcadia()
    if isinstance(value, list | tuple) and value and all(hasattr(each, "to_arcadia") for each in value):
        return [each.to_arcadia() for each in value]
    if hasattr(value, "savefig"):
        return media.Image(value)
    return value


def _cell(value: Any) -> Any:
    return f"<{type(value).__name__}>" if hasattr(value, "to_arcadia") else value


WATCH = "wandb.watch has no effect: Arcadia does not record gradients and parameters."


class Run:
    """A run with the names of wandb.Run."""

    resumed = disabled = offline = False
    sweep_id = entity = None

    def __init__(
        self,
        target: ReportedRun,
        project: str | None,
        name: str | None,
        tags: Iterable[str],
        notes: str,
        leave: Callable[[Run], None],
    ) -> None:
        self._target, self._leave = target, leave
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
        flat = dict(flatten(data))
        number = self._step_in(flat) if step is None else self.step
        with not_stopping("A call of wandb.log"):
            values = {name: to_arcadia(value) for name, value in flat.items() if value is not None}
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
        artifact = artifacts.use(name)
        folder = Path(artifact.download())
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
        saved: list[str] = []
        if glob_str is not None:
            with not_stopping("A call of wandb.save"):
                saved = artifacts.save(str(glob_str), base_path)
                if policy != "now":
                    self._saved[str(glob_str)] = base_path
                    atexit.register(self._save_again)
        return saved

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
        self._leave(self)

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
            logged = {f"summary/{name}": to_arcadia(value) for name, value in flatten(values) if value is not None}
            for name in [name for name, value in logged.items() if isinstance(value, str)]:
                self._target.write(f"{name}: {logged.pop(name)}")
            self._target.log(logged, step=max(self._target.step, 0))


def _matches(name: str, pattern: str) -> bool:
    return pattern.endswith("*") and name.startswith(pattern[:-1])
