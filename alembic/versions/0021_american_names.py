"""Rename stored fields with British names, at_once to max_concurrent_runs, and video of replay blocks to replay

Revision ID: 0021
Revises: 0020
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from alembic import op
from backend.database import columns

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

Names = Mapping[str, str]

# Fields of configurations, and a value of the field `optimizer`.
CONFIG = {
    "centred_inputs": "centered_inputs",
    "centred_rmsprop": "centered_rmsprop",
    "initialisation": "initialization",
    "prioritised_replay": "prioritized_replay",
}
STUDY = {"at_once": "max_concurrent_runs"}
EVALUATION = {
    "human_normalised": "human_normalized",
    "normalised_by": "normalized_by",
    "not_normalised_because": "not_normalized_because",
}
REPLAY_BLOCK = {"video": "replay"}
DOCUMENTS = [
    ("runs", "config", CONFIG),
    ("studies", "specification", CONFIG | STUDY),
    ("evaluations", "document", EVALUATION),
]


def upgrade() -> None:
    """Rename the fields."""
    for table, column, names in DOCUMENTS:
        _rename_in_column(table, column, _quoted(names), is_json=True)
    _rename_in_column("idempotency_keys", "response", _in_responses(), is_json=False)
    _rename_in_reports(CONFIG, REPLAY_BLOCK)


def downgrade() -> None:
    """Restore the earlier names."""
    for table, column, names in DOCUMENTS:
        _rename_in_column(table, column, _reversed(_quoted(names)), is_json=True)
    _rename_in_column("idempotency_keys", "response", _reversed(_in_responses()), is_json=False)
    _rename_in_reports(_reversed(CONFIG), _reversed(REPLAY_BLOCK))


def _quoted(names: Names) -> Names:
    return {f'"{old}"': f'"{new}"' for old, new in names.items()}


def _reversed(names: Names) -> Names:
    return {new: old for old, new in names.items()}


def _in_responses() -> Names:
    """Return the names in stored responses, which are compact JSON."""
    blocks = {f'"kind":"replay","{old}":': f'"kind":"replay","{new}":' for old, new in REPLAY_BLOCK.items()}
    return _quoted(CONFIG | STUDY | EVALUATION) | blocks


def _rename_in_column(table: str, column: str, names: Names, *, is_json: bool) -> None:
    """Rename whole JSON strings. A quotation mark inside a string is escaped, so parts of it are not renamed."""
    stored = sa.cast(sa.column(column), sa.Text)
    renamed: Any = stored
    for old, new in names.items():
        renamed = sa.func.replace(renamed, old, new)
    if is_json and op.get_bind().dialect.name == "postgresql":
        renamed = sa.cast(renamed, JSONB)
    has_names = sa.or_(*(stored.contains(old, autoescape=True) for old in names))
    op.execute(sa.update(sa.table(table, sa.column(column))).values({column: renamed}).where(has_names))


def _rename_in_reports(fields: Names, block_fields: Names) -> None:
    reports = sa.table("reports", sa.column("id", sa.BigInteger), sa.column("blocks", columns.Json))
    connection = op.get_bind()
    for report in connection.execute(sa.select(reports)).all():
        blocks = [_renamed_block(block, fields, block_fields) for block in report.blocks]
        if blocks != report.blocks:
            connection.execute(sa.update(reports).where(reports.c.id == report.id).values(blocks=blocks))


def _renamed_block(block: dict[str, Any], fields: Names, block_fields: Names) -> dict[str, Any]:
    match block:
        case {"kind": "draft", "content": str(content)}:
            return {**block, "content": _renamed_draft(content, fields, block_fields)}
        case {"kind": "chart", "address": str(address)}:
            return {**block, "address": _renamed_fields(address, fields)}
        case {"kind": "table", "columns": list(shown)}:
            return {**block, "columns": [_renamed_fields(str(column), fields) for column in shown]}
        case {"kind": "replay"}:
            return {block_fields.get(name, name): value for name, value in block.items()}
        case _:
            return block


def _renamed_draft(content: str, fields: Names, block_fields: Names) -> str:
    """Rename in the unfinished block that a draft has as JSON. Other programs may have stored any text."""
    try:
        block = json.loads(content)
    except ValueError:
        return content
    if not isinstance(block, dict):
        return content
    renamed = _renamed_block(block, fields, block_fields)
    return content if renamed == block else json.dumps(renamed, ensure_ascii=False, separators=(",", ":"))


def _renamed_fields(text: str, fields: Names) -> str:
    for old, new in fields.items():
        text = re.sub(rf"\b{old}\b", new, text)
    return text
