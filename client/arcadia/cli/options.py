"""The connection, arguments, options and completions that several commands share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from arcadia._sync.client import Client
from arcadia._sync.references import find_alias
from arcadia._sync.runs import CheckpointChoice, Run
from arcadia._sync.transport import API
from arcadia.errors import ArcadiaError, NotFoundError
from arcadia.settings import PROJECT_VARIABLE, Token, check_token, resolve_token, resolve_url
from arcadia.version import local_user, user_agent

VERSION_TIMEOUT_SECONDS = 2.0
# These options may be anywhere in the command line, as ARCADIA_URL would apply to all commands.
GLOBAL_OPTIONS = ("--url", "--token-file")


@dataclass(frozen=True)
class ConnectionOptions:
    """The options `--url` and `--token-file`."""

    url: str | None = None
    token_file: Path | None = None

    def token(self) -> Token | None:
        """Return the content of the token file, or None if no file is given."""
        return None if self.token_file is None else read_token(self.token_file)


def read_token(file: Path) -> Token:
    """Return the token in a file."""
    try:
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ArcadiaError(f"The token file {file} cannot be read: {error}") from None
    if not token:
        raise ArcadiaError(f"The token file {file} is empty.")
    return check_token(token, f"the file {file}")


def options_of(ctx: typer.Context) -> ConnectionOptions:
    """Return the connection options of the command line."""
    options = ctx.find_root().obj
    return options if isinstance(options, ConnectionOptions) else ConnectionOptions()


def open_client(ctx: typer.Context) -> Client:
    """Return a client that closes when the command ends."""
    options = options_of(ctx)
    client = Client(options.url, options.token(), agent=user_agent("CLI", local_user()))
    ctx.call_on_close(client.close)
    return client


def resolve_connection(ctx: typer.Context) -> tuple[str, Token | None]:
    """Return the URL and the token, for requests without the client."""
    options = options_of(ctx)
    url = resolve_url(options.url)
    return url, resolve_token(url, options.token())


def describe_server(options: ConnectionOptions) -> str:
    """Return the build of the server, or nothing if none answers. Only an explicit URL is an error then."""
    url = resolve_url(options.url)
    token = resolve_token(url, options.token())
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        response = httpx.get(f"{url}{API}/health", headers=headers, timeout=VERSION_TIMEOUT_SECONDS)
        health = response.raise_for_status().json()
        return f"server {health['build']} at {url}"
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError) as error:
        if options.url:
            raise ArcadiaError(f"The server at {url} does not report its version: {error}") from None
        return ""


def move_global_options(arguments: list[str]) -> list[str]:
    """Return the arguments with the global options first, so that they may follow the command's name."""
    moved: list[str] = []
    others: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return [*moved, *others, argument, *waiting]
        if argument in GLOBAL_OPTIONS:
            moved += [argument, *waiting[:1]]
            del waiting[:1]
        else:
            (moved if argument.startswith(tuple(f"{name}=" for name in GLOBAL_OPTIONS)) else others).append(argument)
    return [*moved, *others]


def explain_empty(client: Client, noun: str, options: Mapping[str, str]) -> str:
    """Return why no item has the given options, or nothing if none is given. One of them may be the project."""
    project = options.get("project")
    if project:
        names = [each.name for each in client.projects()]
        if project.strip().casefold() not in (name.casefold() for name in names):
            return str(NotFoundError.of_name("project", project, names))
    given = " ".join(f"--{name} {value}" for name, value in options.items() if value)
    return f"There is no {noun} with {given}." if given else ""


TIMEOUT_SECONDS = 0.7
MAX_CHOICES = 50

Choices = Iterator[tuple[str, str]]


def complete_run(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the newest runs: @last, numbers and names."""
    page = _fetch(ctx, "/runs", limit=MAX_CHOICES)
    runs = page["items"] if page else []
    if runs and "@last".startswith(incomplete):
        yield "@last", f"{runs[0]['name']} ({runs[0]['state']})"
    by_name = incomplete and not incomplete.isdecimal()
    for run in runs:
        reference = str(run["name"] if by_name else run["id"])
        if reference.startswith(incomplete):
            yield reference, f"{run['id'] if by_name else run['name']} ({run['state']})"


def complete_study(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the newest studies."""
    page = _fetch(ctx, "/studies", limit=MAX_CHOICES)
    for study in page["items"] if page else []:
        if str(study["id"]).startswith(incomplete):
            yield str(study["id"]), f"{study['name']} ({study['state']})"


def complete_project(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the projects."""
    for project in _fetch(ctx, "/projects") or []:
        if project["name"].casefold().startswith(incomplete.casefold()):
            yield project["name"], f"{project['runs']} runs"


def complete_view(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the saved views of the runs page."""
    for view in _fetch(ctx, "/views") or []:
        if view["name"].casefold().startswith(incomplete.casefold()):
            yield view["name"], view["project"]


def complete_preset(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the presets."""
    for preset in _fetch(ctx, "/presets") or []:
        if preset["name"].startswith(incomplete):
            yield preset["name"], preset["title"]


def complete_game_list(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the lists of games."""
    for games in _fetch(ctx, "/suites") or []:
        if games["name"].startswith(incomplete):
            yield games["name"], games["title"]


def complete_field(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the fields of a configuration, each with an equals sign."""
    for field, _help in complete_setting(ctx, incomplete):
        yield f"{field}=", ""


def complete_setting(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the fields of a configuration."""
    fields: dict[str, None] = {}
    for preset in _fetch(ctx, "/presets") or []:
        fields |= dict.fromkeys(preset["config"])
    for field in fields:
        if field.startswith(incomplete):
            yield field, ""


def complete_metric(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the metrics that any run has reported."""
    for name in _fetch(ctx, "/metric-names") or []:
        if name.startswith(incomplete):
            yield name, ""


def complete_figure(ctx: typer.Context, incomplete: str) -> Choices:
    """Yield the figures that the server draws."""
    for figure in _fetch(ctx, "/figures") or []:
        if figure["name"].startswith(incomplete):
            yield figure["name"], figure["title"]


def _fetch(ctx: typer.Context, path: str, **params: Any) -> Any:
    """Return a response of the API, or None. An error message would disturb the line that is typed."""
    try:
        url, token = resolve_connection(ctx)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        response = httpx.get(f"{url}{API}{path}", params=params, headers=headers, timeout=TIMEOUT_SECONDS)
        return response.raise_for_status().json()
    except (ArcadiaError, httpx.HTTPError, ValueError):
        return None


MAX_NUMBERS = 1_000
# Parameters of Client.launch, Run.clone and Run.fork, which take fields of a configuration besides.
NOT_FIELDS = frozenset(
    "self preset config checkpoint name tags notes priority queue executor job_options needs interruptible project "
    "more_steps".split()
)
RUN_HELP = "Run: its number, its name, or @last."
RUNS_HELP = "Runs: numbers, names, ranges such as 7-12, or @last."

RunReference = Annotated[
    str, typer.Argument(metavar="RUN", help=RUN_HELP, autocompletion=complete_run, show_default=False)
]
Executor = Annotated[
    str | None, typer.Option("--executor", help="workers, or a scheduler such as slurm. Default: that of the project.")
]
Needs = Annotated[
    list[str],
    typer.Option(
        "--need",
        metavar="NAME=VALUE",
        help="What a run needs of a worker's host: cores, memory_gb, gpu_memory_gb or label. Repeat it for several.",
    ),
]
Interruptible = Annotated[
    bool, typer.Option("--interruptible", help="Runs with a higher priority may take its place. It continues later.")
]
JobOptions = Annotated[
    list[str],
    typer.Option(
        "--job-option",
        metavar="OPTION",
        help="Option of sbatch, such as --qos=long. Repeat it for several.",
    ),
]
RunReferences = Annotated[list[str], typer.Argument(metavar="RUNS...", help=RUNS_HELP, autocompletion=complete_run)]
StudyId = Annotated[int, typer.Argument(metavar="STUDY", help="Number of the study.", autocompletion=complete_study)]
NewProject = Annotated[
    str | None,
    typer.Option(
        "--project",
        envvar=PROJECT_VARIABLE,
        help="Project to use. Default: Main.",
        autocompletion=complete_project,
    ),
]
ProjectFilter = Annotated[
    str,
    typer.Option(
        "--project",
        envvar=PROJECT_VARIABLE,
        help="Only this project. Empty for all.",
        autocompletion=complete_project,
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
        autocompletion=complete_field,
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
    fields: dict[str, Any] = {}
    for change in changes:
        field, equals, value = change.partition("=")
        if not equals or not field.strip():
            raise typer.BadParameter(f"{change!r} is not FIELD=VALUE, such as learning_rate=1e-4")
        if field.strip() in NOT_FIELDS:
            raise typer.BadParameter(f"{field.strip()} is not a field of a configuration; it may be an option")
        fields[field.strip()] = parse_value(value)
    return fields


def read_needs(needs: list[str]) -> dict[str, Any]:
    """Return the needs of several NAME=VALUE. `label` may be given several times."""
    read: dict[str, Any] = {}
    for need in needs:
        name, equals, value = need.partition("=")
        if not equals or name not in ("cores", "memory_gb", "gpu_memory_gb", "label") or not value:
            raise typer.BadParameter(f"--need {need}: use cores=4, memory_gb=8, gpu_memory_gb=12 or label=a100")
        if name == "label":
            read.setdefault("labels", []).append(value)
        else:
            read[name] = parse_value(value)
    return read


def parse_count(text: str, option: str) -> int:
    """Return a positive whole number such as 500000, 500k, 1.5M or 2e6."""
    scale = {"k": 10**3, "m": 10**6, "g": 10**9}.get(text[-1:].lower(), 1)
    digits = text[:-1] if scale > 1 else text
    try:
        number = Decimal(digits.replace("_", "")) * scale
    except InvalidOperation:
        number = Decimal(0)
    if not number.is_finite() or number < 1 or number != int(number):
        raise typer.BadParameter(f"{option} {text}: use a whole number, such as 500000, 500k or 2M")
    return int(number)


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
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise typer.BadParameter(f"{text!r} is not a list of numbers, such as 1-3,7")
        low, high = int(first), int(last or first)
        if not 0 <= high - low < MAX_NUMBERS:
            raise typer.BadParameter(f"{part.strip()} is not a range of at most {MAX_NUMBERS:,} numbers")
        numbers += range(low, high + 1)
    return list(dict.fromkeys(numbers))


def choose(client: Client, run: str, checkpoint: str) -> tuple[Run, CheckpointChoice]:
    """Return the run and the choice of its checkpoint."""
    if checkpoint == "newest" and ALIAS.fullmatch(run):
        alias = find_alias(client.transport, run)
        if alias is not None and alias.run_id is not None:
            return client.run(alias.run_id), run
    return client.run(run), parse_checkpoint(checkpoint)
