"""`arcadia study`: every subcommand against a backend."""

import json
from pathlib import Path

import pytest

from tests.client.cli.conftest import Arcadia
from tests.factories import Api

EXAMPLE = Path(__file__).parents[3] / "docs" / "studies" / "which-rate.toml"
AXES = ["--axis", "learning_rate=log(1e-4, 1e-2)", "--axis", "t_max=5,10"]
PRESET = ["--preset", "paac-cartpole", *AXES, "--points", "6", "--seeds", "2"]


def test_the_example_is_started_shown_controlled_and_extended(arcadia: Arcadia, url: str) -> None:
    assert "Start it with --confirm-steps 4500000." in arcadia("study", "preview", EXAMPLE).out
    assert "add --confirm-steps 4500000 to start it" in arcadia("study", "start", EXAMPLE).err
    wrong = arcadia("study", "start", EXAMPLE, "--confirm-steps", "9")
    assert wrong.status == 1
    assert "confirm_steps: 45 runs train 4,500,000 steps, not 9: send 4500000" in wrong.err
    started = arcadia("study", "start", EXAMPLE, "--confirm-steps", "4500000")
    assert "9 points, 45 runs, 4,500,000 steps" in started.err
    number = started.out.split()[1]
    assert f"{url}/studies/{number}" in started.out
    study = json.loads(arcadia("study", "show", number, "--json").out)
    assert (study["runs"]["queued"], study["runs"]["planned"], len(study["table"])) == (4, 41, 9)
    shown = arcadia("study", "show", number).out
    assert "Learning rate 0.003" in shown
    assert "FAILED" in shown
    assert "is paused" in arcadia("study", "pause", number).out
    assert "59 planned" in arcadia("study", "extend", number, "--seeds", "2").out
    assert "paused" in next(line for line in arcadia("study", "list").out.splitlines() if "Which" in line)
    assert arcadia("study", "stop", number).status == 2
    assert "59 planned" in arcadia("study", "stop", number, "--yes").out
    extended = arcadia("study", "extend", number, "--seeds", "1", "--of", "0,1")
    assert "It continues, including 59 runs not created before." in extended.err
    assert "is paused" in arcadia("study", "pause", number).out
    assert "is running" in arcadia("study", "resume", number).out
    assert arcadia("study", "stop", number, "-y").status == 0
    watched = arcadia("study", "watch", number)
    assert watched.status == 1
    assert "is stopped" in watched.err
    assert arcadia("study", "delete", number, "--yes").out == f"Deleted study {number}.\n"
    assert f"There is no study {number}." in arcadia("study", "show", number).err


def test_a_preset_with_axes_needs_no_file(arcadia: Arcadia) -> None:
    assert json.loads(arcadia("study", "preview", *PRESET, "--json").out)["runs"] == 12
    made = arcadia("study", "start", *PRESET, "--name", "Six", "--confirm-steps", "18000000", "--json")
    table = json.loads(made.out)["table"]
    assert {point["values"]["t_max"] for point in table} <= {5, 10}
    assert all(1e-4 <= point["values"]["learning_rate"] <= 1e-2 for point in table)


BAD = [
    ('name = "x"\nname = "y"', "is not TOML"),
    (
        'name = "x"\npreset = "paac-cartpole"\nchanges = {gamma = 2}',
        "changes.gamma: input should be less than or equal",
    ),
    ('name = "x"\npreset = "paac"', "preset: there is no preset 'paac'; did you mean paac-"),
    ('name = "x"\npreset = "paac-cartpole"\nday = 2026-01-01', "such as a date"),
    ('name = "x"\npreset = "paac-cartpole"\nseeds = "1-5000"', "seeds: 1-5000 is not a range of at most 1,000 seeds"),
    ('name = "x"\npreset = "paac-cartpole"\n[[axes]]\nfield = "gama"\nvalues = [1]', "axes.0: gama"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_errors_in_a_file_name_the_field(arcadia: Arcadia, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(text)
    failed = arcadia("study", "start", file)
    assert failed.status == 1
    assert message in failed.err


def test_seeds_are_added_until_certain(arcadia: Arcadia) -> None:
    given = ("--preset", "paac-cartpole", "--axis", "learning_rate=1e-4,1e-3", "--seeds", "2")
    until = ("--until", "certain", "--max-seeds", "6", "--name", "Until")
    assert "2 points, 4 to 12 runs, " in arcadia("study", "preview", *given, *until).out
    started = json.loads(arcadia("study", "start", *given, *until, "--confirm-steps", "18000000", "--json").out)
    assert (started["specification"]["until"], started["specification"]["max_seeds"]) == ("certain", 6)
    assert "Undecided: Learning rate 0.0001 and Learning rate 0.001." in arcadia("study", "show", started["id"]).out


def test_a_missing_file_and_a_missing_study_are_errors(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    assert "cannot be read: No such file" in arcadia("study", "start", tmp_path / "none.toml").err
    assert "Give either a file or --preset" in arcadia("study", "start").err
    assert api.user.get("/api/v1/studies/9999").status_code == 404
    assert "There is no study 9999." in arcadia("study", "show", 9_999).err
