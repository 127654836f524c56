"""Rules: which kinds of alerts are raised, and at which thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.alerts import schemas
from backend.database import tables
from backend.database.tables import AlertKind
from backend.errors import Conflict, FieldError, Invalid, NotFound
from workers.contract.events import LogLevel

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


def read_rules(session: Session) -> dict[AlertKind, schemas.AlertRule]:
    """Return the rule of every kind, with the changes of users."""
    changed = {row.kind: row for row in session.scalars(select(tables.AlertRule))}
    rules: dict[AlertKind, schemas.AlertRule] = {}
    for kind, default in DEFAULTS.items():
        row = changed.get(kind)
        rules[kind] = schemas.AlertRule(
            kind=kind,
            title=default.title,
            enabled=row.enabled if row else True,
            threshold=row.threshold if row and row.threshold is not None else default.threshold,
            unit=default.unit,
            rings=row.rings if row and row.rings is not None else default.rings,
        )
    return rules


def is_enabled(session: Session, kind: AlertKind) -> bool:
    """Return True unless a user has switched off a kind of alert."""
    return read_rules(session)[kind].enabled


def edit_rule(session: Session, kind: AlertKind, changes: schemas.EditAlertRule) -> schemas.AlertRule:
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


def list_score_rules(session: Session) -> Sequence[tables.ScoreRule]:
    """Return the scores that raise an alert, oldest first."""
    return session.scalars(select(tables.ScoreRule).order_by(tables.ScoreRule.id)).all()


def add_score_rule(session: Session, new: schemas.AddScoreRule) -> tables.ScoreRule:
    """Add a score that raises an alert when a run passes it."""
    if len(list_score_rules(session)) >= MAX_SCORE_RULES:
        raise Conflict(f"There are already {MAX_SCORE_RULES} scores, which is the limit. Remove one first.")
    rule = tables.ScoreRule(env=new.env or None, score=new.score)
    session.add(rule)
    session.flush()
    return rule


def remove_score_rule(session: Session, rule_id: int) -> None:
    """Remove a score. Its alerts are kept."""
    rule = session.get(tables.ScoreRule, rule_id)
    if rule is None:
        raise NotFound(f"There is no score rule {rule_id}.")
    session.delete(rule)
