"""`arcadia evaluate`: evaluate a checkpoint of a run on the server."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia._sync.jobs import Evaluation
from arcadia.cli.chosen_checkpoints import choose
from arcadia.cli.connection import open_client
from arcadia.cli.formats import count, interval, number
from arcadia.cli.options import Checkpoint, Json, RunReference, Wait
from arcadia.cli.output import print_fields, print_json, say, show, state
from arcadia.cli.waiting import DONE, interruptible, wait_for_job


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
    start_set: Annotated[int | None, typer.Option(help="Start set for human-starts or agent-starts.")] = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Evaluate a checkpoint of a run on the server. With --run-dir, evaluate a local run without a server."""
    client = open_client(ctx)
    chosen, choice = choose(client, run, checkpoint)
    found = chosen.evaluate(
        protocol,
        checkpoint=choice,
        episodes=episodes,
        seed=seed,
        acting=_acting(acting, epsilon),
        start_set=start_set,
        wait=False,
    )
    page = f"{client.url}/runs/{found.run_id}/evaluations"
    if wait:
        with interruptible(f"Evaluation {found.id} continues: {page}"):
            wait_for_job(found, progress=not as_json)
    if as_json:
        print_json(found.data)
    elif found.state == DONE:
        _print_scores(found)
    else:
        show(f"Evaluation {found.id} of run {found.run_id} is {found.state}: {page}")
    if wait and found.state != DONE:
        raise typer.Exit(1)


def _acting(name: str | None, epsilon: float | None) -> dict[str, Any] | None:
    if name is None and epsilon is None:
        return None
    acting: dict[str, Any] = {"name": name or "epsilon-greedy"}
    return acting if epsilon is None else {**acting, "epsilon": epsilon}


def _print_scores(found: Evaluation) -> None:
    human = f"{number(found.human_normalized)} %" if found.human_normalized is not None else ""
    print_fields(
        [
            ("Evaluation", f"{found.id} of run {found.run_id} at step {count(found.step)}"),
            ("State", state(found.state)),
            ("Protocol", f"{found.protocol}, {found.acting['name']}, seed {found.seed}"),
            ("Episodes", count(found.episodes_done)),
            ("Mean", f"{number(found.mean)} {interval(*(found.interval or (None, None)))}"),
            ("Median", number(found.median)),
            ("Human-normalized", human),
        ]
    )
    for sentence in found.data["unlike_training"]:
        say(sentence)
