"""Clones and forks of runs."""

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.files.storage import stored_files
from tests.factories import CARTPOLE, Api, started


def saved_run(api: Api) -> tuple[int, int]:
    """Return the ids of a finished run and its only checkpoint, at step 100."""
    run_id, attempt = api.running(name="parent", tags=["t"])
    checkpoint_id = api.save(run_id, attempt, 2, 100)
    api.release(run_id, attempt, "finished")
    return run_id, checkpoint_id


def test_clone_starts_over_with_the_same_configuration(api: Api) -> None:
    run = api.launch(name="original", tags=["t"], notes="not copied", priority=5)
    copy = api.act(run["id"], "clone", overrides={"seed": 2})
    assert copy["config"] == {**run["config"], "seed": 2}
    assert (copy["name"], copy["tags"], copy["notes"], copy["parent"]) == ("original", ["t"], "", None)
    assert (copy["state"], copy["step"], copy["priority"]) == ("queued", 0, 0)
    assert api.act(run["id"], "clone", name="other")["name"] == "other"


def test_clone_for_cuda_is_in_the_gpu_queue(api: Api) -> None:
    run = api.launch()
    assert api.act(run["id"], "clone", overrides={"device": "cuda"})["queue"] == "gpu"


def test_invalid_override_is_reported(api: Api) -> None:
    run = api.launch()
    response = api.user.post(f"/api/v1/runs/{run['id']}/clone", json={"overrides": {"gamma": 1.5, "speed": 1}})
    assert response.status_code == 422
    assert {error["field"] for error in response.json()["errors"]} == {"overrides.gamma", "overrides.speed"}


def test_fork_continues_from_the_parent_checkpoint(api: Api) -> None:
    parent, checkpoint_id = saved_run(api)
    fork = api.act(parent, "fork", checkpoint_id=checkpoint_id, overrides={"learning_rate": 0.001}, name="child")
    assert fork["parent"] == {"run_id": parent, "checkpoint_id": checkpoint_id, "step": 100}
    assert (fork["step"], fork["frames"], fork["name"], fork["tags"]) == (100, 400, "child", ["t"])
    assert fork["config"]["learning_rate"] == 0.001
    claimed = api.claim()
    assert (claimed["run_id"], claimed["attempt"]) == (fork["id"], 1)
    (offered,) = claimed["checkpoints"]
    assert (offered["step"], offered["file"]) == (100, "checkpoints/step-000000000100.safetensors")
    api.send(fork["id"], 1, started(resumed_from=100))
    run = api.run(fork["id"])
    assert (run["state"], run["step"], run["frames"]) == ("running", 100, 400)


def test_forks_with_different_seeds_are_one_group(api: Api) -> None:
    parent, checkpoint_id = saved_run(api)
    first = api.act(parent, "fork", checkpoint_id=checkpoint_id, overrides={"learning_rate": 0.001, "seed": 7})
    again = api.act(parent, "fork", checkpoint_id=checkpoint_id, overrides={**first["config"], "seed": 8})
    anew = api.act(first["id"], "clone", overrides={"seed": 9})
    runs = f"{first['id']},{again['id']},{anew['id']}"
    groups = api.user.get("/api/v1/compare", params={"runs": runs}).json()["groups"]
    assert groups == [[first["id"], again["id"]], [anew["id"]]]


def test_fork_survives_the_purge_of_its_parent(api: Api, settings: Settings) -> None:
    parent, checkpoint_id = saved_run(api)
    fork = api.act(parent, "fork", checkpoint_id=checkpoint_id)
    assert api.user.delete(f"/api/v1/runs/{parent}").status_code == 204
    (offered,) = api.claim()["checkpoints"]
    download = api.worker.get(f"/api/v1/worker/runs/{fork['id']}/files/{offered['id']}", params={"attempt": 1})
    assert download.content == b"weights of attempt 1 at step 100"
    assert api.run(fork["id"])["parent"]["run_id"] == parent
    api.act(fork["id"], "stop")
    api.release(fork["id"], 1, "stopped")
    assert api.user.delete(f"/api/v1/runs/{fork['id']}").status_code == 204
    assert stored_files(settings.files_dir) == [], "a purge leaves no files"


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"env": "Acrobot-v1"}, "overrides.env"),
        ({"hidden_units": 65}, "overrides.hidden_units"),
    ],
)
def test_fork_with_incompatible_weights_is_rejected(api: Api, overrides: dict[str, object], field: str) -> None:
    parent, checkpoint_id = saved_run(api)
    body = {"checkpoint_id": checkpoint_id, "overrides": overrides}
    response = api.user.post(f"/api/v1/runs/{parent}/fork", json=body)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert api.user.get("/api/v1/runs").json()["total"] == 1


def test_naming_the_automatic_network_is_not_a_change(api: Api) -> None:
    parent, checkpoint_id = saved_run(api)
    assert api.act(parent, "fork", checkpoint_id=checkpoint_id, overrides={"network": "mlp"})["state"] == "queued"


def test_only_existing_checkpoints_of_the_run_can_be_forked(api: Api) -> None:
    parent, checkpoint_id = saved_run(api)
    other = api.launch(config=CARTPOLE)["id"]
    for run_id, wanted in ((other, checkpoint_id), (parent, 999)):
        response = api.user.post(f"/api/v1/runs/{run_id}/fork", json={"checkpoint_id": wanted})
        assert response.status_code == 422
        assert response.json()["errors"][0]["field"] == "checkpoint_id"


def test_pruned_checkpoint_cannot_be_forked(api: Api) -> None:
    run_id, attempt = api.running(config={**CARTPOLE, "checkpoints_kept": 3})
    ids = [api.save(run_id, attempt, 2 + number, 100 + 100 * number) for number in range(4)]
    response = api.user.post(f"/api/v1/runs/{run_id}/fork", json={"checkpoint_id": ids[1]})
    assert response.status_code == 409
    assert response.json()["detail"] == "The checkpoint at step 200 was deleted. Select one with a file to fork."
