"""Tests of `arcadia practice`, from the command line to the verdict."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from pydantic import ValidationError

from arcadia_workers.contract import events, layout, practice
from arcadia_workers.contract.config import A3cConfig, RunConfig, config_adapter
from arcadia_workers.contract.practice import PracticeDocument, PracticeOptions
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, GREEDY, SAMPLED, PlayedEpisode
from arcadia_workers.contract.review import ReviewOptions
from arcadia_workers.trainer.futures.simulating import load
from arcadia_workers.trainer.methods import TRAINERS
from arcadia_workers.trainer.practice import PracticeRequest, arms, measuring, practicing
from arcadia_workers.trainer.practice.measuring import difference_at_moments, difference_of_scores, probability_of
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.run import checkpoints
from arcadia_workers.trainer.run.run import NullRun
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.practice import weak_agent
from tests.workers.trainer.programs import practice as main
from tests.workers.waiting import wait_until

STEPS, FUTURES = 5_000, 12
Train = Callable[..., None]


def train_here(directory: Path, config: RunConfig, checkpoint: Path, *_: object) -> None:
    """Train an arm in this process, without events and replays."""
    arms.prepare(directory, config, checkpoint)
    found = checkpoints.newest(directory, print)
    assert found is not None
    if found.state.step < config.total_steps:
        run = NullRun(restored=found.state)
        TRAINERS[config.algorithm].train(config, run)
        checkpoints.write(directory, run.saved[-1], config, {})


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train the arms in this process, simulate few futures, and let few kept mistakes be enough, which is faster."""
    monkeypatch.setattr(practice, "MIN_MOMENTS", 1)
    monkeypatch.setattr(practicing, "train", train_here)
    monkeypatch.setattr(measuring, "FUTURES", FUTURES)


def written(tmp_path: Path, weak_columns: Sequence[int], reviewed: int) -> list[str]:
    """Write an agent and reviews of it. Return the arguments of the command."""
    weak_agent.write(tmp_path / "run", weak_columns)
    arguments = ["--run-dir", str(tmp_path / "run"), "--out", str(tmp_path / "out"), "--steps", str(STEPS)]
    for review in weak_agent.reviews(load(tmp_path / "run", None, None), 1, reviewed) if reviewed else []:
        file = tmp_path / f"review-{review.episode}.json"
        file.write_text(review.model_dump_json())
        arguments += ["--review", str(file)]
    return arguments


def printed(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> PracticeDocument:
    assert main([*arguments, "--json"]) == 0
    return PracticeDocument.model_validate_json(capsys.readouterr().out)


@pytest.mark.usefixtures("in_process")
def test_practice_repairs_a_weakness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = written(tmp_path, [0], 40)
    found = printed([*arguments, "--evaluations", "60"], capsys)

    assert found.mistakes.verdict == "improved"
    assert found.mistakes.mean > 0.5
    assert (found.mistakes.unit, found.mistakes.count) == ("moment", len(found.held_out))
    assert found.repeated.mean < -0.15
    practice, control = found.arms
    assert (practice.name, practice.share, control.name, control.share) == ("practice", 0.5, "control", 0.0)
    assert (practice.seed, practice.first_step, practice.last_step) == (1, weak_agent.STEP, weak_agent.STEP + STEPS)
    assert found.score.mean == pytest.approx(practice.score - control.score)
    assert found.score.mean > 0.1
    assert found.mistakes.mean == pytest.approx(practice.outcome - control.outcome)
    assert found.cost.training_steps == 2 * STEPS
    assert found.cost.futures == 3 * FUTURES * len(found.held_out)

    practiced, held_out = ({each.episode for each in those} for those in (found.practiced, found.held_out))
    assert practiced
    assert not practiced & held_out
    assert all(each.start == 0 for each in found.practiced), "ten decisions before, at most the first"
    configs = [
        config_adapter.validate_json((Path(str(arm.directory)) / layout.CONFIG).read_bytes()) for arm in found.arms
    ]
    assert [config.practice.share for config in configs if config.practice] == [0.5, 0.0]
    assert configs[0].model_copy(update={"practice": None}) == configs[1].model_copy(update={"practice": None})

    # Everything is kept, so the same command only prints it again.
    monkeypatch.setattr(measuring, "play_on", None)
    assert printed([*arguments, "--evaluations", "60"], capsys) == found
    assert main([*arguments, "--evaluations", "60"]) == 0
    shown = capsys.readouterr()
    assert "did these mistakes become rarer?  improved, for this pair of agents" in shown.out
    assert "The smallest mean rise of the outcome at the kept mistakes that can be shown is 0." in shown.err


@pytest.mark.usefixtures("in_process")
def test_no_improvement_is_shown_where_there_is_no_weakness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(written(tmp_path, [], 16), capsys)
    assert (found.mistakes.verdict, found.score.verdict) == ("no improvement shown", "no improvement shown")
    assert abs(found.mistakes.mean) < 0.2


@pytest.mark.usefixtures("in_process")
def test_pairs_are_the_unit_if_there_are_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = written(tmp_path, [0], 8)
    found = printed([*arguments, "--pairs", "3", "--steps", "400", "--evaluations", "4"], capsys)
    assert [(arm.pair, arm.name, arm.seed) for arm in found.arms] == [
        (pair, name, pair) for pair in (1, 2, 3) for name in ("practice", "control")
    ]
    assert {each.unit for each in (found.mistakes, found.repeated, found.score)} == {"pair"}
    assert {each.count for each in (found.mistakes, found.repeated, found.score)} == {3}
    assert all(len(each.practice) == len(each.control) == 3 for each in found.held_out)


@pytest.mark.nightly
def test_the_arms_train_in_processes_and_continue_after_a_stop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(practice, "MIN_MOMENTS", 1)
    arguments = written(tmp_path, [0, 1, 2], 0)
    arguments += ["--episodes", "4", "--decisions", "5", "--evaluations", "4"]
    # The reviews are made here, and the first arm is stopped while it trains.
    request = PracticeRequest(
        run_directory=tmp_path / "run",
        step=None,
        protocol=None,
        seed=1,
        reviews=(),
        episodes=4,
        review=ReviewOptions(decisions=5),
        options=PracticeOptions(steps=STEPS, evaluations=4),
        out=tmp_path / "out",
    )
    first = arms.arm_directory(tmp_path / "out", "practice", 1)

    def has_started() -> bool:
        return any(isinstance(event, events.Started) for event in arms.events_of(first))

    with pytest.raises(StoppedError, match="practice was stopped"):
        practicing.practice(request, has_started, lambda _: None)
    assert not arms.arm_directory(tmp_path / "out", "control", 1).exists()
    assert (tmp_path / "out" / "plan.json").exists()
    found = printed(arguments, capsys)
    assert [arm.last_step for arm in found.arms] == [weak_agent.STEP + STEPS] * 2
    assert found.cost.training_seconds > 0
    assert all((Path(str(arm.directory)) / layout.EVENTS).exists() for arm in found.arms)


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        (["--pairs", "2"], 2, "--pairs 2: give 1, or at least 3"),
        (["--share", "0"], 2, "--share 0.0: give a share above 0"),
        (["--share", "2"], 2, "--share 2.0: give a number from 0 to 1"),
        (["--steps", "0"], 2, "--steps 0: give a number from 1 to"),
        (["--review", "missing.json"], 2, "--review missing.json: there is no such file"),
        (["--review", "missing.json", "--episodes", "2"], 2, "remove --episodes and --decisions"),
        (["--episodes", "0"], 2, "--episodes 0: give a number from 1 to 100"),
        (["--run-dir", "missing"], 2, "there is no run directory missing"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], status: int, message: str
) -> None:
    made_checkpoint.write(tmp_path / "run", weak_agent.CONFIG)
    arguments = ["--run-dir", str(tmp_path / "run"), "--out", str(tmp_path / "out")]
    assert main([*arguments, *more]) == status
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("in_process")
def test_a_folder_belongs_to_one_practice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*written(tmp_path, [0], 4), "--steps", "200", "--evaluations", "2"]
    assert main(arguments) == 0
    assert main([*arguments, "--before", "1"]) == 2
    assert "holds the practice of another agent or with other options" in capsys.readouterr().err


@pytest.mark.usefixtures("in_process")
def test_reviews_of_another_agent_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = written(tmp_path, [0], 4)
    made_checkpoint.write(tmp_path / "run", weak_agent.CONFIG, step=weak_agent.STEP + 1)
    assert main(arguments) == 2
    assert "has the checkpoint 50000, not 50001" in capsys.readouterr().err
    # The same step, but another agent: it takes other actions in these episodes.
    made_checkpoint.write(tmp_path / "other", weak_agent.CONFIG, step=weak_agent.STEP)
    assert main([*arguments, "--run-dir", str(tmp_path / "other")]) == 2
    assert "review it again on this machine" in capsys.readouterr().err


def test_too_few_mistakes_are_refused_before_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(written(tmp_path, [0], 4)) == 1
    assert "2 mistakes would be kept to measure, and one pair needs at least 7" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_reviews_without_mistakes_are_not_practiced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = written(tmp_path, [], 0)
    assert main([*arguments, "--episodes", "1", "--decisions", "1"]) == 1
    assert "there is nothing to practice" in capsys.readouterr().err


def test_continuous_actions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path / "run", A3cConfig(env="Pendulum-v1"))
    assert main(["--run-dir", str(tmp_path / "run"), "--out", str(tmp_path / "out")]) == 2
    assert "only discrete actions" in capsys.readouterr().err


def test_options_have_limits() -> None:
    with pytest.raises(ValidationError, match="give a share above 0"):
        PracticeOptions(share=0)
    assert PracticeOptions().pairs == 1


def test_the_probability_of_an_action_follows_the_way_of_acting() -> None:
    numbers = torch.tensor([0.0, np.log(3.0)])
    assert probability_of(0, numbers, SAMPLED) == pytest.approx(0.25)
    assert [probability_of(action, numbers, GREEDY) for action in (0, 1)] == [0.0, 1.0]
    assert [probability_of(action, numbers, EPSILON_GREEDY) for action in (0, 1)] == pytest.approx([0.025, 0.975])


def episodes(*scores: float, play: str = "") -> list[PlayedEpisode]:
    return [
        PlayedEpisode(
            number=at, score=score, frames=5, frames_before=0, length=5, ended="over", play=play or f"{at} {score}"
        )
        for at, score in enumerate(scores)
    ]


def test_moments_and_pairs_are_units() -> None:
    practice, control = np.full((1, 20), 0.9), np.full((1, 20), -0.9)
    found = difference_at_moments(practice, control, 2.0)
    assert (found.unit, found.count, found.verdict) == ("moment", 20, "improved")
    assert found.mean == pytest.approx(1.8)
    assert difference_at_moments(control, practice, 2.0).verdict == "harmed"
    few = difference_at_moments(practice[:, :2], control[:, :2], 2.0)
    assert few.verdict == "no improvement shown"
    pairs = difference_at_moments(np.array([[0.9], [0.8], [0.7]]), np.zeros((3, 1)), 2.0)
    assert (pairs.unit, pairs.count, pairs.verdict) == ("pair", 3, "improved")
    assert difference_at_moments(np.array([[0.9], [-0.8], [0.7]]), np.zeros((3, 1)), 2.0).verdict != "improved"


def test_episodes_that_both_agents_repeat_count_once() -> None:
    better, worse = (5.0, 6.0, 4.0, 7.0) * 5, (1.0, 1.0, 2.0, 1.0) * 5
    found = difference_of_scores([episodes(*better)], [episodes(*worse)])
    assert (found.unit, found.count, found.verdict, found.mean) == ("episode", 20, "improved", 4.25)
    repeated = difference_of_scores([episodes(*[5.0] * 20, play="a")], [episodes(*[1.0] * 20, play="b")])
    assert (repeated.count, repeated.interval, repeated.verdict) == (1, None, "no improvement shown")


def test_killed_attempts_count_as_training(tmp_path: Path) -> None:
    began = {"seed": 1, "device": "cpu", "precision": "float32", "command": [], "versions": {}, "host": "here"}
    events_of_attempts: list[dict[str, Any]] = [
        {"kind": "started", "time": 100.0, **began},
        {"kind": "log", "time": 130.0, "message": "killed after this"},
        {"kind": "started", "time": 500.0, **began},
        {"kind": "stopped", "time": 510.0, "reason": "practice was stopped"},
        {"kind": "started", "time": 900.0, **began},
        {"kind": "log", "time": 905.0, "message": "killed again"},
    ]
    lines = [json.dumps({"seq": at, "step": 0, "frames": 0, **each}) for at, each in enumerate(events_of_attempts, 1)]
    (tmp_path / layout.EVENTS).write_text("\n".join(lines) + '\n{"cut')
    assert arms.training_seconds(tmp_path) == 30 + 10 + 5


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_killing_the_command_ends_its_trainer(tmp_path: Path) -> None:
    arguments = written(tmp_path, [0], 40)
    arguments[arguments.index("--steps") + 1] = "100000000"
    command = [sys.executable, "-m", "arcadia_workers.trainer.job", "practice", *arguments]
    practicing_now = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    directory = arms.arm_directory(tmp_path / "out", "practice", 1)
    try:
        wait_until(lambda: any(isinstance(event, events.Started) for event in arms.events_of(directory)))
        trainers = psutil.Process(practicing_now.pid).children(recursive=True)
        assert {each.nice() for each in trainers} == {arms.NICENESS}
    finally:
        practicing_now.kill()
        practicing_now.wait()
    assert trainers
    assert psutil.wait_procs(trainers, timeout=20)[1] == [], "the leash and the trainer end"
