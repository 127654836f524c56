"""The runs and checkpoints that a command line names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from arcadia._sync.client import Client
from arcadia.errors import AmbiguousReferenceError, ArcadiaError

Run = dict[str, Any]

_RANGE = re.compile(r"(\d+)-(\d+)")
MAX_RANGE = 100


def select_runs(client: Client, references: Sequence[str]) -> list[Run]:
    """Return the runs that references name, each once and in this order."""
    found: dict[int, Run] = {}
    for reference in references:
        for run in _select(client, reference):
            found.setdefault(run["id"], run)
    return list(found.values())


def select_run(client: Client, reference: str) -> Run:
    """Return the one run that a reference names."""
    runs = _select(client, reference)
    if len(runs) != 1:
        raise AmbiguousReferenceError(f"{reference} names {len(runs)} runs. This command takes one.")
    return runs[0]


def _select(client: Client, reference: str) -> list[Run]:
    if reference.isdecimal():
        return [client.transport.get(f"/runs/{reference}")]
    if reference == "@last":
        newest: list[Run] = client.transport.get("/runs", limit=1)["items"]
        if not newest:
            raise ArcadiaError("There is no run yet. Launch one with `arcadia launch PRESET`.")
        return newest
    if match := _RANGE.fullmatch(reference):
        return _select_range(client, int(match[1]), int(match[2]))
    return [_select_by_name(client, reference)]


def _select_range(client: Client, first: int, last: int) -> list[Run]:
    if not 0 <= last - first < MAX_RANGE:
        raise ArcadiaError(f"{first}-{last} is not a range of at most {MAX_RANGE} runs.")
    ids = list(range(first, last + 1))
    runs: list[Run] = client.transport.get("/runs", id=ids, limit=MAX_RANGE, sort="created_at")["items"]
    if not runs:
        raise ArcadiaError(f"There is no run in {first}-{last}.")
    return runs


def _select_by_name(client: Client, name: str) -> Run:
    page = client.transport.get("/runs", text=name, limit=100)
    runs: list[Run] = [run for run in page["items"] if run["name"] == name]
    if not runs:
        raise ArcadiaError(f"There is no run named {name}. `arcadia runs` lists the newest runs.")
    if len(runs) > 1:
        ids = ", ".join(str(run["id"]) for run in runs)
        raise AmbiguousReferenceError(f"Several runs are named {name}: {ids}. Name one by its number.")
    return runs[0]


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
