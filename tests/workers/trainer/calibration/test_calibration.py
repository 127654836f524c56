"""Tests for the errors of a critic that simulated futures reveal."""

from pathlib import Path

import numpy as np
import pytest

from arcadia_workers.contract.config import A3cConfig, PaacConfig
from arcadia_workers.contract.futures import CalibrationDocument, CalibrationErrors, FuturesDocument, JudgedMoment
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, SAMPLED
from arcadia_workers.trainer.calibration import calibrating
from arcadia_workers.trainer.evaluation.request import RequestError
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.programs import calibrate as main
from tests.workers.trainer.programs import futures

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
    assert calibrating.errors(moments(0.5, 0.4, 4000)).rmse == pytest.approx(0.5, abs=0.03)
    assert calibrating.errors(moments(0.0, 0.4, 4000)).rmse < 0.1


def test_intervals_are_clustered_by_episode() -> None:
    judged = [each.model_copy(update={"episode": each.decision % 8}) for each in moments(0.5, 0.1, 80)]
    found = calibrating.errors(judged)
    for value, interval in (
        (found.bias, found.bias_interval),
        (found.correlation, found.correlation_interval),
        (found.skill, found.skill_interval),
    ):
        assert value is not None
        assert interval is not None
        assert interval[0] < value < interval[1]
    alone = calibrating.errors(moments(0.5, 0.1, 80))
    assert (alone.bias_interval, alone.skill_interval) == (None, None)


def test_an_error_below_its_noise_is_the_bias() -> None:
    exact = [each.model_copy(update={"standard_error": 1.0}) for each in moments(0.0, 0.0, 40)]
    assert calibrating.errors(exact).rmse == pytest.approx(0, abs=1e-12)
    shifted = [each.model_copy(update={"value": each.value + 0.25}) for each in exact]
    found = calibrating.errors(shifted)
    assert found.rmse == pytest.approx(found.bias) == pytest.approx(0.25)


def test_errors_of_earlier_versions_are_read() -> None:
    stored = calibrating.errors(moments(0.5, 0.1, 80)).model_dump() | {"bias": -0.4, "rmse": 0.3}
    found = CalibrationErrors.model_validate(stored | {"rmse_interval": (0.2, 0.35)})
    assert (found.bias, found.rmse) == (-0.4, 0.4)


def test_the_skill_is_0_for_a_constant_and_1_for_right_values() -> None:
    right = moments(0.0, 0.0, 100)
    mean = float(np.mean([each.mean for each in right]))
    constant = [each.model_copy(update={"value": mean}) for each in right]
    assert calibrating.skill(right) == pytest.approx(1)
    assert calibrating.skill(constant) == pytest.approx(0)
    assert calibrating.skill([each.model_copy(update={"mean": 1.0}) for each in right]) is None


def test_bins_have_equal_numbers_of_moments_sorted_by_value() -> None:
    found = calibrating.bins(moments(0.5, 0.1, 45))
    assert [one.count for one in found] == [5] * 5 + [4] * 5
    assert [one.value for one in found] == sorted(one.value for one in found)
    assert sum(one.value - one.mean for one in found) / 10 == pytest.approx(0.5, abs=0.1)
    assert len(calibrating.bins(moments(0.5, 0.1, 3))) == 3


def test_the_correlation_of_a_constant_is_none() -> None:
    exact = moments(0.0, 0.0, 10)
    assert calibrating.correlation(exact) == pytest.approx(1)
    assert calibrating.correlation([each.model_copy(update={"value": 5.0}) for each in exact]) is None


def test_differences_from_training_are_named() -> None:
    config = PaacConfig(env="ALE/Pong-v5", evaluation_protocol="sticky-30min")
    protocol = PROTOCOLS["sticky-30min"]
    assert calibrating.differences_from_training(config, protocol, SAMPLED) == [
        "The emulator repeats actions with a probability of 0.25 in these episodes, and of 0 in training."
    ]
    sticky = config.model_copy(update={"repeat_action_probability": 0.25})
    assert calibrating.differences_from_training(sticky, protocol, SAMPLED) == []
    assert "5% of the actions are random" in calibrating.differences_from_training(sticky, protocol, EPSILON_GREEDY)[0]


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
    of_moments = [each.regret.at_most for each in found.moments if each.regret]
    assert found.regret.at_most == pytest.approx(np.mean(of_moments))
    assert len(found.worst) == 5
    worst = found.worst[0]
    assert futures([*map(str, size), "--episode", str(worst.episode), "--decision", str(worst.decision), "--json"]) == 0
    alone = FuturesDocument.model_validate_json(capsys.readouterr().out)
    assert (alone.value, alone.mean, alone.interval) == (worst.value, worst.mean, worst.interval)


def test_the_regret_of_the_last_decision_of_catch_is_0_or_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, CATCH)
    found = printed(capsys, "--run-dir", tmp_path, "--futures", 8, "--episodes", 20, "--every", 1)
    last = [(each.regret.at_least, each.regret.at_most) for each in found.moments if each.regret and each.decision == 4]
    assert set(last) <= {(0, 0), (2, 2)}, "the action decides between +1 and -1, unless the ball is out of reach"


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
