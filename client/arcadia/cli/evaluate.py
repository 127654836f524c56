"""`arcadia evaluate`, `record` and `agent`: what a checkpoint does, and agents as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcadia._sync.jobs import Evaluation, Recording
from arcadia.cli.options import Checkpoint, Json, NewProject, RunReference, Wait, Yes, choose, open_client
from arcadia.cli.output import (
    DONE,
    confirm,
    count,
    interruptible,
    interval,
    number,
    print_fields,
    print_json,
    say,
    show,
    state,
    wait_for_job,
)
from arcadia.errors import ArcadiaError


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
    evaluation = chosen.evaluate(
        protocol,
        checkpoint=choice,
        episodes=episodes,
        seed=seed,
        acting=_acting(acting, epsilon),
        start_set=start_set,
        wait=False,
    )
    page = f"{client.url}/runs/{evaluation.run_id}/evaluations"
    if wait:
        with interruptible(f"Evaluation {evaluation.id} continues: {page}"):
            wait_for_job(evaluation, progress=not as_json)
    if as_json:
        print_json(evaluation.data)
    elif evaluation.state == DONE:
        _print_scores(evaluation)
    else:
        show(f"Evaluation {evaluation.id} of run {evaluation.run_id} is {evaluation.state}: {page}")
    if wait and evaluation.state != DONE:
        raise typer.Exit(1)


def _acting(name: str | None, epsilon: float | None) -> dict[str, Any] | None:
    if name is None and epsilon is None:
        return None
    acting: dict[str, Any] = {"name": name or "epsilon-greedy"}
    return acting if epsilon is None else {**acting, "epsilon": epsilon}


def _print_scores(evaluation: Evaluation) -> None:
    human = f"{number(evaluation.human_normalized)} %" if evaluation.human_normalized is not None else ""
    print_fields(
        [
            ("Evaluation", f"{evaluation.id} of run {evaluation.run_id} at step {count(evaluation.step)}"),
            ("State", state(evaluation.state)),
            ("Protocol", f"{evaluation.protocol}, {evaluation.acting['name']}, seed {evaluation.seed}"),
            ("Episodes", count(evaluation.episodes_done)),
            ("Mean", f"{number(evaluation.mean)} {interval(*(evaluation.interval or (None, None)))}"),
            ("Median", number(evaluation.median)),
            ("Human-normalized", human),
        ]
    )
    for sentence in evaluation.data["unlike_training"]:
        say(sentence)


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
    recording = chosen.record(protocol, checkpoint=choice, seed=seed, episode=episode, wait=False)
    page = f"{client.url}/runs/{recording.run_id}/replays"
    if wait or out is not None:
        with interruptible(f"Recording {recording.id} continues: {page}"):
            wait_for_job(recording, progress=not as_json)
    if out is not None and recording.state == DONE:
        say(f"Saved {recording.replay().download(out, progress=not as_json)}.")
    if as_json:
        print_json(recording.data)
    else:
        show(_describe(recording, page))
    if (wait or out is not None) and recording.state != DONE:
        raise typer.Exit(1)


def _describe(recording: Recording, page: str) -> str:
    if recording.replay_id is not None:
        page += f"/{recording.replay_id}"
    reason = f" {recording.reason}" if recording.reason else ""
    return f"Recording {recording.id} of run {recording.run_id} is {recording.state}.{reason} {page}"


agent_app = typer.Typer(help="Agents as files that play anywhere.", no_args_is_help=True, rich_markup_mode=None)


@agent_app.command()
def export(
    ctx: typer.Context,
    run: RunReference,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Agent file or folder. Default: run-12.agent.zip.")
    ] = None,
    checkpoint: Checkpoint = "newest",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    as_json: Json = False,
) -> None:
    """Save a checkpoint's agent as one file. With --run-dir, export a local run without a server."""
    if file is not None and file.is_file() and not overwrite:
        raise ArcadiaError(f"{file} exists. Replace it with --overwrite.")
    chosen, choice = choose(open_client(ctx), run, checkpoint)
    path = chosen.export_agent(file, checkpoint=choice, progress=not as_json)
    print_json(str(path)) if as_json else show(str(path))


@agent_app.command("import")
def import_file(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Agent file, or model of Stable-Baselines3.", exists=True, dir_okay=False),
    ],
    game: Annotated[
        str | None,
        typer.Option("--game", metavar="NAME", help="Environment of a model of Stable-Baselines3, such as pong."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run. Default: as in the file.")] = None,
    project: NewProject = None,
    as_json: Json = False,
) -> None:
    """Import an agent as a run with one checkpoint, to evaluate, record and watch it."""
    client = open_client(ctx)
    run = client.import_agent(file, env=game, name=name, project=project or None, progress=not as_json)
    print_json(run.data) if as_json else show(f"{file}: run {run.id}, {run.url}")
