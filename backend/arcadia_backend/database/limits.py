"""The last gate before the database: statements of limited scopes that evade the rule of rights are refused.

A statement may read a limited table only with its condition from database/rights.py, whose parameter has the name of
the table. It may change one only in a flush, or as a checked statement of the ORM. Text may not name one at all.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Self
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, TextClause, event

from arcadia_backend.database.ownership import LIMITED
from arcadia_backend.database.rights import CHECKED, MARKER, UnlimitedQueryError
from arcadia_backend.database.scope import current, is_flushing

# The tables of a FROM, JOIN or USING with their aliases.
# Tables in conditions of rights have an alias with the prefix of the parameters.
_ITEM = r'"?\w+"?(?:\s+AS\s+"?\w+"?)?'
_TABLES = re.compile(rf"\b(?:FROM|JOIN|USING)\s+\(*({_ITEM}(?:\s*,\s*{_ITEM})*)", re.IGNORECASE)
_TABLE = re.compile(r'"?(\w+)"?(?:\s+AS\s+"?(\w+)"?)?', re.IGNORECASE)
_DELETED = re.compile(r"\bDELETE\s+FROM\s+\w+", re.IGNORECASE)
_CHANGED = re.compile(r'\b(?:UPDATE|DELETE\s+FROM)\s+"?(\w+)', re.IGNORECASE)
_ADDED = re.compile(r'\b(?:INSERT(?:\s+OR\s+\w+)?|REPLACE|MERGE)\s+INTO\s+"?(\w+)', re.IGNORECASE)
_OVERWRITES = re.compile(r"\bDO\s+UPDATE\b|\b(?:OR\s+REPLACE|REPLACE|MERGE)\s+INTO\b", re.IGNORECASE)
_PARAMETER = re.compile(rf"POSTCOMPILE_{MARKER}(\w+?)(?:~~|\])")
_DEFINITION = re.compile(r"\s*(?:ALTER|COPY|CREATE|DROP|TRUNCATE)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Gate:
    """The tables of a compiled statement that need a condition but have none, and those that it changes."""

    unlimited: frozenset[str]
    changed: frozenset[str]

    @classmethod
    def of(cls, statement: str) -> Self:
        """Read a statement."""
        added = LIMITED & {*_ADDED.findall(statement)}
        changed = LIMITED & {*_CHANGED.findall(statement)}
        overwritten = added if _OVERWRITES.search(statement) else set()
        unlimited = unlimited_tables(statement) | (changed - {*_PARAMETER.findall(statement)}) | overwritten
        return cls(frozenset(unlimited), frozenset(added | changed))


_gates: WeakKeyDictionary[Any, Gate] = WeakKeyDictionary()


def changed_tables(statement: str) -> set[str]:
    """Return all tables that a statement changes."""
    return {*_ADDED.findall(statement), *_CHANGED.findall(statement)}


def unlimited_tables(statement: str) -> set[str]:
    """Return the tables that a statement reads more often than it has conditions for."""
    read = Counter(
        found[1]
        for tables in _TABLES.finditer(_DELETED.sub("", statement))
        for found in map(_TABLE.match, re.split(r"\s*,\s*", tables[1]))
        if found and found[1] in LIMITED and not (found[2] or "").startswith(MARKER)
    )
    limited = Counter(_PARAMETER.findall(statement))
    return {table for table, times in read.items() if times > limited[table]}


def install() -> None:
    """Check the queries of all engines."""
    if not event.contains(Engine, "before_cursor_execute", refuse_unlimited):
        event.listen(Engine, "before_cursor_execute", refuse_unlimited)


def refuse_unlimited(
    _connection: Connection, _cursor: Any, statement: str, _parameters: Any, context: Any, _executemany: bool
) -> None:
    """Raise UnlimitedQueryError if a limited scope reads or changes a table without the rule of rights."""
    if current().everything or is_flushing():
        return
    options, compiled = context.execution_options, context.compiled
    if compiled is None or isinstance(compiled.statement, TextClause) or context.isddl:
        if LIMITED & {*re.findall(r"\w+", statement.lower())} or _DEFINITION.match(statement):
            raise UnlimitedQueryError(f"Text cannot be limited to projects. Use the tables: {statement[:500]}")
        return
    if (gate := _gates.get(compiled)) is None:
        # The compiled text still has the names of lists of parameters.
        gate = _gates[compiled] = Gate.of(str(compiled.string))
    wrong = gate.changed - {options.get(CHECKED)} | (frozenset() if options.get("refreshes") else gate.unlimited)
    if wrong:
        raise UnlimitedQueryError(
            f"A query reads or changes {', '.join(sorted(wrong))} without the rule of rights: {statement[:500]}"
        )
