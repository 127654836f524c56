"""Arguments and options that several commands share."""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from arcadia._sync.runs import CheckpointChoice
from arcadia.cli import completion
from arcadia.settings import PROJECT_VARIABLE

MAX_NUMBERS = 1_000
# Parameters of Client.launch, Run.clone and Run.fork, which take fields of a configuration besides.
NOT_FIELDS = frozenset(
    {"self", "preset", "config", "checkpoint", "name", "tags", "notes", "priority", "queue", "project", "more_steps"}
)
RUN_HELP = "Run: its number, its name, or @last."
RUNS_HELP = "Runs: numbers, names, ranges such as 7-12, or @last."

RunReference = Annotated[
    str, typer.Argument(metavar="RUN", help=RUN_HELP, autocompletion=completion.complete_run, show_default=False)
]
RunReferences = Annotated[
    list[str], typer.Argument(metavar="RUNS...", help=RUNS_HELP, autocompletion=completion.complete_run)
]
StudyId = Annotated[
    int, typer.Argument(metavar="STUDY", help="Number of the study.", autocompletion=completion.complete_study)
]
NewProject = Annotated[
    str | None,
    typer.Option(
        "--project",
        envvar=PROJECT_VARIABLE,
        help="Project to use. Default: Main.",
        autocompletion=completion.complete_project,
    ),
]
ProjectFilter = Annotated[
    str,
    typer.Option(
        "--project",
        envvar=PROJECT_VARIABLE,
        help="Only this project. Empty for all.",
        autocompletion=completion.complete_project,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the API's objects as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the numbers of the runs.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end, and exit with 1 unless it succeeded.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
# Also matches newest and best. The server checks the rest.
ALIAS = re.compile(r"[a-z][a-z0-9._/-]*")

Changes = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Change a field of the configuration. Repeat it for several fields.",
        autocompletion=completion.complete_field,
    ),
]
Checkpoint = Annotated[
    str, typer.Option("--checkpoint", metavar="CHECKPOINT", help="Checkpoint: newest, best, an alias, or its step.")
]
GroupBy = Annotated[
    str, typer.Option(metavar="FIELDS", help="Fields whose values form the groups, such as learning_rate,t_max.")
]


def parse_changes(changes: list[str]) -> dict[str, Any]:
    """Return the fields of several FIELD=VALUE. Values are JSON, or otherwise text."""
    found: dict[str, Any] = {}
    for change in changes:
        field, equals, value = change.partition("=")
        if not equals or not field.strip():
            raise typer.BadParameter(f"{change!r} is not FIELD=VALUE, such as learning_rate=1e-4")
        if field.strip() in NOT_FIELDS:
            raise typer.BadParameter(f"{field.strip()} is not a field of a configuration; it may be an option")
        found[field.strip()] = parse_value(value)
    return found


def parse_count(text: str, option: str) -> int:
    """Return a positive whole number such as 500000, 500k, 1.5M or 2e6."""
    scale = {"k": 10**3, "m": 10**6, "g": 10**9}.get(text[-1:].lower(), 1)
    digits = text[:-1] if scale > 1 else text
    try:
        found = Decimal(digits.replace("_", "")) * scale
    except InvalidOperation:
        found = Decimal(0)
    if not found.is_finite() or found < 1 or found != int(found):
        raise typer.BadParameter(f"{option} {text}: use a whole number, such as 500000, 500k or 2M")
    return int(found)


def parse_checkpoint(text: str) -> CheckpointChoice:
    """Return a step, newest, best or an alias."""
    if text.isdecimal():
        return int(text)
    if ALIAS.fullmatch(text):
        return text
    raise typer.BadParameter(f"--checkpoint {text}: use newest, best, an alias, or the step of a checkpoint")


def parse_value(text: str) -> Any:
    """Return a value that is written as JSON, or otherwise the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def parse_numbers(text: str) -> list[int]:
    """Return the numbers of a list such as 1-3,7."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise typer.BadParameter(f"{text!r} is not a list of numbers, such as 1-3,7")
        low, high = int(first), int(last or first)
        if not 0 <= high - low < MAX_NUMBERS:
            raise typer.BadParameter(f"{part.strip()} is not a range of at most {MAX_NUMBERS:,} numbers")
        found += range(low, high + 1)
    return list(dict.fromkeys(found))
