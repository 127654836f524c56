"""Commands that create runs, and jobs of their checkpoints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.backend.test_saliency import made_track, replay
from tests.client.cli.conftest import Arcadia, finish
from tests.factories import Api, evaluation, event, started

InThread = Callable[[Callable[[], object]], None]
QUICK = ["--set", "total_steps=1000", "--set", "num_envs=4"]


def claim_when_queued(claim: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Wait until something is queued, and claim it."""
    while True:
        try:
            return claim()
        except AssertionError:  # nothing is queued yet
            continue


def test_launch_creates_a_run_per_seed(arcadia: Arcadia) -> None:
    made = arcadia("launch", "paac-cartpole", *QUICK, "--seed", "1-2", "--name", "pair", "--tag", "t", "--json")
    runs = json.loads(made.out)
    assert [(run["name"], run["config"]["seed"]) for run in runs] == [("pair seed 1", 1), ("pair seed 2", 2)]
    assert all(run["config"]["total_steps"] == 1_000 and run["tags"] == ["t"] for run in runs)
    said = arcadia("launch", "paac-cartpole", *QUICK, "--name", "single").out
    assert "single is queued: http://" in said
    assert arcadia("launch", "paac-cartpole", *QUICK, "-q").out.strip().isdecimal()


def test_a_forecast_shows_the_needs_of_a_run_and_launches_nothing(arcadia: Arcadia, api: Api) -> None:
    before = api.user.get("/api/v1/runs").json()["total"]
    shown = arcadia("launch", "paac-cartpole", *QUICK, "--seed", "1-3", "--forecast")
    assert shown.status == 0, shown.err
    assert "3, with this forecast for each" in shown.out
    assert "Duration" in shown.out
    assert "Start" in shown.out
    found = json.loads(arcadia("launch", "paac-cartpole", *QUICK, "--forecast", "--json").out)
    assert found["queue"] == "cpu"
    assert "gamma: " in arcadia("launch", "paac-cartpole", "--set", "gamma=2", "--forecast").err
    assert api.user.get("/api/v1/runs").json()["total"] == before


def test_launch_takes_a_configuration_file(arcadia: Arcadia, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('algorithm = "paac"\nenv = "CartPole-v1"\nnum_envs = 4\n')
    made = json.loads(arcadia("launch", "--config", file, "--set", "gamma=0.5", "--json").out)
    assert (made[0]["config"]["gamma"], made[0]["config"]["num_envs"]) == (0.5, 4)
    assert arcadia("launch").status == 2
    assert arcadia("launch", "paac-cartpole", "--config", file).status == 2


def test_runs_and_studies_on_slurm_have_options(arcadia: Arcadia, api: Api) -> None:
    slurm = {"backend_url": "http://127.0.0.1:8000", "directory": "/shared/output"}
    api.user.put("/api/v1/executors/slurm", json=slurm).raise_for_status()
    where = ["--executor", "slurm", "--job-option=--qos=long", "--job-option=--gres=gpu:a100:1"]
    (made,) = json.loads(arcadia("launch", "paac-cartpole", *QUICK, *where, "--json").out)
    assert made["job_options"] == ["--qos=long", "--gres=gpu:a100:1"]
    refused = arcadia("launch", "paac-cartpole", *QUICK, "--executor", "slurm", "--job-option=--wrap=id")
    assert "A run may not set --wrap=id" in refused.err
    shown = json.loads(arcadia("study", "preview", "--preset", "paac-cartpole", "--seeds", "2", *where, "--json").out)
    confirmed = ["--confirm-steps", str(shown["steps"])]
    study = arcadia("study", "start", "--preset", "paac-cartpole", "--seeds", "2", *where, *confirmed, "--json")
    assert json.loads(study.out)["specification"]["job_options"] == ["--qos=long", "--gres=gpu:a100:1"]


def test_errors_of_fields_are_shown(arcadia: Arcadia) -> None:
    wrong = arcadia("launch", "paac-cartpole", "--set", "gamma=2")
    assert (wrong.status, wrong.out) == (1, "")
    assert "gamma: " in wrong.err
    assert arcadia("launch", "paac-cartpole", "--set", "gamma").status == 2
    assert "name is not a field of a configuration" in arcadia("launch", "paac-cartpole", "--set", "name=x").err
    # Each message is printed once.
    assert arcadia("launch", "paac-cartpol").err.count("there is no preset 'paac-cartpol'; did you mean") == 1
    assert arcadia("launch", "paac-cartpole", "--set", "lr=1").err.count("did you mean learning_rate?") == 1


def test_launch_waits_for_the_end(arcadia: Arcadia, api: Api, meanwhile: InThread) -> None:
    def train() -> None:
        claimed = claim_when_queued(api.claim)
        api.send(claimed["run_id"], claimed["attempt"], started()).raise_for_status()
        finish(api, claimed["run_id"], claimed["attempt"])

    meanwhile(train)
    waited = arcadia("launch", "paac-cartpole", *QUICK, "--wait", "--json")
    assert waited.status == 0
    assert json.loads(waited.out)[0]["state"] == "finished"
    assert "is finished" in waited.err


def test_runs_are_cloned_and_forked(arcadia: Arcadia, trained: int) -> None:
    clones = json.loads(arcadia("clone", trained, "--seed", "4-5", "--set", "gamma=0.9", "--json").out)
    assert [(run["config"]["seed"], run["config"]["gamma"]) for run in clones] == [(4, 0.9), (5, 0.9)]
    assert [run["name"] for run in clones] == ["trained seed 4", "trained seed 5"]
    named = json.loads(arcadia("clone", trained, "--seed", "6,7", "--name", "rates seed 1", "--json").out)
    assert [run["name"] for run in named] == ["rates seed 6", "rates seed 7"]
    assert json.loads(arcadia("clone", trained, "--seed", "6", "--json").out)[0]["name"] == "trained"
    forked = json.loads(arcadia("fork", trained, "--checkpoint", "400", "--name", "on", "--json").out)
    assert (forked[0]["parent"]["step"], forked[0]["name"]) == (400, "on")
    newest = json.loads(arcadia("fork", trained, "--set", "total_steps=5000", "--json").out)
    assert newest[0]["parent"]["step"] == 1_000
    assert "It has 400, 1000." in arcadia("fork", trained, "--checkpoint", "7").err


def test_clones_of_a_run_with_an_automatic_name_are_named_by_the_server(arcadia: Arcadia, api: Api) -> None:
    original = api.launch()
    clones = json.loads(arcadia("clone", original["id"], "--seed", "8-9", "--json").out)
    assert [run["name"].rpartition(" · ")[2] for run in clones] == ["seed 8", "seed 9"]


def test_a_checkpoint_is_evaluated(arcadia: Arcadia, api: Api, trained: int, meanwhile: InThread) -> None:
    queued = arcadia("evaluate", trained, "--protocol", "episodes", "--episodes", "2")
    assert "is queued" in queued.out
    api.play([1.0, 3.0])

    def play() -> None:
        job = claim_when_queued(api.claim_job)
        held = job["job_id"], job["attempt"]
        api.send_of_job(*held, started(1), evaluation(2, [2.0, 4.0]), event(3, "finished")).raise_for_status()
        api.release_job(*held, "finished").raise_for_status()

    meanwhile(play)
    waited = arcadia("evaluate", trained, "--checkpoint", "400", "--protocol", "episodes", "--wait")
    assert waited.status == 0
    assert "Mean" in waited.out
    assert "3 [1, 3]" in waited.out


def test_a_failed_evaluation_is_an_error(arcadia: Arcadia, api: Api, trained: int, meanwhile: InThread) -> None:
    def fail() -> None:
        job = claim_when_queued(api.claim_job)
        api.release_job(job["job_id"], job["attempt"], "failed", message="no memory").raise_for_status()

    meanwhile(fail)
    failed = arcadia("evaluate", trained, "--wait", "--json")
    assert failed.status == 1
    assert json.loads(failed.out)["state"] == "failed"
    assert "no memory" in failed.err


def test_a_recording_is_requested(arcadia: Arcadia, trained: int) -> None:
    made = json.loads(arcadia("record", trained, "--checkpoint", "1000", "--seed", "3", "--json").out)
    assert (made["state"], made["step"], made["seed"]) == ("queued", 1_000, 3)
    assert "is queued" in arcadia("record", trained).out


def test_checkpoints_and_replays_are_downloaded(arcadia: Arcadia, trained: int, tmp_path: Path) -> None:
    listed = arcadia("download", "checkpoints", trained, "--list").out
    assert [line.split()[0] for line in listed.splitlines()] == ["STEP", "400", "1,000"]
    saved = arcadia("download", "checkpoints", trained, "--checkpoint", "all", "--out", tmp_path)
    assert [Path(path).read_bytes() for path in saved.out.split()] == [
        b"weights of attempt 1 at step 400",
        b"weights of attempt 1 at step 1000",
    ]
    assert "exists" in arcadia("download", "checkpoints", trained, "--out", tmp_path).err
    (video,) = json.loads(arcadia("download", "replays", trained, "--out", tmp_path, "--json").out)
    assert Path(video).read_bytes() == b"a video"
    assert "400" in arcadia("download", "replays", trained, "--list").out


def test_tracks_are_downloaded_on_request(arcadia: Arcadia, api: Api, tmp_path: Path) -> None:
    track = made_track()
    run, replay_id = replay(api, track=track)
    name = f"run-{run}-step-100-replay-{replay_id}"
    assert json.loads(arcadia("download", "replays", run, "--out", tmp_path, "--json").out) == [
        str(tmp_path / f"{name}.mp4")
    ]
    arcadia("download", "replays", run, "--tracks", "--out", tmp_path)
    assert (tmp_path / f"{name}.npz").read_bytes() == track


def test_a_logged_run_has_no_checkpoints_to_wait_for(arcadia: Arcadia, api: Api) -> None:
    body = {"key": "without-checkpoints", "writer": "w"}
    run = api.user.post("/api/v1/reported/runs", json=body).raise_for_status().json()["run_id"]
    for kind in ("checkpoints", "replays"):
        refused = arcadia("download", kind, run)
        assert (refused.status, "because Arcadia did not train it" in refused.err) == (1, True)
        assert "because Arcadia did not train it" in arcadia("download", kind, run, "--list").err


def test_missing_checkpoints_are_an_error(arcadia: Arcadia, api: Api) -> None:
    run = api.launch()["id"]
    for command in ("download", "checkpoints"), ("fork",):
        failed = arcadia(*command, run)
        assert failed.status == 1
        assert "has no checkpoint yet" in failed.err
