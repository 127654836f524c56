"""`arcadia diagnose`: why a run does not learn, and a study that tests a fix."""

from __future__ import annotations

from typing import Annotated

import typer

from arcadia.cli.connection import open_client
from arcadia.cli.options import Json, RunReference, Wait
from arcadia.cli.output import print_fields, print_json, show
from arcadia.cli.study import ConfirmSteps, start_study
from arcadia.errors import ArcadiaError
from arcadia.records.finding import Finding


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
    found = client.run(run).diagnosis()
    if test is not None:
        body = _find_test(found, test)
        start_study(client, body, confirm_steps=confirm_steps, project=None, wait=wait, as_json=as_json)
    elif as_json:
        print_json([finding.data for finding in found])
    else:
        _print_findings(found)


def _find_test(found: list[Finding], rule: str) -> dict[str, object]:
    tests = {finding.rule: finding.test for finding in found if finding.test}
    if rule not in tests:
        known = f"It has tests for {', '.join(tests)}." if tests else "It has no finding with a test."
        raise ArcadiaError(f"The diagnosis of this run has no test for {rule}. {known}")
    return tests[rule]


def _print_findings(found: list[Finding]) -> None:
    if not found:
        show("No rule found a fault.")
    for finding in found:
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
