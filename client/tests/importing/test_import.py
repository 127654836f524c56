"""Import of the logs of other tools, and following of a folder."""

from __future__ import annotations

import json
import math
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arcadia
import numpy as np
import pytest
from arcadia.cli.main import main
from arcadia.errors import ArcadiaError
from arcadia.importing import tables, tensorboard_files, wandb_files
from arcadia.importing.sending import SourceRun, import_run
from arcadia.importing.tensorboard_files import Follower
from arcadia.reporting.connection import Connection
from importing.wandb_logs import field, item, write_wandb
from reporting.reported_server import Rejection, ReportedServer
from reporting.scripts import wait_until
from tensorboardX import SummaryWriter

WAIT_SECONDS = 60.0
# A record of wandb with a value that is not JSON.
NESTED = field(2, field(1, field(1, "a") + field(16, "[" * 100)))


@pytest.fixture
def server() -> Iterator[ReportedServer]:
    """Serve reported runs."""
    server = ReportedServer()
    yield server
    server.close()


def import_all(server: ReportedServer, runs: list[SourceRun]) -> int:
    """Import runs, and return the number of new events. Everything must be readable."""
    imported = [import_run(Connection(server.url, None), run) for run in runs]
    assert [problem for each in imported for problem in each.problems] == []
    return sum(each.sent for each in imported)


def find_monitors(path: Path) -> list[SourceRun]:
    """Return the runs of monitor files, which must be readable."""
    problems: list[str] = []
    runs = tables.find_monitors(path, problems)
    assert problems == []
    return runs


def find_wandb(path: Path) -> list[SourceRun]:
    """Return the offline runs of wandb, which must be readable."""
    problems: list[str] = []
    runs = wandb_files.find_runs(path, problems)
    assert problems == []
    return runs


def write_tensorboard(folder: Path, first: int = 0, last: int = 3) -> None:
    with SummaryWriter(str(folder)) as writer:
        for step in range(first, last):
            writer.add_scalar("loss", 1 / 2**step, step)


def test_everything_in_an_event_file_is_imported_once(server: ReportedServer, tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path / "exp")) as writer:
        writer.add_scalar("loss", 0.5, 1, walltime=1_600_000_000.0)
        writer.add_scalar("charts/episodic_return", 21, 2)
        writer.add_scalar("bad", math.nan, -3)
        writer.add_histogram("weights", np.array([0.0, 1.0, 1.0]), 4)
        writer.add_image("screen", np.zeros((3, 4, 6), np.uint8), 5)
        writer.add_text("note", "warm-up ends", 6)
    write_tensorboard(tmp_path / "exp" / "eval", last=1)
    sent = import_all(server, tensorboard_files.find_runs(tmp_path / "exp"))
    assert sorted(server.metrics(), key=lambda each: each[0]) == [
        (-3, {"bad": "NaN"}),
        (0, {"loss": 1.0}),
        (1, {"loss": 0.5}),
        (2, {"episode/return": 21.0, "charts/episodic_return": 21.0}),
    ]
    assert next(each for each in server.of_kind("metrics") if each["step"] == 1)["time"] == 1_600_000_000.0
    histogram, image = sorted(server.of_kind("media"), key=lambda each: each["step"])
    assert sum(histogram["data"]["counts"]) == 3
    assert histogram["data"]["edges"][0] <= 0.0 < 1.0 <= histogram["data"]["edges"][-1] < 2.0
    assert server.files[image["sha256"]].startswith(b"\x89PNG")
    assert [each["message"] for each in server.of_kind("log")] == ["note: warm-up ends"]
    assert [each["outcome"] for each in server.of_kind("end")] == ["finished"] * 2
    assert {each["name"] for each in server.registrations} == {"exp", "eval"}
    assert {each["origin"] for each in server.registrations} == {"imported"}
    stored = json.dumps(server.events, sort_keys=True)
    assert sent == 7
    assert import_all(server, tensorboard_files.find_runs(tmp_path / "exp")) == 0
    assert json.dumps(server.events, sort_keys=True) == stored


def test_settings_in_an_event_file_are_typed(server: ReportedServer, tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path / "PPO_1")) as writer:
        writer.add_text("hyperparameters", "|param|value|\n|-|-|\n|learning_rate|0.00025|\n|env_id|CartPole-v1|")
        writer.add_scalar("rollout/ep_rew_mean", 36.5, 10)
        writer.add_hparams({"gamma": 0.99, "rate": "2.5e-4", "on": True}, {}, name="hparams")
    runs = tensorboard_files.find_runs(tmp_path)
    assert [run.facts for run in runs] == [{"method": "PPO"}, {}]
    import_all(server, runs)
    settings = [each["values"] for each in server.of_kind("config")]
    assert {"learning_rate": 0.00025, "env_id": "CartPole-v1"} in settings
    assert {"gamma": 0.99, "rate": 0.00025, "on": True} in settings
    assert server.metrics() == [(10, {"rollout/ep_rew_mean": 36.5, "episode/mean_return": 36.5})]


def test_a_moved_folder_is_the_same_run(server: ReportedServer, tmp_path: Path) -> None:
    write_tensorboard(tmp_path / "a" / "exp")
    assert import_all(server, tensorboard_files.find_runs(tmp_path / "a")) == 3
    (tmp_path / "a").rename(tmp_path / "b")
    assert import_all(server, tensorboard_files.find_runs(tmp_path / "b")) == 0
    assert len(server.runs) == 1


def test_an_import_that_was_interrupted_continues(server: ReportedServer, tmp_path: Path) -> None:
    write_tensorboard(tmp_path / "exp", last=2_500)

    def reject(_path: str, body: Any) -> None:
        if any(event["seq"] > 2_000 for event in body.get("events", ())):
            raise Rejection(422)

    server.before = reject
    with pytest.raises(Exception, match=r"This is wrong\."):
        import_all(server, tensorboard_files.find_runs(tmp_path))
    server.before = lambda _path, _body: None
    assert import_all(server, tensorboard_files.find_runs(tmp_path)) == 500
    assert [step for step, _values in server.metrics()] == list(range(2_500))


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_a_file_that_was_replaced_is_imported_beside_the_first_one(
    server: ReportedServer, tmp_path: Path, rows: int
) -> None:
    """A script that runs again writes a file with the same name, which is shorter at first."""
    file = tmp_path / "progress.csv"
    file.write_text("step,loss\n1,0.5\n2,0.4\n3,0.3\n")
    assert import_all(server, tables.find_csv(file, [])) == 3
    file.write_text("step,loss\n" + "".join(f"{step},0.{step + 5}\n" for step in range(1, rows + 1)))
    for expected in (rows, 0):
        assert import_all(server, tables.find_csv(file, [])) == expected
    (writer,) = [name for name, events in server.events.items() if events[0]["kind"] == "metrics"]
    every = [event["values"]["loss"] for event in [*server.events[writer], *server.conflicts[writer]]]
    assert sorted(every) == sorted([0.5, 0.4, 0.3, *(step / 10 for step in range(6, 6 + rows))])
    assert len(server.conflicts[writer]) == min(rows, 3)


def test_a_file_with_new_rows_only_adds_these(server: ReportedServer, tmp_path: Path) -> None:
    file = tmp_path / "progress.csv"
    file.write_text("step,loss\n1,0.5\n")
    assert import_all(server, tables.find_csv(file, [])) == 1
    file.write_text("step,loss\n1,0.5\n2,0.4\n")
    os.utime(file, (1e9, 1e9))
    assert import_all(server, tables.find_csv(file, [])) == 1
    assert not any(server.conflicts.values())


def test_the_command_reports_a_file_that_was_replaced(server: ReportedServer, tmp_path: Path) -> None:
    file = tmp_path / "progress.csv"
    command = [sys.executable, "-m", "arcadia", "--url", server.url, "import-logs", str(file), "--from", "csv"]
    for loss, expected in (("0.5", ""), ("0.6", "progress: 1 events differ")):
        file.write_text(f"step,loss\n1,{loss}\n")
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=True)
        assert done.stderr.startswith(expected)
        assert bool(done.stderr) == bool(expected)


def test_a_growing_folder_is_followed_and_a_restart_sends_nothing_twice(server: ReportedServer, tmp_path: Path) -> None:
    shown: list[str] = []
    connection = Connection(server.url, None)
    follower = Follower(connection, tmp_path, "maze", shown.append)
    assert follower.send() == 0
    write_tensorboard(tmp_path / "exp", last=2)
    (file,) = (tmp_path / "exp").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-3])  # the last record is being written
    assert follower.send() == 1
    file.write_bytes(whole)
    assert follower.send() == 1
    server.close()
    assert follower.send() == 0
    server.open()
    restarted = Follower(connection, tmp_path, "maze", shown.append)
    with SummaryWriter(str(tmp_path / "exp"), filename_suffix=".later") as writer:
        writer.add_scalar("loss", 0.25, 2)
    assert restarted.send() == 1
    restarted.close()
    assert sorted(step for step, _values in server.metrics()) == [0, 1, 2]
    assert [each["outcome"] for each in server.of_kind("end")] == ["finished"]
    assert shown == [f"exp is at {server.url}/runs/7"] * 2
    assert {each["project"] for each in server.registrations} == {"maze"}


def test_the_command_follows_until_it_is_interrupted(server: ReportedServer, tmp_path: Path) -> None:
    write_tensorboard(tmp_path / "exp")
    process = subprocess.Popen(
        [sys.executable, "-m", "arcadia", "--url", server.url, "follow", str(tmp_path), "--interval", "0.1"],
        env={**os.environ, "PYTHONPATH": str(Path(arcadia.__file__).parents[1])},
    )
    with process:
        wait_until(lambda: len(server.metrics()) == 3)
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == 0
    assert [each["outcome"] for each in server.of_kind("end")] == ["finished"]


def test_monitor_files_become_returns(server: ReportedServer, tmp_path: Path) -> None:
    for number in range(2):
        header = f'#{{"t_start": 100{number}.5, "env_id": "CartPole-v1"}}\nr,l,t\n'
        (tmp_path / f"{number}.monitor.csv").write_text(header + "20.0,20,0.5\n31.5,30,1.5\n")
    assert import_all(server, find_monitors(tmp_path)) == 4
    assert import_all(server, find_monitors(tmp_path)) == 0
    expected = [(40, {"episode/return": 20.0, "episode/length": 20.0})]
    expected += [(100, {"episode/return": 31.5, "episode/length": 30.0})]
    assert server.metrics() == expected * 2
    assert sorted(each["time"] for each in server.of_kind("metrics")) == [1001.0, 1002.0, 1002.0, 1003.0]
    assert {each["env"] for each in server.registrations} == {"CartPole-v1"}


def test_a_csv_file_is_imported_by_its_step(server: ReportedServer, tmp_path: Path) -> None:
    file = tmp_path / "progress.csv"
    file.write_text("time/total_timesteps,rollout/ep_rew_mean,note\n100,21.5,a\n200,nan,b\n300,,c\n")
    assert import_all(server, tables.find_csv(file, [])) == 2
    assert server.metrics() == [
        (100, {"rollout/ep_rew_mean": 21.5, "episode/mean_return": 21.5}),
        (200, {"rollout/ep_rew_mean": "NaN", "episode/mean_return": "NaN"}),
    ]
    with file.open("a") as more:
        more.write("400,22.5,d\n")
    assert import_all(server, tables.find_csv(file, [])) == 1
    assert [step for step, _values in server.metrics()] == [100, 200, 400]
    with pytest.raises(ArcadiaError, match=r"has no column epoch\. Use one of .* --step: time/total_timesteps"):
        tables.find_csv(file, [], "epoch")


def test_an_offline_run_of_wandb_is_imported(server: ReportedServer, tmp_path: Path) -> None:
    folder = tmp_path / "offline-run-20261127_040945-abc123"
    write_wandb(folder, 800)
    assert (folder / "run-abc123.wandb").stat().st_size > 2 * 32_768
    (tmp_path / "latest-run").symlink_to(folder)
    assert import_all(server, find_wandb(tmp_path)) == 804
    assert import_all(server, find_wandb(tmp_path)) == 0
    assert server.metrics() == [(step, {"loss": step / 2, "train/return": "Infinity"}) for step in range(800)]
    assert [each["values"] for each in server.of_kind("config")] == [{"rate": 0.1}]
    assert [each["add"] for each in server.of_kind("tags")] == [["baseline"]]
    assert [each["message"] for each in server.of_kind("log")] == ["hello"]
    (image,) = server.of_kind("media")
    assert (image["step"], image["name"], image["media"]) == (7, "screen", "image")
    registration = server.registrations[0]
    assert (registration["name"], registration["project"], registration["origin_label"]) == ("first", "maze", "wandb")


@pytest.mark.parametrize(
    ("source", "content", "sentence"),
    [
        ("wandb", b"something", "is not a file of wandb"),
        ("wandb", b":W&B\xe1\xbe\x00" + struct.pack("<IHB", 0, 2, 1) + b"\x0a\xff", "is damaged"),
        ("monitor", b"r,l,t\n1,2,3\n", "is not a monitor file"),
        ("wandb", b":W&B\xe1\xbe\x00" + struct.pack("<IHB", 0, len(NESTED), 1) + NESTED, "has no run"),
        ("monitor", b"\xff\xfe\x00", "is not a monitor file"),
        ("monitor", b"#5\nr,l,t\n", "is not a monitor file"),
        ("monitor", b'#{"t_start": []}\nr,l,t\n1,2,3\n', "is damaged"),
        ("tensorboard", struct.pack("<QI", 3, 0) + b"\xff\xff\xff" + bytes(4), "is not an event file of TensorBoard"),
        ("csv", b"step,loss\n1,2\n" + b"x" * 200_000, "is damaged after 1 events"),
    ],
)
def test_a_damaged_file_is_listed_and_does_not_stop_the_others(
    source: str,
    content: bytes,
    sentence: str,
    server: ReportedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {
        "wandb": "run.wandb",
        "monitor": "0.monitor.csv",
        "tensorboard": "events.out.tfevents.1",
        "csv": "progress.csv",
    }
    (tmp_path / "bad").mkdir()
    file = tmp_path / "bad" / names[source]
    file.write_bytes(content)
    write_tensorboard(tmp_path / "good" / "exp")
    for number in range(2):
        header = f'#{{"t_start": 100{number}.5}}\nr,l,t\n'
        (tmp_path / "good" / f"{number}.monitor.csv").write_text(header + "20.0,20,0.5\n")
    (tmp_path / "good" / "later.csv").write_text("step,loss\n1,2\n")
    (tmp_path / "good" / "offline-run-1").mkdir()
    write_wandb(tmp_path / "good" / "offline-run-1", 3)
    arguments = ["--url", server.url, "import-logs", "--from", source, str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["arcadia", *arguments])
    with pytest.raises(SystemExit) as ended:
        sys.exit(main())
    printed = capsys.readouterr().err
    assert ended.value.code == 1
    assert "1 not imported completely." in printed
    assert f"  {file} {sentence}" in printed
    assert server.metrics()


def test_a_repaired_file_completes_its_run(server: ReportedServer, tmp_path: Path) -> None:
    write_tensorboard(tmp_path / "exp", last=5)
    (file,) = (tmp_path / "exp").iterdir()
    whole = file.read_bytes()
    broken = bytearray(whole)
    broken[len(whole) * 2 // 3] ^= 0xFF  # the size stays the same
    for content in (bytes(broken), bytes(broken), whole, whole):
        file.write_bytes(content)
        (run,) = tensorboard_files.find_runs(tmp_path)
        imported = import_run(Connection(server.url, None), run)
        assert len(imported.problems) == (content is not whole)
    assert [step for step, _values in server.metrics()] == list(range(5))
    # An import of other contents is another attempt at the same run.
    assert [each["outcome"] for each in server.of_kind("end")] == ["finished"] * 2
    assert len(server.runs) == 1


def test_media_that_cannot_be_stored_are_listed(server: ReportedServer, tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path / "exp")) as writer:
        for step in range(3):
            writer.add_image("screen", np.full((3, 4, 6), step * 20, np.uint8), step)
        writer.add_scalar("loss", 0.5, 3)
        writer.add_scalar("refused", 0.5, 4)

    seen: list[str] = []

    def reject(path: str, body: Any) -> None:
        if "/files/" in path:
            seen.append(path)
            if len(seen) == 2:
                raise Rejection(422, "send a PNG")
        elif any("refused" in event.get("values", ()) for event in body.get("events", ())):
            raise Rejection(413, "too large")

    server.before = reject
    (run,) = tensorboard_files.find_runs(tmp_path)
    imported = import_run(Connection(server.url, None), run)
    assert imported.problems == []
    assert imported.omissions == [
        "screen at step 1 was left out: send a PNG.",
        "An event (metrics) was left out: too large.",
    ]
    assert [each["step"] for each in server.of_kind("media")] == [0, 2]
    assert server.metrics() == [(3, {"loss": 0.5})]
    assert [each["level"] for each in server.of_kind("log")] == ["warning"] * 2
    assert import_run(Connection(server.url, None), run).sent == 0


def test_missing_media_of_wandb_keep_the_numbers_of_later_events(server: ReportedServer, tmp_path: Path) -> None:
    folder = tmp_path / "offline-run-1"
    write_wandb(folder, 2)
    screen = folder / "files" / "media" / "screen.png"
    content = screen.read_bytes()
    screen.unlink()
    (run,) = find_wandb(tmp_path)
    imported = import_run(Connection(server.url, None), run)
    assert imported.omissions == ["screen at step 7 was left out (its file is missing, or its kind is not supported)."]
    screen.write_bytes(content)
    with (folder / "run-abc123.wandb").open("ab") as file:
        record = field(2, field(1, item("_step", 9)) + field(1, item("loss", 9)))
        file.write(struct.pack("<IHB", 0, len(record), 1) + record)
    (run,) = find_wandb(tmp_path)
    assert import_run(Connection(server.url, None), run).sent == 1
    assert server.metrics()[-1] == (9, {"loss": 9})


def test_groups_and_summaries_of_wandb_are_imported(server: ReportedServer, tmp_path: Path) -> None:
    folder = tmp_path / "offline-run-1"
    items = {"loss": 0.5, "best": 7, "inner.score": 2.5, "file": "best.zip", "_runtime": 3}
    summary = b"".join(field(1, item(name, value)) for name, value in items.items())
    write_wandb(folder, 2, run=field(6, "sweep") + field(7, "train"), last=[field(3, summary)])
    assert import_all(server, find_wandb(tmp_path)) == 8
    assert server.of_kind("config")[0]["values"] == {"rate": 0.1, "group": "sweep", "job_type": "train"}
    assert server.metrics()[-1] == (7, {"summary/best": 7, "summary/inner/score": 2.5})
    assert "summary/file: best.zip" in [each["message"] for each in server.of_kind("log")]


PRIVATE = b'{"columns": ["password"], "data": [["secret"]]}'


@pytest.mark.parametrize("kind", ["image-file", "table-file"])
@pytest.mark.parametrize("way", ["parents", "absolute", "link", "link to a folder", "folder of files"])
def test_media_outside_the_folder_of_a_run_are_left_out(
    server: ReportedServer, tmp_path: Path, kind: str, way: str
) -> None:
    (tmp_path / "private.json").write_bytes(PRIVATE)
    run = tmp_path / "logs" / "offline-run-1"
    paths = {"parents": "../../../private.json", "absolute": str(tmp_path / "private.json")}
    path = paths.get(way, "media/link/private.json" if "folder" in way else "media/link")
    write_wandb(run, 1, path, kind)
    if way == "link":
        (run / "files" / "media" / "link").symlink_to(tmp_path / "private.json")
    elif way == "link to a folder":
        (run / "files" / "media" / "link").symlink_to(tmp_path)
    elif way == "folder of files":
        (run / "files").rename(run / "other")
        (run / "files").mkdir()
        (run / "files" / "media").symlink_to(tmp_path)
        (tmp_path / "link").mkdir()
        (tmp_path / "link" / "private.json").write_bytes(PRIVATE)
    import_all(server, find_wandb(tmp_path / "logs"))
    assert server.of_kind("media") == []
    assert server.files == {}
    assert "is outside of the folder of its run" in server.of_kind("log")[0]["message"]
    assert server.metrics() != []


@pytest.mark.parametrize(
    ("name", "find"),
    [
        ("run.wandb", find_wandb),
        ("events.out.tfevents.1", tensorboard_files.find_runs),
        ("progress.csv", lambda folder: tables.find_csv(folder, [])),
        ("0.monitor.csv", find_monitors),
    ],
)
def test_links_to_files_elsewhere_are_left_out(
    tmp_path: Path, name: str, find: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "private").write_text("step,password\n1,12345\n")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / name).symlink_to(tmp_path / "private")
    assert find(tmp_path / "logs") == []
    assert "links to a file outside of its folder" in capsys.readouterr().err
