"""Reported runs in the command line: they have no queue, and may have an unknown number of steps."""

from __future__ import annotations

import re

import pytest
from arcadia import Client, Run
from arcadia.cli import runs, watch
from arcadia.cli.output import percent, steps
from arcadia.cli.watch import Curve, LineReport, Snapshot
from fake_server import URL, FakeServer, run
from rich.console import Console

REPORTED = run(
    total_steps=None, queue=None, method="", env="Maze", origin="reported", project="mazes", seconds_left=None
)


@pytest.fixture
def reported() -> Run:
    """Return a reported run with an unknown number of steps."""
    return Run(Client(URL, transport=FakeServer({}).transport).transport, REPORTED)


def test_unknown_steps_are_neither_a_share_nor_an_error(reported: Run) -> None:
    assert (reported.total_steps, reported.progress, reported.queue) == (None, 0.0, None)
    assert (reported.origin, reported.project) == ("reported", "mazes")
    assert (percent(7, None), steps(1_000, None), steps(1_000, 5_000)) == ("–", "1,000", "1,000 of 5,000")


def test_details_leave_out_what_a_reported_run_lacks(reported: Run, capsys: pytest.CaptureFixture[str]) -> None:
    runs.print_details(reported)
    printed = capsys.readouterr().out
    assert "step 250, 250 frames" in printed
    assert "mazes" in printed
    assert re.search(r"^Environment +Maze *$", printed, re.MULTILINE)
    assert "Method" not in printed
    assert "Queue" not in printed
    assert "None" not in printed


def test_a_watched_run_shows_its_step(reported: Run) -> None:
    snapshot = Snapshot([reported], {12: Curve()}, {12: []}, {12: []})
    console = Console(width=80, record=True)
    console.print(watch.draw_screen(snapshot, "loss", 80, 30))
    assert "250 steps" in console.export_text()
    assert list(LineReport().new_lines(snapshot)) == ["Run 12 a run is running"]
