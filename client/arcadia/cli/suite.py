"""`arcadia suite` and `diagnose`: studies over lists of games, and causes of runs that do not learn."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arcadia._sync.client import Client
from arcadia.cli import options
from arcadia.cli.options import Json, NewProject, RunReference, StudyId, Wait, open_client, parse_count
from arcadia.cli.output import MISSING, count, interval, number, print_fields, print_json, print_table, show
from arcadia.cli.study import ConfirmSteps, preview_study, start_study
from arcadia.errors import ArcadiaError
from arcadia.records.run import Finding
from arcadia.records.study import SuiteResult

app = typer.Typer(help="Run lists of games as studies.", no_args_is_help=True, rich_markup_mode=None)

STATISTICS = {
    "Median": "median",
    "Interquartile mean": "interquartile_mean",
    "Mean": "mean",
    "Optimality gap": "optimality_gap",
    "Median of 57, estimated": "estimated_median",
}

Games = Annotated[
    str,
    typer.Argument(
        metavar="GAMES",
        help="A list such as atari-5, or games such as pong,breakout.",
        autocompletion=options.complete_game_list,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(help="Preset of all runs. Default: the list's.", autocompletion=options.complete_preset),
]
Steps = Annotated[str | None, typer.Option(metavar="N", help="Steps of each run, such as 10M. Default: the list's.")]
Seeds = Annotated[str, typer.Option(help="Number of seeds (5), or numbers such as 1-5.")]
Protocol = Annotated[str | None, typer.Option(help="Protocol of the evaluations. Default: the preset's.")]
Name = Annotated[str | None, typer.Option(help="Name of the study.")]


@app.command("list")
def list_game_lists(ctx: typer.Context, as_json: Json = False) -> None:
    """List the lists of games."""
    game_lists = [each.data for each in open_client(ctx).suites()]
    if as_json:
        print_json(game_lists)
        return
    rows = [
        [
            each["name"],
            each["title"],
            str(len(each["games"])),
            each["protocol"],
            each["preset"],
            count(each["total_steps"]),
        ]
        for each in game_lists
    ]
    print_table(["NAME", "TITLE*", "GAMES>", "PROTOCOL", "PRESET", "STEPS>"], rows, empty="There are no lists.")


@app.command()
def preview(
    ctx: typer.Context,
    games: Games,
    preset: Preset = None,
    steps: Steps = None,
    seeds: Seeds = "1",
    protocol: Protocol = None,
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Show the size and cost of a suite without starting it."""
    client = open_client(ctx)
    preview_study(client, _plan(client, games, preset, steps, seeds, protocol, name), as_json=as_json)


@app.command()
def start(
    ctx: typer.Context,
    games: Games,
    preset: Preset = None,
    steps: Steps = None,
    seeds: Seeds = "1",
    protocol: Protocol = None,
    name: Name = None,
    confirm_steps: ConfirmSteps = None,
    project: NewProject = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Start a suite: a study with a run for each game and seed, each evaluated at its end."""
    client = open_client(ctx)
    body = _plan(client, games, preset, steps, seeds, protocol, name)
    start_study(client, body, confirm_steps=confirm_steps, project=project, wait=wait, as_json=as_json)


@app.command("show")
def show_suite(ctx: typer.Context, study: StudyId, as_json: Json = False) -> None:
    """Show the scores of a study over its games, with statistics and their intervals."""
    results = open_client(ctx).study(study).aggregates()
    if as_json:
        print_json([each.data for each in results])
        return
    for each in results:
        _print(each)


def _plan(
    client: Client,
    games: str,
    preset: str | None,
    steps: str | None,
    seeds: str,
    protocol: str | None,
    name: str | None,
) -> dict[str, Any]:
    chosen = [game.strip() for game in games.split(",") if game.strip()]
    return client.plan_suite(
        chosen if len(chosen) > 1 else games,
        preset=preset,
        total_steps=None if steps is None else parse_count(steps, "--steps"),
        seeds=int(seeds) if seeds.isdecimal() else seeds,
        protocol=protocol,
        name=name,
    )


def _print(result: SuiteResult) -> None:
    show(f"{result.label}, human-normalized scores in percent by {result.protocol}:")
    rows = [
        [game["name"], f"{game['scored']} of {game['runs']}", number(game["score"]), number(game["percent"])]
        for game in result.data["games"]
    ]
    print_table(["GAME*", "SCORED>", "SCORE>", "PERCENT>"], rows, empty="There are no games.")
    statistics = [
        [title, number(value["value"]), interval(value["low"], value["high"]) or MISSING]
        for title, name in STATISTICS.items()
        if (value := result.data[name]) is not None
    ]
    print_table(["STATISTIC", "VALUE>", "95 %"], statistics, empty="No run has a score yet.")


def diagnose(
    ctx: typer.Context,
    run: RunReference,
    test: Annotated[
        str | None, typer.Option(metavar="RULE", help="Start a study that tests the settings suggested for this rule.")
    ] = None,
    confirm_steps: ConfirmSteps = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Show what is wrong with a run, and settings that may help."""
    client = open_client(ctx)
    findings = client.run(run).diagnosis()
    if test is not None:
        body = _find_test(findings, test)
        start_study(client, body, confirm_steps=confirm_steps, project=None, wait=wait, as_json=as_json)
    elif as_json:
        print_json([finding.data for finding in findings])
    else:
        _print_findings(findings)


def _find_test(findings: list[Finding], rule: str) -> dict[str, object]:
    tests = {finding.rule: finding.test for finding in findings if finding.test}
    if rule not in tests:
        known = f"It has tests for {', '.join(tests)}." if tests else "It has no finding with a test."
        raise ArcadiaError(f"The diagnosis of this run has no test for {rule}. {known}")
    return tests[rule]


def _print_findings(findings: list[Finding]) -> None:
    if not findings:
        show("No rule found a fault.")
    for finding in findings:
        first, last = finding.steps
        print_fields(
            [
                ("Finding", f"{finding.title} ({finding.rule})"),
                ("Cause", finding.cause),
                ("Evidence", f"{finding.metric}, steps {first:,} to {last:,}. {finding.detail}"),
                ("Settings", _settings(finding)),
                *((f"Study {study}", verdict or "not finished") for study, verdict in finding.verdicts.items()),
            ]
        )
        show("")


def _settings(finding: Finding) -> str:
    return ", ".join(
        f"{field}: {finding.current_settings[field]} → {value}" for field, value in finding.settings.items()
    )
