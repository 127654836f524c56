"""Repeated trainings: equal states have equal fingerprints, and differences are reported."""

from itertools import cycle

import pytest
import torch

from arcadia_workers.trainer.run.run import TrainingState
from bench import repeats


def state(weight: float, step: int = 7) -> TrainingState:
    return TrainingState(step, step, {"network.weight": torch.tensor([[weight, 2.0]])}, {"seen": 3})


def test_equal_states_have_equal_fingerprints() -> None:
    assert repeats.fingerprint(state(1.0)) == repeats.fingerprint(state(1.0))


def test_the_smallest_difference_changes_the_fingerprint() -> None:
    found = [state(1.0), state(1.0 + 2**-23), state(1.0, step=8)]
    assert len({repeats.fingerprint(each) for each in found}) == 3


@pytest.mark.parametrize(("hashes", "alike"), [(["a"], True), (["a", "a", "b"], False)])
def test_a_repetition_that_differs_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], hashes: list[str], alike: bool
) -> None:
    coming = cycle(hashes)
    monkeypatch.setattr(repeats, "train_afresh", lambda *_: {"hash": next(coming), "how": "cpu"})
    row = repeats.compare("CartPole-v1", times=3, updates=5)
    assert row["different_results"] == (1 if alike else 2)
    assert f"{3 if alike else 2} x a" in capsys.readouterr().out
