"""Validation and cost limits of studies."""

from typing import Any

import pytest

from arcadia_backend.studies.specification import Specification
from tests.backend.studies.conftest import RATES, STUDY, Studies
from tests.factories import CARTPOLE

RATE = {"field": "learning_rate", "values": RATES}
DRAWN = {"field": "learning_rate", "log_uniform": [1e-4, 1e-2]}

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"name": " "}, "name", "must not be empty"),
    ({"color": "red"}, "color", "no such field"),
    ({"preset": None}, "preset", "use either a preset or a complete config"),
    ({"config": CARTPOLE}, "preset", "use either a preset or a complete config"),
    ({"preset": "paac-cartpol"}, "preset", "there is no preset 'paac-cartpol'; did you mean paac-cartpole"),
    ({"changes": {"gamma": 2}}, "changes.gamma", "less than or equal to 1"),
    ({"changes": {"learning_rate": 1e-3}}, "changes.learning_rate", "an axis varies this field"),
    ({"changes": {"seed": 3}}, "seeds", "belong here"),
    ({"changes": {"total_steps": 3}}, "total_steps", "omit it here"),
    ({"total_steps": 0}, "total_steps", "greater than or equal to 1"),
    ({"seeds": 0}, "seeds", "use 1 to 1,000 seeds"),
    ({"seeds": "1-"}, "seeds", "use a number of seeds, a list, or a text such as 1-5"),
    ({"seeds": "9-3"}, "seeds", "9-3 is not a range"),
    ({"seeds": ",".join(["0-999"] * 200_000)}, "seeds", "use 1 to 1,000 seeds"),
    ({"seeds": [1, 1]}, "seeds", "use each seed once"),
    ({"seeds": [1, True]}, "seeds.1", "not true or false"),
    ({"axes": [{"field": "lerning_rate", "values": [1]}]}, "axes.0", "lerning_rate"),
    ({"axes": [{"field": "learning_rate", "values": [1e-3, "fast"]}]}, "axes.0", "valid number"),
    ({"axes": [{"field": "learning_rate", "values": []}]}, "axes.0.values", "at least 1 item"),
    ({"axes": [{"field": "learning_rate"}]}, "axes.0.values", "use exactly one of values"),
    ({"axes": [{**RATE, "uniform": [0, 1]}]}, "axes.0.values", "use exactly one of values"),
    ({"axes": [{"field": "learning_rate", "values": [1e-3, 1e-3]}]}, "axes.0.values", "use each value once"),
    ({"axes": [RATE, RATE]}, "axes", "learning_rate is in more than one axis"),
    ({"axes": [{"field": "seed", "values": [1]}]}, "seeds", "belong here"),
    ({"axes": [{"field": ["gamma", "learning_rate"], "values": [[0.9]]}]}, "axes.0.values", "a list of 2: gamma"),
    (
        {"axes": [{"field": "preset", "values": ["paac-pong", "dqn"]}], "preset": None},
        "axes.0",
        "there is no preset 'dqn'; did you mean",
    ),
    ({"axes": [DRAWN]}, "sampler", "use random or tpe"),
    ({"axes": [DRAWN], "sampler": "random"}, "points", "give the number of points"),
    ({"sampler": "random", "axes": [], "points": 3}, "axes", "random requires an axis"),
    ({"points": 3}, "points", "omit this"),
    ({"axes": [{"field": "env", "uniform": [0, 1]}], "sampler": "random", "points": 2}, "axes.0.field", "not a number"),
    (
        {"axes": [{"field": "learning_rate", "log_uniform": [0, 1]}], "sampler": "random", "points": 2},
        "axes.0.log_uniform",
        "the lower end must be above 0",
    ),
    (
        {"axes": [{"field": "gamma", "uniform": [0.9, 1.5]}], "sampler": "random", "points": 2},
        "axes.0",
        "gamma: input should be less than or equal to 1, not 1.5",
    ),
    (
        {"axes": [{"field": "gamma", "uniform": [0.9, 0.5]}], "sampler": "random", "points": 2},
        "axes.0.uniform",
        "the lower end 0.9 must be below 0.5",
    ),
    (
        {
            "axes": [{"field": "evaluate_every_steps", "log_uniform": [0.1, 0.4]}],
            "sampler": "random",
            "points": 3,
            "seeds": 1,
        },
        "axes.0.log_uniform",
        "is an integer: use a range with an integer above 0",
    ),
    ({"max_concurrent_runs": 0}, "max_concurrent_runs", "greater than or equal to 1"),
    ({"priority": 0}, "priority", "less than or equal to -1"),
]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_errors_name_the_field_and_the_fix(studies: Studies) -> None:
    for body, field, message in WRONG:
        reported = studies.wrong(**body)
        assert field in reported, (body, reported)
        assert message in reported[field], (body, reported)
    assert studies.api.user.get("/api/v1/studies").json()["items"] == []


def test_too_many_runs_are_rejected_with_their_cost(studies: Studies) -> None:
    values = [n / 10_000 for n in range(1, 1_001)]
    asked: dict[str, Any] = {"axes": [{"field": "learning_rate", "values": values}], "seeds": 10, "total_steps": 3_600}
    reported = studies.wrong(**asked)
    assert reported == {
        "axes": "1,000 points × 10 seeds are 10,000 runs with 36,000,000 steps; "
        "a study may have 2,000 runs (ARCADIA_MAX_STUDY_RUNS): use fewer values, points or seeds"
    }
    assert studies.api.user.get("/api/v1/runs").json()["total"] == 0
    preview = studies.api.user.post("/api/v1/studies/preview", json={**STUDY, **asked}).json()
    assert (preview["runs"], preview["refused"]) == (10_000, reported["axes"])


def test_huge_grid_is_rejected_quickly(studies: Studies) -> None:
    fields = ["gamma", "learning_rate", "entropy_weight", "value_weight", "clip_norm"]
    document = studies.api.launch(preset="paac-cartpole", config=None)["config"]
    known = [field for field in document if isinstance(document[field], float)]
    assert len([field for field in fields if field in known]) >= 2
    values = [round(0.5 + n / 2_500, 4) for n in range(1_000)]
    axes = [{"field": field, "values": values} for field in fields if field in known]
    assert f"{1_000 ** len(axes):,} points" in studies.wrong(axes=axes)["axes"]


def test_preview_has_runs_steps_and_time_at_the_measured_rate(studies: Studies) -> None:
    path, asked = "/api/v1/studies/preview", {**STUDY, "seeds": 5, "max_concurrent_runs": 4}
    first = studies.api.user.post(path, json=asked).json()
    assert first == {
        "points": 3,
        "runs": 15,
        "min_runs": 15,
        "steps": 15_000,
        "seconds": None,
        "concurrent_runs": 1,
        "unmeasured": ["PAAC on CartPole"],
        "estimated": [],
        "confirm": "the duration is unknown: PAAC on CartPole has not trained here yet",
        "refused": None,
    }
    # The run trained 1,000 steps within a second.
    studies.start(seeds=1, max_concurrent_runs=1)
    studies.train()
    measured = studies.api.user.post(path, json=asked).json()
    assert (measured["unmeasured"], measured["seconds"]) == ([], pytest.approx(15.0))
    first_alone = {**asked, "changes": {"ceiling_seconds": 2}}
    assert studies.api.user.post(path, json=first_alone).json()["seconds"] == pytest.approx(15.0 + 15 * 2)
    for name in ("w1", "w2", "w3"):
        assert studies.api.beat(name).status_code == 200
    spread = studies.api.user.post(path, json=asked).json()
    assert (spread["concurrent_runs"], spread["seconds"]) == (3, pytest.approx(5.0))


def test_seeds_are_parsed() -> None:
    def seeds(given: object) -> list[int]:
        return Specification.model_validate({**STUDY, "seeds": given}).seeds

    assert seeds(3) == seeds("1-3") == seeds([1, 2, 3]) == [1, 2, 3]
    assert seeds("1-3, 7") == [1, 2, 3, 7]
    assert seeds("0") == [0]


def test_unknown_cost_requires_confirmed_steps(studies: Studies) -> None:
    asked = {**STUDY, "total_steps": 1_000}
    path = "/api/v1/studies"
    preview = studies.api.user.post(f"{path}/preview", json=asked).json()
    assert preview["confirm"] == "the duration is unknown: PAAC on CartPole has not trained here yet"
    reported = studies.wrong(total_steps=1_000)["confirm_steps"]
    assert 'not trained here yet; send "confirm_steps": 6000 to start them' in reported
    reported = studies.wrong(total_steps=1_000, confirm_steps=1)["confirm_steps"]
    assert reported == "6 runs train 6,000 steps, not 1: send 6000"
    reported = studies.wrong(total_steps=1_000, confirm_steps=1, axes=[], seeds=1)["confirm_steps"]
    assert reported == "1 run trains 1,000 steps, not 1: send 1000"
    assert studies.api.user.get(path).json()["items"] == []
    study = studies.start()
    assert "confirm_steps" not in study["specification"]
    studies.train()
    # The rate is known now, and 6,000 steps are few.
    assert studies.api.user.post(f"{path}/preview", json=asked).json()["confirm"] is None
    assert studies.api.user.post(path, json=asked).status_code == 201


def test_many_steps_of_unknown_cost_are_rejected_even_if_confirmed(studies: Studies) -> None:
    asked: dict[str, Any] = {"total_steps": 10_000_000_000}
    preview = studies.api.user.post("/api/v1/studies/preview", json={**STUDY, **asked}).json()
    assert "launch a run of PAAC on CartPole first" in preview["refused"]
    assert "total_steps" in studies.wrong(**asked, confirm_steps=preview["steps"])
