"""Tests that the registry of methods is complete and is the only place where a new method is added."""

import re
from functools import partial
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from arcadia_workers.contract import events
from arcadia_workers.contract.config import CONFIGURATIONS, methods_for
from arcadia_workers.contract.config.problems import title_of
from arcadia_workers.contract.events import event_adapter
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.trainer import replay, session
from arcadia_workers.trainer.errors import StopRequest
from arcadia_workers.trainer.launching import Launch
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.run.journal import Journal
from arcadia_workers.trainer.run.recorder import Recorder
from tests.workers.trainer import made_method
from tests.workers.trainer.made_method import StillConfig

ROOT = Path(__file__).parents[4]
OF_METHODS = "workers/arcadia_workers/trainer/methods/"
IN_THE_CONTRACT = ("games.py", "config/fields.py", "config/problems.py", "config/shared.py")


def sources() -> list[Path]:
    """Return the source files that must work for any method."""
    trainer = [
        path
        for path in (ROOT / "workers/arcadia_workers/trainer").rglob("*.py")
        if not str(path.relative_to(ROOT)).startswith(OF_METHODS)
    ]
    contract = [ROOT / "workers/arcadia_workers/contract" / name for name in IN_THE_CONTRACT]
    return [*trainer, *contract, ROOT / "backend/arcadia_backend/configuration.py"]


def test_every_configuration_has_its_method() -> None:
    assert {name: method.config for name, method in TRAINERS.items()} == CONFIGURATIONS


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_general_source_files_name_no_method(path: Path) -> None:
    named = "|".join([*TRAINERS, *(method.config.__name__ for method in TRAINERS.values())])
    assert re.findall(rf"\b({named})\b", path.read_text()) == []


def test_the_contract_knows_a_new_method_from_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    made_method.register(monkeypatch)
    assert title_of("still") == "Still"
    assert methods_for(ENVIRONMENTS["Arcadia/Target-v0"]) == ["a3c", "ppo", "still"]
    assert StillConfig(env="ALE/Pong-v5").shape["network"] == "nips"


def test_a_new_method_needs_only_its_entry_to_train_and_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_method.register(monkeypatch)
    # A recorder in another process does not know the method.
    monkeypatch.setattr(session, "Recorder", partial(Recorder, command=("true",)))
    with Journal(tmp_path) as journal:
        launch = Launch(StillConfig(), tmp_path, resume=False, progress_bar=False)
        assert session.train(launch, journal, StopRequest()) == 0
    reported = [event_adapter.validate_json(line) for line in (tmp_path / "events.jsonl").read_bytes().splitlines()]
    assert (reported[0].kind, reported[-1].kind, reported[-1].step) == ("started", "finished", 10)
    (saved,) = [event for event in reported if isinstance(event, events.CheckpointEvent)]
    monkeypatch.setattr(replay, "config_adapter", TypeAdapter(StillConfig))  # as if the union contained it
    assert replay.record(tmp_path, saved.checkpoint.file).complete
