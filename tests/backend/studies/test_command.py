"""The `arcadia study` command."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from backend.studies.command import main
from tests.door import listening

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "studies" / "which-rate.toml"

Arcadia = Callable[..., int]


@pytest.fixture
def url(app: FastAPI) -> Iterator[str]:
    """Return the URL of a running backend."""
    with listening(app) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def study(url: str, monkeypatch: pytest.MonkeyPatch) -> Arcadia:
    """Return a function that runs the command in this process and returns its exit status."""

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["study", "--backend-url", url, *arguments])
        return main()

    return run


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_example_is_started_shown_controlled_and_extended(
    study: Arcadia, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def said() -> str:
        return capsys.readouterr().out

    assert study("start", str(EXAMPLE), "--preview") == 0
    assert "Start it with --confirm-steps 4500000." in said()
    assert study("start", str(EXAMPLE)) == 1
    refused = capsys.readouterr().err
    assert "add --confirm-steps 4500000 to start it" in refused
    assert study("start", str(EXAMPLE), "--confirm-steps", "9") == 1
    assert "confirm_steps: 45 runs train 4,500,000 steps, not 9: send 4500000" in capsys.readouterr().err
    assert study("list") == 0
    assert said() == ""
    assert study("start", str(EXAMPLE), "--confirm-steps", "4500000") == 0
    out = said()
    assert "9 points, 45 runs, 4,500,000 steps" in out
    assert "since no run of PAAC on CartPole or A3C on CartPole or GA3C on CartPole has trained here" in out
    assert f"{url}/studies/1" in out
    assert study("show", "1", "--json") == 0
    shown = json.loads(said())
    assert (shown["runs"]["queued"], shown["runs"]["planned"], len(shown["table"])) == (4, 41, 9)
    assert study("show", "1") == 0
    assert "Learning rate 0.003" in said()
    assert study("pause", "1") == 0
    assert "paused" in said()
    assert study("extend", "1", "--seeds", "2") == 0
    assert "59 planned" in said()
    assert study("list") == 0
    assert "#1  paused    Which learning rate, for which method?" in said()
    assert study("stop", "1") == 0
    assert "59 planned" in said()
    assert study("extend", "1", "--seeds", "1") == 0
    assert "The study was stopped. It continues, including 59 runs not created before." in said()
    assert study("extend", "1", "--seeds", "1") == 0
    assert "was stopped" not in said()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_preset_with_axes_needs_no_file(study: Arcadia, capsys: pytest.CaptureFixture[str]) -> None:
    axes = ["--axis", "learning_rate=log(1e-4, 1e-2)", "--axis", "t_max=5,10"]
    preset = ["start", "--preset", "paac-cartpole", *axes, "--points", "6", "--seeds", "2"]
    assert study(*preset, "--preview") == 0
    assert "6 points, 12 runs" in capsys.readouterr().out
    assert study("list") == 0
    assert capsys.readouterr().out == ""
    assert study(*preset, "--name", "Six", "--confirm-steps", "18000000") == 0
    capsys.readouterr()
    assert study("show", "1", "--json") == 0
    table = json.loads(capsys.readouterr().out)["table"]
    assert {point["values"]["t_max"] for point in table} <= {5, 10}
    assert all(1e-4 <= point["values"]["learning_rate"] <= 1e-2 for point in table)


BAD = [
    ('name = "x"\nname = "y"', "is not TOML"),
    (
        'name = "x"\npreset = "paac-cartpole"\nchanges = {gamma = 2}',
        "changes.gamma: input should be less than or equal",
    ),
    ('name = "x"\npreset = "paac"', "preset: no such preset. Presets: paac-cartpole"),
    ('name = "x"\npreset = "paac-cartpole"\nday = 2026-01-01', "such as a date"),
    ('name = "x"\npreset = "paac-cartpole"\nseeds = "1-5000"', "seeds: 1-5000 is not a range of at most 1,000 seeds"),
    ('name = "x"\npreset = "paac-cartpole"\n[[axes]]\nfield = "gama"\nvalues = [1]', "axes.0: gama"),
]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_errors_in_a_file_name_the_field(study: Arcadia, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "study.toml"
    for text, message in BAD:
        file.write_text(text)
        assert study("start", str(file)) == 1
        assert message in capsys.readouterr().err, text
    assert study("start", str(tmp_path / "none.toml")) == 1
    assert "cannot be read: No such file" in capsys.readouterr().err
    assert study("start") == 1
    assert "give either a file or --preset" in capsys.readouterr().err
    assert study("show", "7") == 1
    assert "There is no study 7." in capsys.readouterr().err


def test_unreachable_backend_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["study", "--backend-url", "http://127.0.0.1:1", "list"])
    assert main() == 1
    assert "no backend answers at http://127.0.0.1:1" in capsys.readouterr().err
