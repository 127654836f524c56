"""Pasted settings in YAML, TOML and JSON."""

from typing import Any

import pytest

from arcadia_backend.configuration import MAX_UNKNOWN, ParsedText, from_preset, parse_text, to_document
from arcadia_backend.untrusted import reading
from tests.factories import Api

BASE = to_document(from_preset("paac-cartpole", {}))
TEXTS = {
    "yaml": "# mine\nlearning_rate: 1e-3\ntotal_steps: 20_000\nclip_rewards: off\nnetwork: mlp\n",
    "toml": '# mine\nlearning_rate = 1e-3\ntotal_steps = 20_000\nclip_rewards = false\nnetwork = "mlp"\n',
    "json": '{"learning_rate": 1e-3, "total_steps": 20000, "clip_rewards": false, "network": "mlp"}',
}


def parse(text: str, **base: Any) -> ParsedText:
    return parse_text(text, {**BASE, **base})


def problems(text: str) -> list[tuple[int | None, str | None, str]]:
    return [(error.line, error.field, error.message) for error in parse(text).errors]


@pytest.mark.parametrize("name", TEXTS)
def test_settings_are_read_in_each_format(name: str) -> None:
    found = parse(TEXTS[name])
    assert (found.format, found.unknown, found.errors) == (name, [], [])
    assert found.values == {"learning_rate": 0.001, "total_steps": 20_000, "clip_rewards": False, "network": "mlp"}


def test_settings_below_config_are_read() -> None:
    assert parse('{"config": {"seed": 7}}').values == {"seed": 7}
    assert parse("[config]\nseed = 7").values == {"seed": 7}


def test_another_method_uses_its_own_defaults() -> None:
    found = parse("algorithm: a3c\nenv: CartPole-v1\nnum_actors: 3\nnum_envs: 4")
    assert found.values == {"algorithm": "a3c", "env": "CartPole-v1", "num_actors": 3}
    assert [(each.line, each.field) for each in found.unknown] == [(4, "num_envs")]


def test_unknown_settings_are_listed_with_their_lines() -> None:
    found = parse("seed: 3\nlearning_rates: 0.1\n")
    assert found.values == {"seed": 3}
    assert [(each.line, each.field, each.message) for each in found.unknown] == [
        (2, "learning_rates", "PAAC has no such setting")
    ]


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        ("seed: 1\ngamma: 1.5", 2, "gamma", "input should be less than or equal to 1, not 1.5"),
        ('{\n "seed": 1,\n "gamma": "high"\n}', 3, "gamma", "valid number"),
        ("algorithm: dqn", 1, "algorithm", "no such method: choose"),
        ("seed: 1\nseed: 2", 2, None, "seed is set twice"),
        ('{"seed": 1, "seed": 2}', 1, None, "seed is set twice"),
        ("seed = 1\nseed = 2", 2, None, "not valid TOML"),
        ("seed: [1", 1, None, "not valid YAML"),
        ('{"seed": 1,\n}', 2, None, "not valid JSON"),
        ("just words", 1, None, "write one setting per line"),
        ("", 1, None, "write one setting per line"),
        ("a: &x [1]\nb: *x", 2, None, "aliases are not supported"),
        ("[" * 5_000, None, None, "nested too deeply"),
        ("seed = " + "[" * 50_000, None, None, "nested too deeply"),
        ("- " * 49_000, None, None, "nested too deeply"),
        ('{"env": ' + "[" * 900 + "]" * 900 + "}", 1, "env", "valid string"),
        ("seed: 2026-01-01", 1, "seed", "valid integer"),
        ('{"seed": ' + "9" * 5_000 + "}", None, None, "not valid JSON"),
    ],
)
def test_errors_name_the_line_and_the_setting(text: str, line: int | None, field: str | None, message: str) -> None:
    ((found_line, found_field, found_message),) = problems(text)
    assert (found_line, found_field) == (line, field)
    assert message in found_message


def test_a_text_that_takes_long_to_parse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_SECONDS", 1.0)
    ((line, field, message),) = problems("[a" + ".a" * 49_000 + "]")
    assert (line, field, message) == (None, None, "the text cannot be read: reading it takes longer than 1 seconds")


def test_many_unknown_settings_are_reported_in_part() -> None:
    text = "{" + ",".join(f'"unknown_{number}": 1' for number in range(5_000)) + "}"
    assert len(parse_text(text, BASE).unknown) == MAX_UNKNOWN


def test_the_route_returns_the_parsed_settings(api: Api) -> None:
    body = {"text": "seed: 5\nspeed: 1", "base": BASE}
    response = api.user.post("/api/v1/configurations/parse", json=body)
    assert response.status_code == 200, response.text
    assert response.json() == {
        "format": "yaml",
        "values": {"seed": 5},
        "unknown": [{"line": 2, "field": "speed", "message": "PAAC has no such setting"}],
        "errors": [],
    }
