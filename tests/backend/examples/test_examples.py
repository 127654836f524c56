"""POST /examples, which imports the shipped archive once with the tag `example`."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from arcadia_backend import examples as shipped
from arcadia_backend.archives import reading
from arcadia_backend.database.engine import Database
from tests.factories import Api, metrics


@pytest.fixture
def examples(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ship an archive of a run and a report about it. Neither exists in this installation."""
    run, attempt = api.running(name="Shipped", tags=["cart"])
    api.send(run, attempt, metrics(2, 10, returns=[1.0]))
    api.release(run, attempt, "finished")
    table = {"kind": "table", "of": "runs", "numbers": [run]}
    report = api.user.post("/api/v1/reports", json={"title": "Welcome", "blocks": [table]}).json()["id"]
    archive = api.user.get("/api/v1/archives", params={"reports": report}).content
    (tmp_path / "examples.arcadia").write_bytes(archive)
    monkeypatch.setattr(shipped, "EXAMPLES", tmp_path / "examples.arcadia")
    for path in (f"reports/{report}", f"runs/{run}"):
        api.user.delete(f"/api/v1/{path}").raise_for_status()


def open_examples(api: Api) -> dict[str, Any]:
    """Open the examples."""
    answer = api.user.post("/api/v1/examples")
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


@pytest.mark.usefixtures("examples")
def test_the_examples_are_imported_once_and_tagged(api: Api) -> None:
    result = open_examples(api)
    assert (len(result["runs"]), len(result["reports"])) == (1, 1)
    assert sorted(api.run(result["runs"][0])["tags"]) == ["cart", "example"]
    again = open_examples(api)
    assert (again["runs"], again["already"], again["already_reports"]) == ([], result["runs"], result["reports"])


@pytest.mark.usefixtures("examples")
def test_deleted_examples_are_restored_into_their_report(api: Api) -> None:
    first = open_examples(api)
    api.user.delete(f"/api/v1/runs/{first['runs'][0]}").raise_for_status()
    second = open_examples(api)
    assert second["already_reports"] == first["reports"]
    (table,) = api.user.get(f"/api/v1/reports/{first['reports'][0]}").json()["blocks"]
    assert table["numbers"] == second["runs"] != first["runs"]


@pytest.mark.nightly
@pytest.mark.usefixtures("examples")
def test_others_can_write_while_the_examples_are_imported(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []

    def write_and_see(done: int, total: int) -> None:
        with database.write() as session:
            session.execute(text("UPDATE metric_series SET name = 'written' WHERE id = 0"))
        seen.append((done, total))

    monkeypatch.setattr(reading, "_announce_progress", write_and_see)
    open_examples(api)
    assert seen == [(0, 1), (1, 1)]


def test_a_build_without_examples_says_so(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "EXAMPLES", tmp_path / "examples.arcadia")
    answer = api.user.post("/api/v1/examples")
    assert (answer.status_code, "missing from this build" in answer.json()["detail"]) == (404, True)


def test_everything_can_be_done_with_the_shipped_runs(api: Api) -> None:
    """Each run has its best checkpoint with a replay. Every video of the report exists."""
    result = open_examples(api)
    assert len(result["reports"]) == 1
    envs = set()
    for number in result["runs"]:
        run = api.run(number)
        envs.add(run["env"])
        assert (run["actions"]["play"], run["actions"]["change"]) == (None, None), run["name"]
        kept = [each for each in api.user.get(f"/api/v1/runs/{number}/checkpoints").json() if each["available"]]
        assert all(each["weights_only"] for each in kept), run["name"]
        (best,) = [each for each in kept if each["best"]]
        newest = [each for each in api.user.get(f"/api/v1/runs/{number}/replays").json() if each["file_id"]][-1]
        assert (newest["step"], newest["actions"]["simulate"]) == (best["step"], None), run["name"]
    assert envs == {
        *("CartPole-v1", "InvertedPendulum-v5", "ALE/Pong-v5", "ALE/Breakout-v5", "Arcadia/Labyrinth-v0"),
        "LunarLander-v3",
    }
    blocks = api.user.get(f"/api/v1/reports/{result['reports'][0]}").json()["blocks"]
    for block in [block for block in blocks if block["kind"] == "replay"]:
        answer = api.user.post("/api/v1/reports/preview", json={"block": block}).json()
        assert (answer["problem"], answer["missing"]) == (None, None), block
    evaluated = [api.user.get(f"/api/v1/runs/{run}/evaluations").json()["best"] for run in result["runs"]]
    assert any(evaluated)


def test_the_shipped_reviews_are_finished_and_their_mistakes_can_be_watched(api: Api) -> None:
    """Each mistake has videos of both actions. There is a practice with a verdict, and a What if of another replay."""
    reviews, practices, others = [], [], []
    for run in open_examples(api)["runs"]:
        for replay in api.user.get(f"/api/v1/runs/{run}/replays").json():
            futures = api.user.get(f"/api/v1/replays/{replay['id']}/futures").json()
            found = api.user.get(f"/api/v1/replays/{replay['id']}/reviews").json()
            watched = {(each["decision"], *each["first"]) for each in futures if each["videos_of"] == "first"}
            for review in found:
                mistakes = [each for each in review["document"]["reviewed"] if each["finding"] == "mistake"]
                actions = {(each["decision"], each[side]) for each in mistakes for side in ("taken", "better")}
                assert (review["state"], actions - watched) == ("done", set())
                practices += api.user.get(f"/api/v1/reviews/{review['id']}/practices").json()
            reviews += found
            others += [each for each in futures if each["videos_of"] == "ranked"]
            for each in futures:
                assert len(api.user.get(f"/api/v1/futures/{each['id']}").json()["videos"]) >= 3
    assert reviews
    assert others
    assert [each["document"] is not None for each in practices] == [True]
