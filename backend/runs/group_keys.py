"""The values that groups of runs are made by."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from backend.database.tables import RunTag, Study, StudyRun
from backend.errors import FieldError, Invalid
from backend.runs.expressions.names import Column
from backend.runs.expressions.nodes import Setting
from backend.runs.expressions.requests import read_value
from backend.runs.expressions.sql import Translator
from backend.runs.expressions.writing import quoted
from backend.runs.names import format_value, name_part, short_title
from backend.runs.setting_values import setting_value
from backend.runs.sorting import split_list
from workers.contract.config.problems import title_of
from workers.contract.games import env_title

MAX_KEYS = 5


@dataclass(frozen=True)
class GroupKey:
    """A name that groups are made by, with the columns that have its value."""

    text: str
    name: Column | Setting
    columns: tuple[ColumnElement[Any], ...]

    @property
    def kind(self) -> str:
        """The kind of a column, or setting."""
        return self.name.kind if isinstance(self.name, Column) else "setting"

    def read(self, *stored: Any) -> Any:
        """Return the value in the columns."""
        return setting_value(*stored) if self.kind == "setting" else stored[0]

    def condition(self, value: Any) -> str:
        """Return the expression that selects the runs with this value, and no others."""
        if value is None:
            return f"{self.text} is missing"
        return f"{self.text} = {_written(value)}"

    def label(self, session: Session, value: Any) -> str:
        """Return the value as part of the name of a group."""
        title = short_title(self.name.name) if isinstance(self.name, Setting) else self.name.title.lower()
        if value is None:
            return f"no {title}"
        if self.kind == "study":
            return str(session.scalar(select(Study.name).where(Study.id == value)))
        if isinstance(self.name, Column) and self.kind in ("text", "tags"):
            return {"method": title_of, "env": env_title}.get(self.name.name, str)(value)
        if isinstance(self.name, Setting):
            return name_part(self.name.name, value)
        return f"{title} {format_value(value)}"


def group_keys(session: Session, by: str) -> list[GroupKey]:
    """Return the keys of a list such as `method, env, learning_rate`. Raise a problem if one is wrong."""
    texts = list(dict.fromkeys(part.strip() for part in split_list(by)))
    if len(texts) > MAX_KEYS:
        raise Invalid(FieldError(field="by", message=f"group by at most {MAX_KEYS} names"))
    return [_group_key(session, text) for text in texts]


def read_values(keys: Sequence[GroupKey], stored: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values of the keys in a row with all their columns."""
    columns = iter(stored)
    return tuple(key.read(*(next(columns) for _ in key.columns)) for key in keys)


def _group_key(session: Session, text: str) -> GroupKey:
    name = read_value(session, text, "by")
    if not isinstance(name, Column | Setting) or (isinstance(name, Column) and name.kind == "time"):
        raise Invalid(FieldError(field="by", message=f"group by a column or a field, not by {text[:50]}"))
    return GroupKey(text, name, _columns(Translator(session), name))


def _columns(translator: Translator, name: Column | Setting) -> tuple[ColumnElement[Any], ...]:
    if isinstance(name, Setting):
        return translator.settings.kind(name.name), translator.settings.raw(name.name)
    if name.kind == "tags":
        return (RunTag.tag,)  # type: ignore[return-value]
    if name.kind == "study":
        return (StudyRun.study_id,)  # type: ignore[return-value]
    return (translator.key(name),)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return quoted(value if isinstance(value, str) else compact_json(json.dumps(value)))


def compact_json(text: str) -> str:
    """Return JSON without spaces after its separators, as expressions compare lists."""
    return text.replace(", ", ",").replace(": ", ":")
