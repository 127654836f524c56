"""`arcadia change`: change settings of a run while it trains, and list its changes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.formats import age, count
from arcadia.cli.options import Changes, Json, RunReference, parse_changes, parse_count
from arcadia.cli.output import print_json, print_table, show
from arcadia.records.change import Change

MoreSteps = Annotated[
    str, typer.Option("--more-steps", metavar="STEPS", help="Train this many steps longer, such as 500k or 2M.")
]


def change(
    ctx: typer.Context,
    run: RunReference,
    changes: Changes = [],  # noqa: B006 - Typer copies it
    more_steps: MoreSteps = "",
    as_json: Json = False,
) -> None:
    """Change settings of a run from its next update on, or list its changes.

    A run that has ended is queued again if it gets more steps, and continues from its last checkpoint.
    """
    fields = parse_changes(changes)
    more = parse_count(more_steps, "--more-steps") if more_steps else None
    chosen = open_client(ctx).run(run)
    if not fields and more is None:
        found = chosen.changes()
        if as_json:
            print_json([each.data for each in found])
        else:
            rows = [
                [
                    str(each.number),
                    _describe(each),
                    age(each.data["requested_at"]),
                    each.requested_by or "",
                    _state(each),
                ]
                for each in found
            ]
            print_table(["NUMBER>", "CHANGE*", "AGE>", "BY", "STATE"], rows, empty=f"Run {chosen.id} has no changes.")
        return
    requested = chosen.change(more_steps=more, **fields)
    if as_json:
        print_json(requested.data)
    else:
        when = "The next update uses it." if chosen.is_active else "It is used when a worker takes the run."
        show(f"Run {chosen.id} {chosen.name}: {_describe(requested)}. {when}")


def _describe(change: Change) -> str:
    parts = [f"{name} {_value(change.previous.get(name))} → {_value(value)}" for name, value in change.fields.items()]
    return ", ".join(parts)


def _value(value: Any) -> str:
    return count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _state(change: Change) -> str:
    return f"applied at step {count(change.applied_step)}" if change.is_applied else "waiting"
