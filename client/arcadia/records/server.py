"""The fields of the server, and of projects, reports, views and alerts."""

from __future__ import annotations

import csv
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

from arcadia.records import Record


class Worker(Record):
    """A worker."""

    name: str
    """Name of the worker."""

    host: str
    """Host that it runs on."""

    host_name: str
    """The name that people gave its host, or an empty text."""

    queue: str
    """The queue that it takes runs from, cpu or gpu."""

    state: str
    """One of idle, busy and gone."""

    desired: str
    """Whether it should work, pause after its work, or drain, which gives its work back."""

    run_id: int | None
    """Number of the run that it trains."""

    device: str
    """Device of the networks, such as cpu."""

    cores: int
    """Number of processor cores."""

    labels: list[str]
    """Labels of its host, which runs may need."""

    last_seen_at: datetime
    """Time of the last heartbeat."""

    def __repr__(self) -> str:
        return f"<Worker {self.name!r} on {self.host}: {self.state}>"


class Cap(Record):
    """What a person or a project may use, and what was used this month. None is no limit."""

    kind: str
    """Either person or project."""

    name: str
    """Name of the person or the project."""

    max_runs: int | None
    """Runs that may train at once."""

    runs: int
    """Runs that train now."""

    core_hours: float | None
    """Core hours in a month, in UTC."""

    used_core_hours: float
    """Core hours of this month."""

    gpu_hours: float | None
    """GPU hours in a month, in UTC."""

    used_gpu_hours: float
    """GPU hours of this month."""

    def __repr__(self) -> str:
        return f"<Cap of {self.kind} {self.name!r}>"


class StartCalibration(Record):
    """Forecasts of when waiting runs start, compared with what happened, over all projects."""

    days: int
    """Number of days until now that it covers."""

    undisturbed: dict[str, Any]
    """Forecasts whose run nobody overtook: forecasts, on_time, share, and its 95 % interval from low to high."""

    all: dict[str, Any]
    """The same of all forecasts."""

    relative_error: float | None
    """Median difference of expected and real wait over the real wait. None if there are too few forecasts."""

    waiting: int
    """Forecasts of runs that wait, and whose stated time has not passed."""

    without_time: int
    """Forecasts that stated no time."""

    waits: list[dict[str, Any]]
    """Expected and real waits in seconds, by the expected wait."""


class UsageRow(Record):
    """Hours of one combination of groups. Fields of other groups are None."""

    month: str | None
    """Month in UTC, such as 2026-12."""

    person: str | None
    """Name of the person."""

    project: str | None
    """Name of the project, or None if it was deleted or is hidden."""

    study: str | None
    """Name of the study."""

    kind: str | None
    """Kind of work: training, or the kind of the job."""

    core_hours: float
    """Core hours."""

    gpu_hours: float
    """GPU hours."""

    attempts: int
    """Number of attempts."""

    def __repr__(self) -> str:
        names = (self.month, self.person, self.project, self.study, self.kind)
        what = ", ".join(name for name in names if name)
        return f"<UsageRow {what}: {self.core_hours:.1f} core hours, {self.gpu_hours:.1f} GPU hours>"


class ExecutorChoice(Record):
    """A place where runs can train."""

    name: str
    """Name, as `launch` takes it."""

    title: str
    """Title for display."""

    is_default: bool
    """Whether runs train there if neither they nor their project choose a place."""

    def __repr__(self) -> str:
        return f"<ExecutorChoice {self.name!r}{', default' if self.is_default else ''}>"


class Preset(Record):
    """A named configuration that runs start from."""

    name: str
    """Name, as `launch` takes it."""

    title: str
    """Title for display."""

    @property
    def description(self) -> str:
        """Sentence that says what the preset shows."""
        return str(self.data["shows"])

    config: dict[str, Any]
    """All settings."""

    @property
    def env(self) -> str:
        """Environment."""
        return str(self.config["env"])

    @property
    def algorithm(self) -> str:
        """Method."""
        return str(self.config["algorithm"])

    def __repr__(self) -> str:
        return f"<Preset {self.name!r}: {self.algorithm} on {self.env}>"


class Health(Record):
    """Health of the server."""

    version: str
    """Version of the server."""

    @property
    def is_ok(self) -> bool:
        """True if the database, the broker and the disk are fine."""
        return bool(self.data["status"] == "ok")

    @property
    def problems(self) -> list[str]:
        """Problems, as sentences."""
        parts = ("database", "broker", "disk")
        return [f"{part}: {self.data[part]['detail']}" for part in parts if not self.data[part]["ok"]]

    workers: int
    """Number of connected workers."""

    def __repr__(self) -> str:
        workers = f"{self.workers} worker{'' if self.workers == 1 else 's'}"
        return f"<Health {self.data['status']}, version {self.version}, {workers}>"


class ProjectRecord(Record):
    """The fields of a project. A list leaves out the text, the pinned report and the best agents."""

    id: int
    """Number of the project."""

    name: str
    """Name, which is unique without regard to case."""

    @property
    def run_count(self) -> int:
        """Number of runs that are not archived."""
        return int(self.data["runs"])

    @property
    def active_run_count(self) -> int:
        """Number of runs that train now."""
        return int(self.data["active_runs"])

    @property
    def study_count(self) -> int:
        """Number of studies."""
        return int(self.data["studies"])

    @property
    def report_count(self) -> int:
        """Number of reports."""
        return int(self.data["reports"])

    last_activity: datetime
    """When a run, study or report of it last started, ended or changed."""

    @property
    def text(self) -> str | None:
        """Text of its page, as Markdown. None in a list."""
        return self._text("text") if "text" in self.data else None

    @property
    def executor(self) -> str | None:
        """Where its runs train by default. None is the default of the server, and in a list."""
        return self._text("executor") if self.data.get("executor") else None

    @property
    def best_agents(self) -> list[dict[str, Any]]:
        """The best run of each environment. Empty in a list."""
        return list(self.data.get("best_agents", []))

    def __repr__(self) -> str:
        return f"<Project {self.id} {self.name!r}: {self.run_count} runs>"


class MovedItems(Record):
    """Items that were moved into a project. Items that do not exist are left out."""

    @property
    def run_ids(self) -> list[int]:
        """Numbers of the runs, including those of moved studies."""
        return list(self.data["runs"])

    @property
    def study_ids(self) -> list[int]:
        """Numbers of the studies."""
        return list(self.data["studies"])

    @property
    def report_ids(self) -> list[int]:
        """Numbers of the reports."""
        return list(self.data["reports"])


class ReportRecord(Record):
    """The fields of a report: a page of text, figures, tables and replays."""

    id: int
    """Number of the report."""

    title: str
    """Title."""

    project: str
    """Name of the project."""

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Blocks. Lists of reports leave them out."""
        blocks = self.data["blocks"]
        return [dict(block) for block in blocks] if isinstance(blocks, list) else []

    share_token: str | None
    """Token of the read-only link."""

    updated_at: datetime
    """Time of the last change."""

    def __repr__(self) -> str:
        return f"<Report {self.id} {self.title!r}>"


_LISTS = ("state", "tag", "env", "algorithm", "origin")
_TEXTS = ("text", "filter", "sort")


class SavedView(Record):
    """A named view of the runs of a project: the query of the runs page."""

    id: int
    """Number of the view."""

    name: str
    """Name, which is unique in its project without regard to case."""

    project: str
    """Name of the project."""

    query: str
    """Query of the runs page: filters, columns, order, groups, baseline and charts."""

    @property
    def run_query(self) -> dict[str, Any]:
        """Filters and order, as `Client.runs` takes them: `client.runs(**view.run_query)`."""
        given = parse_qs(self.query)
        query: dict[str, Any] = {name: given[name] for name in _LISTS if name in given}
        query |= {name: given[name][0] for name in _TEXTS if name in given}
        return query | ({"archived": True} if given.get("archived") == ["true"] else {})

    @property
    def group_by(self) -> list[str]:
        """Columns and fields that the runs are grouped by, outermost first."""
        return self._listed("by")

    @property
    def columns(self) -> list[str]:
        """Columns of the table, such as config.learning_rate. Empty for those of the browser."""
        # A width and a pin may follow: config.learning_rate~120!
        return [column.removesuffix("!").partition("~")[0] for column in self._listed("columns")]

    def _listed(self, name: str) -> list[str]:
        return next(csv.reader(parse_qs(self.query).get(name, [])), [])

    def __repr__(self) -> str:
        return f"<SavedView {self.id} {self.name!r}>"


class Alert(Record):
    """Something that a person should know, such as a failed run."""

    id: int
    """Number of the alert."""

    kind: str
    """Kind, such as run_failed, study_verdict or script."""

    level: str
    """One of info, warning and error."""

    title: str
    """Title."""

    text: str
    """Details. It may be empty."""

    run_id: int | None
    """Number of the run that it concerns."""

    study_id: int | None
    """Number of the study that it concerns."""

    created_at: datetime
    """Time when it was raised."""

    read_at: datetime | None
    """Time when it was marked as read."""

    ended_at: datetime | None
    """Time when its condition ended, such as a full disk."""

    def __repr__(self) -> str:
        return f"<Alert {self.id} {self.kind}: {self.title!r}>"


class AlertChannelRecord(Record):
    """The fields of a channel, which delivers alerts to another program."""

    id: int
    """Number of the channel."""

    kind: str
    """One of webhook and apprise."""

    name: str
    """Name."""

    address: str
    """Address, without parts that may be secret."""

    @property
    def kinds(self) -> list[str] | None:
        """Kinds of alerts that it delivers. None means all."""
        kinds = self.data["kinds"]
        return None if kinds is None else list(kinds)

    enabled: bool
    """False if it is switched off."""

    problem: str | None
    """Sentence that says why its newest delivery has not succeeded."""

    secret: str | None
    """Secret that signs the requests of a webhook. Only a channel that was just added has it."""

    def __repr__(self) -> str:
        return f"<AlertChannel {self.id} {self.name!r}: {self.kind} {self.address}>"


class AlertDelivery(Record):
    """An alert on its way to a channel."""

    id: int
    """Number of the delivery."""

    alert_id: int
    """Number of the alert."""

    channel_id: int
    """Number of the channel."""

    state: str
    """One of waiting, delivered and failed."""

    tries: int
    """Number of tries so far."""

    status: int | None
    """HTTP status of the last response."""

    error: str | None
    """Sentence that says why the last try failed."""

    next_try_at: datetime | None
    """Time of the next try."""

    def __repr__(self) -> str:
        return f"<AlertDelivery {self.id} of alert {self.alert_id}: {self.state} after {self.tries} tries>"
