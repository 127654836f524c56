"""The runs and checkpoints that a command line names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arcadia._sync.client import Client
from arcadia._sync.references import find_run, find_runs
from arcadia.errors import ArcadiaError

Run = dict[str, Any]


def select_runs(client: Client, references: Sequence[str]) -> list[Run]:
    """Return the runs that references name, each once and in this order."""
    return find_runs(client.transport, list(references))


def select_run(client: Client, reference: str) -> Run:
    """Return the one run that a reference names."""
    return find_run(client.transport, reference)


def checkpoint_id(client: Client, run_id: int, choice: str) -> int:
    """Return the id of the newest or best checkpoint, or of the one at a step."""
    rows = client.transport.get(f"/runs/{run_id}/checkpoints")
    kept = [row for row in rows if row["available"]]
    if choice == "best":
        kept = [row for row in kept if row["best"]]
    elif choice.isdecimal():
        steps = joined_steps(kept)
        kept = [row for row in kept if row["step"] == int(choice)]
        if not kept:
            raise ArcadiaError(f"Run {run_id} has no checkpoint at step {choice}. It has {steps}.")
    elif choice != "newest":
        raise ArcadiaError(f"--checkpoint {choice}: use newest, best, or the step of a checkpoint.")
    if not kept:
        kind = "best checkpoint" if choice == "best" else "checkpoint"
        raise ArcadiaError(f"Run {run_id} has no {kind} yet. Try again after it has saved one.")
    return int(kept[-1]["id"])


def checkpoint_choice(client: Client, run_id: int, choice: str) -> int | str:
    """Return a choice for a request: newest and best are resolved by the server."""
    return choice if choice in ("newest", "best") else checkpoint_id(client, run_id, choice)


def joined_steps(checkpoints: Sequence[Run]) -> str:
    """Return the steps of checkpoints as text."""
    return ", ".join(str(row["step"]) for row in checkpoints) or "none"
