"""Table of the fields of configurations, for filters, orders and groups of runs."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal

from sqlalchemy import PrimaryKeyConstraint, String, Text, bindparam, delete, event, insert, inspect
from sqlalchemy.orm import Mapped, Session, UOWTransaction, mapped_column

from arcadia_backend.database.tables.base import Base, Id
from arcadia_backend.database.tables.runs import Run
from arcadia_workers.contract.practice import listed

SettingType = Literal["number", "text", "boolean", "json"]
# The name of a field and the id of a run.
Key = tuple[str, int]
# PostgreSQL's index cannot have longer names.
MAX_NAME = 500
# Expressions treat larger numbers as missing, and smaller ones as zero, so that arithmetic stays within a double.
LARGEST_NUMBER, SMALLEST_NUMBER = 1e60, 1e-30


class RunSetting(Base):
    """A field of a run's configuration that is not null. It is copied from the configuration at each flush.

    Rows of one field are stored together. Without a foreign key, no index by run is needed.
    """

    __tablename__ = "run_settings"
    __table_args__ = (
        PrimaryKeyConstraint("name", "run_id", postgresql_include=["number"]),
        {"sqlite_with_rowid": False},
    )

    name: Mapped[str] = mapped_column(String(MAX_NAME))
    run_id: Mapped[int] = mapped_column(Id, autoincrement=False)
    type: Mapped[SettingType] = mapped_column(String(8))
    # The number as expressions see it.
    number: Mapped[float | None]
    # A number with all digits, a text, true, false, or a list or object as compact JSON.
    text: Mapped[str] = mapped_column(Text)


def setting_rows(run_id: int, config: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a configuration."""
    for name, value in listed(config).items():
        if value is not None and len(name) <= MAX_NAME:
            kind, number, text = _columns(value)
            yield {"name": name, "run_id": run_id, "type": kind, "number": number, "text": text}


def _columns(value: Any) -> tuple[SettingType, float | None, str]:
    if isinstance(value, bool):
        return "boolean", None, "true" if value else "false"
    if isinstance(value, int | float):
        return "number", _number(value), _digits(value)
    return ("text", None, value) if isinstance(value, str) else ("json", None, compact_json(value))


def _digits(value: float) -> str:
    """Return all digits, as of the number that PostgreSQL reads from its JSON. It has no -0.0 and no exponents."""
    text = repr(value)
    if "e+" in text:
        return f"{Decimal(text):f}"
    return "0.0" if text == "-0.0" else text


def _number(value: float) -> float | None:
    if abs(value) <= SMALLEST_NUMBER:
        return 0.0
    return float(value) if abs(value) <= LARGEST_NUMBER else None


def compact_json(value: Any) -> str:
    """Return JSON without spaces, as expressions compare lists."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@event.listens_for(Session, "before_flush")
def read_deleted(session: Session, _context: UOWTransaction, _instances: object) -> None:
    """Read the configurations of runs that are about to be deleted, because they cannot be read afterwards."""
    for run in session.deleted:
        if isinstance(run, Run):
            session.refresh(run, ["config"])


@event.listens_for(Session, "after_flush")
def copy_settings(session: Session, _context: UOWTransaction) -> None:
    """Store the fields of new and changed configurations, and delete those of deleted runs."""
    before: dict[Key, dict[str, Any]] = {}
    now: dict[Key, dict[str, Any]] = {}
    for run in session.new:
        if isinstance(run, Run):
            now |= _by_key(run.id, run.config)
    for run in session.dirty:
        if isinstance(run, Run) and (history := inspect(run).attrs.config.history).deleted:
            before |= _by_key(run.id, history.deleted[0])
            now |= _by_key(run.id, run.config)
    for run in session.deleted:
        if isinstance(run, Run):
            before |= _by_key(run.id, run.config)
    removed = [{"of": name, "by": run_id} for (name, run_id), row in before.items() if row != now.get((name, run_id))]
    added = [row for key, row in now.items() if row != before.get(key)]
    if removed:
        same = RunSetting.name == bindparam("of"), RunSetting.run_id == bindparam("by")
        session.connection().execute(delete(RunSetting).where(*same), removed)
    if added:
        session.connection().execute(insert(RunSetting), added)


def _by_key(run_id: int, config: Mapping[str, Any]) -> dict[Key, dict[str, Any]]:
    return {(row["name"], run_id): row for row in setting_rows(run_id, config)}
