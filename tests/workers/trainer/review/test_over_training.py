"""Tests of `arcadia review --over-training`: several checkpoints at the same moments."""

import json
from pathlib import Path

import numpy as np
import pytest

from arcadia_workers.contract.config import PaacConfig
from arcadia_workers.contract.review import MistakesDocument, ReviewOptions
from arcadia_workers.trainer.futures.simulating import load
from arcadia_workers.trainer.review import ReviewRequest
from arcadia_workers.trainer.review.over_training import mistakes_of, over_training, spread
from arcadia_workers.trainer.review.reviewing import watch
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.programs import review as main

CATCH = PaacConfig(env="Arcadia/Catch-v0", gamma=0.9)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made_checkpoint.write(tmp_path / "run", CATCH)
    return tmp_path / "run"


def request_of(directory: Path, decisions: int = 4) -> ReviewRequest:
    return ReviewRequest(directory, None, None, 3, 0, ReviewOptions(decisions=decisions, horizon=20))


def test_moments_are_spread_over_an_episode() -> None:
    assert spread(100, 4) == [12, 37, 62, 87]
    assert spread(2, 5) == [0, 1]


def test_all_checkpoints_are_reviewed_at_the_same_moments(directory: Path) -> None:
    [step] = [load(directory, None, None).checkpoint.file.step]
    document = over_training(request_of(directory), [step, step], 3)
    first, second = document.checkpoints
    assert first.model_dump(exclude={"seconds"}) == second.model_dump(exclude={"seconds"})
    assert (first.reviewed, first.loss.count) == (12, 3)
    # The agent is untrained, so it loses something at some of the moments.
    assert first.loss.mean is not None
    assert first.loss.mean > 0


def test_an_agent_without_mistakes_loses_nothing(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player, request = load(directory, None, None), request_of(directory)
    watched = [(request, watch(player, request, (), lambda: False))]

    def equal(_decision: int, firsts: list[int], futures: range) -> object:
        class Found:
            outcomes = scores = np.zeros((len(firsts), len(futures)))

        return Found

    monkeypatch.setattr("arcadia_workers.trainer.review.over_training.simulator", lambda *_: equal)
    found = mistakes_of(player, player, watched, lambda: False)
    assert (found.mistakes, found.loss.mean) == (0, 0.0)


def test_the_command_prints_a_table_or_json(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["--run-dir", str(directory), "--over-training", "--decisions", "2", "--horizon", "20"]
    assert main(wanted) == 0
    assert "mean loss of a decision" in capsys.readouterr().out
    assert main([*wanted, "--episodes", "1", "--json"]) == 0
    document = MistakesDocument.model_validate(json.loads(capsys.readouterr().out))
    assert document.checkpoints[0].reviewed == 2


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--over-training", "--every", "3"], "leave out --every"),
        (["--over-training", "--episodes", "0"], "give a number from 1 to 100"),
        (["--episodes", "2"], "needs --over-training"),
    ],
)
def test_odd_options_are_refused(
    directory: Path, options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--run-dir", str(directory), *options]) != 0
    assert problem in capsys.readouterr().err
