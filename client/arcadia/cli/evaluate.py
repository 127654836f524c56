"""`arcadia evaluate`: evaluate a checkpoint of a run on the server."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.formats import count, interval, number
from arcadia.cli.options import Checkpoint, Json, RunReference, Wait
from arcadia.cli.output import print_fields, print_json, say, show, state
from arcadia.cli.selection import checkpoint_choice, select_run
from arcadia.cli.waiting import interruptible, wait_for_job

DONE = "done"


def evaluate(
    ctx: typer.Context,
    run: RunReference,
    checkpoint: Checkpoint = "newest",
    protocol: Annotated[
        str | None, typer.Option(help="Protocol, such as no-op-5min. Default: the run's protocol.")
    ] = None,
    episodes: Annotated[int | None, typer.Option(help="Number of episodes. Default: as in the protocol.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same scores.")] = 1,
    acting: Annotated[
        str | None, typer.Option(help="sampled, greedy or epsilon-greedy. Default: as in the method's paper.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Share of random actions of epsilon-greedy.")] = None,
    start_set: Annotated[int | None, typer.Option(help="Start set of human-starts and agent-starts.")] = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Evaluate a checkpoint of a run on the server. With --run-dir, evaluate a folder here, without a server."""
    client = open_client(ctx)
    run_id = select_run(client, run)["id"]
    body = {
        "checkpoint": checkpoint_choice(client, run_id, checkpoint),
        "protocol": protocol,
        "episodes": episodes,
        "seed": seed,
        "acting": _acting(acting, epsilon),
        "start_set": start_set,
    }
    found = client.transport.post(f"/runs/{run_id}/evaluations", body)
    if wait:
        with interruptible(f"Evaluation {found['id']} continues: {client.url}/runs/{run_id}/evaluations"):
            found = wait_for_job(lambda: client.transport.get(f"/evaluations/{found['id']}"), "Evaluation")
    if as_json:
        print_json(found)
    elif found["state"] == DONE:
        _print_scores(found)
    else:
        show(f"Evaluation {found['id']} of run {run_id} is {found['state']}: {client.url}/runs/{run_id}/evaluations")
    if wait and found["state"] != DONE:
        raise typer.Exit(1)


def _acting(name: str | None, epsilon: float | None) -> dict[str, Any] | None:
    if name is None and epsilon is None:
        return None
    acting: dict[str, Any] = {"name": name or "epsilon-greedy"}
    return acting if epsilon is None else {**acting, "epsilon": epsilon}


def _print_scores(found: dict[str, Any]) -> None:
    bounds = found["interval"] or (None, None)
    human = f"{number(found['human_normalised'])} %" if found["human_normalised"] is not None else ""
    print_fields(
        [
            ("Evaluation", f"{found['id']} of run {found['run_id']} at step {count(found['step'])}"),
            ("State", state(found["state"])),
            ("Protocol", f"{found['protocol']}, {found['acting']['name']}, seed {found['seed']}"),
            ("Episodes", count(found["episodes_done"])),
            ("Mean", f"{number(found['mean'])} {interval(*bounds)}"),
            ("Median", number(found["median"])),
            ("Human-normalized", human),
        ]
    )
    for sentence in found["unlike_training"]:
        say(sentence)
