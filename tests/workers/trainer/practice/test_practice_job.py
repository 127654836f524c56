"""Practice as jobs of a worker: one plans it, and one measures each of its runs."""

from pathlib import Path
from typing import Any

from arcadia_workers.contract.practice import AgentMeasurement, PracticeDocument, PracticePlan
from arcadia_workers.trainer.futures.simulating import load, moments
from arcadia_workers.worker.backend_client import BackendClient
from tests.workers.trainer.practice import weak_agent
from tests.workers.trainer.test_job import attempted, do_job
from tests.workers.worker_api import WorkerApi

REVIEWED = 40


def recorded_reviews(run: Path) -> list[dict[str, Any]]:
    """Return reviews of an agent with the actions of their episodes."""
    player = load(run, None, None)
    return [
        {
            "review": review.model_dump(mode="json"),
            "actions": [
                int(moment.action) for moment in moments(player.subject, player.protocol, review.seed, review.episode)
            ],
        }
        for review in weak_agent.reviews(player, 1, REVIEWED)
    ]


def checkpoint_of(run: Path) -> Path:
    [file] = (run / "checkpoints").glob("*.safetensors")
    return file


def result(api: WorkerApi) -> dict[str, Any]:
    """Return the result of the last job, and forget the job."""
    [found] = [event for event in api.job_events[5, 1].values() if event["kind"] == "practice"]
    assert any(event["kind"] == "advanced" for event in api.job_events[5, 1].values())
    api.job_events.clear()
    api.job_releases.clear()
    return found


def test_jobs_plan_a_practice_and_measure_its_runs(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    weak, repaired = tmp_path / "weak", tmp_path / "repaired"
    weak_agent.write(weak, [0])
    weak_agent.write(repaired, [])
    options = {"steps": 1_000, "evaluations": 60}
    how: dict[str, Any] = {"protocol": "episodes", "options": options, "reviews": recorded_reviews(weak)}
    do_job(api, client, tmp_path / "1", checkpoint_of(weak), "practice", how)
    planned = result(api)
    plan, before = PracticePlan.model_validate(planned["plan"]), AgentMeasurement.model_validate(planned["measured"])
    assert (plan.steps, plan.checkpoint_step) == (1_000, weak_agent.STEP)
    assert len(plan.practiced) >= 10
    assert len(before.moments) == len(plan.held_out) >= 10
    assert before.episodes == []

    # The runs are trained elsewhere. Here, one has become an agent without the weakness.
    arms: list[dict[str, Any]] = [
        {"name": name, "pair": 1, "run_id": number, "seed": 1, "training_seconds": 2.5}
        for number, name in enumerate(("practice", "control"), 8)
    ]
    how = {"protocol": "episodes", "options": options, "plan": planned["plan"], "before": planned["measured"]}
    do_job(api, client, tmp_path / "2", checkpoint_of(repaired), "practice", how | {"arms": arms})
    first = result(api)
    assert first["document"] is None
    arms[0]["measured"] = first["measured"]
    do_job(api, client, tmp_path / "3", checkpoint_of(weak), "practice", how | {"arms": arms})
    document = PracticeDocument.model_validate(result(api)["document"])
    assert (document.mistakes.verdict, document.mistakes.unit) == ("improved", "moment")
    assert document.score.mean > 0
    assert [(arm.run_id, arm.directory, arm.last_step) for arm in document.arms] == [
        (8, None, weak_agent.STEP + 1_000),
        (9, None, weak_agent.STEP + 1_000),
    ]
    assert document.cost.training_seconds == 5
    assert [moment.before for moment in document.held_out] == before.moments
    # The control is the agent before practice, and plays the same futures.
    assert [moment.control for moment in document.held_out] == [[moment] for moment in before.moments]


def test_the_actions_must_lead_to_the_mistakes(api: WorkerApi, client: BackendClient, tmp_path: Path) -> None:
    weak = tmp_path / "weak"
    weak_agent.write(weak, [0])
    reviews = recorded_reviews(weak)[:4]
    for each in reviews:
        mistake = next(found["decision"] for found in each["review"]["reviewed"])
        each["actions"][mistake] = (each["actions"][mistake] + 1) % 3
    how = {"protocol": "episodes", "options": {}, "reviews": reviews}
    outcome = attempted(api, client, tmp_path / "1", checkpoint_of(weak), "practice", how)
    assert outcome[0] == "failed"
    assert "takes other actions here" in str(outcome[1])
