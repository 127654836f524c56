"""Display names of runs and values."""

from typing import Any

import pytest

from arcadia_backend.database.tables import Run
from arcadia_backend.runs.names import field_titles, format_field, format_value, name_for_copy, name_from_fields

CONFIG: dict[str, Any] = {"algorithm": "paac", "env": "CartPole-v1", "seed": 1, "learning_rate": 0.01, "num_envs": 4}


def run(name: str) -> Run:
    """Return a run with this name."""
    return Run(id=1, name=name, algorithm="paac", env="CartPole-v1", config=CONFIG)


def test_values_are_formatted_briefly() -> None:
    values = [0.001, 0.00025, 0.000025, 0.99, 1.0, 0.0, None, False, 16, [64, 32], [], "relu"]
    texts = ["0.001", "0.00025", "2.5e-5", "0.99", "1", "0", "none", "off", "16", "64/32", "none", "relu"]
    assert [format_value(value) for value in values] == texts


def test_run_of_a_study_is_named_by_varied_fields() -> None:
    fields = ["seed", "gamma", "learning_rate", "checkpoint_seconds", "preset"]
    assert name_from_fields(CONFIG | {"gamma": 0.9}, fields) == "PAAC · CartPole · seed 1 · lr 0.01 · discount 0.9"


def test_copy_is_named_by_its_values_unless_a_user_named_the_run() -> None:
    assert name_for_copy(run("PAAC · CartPole · seed 1"), CONFIG | {"seed": 9}) == "PAAC · CartPole · seed 9"
    assert name_for_copy(run("PAAC on CartPole"), CONFIG | {"seed": 9}) == "PAAC · CartPole · seed 9"
    assert name_for_copy(run("PAAC on CartPole"), CONFIG) == "PAAC on CartPole"
    assert name_for_copy(run("baseline"), CONFIG | {"seed": 9}) == "baseline"


def test_round_counts_have_units_but_seeds_do_not() -> None:
    values = [10_000_000, 1_500_000, 250_000, 10_000, 12_340_000_000, 2_500, 123_456, 10_000_001, True, 0.001]
    texts = ["10 M", "1.5 M", "250 k", "10 k", "12.34 G", "2500", "123456", "10000001", "on", "0.001"]
    assert [format_field("total_steps", value) for value in values] == texts
    assert format_field("seed", 10_000) == "10000"
    fields = ["total_steps", "seed"]
    config = CONFIG | {"total_steps": 10_000_000}
    assert name_from_fields(config, fields) == "PAAC · CartPole · seed 1 · total steps 10 M"


@pytest.mark.parametrize("steps", ["10 M", "10000000"])
def test_copy_of_a_run_with_short_or_long_counts_in_its_name_keeps_the_field(steps: str) -> None:
    named = run(f"PAAC · CartPole · total steps {steps}")
    named.config = CONFIG | {"total_steps": 10_000_000}
    assert name_for_copy(named, named.config | {"seed": 2}) == "PAAC · CartPole · seed 2 · total steps 10 M"


def test_field_titles_are_those_of_the_launch_form() -> None:
    assert field_titles()["num_envs"] == "Environments"
