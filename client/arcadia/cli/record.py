"""`arcadia record`: record an episode of a checkpoint on the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arcadia._sync.jobs import Recording
from arcadia.cli.chosen_checkpoints import choose
from arcadia.cli.connection import open_client
from arcadia.cli.options import Checkpoint, Json, RunReference, Wait, Yes
from arcadia.cli.output import confirm, print_json, say, show
from arcadia.cli.waiting import DONE, interruptible, wait_for_job


def record(
    ctx: typer.Context,
    run: RunReference,
    checkpoint: Checkpoint = "newest",
    protocol: Annotated[str | None, typer.Option(help="Protocol. Default: the run's protocol.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same episode.")] = 1,
    episode: Annotated[int, typer.Option(help="Index of the episode in an evaluation with this seed.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.mp4", help="Wait for the recording, and save its video here.")
    ] = None,
    wait: Wait = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Record an episode of a checkpoint on the server. With --run-dir, record a local run without a server."""
    if out is not None and out.is_file():
        confirm(f"{out} exists. Replace it?", yes)
    client = open_client(ctx)
    chosen, choice = choose(client, run, checkpoint)
    found = chosen.record(protocol, checkpoint=choice, seed=seed, episode=episode, wait=False)
    page = f"{client.url}/runs/{found.run_id}/replays"
    if wait or out is not None:
        with interruptible(f"Recording {found.id} continues: {page}"):
            wait_for_job(found, progress=not as_json)
    if out is not None and found.state == DONE:
        say(f"Saved {found.replay().download(out, progress=not as_json)}.")
    if as_json:
        print_json(found.data)
    else:
        show(_describe(found, page))
    if (wait or out is not None) and found.state != DONE:
        raise typer.Exit(1)


def _describe(recording: Recording, page: str) -> str:
    if recording.replay_id is not None:
        page += f"/{recording.replay_id}"
    reason = f" {recording.reason}" if recording.reason else ""
    return f"Recording {recording.id} of run {recording.run_id} is {recording.state}.{reason} {page}"
