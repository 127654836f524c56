"""Settings that arrive as text."""

from __future__ import annotations

from typing import Any

import pytest
from arcadia.reporting.values import read_settings_table, typed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2.5e-4", 0.00025),
        ("0.00025", 0.00025),
        ("1e-3", 0.001),
        ("1.0", 1.0),
        ("-3", -3),
        (".5", 0.5),
        (["8", {"rate": "1e-3"}], [8, {"rate": 0.001}]),
        ("007", "007"),
        ("1.10", "1.10"),
        ("1e999", "1e999"),
        ("12e4567", "12e4567"),
        ("v3", "v3"),
        ("True", "True"),
        ("", ""),
        (True, True),
        ((1, 2), [1, 2]),
    ],
)
def test_texts_of_numbers_become_numbers(given: Any, expected: Any) -> None:
    found = typed(given)
    assert (found, type(found)) == (expected, type(expected))


def test_a_table_of_settings_has_typed_values() -> None:
    texts = ("|learning_rate|0.00025|", "|seed|1|", "|anneal_lr|True|", "|target_kl|None|", "|layers|[64, 64]|")
    rows = "\n".join((*texts, "|env_id|CartPole-v1|"))
    expected = {
        "learning_rate": 0.00025,
        "seed": 1,
        "anneal_lr": True,
        "target_kl": None,
        "layers": [64, 64],
        "env_id": "CartPole-v1",
    }
    assert read_settings_table(f"|param|value|\n|-|-|\n{rows}") == expected
    assert read_settings_table(f"| Parameter | Value |\n| --- | --- |\n{rows}\n") == expected
    assert read_settings_table("|a|b|\n|-|-|\n|x|1|") is None
    assert read_settings_table("warm-up ends") is None


def test_a_deeply_nested_text_stays_a_text() -> None:
    deep = "[" * 900
    assert read_settings_table(f"|param|value|\n|-|-|\n|deep|{deep}|") == {"deep": deep}
