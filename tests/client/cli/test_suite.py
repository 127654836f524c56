"""`arcadia suite`: every subcommand against a backend."""

import json

import pytest

from tests.client.cli.conftest import Arcadia

TINY = ["pong,qbert", "--steps", "2k", "--seeds", "2"]


def test_the_lists_are_shown(arcadia: Arcadia) -> None:
    listed = arcadia("suite", "list").out
    assert "atari-5" in listed
    assert "sticky-30min" in listed
    assert "10,000,000" in listed
    found = json.loads(arcadia("suite", "list", "--json").out)
    assert {each["name"] for each in found} >= {"atari-5", "atari-100k"}


def test_a_list_is_previewed_and_must_be_confirmed(arcadia: Arcadia) -> None:
    assert "5 points, 15 runs, 150,000,000 steps" in arcadia("suite", "preview", "atari-5", "--seeds", "3").out
    failed = arcadia("suite", "start", "atari-5")
    assert failed.status == 1
    assert "add --confirm-steps 50000000 to start it" in failed.err


def test_a_suite_of_chosen_games_is_started_and_shown(arcadia: Arcadia, url: str) -> None:
    started = arcadia("suite", "start", *TINY, "--confirm-steps", "8000", "--name", "Two games")
    assert "2 points, 4 runs, 8,000 steps" in started.err
    number = started.out.split()[1]
    assert f"{url}/studies/{number}" in started.out
    study = json.loads(arcadia("study", "show", number, "--json").out)
    assert study["specification"]["changes"] == {"evaluate_every_steps": 2_000, "evaluation_protocol": "sticky-30min"}
    shown = arcadia("suite", "show", number)
    assert "PAAC, human-normalized scores in percent by sticky-30min:" in shown.out
    assert "0 of 2" in shown.out
    assert "No run has a score yet." in shown.err
    (result,) = json.loads(arcadia("suite", "show", number, "--json").out)
    assert [game["name"] for game in result["games"]] == ["Pong", "Qbert"]
    assert arcadia("study", "stop", number, "--yes").status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["atari-6"], "games: there is no Atari game 'atari-6'"),
        (["pong,pongg"], "did you mean pong?"),
        (["pong", "--preset", "none"], "preset: there is no preset 'none'"),
        (["pong", "--protocol", "human-starts"], "protocol: human-starts begins at a set of start points"),
    ],
)
def test_errors_name_the_field(arcadia: Arcadia, arguments: list[str], message: str) -> None:
    failed = arcadia("suite", "preview", *arguments)
    assert failed.status == 1
    assert message in failed.err
