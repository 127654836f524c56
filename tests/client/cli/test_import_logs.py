"""`arcadia import-logs` with CSV files."""

from pathlib import Path

import pytest
from tensorboardX import SummaryWriter

from tests.client.cli.conftest import Arcadia
from tests.factories import Api

CSV = ("import-logs", "--from", "csv")


def imported(api: Api, name: str) -> list[int]:
    """Return the numbers of the runs with a name."""
    return [run["id"] for run in api.user.get("/api/v1/runs", params={"name": name}).json()["items"]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("step,loss\n1,2\n".encode("utf-16"), "is not a text file in UTF-8"),
        (bytes(range(256)) * 20, "is not a text file in UTF-8"),
        (b"", "is empty"),
        (b"step,loss\n", "has no row with a step and numbers"),
        (b"step,note\n1,hello\n", "has no row with a step and numbers"),
    ],
)
def test_an_unreadable_file_is_listed_and_creates_no_run(
    arcadia: Arcadia, api: Api, tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "unreadable.csv").write_bytes(content)
    (tmp_path / "readable.csv").write_text("step,loss\n1,2\n")
    outcome = arcadia(*CSV, tmp_path)
    assert outcome.status == 1
    assert "1 not imported completely. Repair the files" in outcome.err
    assert f"{tmp_path / 'unreadable.csv'} {reason}" in outcome.err
    assert imported(api, "unreadable") == []
    assert "with 1 new event\n" in outcome.out


def test_rows_of_another_length_are_left_out_and_listed(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    file = tmp_path / "lengths.csv"
    file.write_text("step,loss,entropy\n1,2,3\n2,3\n3,4,5,6\n,8,9\n5,6,7\n")
    outcome = arcadia(*CSV, file)
    assert outcome.status == 0
    assert "3 parts of the files left out" in outcome.err
    for row in (2, 3):
        assert f"Row {row} of lengths.csv was left out: it has not as many values as the header" in outcome.err
    assert "Row 4 of lengths.csv was left out: it has no number in the step column step." in outcome.err
    (run,) = imported(api, "lengths")
    assert api.user.get(f"/api/v1/runs/{run}/points").json()["series"]["loss"]["step"] == [1, 5]
    file.write_text(file.read_text() + "6,7,8\n")
    assert "with 1 new event\n" in arcadia(*CSV, file).out


def test_a_row_without_a_time_has_that_of_the_row_before(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    file.write_text("step,loss,_timestamp\n1,2,1700000000\n2,3,1700000010\n3,4,\n")
    arcadia(*CSV, file)
    (run,) = imported(api, "times")
    assert api.run(run)["trained_seconds"] == 10.0


def test_another_step_column_makes_another_run(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    file = tmp_path / "another.csv"
    file.write_text("tt,loss\n100,2\n200,3\n")
    for arguments, events in (((), 2), (("--step", "tt"), 2), (("--step", "tt"), 0), ((), 0)):
        assert f"with {events} new events" in arcadia(*CSV, file, *arguments).out
    first, second = sorted(imported(api, "another"))
    steps = [api.user.get(f"/api/v1/runs/{run}/points").json()["series"]["loss"]["step"] for run in (first, second)]
    assert steps == [[0, 1], [100, 200]]


def test_a_wrong_step_column_names_the_columns_and_imports_nothing(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    (tmp_path / "wrong.csv").write_text("tt,loss\n100,2\n")
    outcome = arcadia(*CSV, tmp_path, "--step", "ttt")
    assert outcome.status == 1
    assert "has no column ttt. Use one of its columns with --step: tt, loss. Nothing was imported." in outcome.err
    assert "Repair" not in outcome.err
    assert imported(api, "wrong") == []


def test_a_wrong_token_is_the_only_problem(arcadia: Arcadia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCADIA_TOKEN", "wrong")
    (tmp_path / "token.csv").write_text("step,loss\n1,2\n")
    outcome = arcadia(*CSV, tmp_path)
    assert outcome.status == 1
    assert "token is not imported." in outcome.err
    assert "ARCADIA_TOKEN" in outcome.err
    assert "Repair" not in outcome.err


def test_a_folder_without_files_names_them(arcadia: Arcadia, tmp_path: Path) -> None:
    assert f"There are no CSV files in {tmp_path}." in arcadia(*CSV, tmp_path).err


def test_runs_without_settings_are_listed_with_a_remedy(arcadia: Arcadia, tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path / "PPO_1")) as writer:
        writer.add_scalar("rollout/ep_rew_mean", 36.5, 10)
    with SummaryWriter(str(tmp_path / "cleanrl")) as writer:
        writer.add_text("hyperparameters", "|param|value|\n|-|-|\n|env_id|CartPole-v1|")
    outcome = arcadia("import-logs", "--from", "tensorboard", tmp_path)
    assert outcome.status == 0
    assert "1 run without settings and environment" in outcome.err
    assert "arcadia run -- python SCRIPT" in outcome.err
    assert outcome.err.endswith("\n  PPO_1\n")
