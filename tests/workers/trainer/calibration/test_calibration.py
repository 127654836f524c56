"""Tests for the errors of a critic that simulated futures reveal."""

from pathlib import Path

import numpy as np
import pytest

from tests.workers.trainer.evaluation import made_checkpoint
from workers.contract.calibrations import CalibrationDocument, JudgedMoment
from workers.contract.config import A3cConfig, PaacConfig
from workers.contract.futures import FuturesDocument
from workers.trainer.calibration import calibrating
from workers.trainer.calibration.__main__ import main
from workers.trainer.calibration.judging import regret
from workers.trainer.evaluation.request import RequestError
from workers.trainer.futures import __main__ as futures

CATCH = PaacConfig(env="Arcadia/Catch-v0", gamma=0.9)


def moments(error: float, noise: float, count: int) -> list[JudgedMoment]:
    """Return moments whose values are too high by `error` and whose mean returns are noisy."""
    random = np.random.default_rng(1)
    true = random.normal(size=count)
    means = true + noise * random.normal(size=count)
    return [
        JudgedMoment(
            episode=0,
            decision=number,
            value=float(value),
            mean=float(mean),
            interval=(float(mean - 2 * noise), float(mean + 2 * noise)),
            standard_error=noise,
            regret=None,
        )
        for number, (value, mean) in enumerate(zip(true + error, means, strict=True))
    ]


def test_the_error_excludes_the_noise_of_the_futures() -> None:
    assert calibrating.rmse(moments(0.5, 0.4, 4000)) == pytest.approx(0.5, abs=0.03)
    assert calibrating.rmse(moments(0.0, 0.4, 4000)) < 0.1


def test_bins_have_equal_numbers_of_moments_sorted_by_value() -> None:
    found = calibrating.bins(moments(0.5, 0.1, 45))
    assert [one.count for one in found] == [5] * 5 + [4] * 5
    assert [one.value for one in found] == sorted(one.value for one in found)
    assert sum(one.value - one.mean for one in found) / 10 == pytest.approx(0.5, abs=0.1)
    assert len(calibrating.bins(moments(0.5, 0.1, 3))) == 3


def test_the_correlation_of_a_constant_is_none() -> None:
    assert calibrating.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert calibrating.correlation([1, 2, 3], [5, 5, 5]) is None


def test_the_regret_is_the_difference_to_the_best_action() -> None:
    returns = np.array([[1.0, 1, 1, 1], [3, 3, 3, 3], [2, 2, 2, 2]])
    assert [regret(returns, chosen) for chosen in range(3)] == [2, 0, 1]


def test_equal_actions_have_no_regret_on_average() -> None:
    random = np.random.default_rng(1)
    found = [regret(random.normal(size=(6, 16)), 0) for _ in range(2000)]
    assert abs(np.mean(found)) < 0.03
    assert np.mean([each.max() for each in random.normal(size=(2000, 6, 16)).mean(axis=2)]) > 0.2


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> CalibrationDocument:
    """Run the command and return its document."""
    assert main([*map(str, arguments), "--json"]) == 0
    return CalibrationDocument.model_validate_json(capsys.readouterr().out)


def test_every_kth_decision_is_compared_with_its_futures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, CATCH)
    size = ("--run-dir", tmp_path, "--seed", 3, "--futures", 8)
    found = printed(capsys, *size, "--episodes", 2, "--every", 2)
    assert [(each.episode, each.decision) for each in found.moments] == [(e, d) for e in (0, 1) for d in (0, 2, 4)]
    assert found.bias == pytest.approx(np.mean([each.value - each.mean for each in found.moments]))
    assert found.regret
    assert found.regret.mean == pytest.approx(np.mean([each.regret for each in found.moments]))
    assert len(found.worst) == 5
    worst = found.worst[0]
    assert (
        futures.main([*map(str, size), "--episode", str(worst.episode), "--decision", str(worst.decision), "--json"])
        == 0
    )
    alone = FuturesDocument.model_validate_json(capsys.readouterr().out)
    assert (alone.value, alone.mean, alone.interval) == (worst.value, worst.mean, worst.interval)


def test_the_regret_of_the_last_decision_of_catch_is_0_or_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, CATCH)
    found = printed(capsys, "--run-dir", tmp_path, "--futures", 8, "--episodes", 20, "--every", 1)
    last = [each.regret for each in found.moments if each.decision == 4]
    assert set(last) <= {0, 2}, "the action decides between +1 and -1, unless the ball is out of reach"


def test_continuous_actions_have_no_regret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, A3cConfig(env="Pendulum-v1", gamma=0.9))
    size = ("--run-dir", tmp_path, "--futures", 8, "--horizon", 5, "--episodes", 1, "--every", 100)
    assert printed(capsys, *size).regret is None
    assert main([*map(str, size)]) == 0
    said = capsys.readouterr().out
    assert "2 moments of 1 episodes" in said
    assert "regret       not measured" in said


def test_the_regret_can_be_omitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, CATCH)
    size = ("--run-dir", tmp_path, "--futures", 8, "--episodes", 2)
    whole, short = printed(capsys, *size), printed(capsys, *size, "--no-regret")
    assert short.regret is None
    left_out = short.model_dump(include={"bias", "rmse", "correlation", "bins"})
    assert left_out == whole.model_dump(include=set(left_out))


def test_decisions_are_distributed_over_the_episodes() -> None:
    assert calibrating.spread([100, 300], None) == (10, 40)
    assert calibrating.spread([5, 4], None) == (1, 9)
    assert calibrating.spread([100, 305], 50) == (50, 9)
    with pytest.raises(RequestError, match=r"2,001 decisions would be judged.* at least 4,"):
        calibrating.spread([2001], 1)


def test_mistakes_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, CATCH)

    def refusal(*arguments: object) -> str:
        assert main(["--run-dir", str(tmp_path), *map(str, arguments)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        return said.err

    assert "from 1 to 100" in refusal("--episodes", 0)
    assert "give a number from 1" in refusal("--every", 0)
    assert "from 8 to 256" in refusal("--futures", 500)
    assert "use episodes" in refusal("--protocol", "no-op-5min")
