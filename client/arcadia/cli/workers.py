"""`arcadia workers`: list the workers."""

from __future__ import annotations

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.formats import age
from arcadia.cli.options import Json
from arcadia.cli.output import print_json, print_table, say, state
from arcadia.progress import format_size


def workers(ctx: typer.Context, as_json: Json = False) -> None:
    """List the workers with their hosts and runs."""
    found = [worker.data for worker in open_client(ctx).workers()]
    if as_json:
        print_json(found)
        return
    rows = [
        [
            worker["name"],
            worker["host"],
            state(worker["state"]),
            worker["queue"],
            str(worker["run_id"] or ""),
            str(worker["cores"]),
            format_size(worker["memory_bytes"]),
            age(worker["last_seen_at"]),
        ]
        for worker in found
    ]
    columns = ["NAME*", "HOST*", "STATE", "QUEUE", "RUN>", "CORES>", "MEMORY>", "SEEN>"]
    print_table(columns, rows, empty="No worker has connected. Start one with `arcadia worker`.")
    if others := [worker["name"] for worker in found if worker["is_other_build"] and worker["state"] != "gone"]:
        say(f"Another build than the server's: {', '.join(others)}. Upgrade them.")
