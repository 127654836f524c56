"""Parsing of options: changed fields, numbers, axes and global options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from arcadia import Client, Run
from arcadia.cli.launch import per_seed, read_config
from arcadia.cli.options import NOT_FIELDS, move_global_options, parse_changes, parse_checkpoint, parse_numbers
from arcadia.cli.output import age, clean, duration, name_with_seed, number, percent
from arcadia.cli.study import parse_axis
from arcadia.errors import ArcadiaError
from arcadia.notebook import format_size


def test_values_of_changes_are_json_or_text() -> None:
    changes = ["learning_rate=1e-4", "env=ALE/Pong-v5", "double=true", "arch=a=b"]
    expected = {"learning_rate": 1e-4, "env": "ALE/Pong-v5", "double": True, "arch": "a=b"}
    assert parse_changes(changes) == expected
    with pytest.raises(typer.BadParameter, match="is not FIELD=VALUE"):
        parse_changes(["learning_rate"])


def test_numbers_are_lists_and_ranges() -> None:
    assert parse_numbers("1-3,7, 2") == [1, 2, 3, 7]
    for wrong in ("", "a", "3-1", "1-", "1-5000", "-1"):
        with pytest.raises(typer.BadParameter):
            parse_numbers(wrong)


def test_an_axis_is_a_list_or_a_range() -> None:
    assert parse_axis("t_max=5,10") == {"field": "t_max", "values": [5, 10]}
    assert parse_axis("rate=log(1e-4, 1e-2)") == {"field": "rate", "log_uniform": [1e-4, 1e-2]}
    assert parse_axis("gamma=uniform(0.9,0.99)") == {"field": "gamma", "uniform": [0.9, 0.99]}
    with pytest.raises(ArcadiaError, match="give a field with its values"):
        parse_axis("gamma=")


def test_several_seeds_are_runs_with_their_seed_in_the_name() -> None:
    assert per_seed("n", []) == [{"name": "n"}]
    assert per_seed("n", [3]) == [{"name": "n", "seed": 3}]
    assert [each["name"] for each in per_seed("n", [1, 2])] == ["n seed 1", "n seed 2"]
    assert per_seed("", [1, 2]) == [{"name": None, "seed": 1}, {"name": None, "seed": 2}]
    assert name_with_seed("rates seed 1", 4) == "rates seed 4"


def test_a_checkpoint_is_a_word_or_a_step() -> None:
    texts = ("newest", "best", "400", "pong/champion")
    assert [parse_checkpoint(text) for text in texts] == ["newest", "best", 400, "pong/champion"]
    with pytest.raises(typer.BadParameter, match="use newest, best, an alias, or the step"):
        parse_checkpoint("-1")


@pytest.mark.parametrize("method", [Client.launch, Run.clone, Run.fork])
def test_a_changed_field_is_never_mistaken_for_a_parameter(method: Callable[..., object]) -> None:
    parameters = {name for name, each in inspect.signature(method).parameters.items() if each.kind != each.VAR_KEYWORD}
    assert parameters - {"seed"} <= NOT_FIELDS
    for name in parameters - {"seed"}:
        with pytest.raises(typer.BadParameter, match="not a field of a configuration"):
            parse_changes([f"{name}=1"])


def test_a_configuration_is_json_or_toml(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"gamma": 0.9}')
    (tmp_path / "a.toml").write_text("gamma = 0.9")
    assert read_config(tmp_path / "a.json") == read_config(tmp_path / "a.toml") == {"gamma": 0.9}
    (tmp_path / "b.json").write_text("[1]")
    for wrong, message in (("b.json", "has no configuration"), ("none.json", "cannot be read")):
        with pytest.raises(ArcadiaError, match=message):
            read_config(tmp_path / wrong)


def test_global_options_may_follow_the_command() -> None:
    assert move_global_options(["runs", "--url", "u", "-q"]) == ["--url", "u", "runs", "-q"]
    assert move_global_options(["runs", "--token-file=f"]) == ["--token-file=f", "runs"]
    assert move_global_options(["show", "--", "--url"]) == ["show", "--", "--url"]
    assert move_global_options(["runs", "--url"]) == ["--url", "runs"]


def test_numbers_and_times_are_short() -> None:
    assert [number(value) for value in (None, 0.123456, 12345.6, "NaN", "Infinity")] == [
        "–",
        "0.1235",
        "12,346",
        "nan",
        "inf",
    ]
    assert [duration(value) for value in (None, 0.4, 61, 90_061)] == ["–", "0 s", "1 min 1 s", "1 d 1 h"]
    assert [format_size(value) for value in (12, 1_536, 35_534, 1_048_570, 2**50)] == [
        "12 B",
        "1.5 KiB",
        "34.7 KiB",
        "1 MiB",
        "1,048,576 GiB",
    ]
    assert [percent(step, 1_000) for step in (999, 1_000, 1_016)] == ["99 %", "100 %", "100 %"]
    assert age("2000-01-01T00:00:00Z").endswith(" d")


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert clean("a\x1b[31mb\x07\u009b") == "a�[31mb��"
