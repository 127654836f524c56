"""`arcadia open`: open a page in the browser."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from arcadia.cli import completion
from arcadia.cli.connection import open_client
from arcadia.cli.options import RUNS_HELP
from arcadia.cli.output import show


def open_page(
    ctx: typer.Context,
    references: Annotated[
        list[str], typer.Argument(metavar="[RUNS...]", help=RUNS_HELP, autocompletion=completion.complete_run)
    ] = [],  # noqa: B006 - Typer copies it
    study: Annotated[int | None, typer.Option(help="Open the page of this study.")] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Only print the URL.")] = False,
) -> None:
    """Open a run or a comparison in the browser. Without one, print the URL."""
    client = open_client(ctx)
    runs = client.runs(*references) if references else []
    if study is not None:
        url = client.study(study).url
    elif len(runs) > 1:
        url = f"{client.url}/compare?runs={','.join(str(run.id) for run in runs)}"
    else:
        url = runs[0].url if runs else f"{client.url}/"
    if print_only or not webbrowser.open(url):
        show(url)
