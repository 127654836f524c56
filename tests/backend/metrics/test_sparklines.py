"""Tests of the small curves of a list."""

from typing import Any

import pytest

from arcadia_backend.metrics.points import CHUNK
from arcadia_backend.metrics.queries import BINS, FEW_CHUNKS
from tests.backend.reported.conftest import Script
from tests.factories import Api, metrics


def sparklines(api: Api, *run_ids: int, **query: Any) -> dict[int, list[float | None]]:
    """Return the small curves by run."""
    response = api.user.get("/api/v1/sparklines", params={"run": run_ids, **query})
    assert response.is_success, response.text
    return {line["run_id"]: line["values"] for line in response.json()}


def report(api: Api, run_id: int, attempt: int, values: list[float], first_seq: int = 2, first_step: int = 0) -> None:
    """Report values at every ten steps."""
    sent = [metrics(first_seq + at, first_step + 10 * at, {"m": value}) for at, value in enumerate(values)]
    for start in range(0, len(sent), 500):
        api.send(run_id, attempt, *sent[start : start + 500]).raise_for_status()


def test_each_run_has_a_separate_curve(api: Api) -> None:
    rising, first = api.running()
    report(api, rising, first, [float(at) for at in range(320)])
    falling, second = api.running()
    report(api, falling, second, [-float(at) for at in range(320)])
    lines = sparklines(api, rising, falling, 999, metric="m")
    assert list(lines) == [rising, falling]
    assert all(len(line) == BINS for line in lines.values())
    assert lines[rising] == pytest.approx([value and -value for value in lines[falling]])
    assert lines[rising] == sorted(value for value in lines[rising] if value is not None)
    assert lines[rising][0] == pytest.approx(4.5)


def test_a_long_curve_agrees_with_its_points(api: Api) -> None:
    run_id, attempt = api.running()
    count = CHUNK * (FEW_CHUNKS + 8) + 10
    report(api, run_id, attempt, [at / count for at in range(count)])
    line = sparklines(api, run_id, metric="m")[run_id]
    drawn = [(at, value) for at, value in enumerate(line) if value is not None]
    assert len(drawn) >= FEW_CHUNKS
    for at, value in drawn:
        assert value == pytest.approx((at + 0.5) / BINS, abs=1.5 * CHUNK / count)


def test_superseded_points_and_values_that_are_not_finite_are_left_out(api: Api) -> None:
    run_id, attempt = api.running()
    report(api, run_id, attempt, [1.0] * 16 + [100.0] * 16)
    attempt = api.lose(run_id, attempt, resumed_from=150)
    again = [metrics(2 + at, 160 + 10 * at, {"m": 3.0}) for at in range(15)]
    api.send(run_id, attempt, *again, metrics(17, 310, {"m": "NaN"})).raise_for_status()
    values = [value for value in sparklines(api, run_id, metric="m")[run_id] if value is not None]
    assert set(values) == {1.0, 3.0}


def test_a_run_without_the_metric_has_no_curve(api: Api) -> None:
    run_id, _attempt = api.running()
    assert sparklines(api, run_id) == {}
    assert api.user.get("/api/v1/sparklines").status_code == 422


@pytest.mark.parametrize("steps", [(-5,), (-5, -3), (-1, 0, 10, 20), (-(10**12), 5, 10**12)])
def test_negative_steps_are_drawn_in_order(api: Api, steps: tuple[int, ...]) -> None:
    script = Script(api.user)
    assert script.begin().is_success
    for value, step in enumerate(steps):
        assert script.post(script.event("metrics", step=step, values={"m": float(value)})).is_success
    values = [value for value in sparklines(api, script.run_id, metric="m")[script.run_id] if value is not None]
    assert values == sorted(values)
    assert values[-1] == len(steps) - 1
