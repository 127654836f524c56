"""Tests for `arcadia futures`, from the command line to the document."""

import json
from pathlib import Path

import pytest

from arcadia_workers.contract.config import A3cConfig, GorilaConfig, PaacConfig
from arcadia_workers.contract.futures import FuturesDocument, FuturesOptions
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.trainer.futures.experiment import simulated
from arcadia_workers.trainer.futures.request import FuturesRequest, verdict
from arcadia_workers.trainer.futures.simulating import load, moments
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.programs import futures as main
from tests.workers.trainer.recording.test_recording import protocol_of

CARTPOLE = PaacConfig(env="CartPole-v1", seed=1)
SMALL = ("--decision", 2, "--futures", 8, "--horizon", 5)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run directory with the checkpoints of steps 5 and 9."""
    directory = tmp_path / "run"
    for step in (5, 9):
        made_checkpoint.write(directory, CARTPOLE, step)
    return directory


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> FuturesDocument:
    """Run the command and return its document."""
    assert main([*map(str, arguments), "--json"]) == 0
    return FuturesDocument.model_validate_json(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 2) -> str:
    """Run a wrong command and return its error message."""
    assert main([str(argument) for argument in arguments]) == status
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_the_document_has_the_value_and_the_returns(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "--run-dir", run, "--seed", 3, *SMALL, "--each-action")
    assert (found.checkpoint_step, found.count, len(found.returns), len(found.futures)) == (9, 8, 8, 8)
    assert found.mean == pytest.approx(sum(found.returns) / 8)
    assert found.terminal.count + found.bootstrapped.count == 8
    assert [action.name for action in found.actions] == ["left", "right"]
    assert sum(action.probability or 0 for action in found.actions) == pytest.approx(1)
    assert all(len(row) == 5 for row in found.score_fan)
    played = moments(load(run, None, None).subject, PROTOCOLS["episodes"], 3, 0)
    value = [float(moment.output.values[0]) for moment, _ in zip(played, range(3), strict=False)][2]
    assert found.value == value


def test_the_same_command_gives_the_same_futures(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, same = (printed(capsys, "--run-dir", run, "--seed", 3, *SMALL) for _ in "ab")
    assert one.futures == same.futures
    assert printed(capsys, "--run-dir", run, "--seed", 4, *SMALL).futures != one.futures


def test_forcing_an_action_equals_one_row_of_all_actions(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    each = printed(capsys, "--run-dir", run, *SMALL, "--each-action").actions
    forced = printed(capsys, "--run-dir", run, *SMALL, "--first", "Right")
    assert forced.first == ["right"]
    assert forced.mean == pytest.approx(each[1].mean), "up to rounding"
    longer = printed(capsys, "--run-dir", run, *SMALL, "--first", "left×2", "--first", "right")
    assert longer.first == ["left", "left", "right"]


def test_temperature_changes_the_futures(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual, hot = (printed(capsys, "--run-dir", run, *SMALL, "--temperature", each) for each in (1, 10))
    assert (usual.temperature, hot.temperature) == (1, 10)
    assert usual.futures == printed(capsys, "--run-dir", run, *SMALL).futures
    assert hot.futures != usual.futures


def test_methods_that_learn_values_show_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, GorilaConfig(env="CartPole-v1"))
    found = printed(capsys, "--run-dir", tmp_path, *SMALL, "--each-action")
    assert [action.probability for action in found.actions] == [None, None]
    assert max(action.action_value or 0 for action in found.actions) == pytest.approx(found.value)


@pytest.mark.parametrize("lstm_units", [0, 8])
def test_another_agent_can_act_and_estimate_values(
    lstm_units: int, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    made_checkpoint.write(other, A3cConfig(env="CartPole-v1", gamma=0.5, lstm_units=lstm_units), 7)
    own = printed(capsys, "--run-dir", run, *SMALL)
    found = printed(capsys, "--run-dir", run, *SMALL, "--agent", other)
    assert (found.agent, found.agent_step, found.gamma) == (str(other), 7, 0.5)
    assert (found.algorithm, found.checkpoint_step) == ("paac", 9)
    assert found.mean != own.mean
    assert printed(capsys, "--run-dir", run, *SMALL, "--agent", run, "--agent-checkpoint", 9).value == own.value


def test_recorded_actions_replace_those_of_the_agent(run: Path) -> None:
    player = load(run, None, None)
    options = FuturesOptions(decision=6, futures=8, horizon=5)
    request = FuturesRequest(run, None, None, seed=3, episode=0, options=options)
    taken = [moment.action for moment, _ in zip(moments(player.subject, player.protocol, 3, 0), range(6), strict=False)]
    assert simulated(request, player, actions=taken).futures == simulated(request, player).futures
    others = [1 - int(action) for action in taken]
    assert simulated(request, player, actions=others).value != simulated(request, player).value


def test_progress_covers_all_simulations(run: Path) -> None:
    options = FuturesOptions(decision=2, futures=8, horizon=5, each_action=True, record_videos=False)
    progress: list[tuple[int, int]] = []
    request = FuturesRequest(run, None, None, seed=3, episode=0, options=options)
    simulated(request, load(run, None, None), advance=lambda done, total: progress.append((done, total)))
    done = [at for at, _ in progress]
    assert done == sorted(done)
    assert {0 < at < 5 for at in done} == {True, False}
    assert {5, 15} <= set(done), "the actions are simulated side by side"
    assert {total for _, total in progress} == {35}, "with four simulations in the test of the best action"


def test_the_table_says_whether_the_critic_is_right(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--run-dir", str(run), *map(str, SMALL), "--each-action", "--until", "reward"]) == 0
    said = capsys.readouterr().out
    assert "8 futures of up to 5 decisions from decision 2" in said
    assert "too few futures differ for an interval" in said
    assert "Futures end at the next reward." in said
    assert [line.split()[0] for line in said.splitlines() if line.startswith(("left", "right"))] == ["left", "right"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": 0.5}, "the critic is too low"),
        ({"value": 1.5}, "no error of the critic is shown"),
        ({"value": 3}, "the critic is too high"),
        ({"value": 3, "first": ["left"]}, "these futures return less than V"),
        ({"value": 1.5, "first": ["left"]}, "no difference from V is shown"),
        ({"value": 0.5, "temperature": 2}, "these futures return more than V"),
        ({"interval": (2, 2)}, "all futures have the same return, so they have no interval"),
        ({"interval": None}, "unknown: too few futures differ for an interval"),
    ],
)
def test_a_verdict_depends_on_the_estimates_that_futures_end_in(
    run: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object], words: str
) -> None:
    document = printed(capsys, "--run-dir", run, *SMALL).model_copy(update={"interval": (1, 2), **changes})
    ended = document.model_copy(update={"bootstrapped": document.bootstrapped.model_copy(update={"count": 0})})
    assert verdict(ended) == words
    condition = " if the critic's estimates at the end of 8 of 8 futures are right"
    is_claim = "critic is too" in words or "than V" in words
    assert verdict(document) == (words + condition if is_claim else words)


def test_mistakes_are_explained(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refusal(*arguments: object, status: int = 2) -> str:
        return refused(capsys, "--run-dir", run, *SMALL, *arguments, status=status)

    assert "so choose 0 to" in refusal("--decision", 100_000)
    assert "from 0" in refusal("--decision", -1)
    assert "from 8 to 256" in refusal("--futures", 257)
    assert "from 8 to 256" in refusal("--futures", 7)
    assert "from 1 to 10,000" in refusal("--horizon", 0)
    assert "choose one of left, right" in refusal("--first", "jump")
    assert "remove first" in refusal("--first", "left", "--each-action")
    assert "force at most" in refusal("--first", "left×99999")
    assert "--first: String should have at most 100" in refusal("--first", "left" * 30)
    assert "it has 5, 9" in refusal("--checkpoint", 6, status=1)
    assert "from 0.01 to 100" in refusal("--temperature", 0)
    assert "only for --agent" in refusal("--agent-checkpoint", 5)
    assert "there is no run directory" in refusal("--agent", tmp_path / "none")
    assert "use no-op-5min" in refusal("--protocol", "human-starts")
    assert "use episodes" in refusal("--protocol", "no-op-5min")


def test_agents_that_act_by_values_have_no_temperature(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_checkpoint.write(tmp_path, GorilaConfig(env="CartPole-v1"))
    assert "by action values" in refused(capsys, "--run-dir", tmp_path, *SMALL, "--temperature", 2)


def test_agents_of_other_games_and_damaged_checkpoints_are_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    made_checkpoint.write(other, PaacConfig(env="Acrobot-v1"))
    assert "Acrobot-v1" in refused(capsys, "--run-dir", run, *SMALL, "--agent", other)
    made_checkpoint.write(tmp_path / "numbers", A3cConfig(env="Pendulum-v1"))
    assert "has continuous actions" in refused(capsys, "--run-dir", tmp_path / "numbers", *SMALL, "--first", "torque")
    path = next((run / "checkpoints").glob("*9.safetensors"))
    path.write_bytes(bytes(path.stat().st_size))
    assert "is damaged" in refused(capsys, "--run-dir", run, *SMALL, status=1)


@pytest.mark.nightly
def test_agents_of_another_action_set_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    config = PaacConfig(env="ALE/Breakout-v5")
    made_checkpoint.write(one, config)
    made_checkpoint.write(other, config.model_copy(update={"action_set": "full"}))
    name = protocol_of(config).name
    assert "the full action set" in refused(capsys, "--run-dir", one, "--protocol", name, *SMALL, "--agent", other)


def test_the_document_is_json_for_scripts(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--run-dir", str(run), *map(str, SMALL), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"value", "returns", "mean", "interval", "actions", "seconds"} <= found.keys()
