"""The run and the checkpoint that a command names: RUN --checkpoint CHECKPOINT, or an alias instead of both."""

from __future__ import annotations

from arcadia._sync.client import Client
from arcadia._sync.references import find_alias
from arcadia._sync.runs import CheckpointChoice, Run
from arcadia.cli.options import ALIAS, parse_checkpoint


def choose(client: Client, run: str, checkpoint: str) -> tuple[Run, CheckpointChoice]:
    """Return the run and the choice of its checkpoint."""
    if checkpoint == "newest" and ALIAS.fullmatch(run):
        alias = find_alias(client.transport, run)
        if alias is not None and alias.run_id is not None:
            return client.run(alias.run_id), run
    return client.run(run), parse_checkpoint(checkpoint)
