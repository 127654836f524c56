"""Schemas of alerts, and the rules: which kinds are raised, and at which thresholds."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database import tables
from arcadia_backend.database.scope import current
from arcadia_backend.database.tables import AlertKind, AlertRuleKind, ChannelKind, DeliveryState
from arcadia_backend.errors import Conflict, FieldError, Invalid, NotFound
from arcadia_backend.projects.schemas import MayEdit, ProjectName
from arcadia_backend.projects.service import in_projects, resolve
from arcadia_workers.contract.events import LogLevel
from arcadia_workers.contract.values import STORABLE, Id, Text, Truth

ChannelName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), STORABLE]
Kinds = Annotated[list[AlertRuleKind], Field(max_length=20)]


class Alert(BaseModel):
    """Something that a person should know."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: AlertKind
    level: LogLevel
    title: str
    text: str
    run_id: int | None = Field(description="The run, unless it was purged.")
    study_id: int | None
    created_at: datetime
    read_at: datetime | None
    ended_at: datetime | None = Field(description="When the condition ended. Only some kinds have an end.")


class AlertPage(BaseModel):
    """One page of alerts, newest first."""

    items: list[Alert]
    unread: int = Field(description="Number of all unread alerts.")
    next_cursor: int | None = Field(description="Send it as `before` to get the next page.")


class MarkRead(BaseModel):
    """The alerts to mark as read."""

    ids: Annotated[list[Id], Field(max_length=1_000)] = []
    up_to: Id | None = Field(default=None, description="Mark this alert and all earlier ones.")


class UnreadAlerts(BaseModel):
    """Number of unread alerts."""

    unread: int


class AlertRule(BaseModel):
    """Whether a kind of alert is raised, and when."""

    kind: AlertRuleKind
    title: str
    enabled: bool
    threshold: float | None
    unit: str | None = Field(description="Unit of the threshold; null if the kind has none.")
    may_edit: MayEdit
    rings: bool = Field(
        description="Whether its alerts are unread at first, so that the bell counts them. Channels get them anyway."
    )


class EditAlertRule(BaseModel):
    """Changes of a rule."""

    enabled: Truth | None = None
    threshold: Annotated[float, Field(ge=0.1, le=1e6, allow_inf_nan=False)] | None = None
    rings: Truth | None = None


class ScoreRule(BaseModel):
    """A mean return over 100 episodes that raises an alert when a run of its project passes it."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    project: str
    env: str | None = Field(description="Only runs in this environment, for example ALE/Pong-v5. Null means all.")
    score: float
    created_at: datetime
    may_edit: MayEdit


class AddScoreRule(BaseModel):
    """A score to watch in a project."""

    project: ProjectName | None = Field(default=None, description="Default: Main.")
    score: Annotated[float, Field(allow_inf_nan=False)]
    env: Annotated[Text, Field(max_length=100)] | None = None


class AddChannel(BaseModel):
    """An address to deliver alerts to."""

    kind: ChannelKind = "webhook"
    name: ChannelName
    url: Annotated[
        str,
        Field(
            min_length=1,
            max_length=2_000,
            description="Of a webhook an http or https address, which gets each alert as a signed POST request. "
            "Otherwise an Apprise URL, such as slack://… or mailto://….",
        ),
    ]
    kinds: Kinds | None = Field(default=None, description="The kinds of alerts to deliver. Null means all.")


class EditChannel(BaseModel):
    """Changes of a channel. To change its address, add another channel."""

    name: ChannelName | None = None
    enabled: Truth | None = None
    kinds: Kinds | None = Field(default=None, description="The kinds of alerts to deliver. Null means all.")


class AlertChannel(BaseModel):
    """A channel without its secrets."""

    id: int
    kind: ChannelKind
    name: str
    address: str = Field(description="The address, cut where it may contain a secret.")
    kinds: list[AlertKind] | None = Field(description="The kinds of alerts that it gets. Null means all.")
    enabled: bool
    created_at: datetime
    problem: str | None = Field(description="Why the newest delivery has not succeeded; null if it has.")


class AddedChannel(AlertChannel):
    """A new channel with its secret."""

    secret: str | None = Field(description="Signs the requests of a webhook. No other response contains it.")


class AlertDelivery(BaseModel):
    """An alert on its way to a channel, with the outcome of the last try."""

    id: int
    alert_id: int
    title: str = Field(description="Title of the alert.")
    channel_id: int
    channel: str = Field(description="Name of the channel.")
    state: DeliveryState
    tries: int
    created_at: datetime
    next_try_at: datetime | None
    ended_at: datetime | None
    status: int | None = Field(description="HTTP status of the last response.")
    response: str | None = Field(description="Beginning of the last response.")
    error: str | None = Field(description="Why the last try failed.")


class DeliveryPage(BaseModel):
    """One page of deliveries, newest first."""

    items: list[AlertDelivery]
    next_cursor: int | None = Field(description="Send it as `before` to get the next page.")


MAX_SCORE_RULES = 100


@dataclass(frozen=True)
class DefaultRule:
    """Settings of a kind of alert before a user changes them."""

    title: str
    level: LogLevel
    threshold: float | None = None
    unit: str | None = None
    # Alerts that do not ring are read at once, so that the bell does not count them.
    rings: bool = True


DEFAULTS: dict[AlertKind, DefaultRule] = {
    "run_finished": DefaultRule("Run finished", "info", rings=False),
    "run_failed": DefaultRule("Run failed", "error"),
    "run_diverged": DefaultRule("Run diverged", "error"),
    "run_stalled": DefaultRule("Run stalled", "warning", 10, "minutes without a new point"),
    "score_passed": DefaultRule("Score passed", "info"),
    "study_verdict": DefaultRule("Study has a verdict", "info"),
    "no_worker": DefaultRule("No worker for a queue", "warning", 1, "minutes"),
    "disk_almost_full": DefaultRule("Disk almost full", "error", 1, "GB free"),
    "script": DefaultRule("Alert from a script", "warning"),
}


def read_rules(session: Session) -> dict[AlertKind, AlertRule]:
    """Return the rule of every kind, with the changes of users."""
    scope = current()
    changed = {row.kind: row for row in session.scalars(select(tables.AlertRule))}
    rules: dict[AlertKind, AlertRule] = {}
    for kind, default in DEFAULTS.items():
        row = changed.get(kind)
        rules[kind] = AlertRule(
            kind=kind,
            title=default.title,
            enabled=row.enabled if row else True,
            threshold=row.threshold if row and row.threshold is not None else default.threshold,
            unit=default.unit,
            rings=row.rings if row and row.rings is not None else default.rings,
            may_edit=scope.everything and "write" in scope.scopes,
        )
    return rules


def is_enabled(session: Session, kind: AlertKind) -> bool:
    """Return True unless a user has switched off a kind of alert."""
    return read_rules(session)[kind].enabled


def edit_rule(session: Session, kind: AlertKind, changes: EditAlertRule) -> AlertRule:
    """Switch a kind of alert on or off, change its threshold, or let it ring the bell or not."""
    if changes.threshold is not None and DEFAULTS[kind].threshold is None:
        raise Invalid(FieldError(field="threshold", message=f"alerts of the kind {kind} have no threshold"))
    row = session.get(tables.AlertRule, kind, with_for_update=True)
    if row is None:
        row = tables.AlertRule(kind=kind, enabled=True, threshold=None, rings=None)
        session.add(row)
    row.enabled = row.enabled if changes.enabled is None else changes.enabled
    row.threshold = row.threshold if changes.threshold is None else changes.threshold
    row.rings = row.rings if changes.rings is None else changes.rings
    session.flush()
    return read_rules(session)[kind]


def list_score_rules(session: Session, projects: Collection[str] = ()) -> Sequence[tables.ScoreRule]:
    """Return the scores that raise an alert, of all projects or of some, oldest first."""
    of_projects = in_projects(tables.ScoreRule.project_id, projects)
    return session.scalars(select(tables.ScoreRule).where(*of_projects).order_by(tables.ScoreRule.id)).all()


def add_score_rule(session: Session, new: AddScoreRule) -> tables.ScoreRule:
    """Add a score that raises an alert when a run of a project passes it."""
    project_id = resolve(session, new.project)
    rules = select(func.count()).select_from(tables.ScoreRule).where(tables.ScoreRule.project_id == project_id)
    if (session.scalar(rules) or 0) >= MAX_SCORE_RULES:
        raise Conflict(f"The project has {MAX_SCORE_RULES} scores, which is the limit. Remove one first.")
    rule = tables.ScoreRule(project_id=project_id, env=new.env or None, score=new.score)
    session.add(rule)
    session.flush()
    return rule


def remove_score_rule(session: Session, rule_id: int) -> None:
    """Remove a score. Its alerts are kept."""
    rule = session.get(tables.ScoreRule, rule_id)
    if rule is None:
        raise NotFound(f"There is no score rule {rule_id}.")
    session.delete(rule)
