"""Groups of runs, and the configuration fields that differ between runs."""

import statistics
from typing import Any

import pytest

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Run, Study, StudyRun
from arcadia_backend.metrics.points import MetricSeries
from tests.factories import CARTPOLE, PONG, Api


def groups(api: Api, by: str, **query: Any) -> list[dict[str, Any]]:
    response = api.user.get("/api/v1/run-groups", params={"by": by, **query})
    assert response.status_code == 200, response.text
    page = response.json()
    assert page["total"] >= len(page["items"])
    found: list[dict[str, Any]] = page["items"]
    return found


def selected(api: Api, expression: str) -> set[int]:
    response = api.user.get("/api/v1/runs", params={"filter": expression, "limit": 1_000})
    assert response.status_code == 200, response.text
    return {run["id"] for run in response.json()["items"]}


@pytest.fixture
def made(api: Api, database: Database) -> dict[int, float | None]:
    """Return the returns of runs in two environments with two learning rates, by run."""
    found: dict[int, float | None] = {}
    for config in (CARTPOLE, PONG):
        for rate in (7e-4, 1e-3):
            for seed in (1, 2, 3):
                run = api.launch(config=config | {"learning_rate": rate, "seed": seed}, tags=["all", f"seed {seed}"])
                found[run["id"]] = None if seed == 3 and rate == 1e-3 else float(run["id"] ** 2)
    with database.write() as session:
        for run_id, value in found.items():
            session.get_one(Run, run_id).last_return = value
            session.add(MetricSeries(run_id=run_id, name="loss", last=run_id / 2))
    return found


def test_groups_have_labels_statistics_seeds_and_states(api: Api, made: dict[int, float | None]) -> None:
    query = {"value": ["return", "last(loss)"], "sort": "learning_rate"}
    api.act(min(made), "stop")
    found = groups(api, "method,env,learning_rate", **query)
    assert [group["label"] for group in found] == [
        "PAAC · CartPole · lr 0.0007",
        "PAAC · Pong · lr 0.0007",
        "PAAC · CartPole · lr 0.001",
        "PAAC · Pong · lr 0.001",
    ]
    ids = sorted(made)
    first, last = found[0], found[3]
    assert first["values"] == {"method": "paac", "env": "CartPole-v1", "learning_rate": 0.0007}
    assert (first["run_ids"], last["run_ids"]) == (ids[2::-1], ids[:8:-1])
    assert (first["runs"], first["states"], first["seeds"]) == (3, {"queued": 2, "stopped": 1}, [1, 2, 3])
    returns = [made[run_id] or 0.0 for run_id in ids[:3]]
    assert first["statistics"]["return"] == {
        "mean": pytest.approx(statistics.mean(returns)),
        "std": pytest.approx(statistics.stdev(returns)),
        "n": 3,
    }
    assert last["statistics"]["return"]["n"] == 2, "one run has no return yet"
    assert last["statistics"]["last(loss)"]["mean"] == pytest.approx(statistics.mean(ids[9:]) / 2)
    newest = max(api.run(run_id)["finished_at"] or api.run(run_id)["created_at"] for run_id in ids[:3])
    assert first["newest"] == newest


@pytest.mark.required_cases(4)
@pytest.mark.parametrize("by", ["env", "learning_rate,seed", "tag", "study", "state,project", "worker", "attempt"])
def test_the_filter_of_a_group_selects_exactly_its_runs(
    api: Api, database: Database, made: dict[int, float | None], by: str
) -> None:
    with database.write() as session:
        for number, name in ((1, "Seeds"), (2, "1")):
            session.add(Study(id=number, name=name, question="", specification={}, state="finished"))
            session.flush()
            session.add(StudyRun(study_id=number, point=0, seed=1, run_id=min(made) + number))
    found = groups(api, by, filter="env:Pong or seed < 3")
    everything = selected(api, "env:Pong or seed < 3")
    parts = [selected(api, group["filter"]) for group in found]
    assert [len(part) for part in parts] == [group["runs"] for group in found]
    assert set().union(*parts) == everything
    if by != "tag":
        assert sum(map(len, parts)) == len(everything)


def test_values_of_any_type_make_groups(api: Api, database: Database) -> None:
    values = [1, 1.0, True, "1", "a, b", [1, 2], ["a", "b"], None, {"a": [1, 2]}, 0.1, "ä", -3e-5, "Pong"]
    made = {api.launch()["id"]: value for value in values}
    with database.write() as session:
        for run_id, value in made.items():
            run = session.get_one(Run, run_id)
            run.origin, run.config, run.env = "reported", {"x": value}, "Pong" if value == "Pong" else "ALE/Pong-v5"
    found = groups(api, "x,env")
    assert len(found) == len(values) - 1, "1 and 1.0 are equal"
    for group in found:
        runs = selected(api, group["filter"])
        assert len(runs) == group["runs"], group
        assert all(made[run_id] == group["values"]["x"] for run_id in runs)


def test_groups_expand_into_groups(api: Api, made: dict[int, float | None]) -> None:
    pong = next(group for group in groups(api, "env") if group["label"] == "Pong")
    inner = groups(api, "learning_rate", filter=pong["filter"], sort="-learning_rate")
    assert [(group["label"], group["runs"]) for group in inner] == [("lr 0.001", 3), ("lr 0.0007", 3)]
    assert len(made) == 12


def test_groups_are_sorted_by_any_aggregate_and_paged(api: Api, made: dict[int, float | None]) -> None:
    by_mean = groups(api, "seed,env", sort="-return.mean")
    means = [group["statistics"]["return"]["mean"] for group in by_mean]
    assert means == sorted(means, reverse=True)
    assert groups(api, "seed,env", sort="-return.mean", limit=2, offset=2) == by_mean[2:4]
    for sort in ("runs", "-newest", "label", "-seed", "env", "return.std", "-return.n"):
        assert len(groups(api, "seed,env", sort=sort)) == 6
    assert len(made) == 12


@pytest.mark.required_cases(4)
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"by": "created"}, "by"),
        ({"by": "best_return + 1"}, "by"),
        ({"by": "nothing_like_it"}, "by"),
        ({"by": ",".join(f"config(f{number})" for number in range(6))}, "by"),
        ({"by": "env", "value": ["env"]}, "value"),
        ({"by": "env", "sort": "return.median"}, "sort"),
        ({"by": "env", "filter": "env = "}, "filter"),
    ],
)
def test_wrong_groups_are_rejected(api: Api, made: dict[int, float | None], query: dict[str, Any], field: str) -> None:
    response = api.user.get("/api/v1/run-groups", params=query)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert made


def test_the_group_of_the_baseline_is_found_on_any_page(api: Api, made: dict[int, float | None]) -> None:
    def baseline(run_id: int, **query: Any) -> Any:
        params = {"by": "env,learning_rate", "limit": 1, "baseline": run_id, **query}
        return api.user.get("/api/v1/run-groups", params=params).raise_for_status().json()["baseline"]

    ids = sorted(made)
    for run_id in (ids[1], ids[-1]):
        assert run_id in baseline(run_id)["run_ids"]
    assert baseline(ids[1])["statistics"]["return"]["n"] == 3
    assert baseline(ids[1], filter="env:Pong") is None
    assert baseline(999_999) is None


def test_settings_that_differ_are_listed_with_titles(api: Api, made: dict[int, float | None]) -> None:
    def settings(**query: Any) -> dict[str, dict[str, Any]]:
        page = api.user.get("/api/v1/run-settings", params=query).json()
        return {setting["field"]: setting for setting in page["settings"]}

    found = settings()
    assert {"learning_rate", "seed"} <= found.keys()
    assert "algorithm" not in found
    assert "gamma" not in found
    assert found["seed"] == {
        "field": "seed",
        "name": "seed",
        "title": "Seed",
        "distinct": 3,
        "runs": len(made),
        "examples": [1, 2, 3],
    }
    assert "learning_rate" not in settings(filter="learning_rate = 7e-4")
    assert settings(every=True)["gamma"]["distinct"] == 1
