"""Tests for jobs of a worker, from the claim to the result."""

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import av
import pytest

from arcadia_workers.contract import tracks
from arcadia_workers.contract.config import PaacConfig, RunConfig
from arcadia_workers.contract.futures import CalibrationDocument, FuturesDocument
from arcadia_workers.contract.jobs import FilmParameters
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import EPSILON_GREEDY, SAMPLED, Acting
from arcadia_workers.contract.review import ReviewDocument
from arcadia_workers.trainer import job
from arcadia_workers.trainer.evaluation import evaluating
from arcadia_workers.trainer.games.emulator import AtariGame
from arcadia_workers.trainer.recording import replays
from arcadia_workers.trainer.recording.replays import OtherGameError
from arcadia_workers.worker.attempt_directory import CheckpointStore
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.heartbeat import HeartbeatThread
from arcadia_workers.worker.machine import machine_facts
from arcadia_workers.worker.supervisor import Supervisor
from arcadia_workers.worker.work import Jobs
from tests.workers.trainer.evaluation import made_checkpoint
from tests.workers.trainer.programs import evaluate as main
from tests.workers.trainer.programs import record
from tests.workers.worker_api import WorkerApi

STEP, PROTOCOL, EPISODES, SEED = 9, "no-op-5min", 3, 7


def do_job(
    api: WorkerApi,
    client: BackendClient,
    directory: Path,
    checkpoint: Path | None,
    kind: str,
    how: dict[str, Any],
    **more: Any,
) -> None:
    """Let a worker do a job and check that it succeeds."""
    assert attempted(api, client, directory, checkpoint, kind, how, **more) == ("finished", None)
    (started,) = [event for event in api.job_events[5, 1].values() if event["kind"] == "started"]
    assert started["command"][:3] == ["python", "-m", "arcadia_workers.trainer.job"]
    assert Path(started["command"][3]).name == "request.json"


def attempted(
    api: WorkerApi,
    client: BackendClient,
    directory: Path,
    checkpoint: Path | None,
    kind: str,
    how: dict[str, Any],
    **more: Any,
) -> tuple[str, str | None]:
    """Let a worker do a job. Return its outcome and the stored reason."""
    claim = {"job_id": 5, "attempt": 1, "kind": kind, "parameters": how, "lease_seconds": 60}
    if checkpoint is not None:
        content = checkpoint.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        api.downloads[3], api.hashes[3] = content, sha256
        name, step = f"checkpoints/{checkpoint.name}", int(checkpoint.stem.removeprefix("step-"))
        offered = {"id": 3, "file": name, "sha256": sha256, "bytes": len(content), "step": step, "frames": 4 * step}
        claim["checkpoint"] = offered
    api.job_claims.append({**claim, **more})
    jobs = Jobs(client, CheckpointStore(client, directory / "checkpoints"), niceness=0)
    Supervisor(client, HeartbeatThread(client, machine_facts()), directory, 30, jobs).work_until_idle()
    (release,) = api.job_releases
    return release["outcome"], release["message"]


def by_job(api: WorkerApi, client: BackendClient, directory: Path, checkpoint: Path, acting: Acting) -> dict[str, Any]:
    """Let a worker evaluate a checkpoint. Return the delivered document."""
    how = {"protocol": PROTOCOL, "acting": acting.model_dump(), "seed": SEED, "episodes": EPISODES}
    do_job(api, client, directory, checkpoint, "evaluation", how)
    (whole,) = [event for event in api.job_events[5, 1].values() if event["kind"] == "evaluation"]
    document: dict[str, Any] = whole["document"]
    return document


@pytest.mark.nightly
def test_a_missing_game_is_the_stored_reason(
    api: WorkerApi, client: BackendClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    checkpoint = run / made_checkpoint.write(run, PaacConfig(env="ALE/Pong-v5"), STEP)
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    for kind, how in (
        ("evaluation", {"protocol": PROTOCOL, "acting": SAMPLED.model_dump(), "seed": SEED, "episodes": EPISODES}),
        ("recording", {"protocol": PROTOCOL, "seed": SEED, "episode": 0}),
    ):
        outcome, message = attempted(api, client, tmp_path / kind, checkpoint, kind, how)
        assert outcome == "failed"
        assert message is not None
        assert message.startswith(
            f"ALE/Pong-v5 is missing: ALE_ROMS_DIR is {tmp_path}, which has no pong.bin. Unset it"
        )
        assert "\n" not in message
        api.job_releases.clear()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("config", "acting"),
    [
        pytest.param(PaacConfig(env="ALE/MsPacman-v5", action_set="full"), SAMPLED, id="all actions"),
        pytest.param(PaacConfig(env="ALE/MsPacman-v5"), EPSILON_GREEDY, id="the game's actions"),
    ],
)
def test_an_evaluation_job_matches_arcadia_evaluate(
    api: WorkerApi,
    client: BackendClient,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    config: RunConfig,
    acting: Acting,
) -> None:
    run = tmp_path / "run"
    checkpoint = run / made_checkpoint.write(run, config, STEP)
    played = by_job(api, client, tmp_path / "worker", checkpoint, acting)
    asked = ("--run-dir", run, "--protocol", PROTOCOL, "--episodes", EPISODES, "--seed", SEED, "--json")
    assert main([*map(str, asked), "--acting", acting.name]) == 0
    assert played == json.loads(capsys.readouterr().out)
    assert len(set(played["scores"])) > 1, "equal scores would match any play"


@pytest.mark.nightly
def test_an_evaluation_job_with_start_points_matches_arcadia_evaluate(
    api: WorkerApi, client: BackendClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, points = tmp_path / "run", tmp_path / "points.json"
    checkpoint = run / made_checkpoint.write(run, PaacConfig(env="ALE/MsPacman-v5"), STEP)
    by_random = ("--random", "--game", "ms_pacman", "--protocol", "no-op-5min", "--episodes", "1", "--json")
    assert main([*by_random, "--save-starts", str(points)]) == 0
    capsys.readouterr()
    stored = evaluating.read_starts(points, PROTOCOLS["agent-starts"], "ALE/MsPacman-v5")
    api.starts, api.starts_hash = stored.content, stored.sha256
    how = {"protocol": "agent-starts", "acting": SAMPLED.model_dump(), "seed": SEED, "episodes": EPISODES}
    named = {"sha256": stored.sha256, "bytes": len(stored.content)}
    do_job(api, client, tmp_path / "worker", checkpoint, "evaluation", how, starts=named)
    (whole,) = [event for event in api.job_events[5, 1].values() if event["kind"] == "evaluation"]
    asked = ("--run-dir", run, "--protocol", "agent-starts", "--episodes", EPISODES, "--seed", SEED, "--json")
    assert main([*map(str, asked), "--starts", str(points)]) == 0
    assert whole["document"] == json.loads(capsys.readouterr().out)
    assert whole["document"]["starts"]["sha256"] == stored.sha256
    assert [episode["frames_before"] for episode in whole["document"]["episodes"]] == [
        start.frames for start in stored.starts[:EPISODES]
    ]


def test_a_replay_job_matches_arcadia_record(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    run = tmp_path / "run"
    checkpoint = run / made_checkpoint.write(run, PaacConfig(env="CartPole-v1"), STEP)
    how = {"protocol": "episodes", "seed": SEED, "episode": 2}
    do_job(api, client, tmp_path / "worker", checkpoint, "recording", how)
    (reported,) = [event for event in api.job_events[5, 1].values() if event["kind"] == "video"]
    assert record(["--run-dir", str(run), "--seed", str(SEED), "--episode", "2", "--out", str(tmp_path / "out")]) == 0
    assert reported["checkpoint"] == f"checkpoints/{checkpoint.name}"
    assert reported["seen"] is None
    assert api.files[reported["track"]] == (tmp_path / "out" / "track.npz").read_bytes()
    assert api.files[reported["file"]]
    assert api.files[reported["poster"]]


def test_a_shortened_recording_warns_that_its_return_is_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_checkpoint.write(tmp_path, PaacConfig(env="ALE/Pong-v5"), STEP)
    parameters = {"protocol": PROTOCOL, "seed": SEED, "episode": 0}
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"kind": "recording", "step": STEP, "parameters": parameters}))
    monkeypatch.setattr(replays, "LONGEST_SECONDS", 0.3)
    assert job.main([str(request), "--dir", str(tmp_path)]) == 0
    reported = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [event["kind"] for event in reported] == ["started", "video", "log", "finished"]
    assert reported[2]["level"] == "warning"
    assert reported[2]["message"] == (
        f"The replay of step {STEP} shows only the first 0 minutes of its episode, and its return covers only that part"
    )


def test_a_job_computes_the_saliency_of_a_recording(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    run = tmp_path / "run"
    checkpoint = run / made_checkpoint.write(run, PaacConfig(env="ALE/Pong-v5"), STEP)
    assert record(["--run-dir", str(run), "--longest", "0.3", "--out", str(tmp_path / "out")]) == 0
    track = tracks.read(tmp_path / "out" / "track.npz")
    head, actions = track.head, track.columns["action"].tolist()
    how = {"protocol": head.protocol, "seed": head.seed, "episode": head.episode, "actions": actions, "score": 0.0}
    do_job(api, client, tmp_path / "worker", checkpoint, "saliency", how)
    reported = list(api.job_events[5, 1].values())
    assert [event["kind"] for event in reported if event["kind"] != "advanced"] == ["started", "saliency", "finished"]
    last = [event for event in reported if event["kind"] == "advanced"][-1]
    assert (last["done"], last["total"]) == (len(actions), len(actions))
    found = tracks.read_saliency(io.BytesIO(api.files[reported[-2]["file"]]))
    assert len(found) == len(actions)
    assert found.head.checkpoint_sha256 == head.checkpoint_sha256


def test_a_job_simulates_the_futures_of_a_recording(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    run = tmp_path / "run"
    checkpoint = run / made_checkpoint.write(run, PaacConfig(env="ALE/Pong-v5"), STEP)
    # A different agent acts, so the actions must come from the recording.
    how = {"protocol": PROTOCOL, "seed": SEED, "episode": 0, "actions": [2, 2, 3], "decision": 3}
    do_job(
        api, client, tmp_path / "worker", checkpoint, "futures", how | {"futures": 8, "horizon": 4, "first": ["LEFT"]}
    )
    reported = list(api.job_events[5, 1].values())
    assert [event["kind"] for event in reported if event["kind"] != "advanced"] == ["started", "futures", "finished"]
    last = [event for event in reported if event["kind"] == "advanced"][-1]
    assert (last["done"], last["total"]) == (8, 8)
    document = FuturesDocument.model_validate(reported[-2]["document"])
    assert (document.checkpoint_step, document.decision, document.first, document.count) == (STEP, 3, ["LEFT"], 8)
    assert len(document.videos) == 4
    for video in document.videos:
        with av.open(io.BytesIO(api.files[video.file]), "r") as opened:
            assert len(list(opened.decode(video=0))) == 1 + 4


@pytest.mark.nightly
def test_a_job_calibrates_a_critic(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    run = tmp_path / "run"
    checkpoint = run / made_checkpoint.write(run, PaacConfig(env="Arcadia/Catch-v0"), STEP)
    how = {"protocol": "episodes", "seed": SEED, "episodes": 2, "every": None, "futures": 8, "horizon": 4}
    do_job(api, client, tmp_path / "worker", checkpoint, "calibration", how)
    reported = list(api.job_events[5, 1].values())
    assert [event["kind"] for event in reported if event["kind"] != "advanced"] == [
        "started",
        "calibration",
        "finished",
    ]
    last = [event for event in reported if event["kind"] == "advanced"][-1]
    assert last["done"] == last["total"]
    document = CalibrationDocument.model_validate(reported[-2]["document"])
    assert (document.checkpoint_step, document.seed, document.every) == (STEP, SEED, 1)
    assert len(document.moments) == last["total"]


def test_a_job_reviews_a_recorded_episode(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    run = tmp_path / "run"
    checkpoint = run / made_checkpoint.write(run, PaacConfig(env="Arcadia/Catch-v0"), STEP)
    how = {"protocol": "episodes", "seed": SEED, "episode": 1, "every": 2, "horizon": 10, "actions": [0, 1, 1, 2, 1]}
    do_job(api, client, tmp_path / "worker", checkpoint, "review", how)
    reported = [event for event in api.job_events[5, 1].values() if event["kind"] != "advanced"]
    assert (reported[0]["kind"], reported[-1]["kind"]) == ("started", "finished")
    assert {event["kind"] for event in reported[1:-1]} == {"review"}
    document = ReviewDocument.model_validate(reported[-2]["document"])
    assert (document.checkpoint_step, document.decisions) == (STEP, 5), "the recording has five decisions"
    assert [each.decision for each in document.reviewed] == [0, 2, 4]
    assert [each.taken for each in document.reviewed] == ["left", "stay", "stay"]


@pytest.mark.nightly
def test_a_job_records_the_video_of_a_kept_game(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    game = AtariGame("ALE/Pong-v5", cap_frames=None, frames_per_step=1)
    game.begin(7)
    game.hold([(0, 100), (2, 20)])
    how = {"env": "ALE/Pong-v5", "seed": 7, "actions": game.trail, "played": game.frames, "score": game.score}
    do_job(api, client, tmp_path / "worker", None, "film", how)
    reported = list(api.job_events[5, 1].values())
    assert [event["kind"] for event in reported if event["kind"] != "advanced"] == ["started", "film", "finished"]
    with av.open(io.BytesIO(api.files[reported[-2]["file"]]), "r") as film:
        assert len(list(film.decode(video=0))) == game.frames + 1
    assert api.files[reported[-2]["poster"]].startswith(b"\x89PNG")


@pytest.mark.nightly
def test_a_job_saves_start_points_of_a_replay(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    how = {"replay_id": 1, "name": "mine", "source": "a replay", "env": "ALE/Pong-v5", "max_bytes": 1_000_000}
    how |= {"action_set": "minimal", "frames_per_action": 4, "protocol": PROTOCOL, "seed": SEED, "episode": 0}
    how |= {"actions": [2, 2, 3], "decisions": [1, 3], "score": 0}
    do_job(api, client, tmp_path / "worker", None, "start_points", how)
    reported = list(api.job_events[5, 1].values())
    assert [event["kind"] for event in reported if event["kind"] != "advanced"] == [
        "started",
        "start_points",
        "finished",
    ]
    made = reported[-2]
    game = AtariGame("ALE/Pong-v5", cap_frames=None, frames_per_step=1)
    game.begin(made["seed"])
    game.hold(made["actions"])
    (_, second) = made["screens"]
    assert second == [game.frames, game.screen_hash()]


def test_a_kept_game_of_another_emulator_is_not_recorded(tmp_path: Path) -> None:
    which = FilmParameters(env="ALE/Pong-v5", seed=7, actions=[(0, 10)], played=10, score=5)
    with pytest.raises(OtherGameError, match="led to 0 points in 10 frames"):
        replays.film(which, tmp_path, lambda _done: None, lambda: False)
    assert not (tmp_path / replays.FILM).exists()


def test_the_program_loads_torch_only_for_the_work() -> None:
    program = "import sys, arcadia_workers.trainer.job; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_ready_process_reads_its_arguments_from_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b'["--help"]\n')
    with pytest.raises(SystemExit) as ended:
        job.main(["--wait-for-arguments", str(pipe)])
    os.close(writer)
    assert (ended.value.code, "REQUEST.json" in capsys.readouterr().out) == (0, True)
