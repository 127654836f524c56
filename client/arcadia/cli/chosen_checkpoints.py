"""The run and the checkpoint that a command names: RUN --checkpoint CHECKPOINT, or an alias instead of both."""

from __future__ import annotations

import re

from arcadia._sync.client import Client
from arcadia._sync.runs import CheckpointChoice, Run
from arcadia.cli.options import parse_checkpoint

_ALIAS = re.compile(r"[a-z][a-z0-9._/-]{0,99}")


def choose(client: Client, run: str, checkpoint: str) -> tuple[Run, CheckpointChoice]:
    """Return the run with the choice of its checkpoint."""
    if checkpoint == "newest" and _ALIAS.fullmatch(run):
        named = next((each for each in client.aliases() if each.name == run), None)
        if named is not None and named.run_id is not None:
            return client.run(named.run_id), run
    return client.run(run), parse_checkpoint(checkpoint)
