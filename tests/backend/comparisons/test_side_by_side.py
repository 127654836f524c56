"""Comparisons of runs side by side."""

import pytest

from tests.factories import CARTPOLE, Api, metrics


def test_differing_fields_are_distinguished_from_equal_ones(api: Api) -> None:
    one = api.launch(config=CARTPOLE)["id"]
    two = api.launch(config=CARTPOLE | {"seed": 2})["id"]
    answer = api.user.get("/api/v1/compare", params={"runs": f"{two},{one}"}).json()
    assert [run["id"] for run in answer["runs"]] == [two, one]
    fields = {row["field"]: row for row in answer["differences"]}
    assert fields["seed"] == {
        "field": "seed",
        "title": "Seed",
        "values": {str(one): 1, str(two): 2},
        "same": False,
        "marked": [one],
    }
    assert fields["env"]["same"]
    assert answer["groups"] == [[two, one]]
    assert [name for name, row in fields.items() if not row["same"]] == ["seed"]
    assert list(fields)[:2] == ["algorithm", "env"]


def test_runs_have_labels_and_strokes_by_position(api: Api) -> None:
    made = [api.launch(config=CARTPOLE | {"seed": seed})["id"] for seed in range(1, 12)]
    rows = api.user.get("/api/v1/compare", params={"runs": ",".join(map(str, made))}).json()["runs"]
    assert rows[2]["label"] == f"PAAC · CartPole · seed 3 #{made[2]}"
    assert len({(row["color"], row["dash"]) for row in rows}) == len(made)
    assert [row["dash"] for row in rows] == ["solid"] * 8 + ["dash"] * 3


def test_summary_has_last_max_and_mean_of_the_last_100(api: Api) -> None:
    run_id, attempt = api.running()
    api.send(run_id, attempt, *(metrics(seq, seq, {"a": -seq}, returns=[seq]) for seq in range(2, 252)))
    (summary,) = api.user.get("/api/v1/compare", params={"runs": run_id}).json()["summary"]
    assert summary["metrics"]["episode/return"] == {"last": 251, "max": 251, "mean_last_100": 201.5}
    assert summary["metrics"]["a"] == {"last": -251, "max": -2, "mean_last_100": -201.5}
    assert (summary["episodes"], summary["wall_seconds"]) == (250, 249)


def test_malformed_run_ids_are_rejected(api: Api) -> None:
    api.launch()
    assert "no run 7 and no run 9" in api.user.get("/api/v1/compare?runs=7,9").json()["detail"]
    for written in ("", "one", "1,-2", "99999999999999999999", "1,²"):
        assert api.user.get("/api/v1/compare", params={"runs": written}).status_code == 422, written
    assert len(api.user.get("/api/v1/compare?runs=1,1").json()["runs"]) == 1


@pytest.mark.parametrize(
    "path",
    [
        "compare",
        "compare/verdict",
        "compare/thresholds",
        "figures/curves",
        "figures/profile",
        "figures/sample-efficiency",
    ],
)
def test_missing_runs_are_listed_and_the_others_compared(api: Api, path: str) -> None:
    made = [api.running(config=CARTPOLE | {"seed": seed}) for seed in (1, 2)]
    for run_id, attempt in made:
        api.send(run_id, attempt, metrics(2, 100, returns=[1.0, 3.0]))
    there = ",".join(str(run_id) for run_id, _ in made)
    answer = api.user.get(f"/api/v1/{path}?runs=999999,{there}")
    assert answer.status_code == 200, answer.text
    alone = api.user.get(f"/api/v1/{path}?runs={there}").json()
    assert (answer.json()["missing"], alone["missing"]) == ([999999], [])
    assert answer.json() | {"missing": []} == alone
    gone = api.user.get(f"/api/v1/{path}?runs=999998,999999")
    assert (gone.status_code, gone.json()["detail"]) == (404, "There is no run 999998 and no run 999999.")
