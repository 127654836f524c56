"""Refusal of queries that evade the rule of rights, such as plain SQL.

Each condition of database/rights.py has a parameter with the name of its table. A query of a limited scope must have
one for each table that it reads.
"""

import re
from collections import Counter
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection, Engine, event

from arcadia_backend.database.ownership import LIMITED
from arcadia_backend.database.rights import MARKER, UnlimitedQueryError
from arcadia_backend.database.scope import current

# The tables of a FROM or JOIN with their aliases.
# Tables in conditions of rights have an alias with the prefix of the parameters.
_ITEM = r'"?\w+"?(?:\s+AS\s+"?\w+"?)?'
_TABLES = re.compile(rf"\b(?:FROM|JOIN)\s+\(*({_ITEM}(?:\s*,\s*{_ITEM})*)", re.IGNORECASE)
_TABLE = re.compile(r'"?(\w+)"?(?:\s+AS\s+"?(\w+)"?)?', re.IGNORECASE)
_DELETED = re.compile(r"^\s*DELETE\s+FROM\s+\w+", re.IGNORECASE)
_PARAMETER = re.compile(rf"POSTCOMPILE_{MARKER}(\w+?)(?:~~|\])")

_checked: WeakSet[Any] = WeakSet()


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
    """Raise UnlimitedQueryError if a limited scope reads a table without the condition of its rights."""
    if current().everything or context.execution_options.get("refreshes"):
        return
    compiled = context.compiled
    if compiled is not None and compiled in _checked:
        return
    # The compiled text still has the names of lists of parameters.
    wrong = unlimited_tables(statement if compiled is None else str(compiled.string))
    if wrong:
        raise UnlimitedQueryError(
            f"A query reads {', '.join(sorted(wrong))} without the condition of rights: {statement[:500]}"
        )
    if compiled is not None:
        _checked.add(compiled)
