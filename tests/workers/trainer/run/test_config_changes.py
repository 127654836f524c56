"""Tests that a trainer applies each requested change once and reports it before it takes effect."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from arcadia_workers.contract import events, layout
from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.events import RequestedChange, changes_adapter
from arcadia_workers.trainer.run import config_changes
from arcadia_workers.trainer.run.config_changes import ConfigChanges, read_applied
from arcadia_workers.trainer.run.journal import Journal
from tests.workers.trainer.trainers import of_kind


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path) as opened:
        yield opened


@pytest.fixture(autouse=True)
def polled_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_changes, "POLL_SECONDS", 0.0)


def request(directory: Path, *changes: dict[str, object]) -> None:
    requested = [RequestedChange.model_validate(change) for change in changes]
    (directory / layout.CHANGES).write_bytes(changes_adapter.dump_json(requested))


def refuse(message: str, _level: str) -> None:
    pytest.fail(message)


def a_config() -> PaacConfig:
    return PaacConfig(env="CartPole-v1", total_steps=1_000)


def test_a_change_is_reported_with_its_old_values_and_applied_once(tmp_path: Path, journal: Journal) -> None:
    config, logged = a_config(), list[str]()
    changes = ConfigChanges(tmp_path, journal, set(), lambda message, _level: logged.append(message))
    assert changes.apply(config, 0, 0) == {}

    request(tmp_path, {"number": 1, "fields": {"learning_rate": 1e-4, "total_steps": 2_000}})
    assert changes.apply(config, 40, 40) == {"learning_rate": 1e-4, "total_steps": 2_000}
    assert (config.learning_rate, config.total_steps) == (1e-4, 2_000)
    assert changes.apply(config, 41, 41) == {}

    # A worker writes the file again until the backend has received the report.
    request(tmp_path, {"number": 1, "fields": {"learning_rate": 1e-4}}, {"number": 2, "fields": {"value_cost": 0.5}})
    assert changes.apply(config, 42, 42) == {"value_cost": 0.5}
    reported = of_kind(tmp_path, events.Changed)
    assert [(event.number, event.step) for event in reported] == [(1, 40), (2, 42)]
    assert reported[0].previous == {"learning_rate": 0.0224, "total_steps": 1_000}
    assert logged == []


def test_a_change_waits_for_its_step(tmp_path: Path, journal: Journal) -> None:
    config = a_config()
    changes = ConfigChanges(tmp_path, journal, set(), refuse)
    request(
        tmp_path, {"number": 1, "fields": {"value_cost": 2.0}, "step": 50}, {"number": 2, "fields": {"value_cost": 1.5}}
    )
    assert changes.apply(config, 0, 0) == {"value_cost": 1.5}
    assert changes.apply(config, 49, 49) == {}
    assert changes.apply(config, 52, 52) == {"value_cost": 2.0}


@pytest.mark.parametrize("content", ["[{", '{"number": 1}', '[{"number": 0, "fields": {}}]'])
def test_an_unreadable_file_is_logged_once(tmp_path: Path, journal: Journal, content: str) -> None:
    logged = list[str]()
    changes = ConfigChanges(tmp_path, journal, set(), lambda message, _level: logged.append(message))
    (tmp_path / layout.CHANGES).write_text(content)
    for step in range(3):
        assert changes.apply(a_config(), step, step) == {}
    (message,) = logged
    assert message.startswith("changes.json cannot be read")


def test_an_unsafe_field_is_logged_and_not_applied(tmp_path: Path, journal: Journal) -> None:
    config, logged = a_config(), list[str]()
    changes = ConfigChanges(tmp_path, journal, set(), lambda message, level: logged.append(f"{level}: {message}"))
    request(tmp_path, {"number": 1, "fields": {"gamma": 0.5}})
    assert changes.apply(config, 0, 0) == changes.apply(config, 1, 1) == {}
    (message,) = logged
    assert message.startswith("warning: Change 1 was not applied: gamma: a run cannot change this")
    assert config.gamma == 0.99
    assert of_kind(tmp_path, events.Changed) == []


def test_applied_changes_are_read_from_a_torn_event_file(tmp_path: Path, journal: Journal) -> None:
    config = a_config()
    changes = ConfigChanges(tmp_path, journal, set(), refuse)
    request(tmp_path, {"number": 1, "fields": {"value_cost": 2.0}}, {"number": 2, "fields": {"learning_rate": 0.5}})
    changes.apply(config, 7, 7)
    with (tmp_path / layout.EVENTS).open("ab") as file:
        file.write(b'{"seq":3,"kind":"changed","num')
    applied = read_applied(tmp_path)
    assert applied.numbers == {1, 2}
    assert applied.fields == {"value_cost": 2.0, "learning_rate": 0.5}

    again = ConfigChanges(tmp_path, journal, applied.numbers, refuse)
    assert again.apply(config, 8, 8) == {}


def test_fields_of_earlier_attempts_are_already_in_the_configuration(tmp_path: Path) -> None:
    lines = [
        {"seq": 1, "kind": "changed", "number": 1, "fields": {"value_cost": 2.0}},
        {"seq": 2, "kind": "started"},
        {"seq": 3, "kind": "changed", "number": 4, "fields": {"learning_rate": 0.5}},
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (tmp_path / layout.EVENTS).write_text(text)
    applied = read_applied(tmp_path)
    assert applied.numbers == {1, 4}
    assert applied.fields == {"learning_rate": 0.5}
