"""`arcadia record`: record an episode of a checkpoint on the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia._sync.client import Client
from arcadia._sync.downloads import download
from arcadia.cli.connection import open_client
from arcadia.cli.options import Checkpoint, Json, RunReference, Wait
from arcadia.cli.output import print_json, say, show
from arcadia.cli.selection import checkpoint_choice, select_run
from arcadia.cli.waiting import interruptible, wait_for_job
from arcadia.errors import ArcadiaError


def record(
    ctx: typer.Context,
    run: RunReference,
    checkpoint: Checkpoint = "newest",
    protocol: Annotated[str | None, typer.Option(help="Protocol. Default: the run's protocol.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same episode.")] = 1,
    episode: Annotated[int, typer.Option(help="Index of the episode in an evaluation with this seed.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FILE.mp4", help="Save the video here. Waits for it.")] = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Record an episode of a checkpoint on the server. With --run-dir, record a folder here, without a server."""
    client = open_client(ctx)
    run_id = select_run(client, run)["id"]
    body = {
        "checkpoint": checkpoint_choice(client, run_id, checkpoint),
        "protocol": protocol,
        "seed": seed,
        "episode": episode,
    }
    found = client.transport.post(f"/runs/{run_id}/recordings", body)
    if wait or out is not None:
        with interruptible(f"Recording {found['id']} continues: {client.url}/runs/{run_id}/replays"):
            found = wait_for_job(lambda: client.transport.get(f"/recordings/{found['id']}"), "Recording")
    if out is not None and found["state"] == "done":
        download(client.transport, _video(client, found), out, f"recording-{found['id']}.mp4")
        say(f"Saved {out}.")
    if as_json:
        print_json(found)
    else:
        show(_describe(found, client.url))
    if (wait or out is not None) and found["state"] != "done":
        raise typer.Exit(1)


def _video(client: Client, recording: dict[str, Any]) -> int:
    replays = client.transport.get(f"/runs/{recording['run_id']}/replays")
    for replay in replays:
        if replay["id"] == recording["replay_id"] and replay["file_id"] is not None:
            return int(replay["file_id"])
    raise ArcadiaError(f"The replay of recording {recording['id']} was deleted.")


def _describe(recording: dict[str, Any], url: str) -> str:
    page = f"{url}/runs/{recording['run_id']}/replays"
    if recording["replay_id"] is not None:
        page += f"/{recording['replay_id']}"
    reason = f" {recording['reason']}" if recording["reason"] else ""
    return f"Recording {recording['id']} of run {recording['run_id']} is {recording['state']}.{reason} {page}"
