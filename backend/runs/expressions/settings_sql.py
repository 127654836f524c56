"""Fields of a run's configuration in SQL. Each database has its own functions for JSON."""

import json
from abc import ABC, abstractmethod
from typing import Any

from sqlalchemy import ColumnElement, Double, Numeric, Text, case, cast, func, literal, literal_column, or_

from backend.database.tables import Run
from backend.runs.expressions.literals import LARGEST_NUMBER, SMALLEST_NUMBER

Sql = ColumnElement[Any]


class SettingsSql(ABC):
    """A field of a configuration as number, text and truth value. Each is null if the field is of another kind."""

    @abstractmethod
    def kind(self, name: str) -> Sql:
        """Return the field's type in JSON, in the words of the database."""

    @abstractmethod
    def number(self, name: str) -> Sql:
        """Return the number in a field."""

    @abstractmethod
    def text(self, name: str) -> Sql:
        """Return the text in a field. A list is its JSON."""

    @abstractmethod
    def raw(self, name: str) -> Sql:
        """Return the value of a field as text or number, which `kind` explains."""

    @abstractmethod
    def is_boolean(self, name: str, value: bool) -> ColumnElement[bool]:
        """Return whether a field is true, or false."""

    def is_missing(self, name: str) -> ColumnElement[bool]:
        """Return whether a field is absent or null."""
        return or_(self.kind(name).is_(None), self.kind(name) == "null")


class SqliteSettings(SettingsSql):
    """Fields in SQLite, whose types are true, false, integer, real, text, array, object and null."""

    def kind(self, name: str) -> Sql:
        """Return the field's type."""
        return func.json_type(Run.config, _path(name))

    def raw(self, name: str) -> Sql:
        """Return the value of a field."""
        return func.json_extract(Run.config, _path(name))

    def number(self, name: str) -> Sql:
        """Return the number in a field."""
        number = cast(self.raw(name), Double)
        return case((self.kind(name).in_(("integer", "real")), _bounded(number)), else_=None)

    def text(self, name: str) -> Sql:
        """Return the text in a field."""
        listed = _compact(self.raw(name))
        kind = self.kind(name)
        return case((kind == "text", self.raw(name)), (kind.in_(("array", "object")), listed), else_=None)

    def is_boolean(self, name: str, value: bool) -> ColumnElement[bool]:
        """Return whether a field is true, or false."""
        return self.kind(name) == ("true" if value else "false")


class PostgresqlSettings(SettingsSql):
    """Fields in PostgreSQL, whose types are boolean, number, string, array, object and null."""

    def kind(self, name: str) -> Sql:
        """Return the field's type."""
        return func.jsonb_typeof(Run.config[name])

    def raw(self, name: str) -> Sql:
        """Return the value of a field."""
        return cast(Run.config[name].as_string(), Text)

    def number(self, name: str) -> Sql:
        """Return the number in a field. It is compared before it is converted, since it may be larger than a double."""
        exact = cast(Run.config[name], Numeric)
        return case((self.kind(name) == "number", _bounded(exact, cast(exact, Double))), else_=None)

    def text(self, name: str) -> Sql:
        """Return the text in a field."""
        kind, listed = self.kind(name), _compact(self.raw(name))
        return case((kind == "string", self.raw(name)), (kind.in_(("array", "object")), listed), else_=None)

    def is_boolean(self, name: str, value: bool) -> ColumnElement[bool]:
        """Return whether a field is true, or false."""
        word = "true" if value else "false"
        return case((self.kind(name) == "boolean", self.raw(name) == word), else_=None)


def _path(name: str) -> str:
    # The stored JSON escapes other letters than ASCII, and SQLite compares names with their escapes.
    return f"$.{json.dumps(name)}"


def _bounded(number: Sql, converted: Sql | None = None) -> Sql:
    smallest: Sql = literal_column(f"{SMALLEST_NUMBER:g}")
    largest: Sql = literal_column(f"{LARGEST_NUMBER:g}")
    return case(
        (number.between(-smallest, smallest), literal(0.0, Double())),
        (number.between(-largest, largest), number if converted is None else converted),
        else_=None,
    )


def _compact(text: Sql) -> Sql:
    """Return JSON without spaces after its separators."""
    return func.replace(func.replace(text, ", ", ","), ": ", ":")
