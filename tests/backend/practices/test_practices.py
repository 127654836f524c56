"""Practices of a review: plan, runs, measurements and verdict, and what happens when one of them stops."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from arcadia_backend.config import Settings
from arcadia_backend.database import tables
from arcadia_backend.database.engine import Database
from arcadia_backend.doorbell import Doorbell
from arcadia_backend.studies.scheduler import StudyScheduler
from arcadia_workers.contract.practice import (
    AgentAtMoment,
    AgentMeasurement,
    Difference,
    PlannedMoment,
    PracticeConfig,
    PracticeCost,
    PracticedEpisode,
    PracticedMistake,
    PracticeDocument,
    PracticeOptions,
    PracticePlan,
)
from arcadia_workers.contract.protocols.document import SAMPLED, PlayedEpisode
from tests.backend.test_reviews import claim, request, review
from tests.backend.test_reviews import document as review_document
from tests.backend.test_saliency import WEIGHTS, made_track, replay
from tests.factories import Api, checkpoint, checkpoint_path, event, sha256, started, video

STEPS = 50
OPTIONS = {"steps": STEPS, "evaluations": 2}
Continue = Callable[[], None]


@pytest.fixture
def go_on(database: Database, settings: Settings) -> Continue:
    """Return a function that lets the scheduler continue the practices that can."""
    return lambda: StudyScheduler(database, settings, Doorbell("")).run_once()


def plan() -> dict[str, Any]:
    """Return a plan that practices the first decision and keeps the third one."""
    named = {"seed": 7, "episode": 2, "taken": "UP", "better": "NOOP"}
    made = PracticePlan(
        checkpoint_sha256=sha256(WEIGHTS),
        checkpoint_step=100,
        protocol="no-op-5min",
        options=PracticeOptions.model_validate(OPTIONS),
        steps=STEPS,
        horizon=200,
        evaluation_seed=8,
        practice=PracticeConfig(episodes=(PracticedEpisode(seed=3, actions="", mistakes=(0,), seen=0.5, score=0.0),)),
        practiced=[PracticedMistake.model_validate(named | {"decision": 0, "start": 0})],
        held_out=[PlannedMoment.model_validate(named | {"decision": 2, "scale": 1.0, "was_practiced": False})],
        held_out_episodes=[],
    )
    return json.loads(made.model_dump_json())  # type: ignore[no-any-return]


def measured(outcome: float, *scores: float) -> dict[str, Any]:
    """Return what an agent does."""
    agent = AgentMeasurement(
        moments=[AgentAtMoment(outcome=outcome, probability=0.25)],
        episodes=[
            PlayedEpisode(number=at, score=score, frames=4, frames_before=0, length=1, ended="over", play=str(score))
            for at, score in enumerate(scores)
        ],
        seconds=1.5,
    )
    return json.loads(agent.model_dump_json())  # type: ignore[no-any-return]


def verdict(arms: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a document without an improvement."""
    nothing = Difference(mean=0.5, interval=None, unit="moment", count=1, verdict="no improvement shown")
    found = PracticeDocument.model_validate(
        {
            "env": "ALE/Pong-v5",
            "algorithm": "paac",
            "checkpoint_step": 100,
            "protocol": "no-op-5min",
            "acting": SAMPLED,
            "seed": 7,
            "share": 0.5,
            "before": 10,
            "steps": STEPS,
            "pairs": 1,
            "futures": 64,
            "horizon": 200,
            "gamma": 0.99,
            "clip_rewards": True,
            "evaluation_seed": 8,
            "practiced": [],
            "held_out": [],
            "mistakes": nothing,
            "repeated": nothing,
            "score": nothing,
            "arms": [
                {"name": arm["name"], "pair": arm["pair"], "run_id": arm["run_id"], "seed": arm["seed"], "share": 0.5}
                | {"first_step": 100, "last_step": 150, "outcome": 0, "probability": 0, "score": 1, "scores": [1, 1]}
                for arm in arms
            ],
            "cost": PracticeCost(
                training_steps=100, futures=192, evaluation_episodes=4, training_seconds=3, measuring_seconds=4
            ),
        }
    )
    return json.loads(found.model_dump_json())  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def one_mistake_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one kept mistake be enough to measure."""
    monkeypatch.setattr("arcadia_workers.contract.practice.MIN_MOMENTS", 1)


def reviewed(api: Api, kept: int = 1) -> tuple[int, int]:
    """Return the ids of a run and of the review of its first episode. It has a mistake, and the second one `kept`."""
    run_id, first = replay(api)
    assert api.user.patch(f"/api/v1/replays/{first}", json={"pinned": True}).is_success
    named = {"file": "replays/other.mp4", "poster": "replays/other.png", "track": "replays/other.npz"}
    for path, kind in zip(named.values(), ("video", "poster", "track"), strict=True):
        api.upload(run_id, 1, path, made_track() if kind == "track" else kind.encode(), kind)
    assert api.send(run_id, 1, video(4, 180, 100, **named)).is_success
    assert api.user.patch(f"/api/v1/replays/{first}", json={"pinned": False}).is_success
    [second] = {each["id"] for each in api.user.get(f"/api/v1/runs/{run_id}/replays").json()} - {first}
    for number, (replay_id, mistakes) in enumerate(((first, 1), (second, kept))):
        request(api, replay_id)
        _, held = claim(api)
        found = review_document(*["mistake"] * mistakes) | {"episode": 2 + number}
        assert api.send_of_job(*held, started(1), event(2, "review", document=found), event(3, "finished")).is_success
        assert api.release_job(*held, "finished").is_success
    assert api.release(run_id, 1, "finished").is_success
    return run_id, api.user.get(f"/api/v1/replays/{first}/reviews").json()[0]["id"]


def start(api: Api, review_id: int, status: int = 201, **more: Any) -> dict[str, Any]:
    answer = api.user.post(f"/api/v1/reviews/{review_id}/practices", json=OPTIONS | more)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def read(api: Api, practice_id: int) -> dict[str, Any]:
    answer = api.user.get(f"/api/v1/practices/{practice_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def make_plan(api: Api) -> dict[str, Any]:
    """Do the job that plans a practice. Return its parameters."""
    claimed, held = claim(api)
    result = event(2, "practice", plan=plan(), measured=measured(-0.5)), event(3, "finished")
    assert api.send_of_job(*held, started(1), *result).is_success
    assert api.release_job(*held, "finished").json() == {"state": "done"}
    parameters: dict[str, Any] = claimed["parameters"]
    return parameters


def train(api: Api) -> dict[str, Any]:
    """Train the next run of a practice to its end. Return its claim."""
    claimed = api.claim()
    run_id, attempt = claimed["run_id"], claimed["attempt"]
    weights = f"weights of {run_id}".encode()
    assert api.send(run_id, attempt, started(resumed_from=100)).is_success
    api.upload(run_id, attempt, checkpoint_path(150), weights)
    assert api.send(run_id, attempt, checkpoint(2, 150, weights), event(3, "finished", 150)).is_success
    assert api.release(run_id, attempt, "finished").is_success
    return claimed


def measure(api: Api, outcome: float, *, is_last: bool = False) -> dict[str, Any]:
    """Do the job that measures the next run. Return its claim."""
    claimed, held = claim(api)
    done = {
        "measured": measured(outcome, 1, 2),
        "document": verdict(claimed["parameters"]["arms"]) if is_last else None,
    }
    assert api.send_of_job(*held, started(1), event(2, "practice", 0, **done), event(3, "finished")).is_success
    assert api.release_job(*held, "finished").json() == {"state": "done"}
    return claimed


def test_two_runs_continue_from_the_checkpoint_and_differ_only_in_the_share(api: Api, go_on: Continue) -> None:
    run_id, review_id = reviewed(api)
    practice = start(api, review_id)
    assert (practice["state"], practice["stage"], practice["practiced"], practice["arms"]) == (
        "queued",
        "planning",
        None,
        [],
    )
    parameters = make_plan(api)
    assert parameters["plan"] is None
    recorded, _ = parameters["reviews"]
    assert (recorded["review"]["reviewed"][0]["finding"], recorded["actions"]) == ("mistake", [1, 0, 1])
    go_on()
    training = read(api, practice["id"])
    assert (training["state"], training["stage"], training["done"], training["total"]) == ("queued", "training", 0, 100)
    assert (training["practiced"], training["held_out"], training["outcome_before"]) == (1, 1, -0.5)
    assert [(arm["name"], arm["state"]) for arm in training["arms"]] == [("practice", "queued"), ("control", "queued")]
    ours, control = (api.run(arm["run_id"]) for arm in training["arms"])
    assert (ours["config"]["practice"]["share"], control["config"]["practice"]["share"]) == (0.5, 0.0)
    assert ours["config"]["practice"] | {"share": 0} == control["config"]["practice"] | {"share": 0}
    assert {**ours["config"], "practice": 0} == {**control["config"], "practice": 0}
    assert (ours["total_steps"], ours["priority"], ours["parent"]["run_id"]) == (150, -100, run_id)
    assert ours["name"].endswith(" · practice")
    go_on()
    assert len(api.user.get("/api/v1/runs").json()["items"]) == 3, "they are started once"


def test_each_run_is_measured_and_the_last_job_gives_the_verdict(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    make_plan(api)
    go_on()
    claims = [train(api), train(api)]
    assert [each["checkpoints"][0]["step"] for each in claims] == [100, 100]
    go_on()
    first = measure(api, 0.5)
    assert first["checkpoint"]["step"] == 150
    assert [arm["measured"] for arm in first["parameters"]["arms"]] == [None, None]
    now = read(api, practice["id"])
    assert (now["state"], now["stage"], now["arms"][0]["outcome"], now["arms"][0]["score"]) == (
        "running",
        "measuring",
        0.5,
        1.5,
    )
    assert now["arms"][1]["outcome"] is None
    go_on()
    second = measure(api, -0.25, is_last=True)
    assert second["parameters"]["arms"][0]["measured"] == measured(0.5, 1, 2)
    assert second["parameters"]["before"] == measured(-0.5)
    assert first["checkpoint"]["sha256"] != second["checkpoint"]["sha256"]
    done = read(api, practice["id"])
    assert (done["state"], done["reason"], done["document"]["score"]["verdict"]) == (
        "done",
        None,
        "no improvement shown",
    )
    assert [arm["outcome"] for arm in done["arms"]] == [0.5, -0.25]
    assert start(api, review_id, 409)["detail"].startswith("This review already has practice")
    waited = api.user.get(f"/api/v1/practices/{practice['id']}", params={"wait": "finished", "timeout": 5}).json()
    assert waited == done
    assert api.user.get(f"/api/v1/reviews/{review_id}/practices").json() == [done]


def test_a_worker_downloads_the_checkpoint_of_the_measured_run(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    start(api, review_id)
    make_plan(api)
    go_on()
    ours, _ = train(api), train(api)
    go_on()
    claimed, held = claim(api)
    address = f"/api/v1/worker/jobs/{held[0]}/files/{claimed['checkpoint']['id']}"
    assert api.worker.get(address, params={"attempt": held[1]}).content == f"weights of {ours['run_id']}".encode()


def test_a_lost_measurement_is_repeated(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    make_plan(api)
    go_on()
    train(api), train(api)
    go_on()
    _, held = claim(api)
    assert api.send_of_job(*held, started(1), event(2, "practice", measured=measured(0.1, 1, 2))).is_success
    assert api.release_job(*held, "lost").json() == {"state": "queued"}
    go_on()
    again = measure(api, 0.5)
    assert [arm["measured"] for arm in again["parameters"]["arms"]] == [None, None]
    assert read(api, practice["id"])["arms"][0]["outcome"] == 0.5


def test_a_practice_stops_with_its_runs_and_continues(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    stopped = api.user.post(f"/api/v1/practices/{practice['id']}/cancel").json()
    assert stopped["state"] == "cancelled"
    again = start(api, review_id)
    assert (again["id"], again["state"], again["stage"]) == (practice["id"], "queued", "planning")
    make_plan(api)
    go_on()
    train(api)
    stopped = api.user.post(f"/api/v1/practices/{practice['id']}/cancel").json()
    assert (stopped["state"], stopped["stage"], stopped["done"]) == ("cancelled", "training", 50)
    assert stopped["reason"].endswith("is paused.")
    assert [arm["state"] for arm in stopped["arms"]] == ["finished", "paused"]
    refused = start(api, review_id, 422, steps=60)
    assert "has 50: continue with that, or delete it first" in str(refused)
    again = start(api, review_id)
    assert [arm["state"] for arm in again["arms"]] == ["finished", "queued"]
    assert start(api, review_id, 409)["detail"].endswith("Wait until it is done, or cancel it.")
    train(api)
    go_on()
    assert read(api, practice["id"])["stage"] == "measuring"
    assert api.user.post(f"/api/v1/practices/{practice['id']}/cancel").json()["state"] == "cancelled"
    assert (start(api, review_id)["state"], measure(api, 0.5)["kind"]) == ("queued", "practice")


def test_a_failed_or_deleted_run_is_the_reason(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    make_plan(api)
    go_on()
    claimed = api.claim()
    assert api.release(claimed["run_id"], claimed["attempt"], "failed", message="No space left.").is_success
    failed = read(api, practice["id"])
    assert (failed["state"], failed["reason"]) == (
        "failed",
        f"Run {claimed['run_id']} of the practice has failed: No space left.",
    )
    again = start(api, review_id)
    assert (again["state"], again["stage"]) == ("queued", "training")
    assert again["arms"][0]["run_id"] > failed["arms"][0]["run_id"], "it starts again"
    assert again["arms"][1] == failed["arms"][1]
    assert [train(api)["run_id"], train(api)["run_id"]] == [arm["run_id"] for arm in reversed(again["arms"])]
    assert api.user.delete(f"/api/v1/runs/{again['arms'][1]['run_id']}").status_code == 204
    gone = read(api, practice["id"])
    assert (gone["state"], gone["reason"]) == ("failed", "The run of the control was deleted.")


def test_deleting_a_measured_run_fails_its_measurement(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    make_plan(api)
    go_on()
    ours, _ = train(api), train(api)
    go_on()
    assert api.user.delete(f"/api/v1/runs/{ours['run_id']}").status_code == 204
    failed = read(api, practice["id"])
    assert (failed["state"], failed["reason"]) == ("failed", f"Run {ours['run_id']} was deleted.")
    assert api.worker.post("/api/v1/worker/jobs/claim", json={"name": "w1"}).status_code == 204


def test_a_verdict_survives_the_deletion_of_its_runs(api: Api, go_on: Continue) -> None:
    practice = finished(api, go_on)
    for arm in practice["arms"]:
        assert api.user.delete(f"/api/v1/runs/{arm['run_id']}").status_code == 204
    after = read(api, practice["id"])
    assert (after["state"], after["document"]) == ("done", practice["document"])
    assert [arm["run_id"] for arm in after["arms"]] == [None, None]


def finished(api: Api, go_on: Continue) -> dict[str, Any]:
    """Return a practice with its verdict."""
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    make_plan(api)
    go_on()
    train(api), train(api)
    go_on()
    measure(api, 0.5)
    go_on()
    measure(api, -0.25, is_last=True)
    return read(api, practice["id"])


def test_each_pair_has_another_seed(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id, pairs=3)
    planned = plan() | {"options": plan()["options"] | {"pairs": 3}}
    _, held = claim(api)
    result = event(2, "practice", plan=planned, measured=measured(-0.5)), event(3, "finished")
    assert api.send_of_job(*held, started(1), *result).is_success
    assert api.release_job(*held, "finished").is_success
    go_on()
    arms = read(api, practice["id"])["arms"]
    assert [(arm["pair"], arm["name"]) for arm in arms] == [
        (pair, name) for pair in (1, 2, 3) for name in ("practice", "control")
    ]
    runs = [api.run(arm["run_id"]) for arm in arms]
    first = runs[0]["config"]["seed"]
    assert [run["config"]["seed"] - first for run in runs] == [0, 0, 1, 1, 2, 2]
    assert runs[-1]["name"].endswith(" · control 3")


def test_a_broken_plan_in_an_archive_is_refused(api: Api, go_on: Continue, database: Database) -> None:
    practice = finished(api, go_on)
    with database.write() as session:
        row = session.get_one(tables.Practice, practice["id"])
        row.plan = {"plan": {"steps": "many"}, "before": None}
    archive = api.user.get("/api/v1/archives", params={"runs": practice["run_id"]}).content
    assert api.user.delete(f"/api/v1/runs/{practice['run_id']}").status_code == 204
    refused = api.user.post("/api/v1/archives", content=archive)
    assert refused.status_code == 422
    assert "A practice" in refused.text


def test_too_few_mistakes_are_refused_with_the_reason(api: Api) -> None:
    _, replay_id = review(api, "mistake", "no challenger")
    [found] = api.user.get(f"/api/v1/replays/{replay_id}/reviews").json()
    refused = start(api, found["id"], 409)["detail"]
    assert refused.startswith("The reviews show mistakes in a single episode")
    preview = api.user.post(f"/api/v1/reviews/{found['id']}/practices/preview", json={}).json()
    assert (preview["refused"], preview["practiced"]) == (refused, 0)


def test_a_preview_has_the_cost(api: Api) -> None:
    _, review_id = reviewed(api)
    preview = api.user.post(f"/api/v1/reviews/{review_id}/practices/preview", json={"pairs": 3}).json()
    assert (preview["reviews"], preview["practiced"], preview["held_out"]) == (2, 1, 1)
    assert preview["smallest_improvement"] is None
    assert (preview["steps"], preview["runs"], preview["training_steps"]) == (10_000, 6, 60_000)
    simulations, seconds = review_document()["simulations"], review_document()["seconds"]
    assert preview["measuring_seconds"] == pytest.approx(7 * 64 * seconds / simulations)
    assert preview["disk_bytes"] == 6 * 21 * len(WEIGHTS)
    assert (preview["training_seconds"], preview["refused"]) == (None, None)
    wrong = api.user.post(f"/api/v1/reviews/{review_id}/practices/preview", json={"share": 0})
    assert "give a share above 0" in wrong.text


def test_one_pair_needs_seven_kept_mistakes(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    _, review_id = reviewed(api)
    refused = start(api, review_id, 409)["detail"]
    assert refused.startswith("1 mistake would be kept to measure, and one pair needs at least 7")
    address = f"/api/v1/reviews/{review_id}/practices/preview"
    assert api.user.post(address, json={}).json()["refused"] == refused
    assert api.user.post(address, json={"pairs": 3}).json()["refused"] is None


def test_the_smallest_improvement_is_shown_before_the_start(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("arcadia_workers.contract.practice.APART", 1)
    _, review_id = reviewed(api, kept=9)
    preview = api.user.post(f"/api/v1/reviews/{review_id}/practices/preview", json={}).json()
    assert (preview["held_out"], preview["refused"]) == (9, None)
    assert preview["smallest_improvement"] == pytest.approx(1.110, abs=0.001)


def test_deleting_a_review_deletes_its_practice_and_keeps_the_runs(api: Api, go_on: Continue) -> None:
    practice = finished(api, go_on)
    [found] = api.user.get(f"/api/v1/replays/{practice['replay_id']}/reviews").json()
    assert api.user.delete(f"/api/v1/reviews/{found['id']}").status_code == 204
    assert api.user.get(f"/api/v1/practices/{practice['id']}").status_code == 404
    assert api.run(practice["arms"][0]["run_id"])["state"] == "finished"


def test_deleting_a_practice_in_progress_stops_its_runs(api: Api, go_on: Continue) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    make_plan(api)
    go_on()
    arms = read(api, practice["id"])["arms"]
    assert api.user.delete(f"/api/v1/practices/{practice['id']}").status_code == 204
    assert [api.run(arm["run_id"])["state"] for arm in arms] == ["stopped", "stopped"]
    assert start(api, review_id)["id"] != practice["id"]


@pytest.mark.parametrize("is_finished", [True, False])
def test_an_archive_brings_a_practice_without_its_runs(api: Api, go_on: Continue, is_finished: bool) -> None:
    if is_finished:
        before = finished(api, go_on)
    else:
        before = start(api, reviewed(api)[1])
        make_plan(api)
    archive = api.user.get("/api/v1/archives", params={"runs": before["run_id"]}).content
    assert api.user.delete(f"/api/v1/runs/{before['run_id']}").status_code == 204
    runs = len(api.user.get("/api/v1/runs").json()["items"])
    [imported] = api.user.post("/api/v1/archives", content=archive).json()["runs"]
    go_on()
    assert len(api.user.get("/api/v1/runs").json()["items"]) == runs + 1, "an import starts nothing"
    replays = api.user.get(f"/api/v1/runs/{imported}/replays").json()
    reviews = [api.user.get(f"/api/v1/replays/{replay['id']}/reviews").json()[0]["id"] for replay in replays]
    practices = [(found, api.user.get(f"/api/v1/reviews/{found}/practices").json()) for found in reviews]
    [(review_id, [after])] = [(found, known) for found, known in practices if known]
    if is_finished:
        assert (after["state"], after["document"]["score"]) == ("done", before["document"]["score"])
        assert [arm["run_id"] for arm in after["arms"] + after["document"]["arms"]] == [None] * 4
    else:
        assert (after["state"], after["practiced"]) == ("cancelled", 1)
        start(api, review_id)


def test_a_report_shows_the_verdict_and_an_archive_brings_it(api: Api, go_on: Continue) -> None:
    practice = finished(api, go_on)
    blocks = [{"kind": "practice", "replay": practice["replay_id"], "caption": "What practice changed"}]
    report = api.user.post("/api/v1/reports", json={"title": "Practice", "blocks": blocks}).json()
    pinned = {
        each["id"] for each in api.user.get(f"/api/v1/runs/{practice['run_id']}/replays").json() if each["pinned"]
    }
    assert practice["replay_id"] in pinned
    shown = api.user.post("/api/v1/reports/preview", json={"block": blocks[0]}).json()["practice"]
    assert (shown["run_id"], shown["document"]) == (practice["run_id"], practice["document"])
    page = api.user.get(f"/api/v1/reports/{report['id']}/export").text
    assert "Did the score rise?</strong> No improvement shown (1 kept mistakes)." in page
    archive = api.user.get("/api/v1/archives", params={"reports": report["id"]}).content
    assert api.user.delete(f"/api/v1/reports/{report['id']}").status_code == 204
    assert api.user.delete(f"/api/v1/runs/{practice['run_id']}").status_code == 204
    result = api.user.post("/api/v1/archives", content=archive).json()
    [block] = api.user.get(f"/api/v1/reports/{result['reports'][0]}").json()["blocks"]
    shown = api.user.post("/api/v1/reports/preview", json={"block": block}).json()["practice"]
    assert shown["document"]["score"] == practice["document"]["score"]


def test_a_report_says_that_there_is_no_verdict_yet(api: Api) -> None:
    _, review_id = reviewed(api)
    practice = start(api, review_id)
    block = {"kind": "practice", "replay": practice["replay_id"]}
    shown = api.user.post("/api/v1/reports/preview", json={"block": block}).json()
    assert "no practice with a verdict yet" in shown["problem"]
